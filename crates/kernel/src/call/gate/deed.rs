//! What came of a write, and why one did not begin.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use crate::call::write::Held;
use crate::domain::name::SourceName;
use crate::domain::output::Output;
use crate::domain::plan::{ApprovalId, Facts, Proposal};
use crate::domain::result::{ErrorCode, Origin, Status, ToolResult};
use crate::store::capture::Captured;

/// How a write ended. Its texts have been masked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Ended {
    /// It was done.
    Done {
        /// The bound facts as they are now.
        after: Facts,
        /// What changed, one sentence each.
        side_effects: Vec<String>,
        /// Whether it brought about what it was for.
        held: Held,
        /// What was seen.
        because: String,
        /// What would take it back.
        undo: Option<Proposal>,
    },
    /// It was not done: stopped at the last moment, or refused by what it would have changed.
    NotDone {
        /// The finer reason in upper case.
        reason: String,
        /// What happened.
        message: String,
    },
    /// Whether it took effect is not known. A person has to look.
    Unknown {
        /// What happened.
        message: String,
    },
}

/// A write that was begun, under an intent of the ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct Deed {
    /// Its approval.
    pub approval: ApprovalId,
    /// The ledger's record of the intent.
    pub intent: u64,
    /// How it ended.
    pub ended: Ended,
    /// How long it took.
    pub duration: Duration,
    /// Whether the ledger has the outcome; where it has not, the next start finds the intent alone and looks.
    pub closed: bool,
    /// Reads that show whether the trouble is over; to be carried out as calls of their own.
    pub follow_ups: Vec<Proposal>,
    /// The source it counts against.
    pub(crate) source: SourceName,
    /// What the tool had to say, unmasked, on its way to the normaliser.
    pub(crate) output: Option<Output>,
}

/// What stands before the words of the tool.
const OWN: &[(&str, Origin)] = &[
    ("approval", Origin::Warrant),
    ("done", Origin::Warrant),
    ("verified", Origin::Warrant),
    ("undo", Origin::Warrant),
    ("not_recorded", Origin::Warrant),
];

impl Deed {
    /// What the model is told of a write that was done: what it came to, before what the tool has to say.
    pub(crate) fn told(&self) -> Output {
        let own = self.output.clone();
        let mut output = own.unwrap_or_else(|| Output::lines(Origin::Warrant, Map::new(), Vec::new()));
        let mut summary = Map::new();
        summary.insert("approval".to_owned(), json!(self.approval));
        if let Ended::Done { side_effects, held, because, undo, .. } = &self.ended {
            summary.insert("done".to_owned(), json!(side_effects));
            summary.insert("verified".to_owned(), json!({ "held": held, "because": because }));
            if let Some(undo) = undo {
                summary.insert("undo".to_owned(), json!(undo));
            }
        }
        if !self.closed {
            let note =
                "the ledger could not take the outcome; a person has to look before anything more is written there";
            summary.insert("not_recorded".to_owned(), json!(note));
        }
        summary.append(&mut output.summary);
        Output { summary, fields: OWN, ..output }
    }

    /// Puts what changed where the runtime looks for it.
    pub(crate) fn marked(&self, answer: (ToolResult, Option<Captured>)) -> (ToolResult, Option<Captured>) {
        let (mut result, whole) = answer;
        if let Ended::Done { side_effects, .. } = &self.ended {
            result.meta.side_effects.clone_from(side_effects);
        }
        (result, whole)
    }
}

/// What a write left behind, for whoever tells of it later: perhaps another process than the one that did it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aftermath {
    /// The ledger's record of the intent.
    pub intent: u64,
    /// What was seen after it.
    pub because: String,
    /// What would take it back.
    pub undo: Option<Proposal>,
    /// Reads that show whether the trouble is over.
    pub follow_ups: Vec<Proposal>,
}

/// A write that did not begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Halt {
    /// As what the model is told it.
    pub status: Status,
    /// The stable code.
    pub code: ErrorCode,
    /// The finer reason in upper case.
    pub reason: String,
    /// What happened and what to do.
    pub message: String,
    /// The approval that asks anew, where what would happen has changed.
    pub asks_anew: Option<ApprovalId>,
}

impl Halt {
    pub(crate) fn new(status: Status, code: ErrorCode, reason: &str, message: impl Into<String>) -> Self {
        Self { status, code, reason: reason.to_owned(), message: message.into(), asks_anew: None }
    }
}
