//! What the model is told: the system prompt, the tools, and the conversation built from the state.
//!
//! The prefix is the same bytes in every turn, so that providers can cache it; the conversation only grows, until the
//! context budget is reached and older results shrink in one step.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use warrant_kernel::call::normalise::cut;
use warrant_kernel::call::registry::Registry;
use warrant_kernel::domain::event::Caller;
use warrant_kernel::domain::hex::hex;
use warrant_kernel::domain::name::{CallId, RoleName};
use warrant_kernel::domain::result::{Origin, ToolResult};
use warrant_kernel::domain::run::{Trigger, Writes};
use warrant_kernel::domain::time::rfc3339;

use super::envelope::{self, Frame};
use super::model::{CallAnswer, Message, Stop, ToolSpec};
use super::state::{CallState, Note, State, Turn};
use super::step::{self, REPORT};

const READING: &str =
    concat!(include_str!("prompt/work.md"), include_str!("prompt/reads.md"), include_str!("prompt/rest.md"));

const WRITING: &str =
    concat!(include_str!("prompt/work.md"), include_str!("prompt/writes.md"), include_str!("prompt/rest.md"));

/// The opening sweep, calls and results together, in bytes.
const SWEEP_BYTES: usize = 16_000;

/// What a shrunk result says of how to see it again.
const AGAIN: usize = 160;

/// A result that has shrunk, in bytes.
const SHRUNK_BYTES: usize = 700;

/// The system prompt: the same bytes over a whole investigation, and of writes only where they are open.
#[must_use]
pub fn system(writes: Writes) -> &'static str {
    match writes {
        Writes::Off => READING,
        Writes::Allowed => WRITING,
    }
}

/// The tools of a role and the loop's own `report`, in a fixed order. What changes something is offered where writes are
/// open, and is as good as absent where they are not.
#[must_use]
pub fn tools(registry: &Registry, role: &RoleName, writes: Writes) -> Vec<ToolSpec> {
    let mut specs: Vec<ToolSpec> = registry
        .for_role(role)
        .filter(|tool| tool.about().risk.only_looks() || writes == Writes::Allowed)
        .map(|tool| ToolSpec {
            name: tool.about().name.to_string(),
            description: tool.about().description.clone(),
            schema: tool.definition.schema().clone(),
        })
        .collect();
    specs.push(report_spec());
    specs
}

fn report_spec() -> ToolSpec {
    let ids = json!({ "type": "array", "items": { "type": "string", "pattern": "^E[0-9]+$" } });
    let text = json!({ "type": "string" });
    ToolSpec {
        name: REPORT.to_owned(),
        description: "Ends the investigation. Every claim cites evidence ids; every quote stands in that evidence to \
            the letter; every number is copied from it. Leave out what you can't support. With no cause found, leave \
            out root_cause and say what was ruled out."
            .to_owned(),
        schema: json!({
            "type": "object", "additionalProperties": false, "required": ["summary", "findings"],
            "properties": {
                "summary": text,
                "root_cause": { "type": "string", "description": "one sentence; name file, line, key, service" },
                "findings": { "type": "array", "items": {
                    "type": "object", "additionalProperties": false, "required": ["kind", "claim", "evidence"],
                    "properties": {
                        "kind": { "enum": ["symptom", "cause", "context"] },
                        "claim": text,
                        "evidence": ids,
                        "quotes": { "type": "array", "items": {
                            "type": "object", "additionalProperties": false, "required": ["evidence", "text"],
                            "properties": { "evidence": text, "text": text } } },
                        "at": { "type": "string", "description": "RFC 3339, as it stands in the evidence" } } } },
                "ruled_out": { "type": "array", "items": {
                    "type": "object", "additionalProperties": false, "required": ["what", "why"],
                    "properties": { "what": text, "why": text, "evidence": ids } } },
                "impact": text,
                "timeline": { "type": "array", "items": {
                    "type": "object", "additionalProperties": false, "required": ["at", "what"],
                    "properties": { "at": text, "what": text, "evidence": ids } } },
                "next_steps": { "type": "array", "items": text } }
        }),
    }
}

