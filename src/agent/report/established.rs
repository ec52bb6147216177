//! What checks of runbooks show of the evidence, whoever made the calls: that a cause holds, or what is ruled out.

use serde_json::{Map, Value};
use warrant_kernel::domain::event::Call;
use warrant_kernel::domain::name::ServiceName;
use warrant_kernel::domain::result::ToolResult;
use warrant_toolbox::runbook::document::{Check, Shows};
use warrant_toolbox::runbook::expect::{Seen, Verdict};
use warrant_toolbox::runbook::fill::{Values, fill};
use warrant_toolbox::runbook::library::Library;

use crate::agent::state::State;

/// Arguments that say where in time to look; a check establishes its cause wherever it was looked for.
const TIMES: [&str; 2] = ["since", "until"];

/// Whether some check that is marked as establishing a cause makes this very call and holds on its result.
#[must_use]
pub fn is_cause(state: &State, library: &Library, call: &Call, result: &ToolResult) -> bool {
    let Ok(Value::Object(given)) = serde_json::from_str(&call.arguments) else { return false };
    let checks = library.runbooks().iter().flat_map(|runbook| &runbook.checks);
    checks
        .filter(|check| check.shows == Shows::Cause && check.tool.as_str() == call.tool)
        .filter(|check| !check.expect.needs_previous())
        .any(|check| same_call(state, check, &given) && check.expect.judge(Seen::from(result), None) == Verdict::Held)
}

/// What checks of runbooks have ruled out so far, each with its evidence.
#[must_use]
pub fn ruled_out(state: &State, library: &Library) -> Vec<String> {
    let checks: Vec<(&Check, &str)> = library
        .runbooks()
        .iter()
        .flat_map(|runbook| &runbook.checks)
        .filter(|check| !check.expect.needs_previous())
        .filter_map(|check| Some((check, check.rules_out.as_deref()?)))
        .collect();
    let mut lines = Vec::new();
    for known in &state.calls {
        let Some(result) = known.result.as_ref().filter(|result| result.ok) else { continue };
        let Ok(Value::Object(given)) = serde_json::from_str(&known.call.arguments) else { continue };
        let failed = |check: &Check| {
            check.tool.as_str() == known.call.tool
                && same_call(state, check, &given)
                && check.expect.judge(Seen::from(result), None) == Verdict::Failed
        };
        let Some((_, rules_out)) = checks.iter().find(|(check, _)| failed(check)) else { continue };
        let of = given.get("service").and_then(Value::as_str).map(|service| format!("{service}: ")).unwrap_or_default();
        let evidence = result.evidence.map(|id| format!("{id} ")).unwrap_or_default();
        lines.push(format!("{evidence}{of}{rules_out}"));
    }
    lines
}

fn same_call(state: &State, check: &Check, given: &Map<String, Value>) -> bool {
    let service = given.get("service").and_then(Value::as_str).and_then(|name| name.parse::<ServiceName>().ok());
    let values = Values { service: service.as_ref(), since: state.run.since, until: state.now };
    let Ok(wanted) = fill(&check.args, values) else { return false };
    let what = |args: &Map<String, Value>| -> Vec<(String, Value)> {
        let mut what: Vec<(String, Value)> = args
            .iter()
            .filter(|(name, _)| !TIMES.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        what.sort_by(|left, right| left.0.cmp(&right.0));
        what
    };
    what(&wanted) == what(given)
}
