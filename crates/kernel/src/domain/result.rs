//! The uniform answer of every tool: the envelope that the model, the trace and people see.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::name::{CallId, EvidenceId, SourceName};

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It ran; `data` holds what was found.
    Ok,
    /// It could not run, or its source failed.
    Error,
    /// It may not run.
    Denied,
    /// It waits for people.
    Pending,
    /// It took too long and was ended.
    Timeout,
    /// It was ended on request.
    Cancelled,
    /// Whether it took effect is not known.
    Unknown,
}

/// The stable codes that models and the API see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// No such tool for this role.
    UnknownTool,
    /// The arguments do not parse, do not fit or make no sense.
    InvalidArguments,
    /// Policy said no, or could not say yes.
    PolicyDenied,
    /// Not carried out: it waits for people's approval.
    ApprovalPending,
    /// A person said no; their reason stands beside it.
    ApprovalDenied,
    /// Nobody decided in time.
    ApprovalExpired,
    /// The approval was taken back before it was used.
    ApprovalRevoked,
    /// What was approved is no longer what would happen.
    PlanChanged,
    /// The ledger could not take the record, so nothing was written.
    LedgerUnavailable,
    /// Whether it took effect is not known; a person has to look.
    OutcomeUnknown,
    /// The work was ended on request.
    Cancelled,
    /// The work took longer than its limit and was ended.
    Timeout,
    /// The source answered with an error or not at all.
    BackendError,
}

/// Why a call brought no data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallError {
    /// The stable code.
    pub code: ErrorCode,
    /// The finer reason in upper case, e.g. `NOT_A_REGULAR_FILE`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// What happened and what to try next, in a sentence.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
}

/// Whose words a text is. Everything but [`Origin::Warrant`] and [`Origin::Catalog`] may be written by strangers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Our own words: counts, times, what a call asked for.
    Warrant,
    /// The operator's config: services and what they are.
    Catalog,
    /// Log lines.
    Log,
    /// Metric names, labels and values.
    Metric,
    /// Alerts and their annotations.
    Alert,
    /// Runbook text.
    Runbook,
    /// Files of a workspace.
    File,
    /// Commits and deploys.
    Change,
    /// What an HTTP endpoint answered.
    Http,
    /// What a command on this machine wrote.
    Command,
}

/// What the runtime, the trace and measurements want to know about a result; the model sees only `origin`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// The source that answered.
    pub source: Option<SourceName>,
    /// Whose words the data holds, but for `fields`.
    pub origin: Origin,
    /// Fields of `data` that are somebody else's words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Origin>,
    /// Rows that stand in `data`.
    pub lines_returned: u64,
    /// Rows that matched at the source, if it said so.
    pub lines_matched: Option<u64>,
    /// Wall time of the execution, in milliseconds.
    pub duration_ms: u64,
    /// Characters of `data` as JSON.
    pub output_chars: u64,
    /// How many secrets were masked.
    pub redactions: u64,
    /// Whether an identical call had just been carried out.
    pub cached: bool,
    /// Whether the whole output is kept in the trace.
    pub captured: bool,
    /// What changed; empty for every read.
    pub side_effects: Vec<String>,
    /// A finer reason that the model must not learn, `NOT_IN_ROLE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_reason: Option<String>,
}

/// The uniform answer of every tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call that is answered.
    pub call_id: CallId,
    /// The tool's name as it was called; an unknown tool has one too.
    pub tool: String,
    /// How it ended.
    pub status: Status,
    /// `status` is [`Status::Ok`].
    pub ok: bool,
    /// What the report may cite; present when there are data.
    pub evidence: Option<EvidenceId>,
    /// Shaped by the tool; null where there is none.
    pub data: Value,
    /// True exactly when the model does not see all there is.
    pub truncated: bool,
    /// Why there are no data.
    pub error: Option<CallError>,
    /// How to see more, or what to try.
    pub hint: Option<String>,
    /// For the runtime and the trace.
    pub meta: Meta,
}

impl Origin {
    /// The word for it, as models and records have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warrant => "warrant",
            Self::Catalog => "catalog",
            Self::Log => "log",
            Self::Metric => "metric",
            Self::Alert => "alert",
            Self::Runbook => "runbook",
            Self::File => "file",
            Self::Change => "change",
            Self::Http => "http",
            Self::Command => "command",
        }
    }

    /// Whether the words are ours or the operator's, so that no stranger wrote them.
    #[must_use]
    pub fn is_own(self) -> bool {
        match self {
            Self::Warrant | Self::Catalog => true,
            Self::Log
            | Self::Metric
            | Self::Alert
            | Self::Runbook
            | Self::File
            | Self::Change
            | Self::Http
            | Self::Command => false,
        }
    }
}

impl ToolResult {
    /// Whose words a field of `data` is.
    #[must_use]
    pub fn origin_of(&self, field: &str) -> Origin {
        self.meta.fields.get(field).copied().unwrap_or(self.meta.origin)
    }

    /// What the model is shown: status, error, data, truncated, evidence, hint and origin.
    #[must_use]
    pub fn for_model(&self) -> Value {
        let mut shown = serde_json::Map::new();
        let status = serde_json::to_value(self.status).unwrap_or(Value::Null);
        shown.insert("status".to_owned(), status);
        if let Some(evidence) = self.evidence {
            shown.insert("evidence".to_owned(), Value::String(evidence.to_string()));
        }
        let origin = serde_json::to_value(self.meta.origin).unwrap_or(Value::Null);
        shown.insert("origin".to_owned(), origin);
        shown.insert("truncated".to_owned(), Value::Bool(self.truncated));
        if let Some(hint) = &self.hint {
            shown.insert("hint".to_owned(), Value::String(hint.clone()));
        }
        if let Some(error) = &self.error {
            shown.insert("error".to_owned(), serde_json::to_value(error).unwrap_or(Value::Null));
        }
        if !self.data.is_null() {
            shown.insert("data".to_owned(), self.data.clone());
        }
        Value::Object(shown)
    }
}
