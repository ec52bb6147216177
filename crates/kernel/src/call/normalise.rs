//! Stage 6: find secrets and mask them, then cut, then the envelope. In that order, always.
//!
//! Masking before cutting, because a secret cut in half is no longer found. A redactor that fails lets nothing through.

pub mod cut;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::domain::event::Call;
use crate::domain::name::{EvidenceId, SourceName};
use crate::domain::output::{Output, Rows};
use crate::domain::result::{CallError, Meta, Origin, Status, ToolResult};
use crate::domain::tool::{Keep, OutputPolicy};
use crate::redact::{RedactError, Redactor};
use crate::store::capture::Captured;

use super::Desk;
use super::execute::{Came, Done, Raw};
use super::refusal::Refusal;

/// The largest output that is kept whole, in bytes of JSON.
const CAPTURE_LIMIT: usize = 8 << 20;

/// Longest error message, in characters.
const MESSAGE: usize = 4_000;

/// Longest tool name that is shown, in characters.
const NAME: usize = 80;

/// Stands for the first rows where they are a part of a secret that begins before them.
const BEGUN_BEFORE: &str = "[secret: it begins before these lines]";

/// Of a tool that does not exist, the policy for nothing.
const NO_OUTPUT: OutputPolicy = OutputPolicy { max_chars: 0, keep: Keep::SummaryOnly };

/// Makes the result, and the whole output where it is to be kept.
pub(super) fn result(desk: Desk<'_>, call: &Call, ended: Result<Raw, Refusal>) -> (ToolResult, Option<Captured>) {
    let raw = match ended {
        Ok(raw) => raw,
        Err(refusal) => return (refusal_result(desk.redactor, call, refusal, Duration::ZERO), None),
    };
    let refusal = match &raw.came {
        Came::Wrote(deed) => match Refusal::of_deed(deed) {
            Some(refusal) => refusal,
            None => match output_result(&terms(desk, call), call, (&raw.source, raw.duration), &deed.told(), None) {
                Ok(answer) => return deed.marked(answer),
                Err(_) => Refusal::not_masked(raw.source.clone()),
            },
        },
        Came::Read { done, cached } => match done.as_ref() {
            Done::TimedOut => Refusal::timeout(raw.timeout.as_secs_f64(), raw.source.clone()),
            Done::Panicked => Refusal::panicked(Some(raw.source.clone())),
            Done::Read(Err(error)) => Refusal::of_read(error.clone(), raw.source.clone()),
            Done::Read(Ok(output)) => {
                match output_result(&terms(desk, call), call, (&raw.source, raw.duration), output, *cached) {
                    Ok(answer) => return answer,
                    Err(_) => Refusal::not_masked(raw.source.clone()),
                }
            }
        },
    };
    (refusal_result(desk.redactor, call, refusal, raw.duration), None)
}

/// An output without secrets.
struct Clean {
    summary: Map<String, Value>,
    rows: Vec<Value>,
    left_out: Option<String>,
    redactions: u64,
}

fn mask(redactor: &Redactor, output: &Output) -> Result<Clean, RedactError> {
    let (summary, mut redactions) = redactor.redact_json(&Value::Object(output.summary.clone()))?;
    let Value::Object(summary) = summary else { return Err(RedactError::Depth) };
    let rows = match &output.rows {
        Rows::Items(items) => {
            let (rows, count) = redactor.redact_rows(items)?;
            redactions += count;
            rows
        }
        Rows::Lines(lines) => {
            let around = output.around.as_deref();
            let (before, after) = around.map_or((&[][..], &[][..]), |around| (&around.before, &around.after));
            let masked = redactor.redact_window(before, lines, after)?;
            redactions += masked.count;
            let begun = masked.begun_before.then(|| BEGUN_BEFORE.to_owned());
            begun.into_iter().chain(masked.lines).map(Value::String).collect()
        }
    };
    let left_out = match &output.left_out {
        Some(text) => Some(redactor.redact_text(text)?.text.into_owned()),
        None => None,
    };
    Ok(Clean { summary, rows, left_out, redactions })
}

/// The result of something that was brought in and not called for, a file that a person posted, and the whole of it. It is
/// masked and cut as what tools find is.
///
/// # Errors
/// [`RedactError`]; then nothing of it may be shown or kept.
pub fn brought(
    redactor: &Redactor,
    call: &Call,
    source: &SourceName,
    output: &Output,
    policy: OutputPolicy,
) -> Result<(ToolResult, Option<Captured>), RedactError> {
    output_result(&Terms { redactor, policy, keeps: true }, call, (source, Duration::ZERO), output, None)
}

/// How an output becomes a result.
struct Terms<'a> {
    redactor: &'a Redactor,
    policy: OutputPolicy,
    /// Whether wholes can be read again later.
    keeps: bool,
}

fn terms<'a>(desk: Desk<'a>, call: &Call) -> Terms<'a> {
    let policy = desk.registry.get(&call.tool).map_or(NO_OUTPUT, |tool| tool.about().output);
    Terms { redactor: desk.redactor, policy, keeps: desk.recorder.keeps_wholes() }
}

