//! What came of a write, and why one did not begin.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::call::write::{Effect, Held, Verdict};
use crate::domain::name::SourceName;
use crate::domain::output::Output;
use crate::domain::plan::{ApprovalId, Facts, Proposal};
use crate::domain::result::{ErrorCode, Status};

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
    /// The source it counts against.
    pub(crate) source: SourceName,
    /// What the tool had to say, unmasked, on its way to the normaliser.
    pub(crate) output: Option<Output>,
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
}

impl Halt {
    pub(crate) fn new(status: Status, code: ErrorCode, reason: &str, message: impl Into<String>) -> Self {
        Self { status, code, reason: reason.to_owned(), message: message.into() }
    }
}

/// An effect and the look after it.
pub(crate) struct Looked {
    pub(crate) effect: Effect,
    pub(crate) verdict: Verdict,
}
