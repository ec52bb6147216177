//! The remedies of runbooks that matched: which they are, and what their placeholders stand for.
//!
//! A runbook matches a service when a check of it that shows a mechanism or a cause held there, whoever made the call. Its
//! remedy is one of the words that a write may rest on, so nothing here is taken from a model: only from evidence, from
//! the catalog and from the runbook.

pub mod calls;

pub mod change;

pub mod filling;

use jiff::Timestamp;
use serde_json::{Map, Value};
use warrant_kernel::call::gate::grounds;
use warrant_kernel::domain::name::ServiceName;
use warrant_toolbox::catalog::Catalog;
use warrant_toolbox::runbook::document::{Check, Remedy, Runbook, Shows};
use warrant_toolbox::runbook::expect::{self, Verdict};
use warrant_toolbox::runbook::fill::{Values, fill};
use warrant_toolbox::runbook::library::Library;

use super::model::Seen;
use super::state::State;
use calls::Calls;
use filling::{Filled, Fillings};

/// Arguments that say where in time to look; what a check shows, it shows wherever in time it was looked for.
const TIMES: [&str; 2] = ["since", "until"];

/// The remedies of all runbooks that matched, filled. A deed whose placeholders can't all be filled is none.
#[must_use]
pub fn matched(state: &State, catalog: &Catalog, library: &Library) -> Vec<grounds::Remedy> {
    let calls = Calls::new(state.seen());
    let mut found = Vec::new();
    for runbook in library.runbooks().iter().filter(|runbook| runbook.remedies.iter().any(|it| it.write.is_some())) {
        for service in catalog.services().keys() {
            let held = held(state, &calls, runbook, service);
            if held.iter().any(|check| check.shows != Shows::Symptom) {
                let remedies = runbook.remedies.iter().filter(|remedy| is_meant(remedy, &held));
                found.extend(remedies.flat_map(|remedy| filled(catalog, &calls, runbook, service, remedy)));
            }
        }
    }
    found
}

/// The checks of a runbook that held on a service.
fn held<'r>(state: &State, calls: &Calls<'_>, runbook: &'r Runbook, service: &ServiceName) -> Vec<&'r Check> {
    let holds = |check: &&Check| {
        let judged = |seen: Seen<'_>| check.expect.judge(expect::Seen::from(seen.result), None);
        !check.expect.needs_previous()
            && calls
                .iter()
                .filter(|(seen, args)| is_call_of(check, service, seen, args, state.now))
                .any(|(seen, _)| judged(seen) == Verdict::Held)
    };
    runbook.checks.iter().filter(holds).collect()
}

/// Whether a call is the one that a check makes for a service.
fn is_call_of(check: &Check, service: &ServiceName, seen: &Seen<'_>, args: &Value, now: Timestamp) -> bool {
    let values = Values { service: Some(service), since: now, until: now };
    let what = |args: &Map<String, Value>| -> Map<String, Value> {
        args.iter()
            .filter(|(name, _)| !TIMES.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    check.tool.as_str() == seen.call.tool
        && args.get("service").and_then(Value::as_str) == Some(service.as_str())
        && fill(&check.args, values).is_ok_and(|wanted| args.as_object().map(what) == Some(what(&wanted)))
}

fn is_meant(remedy: &Remedy, held: &[&Check]) -> bool {
    remedy.when.as_ref().is_none_or(|when| held.iter().any(|check| check.id == *when))
}

/// The deeds of a remedy, filled for each change that fits the runbook.
fn filled(
    catalog: &Catalog,
    calls: &Calls<'_>,
    runbook: &Runbook,
    service: &ServiceName,
    remedy: &Remedy,
) -> Vec<grounds::Remedy> {
    let rows = calls
        .iter()
        .filter(|(seen, _)| seen.call.tool == "recent_changes" && seen.result.ok)
        .filter_map(|(seen, _)| seen.result.data.pointer("/changes")?.as_array())
        .flatten()
        .filter(|row| change::text(row, "service") == Some(service.as_str()))
        .filter(|row| change::holds_one_of(row, &runbook.change_words));
    let changes: Vec<Option<&Value>> = rows.map(Some).chain([None]).collect();
    let mut filled: Vec<grounds::Remedy> = Vec::new();
    for change in changes {
        let fillings = Fillings { catalog, calls, service, change };
        for deed in remedy.deeds() {
            let Filled::Call(wanted) = fillings.fill(deed) else { continue };
            let Value::Object(arguments) = wanted.args else { continue };
            let one = grounds::Remedy { runbook: runbook.id.clone(), tool: deed.tool.clone(), arguments };
            if !filled.contains(&one) {
                filled.push(one);
            }
        }
    }
    filled
}

#[cfg(test)]
pub(super) mod tests;
