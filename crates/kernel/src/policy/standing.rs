//! What a person may do about writes: approve one, take it back, stop them all.
//!
//! A person's rights are asked for anew each time, with the groups that the directory names at that moment.

use jiff::Timestamp;

use crate::domain::decision::Tier;
use crate::domain::name::{PersonId, ToolName};
use crate::domain::run::Channel;
use crate::domain::target::Target;

/// What a person wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// Vote for a write.
    Approve,
    /// Vote against a write.
    Deny,
    /// Let a denied write be asked for again.
    Reopen,
    /// Take an approval back before it is consumed.
    Revoke,
    /// Do without the second person, against a debt.
    BreakGlass,
    /// Settle the debt of a broken glass.
    Review,
    /// Say what became of a write whose outcome is unknown.
    Resolve,
    /// Stop all writes.
    StopWrites,
    /// Let writes go on.
    LiftStop,
    /// Seal a field of the ledger.
    Seal,
}

impl Verb {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Approve,
        Self::Deny,
        Self::Reopen,
        Self::Revoke,
        Self::BreakGlass,
        Self::Review,
        Self::Resolve,
        Self::StopWrites,
        Self::LiftStop,
        Self::Seal,
    ];

    /// The word as it stands in policies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Deny => "deny",
            Self::Reopen => "reopen",
            Self::Revoke => "revoke",
            Self::BreakGlass => "break_glass",
            Self::Review => "review",
            Self::Resolve => "resolve",
            Self::StopWrites => "stop_writes",
            Self::LiftStop => "lift_stop",
            Self::Seal => "seal",
        }
    }

    /// Whether it is about one write, and not about Warrant as a whole.
    #[must_use]
    pub fn is_about_a_write(self) -> bool {
        match self {
            Self::Approve
            | Self::Deny
            | Self::Reopen
            | Self::Revoke
            | Self::BreakGlass
            | Self::Review
            | Self::Resolve => true,
            Self::StopWrites | Self::LiftStop | Self::Seal => false,
        }
    }
}

/// Whether a person had a part in a write: began the investigation, posted its alert, steered it, broke the glass for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Contributor {
    /// They had.
    Yes,
    /// They had none.
    No,
}

/// The write that a standing question is about.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The tool.
    pub tool: &'a ToolName,
    /// The resolved target.
    pub target: &'a Target,
    /// The tier that the gate asks for, raised by whatever raised it.
    pub tier: Tier,
    /// On whose behalf the investigation runs.
    pub requester: &'a PersonId,
    /// Whether the person who asks had a part in it.
    pub contributor: Contributor,
}

/// What is asked of policy about a person: may they do this?
#[derive(Debug, Clone, Copy)]
pub struct StandingQuestion<'a> {
    /// What they want to do.
    pub verb: Verb,
    /// Who.
    pub person: &'a PersonId,
    /// Their groups, as the directory names them now.
    pub groups: &'a [String],
    /// The write it is about; none for what is about Warrant as a whole.
    pub about: Option<About<'a>>,
    /// Where they say it.
    pub channel: Channel,
    /// When.
    pub now: Timestamp,
}

/// How many persons must approve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quorum {
    /// So many.
    pub persons: u32,
    /// Ids of the policies that decided, sorted; `default-deny` where none did.
    pub policy_ids: Vec<String>,
}
