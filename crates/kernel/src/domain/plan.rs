//! The words of a write: what is planned, what was looked at for it, and what people are asked.
//!
//! A [`Plan`] is data and permits nothing. What permits a write is a warrant, which only the gate makes.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::decision::Tier;
use super::name::{CallId, EvidenceId, PersonId, ToolName};
use super::result::Origin;
use super::run::Run;
use super::target::Target;

/// Facts by name, each as text: `sha256`, `unit`, `mode`.
pub type Facts = BTreeMap<String, String>;

/// The request for people's votes on one plan: `A1`, `A2`, ... numbered over the whole store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ApprovalId(u64);

/// A text that is not an approval's id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an approval's id: `A` and a number, as in `A12`")]
pub struct NotAnApproval(String);

impl ApprovalId {
    /// The `n`th approval of a store.
    #[must_use]
    pub const fn nth(n: u64) -> Self {
        Self(n)
    }

    /// The number behind the `A`.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "A{}", self.0)
    }
}

impl FromStr for ApprovalId {
    type Err = NotAnApproval;

    fn from_str(text: &str) -> Result<Self, NotAnApproval> {
        let digits = text.strip_prefix('A').filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
        digits
            .and_then(|digits| digits.parse().ok())
            .map(Self)
            .ok_or_else(|| NotAnApproval(text.chars().take(80).collect()))
    }
}

impl TryFrom<String> for ApprovalId {
    type Error = NotAnApproval;

    fn try_from(text: String) -> Result<Self, NotAnApproval> {
        text.parse()
    }
}

impl From<ApprovalId> for String {
    fn from(id: ApprovalId) -> Self {
        id.to_string()
    }
}

/// One line of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "text", rename_all = "snake_case")]
pub enum DiffLine {
    /// Begins a group of lines: where they stand, before and after, `-27,5 +27,5`.
    Hunk(String),
    /// As before.
    Context(String),
    /// Goes.
    Removed(String),
    /// Comes.
    Added(String),
}

/// What a write would do, seen from its resolved target. Made by the tool from the target's state, never from a model's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preview {
    /// The effect in one sentence, `replaces one line of shop:config/pool.toml`.
    pub effect: String,
    /// What the plan is bound to: another value at execution is another plan.
    pub bound: Facts,
    /// What people were shown beside it; it may change without harm.
    pub shown: Facts,
    /// The change of a file, line by line; whole.
    pub diff: Vec<DiffLine>,
    /// What people should know: what depends on it, what a restart discards. One sentence each.
    pub notes: Vec<String>,
    /// The least tier that this effect asks for, whatever the tool's name suggests.
    pub floor: Option<Tier>,
}

/// Why the model wants it; its own words, and never shown as facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// What it takes for the cause.
    pub because: String,
    /// What it rests on.
    pub evidence: Vec<EvidenceId>,
    /// What else could be done.
    pub alternatives: Option<String>,
    /// What happens if nothing is done.
    pub otherwise: Option<String>,
}

/// Where in the evidence a value stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Which evidence.
    pub evidence: EvidenceId,
    /// The field of it: `lines`, `alerts`.
    pub field: String,
    /// Whose words that field is.
    pub origin: Origin,
}

/// Who named a value of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", content = "what", rename_all = "snake_case")]
pub enum Ground {
    /// A person who asked or steered.
    Person,
    /// The trigger.
    Trigger,
    /// The remedy of a matched runbook, by its id.
    Runbook(String),
    /// The catalog: a service, or a neighbour of the one in question.
    Catalog,
    /// Evidence that strangers may have written.
    Stranger(Said),
    /// Nobody but the model.
    Model,
}

/// A keyed digest of a plan, in hex.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanDigest(String);

impl PlanDigest {
    /// From the bytes of the MAC.
    #[must_use]
    pub fn of(mac: &[u8]) -> Self {
        Self(super::hex::hex(mac))
    }

    /// In hex.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What buttons and people carry: its first 12 digits.
    #[must_use]
    pub fn prefix(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

/// Equal for calls that ask for the same: tool, target and normalised arguments. In hex.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AskKey(String);

impl AskKey {
    /// From the bytes of the digest.
    #[must_use]
    pub fn of(digest: &[u8]) -> Self {
        Self(super::hex::hex(digest))
    }

    /// In hex.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A write that is resolved, previewed and frozen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Its approval.
    pub id: ApprovalId,
    /// The run that asks.
    pub run: Run,
    /// Everybody who had a hand in it: the requester, who posted the alert, who steered. None of them votes at the high tier.
    pub contributors: Vec<PersonId>,
    /// The call that asked.
    pub call_id: CallId,
    /// The evidence that its result will be.
    pub evidence: EvidenceId,
    /// The tool.
    pub tool: ToolName,
    /// The version of its definition.
    pub version: u32,
    /// The checked arguments, those of the case apart.
    pub arguments: Map<String, Value>,
    /// Who named each argument.
    pub grounds: BTreeMap<String, Ground>,
    /// What it changes.
    pub target: Target,
    /// What it would do.
    pub preview: Preview,
    /// Why, in the model's words.
    pub case: Case,
    /// What is asked of people.
    pub tier: Tier,
    /// Why this tier, one sentence each.
    pub tier_reasons: Vec<String>,
    /// The policies that decided.
    pub policy_ids: Vec<String>,
    /// Over tool, version, arguments, target and bound facts, with the plan's own key.
    pub digest: PlanDigest,
    /// For the guard against asking again.
    pub ask_key: AskKey,
    /// When.
    pub frozen_at: Timestamp,
}

/// A call that trusted code proposes: an undo, or a read that checks a write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// The tool.
    pub tool: ToolName,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// What it is for, in a sentence.
    pub why: String,
}
