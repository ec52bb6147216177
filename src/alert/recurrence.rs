//! What came before: when the same alert of the same service opened incidents, and what was said of the last.
//!
//! One note an alert's name and service, bounded, so that nothing has to be searched. A cause that an earlier investigation
//! named is a hypothesis for the next one, never more.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use warrant_kernel::domain::name::ServiceName;

use super::content::fingerprint;
use super::incident::{Earlier, Incident};

/// How long something counts as having come before.
pub const MEMORY: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Most incidents that are remembered.
const MOST: usize = 16;

/// The incidents of one alert's name and service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recurrence {
    before: Vec<Time>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Time {
    incident: String,
    at: Timestamp,
    cause: Option<String>,
}

/// The id of the note.
#[must_use]
pub fn key(incident: &Incident) -> String {
    let service = incident.service.as_ref().map_or("", ServiceName::as_str);
    fingerprint(&["recurrence", &incident.name, service])
}

impl Recurrence {
    /// What came before `incident`.
    #[must_use]
    pub fn earlier(&self, incident: &Incident) -> Option<Earlier> {
        let recent = |time: &&Time| {
            let ago = incident.opened_at.duration_since(time.at);
            time.incident != incident.id && !ago.is_negative() && ago <= MEMORY
        };
        let recent: Vec<&Time> = self.before.iter().filter(recent).collect();
        let last = recent.last()?;
        let cause = recent.iter().rev().find_map(|time| time.cause.clone());
        Some(Earlier { times: recent.len(), incident: last.incident.clone(), cause })
    }

    /// Remembers that `incident` was opened.
    pub fn add(&mut self, incident: &Incident) {
        if self.before.iter().any(|time| time.incident == incident.id) {
            return;
        }
        self.before.push(Time { incident: incident.id.clone(), at: incident.opened_at, cause: None });
        let over = self.before.len().saturating_sub(MOST);
        self.before.drain(..over);
    }

    /// Remembers what an investigation of an incident took for the cause.
    pub fn learn(&mut self, incident: &str, cause: &str) {
        for time in self.before.iter_mut().filter(|time| time.incident == incident) {
            time.cause = Some(cause.chars().take(300).collect());
        }
    }

    /// Whether all of it is longer ago than anybody asks.
    #[must_use]
    pub fn is_forgotten(&self, now: Timestamp) -> bool {
        self.before.iter().all(|time| now.duration_since(time.at) > MEMORY)
    }
}