/// The conversation so far.
#[must_use]
pub fn messages(state: &State) -> Vec<Message> {
    let shrunk_before = shrunk_before(state);
    let mut messages = vec![Message::User { text: opening(state) }];
    for (index, turn) in state.turns.iter().enumerate() {
        let size = if index < shrunk_before { Size::Shrunk } else { Size::Whole };
        messages.extend(turn_messages(state, turn, size));
    }
    messages
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Whole,
    Shrunk,
}

/// How many of the first turns are shown shrunk. Decided turn by turn from what came before it, so that a later turn
/// never un-shrinks one.
fn shrunk_before(state: &State) -> usize {
    let mut limit = state.budgets.context_chars;
    let chars = |turn: &Turn, size| -> usize { turn_messages(state, turn, size).iter().map(message_chars).sum() };
    let opening = opening(state).len();
    let mut shrunk = 0;
    let mut total = opening;
    for (index, turn) in state.turns.iter().enumerate() {
        total += chars(turn, Size::Whole);
        // The model's window is smaller than the budget says.
        let overflows = turn.answer.stop == Stop::ContextOverflow;
        if overflows {
            limit /= 2;
        }
        if overflows || total > limit {
            shrunk = index;
            let (old, recent) = state.turns.split_at(index);
            total = opening
                + old.iter().map(|turn| chars(turn, Size::Shrunk)).sum::<usize>()
                + recent.iter().take(1).map(|turn| chars(turn, Size::Whole)).sum::<usize>();
        }
    }
    shrunk
}

fn message_chars(message: &Message) -> usize {
    match message {
        Message::User { text } => text.len(),
        Message::Assistant { text, calls, opaque } => {
            text.len()
                + calls.iter().map(|call| call.arguments.len()).sum::<usize>()
                + opaque.iter().map(|block| block.to_string().len()).sum::<usize>()
        }
        Message::Answers { answers } => answers.iter().map(|answer| answer.content.len()).sum(),
    }
}

fn opening(state: &State) -> String {
    let (run, frame) = (&state.run, state.marks());
    let mut text = vec![match &run.trigger {
        Trigger::Question { text } => format!("Question: {}\n", envelope::seen(text)),
        Trigger::Alert { name, text } => {
            format!("An alert, in its own words:\n{}\n", frame.text(&format!("{name}: {text}"), Origin::Alert))
        }
    }];
    if let Some(service) = &run.service {
        text.push(format!("Service: {service}\n"));
    }
    text.push(format!("Window: since {}; opened at {}\n", rfc3339(run.since), rfc3339(run.opened_at)));
    text.push(format!("\n{}\n", frame.told()));
    text.push("\nThe opening sweep:\n".to_owned());
    for (call, shown) in sweep_shown(state) {
        text.push(format!("\n{}\n", frame.result(&shown, Some(&heading(call)))));
    }
    for note in &state.opening_notes {
        text.push(format!("\n{}\n", noted(state, &frame, note, Size::Whole)));
    }
    text.concat()
}

/// The sweep's calls and results as the model sees them, together within their limit: the longest shrink first.
fn sweep_shown(state: &State) -> Vec<(&CallState, ToolResult)> {
    let frame = state.marks();
    let whole: Vec<(&CallState, &ToolResult, usize)> = state
        .sweep()
        .filter_map(|call| call.result.as_ref().map(|result| (call, result, frame.result(result, None).len())))
        .collect();
    let headings = whole.iter().map(|(call, ..)| frame.text(&heading(call), Origin::Warrant).len()).sum::<usize>();
    let room = SWEEP_BYTES.saturating_sub(headings);
    let fair = fair_share(&whole.iter().map(|(_, _, size)| *size).collect::<Vec<_>>(), room);
    whole
        .into_iter()
        .map(|(call, result, size)| (call, if size <= fair { result.clone() } else { shrunk(&frame, result, fair) }))
        .collect()
}

fn heading(call: &CallState) -> String {
    format!("{} {}", call.call.tool, call.call.arguments)
}

