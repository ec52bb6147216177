//! The words of the sequencer's socket: one request and one answer a connection, each a line of JSON.
//!
//! A request says what is wanted and never who wants it: that is the peer's user, as the kernel tells it, or the person
//! of a token.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use warrant_kernel::domain::plan::ApprovalId;

/// The version of these words; another one is refused.
pub const VERSION: u32 = 1;

/// What is asked of the sequencer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// [`VERSION`].
    pub version: u32,
    /// A personal token, where the peer's user is not enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// What is wanted.
    pub ask: Ask,
}

/// What can be wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case", deny_unknown_fields)]
pub enum Ask {
    /// All approvals that are not long over.
    List,
    /// One approval: its card and its votes.
    Show {
        /// Which.
        approval: ApprovalId,
    },
    /// A vote for a plan.
    Approve(Seen),
    /// A vote against a plan.
    Deny {
        /// Which.
        approval: ApprovalId,
        /// Why; the model is told.
        reason: String,
    },
    /// Takes a vote back, until the plan is carried out.
    Revoke {
        /// Which.
        approval: ApprovalId,
        /// Why.
        reason: String,
    },
    /// Lets a plan that was denied be asked for again.
    Reopen {
        /// Which.
        approval: ApprovalId,
        /// Why.
        reason: String,
    },
    /// Does without the second person.
    BreakGlass {
        /// What was seen.
        seen: Seen,
        /// Why.
        reason: String,
    },
    /// Closes the debt of a broken glass.
    Review {
        /// Which.
        approval: ApprovalId,
        /// What the review found.
        note: String,
    },
    /// Stops all writes.
    Stop {
        /// Why.
        reason: String,
    },
    /// Lets writes happen again.
    Lift {
        /// Why.
        reason: String,
    },
    /// Says how a write ended whose outcome is not known.
    Resolve {
        /// The ledger's number of its intent.
        intent: u64,
        /// How it ended.
        ended: Ended,
        /// How one can tell.
        reason: String,
    },
}

/// Which plan a person saw, and how much of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// Which approval.
    pub approval: ApprovalId,
    /// The revision that was shown.
    pub revision: u64,
    /// The beginning of the plan's digest, as it was shown.
    pub digest: String,
    /// How much was shown.
    pub whole: Whole,
}

/// How much of a plan a person was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whole {
    /// All of it, to the last page.
    Opened,
    /// The card.
    NotOpened,
}

/// How a write ended, as a person found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// It took effect.
    Took,
    /// It did not.
    DidNot,
}

/// What the sequencer answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is done; what there is to tell.
    Done(Value),
    /// It is not.
    Refused(Refused),
}

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// For programs, in upper case.
    pub code: String,
    /// For people.
    pub message: String,
}

impl Refused {
    /// A refusal.
    #[must_use]
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into() }
    }
}
