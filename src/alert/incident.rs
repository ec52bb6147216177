//! Incidents: alerts of the same service, or of neighbours, that came within a window.
//!
//! [`fold::Incidents`] is the whole of it: what arrived goes in one by one, and which incidents there are then does not
//! depend on the order or on how often something was delivered. No clock, no store: the time is that of the arrival.
//! Everything in an incident is bounded; what is beyond is counted, so that the counts of all incidents and of the storm
//! add up to what arrived.

pub mod fold;

mod merge;

pub mod storm;

mod told;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use warrant_kernel::domain::name::{InvestigationId, RoleName, ServiceName};

use super::config::Urgency;
use super::content::{Alert, State};

/// Most members that an incident keeps; those beyond are counted.
pub const MOST_MEMBERS: usize = 50;
/// Most firings of one member that are told apart.
const MOST_EPISODES: usize = 8;
/// Most news that wait to be told one by one.
const MOST_NEWS: usize = 20;
/// Most characters of what is told about an alert.
const MOST_TOLD: usize = 4_000;

/// An alert as it arrived: what the route made of it, and the alert.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The route it came by.
    pub route: String,
    /// What its severity asks for.
    pub urgency: Urgency,
    /// What an investigation of it may see.
    pub role: Option<RoleName>,
    /// The service it is about.
    pub service: Option<ServiceName>,
    /// The alert.
    pub alert: Alert,
}

/// What alerts are grouped by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The service.
    Service(ServiceName),
    /// The alert's name, where it names no service.
    Alert(String),
}

impl Delivery {
    /// What it is grouped by.
    #[must_use]
    pub fn scope(&self) -> Scope {
        match &self.service {
            Some(service) => Scope::Service(service.clone()),
            None => Scope::Alert(self.alert.words.name.clone()),
        }
    }
}

/// One alert of an incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The alert's name.
    pub name: String,
    /// The service it is about.
    pub service: Option<ServiceName>,
    /// One sentence of a stranger's.
    pub summary: String,
    /// The word for its severity.
    pub severity: String,
    /// What that asks for.
    pub urgency: Urgency,
    /// A page about it.
    pub link: Option<String>,
    /// Its firings by when they began, the newest at the end; older ones are let go.
    pub episodes: BTreeMap<Timestamp, State>,
    /// How many there were.
    pub fired: u64,
}

impl Member {
    /// Whether it fires: what the newest firing came to.
    #[must_use]
    pub fn state(&self) -> State {
        self.episodes.last_key_value().map_or(State::Resolved, |(_, state)| *state)
    }

    /// When the newest firing began.
    #[must_use]
    pub fn since(&self) -> Option<Timestamp> {
        self.episodes.last_key_value().map(|(began, _)| *began)
    }
}

/// Alerts beyond what an incident keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beyond {
    /// How often such an alert fired.
    pub fired: u64,
    /// How often one was resolved.
    pub resolved: u64,
}

/// Why an incident takes in nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Closed {
    /// Nothing fires any more, and nothing has changed for a window.
    Over,
    /// It is a day old.
    Aged,
    /// There were too many, and others were more urgent.
    Shed,
}

/// Where an incident stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It takes in alerts.
    Open,
    /// An alert joined it to an older one, which goes on for both.
    Merged {
        /// The older one.
        into: String,
    },
    /// It takes in nothing more.
    Closed {
        /// When.
        at: Timestamp,
        /// Why.
        why: Closed,
    },
}

/// How far an investigation is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// To be opened: whether it was is known only to those above.
    Asked,
    /// Opened.
    Running,
    /// It reported.
    Ended {
        /// How: `confirmed`, `likely`, ...
        outcome: String,
        /// The cause in one line, where one was found.
        cause: Option<String>,
    },
}

/// The investigation of an incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assigned {
    /// Its id, drawn before it is opened.
    pub id: InvestigationId,
    /// What the incident asked for then.
    pub urgency: Urgency,
    /// How far it is.
    pub progress: Progress,
    /// The number of the last news it was told.
    pub told: u64,
}

/// What came before: the same alert of the same service, in the last days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    /// How often, this time not counted.
    pub times: usize,
    /// The last of these incidents.
    pub incident: String,
    /// What an investigation of one of them took for the cause. A hypothesis.
    pub cause: Option<String>,
}

