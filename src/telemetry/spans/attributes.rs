//! Attributes of spans: names, counts and states, and nothing that anybody wrote.

use opentelemetry::{Array, KeyValue, StringValue, Value};
use warrant_kernel::domain::event::{Call, Caller};
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::result::{ErrorCode, Status, ToolResult};
use warrant_kernel::domain::run::{Run, Trigger};

use crate::agent::model::{Answer, Stop, Usage};

use super::About;

/// `gen_ai.agent.name`.
pub(super) const AGENT: &str = "warrant";

/// The word of the conventions for what has no name of its own.
pub(super) const OTHER: &str = "_OTHER";

/// What an investigation is, when it begins.
pub(super) fn run(run: &Run, version: &'static str) -> Vec<KeyValue> {
    let trigger = match run.trigger {
        Trigger::Question { .. } => "question",
        Trigger::Alert { .. } => "alert",
    };
    let mut found = vec![
        KeyValue::new("gen_ai.operation.name", "invoke_agent"),
        KeyValue::new("gen_ai.provider.name", AGENT),
        KeyValue::new("gen_ai.agent.name", AGENT),
        KeyValue::new("gen_ai.agent.version", version),
        conversation(&run.investigation),
        KeyValue::new("warrant.role", run.role.to_string()),
        KeyValue::new("warrant.channel", run.channel.as_str()),
        KeyValue::new("warrant.trigger", trigger),
    ];
    found.extend(run.service.as_ref().map(|service| KeyValue::new("warrant.service", service.to_string())));
    found
}

fn conversation(id: &InvestigationId) -> KeyValue {
    KeyValue::new("gen_ai.conversation.id", id.to_string())
}

/// Which model was asked, in which turn.
pub(super) fn chat(id: &InvestigationId, turn: u32, name: Option<&str>, about: Option<&About>) -> Vec<KeyValue> {
    let mut found = vec![
        KeyValue::new("gen_ai.operation.name", "chat"),
        KeyValue::new("gen_ai.provider.name", about.map_or(OTHER, |about| about.provider)),
        conversation(id),
        KeyValue::new("warrant.turn", i64::from(turn)),
    ];
    let Some(about) = about else { return found };
    found.push(KeyValue::new("gen_ai.request.model", about.model.clone()));
    found.extend(name.map(|name| KeyValue::new("warrant.model", name.to_owned())));
    if let Some((host, port)) = &about.server {
        found.push(KeyValue::new("gen_ai.request.stream", true));
        found.push(KeyValue::new("server.address", host.clone()));
        found.push(KeyValue::new("server.port", i64::from(*port)));
    }
    found
}

/// What an answer took and how it ended.
pub(super) fn answer(answer: &Answer) -> Vec<KeyValue> {
    let mut found = usage(answer.usage);
    let reason = Value::Array(Array::String(vec![StringValue::from(finish_reason(answer.stop))]));
    found.push(KeyValue::new("gen_ai.response.finish_reasons", reason));
    found.extend(answer.cost.map(|cost| KeyValue::new("warrant.cost", cost)));
    if !answer.passed_over.is_empty() {
        found.push(KeyValue::new("warrant.models_passed_over", count(answer.passed_over.len())));
    }
    found
}

/// Tokens.
pub(super) fn usage(usage: Usage) -> Vec<KeyValue> {
    let number = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    vec![
        KeyValue::new("gen_ai.usage.input_tokens", number(usage.input)),
        KeyValue::new("gen_ai.usage.cache_read.input_tokens", number(usage.cached)),
        KeyValue::new("gen_ai.usage.output_tokens", number(usage.output)),
    ]
}

/// Why an answer ended, in the words of the conventions where they have one.
pub(super) fn finish_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::Done => "stop",
        Stop::Calls => "tool_call",
        Stop::MaxTokens => "length",
        Stop::Refused => "content_filter",
        Stop::Paused => "pause",
        Stop::ContextOverflow => "error",
    }
}

/// What makes an answer none.
pub(super) fn failed(stop: Stop) -> Option<&'static str> {
    match stop {
        Stop::ContextOverflow => Some("context_overflow"),
        Stop::Done | Stop::Calls | Stop::MaxTokens | Stop::Refused | Stop::Paused => None,
    }
}

/// What was called, and how it ended.
pub(super) fn tool(id: &InvestigationId, name: &str, call: &Call, result: &ToolResult) -> Vec<KeyValue> {
    let mut found = vec![
        KeyValue::new("gen_ai.operation.name", "execute_tool"),
        KeyValue::new("gen_ai.tool.name", name.to_owned()),
        KeyValue::new("gen_ai.tool.call.id", call.id.to_string()),
        KeyValue::new("gen_ai.tool.type", "function"),
        conversation(id),
        KeyValue::new("warrant.tool.status", word(result.status)),
        KeyValue::new("warrant.tool.rows", i64::try_from(result.meta.lines_returned).unwrap_or(i64::MAX)),
        KeyValue::new("warrant.tool.truncated", result.truncated),
        KeyValue::new("warrant.tool.cached", result.meta.cached),
        KeyValue::new("warrant.tool.redactions", i64::try_from(result.meta.redactions).unwrap_or(i64::MAX)),
    ];
    let (by, turn) = match &call.by {
        Caller::Sweep => ("sweep", None),
        Caller::Model { turn, .. } => ("model", Some(*turn)),
        Caller::Person => ("person", None),
        Caller::FollowUp { .. } => ("follow_up", None),
    };
    found.push(KeyValue::new("warrant.call.by", by));
    found.extend(turn.map(|turn| KeyValue::new("warrant.turn", i64::from(turn))));
    found.extend(result.evidence.map(|evidence| KeyValue::new("warrant.evidence", evidence.to_string())));
    found.extend(result.meta.source.as_ref().map(|source| KeyValue::new("warrant.source", source.to_string())));
    if !result.ok {
        let why = result.error.as_ref().map_or(OTHER, |error| code(error.code));
        found.push(KeyValue::new("error.type", why));
    }
    found
}

fn count(items: usize) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX)
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Error => "error",
        Status::Denied => "denied",
        Status::Pending => "pending",
        Status::Timeout => "timeout",
        Status::Cancelled => "cancelled",
        Status::Unknown => "unknown",
    }
}

fn code(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::UnknownTool => "UNKNOWN_TOOL",
        ErrorCode::InvalidArguments => "INVALID_ARGUMENTS",
        ErrorCode::PolicyDenied => "POLICY_DENIED",
        ErrorCode::ApprovalPending => "APPROVAL_PENDING",
        ErrorCode::ApprovalDenied => "APPROVAL_DENIED",
        ErrorCode::ApprovalExpired => "APPROVAL_EXPIRED",
        ErrorCode::ApprovalRevoked => "APPROVAL_REVOKED",
        ErrorCode::PlanChanged => "PLAN_CHANGED",
        ErrorCode::LedgerUnavailable => "LEDGER_UNAVAILABLE",
        ErrorCode::OutcomeUnknown => "OUTCOME_UNKNOWN",
        ErrorCode::Cancelled => "CANCELLED",
        ErrorCode::Timeout => "TIMEOUT",
        ErrorCode::BackendError => "BACKEND_ERROR",
    }
}
