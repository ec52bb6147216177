//! What is told of a run: to the outside world what customers saw, to a judge what was done.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use warrant_kernel::domain::name::ServiceName;
use warrant_kernel::domain::time::{rfc3339, short};

use crate::demo::fault::Fault;
use crate::demo::part::spec::Role;
use crate::demo::plan::Plan;
use crate::demo::shop::Tally;

/// How far back a routine check looks; the shop has run twice as long.
const ROUTINE: SignedDuration = SignedDuration::from_millis(4_500);

/// What was done to the shop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Injected {
    /// The fault.
    pub fault: Fault,
    /// The service it is in; null where nothing was broken.
    pub service: Option<Role>,
    /// The changed file, as a path in the repository; null where no configuration changed.
    pub file: Option<String>,
    /// The changed key as it stands on its line.
    pub key: Option<String>,
    /// Its line, counted from 1.
    pub line: Option<usize>,
    /// When it was put in; null where nothing was broken or not yet.
    pub onset: Option<Timestamp>,
    /// A change that broke nothing.
    pub decoy: Option<InjectedDecoy>,
}

/// A change that broke nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InjectedDecoy {
    /// The service.
    pub service: Role,
    /// The changed file, as a path in the repository.
    pub file: String,
    /// The changed key as it stands on its line.
    pub key: String,
    /// Its line, counted from 1.
    pub line: usize,
}

impl Injected {
    pub(super) fn of(plan: &Plan, onset: Option<Timestamp>) -> Self {
        let change = plan.change.as_ref();
        let decoy = &plan.decoy;
        Self {
            fault: plan.fault,
            service: plan.broken(),
            file: change.map(|change| change.file.clone()),
            key: change.map(|change| change.key.clone()),
            line: change.map(|change| change.line),
            onset,
            decoy: Some(InjectedDecoy {
                service: decoy.role,
                file: decoy.file.clone(),
                key: decoy.key.clone(),
                line: decoy.line,
            }),
        }
    }
}

/// What customers saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// When the first order had gone through.
    pub load_began: Timestamp,
    /// Up to when this holds.
    pub until: Timestamp,
    /// What went wrong, where anything did.
    pub symptom: Option<Symptom>,
}

/// Orders went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symptom {
    /// When the first of them ended.
    pub began_at: Timestamp,
    /// The orders before that.
    pub before: Tally,
    /// The orders from then on.
    pub since: Tally,
}

/// What opens an investigation: what the outside world knows, in its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trigger {
    /// The question.
    pub question: String,
    /// The name of the alert, where there is one.
    pub alert: Option<&'static str>,
    /// The service that customers talk to.
    pub service: ServiceName,
    /// From when on to look.
    pub since: Timestamp,
}

impl Trigger {
    pub(super) fn from_outside(observed: &Observed, service: ServiceName) -> Self {
        let Some(symptom) = &observed.symptom else {
            return Self {
                question: "Routine check: is anything wrong with the shop?".to_owned(),
                alert: None,
                service,
                since: observed.until.checked_sub(ROUTINE).unwrap_or(observed.load_began),
            };
        };
        let (since, before) = (&symptom.since, &symptom.before);
        let (alert, complaint) = if since.failed >= since.slow {
            ("HighErrorRate", "Customers report that orders fail.")
        } else {
            ("HighLatency", "Customers report that orders are slow.")
        };
        let question = format!(
            "{complaint} Since {}: {} of {} orders failed, {} were slow, p95 {}; before that: {} of {} failed, p95 {}.",
            rfc3339(symptom.began_at),
            since.failed,
            since.orders,
            since.slow,
            time(since.p95),
            before.failed,
            before.orders,
            time(before.p95),
        );
        Self { question, alert: Some(alert), service, since: symptom.began_at }
    }
}

/// A latency: milliseconds below ten seconds, which `short` would round away.
fn time(took: std::time::Duration) -> String {
    let took = SignedDuration::try_from(took).unwrap_or_default();
    if took.as_secs() < 10 { format!("{} ms", took.as_millis()) } else { short(took) }
}

#[cfg(test)]
mod tests;
