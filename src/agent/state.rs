//! The state of an investigation: a fold over its events and nothing else.
//!
//! Whatever the loop decides, it decides from here, so a resumed or replayed run decides the same. The state's only
//! clock is the time of the last event.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use warrant_kernel::domain::decision::Decision;
use warrant_kernel::domain::event::{Answered, Asked, Body, Budgets, Call, Caller, Event};
use warrant_kernel::domain::name::{CallId, EvidenceId, PersonId};
use warrant_kernel::domain::plan::Proposal;
use warrant_kernel::domain::report::{Report, WriteOutcome, Written};
use warrant_kernel::domain::result::ToolResult;
use warrant_kernel::domain::run::Run;

use super::envelope::Frame;
use super::held;
use super::model::{Answer, ModelCall, Seen, Usage};

/// Whether a call looks or changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// It looks, and may be carried out again.
    Read,
    /// It changes something, and is never carried out again.
    Write,
}

/// A call and what came of it so far.
#[derive(Debug, Clone, PartialEq)]
pub struct CallState {
    /// The call.
    pub call: Call,
    /// Whether it looks or changes something.
    pub kind: CallKind,
    /// The turn after whose answer it was asked; 0 before the first.
    pub turn: u32,
    /// When it was asked: the `now` it is carried out with, however often.
    pub asked_at: Timestamp,
    /// Whether the run was broken off while it was under way: a write is then looked up and not asked again.
    pub broken_off: bool,
    /// Its result, once there is one.
    pub result: Option<ToolResult>,
    /// When it was answered.
    pub ended_at: Option<Timestamp>,
    /// What the report says of a write, as things stand now.
    pub written: Option<Written>,
    /// Reads that are to show whether the trouble is over after a write.
    pub follow_ups: Vec<Proposal>,
}

/// What was said after a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// By people, or by Warrant.
    Said(String),
    /// By an alert: a stranger's words.
    Alert(String),
    /// By what a person brought: the result of this call.
    Brought(CallId),
}

/// One turn of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Its number, from 1.
    pub number: u32,
    /// What the model said.
    pub answer: Answer,
    /// What the model was told of a report it handed in.
    pub returned: BTreeMap<CallId, String>,
    /// What people, alerts and budgets said after it.
    pub notes: Vec<Note>,
}

/// Why there will be no further turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// A budget is spent.
    Budget(String),
    /// No model answers.
    ModelFailed(String),
}

/// The state.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// What stays the same.
    pub run: Run,
    /// Its limits.
    pub budgets: Budgets,
    /// Names of the models.
    pub models: Vec<String>,
    /// The marks between which text from outside reaches models, once they are drawn.
    pub frame: Option<Frame>,
    /// Number of the last event.
    pub last_seq: u64,
    /// Time of the last event.
    pub now: Timestamp,
    /// Time spent, breaks not counted.
    pub spent: SignedDuration,
    /// Bytes of what came so far.
    pub held: usize,
    /// All calls in the order in which they were made.
    pub calls: Vec<CallState>,
    /// Decisions by call.
    pub decisions: BTreeMap<CallId, Decision>,
    /// Whether the opening sweep has been asked for.
    pub swept: bool,
    /// Turns that were answered.
    pub turns: Vec<Turn>,
    /// What people added.
    pub steered: Vec<String>,
    /// Who did: they have a part in what is done from then on.
    pub contributors: Vec<PersonId>,
    /// What was said before the first turn.
    pub opening_notes: Vec<Note>,
    /// Which budget warnings were given.
    pub warned: bool,
    /// Why there will be no further turn, if so.
    pub ending: Option<Ending>,
    /// The report.
    pub report: Option<Report>,
}

/// An event log that does not begin with `Opened`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the trace does not begin with the opening of an investigation")]
pub struct NotOpened;

impl State {
    /// Folds a whole log.
    ///
    /// # Errors
    /// [`NotOpened`] where the first event is another one.
    pub fn fold(events: &[Event]) -> Result<Self, NotOpened> {
        let (first, rest) = events.split_first().ok_or(NotOpened)?;
        let mut state = Self::opened(first)?;
        for event in rest {
            state.apply(event);
        }
        Ok(state)
    }

