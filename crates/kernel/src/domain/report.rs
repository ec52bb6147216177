//! What an investigation says at its end: the draft a model writes, and the report that code makes of it.

use serde::{Deserialize, Serialize};

use super::decision::Tier;
use super::name::{CallId, EvidenceId};
use super::plan::{ApprovalId, Proposal};

/// What a finding speaks of. Only a symptom and a cause together can confirm anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// Something that users or neighbours notice.
    Symptom,
    /// What brought it about.
    Cause,
    /// Anything else worth knowing.
    Context,
}

/// Words that stand in a piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quote {
    /// Where they stand.
    pub evidence: EvidenceId,
    /// The words, to the letter.
    pub text: String,
}

/// A claim and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// What it speaks of.
    pub kind: FindingKind,
    /// The claim, in a sentence or two.
    pub claim: String,
    /// What it rests on; at least one.
    pub evidence: Vec<EvidenceId>,
    /// Decisive words out of that evidence.
    #[serde(default)]
    pub quotes: Vec<Quote>,
    /// When it happened (RFC 3339), where that is known. A cause needs it, or a runbook check that held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// A possibility that was looked into and is not it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuledOut {
    /// What was considered.
    pub what: String,
    /// Why it is not it.
    pub why: String,
    /// What that rests on.
    #[serde(default)]
    pub evidence: Vec<EvidenceId>,
}

/// One entry of the timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moment {
    /// When, RFC 3339.
    pub at: String,
    /// What happened.
    pub what: String,
    /// What that rests on.
    #[serde(default)]
    pub evidence: Vec<EvidenceId>,
}

/// What a model hands in by calling `report`. Nothing in it is believed before it has been checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// Three sentences at most.
    pub summary: String,
    /// The cause in one sentence; absent where none was found.
    #[serde(default)]
    pub root_cause: Option<String>,
    /// Findings, the decisive ones first.
    pub findings: Vec<Finding>,
    /// What it is not.
    #[serde(default)]
    pub ruled_out: Vec<RuledOut>,
    /// Who or what suffers, and how much.
    #[serde(default)]
    pub impact: Option<String>,
    /// What happened when.
    #[serde(default)]
    pub timeline: Vec<Moment>,
    /// What a person should do now.
    #[serde(default)]
    pub next_steps: Vec<String>,
}

/// How sure the report is. Settled by code, never by a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Symptom and cause rest on evidence of different sources, and the cause is not later than the onset.
    Confirmed,
    /// The cause rests on one source.
    Likely,
    /// The signals looked at are normal.
    NoFault,
    /// Neither; what was ruled out stands in the report.
    Inconclusive,
}

impl Outcome {
    /// The word as it stands in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Likely => "likely",
            Self::NoFault => "no_fault",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// A claim that did not stand up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsupported {
    /// The claim.
    pub claim: String,
    /// What it lacks.
    pub why: String,
}

/// A piece of evidence as the report lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exhibit {
    /// Its id.
    pub evidence: EvidenceId,
    /// The call that brought it, as a person would write it.
    pub call: String,
    /// The source that answered.
    pub source: Option<String>,
}

/// How a proposed write ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteOutcome {
    /// It was done.
    Done,
    /// It was not done: refused before anyone was asked, or stopped on the way.
    NotDone,
    /// A person said no.
    Denied,
    /// Nobody decided in time.
    Expired,
    /// The approval was taken back before it was used.
    Revoked,
    /// It waits for people.
    Pending,
    /// Whether it took effect is not known.
    Unknown,
}

impl WriteOutcome {
    /// In words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::NotDone => "not done",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
            Self::Pending => "pending",
            Self::Unknown => "unknown",
        }
    }
}

/// Whether what a write was to bring about was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// Whether it was; none where it could not be told.
    pub held: Option<bool>,
    /// What was seen, in a sentence.
    pub because: String,
}

/// Where the ledger has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The number of the record of its intent.
    pub intent: u64,
    /// The signed checkpoint that covers it: its origin, size and root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
}

/// A write that was proposed, and what came of it. Written by code from the approval and the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// The call.
    pub call_id: CallId,
    /// The tool.
    pub tool: String,
    /// What it would change, in a sentence of the preview; the arguments where it did not come to one.
    pub what: String,
    /// The approval; none where nobody was asked.
    pub approval: Option<ApprovalId>,
    /// What was asked of people.
    pub tier: Option<Tier>,
    /// Who decided: persons, or the policies where nobody had to be asked.
    pub decided_by: Vec<String>,
    /// How it ended.
    pub outcome: WriteOutcome,
    /// Why it ended so, where it was not done: a person's reason, or what stood in the way.
    pub reason: Option<String>,
    /// Whether it brought about what it was for.
    pub verified: Option<Verified>,
    /// What would take it back.
    pub undo: Option<Proposal>,
    /// What its result is cited as.
    pub evidence: Option<EvidenceId>,
    /// Where the ledger has it.
    pub proof: Option<Proof>,
}

/// What people read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// How sure it is.
    pub outcome: Outcome,
    /// Why that outcome, in a sentence.
    pub outcome_reason: String,
    /// Three sentences at most.
    pub summary: String,
    /// The cause in one sentence; none where none stood up.
    pub root_cause: Option<String>,
    /// The findings that stood up.
    pub findings: Vec<Finding>,
    /// The claims that did not.
    pub unsupported: Vec<Unsupported>,
    /// What it is not.
    pub ruled_out: Vec<RuledOut>,
    /// Who or what suffers.
    pub impact: Option<String>,
    /// What happened when.
    pub timeline: Vec<Moment>,
    /// The writes that were proposed, and what came of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<Written>,
    /// What a person should do now.
    pub next_steps: Vec<String>,
    /// What could not be looked at, and why.
    pub not_seen: Vec<String>,
    /// The evidence cited, in order.
    pub evidence: Vec<Exhibit>,
    /// Who wrote the draft: a model's name, or `warrant` where code wrote it from the evidence.
    pub written_by: String,
    /// True where budget, failure or a person ended the investigation before the model reported.
    pub partial: bool,
    /// True where the trace could not be written.
    pub volatile: bool,
}
