//! `read_evidence`: rows of an earlier result that the model did not see, or sees no longer.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::{Map, Value};
use warrant_kernel::call::tool::{Arguments, EvidencePage, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::name::EvidenceId;
use warrant_kernel::domain::output::{Output, Rows};
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::{Target, TargetKind};

struct ReadEvidence;

/// The tool.
#[must_use]
pub fn read_evidence() -> Arc<dyn ReadTool> {
    Arc::new(ReadEvidence)
}

#[derive(Deserialize)]
struct Args {
    evidence: EvidenceId,
    #[serde(default)]
    from: u64,
    #[serde(default = "hundred")]
    rows: u64,
    pattern: Option<String>,
    at: Option<u64>,
}

/// Characters of one piece of a row, written as JSON: it fits into one answer with the summary beside it.
const PIECE: usize = 12_000;

fn hundred() -> u64 {
    100
}

fn pattern(text: &str) -> Result<Regex, Problem> {
    RegexBuilder::new(text)
        .size_limit(1024 * 1024)
        .dfa_size_limit(1024 * 1024)
        .build()
        .map_err(|error| Problem::of("pattern", error.to_string()))
}

/// What is said about the page, and not on it.
const OWN: &[(&str, Origin)] = &[
    ("evidence", Origin::Warrant),
    ("tool", Origin::Warrant),
    ("total", Origin::Warrant),
    ("from", Origin::Warrant),
    ("returned", Origin::Warrant),
    ("rows_looked_through", Origin::Warrant),
    ("row", Origin::Warrant),
    ("row_characters", Origin::Warrant),
    ("at", Origin::Warrant),
];

fn output(args: &Args, page: EvidencePage, pattern: Option<&Regex>) -> Output {
    let read = u64::try_from(page.rows.len()).unwrap_or(u64::MAX);
    let next = args.from.saturating_add(read);
    let shown: Vec<Value> = page
        .rows
        .into_iter()
        .filter(|row| match (pattern, row) {
            (None, _) => true,
            (Some(pattern), Value::String(line)) => pattern.is_match(line),
            (Some(pattern), row) => pattern.is_match(&row.to_string()),
        })
        .collect();
    let mut summary: Map<String, Value> = Map::new();
    summary.insert("evidence".to_owned(), args.evidence.to_string().into());
    summary.insert("tool".to_owned(), page.tool.into());
    summary.insert("total".to_owned(), page.total.into());
    summary.insert("from".to_owned(), args.from.into());
    summary.insert("returned".to_owned(), shown.len().into());
    if pattern.is_some() {
        summary.insert("rows_looked_through".to_owned(), read.into());
    }
    summary.insert("summary".to_owned(), page.summary);
    let mut left_out = Vec::new();
    if args.from > 0 {
        left_out.push(format!("the rows before {}", args.from));
    }
    if next < page.total {
        left_out.push(format!("{} more rows; go on with `from` {next}", page.total - next));
    }
    let filtered = usize::try_from(read).unwrap_or(usize::MAX).saturating_sub(shown.len());
    if filtered > 0 {
        left_out.push(format!("{filtered} rows of this page that `pattern` does not match"));
    }
    let lines: Option<Vec<String>> = shown.iter().map(|row| row.as_str().map(str::to_owned)).collect();
    let (rows_key, rows) = match lines {
        Some(lines) => ("lines", Rows::Lines(lines)),
        None => ("rows", Rows::Items(shown)),
    };
    let left_out = (!left_out.is_empty()).then(|| left_out.join("; "));
    Output {
        summary,
        rows_key,
        rows,
        origin: page.origin,
        fields: OWN,
        matched: Some(page.total),
        around: None,
        left_out,
    }
}

/// How many characters one takes within a JSON text.
fn escaped(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => 1,
    }
}

/// A part of one row, for rows that one answer can't hold.
fn piece(args: &Args, at: u64, page: EvidencePage) -> Output {
    let text = match page.rows.into_iter().next() {
        Some(Value::String(line)) => line,
        Some(row) => row.to_string(),
        None => String::new(),
    };
    let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    let mut written = 0;
    let fits = |character: &char| {
        written += escaped(*character);
        written <= PIECE
    };
    let part: String = text.chars().skip(usize::try_from(at).unwrap_or(usize::MAX)).take_while(fits).collect();
    let next = at.saturating_add(u64::try_from(part.chars().count()).unwrap_or(u64::MAX));
    let mut summary: Map<String, Value> = Map::new();
    summary.insert("evidence".to_owned(), args.evidence.to_string().into());
    summary.insert("tool".to_owned(), page.tool.into());
    summary.insert("total".to_owned(), page.total.into());
    summary.insert("row".to_owned(), args.from.into());
    summary.insert("row_characters".to_owned(), length.into());
    summary.insert("at".to_owned(), at.into());
    let mut left_out = vec!["all other rows".to_owned()];
    if at > 0 {
        left_out.push(format!("what stands before character {at} of row {}", args.from));
    }
    if next < length {
        left_out.push(format!("{} more characters of row {}; go on with `at` {next}", length - next, args.from));
    }
    if page.total <= 1 {
        left_out.remove(0);
    }
    let mut output = Output::lines(page.origin, summary, vec![part]).with_fields(OWN);
    output.matched = Some(page.total);
    output.left_out = (!left_out.is_empty()).then(|| left_out.join("; "));
    output
}

#[async_trait]
impl ReadTool for ReadEvidence {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        let args: Args = args.parse().map_err(|problem| vec![problem])?;
        args.pattern.as_deref().map(pattern).transpose().map_err(|problem| vec![problem])?;
        Ok(Target {
            kind: TargetKind::Evidence,
            name: args.evidence.to_string(),
            service: None,
            environment: None,
            owner: None,
            source: "evidence".parse().map_err(|error| vec![Problem::of("", format!("{error}"))])?,
        })
    }

    async fn read(&self, args: &Arguments, reading: Reading<'_>) -> Result<Output, ReadError> {
        let invalid = |problem: Problem| ReadError::Invalid { reason: "PATTERN_INVALID", message: problem.message };
        let args: Args = args.parse().map_err(invalid)?;
        let pattern = args.pattern.as_deref().map(pattern).transpose().map_err(invalid)?;
        let rows = if args.at.is_some() { 1 } else { args.rows };
        match (reading.evidence.page(args.evidence, args.from, rows).await?, args.at) {
            (Some(page), Some(at)) => Ok(piece(&args, at, page)),
            (Some(page), None) => Ok(output(&args, page, pattern.as_ref())),
            (None, _) => Err(ReadError::Invalid {
                reason: "NO_SUCH_EVIDENCE",
                message: format!(
                    "there is no evidence `{}` in this investigation, or it was too big to be kept; call its tool again with narrower arguments",
                    args.evidence
                ),
            }),
        }
    }
}

#[cfg(test)]
mod tests;