    /// The state after its first event.
    ///
    /// # Errors
    /// [`NotOpened`] where that is another one.
    pub fn opened(event: &Event) -> Result<Self, NotOpened> {
        let Body::Opened { run, budgets, models, .. } = &event.body else { return Err(NotOpened) };
        Ok(Self {
            run: (**run).clone(),
            budgets: budgets.clone(),
            models: models.clone(),
            frame: None,
            last_seq: event.seq,
            now: event.at,
            spent: SignedDuration::ZERO,
            held: 0,
            calls: Vec::new(),
            decisions: BTreeMap::new(),
            swept: false,
            turns: Vec::new(),
            steered: Vec::new(),
            contributors: Vec::new(),
            opening_notes: Vec::new(),
            warned: false,
            ending: None,
            report: None,
        })
    }

    /// Applies the next event.
    pub fn apply(&mut self, event: &Event) {
        // Neither a break nor people's time to decide on a write counts.
        if !matches!(event.body, Body::Resumed | Body::Answered(Answered::Write { .. })) {
            self.spent += event.at.duration_since(self.now).max(SignedDuration::ZERO);
        }
        self.now = self.now.max(event.at);
        self.last_seq = event.seq;
        self.held = self.held.saturating_add(held::bytes(&event.body));
        match &event.body {
            Body::Opened { .. } | Body::Interrupted => {}
            // The first one counts: what was said between its marks stands there still.
            Body::Framed { word } => self.frame = self.frame.take().or_else(|| word.parse().ok()),
            Body::Resumed => {
                self.calls.iter_mut().filter(|known| known.result.is_none()).for_each(|known| known.broken_off = true);
            }
            // A role that sees none of the sweep's tools begins with the model.
            Body::Asked(Asked::Model { .. }) => self.swept = true,
            Body::Asked(Asked::Read { call }) => self.asked(call, CallKind::Read, event.at),
            Body::Asked(Asked::Write { call }) => self.asked(call, CallKind::Write, event.at),
            Body::Answered(answered) => self.answered(answered, event.at),
            Body::Settled { written, text, follow_ups } => {
                if let Some(known) = self.call_mut(&written.call_id) {
                    known.written = Some((**written).clone());
                    known.follow_ups.clone_from(follow_ups);
                }
                self.note(Note::Said(text.clone()));
            }
            Body::Decided { decision } => {
                self.decisions.insert(decision.call_id.clone(), decision.clone());
            }
            Body::Steered { text, by } => {
                self.steered.push(text.clone());
                self.takes_part(by.as_ref());
                self.note(Note::Said(text.clone()));
            }
            Body::Brought { call, result, by } => {
                self.brought(call, result, event.at);
                self.takes_part(by.as_ref());
                self.note(Note::Brought(call.id.clone()));
            }
            Body::News { text } => self.note(Note::Alert(text.clone())),
            Body::Budget { text, spent } => {
                self.warned = true;
                if *spent {
                    self.ending = Some(Ending::Budget(text.clone()));
                } else {
                    self.note(Note::Said(text.clone()));
                }
            }
            Body::Reported { report } => self.report = Some((**report).clone()),
        }
    }

    fn asked(&mut self, call: &Call, kind: CallKind, asked_at: Timestamp) {
        self.swept = true;
        if !self.calls.iter().any(|known| known.call.id == call.id) {
            self.calls.push(CallState {
                call: call.clone(),
                kind,
                turn: self.turns.last().map_or(0, |turn| turn.number),
                asked_at,
                broken_off: false,
                result: None,
                ended_at: None,
                written: None,
                follow_ups: Vec::new(),
            });
        }
    }

    /// Something that was not called for: asked and answered at once.
    fn brought(&mut self, call: &Call, result: &ToolResult, at: Timestamp) {
        self.calls.push(CallState {
            call: call.clone(),
            kind: CallKind::Read,
            turn: self.turns.last().map_or(0, |turn| turn.number),
            asked_at: at,
            broken_off: false,
            result: Some(result.clone()),
            ended_at: Some(at),
            written: None,
            follow_ups: Vec::new(),
        });
    }

    fn takes_part(&mut self, by: Option<&PersonId>) {
        if let Some(by) = by.filter(|by| !self.contributors.contains(by)) {
            self.contributors.push(by.clone());
        }
    }

    fn call_mut(&mut self, id: &CallId) -> Option<&mut CallState> {
        self.calls.iter_mut().find(|known| known.call.id == *id)
    }

