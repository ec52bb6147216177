//! Looks again, after a write, at the checks that had held: whether the trouble is over.
//!
//! Counters and logs need a while to show it, so it is looked more than once before the answer is no. A check over a
//! window is judged only when the window since the write is long enough to say something.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use warrant_kernel::domain::name::EvidenceId;
use warrant_toolbox::runbook::document::Check;
use warrant_toolbox::runbook::expect::{self, Test, Verdict};
use warrant_toolbox::runbook::fill::{Values, fill, placeholders_of};

use super::cause::Weighed;
use super::scene::Scene;
use crate::agent::model::Seen;
use crate::agent::remedies::calls::Wanted;

/// Looks where something else can still be done about it.
pub(super) const FEW: usize = 2;

/// Looks where nothing else can.
pub(super) const MANY: usize = 3;

/// What was under way when the write took effect may still fail for so long.
const SETTLE: SignedDuration = SignedDuration::from_secs(1);

/// A window shorter than this says nothing.
const SHORTEST: SignedDuration = SignedDuration::from_secs(1);

/// The end of the window, well after the look.
const WINDOW: SignedDuration = SignedDuration::from_mins(10);

/// How the checks came out after the write.
#[derive(Debug, Clone, Default)]
pub(super) struct Looked<'a> {
    pub(super) checks: Vec<(&'a Check, Verdict, Option<EvidenceId>)>,
}

impl Looked<'_> {
    /// Whether what had held no longer does.
    pub(super) fn is_over(&self) -> bool {
        let failed = self.checks.iter().filter(|(_, verdict, _)| *verdict == Verdict::Failed).count();
        failed > 0 && !self.holds_still()
    }

    /// Whether something that had held still does.
    pub(super) fn holds_still(&self) -> bool {
        self.checks.iter().any(|(_, verdict, _)| *verdict == Verdict::Held)
    }
}

/// How the checks that had held come out since the write; the calls that are needed to tell, where they have not been made.
pub(super) fn look<'a>(
    scene: &Scene<'a>,
    best: &Weighed<'a>,
    took: Seen<'a>,
    most: usize,
) -> Result<Looked<'a>, Vec<Wanted>> {
    let mut after = took.call.number;
    let mut since = took.ended_at.checked_add(SETTLE).unwrap_or(took.ended_at);
    let mut looked = Looked::default();
    for _ in 0..most {
        looked = Looked::default();
        // What shows the present is looked at first: it takes its time, and so makes a window for what looks back.
        let (back, now): (Vec<&Check>, Vec<&Check>) = again(best).partition(|check| looks_back(check));
        let mut last = after;
        for checks in [now, back] {
            let mut missing = Vec::new();
            for check in checks {
                let Some(wanted) = call(scene, best, check, since) else { continue };
                match scene.calls.after(&wanted, after) {
                    Some(seen) => {
                        last = last.max(seen.call.number);
                        looked.checks.push((check, judged(check, seen, since), seen.result.evidence));
                    }
                    None if missing.contains(&wanted) => {}
                    None => missing.push(wanted),
                }
            }
            if !missing.is_empty() {
                return Err(missing);
            }
        }
        if !looked.holds_still() {
            break;
        }
        since = scene.ended(last).unwrap_or(since);
        after = last;
    }
    Ok(looked)
}

/// The checks that are looked at again. Those that compare with an earlier window would compare with the trouble itself.
fn again<'a>(best: &Weighed<'a>) -> impl Iterator<Item = &'a Check> {
    best.held().map(|checked| checked.check).filter(|check| match check.expect.test {
        Test::Rises(..) | Test::Falls(..) => false,
        Test::Equals(_) | Test::Below(_) | Test::Above(_) | Test::Between(..) | Test::Contains(_) | Test::Absent => {
            true
        }
    })
}

fn looks_back(check: &Check) -> bool {
    placeholders_of(&check.args).contains(&"since")
}

fn call(scene: &Scene<'_>, best: &Weighed<'_>, check: &Check, since: Timestamp) -> Option<Wanted> {
    let service = &best.candidate.service;
    if !scene.can_look(service, check.tool.as_str()) {
        return None;
    }
    let until = since.checked_add(WINDOW).unwrap_or(Timestamp::MAX);
    let args = fill(&check.args, Values { service: Some(service), since, until }).ok()?;
    Some(Wanted { tool: check.tool.to_string(), args: Value::Object(args) })
}

fn judged(check: &Check, seen: Seen<'_>, since: Timestamp) -> Verdict {
    if looks_back(check) && seen.asked_at.duration_since(since) < SHORTEST {
        return Verdict::Unknown { why: "the window since then is too short to tell".to_owned() };
    }
    check.expect.judge(expect::Seen::from(seen.result), None)
}
