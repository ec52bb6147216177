//! `search_runbooks`: the runbooks for an alert or a question, or the answer that there is none.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use warrant_kernel::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::{Target, TargetKind};

use crate::runbook::library::Library;
use crate::runbook::search::{Hit, Question, Why};

/// Most characters of an excerpt.
const EXCERPT: usize = 240;

/// Most characters of the query that the answer repeats.
const SHOWN_QUERY: usize = 200;

/// How many runbooks an answer names where the call does not say.
const USUAL_LIMIT: usize = 5;

/// The tool over a library.
#[must_use]
pub fn search_runbooks(library: Arc<Library>) -> Arc<dyn ReadTool> {
    Arc::new(SearchRunbooks { library })
}

struct SearchRunbooks {
    library: Arc<Library>,
}

/// What the tool itself counts.
const OWN: &[(&str, Origin)] = &[("found", Origin::Warrant), ("none", Origin::Warrant)];

#[async_trait]
impl ReadTool for SearchRunbooks {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        if args.text("query").is_none_or(|query| query.trim().is_empty()) && args.text("alert").is_none() {
            return Err(vec![Problem::of("query", "is empty; give the alert's name or words of what goes wrong")]);
        }
        target("runbooks")
    }

    async fn read(&self, args: &Arguments, _reading: Reading<'_>) -> Result<Output, ReadError> {
        let query = args.text("query").unwrap_or_default();
        let service = args.service("service");
        let question = Question { text: query, alert: args.text("alert"), service: service.as_ref() };
        let limit = args.int("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(USUAL_LIMIT);
        let hits = self.library.search(question);
        let mut summary = Map::new();
        summary.insert("query".to_owned(), Value::from(first_chars(query, SHOWN_QUERY)));
        summary.insert("found".to_owned(), Value::from(hits.len()));
        summary.insert("none".to_owned(), Value::from(hits.is_empty()));
        let left_out = hits.len().saturating_sub(limit);
        let rows = hits.iter().take(limit).map(row).collect();
        let mut output = Output::items(Origin::Runbook, summary, "runbooks", rows).with_fields(OWN);
        output.matched = Some(u64::try_from(hits.len()).unwrap_or(u64::MAX));
        output.left_out =
            (left_out > 0).then(|| format!("{left_out} runbooks that fit less; raise `limit` to see them"));
        Ok(output)
    }
}

fn row(hit: &Hit<'_>) -> Value {
    let why = match (hit.why, hit.section) {
        (Why::ExactAlert, _) => "exact alert name".to_owned(),
        (Why::Words, Some(section)) if !section.heading.is_empty() => format!("words of `{}`", section.heading),
        (Why::Words, _) => "its words".to_owned(),
    };
    let section = hit.section.or_else(|| hit.runbook.sections.first());
    json!({
        "id": hit.runbook.id,
        "title": hit.runbook.title,
        "score": (hit.score * 1000.0).round() / 1000.0,
        "why": why,
        "section": section.map(|section| section.heading.as_str()),
        "excerpt": section.map(|section| first_chars(&section.text, EXCERPT)),
        "checks": hit.runbook.checks.len(),
    })
}

/// What both runbook tools look at: the runbooks, as a source of their own.
pub(super) fn target(name: &str) -> Result<Target, Vec<Problem>> {
    let source = "runbooks".parse().map_err(|_| vec![Problem::of("query", "there are no runbooks")])?;
    Ok(Target {
        kind: TargetKind::Runbooks,
        name: name.to_owned(),
        service: None,
        environment: None,
        owner: None,
        source,
    })
}

/// The first characters of a text on one line, `…` where more follow.
fn first_chars(text: &str, most: usize) -> String {
    let mut shown = String::new();
    let mut words = text.split_whitespace();
    for (at, c) in words.by_ref().flat_map(|word| word.chars().chain([' '])).enumerate() {
        if at >= most {
            shown.push('…');
            return shown;
        }
        shown.push(c);
    }
    shown.truncate(shown.trim_end().len());
    shown
}

#[cfg(test)]
pub(super) mod tests;