    fn answered(&mut self, answered: &Answered, at: Timestamp) {
        match answered {
            Answered::Model { turn, answer } => match serde_json::from_value::<Answer>(answer.clone()) {
                Ok(answer) => {
                    let (returned, notes) = (BTreeMap::new(), Vec::new());
                    self.turns.push(Turn { number: *turn, answer, returned, notes });
                }
                // Written by a program whose answers have another shape: as good as no answer.
                Err(error) => {
                    self.ending = Some(Ending::ModelFailed(format!("a stored answer can't be read: {error}")));
                }
            },
            Answered::ModelFailed { message, .. } => self.ending = Some(Ending::ModelFailed(message.clone())),
            Answered::Read { result } => {
                if let Some(known) = self.call_mut(&result.call_id) {
                    known.result = Some((**result).clone());
                    known.ended_at = Some(at);
                }
            }
            Answered::Write { result, written, follow_ups } => {
                if let Some(known) = self.call_mut(&result.call_id) {
                    known.result = Some((**result).clone());
                    known.ended_at = Some(at);
                    known.written = Some((**written).clone());
                    known.follow_ups.clone_from(follow_ups);
                }
            }
            Answered::Report { call_id, message } => {
                if let Some(turn) = self.turns.last_mut() {
                    turn.returned.insert(call_id.clone(), message.clone());
                }
            }
        }
    }

    fn note(&mut self, note: Note) {
        match self.turns.last_mut() {
            Some(turn) => turn.notes.push(note),
            None => self.opening_notes.push(note),
        }
    }

    /// All calls that were answered, for those who look at them in the program.
    pub fn seen(&self) -> impl Iterator<Item = Seen<'_>> {
        self.calls.iter().filter_map(|known| {
            let result = known.result.as_ref()?;
            let ended_at = known.ended_at.unwrap_or(known.asked_at);
            Some(Seen { call: &known.call, kind: known.kind, result, asked_at: known.asked_at, ended_at })
        })
    }

    /// The calls of the opening sweep.
    pub fn sweep(&self) -> impl Iterator<Item = &CallState> {
        self.calls.iter().filter(|known| known.call.by == Caller::Sweep)
    }

    /// Calls that were asked and not answered.
    #[must_use]
    pub fn unanswered(&self) -> Vec<CallState> {
        self.calls.iter().filter(|known| known.result.is_none()).cloned().collect()
    }

    /// What the report says of the writes.
    pub fn writes(&self) -> impl Iterator<Item = &Written> {
        self.calls.iter().filter_map(|known| known.written.as_ref())
    }

    /// The writes that still wait for people.
    pub fn waiting(&self) -> impl Iterator<Item = &Written> {
        self.writes().filter(|written| written.outcome == WriteOutcome::Pending)
    }

    /// The reads that ran by themselves after a write.
    pub fn follow_ups_of<'a>(&'a self, of: &'a CallId) -> impl Iterator<Item = &'a CallState> {
        self.calls.iter().filter(move |known| matches!(&known.call.by, Caller::FollowUp { of: after } if after == of))
    }

    /// Our call for the model's `index`th call of a turn; reports have none.
    #[must_use]
    pub fn call_of(&self, turn: u32, model_call: &ModelCall) -> Option<&CallState> {
        self.calls.iter().find(|known| {
            matches!(&known.call.by, Caller::Model { turn: of, provider_id }
                if *of == turn && *provider_id == model_call.id)
        })
    }

    /// The result that a piece of evidence is.
    #[must_use]
    pub fn evidence(&self, id: EvidenceId) -> Option<(&Call, &ToolResult)> {
        self.calls.iter().find_map(|known| {
            let result = known.result.as_ref()?;
            (result.evidence == Some(id)).then_some((&known.call, result))
        })
    }

    /// The marks, for showing what models see. A trace of before there were marks is shown with a word of its own.
    #[must_use]
    pub fn marks(&self) -> Frame {
        self.frame.clone().unwrap_or_else(Frame::unknown)
    }

    /// The number of the next call.
    #[must_use]
    pub fn next_number(&self) -> u64 {
        self.calls.iter().map(|known| known.call.number).max().unwrap_or(0) + 1
    }

    /// Tokens so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.turns.iter().fold(Usage::default(), |sum, turn| Usage {
            input: sum.input + turn.answer.usage.input,
            cached: sum.cached + turn.answer.usage.cached,
            output: sum.output + turn.answer.usage.output,
        })
    }

    /// What the answers cost so far; none where no model has a price.
    #[must_use]
    pub fn cost(&self) -> Option<f64> {
        self.turns.iter().filter_map(|turn| turn.answer.cost).reduce(|sum, cost| sum + cost)
    }

    /// How often a report was handed back.
    #[must_use]
    pub fn returns(&self) -> usize {
        self.turns.iter().map(|turn| turn.returned.len()).sum()
    }
}