fn output_result(
    terms: &Terms<'_>,
    call: &Call,
    (source, duration): (&SourceName, Duration),
    output: &Output,
    cached: Option<EvidenceId>,
) -> Result<(ToolResult, Option<Captured>), RedactError> {
    let clean = mask(terms.redactor, output)?;
    let evidence = cached.unwrap_or_else(|| EvidenceId::nth(call.number));
    let kept = cut::cut(&clean.summary, output.rows_key, &clean.rows, terms.policy, evidence);
    let keeping = keeping(terms, &clean, &kept);
    let mut data = kept.summary;
    if let Some(rows) = kept.rows {
        data.insert(output.rows_key.to_owned(), Value::Array(rows));
    }
    let data = Value::Object(data);
    let left_out = clean.left_out.or_else(|| unsaid(output));
    let truncated = kept.is_cut || left_out.is_some();
    let hint: Vec<String> = left_out.into_iter().chain(kept.is_cut.then(|| keeping.hint(evidence))).collect();
    let captured = keeping == Keeping::Whole;
    let meta = Meta {
        source: Some(source.clone()),
        origin: output.origin,
        fields: output.fields.iter().map(|(name, origin)| ((*name).to_owned(), *origin)).collect(),
        lines_returned: kept.returned,
        lines_matched: output.matched,
        duration_ms: millis(duration),
        output_chars: u64::try_from(cut::size(&data).chars).unwrap_or(u64::MAX),
        redactions: clean.redactions,
        cached: cached.is_some(),
        captured,
        side_effects: Vec::new(),
        trace_reason: None,
    };
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
    let whole = (captured && cached.is_none()).then(|| Captured {
        evidence,
        tool: call.tool.clone(),
        origin: output.origin,
        summary: Value::Object(clean.summary),
        rows: clean.rows,
    });
    Ok((result, whole))
}

/// A source that found more than it handed over, and a tool that did not say so.
fn unsaid(output: &Output) -> Option<String> {
    let here = u64::try_from(output.rows.len()).unwrap_or(u64::MAX);
    let more = output.matched?.checked_sub(here).filter(|more| *more > 0)?;
    Some(format!("{more} more rows matched at the source; ask for less at once"))
}

/// Whether the whole output can be read again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeping {
    Whole,
    TooBig,
    /// By a recorder that keeps nothing.
    Nowhere,
}

impl Keeping {
    fn hint(self, evidence: EvidenceId) -> String {
        match self {
            Self::Whole => format!("the whole is evidence {evidence}: `read_evidence` pages through it"),
            Self::TooBig => "the whole was too big to keep; ask for less".to_owned(),
            Self::Nowhere => "the whole is not kept; ask for less".to_owned(),
        }
    }
}

fn keeping(terms: &Terms<'_>, clean: &Clean, kept: &cut::Kept) -> Keeping {
    if !terms.keeps {
        return Keeping::Nowhere;
    }
    if !kept.is_cut {
        // It fits into the output policy, which is far less.
        return Keeping::Whole;
    }
    let bytes = cut::size(&clean.summary).bytes + cut::size(&clean.rows).bytes;
    if bytes <= CAPTURE_LIMIT { Keeping::Whole } else { Keeping::TooBig }
}

/// A refusal as a result. Its texts are masked as well; where that fails, only the code is told.
fn refusal_result(redactor: &Redactor, call: &Call, refusal: Refusal, duration: Duration) -> ToolResult {
    let (message, redactions) = match redactor.redact_text(&refusal.error.message) {
        Ok(masked) => (masked.text.into_owned(), masked.count),
        Err(_) => (NOT_SHOWN.to_owned(), 0),
    };
    let shown = shortened(&message, MESSAGE);
    ToolResult {
        call_id: call.id.clone(),
        tool: tool_name(redactor, &call.tool),
        status: refusal.status,
        ok: false,
        evidence: None,
        data: Value::Null,
        truncated: shown.len() != message.len(),
        error: Some(CallError { message: shown, ..refusal.error }),
        hint: None,
        meta: Meta {
            source: refusal.source,
            origin: Origin::Warrant,
            fields: BTreeMap::new(),
            lines_returned: 0,
            lines_matched: None,
            duration_ms: millis(duration),
            output_chars: 0,
            redactions,
            cached: false,
            captured: false,
            side_effects: Vec::new(),
            trace_reason: refusal.trace_reason.map(str::to_owned),
        },
    }
}

const NOT_SHOWN: &str = "the reason could not be checked for secrets, so it is not shown";

/// A text masked, then cut; a fixed sentence where it can't be masked.
pub(super) fn masked(redactor: &Redactor, text: &str, most: usize) -> String {
    redactor.redact_text(text).map_or_else(|_| NOT_SHOWN.to_owned(), |masked| shortened(&masked.text, most))
}

/// A tool's name as a caller wrote it, fit to be shown.
pub(super) fn tool_name(redactor: &Redactor, asked: &str) -> String {
    let masked = redactor.redact_text(asked);
    masked.map_or_else(|_| "(not shown)".to_owned(), |masked| masked.text.chars().take(NAME).collect())
}

fn shortened(text: &str, most: usize) -> String {
    let more = text.chars().count().saturating_sub(most);
    if more == 0 {
        return text.to_owned();
    }
    let head: String = text.chars().take(most).collect();
    format!("{head}[... {more} characters left out]")
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