/// The largest share such that all sizes, each cut to it, fit into `room`.
fn fair_share(sizes: &[usize], room: usize) -> usize {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let mut room = room;
    for (index, size) in sorted.iter().enumerate() {
        let share = room / (sorted.len() - index);
        if *size > share {
            return share;
        }
        room -= size;
    }
    usize::MAX
}

/// A result's envelope and its first lines, within `room` bytes where the envelope alone is not longer.
fn shrunk(frame: &Frame, result: &ToolResult, room: usize) -> ToolResult {
    let envelope = frame.result(&ToolResult { data: Value::Null, ..result.clone() }, None).len() + AGAIN;
    let mut chars = room.saturating_sub(envelope);
    loop {
        let shown = shrunk_to(result, chars);
        let size = frame.result(&shown, None).len();
        // Cutting counts characters, of which some are of several bytes.
        if size <= room || chars == 0 {
            return shown;
        }
        chars = (chars * room / size).min(chars - 1);
    }
}

fn shrunk_to(result: &ToolResult, chars: usize) -> ToolResult {
    let mut small = result.clone();
    let (data, is_cut) = cut::to_fit(&result.data, chars);
    small.data = data.unwrap_or(Value::Null);
    if is_cut {
        small.truncated = true;
        let again = result.evidence.map(|id| format!("shown short; `read_evidence` shows {id} again"));
        small.hint = Some([small.hint, again].into_iter().flatten().collect::<Vec<_>>().join("; "));
    }
    small
}

/// What the model was shown of the sweep's results; it first sees all others whole. Quotes and numbers are held against
/// what was shown first.
#[must_use]
pub fn sweep_as_shown(state: &State) -> BTreeMap<CallId, String> {
    let (frame, shown) = (state.marks(), sweep_shown(state).into_iter());
    shown.map(|(call, shown)| (call.call.id.clone(), frame.body(&shown))).collect()
}

/// The results as the model still saw them when it gave its last answer: whole where whole, shrunk where shrunk. What was
/// called in that answer it has not seen yet.
#[must_use]
pub fn still_seen(state: &State) -> Vec<ToolResult> {
    let shrunk_before = shrunk_before(state);
    let frame = state.marks();
    let mut seen: Vec<ToolResult> = sweep_shown(state).into_iter().map(|(_, shown)| shown).collect();
    let files = |notes: &'_ [Note]| -> Vec<ToolResult> {
        let of = |note: &Note| match note {
            Note::Brought(id) => brought(state, id).map(|(_, result)| result.clone()),
            Note::Said(_) | Note::Alert(_) => None,
        };
        notes.iter().filter_map(of).collect()
    };
    seen.extend(files(&state.opening_notes));
    let earlier = state.turns.split_last().map_or(&[][..], |(_, earlier)| earlier);
    for (index, turn) in earlier.iter().enumerate() {
        let short = |result: ToolResult| {
            if index < shrunk_before { shrunk(&frame, &result, SHRUNK_BYTES) } else { result }
        };
        for known in calls_of(state, turn) {
            let Some(result) = &known.result else { continue };
            seen.push(short(result.clone()));
        }
        seen.extend(files(&turn.notes).into_iter().map(short));
    }
    seen.iter().map(envelope::as_seen).collect()
}

/// The calls of a turn in its order, and after them the reads that came by themselves before the next one: of its writes, or
/// of earlier ones that had to wait.
fn calls_of<'a>(state: &'a State, turn: &'a Turn) -> Vec<&'a CallState> {
    let called: Vec<&CallState> =
        step::acted_on(state, turn).filter_map(|call| state.call_of(turn.number, call)).collect();
    let after = state
        .calls
        .iter()
        .filter(|known| known.turn == turn.number && matches!(known.call.by, Caller::FollowUp { .. }));
    let after: Vec<&CallState> = after.collect();
    called.into_iter().chain(after).collect()
}