/// An incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incident {
    /// Its id; ids sort by the time of opening.
    pub id: String,
    /// The name of the alert that opened it, or of the one that raised its urgency.
    pub name: String,
    /// What that alert says.
    pub text: String,
    /// The service in question.
    pub service: Option<ServiceName>,
    /// What its investigation may see.
    pub role: Option<RoleName>,
    /// The route by which the alert came that opened it.
    #[serde(default)]
    pub route: Option<String>,
    /// The most urgent of its alerts.
    pub urgency: Urgency,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it last took something in.
    pub changed_at: Timestamp,
    /// What its alerts are grouped by.
    pub scopes: BTreeSet<Scope>,
    /// Its alerts, by fingerprint.
    pub members: BTreeMap<String, Member>,
    /// Those beyond.
    pub beyond: Beyond,
    /// How many arrivals went into it.
    pub alerts: u64,
    /// Where it stands.
    pub phase: Phase,
    /// Its investigation.
    pub investigation: Option<Assigned>,
    /// How many investigations it had.
    pub investigations: u64,
    /// What came before.
    pub earlier: Option<Earlier>,
    /// Whether the message of a storm stands for it.
    pub in_storm: bool,
    /// What its investigation is still to be told.
    pub news: Vec<String>,
    /// How many news more.
    pub more_news: u64,
    /// Whether the chat is still to be shown how it stands.
    pub unshown: bool,
    /// How often it has changed: whoever shows it keeps the highest.
    pub changes: u64,
}

impl Incident {
    /// How many of its alerts fire, those beyond counted as well as they can be.
    #[must_use]
    pub fn firing(&self) -> u64 {
        let kept = self.members.values().filter(|member| member.state() == State::Firing).count();
        u64::try_from(kept).unwrap_or(u64::MAX).saturating_add(self.beyond.fired.saturating_sub(self.beyond.resolved))
    }

    /// Whether it takes in alerts.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open)
    }

    /// Whether an investigation of it is asked for or runs.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        match self.investigation.as_ref().map(|assigned| &assigned.progress) {
            Some(Progress::Asked | Progress::Running) => true,
            Some(Progress::Ended { .. }) | None => false,
        }
    }

    /// Whether nothing more comes of it.
    fn is_over(&self) -> bool {
        !self.is_open() && !self.is_busy()
    }

    fn is_running(&self) -> bool {
        self.investigation.as_ref().is_some_and(|assigned| assigned.progress == Progress::Running)
    }

    /// Whether it shall be investigated and is not: it fires, its severity asks for it, and no investigation has been
    /// opened for as urgent a state of it.
    #[must_use]
    pub fn wants_investigation(&self) -> bool {
        let met = match &self.investigation {
            None => false,
            Some(Assigned { urgency, progress: Progress::Ended { .. }, .. }) => *urgency >= self.urgency,
            Some(Assigned { progress: Progress::Asked | Progress::Running, .. }) => true,
        };
        self.is_open() && self.urgency > Urgency::Record && self.firing() > 0 && !met
    }

    /// Whether nobody needs to hear of it: it never asked for anything, or nothing of it ever fired here.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.urgency == Urgency::Record
            || (self.beyond.fired == 0 && self.members.values().all(|member| member.fired == 0))
    }

    /// When the first of its alerts began, no more than a day before it was opened.
    #[must_use]
    pub fn since(&self) -> Timestamp {
        let day = jiff::SignedDuration::from_hours(24);
        let earliest = self.opened_at.checked_sub(day).unwrap_or(self.opened_at);
        let began = self.members.values().filter_map(Member::since).min().unwrap_or(self.opened_at);
        began.clamp(earliest, self.opened_at)
    }

    fn changed(&mut self) {
        self.changes += 1;
        self.unshown = self.unshown || !self.is_quiet();
    }

    fn tell(&mut self, news: String) {
        if !self.is_running() {
            return;
        }
        if self.news.len() < MOST_NEWS {
            self.news.push(news);
        } else {
            self.more_news += 1;
        }
    }
}

/// What services there are and which stand beside which.
pub trait Neighbourhood: Send + Sync {
    /// Whether there is such a service.
    fn knows(&self, service: &ServiceName) -> bool;

    /// The services that it depends on, and those that depend on it.
    fn beside(&self, service: &ServiceName) -> Vec<ServiceName>;
}

impl Neighbourhood for warrant_toolbox::catalog::Catalog {
    fn knows(&self, service: &ServiceName) -> bool {
        self.service(service).is_some()
    }

    fn beside(&self, service: &ServiceName) -> Vec<ServiceName> {
        self.neighbours(service).into_iter().cloned().collect()
    }
}
