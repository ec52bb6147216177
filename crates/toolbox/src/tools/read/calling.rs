//! Calls a tool the way the execute stage does, for tests.

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::{Arguments, EvidencePage, EvidencePages, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::name::EvidenceId;
use warrant_kernel::domain::output::{Output, Rows};
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger, Writes};

/// The time of every call.
pub(super) const NOW: &str = "2026-02-03T12:00:00Z";

struct NoEvidence;

#[async_trait]
impl EvidencePages for NoEvidence {
    async fn page(&self, _: EvidenceId, _: u64, _: u64) -> Result<Option<EvidencePage>, ReadError> {
        Ok(None)
    }
}

pub(super) fn arguments(args: Value) -> Arguments {
    match args {
        Value::Object(map) => Arguments::checked(map),
        other => panic!("{other} is no object"),
    }
}

pub(super) fn refused(tool: &dyn ReadTool, args: Value) -> Vec<Problem> {
    tool.resolve(&arguments(args), NOW.parse().unwrap()).unwrap_err()
}

pub(super) async fn read_with(
    tool: &dyn ReadTool,
    args: Value,
    evidence: &dyn EvidencePages,
) -> Result<Output, ReadError> {
    let (now, cancel): (Timestamp, _) = (NOW.parse().unwrap(), CancellationToken::new());
    let run = Run {
        investigation: "test".parse().unwrap(),
        trigger: Trigger::Question { text: "why?".to_owned() },
        requester: Requester { person: "ada".parse().unwrap(), groups: Vec::new() },
        role: "general-purpose".parse().unwrap(),
        channel: Channel::Command,
        writes: Writes::Off,
        service: None,
        since: now,
        opened_at: now,
    };
    let args = arguments(args);
    tool.resolve(&args, now).unwrap();
    tool.read(&args, Reading { now, run: &run, cancel: &cancel, evidence }).await
}

pub(super) async fn read(tool: &dyn ReadTool, args: Value) -> Result<Output, ReadError> {
    read_with(tool, args, &NoEvidence).await
}

pub(super) fn lines(output: &Output) -> Vec<&str> {
    match &output.rows {
        Rows::Lines(lines) => lines.iter().map(String::as_str).collect(),
        Rows::Items(items) => panic!("{items:?} are no lines"),
    }
}

pub(super) fn items(output: &Output) -> &[Value] {
    match &output.rows {
        Rows::Items(items) => items,
        Rows::Lines(lines) => panic!("{lines:?} are no items"),
    }
}

pub(super) fn reason(result: Result<Output, ReadError>) -> &'static str {
    match result.unwrap_err() {
        ReadError::Backend { reason, .. } | ReadError::Invalid { reason, .. } => reason,
        ReadError::Cancelled => "CANCELLED",
    }
}

mod tests;
