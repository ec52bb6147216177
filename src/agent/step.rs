//! What comes next: a pure function of the state.

use warrant_kernel::domain::event::{Call, Caller};
use warrant_kernel::domain::name::CallId;
use warrant_kernel::domain::report::Draft;

use super::held;
use super::model::{ModelCall, Stop};
use super::report::Chance;
use super::state::{CallState, Ending, State, Turn};

/// The loop's own tool, by which a model ends the investigation.
pub const REPORT: &str = "report";

/// What a report is told that was written before the last news.
pub(super) const MEANWHILE: &str =
    "something was said after it was written, which stands beneath: take it in, then call `report` again";

/// Answers in a row that bring the investigation no further. With several models each has had its turn by then.
const IDLE_TURNS: usize = 3;

/// The next thing to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Ask the opening sweep's calls.
    Sweep,
    /// Ask these calls of the last turn.
    Ask(Vec<Call>),
    /// Carry out calls that were asked and not answered.
    CarryOut(Vec<CallState>),
    /// Check the report that was handed in by this call.
    HandIn(HandedIn),
    /// Warn the model that its budget is nearly spent.
    Warn(String),
    /// Note that a budget is spent.
    Spend(String),
    /// Ask the model for its next turn.
    AskModel(u32),
    /// Let code write the report from the evidence, because no model will.
    Partial(String),
    /// Nothing.
    Done,
}

/// A report that a model handed in.
#[derive(Debug, Clone, PartialEq)]
pub struct HandedIn {
    /// The call's id; answers to it bear this.
    pub call_id: CallId,
    /// The draft, or what is wrong with its form.
    pub draft: Result<Draft, String>,
    /// The model that wrote it.
    pub written_by: String,
    /// Whether other calls stood beside it, whose results its writer had not seen.
    pub beside_others: bool,
    /// Whether something was said since, which its writer had not seen and has room to take in.
    pub beside_news: bool,
    /// Whether it may still go back for claims that do not stand up.
    pub chance: Chance,
}

/// Decides.
#[must_use]
pub fn next(state: &State) -> Step {
    if state.report.is_some() {
        return Step::Done;
    }
    if !state.swept {
        return Step::Sweep;
    }
    if let Some(turn) = state.turns.last() {
        let unasked = unasked(state, turn);
        if !unasked.is_empty() {
            return Step::Ask(unasked);
        }
    }
    let unanswered = state.unanswered();
    if !unanswered.is_empty() {
        return Step::CarryOut(unanswered);
    }
    let follow_ups = follow_ups(state);
    if !follow_ups.is_empty() {
        return Step::Ask(follow_ups);
    }
    if let Some(handed_in) = state.turns.last().and_then(|turn| handed_in(state, turn)) {
        return Step::HandIn(handed_in);
    }
    match &state.ending {
        Some(Ending::Budget(why) | Ending::ModelFailed(why)) => return Step::Partial(why.clone()),
        None => {}
    }
    if let Some(why) = idle(state) {
        return Step::Partial(why);
    }
    match budget(state) {
        Room::Spent(text) => Step::Spend(text),
        Room::Short(text) if !state.warned => Step::Warn(text),
        Room::Short(_) | Room::Enough => Step::AskModel(state.turns.last().map_or(1, |turn| turn.number + 1)),
    }
}

/// Whether the calls of an answer count: a cut or refused answer is never acted on.
fn counts(turn: &Turn) -> bool {
    match turn.answer.stop {
        Stop::Calls | Stop::Done => true,
        Stop::MaxTokens | Stop::Refused | Stop::Paused | Stop::ContextOverflow => false,
    }
}

/// The calls of an answer that will be acted on, reports included, in order.
pub(super) fn acted_on<'a>(state: &State, turn: &'a Turn) -> impl Iterator<Item = &'a ModelCall> {
    let most = usize::try_from(state.budgets.calls_per_turn).unwrap_or(usize::MAX);
    turn.answer.calls.iter().take(if counts(turn) { most } else { 0 })
}

fn unasked(state: &State, turn: &Turn) -> Vec<Call> {
    let mut number = state.next_number();
    let mut calls = Vec::new();
    for call in acted_on(state, turn) {
        if call.name == REPORT || state.call_of(turn.number, call).is_some() {
            continue;
        }
        calls.push(Call {
            id: CallId::nth(number),
            number,
            tool: call.name.clone(),
            arguments: call.arguments.clone(),
            by: Caller::Model { turn: turn.number, provider_id: call.id.clone() },
        });
        number += 1;
    }
    calls
}

