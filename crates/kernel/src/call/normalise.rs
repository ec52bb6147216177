//! Stage 6: find secrets and mask them, then cut, then the envelope. In that order, always.
//!
//! Masking before cutting, because a secret cut in half is no longer found. A redactor that fails lets nothing through.

pub mod cut;

use serde_json::{Map, Value};

use crate::domain::event::Call;
use crate::domain::name::{EvidenceId, SourceName};
use crate::domain::output::{Output, Rows};
use crate::domain::result::{CallError, Meta, Origin, Status, ToolResult};
use crate::domain::tool::{Keep, OutputPolicy};
use crate::redact::{RedactError, Redactor};
use crate::store::capture::Captured;

use super::Desk;
use super::execute::{Done, Raw};
use super::refusal::Refusal;

/// The largest output that is kept whole, in bytes of JSON.
const CAPTURE_LIMIT: usize = 8 << 20;

/// Of a tool that does not exist, the policy for nothing.
const NO_OUTPUT: OutputPolicy = OutputPolicy { max_chars: 0, keep: Keep::SummaryOnly };

/// Makes the result, and the whole output where it is to be kept.
pub(super) fn result(desk: Desk<'_>, call: &Call, ended: Result<Raw, Refusal>) -> (ToolResult, Option<Captured>) {
    let refused = |refusal| (refusal_result(desk.redactor, call, refusal), None);
    let raw = match ended {
        Ok(raw) => raw,
        Err(refusal) => return refused(refusal),
    };
    match raw.done.as_ref() {
        Done::TimedOut => refused(Refusal::timeout(raw.timeout.as_secs_f64(), raw.source.clone())),
        Done::Read(Err(error)) => refused(Refusal::of_read(error.clone(), raw.source.clone())),
        Done::Read(Ok(output)) => {
            let policy = desk.registry.get(&call.tool).map_or(NO_OUTPUT, |tool| tool.about().output);
            output_result(desk.redactor, call, &raw, output, policy).unwrap_or_else(|_| refused(Refusal::not_masked()))
        }
    }
}

/// An output without secrets.
struct Clean {
    summary: Map<String, Value>,
    rows: Vec<Value>,
    redactions: u64,
}

fn mask(redactor: &Redactor, output: &Output) -> Result<Clean, RedactError> {
    let mut redactions = 0;
    let mut object = |value: &Value| -> Result<Value, RedactError> {
        let (masked, count) = redactor.redact_json(value)?;
        redactions += count;
        Ok(masked)
    };
    let summary = match object(&Value::Object(output.summary.clone()))? {
        Value::Object(map) => map,
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            Map::from_iter([("summary".to_owned(), other)])
        }
    };
    let rows = match &output.rows {
        Rows::Items(items) => items.iter().map(&mut object).collect::<Result<Vec<_>, _>>()?,
        Rows::Lines(lines) => {
            let masked = redactor.redact_lines(lines)?;
            redactions += masked.count;
            masked.lines.into_iter().map(Value::String).collect()
        }
    };
    Ok(Clean { summary, rows, redactions })
}

fn output_result(
    redactor: &Redactor,
    call: &Call,
    raw: &Raw,
    output: &Output,
    policy: OutputPolicy,
) -> Result<(ToolResult, Option<Captured>), RedactError> {
    let clean = mask(redactor, output)?;
    let left_out = match &output.left_out {
        Some(text) => Some(redactor.redact_text(text)?.text.into_owned()),
        None => None,
    };
    let evidence = raw.cached.unwrap_or_else(|| EvidenceId::nth(call.number));
    let captured = json_len(&clean.rows) <= CAPTURE_LIMIT;
    let kept = cut::cut(&clean.summary, output.rows_key, &clean.rows, policy, evidence);
    let mut data = kept.summary;
    if let Some(rows) = kept.rows {
        data.insert(output.rows_key.to_owned(), Value::Array(rows));
    }
    let data = Value::Object(data);
    let whole = if captured {
        format!("the whole is evidence {evidence}: `read_evidence` pages through it")
    } else {
        "the whole was too big to keep; ask for less".to_owned()
    };
    let hint: Vec<String> = left_out.iter().cloned().chain(kept.is_cut.then_some(whole)).collect();
    let meta = Meta {
        source: Some(raw.source.clone()),
        origin: output.origin,
        lines_returned: kept.returned,
        lines_matched: output.matched,
        duration_ms: u64::try_from(raw.duration.as_millis()).unwrap_or(u64::MAX),
        output_chars: chars(&data),
        redactions: clean.redactions,
        cached: raw.cached.is_some(),
        captured,
        side_effects: Vec::new(),
        trace_reason: None,
    };
    let truncated = kept.is_cut || left_out.is_some();
    let result = ToolResult {
        call_id: call.id.clone(),
        tool: call.tool.clone(),
        status: Status::Ok,
        ok: true,
        evidence: Some(evidence),
        data,
        truncated,
        error: None,
        hint: (!hint.is_empty()).then(|| hint.join("; ")),
        meta,
    };
    let keep = (captured && raw.cached.is_none()).then(|| Captured {
        evidence,
        tool: call.tool.clone(),
        origin: output.origin,
        summary: Value::Object(clean.summary),
        rows: clean.rows,
    });
    Ok((result, keep))
}

/// A refusal as a result. Its texts are masked as well; where that fails, only the code is told.
fn refusal_result(redactor: &Redactor, call: &Call, refusal: Refusal) -> ToolResult {
    let masked = |text: &str| redactor.redact_text(text).map(|masked| (masked.text.into_owned(), masked.count));
    let fixed = || ("the reason could not be checked for secrets, so it is not shown".to_owned(), 0);
    let (message, redactions) = masked(&refusal.error.message).unwrap_or_else(|_| fixed());
    let shown: String = call.tool.chars().take(80).collect();
    let tool = masked(&shown).map_or_else(|_| "(not shown)".to_owned(), |(text, _)| text);
    ToolResult {
        call_id: call.id.clone(),
        tool,
        status: refusal.status,
        ok: false,
        evidence: None,
        data: Value::Null,
        truncated: false,
        error: Some(CallError { message, ..refusal.error }),
        hint: None,
        meta: no_data(refusal.source, redactions, refusal.trace_reason),
    }
}

fn no_data(source: Option<SourceName>, redactions: u64, trace_reason: Option<&'static str>) -> Meta {
    Meta {
        source,
        origin: Origin::Warrant,
        lines_returned: 0,
        lines_matched: None,
        duration_ms: 0,
        output_chars: 0,
        redactions,
        cached: false,
        captured: false,
        side_effects: Vec::new(),
        trace_reason: trace_reason.map(str::to_owned),
    }
}

fn json_len(rows: &[Value]) -> usize {
    rows.iter().map(|row| cut::json(row).len() + 1).sum()
}

fn chars(value: &Value) -> u64 {
    u64::try_from(cut::json(value).chars().count()).unwrap_or(u64::MAX)
}
