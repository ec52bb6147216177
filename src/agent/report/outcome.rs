//! The outcome, settled by code from what stood up.
//!
//! `confirmed` needs symptom and cause on evidence of different sources, and a cause that is not later than the onset or
//! that a runbook check established; and more than text that strangers can write must name the cause. `likely` rests on one. `no_fault` needs normal signals. All else is `inconclusive`.

use std::collections::BTreeSet;

use jiff::Timestamp;
use warrant_kernel::domain::name::SourceName;
use warrant_kernel::domain::report::{Finding, FindingKind, Outcome};
use warrant_toolbox::runbook::library::Library;

use super::established::is_cause;
use super::signals;
use super::weight::weighs;
use crate::agent::state::State;

/// Clocks of different machines and rounded times differ by this many seconds.
const CLOCK_SLACK_S: i64 = 5;

/// Settles the outcome, with the reason in a sentence.
#[must_use]
pub fn settle(state: &State, library: &Library, findings: &[Finding]) -> (Outcome, String) {
    let of_kind = |kind: FindingKind| findings.iter().filter(move |finding| finding.kind == kind);
    let causes: Vec<&Finding> = of_kind(FindingKind::Cause).collect();
    let symptoms: Vec<&Finding> = of_kind(FindingKind::Symptom).collect();
    if causes.is_empty() {
        return without_cause(state, symptoms.len());
    }
    let onset = onset(state, &symptoms);
    let in_time: Vec<&&Finding> =
        causes.iter().filter(|cause| established(state, library, cause) || not_later(cause, onset)).collect();
    if in_time.is_empty() {
        let late = causes.iter().any(|cause| time_of(cause).is_some()) && onset.is_some();
        let reason = if late {
            "the cause named is later than the onset"
        } else {
            "nothing shows that the cause named came before the onset"
        };
        return (Outcome::Inconclusive, reason.to_owned());
    }
    let other_source = |cause: &Finding| {
        let cause_sources = sources(state, cause);
        symptoms.iter().any(|symptom| {
            let symptom_sources = sources(state, symptom);
            !cause_sources.is_empty() && !symptom_sources.is_empty() && symptom_sources != cause_sources
        })
    };
    let apart: Vec<&&&Finding> = in_time.iter().filter(|cause| other_source(cause)).collect();
    if apart.iter().any(|cause| established(state, library, cause) || weighs(state, cause)) {
        return (Outcome::Confirmed, "symptom and cause rest on evidence of different sources".to_owned());
    }
    if !apart.is_empty() {
        let reason = "only text that strangers can write names the cause, as in a log line or an alert";
        return (Outcome::Likely, reason.to_owned());
    }
    let reason = if symptoms.is_empty() { "no symptom stands beside the cause" } else { "it rests on one source" };
    (Outcome::Likely, reason.to_owned())
}

fn without_cause(state: &State, symptoms: usize) -> (Outcome, String) {
    let signals = signals::of(state);
    if let Some(first) = signals.abnormal.first() {
        return (Outcome::Inconclusive, format!("something is wrong and no cause stood up: {}", first.claim));
    }
    if !signals.unseen.is_empty() {
        return (Outcome::Inconclusive, format!("signals could not be read: {}", signals.unseen.join(", ")));
    }
    if symptoms > 0 {
        return (Outcome::Inconclusive, "a symptom was reported and no cause stood up".to_owned());
    }
    if signals.normal == 0 {
        return (Outcome::Inconclusive, "no signal was read".to_owned());
    }
    (Outcome::NoFault, format!("all {} signals that were read are normal", signals.normal))
}

fn time_of(finding: &Finding) -> Option<Timestamp> {
    finding.at.as_deref().and_then(|at| at.parse().ok())
}

/// The earliest sign of the symptoms: what their evidence calls the onset, or else what the findings say.
fn onset(state: &State, symptoms: &[&Finding]) -> Option<Timestamp> {
    let measured = symptoms.iter().flat_map(|symptom| &symptom.evidence).filter_map(|id| {
        let (_, result) = state.evidence(*id)?;
        result.data.pointer("/onset")?.as_str()?.parse::<Timestamp>().ok()
    });
    measured.min().or_else(|| symptoms.iter().filter_map(|symptom| time_of(symptom)).min())
}

fn not_later(cause: &Finding, onset: Option<Timestamp>) -> bool {
    match (time_of(cause), onset) {
        (Some(cause), Some(onset)) => cause.duration_since(onset).as_secs() <= CLOCK_SLACK_S,
        (Some(_) | None, None) | (None, Some(_)) => false,
    }
}

/// Whether a runbook's check, marked as one that establishes a cause, holds on the cause's evidence.
fn established(state: &State, library: &Library, cause: &Finding) -> bool {
    cause
        .evidence
        .iter()
        .filter_map(|id| state.evidence(*id))
        .any(|(call, result)| is_cause(state, library, call, result))
}

fn sources(state: &State, finding: &Finding) -> BTreeSet<SourceName> {
    finding.evidence.iter().filter_map(|id| state.evidence(*id)?.1.meta.source.clone()).collect()
}

#[cfg(test)]
mod tests;
