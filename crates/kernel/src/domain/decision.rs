//! What may happen: risk, tier and the decision on one call.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::name::{CallId, ToolName};

/// What a tool could do to the world; a property of the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Looks only.
    Read,
    /// Changes something.
    Write,
    /// Runs a program that can only look.
    Shell,
    /// Reaches beyond the configured sources.
    Network,
    /// None of the above can describe it.
    Dangerous,
}

impl Risk {
    /// Whether it leaves the world as it is, so that nobody is asked and nothing is undone.
    #[must_use]
    pub fn only_looks(self) -> bool {
        match self {
            Self::Read | Self::Shell => true,
            Self::Write | Self::Network | Self::Dangerous => false,
        }
    }

    /// The word as it stands in definitions and policies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Shell => "shell",
            Self::Network => "network",
            Self::Dangerous => "dangerous",
        }
    }
}

/// What the gate asks for. Combined by `max`; there is no default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Recorded, not asked.
    Low,
    /// One confirmation.
    Medium,
    /// Review by another person who has opened the evidence.
    High,
}

impl Tier {
    /// The word as it stands in definitions and policies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// The answer of policy to one checked call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// May run now.
    Allow,
    /// May not run.
    Deny,
    /// May run once the gate has what this tier asks for: at low a record, above it people's approval.
    Ask(Tier),
}

/// One decision, as it is recorded; the automatic allow of a read included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The call decided on.
    pub call_id: CallId,
    /// The tool called.
    pub tool: ToolName,
    /// What was decided.
    pub action: Action,
    /// Why, for people: one sentence.
    pub reason: String,
    /// The tool's risk.
    pub risk: Risk,
    /// The tier that would be asked for; none for a read.
    pub tier: Option<Tier>,
    /// Ids of the policies that decided; `default-deny` where none did.
    pub policy_ids: Vec<String>,
    /// When.
    pub decided_at: Timestamp,
}
