//! What an investigation is told of alerts. All of it but our own words is a stranger's, and says so by where it stands:
//! after a colon.

use std::fmt::Write;

use warrant_kernel::domain::time::{rfc3339, short};

use super::{Delivery, Incident, MOST_TOLD, Member};
use crate::alert::content::State;

/// Most members that are named.
const MOST_NAMED: usize = 12;

/// What one alert says.
pub(super) fn of(delivery: &Delivery) -> String {
    let mut text: String = delivery.alert.words.told().chars().take(MOST_TOLD).collect();
    if !delivery.alert.left_out.is_empty() {
        // Writing to a text never fails.
        let _ = write!(text, "\nnot shown: {}", delivery.alert.left_out.join("; "));
    }
    text
}

pub(super) fn joined(delivery: &Delivery) -> String {
    let verb = match delivery.alert.state {
        State::Firing => "fires too",
        State::Resolved => "was resolved before it was heard of here",
    };
    format!("another alert of this incident {verb}: {}", line(delivery))
}

pub(super) fn again(delivery: &Delivery, before: State, after: State) -> String {
    let what = match (before, after) {
        (State::Firing, State::Resolved) => "an alert of this incident is resolved",
        (State::Resolved, State::Firing) => "an alert of this incident fires again",
        (State::Firing, State::Firing) => "an alert of this incident still fires",
        (State::Resolved, State::Resolved) => "an alert of this incident stays resolved",
    };
    format!("{what}: {}", line(delivery))
}

fn line(delivery: &Delivery) -> String {
    let words = &delivery.alert.words;
    let service = delivery.service.as_ref().map(|service| format!(" of {service}")).unwrap_or_default();
    let summary: String = words.summary.chars().take(200).collect();
    format!("{}{service}, since {}: {summary}", words.name, rfc3339(delivery.alert.starts_at))
}

impl Incident {
    /// What its investigation is told at the beginning: the alert, the others, and what came before.
    #[must_use]
    pub fn told(&self) -> String {
        let mut told = self.text.clone();
        let others: Vec<&Member> = self.members.values().filter(|member| member.name != self.name).collect();
        let same = self.members.len() - others.len();
        if self.members.len() > 1 {
            // Writing to a text never fails.
            let _ = write!(told, "\nalerts of this incident: {} firing, {} in all", self.firing(), self.count());
        }
        if same > 1 {
            let _ = write!(told, "\n- {same} of the name {}", self.name);
        }
        for member in others.iter().take(MOST_NAMED) {
            let service = member.service.as_ref().map(|service| format!(" of {service}")).unwrap_or_default();
            let _ = write!(told, "\n- {}{service}: {}", member.name, member.summary);
        }
        if others.len() > MOST_NAMED {
            let _ = write!(told, "\n- and {} more", others.len() - MOST_NAMED);
        }
        if let Some(earlier) = &self.earlier {
            let _ = write!(told, "\nthis is the {} time in 7 days", nth(earlier.times + 1));
            match &earlier.cause {
                Some(cause) => {
                    let _ = write!(told, "; last cause: {cause} (a hypothesis to be checked)");
                }
                None => told.push_str("; no cause was found before"),
            }
        }
        told
    }

    /// How many alerts it has, those beyond among them.
    #[must_use]
    pub fn count(&self) -> u64 {
        u64::try_from(self.members.len()).unwrap_or(u64::MAX).saturating_add(self.beyond.fired)
    }

    /// How long it has been open, for people.
    #[must_use]
    pub fn age(&self, now: jiff::Timestamp) -> String {
        short(now.duration_since(self.opened_at))
    }
}

fn nth(n: usize) -> String {
    match n {
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        4 => "fourth".to_owned(),
        5 => "fifth".to_owned(),
        _ => format!("{n}th"),
    }
}
