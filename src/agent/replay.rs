//! Replay: the loop again, over the answers that were recorded.
//!
//! For every event the state before it is folded from the log, the loop decides what comes next, and that is compared
//! with what was recorded. Models and tools are not asked; policy is.

use warrant_kernel::call::arguments;
use warrant_kernel::domain::decision::Decision;
use warrant_kernel::domain::event::{Answered, Asked, Body, Call, Event};
use warrant_kernel::domain::report::Report;
use warrant_kernel::policy::Question;

use super::investigate::{Bench, received};
use super::prompt;
use super::report::{self, Judged};
use super::state::{NotOpened, State};
use super::step::{self, Step};
use super::sweep;

/// A place where today's program decides otherwise than the recorded one.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Difference {
    /// The event.
    pub seq: u64,
    /// What was compared.
    pub what: &'static str,
    /// As it was recorded.
    pub recorded: String,
    /// As it would be now.
    pub now: String,
}

/// Replays a log.
///
/// # Errors
/// [`NotOpened`] where the log has no beginning.
pub fn replay(bench: &Bench, events: &[Event]) -> Result<Vec<Difference>, NotOpened> {
    let (first, rest) = events.split_first().ok_or(NotOpened)?;
    let mut state = State::opened(first)?;
    let mut differences = Vec::new();
    // Calls of one step were recorded together; the step is decided once, before the first of them.
    let mut expected: Vec<Call> = Vec::new();
    for event in rest {
        compare(bench, &state, event, &mut expected, &mut differences);
        state.apply(event);
    }
    Ok(differences)
}

fn compare(bench: &Bench, state: &State, event: &Event, expected: &mut Vec<Call>, differences: &mut Vec<Difference>) {
    let mut differ = |what: &'static str, recorded: String, now: String| {
        if recorded != now {
            differences.push(Difference { seq: event.seq, what, recorded, now });
        }
    };
    if !matches!(event.body, Body::Asked(Asked::Read { .. } | Asked::Write { .. })) {
        for missing in expected.drain(..) {
            differ("call", "no call".to_owned(), shown(&missing));
        }
    }
    match &event.body {
        Body::Asked(Asked::Read { call } | Asked::Write { call }) => {
            if expected.is_empty() {
                *expected = match step::next(state) {
                    Step::Sweep => sweep::calls(&state.run, &bench.catalog, &bench.registry),
                    Step::Ask(calls) => calls,
                    Step::CarryOut(_)
                    | Step::HandIn(_)
                    | Step::Warn(_)
                    | Step::Spend(_)
                    | Step::AskModel(_)
                    | Step::Partial(_)
                    | Step::Done => Vec::new(),
                };
            }
            let now = if expected.is_empty() { "no call".to_owned() } else { shown(&expected.remove(0)) };
            differ("call", shown(call), now);
        }
        Body::Asked(Asked::Model { request, .. }) => {
            let now = match step::next(state) {
                Step::AskModel(_) => {
                    let tools = prompt::tools(&bench.registry, &state.run.role, state.run.writes);
                    prompt::digest(prompt::system(state.run.writes), &tools, &prompt::messages(state))
                }
                other => format!("no request, but {}", name_of(&other)),
            };
            differ("request to the model", request.clone(), now);
        }
        Body::Decided { decision } => {
            let now = ruling(bench, state, decision).unwrap_or_else(|| "no ruling".to_owned());
            differ("ruling", format!("{:?} by {}", decision.action, decision.policy_ids.join(", ")), now);
        }
        Body::Reported { report } => {
            let now = report_now(bench, state).map(|now| Report { volatile: report.volatile, ..now });
            let text =
                |report: Option<&Report>| report.and_then(|it| serde_json::to_string(it).ok()).unwrap_or_default();
            differ("report", text(Some(report)), text(now.as_ref()));
        }
        Body::Answered(Answered::Report { message, .. }) => {
            let now = match step::next(state) {
                Step::HandIn(handed_in) => match received(state, &bench.library, &handed_in) {
                    Judged::Returned(now) => now,
                    Judged::Stands(_) => "the report stands".to_owned(),
                },
                other => format!("no report, but {}", name_of(&other)),
            };
            differ("returned report", message.clone(), now);
        }
        Body::Answered(
            Answered::Model { .. } | Answered::ModelFailed { .. } | Answered::Read { .. } | Answered::Write { .. },
        )
        | Body::Settled { .. }
        | Body::Opened { .. }
        | Body::Framed { .. }
        | Body::Steered { .. }
        | Body::Brought { .. }
        | Body::News { .. }
        | Body::Budget { .. }
        | Body::Resumed
        | Body::Interrupted => {}
    }
}

fn name_of(step: &Step) -> &'static str {
    match step {
        Step::Sweep => "the opening sweep",
        Step::Ask(_) => "calls",
        Step::CarryOut(_) => "calls to carry out",
        Step::HandIn(_) => "a report to check",
        Step::Warn(_) => "a warning of the budget",
        Step::Spend(_) => "a spent budget",
        Step::AskModel(_) => "a request to the model",
        Step::Partial(_) => "a partial report",
        Step::Done => "nothing",
    }
}

fn shown(call: &Call) -> String {
    format!("{} {} {}", call.id, call.tool, call.arguments)
}

/// What policy says today of a call that was decided on.
fn ruling(bench: &Bench, state: &State, decision: &Decision) -> Option<String> {
    let known = state.calls.iter().find(|known| known.call.id == decision.call_id)?;
    let tool = bench.registry.get(&known.call.tool)?;
    let now = known.asked_at;
    let checked = arguments::check(tool.definition, &known.call.arguments, now, bench.catalog.as_ref()).ok()?;
    let target = tool.resolve(&checked.arguments, now).ok()?;
    let args = checked.arguments.as_map();
    let ruled = bench.policy.decide(&Question { run: &state.run, tool: tool.about(), target: &target, args, now });
    Some(format!("{:?} by {}", ruled.action, ruled.policy_ids.join(", ")))
}

fn report_now(bench: &Bench, state: &State) -> Option<Report> {
    match step::next(state) {
        Step::HandIn(handed_in) => match received(state, &bench.library, &handed_in) {
            Judged::Stands(report) => Some(*report),
            Judged::Returned(_) => None,
        },
        Step::Partial(why) => Some(report::partial(state, &bench.library, &why)),
        Step::Sweep
        | Step::Ask(_)
        | Step::CarryOut(_)
        | Step::Warn(_)
        | Step::Spend(_)
        | Step::AskModel(_)
        | Step::Done => None,
    }
}
