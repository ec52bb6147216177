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
}

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
    Output { summary, rows_key, rows, origin: page.origin, matched: Some(page.total), left_out }
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
        match reading.evidence.page(args.evidence, args.from, args.rows).await? {
            Some(page) => Ok(output(&args, page, pattern.as_ref())),
            None => Err(ReadError::Invalid {
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
