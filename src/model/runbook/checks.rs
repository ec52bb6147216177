//! The checks of a runbook on one service: the calls they need, and how they came out.

use serde_json::Value;
use warrant_kernel::domain::name::EvidenceId;
use warrant_toolbox::runbook::document::Check;
use warrant_toolbox::runbook::expect::{self, Verdict};
use warrant_toolbox::runbook::fill::{Values, fill};

use super::choose::Candidate;
use super::scene::Scene;
use crate::agent::remedies::calls::Wanted;

/// A check that has been carried out.
#[derive(Debug, Clone)]
pub(super) struct Checked<'a> {
    pub(super) check: &'a Check,
    pub(super) verdict: Verdict,
    pub(super) evidence: Option<EvidenceId>,
    pub(super) data: Option<&'a Value>,
}

/// The call of a check, and the one over the window before where it compares with that.
fn wanted(scene: &Scene<'_>, candidate: &Candidate<'_>, check: &Check) -> Option<(Wanted, Option<Wanted>)> {
    if !scene.can_look(&candidate.service, check.tool.as_str()) {
        return None;
    }
    let now = Values { service: Some(&candidate.service), since: scene.run.since, until: scene.until() };
    let call = |values| {
        let args = Value::Object(fill(&check.args, values).ok()?);
        Some(Wanted { tool: check.tool.to_string(), args })
    };
    let before = if check.expect.needs_previous() { Some(call(now.previous())?) } else { None };
    Some((call(now)?, before))
}

/// All calls that a candidate's checks need.
pub(super) fn calls(scene: &Scene<'_>, candidate: &Candidate<'_>) -> Vec<Wanted> {
    candidate
        .runbook
        .checks
        .iter()
        .filter_map(|check| wanted(scene, candidate, check))
        .flat_map(|(now, before)| std::iter::once(now).chain(before))
        .collect()
}

/// How all checks of a candidate came out.
pub(super) fn judged<'a>(scene: &Scene<'a>, candidate: &Candidate<'a>) -> Vec<Checked<'a>> {
    candidate.runbook.checks.iter().map(|check| judge(scene, candidate, check)).collect()
}

fn judge<'a>(scene: &Scene<'a>, candidate: &Candidate<'a>, check: &'a Check) -> Checked<'a> {
    let unknown =
        |why: &str| Checked { check, verdict: Verdict::Unknown { why: why.to_owned() }, evidence: None, data: None };
    let Some((now, before)) = wanted(scene, candidate, check) else {
        return unknown("the catalog does not say where to look for it");
    };
    let Some(seen) = scene.result_of(&now) else { return unknown("it was not carried out") };
    let previous = before.and_then(|before| scene.result_of(&before)).map(|seen| expect::Seen::from(seen.result));
    let verdict = check.expect.judge(expect::Seen::from(seen.result), previous);
    Checked { check, verdict, evidence: seen.result.evidence, data: Some(&seen.result.data) }
}
