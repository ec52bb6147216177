//! What a person says about a write, and how they proved who they are.
//!
//! A [`Claim`] is only a claim: whoever hands one in says what was shown and by whom it was answered, and the gate checks
//! all of it against what it holds.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::name::PersonId;

/// How a person proved who they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", content = "what", rename_all = "snake_case")]
pub enum Proof {
    /// By the user of this machine that the other end of a socket or this terminal belongs to.
    Uid(u32),
    /// By a token of their own; its id, never itself.
    Token(String),
    /// By their account in a Slack workspace, whose other end Slack vouches for.
    Slack {
        /// The workspace.
        team: String,
        /// Their id there.
        user: String,
    },
    /// Not at all: the persons of the demo. Counts in the demo's own investigations only.
    Demo,
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uid(uid) => write!(f, "uid {uid}"),
            Self::Token(id) => write!(f, "token {id}"),
            Self::Slack { team, user } => write!(f, "Slack user {user} of {team}"),
            Self::Demo => f.write_str("demo"),
        }
    }
}

/// Who says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claimant {
    /// The person.
    pub person: PersonId,
    /// How they proved it.
    pub proof: Proof,
}

/// Whether a person went through the whole to its last page before they answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whole {
    /// They did.
    Opened,
    /// They did not.
    NotOpened,
}

/// What a person says, and of which card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Who.
    pub by: Claimant,
    /// The revision of the card that they were shown.
    pub revision: u32,
    /// The beginning of the plan's digest on that card, as [`crate::domain::plan::PlanDigest::prefix`] gives it.
    pub digest_prefix: String,
    /// Whether they saw all of it.
    pub whole: Whole,
}

/// A vote that counted when it was cast.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// Who.
    pub by: Claimant,
    /// The groups they were in.
    pub groups: Vec<String>,
    /// Whether they saw all of it.
    pub whole: Whole,
    /// When.
    pub at: Timestamp,
}