fn turn_messages(state: &State, turn: &Turn, size: Size) -> Vec<Message> {
    let (answer, frame) = (&turn.answer, state.marks());
    let acted: Vec<&str> = step::acted_on(state, turn).map(|call| call.id.as_str()).collect();
    let keeps_calls = matches!(answer.stop, Stop::Calls | Stop::Done | Stop::Paused);
    let calls = if keeps_calls { answer.calls.clone() } else { Vec::new() };
    let text = if answer.text.is_empty() && calls.is_empty() { "(no answer)".to_owned() } else { answer.text.clone() };
    let opaque = if keeps_calls { answer.opaque.clone() } else { Vec::new() };
    let answers: Vec<CallAnswer> = calls
        .iter()
        .map(|call| {
            let (content, is_error) = if !acted.contains(&call.id.as_str()) {
                (refused(&format!("at most {} calls in one turn; call again", state.budgets.calls_per_turn)), true)
            } else if call.name == REPORT {
                let message = step::report_id(turn).and_then(|id| turn.returned.get(&id).cloned());
                (refused(&message.unwrap_or_default()), true)
            } else {
                match state.call_of(turn.number, call).and_then(|known| known.result.as_ref()) {
                    Some(result) => (shown(&frame, result, size), !result.ok),
                    None => (refused("not carried out"), true),
                }
            };
            CallAnswer { id: call.id.clone(), content, is_error }
        })
        .collect();
    let mut messages = vec![Message::Assistant { text, calls, opaque }];
    if !answers.is_empty() {
        messages.push(Message::Answers { answers });
    }
    let after = calls_of(state, turn).into_iter().filter_map(|known| {
        let (Caller::FollowUp { of }, Some(result)) = (&known.call.by, &known.result) else { return None };
        Some(format!("Read by itself after {of}: {}\n{}", heading(known), shown(&frame, result, size)))
    });
    let said = turn.notes.iter().map(|note| noted(state, &frame, note, size));
    let notes: Vec<String> = after.chain(said).chain(reaction(turn).map(str::to_owned)).collect();
    if !notes.is_empty() {
        messages.push(Message::User { text: notes.join("\n") });
    }
    messages
}

fn noted(state: &State, frame: &Frame, note: &Note, size: Size) -> String {
    match note {
        Note::Brought(id) => match brought(state, id) {
            Some((call, result)) => {
                let result = if size == Size::Shrunk { &shrunk(frame, result, SHRUNK_BYTES) } else { result };
                format!("A person posted a file; it is evidence:\n{}", frame.result(result, Some(&heading(call))))
            }
            None => String::new(),
        },
        Note::Said(text) => envelope::seen(text),
        Note::Alert(text) => format!("The alerts changed, in their own words:\n{}", frame.text(text, Origin::Alert)),
    }
}

/// What a person brought, by its call.
fn brought<'a>(state: &'a State, id: &CallId) -> Option<(&'a CallState, &'a ToolResult)> {
    let known = state.calls.iter().find(|known| known.call.id == *id)?;
    Some((known, known.result.as_ref()?))
}

fn shown(frame: &Frame, result: &ToolResult, size: Size) -> String {
    match size {
        Size::Whole => frame.result(result, None),
        Size::Shrunk => frame.result(&shrunk(frame, result, SHRUNK_BYTES), None),
    }
}

fn refused(message: &str) -> String {
    envelope::ours(&json!({ "status": "error", "error": { "code": "INVALID_ARGUMENTS", "message": message } }))
}

/// What the model is told after an answer that brought no calls.
fn reaction(turn: &Turn) -> Option<&'static str> {
    match turn.answer.stop {
        Stop::Calls | Stop::Done if turn.answer.calls.is_empty() => {
            Some("Nobody reads plain text here. Call a tool, or end with `report`.")
        }
        Stop::MaxTokens => {
            Some("Your answer was cut at its length limit, so no call in it was carried out. Be shorter.")
        }
        Stop::ContextOverflow => Some("The conversation grew too long; older results have been shrunk. Go on."),
        Stop::Calls | Stop::Done | Stop::Paused | Stop::Refused => None,
    }
}

/// SHA-256 over all that the model is told, in hex: two equal requests have equal digests.
#[must_use]
pub fn digest(system: &str, tools: &[ToolSpec], messages: &[Message]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(system.as_bytes());
    hasher.update(serde_json::to_vec(tools).unwrap_or_default());
    hasher.update(serde_json::to_vec(messages).unwrap_or_default());
    hex(&hasher.finalize())
}