/// The reads that are due after writes.
fn follow_ups(state: &State) -> Vec<Call> {
    let due = state
        .calls
        .iter()
        .filter(|known| state.follow_ups_of(&known.call.id).next().is_none())
        .flat_map(|known| known.follow_ups.iter().map(move |read| (&known.call.id, read)));
    (state.next_number()..)
        .zip(due)
        .map(|(number, (of, read))| Call {
            id: CallId::nth(number),
            number,
            tool: read.tool.to_string(),
            arguments: serde_json::Value::Object(read.arguments.clone()).to_string(),
            by: Caller::FollowUp { of: of.clone() },
        })
        .collect()
}

/// The id under which a report of a turn is answered.
pub(super) fn report_id(turn: &Turn) -> Option<CallId> {
    format!("r{}", turn.number).parse().ok()
}

fn handed_in(state: &State, turn: &Turn) -> Option<HandedIn> {
    let call_id = report_id(turn)?;
    if turn.returned.contains_key(&call_id) {
        return None;
    }
    let draft = draft_of(state, turn)?;
    let beside_others = is_beside_others(state, turn);
    let beside_news = !turn.notes.is_empty() && state.ending.is_none() && !matches!(budget(state), Room::Spent(_));
    // A report that went back for its form, or for what stood beside it, has not been judged yet.
    let was_judged = |earlier: &Turn| {
        earlier.returned.values().any(|message| message != MEANWHILE)
            && matches!(draft_of(state, earlier), Some(Ok(_)))
            && !is_beside_others(state, earlier)
    };
    let chance = if state.turns.iter().any(was_judged) { Chance::Last } else { Chance::First };
    Some(HandedIn { call_id, draft, written_by: turn.answer.model.clone(), beside_others, beside_news, chance })
}

/// The report among a turn's calls, or what is wrong with its form.
fn draft_of(state: &State, turn: &Turn) -> Option<Result<Draft, String>> {
    let call = acted_on(state, turn).find(|call| call.name == REPORT)?;
    Some(serde_json::from_str::<Draft>(&call.arguments).map_err(|error| error.to_string()))
}

fn is_beside_others(state: &State, turn: &Turn) -> bool {
    acted_on(state, turn).any(|call| call.name != REPORT)
}

/// Whether the model has stopped getting anywhere.
fn idle(state: &State) -> Option<String> {
    let last = state.turns.last()?;
    if last.answer.stop == Stop::Refused {
        return Some(format!("the model {} declined to go on", last.answer.model));
    }
    let idle = state
        .turns
        .iter()
        .rev()
        .take_while(|turn| acted_on(state, turn).next().is_none() && turn.answer.stop != Stop::Paused)
        .count();
    (idle >= IDLE_TURNS.max(state.models.len() + 1))
        .then(|| format!("the model {} answered {idle} times without a call", last.answer.model))
}

enum Room {
    Enough,
    Short(String),
    Spent(String),
}

/// How much of the budget is left. Short means one or two more turns.
fn budget(state: &State) -> Room {
    let turns = u32::try_from(state.turns.len()).unwrap_or(u32::MAX);
    let usage = state.usage();
    let tokens = usage.input + usage.output;
    let seconds = u64::try_from(state.spent.as_secs()).unwrap_or(0);
    let budgets = &state.budgets;
    let limits = [
        (u64::from(turns), u64::from(budgets.turns), "turns"),
        (seconds, budgets.wall_s, "seconds"),
        (tokens, budgets.tokens, "tokens"),
    ];
    if let Some((used, limit, unit)) = limits.into_iter().find(|(used, limit, _)| used >= limit) {
        return Room::Spent(format!("the budget of {limit} {unit} is spent ({used} used)"));
    }
    if state.held >= held::MOST {
        return Room::Spent(format!(
            "all that came has more than {} MiB, the most an investigation holds",
            held::MOST >> 20
        ));
    }
    let cost = state.cost().zip(budgets.cost);
    if let Some((used, limit)) = cost.filter(|(used, limit)| used >= limit) {
        return Room::Spent(format!("the budget of {limit} for models is spent ({used:.4} used)"));
    }
    if turns + 2 >= budgets.turns {
        return Room::Short(format!("{} turns are left: call `report` now", budgets.turns - turns));
    }
    if let Some((used, limit)) = cost.filter(|(used, limit)| *used >= limit * 0.85) {
        return Room::Short(format!("{used:.4} of {limit} for models is used: call `report` now"));
    }
    let nearly = |(used, limit, _): &(u64, u64, &str)| used.saturating_mul(100) >= limit.saturating_mul(85);
    match limits.into_iter().skip(1).find(nearly) {
        Some((used, limit, unit)) => Room::Short(format!("{used} of {limit} {unit} are used: call `report` now")),
        None => Room::Enough,
    }
}
