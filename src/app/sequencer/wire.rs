//! The words of the sequencer's socket: one request and one answer a connection, each a line of JSON.
//!
//! A request says what is wanted and never who wants it: that is the peer's user, as the kernel tells it, or the person
//! of a token.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::sequencer::shown::{Debt, Did, Figures, Listed, Stopped};
use warrant_kernel::call::gate::sequencer::tokens::Scope;
use warrant_kernel::call::gate::vote::Whole;
use warrant_kernel::domain::name::PersonId;
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
    /// All approvals, and what else stands open.
    List,
    /// One approval: its card and its votes.
    Show {
        /// Which.
        approval: ApprovalId,
    },
    /// A vote for a plan.
    Approve {
        /// What was seen.
        seen: Seen,
    },
    /// A vote against a plan.
    Deny {
        /// What was seen.
        seen: Seen,
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
    /// Says what became of a write whose outcome is not known.
    Resolve {
        /// Which.
        approval: ApprovalId,
        /// What became of it.
        did: Did,
        /// How one can tell.
        reason: String,
    },
    /// Takes values out of a record of the ledger; the second person who asks for the same has it done.
    Seal {
        /// The record.
        record: u64,
        /// The fields.
        fields: Vec<String>,
        /// Why.
        reason: String,
    },
    /// Who the sequencer takes the peer for.
    Who,
    /// Makes a personal token.
    TokenNew {
        /// Whom it shall prove.
        person: PersonId,
        /// What it shall be good for; everything, where nothing is said.
        #[serde(default = "every_scope")]
        scopes: BTreeSet<Scope>,
    },
    /// All tokens.
    TokenList,
    /// Revokes a token.
    TokenRevoke {
        /// Its id.
        id: String,
    },
}

fn every_scope() -> BTreeSet<Scope> {
    Scope::ALL.into_iter().collect()
}

/// Which plan a person saw, and how much of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// Which approval.
    pub approval: ApprovalId,
    /// The revision that was shown.
    pub revision: u32,
    /// The beginning of the plan's digest, as it was shown.
    pub digest: String,
    /// How much was shown.
    pub whole: Whole,
}

/// All approvals and what else stands open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// The newest approvals, and all that somebody still has something to do about; newest first.
    pub approvals: Vec<Listed>,
    /// How many more there were before.
    #[serde(default)]
    pub earlier: u64,
    /// Who stopped writes, if they are stopped.
    pub stopped: Option<Stopped>,
    /// Reviews of broken glasses, owed and done.
    pub reviews: Vec<Debt>,
    /// How people decide.
    pub figures: Figures,
}

/// One approval as it is now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// What people are shown.
    pub card: Card,
    /// Whether the process that answers is at it right now.
    pub under_way: bool,
    /// Why it was not carried out when that was last tried.
    pub halted: Option<String>,
}

/// What a vote came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// How many persons approved.
    pub have: u32,
    /// How many it takes.
    pub need: u32,
    /// What happens now.
    pub then: Then,
}

/// What happens after a vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// More persons are needed.
    MoreNeeded,
    /// The investigation that asked waits for it, and carries it out after it has been checked again.
    CallerCarriesOut,
    /// The call is over; the process that answers carries it out after it has been checked again.
    CarriedOutHere,
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
