//! A storm: more incidents at once than anybody reads. One message with counts stands for those beyond the first.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Delivery, Incident};
use crate::alert::config::Urgency;

/// Most names that are told; the others are counted together.
const MOST_NAMES: usize = 20;

/// What the message of a storm says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storm {
    /// Its id; ids sort by the time.
    pub id: String,
    /// When it began.
    pub opened_at: Timestamp,
    /// When it last grew.
    pub changed_at: Timestamp,
    /// Incidents that it stands for.
    pub incidents: u64,
    /// Arrivals that no incident has, for there were too many incidents: how many, by what they asked for.
    pub shed: BTreeMap<Urgency, u64>,
    /// Incidents that were let go for more urgent ones.
    pub let_go: BTreeMap<Urgency, u64>,
    /// How often which alert's name occurs in it.
    pub names: BTreeMap<String, u64>,
    /// Occurrences of other names.
    pub other_names: u64,
    /// Whether nothing has been added for a window.
    pub over: bool,
    /// Whether the chat is still to be shown how it stands.
    pub unshown: bool,
    /// How often it has changed: whoever shows it keeps the highest.
    pub changes: u64,
}

impl Storm {
    pub(super) fn new(id: String, at: Timestamp) -> Self {
        Self {
            id,
            opened_at: at,
            changed_at: at,
            incidents: 0,
            shed: BTreeMap::new(),
            let_go: BTreeMap::new(),
            names: BTreeMap::new(),
            other_names: 0,
            over: false,
            unshown: true,
            changes: 0,
        }
    }

    pub(super) fn opened(&mut self, incident: &Incident, at: Timestamp) {
        self.incidents += 1;
        self.grow(&incident.name, at);
    }

    pub(super) fn shed(&mut self, delivery: &Delivery, at: Timestamp) {
        *self.shed.entry(delivery.urgency).or_default() += 1;
        self.grow(&delivery.alert.words.name, at);
    }

    pub(super) fn let_go(&mut self, urgency: Urgency, name: &str, at: Timestamp) {
        *self.let_go.entry(urgency).or_default() += 1;
        self.grow(name, at);
    }

    fn grow(&mut self, name: &str, at: Timestamp) {
        if let Some(count) = self.names.get_mut(name) {
            *count += 1;
        } else if self.names.len() < MOST_NAMES {
            self.names.insert(name.to_owned(), 1);
        } else {
            self.other_names += 1;
        }
        self.changed_at = self.changed_at.max(at);
        self.over = false;
        self.unshown = true;
        self.changes += 1;
    }

    pub(super) fn tick(&mut self, now: Timestamp, window: SignedDuration) {
        if !self.over && now.duration_since(self.changed_at) >= window {
            self.over = true;
            self.unshown = true;
            self.changes += 1;
        }
    }
}
