//! `search_logs`: the log records of a service that match a pattern and a level, in a time window.

mod pattern;

mod page;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, json};
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::name::ServiceName;
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::Target;
use warrant_kernel::domain::time::rfc3339;

use crate::analysis::level::Level;
use crate::catalog::Catalog;
use crate::tools::read::log_scope::{self, Opened};
use crate::tools::sources::logs::scan::{Order, Scan};
use crate::tools::sources::logs::{Limits, Window};
use page::{Cursor, Page};

/// Looked at when `since` is left out.
const USUAL_WINDOW: SignedDuration = SignedDuration::from_hours(1);
/// Rows when `limit` is left out.
const USUAL_LIMIT: usize = 200;

/// The tool, reading what `catalog` names.
#[must_use]
pub fn tool(catalog: Arc<Catalog>) -> Arc<dyn ReadTool> {
    Arc::new(SearchLogs { catalog, limits: Limits::default() })
}

struct SearchLogs {
    catalog: Arc<Catalog>,
    limits: Limits,
}

/// What is asked, out of the arguments.
struct Asked {
    service: ServiceName,
    window: Window,
    level: Option<Level>,
    limit: usize,
    order: Order,
    cursor: Option<Cursor>,
}

#[async_trait]
impl ReadTool for SearchLogs {
    fn resolve(&self, args: &Arguments, now: Timestamp) -> Result<Target, Vec<Problem>> {
        let (target, mut problems) = log_scope::resolve(&self.catalog, args, now, USUAL_WINDOW);
        if let Err(message) = pattern::matcher(args, level_of(args)) {
            problems.push(Problem::of("pattern", message));
        }
        if args.text("cursor").is_some_and(|text| Cursor::parse(text).is_none()) {
            problems
                .push(Problem::of("cursor", "not a cursor of this tool; use the one a hint names, or leave it out"));
        }
        match target {
            Some(target) if problems.is_empty() => Ok(target),
            Some(_) | None => Err(problems),
        }
    }

    async fn read(&self, args: &Arguments, reading: Reading<'_>) -> Result<Output, ReadError> {
        let invalid = |message: String| ReadError::Invalid { reason: "PATTERN_INVALID", message };
        let matcher = pattern::matcher(args, level_of(args)).map_err(invalid)?;
        let asked = Asked {
            service: args.service("service").ok_or_else(|| invalid("name a service".to_owned()))?,
            window: log_scope::window(args, reading.now, USUAL_WINDOW),
            level: level_of(args),
            limit: args.int("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(USUAL_LIMIT).max(1),
            order: if args.text("order") == Some("oldest") { Order::OldestFirst } else { Order::NewestFirst },
            cursor: args.text("cursor").and_then(Cursor::parse),
        };
        let (catalog, limits, cancel) = (self.catalog.clone(), self.limits, reading.cancel.clone());
        let work = tokio::task::spawn_blocking(move || {
            let opened = log_scope::open(&catalog, &asked.service, asked.window, &limits)?;
            search(&opened, matcher.as_ref(), &asked, limits, &cancel)
        });
        work.await.map_err(|_| ReadError::Cancelled)?
    }
}

fn level_of(args: &Arguments) -> Option<Level> {
    args.text("level").and_then(|word| Level::from_word(word.as_bytes()))
}

/// What the tool itself counts and says.
const OWN: &[(&str, Origin)] = &[
    ("window", Origin::Warrant),
    ("zone_assumed", Origin::Warrant),
    ("matched", Origin::Warrant),
    ("first_match", Origin::Warrant),
    ("last_match", Origin::Warrant),
    ("service", Origin::Catalog),
];

fn search(
    opened: &Opened,
    matcher: Option<&grep_regex::RegexMatcher>,
    asked: &Asked,
    limits: Limits,
    cancel: &CancellationToken,
) -> Result<Output, ReadError> {
    let mut scan = Scan::new(asked.window, matcher, limits, cancel);
    let mut page = Page::new(asked.limit, asked.order, asked.cursor, limits.disorder);
    let mut counts: BTreeMap<Level, u64> = BTreeMap::new();
    let mut extent: Option<Window> = None;
    for (number, log) in opened.logs.iter().enumerate() {
        scan.log(log, asked.order, &mut |record| {
            if asked.level.is_some_and(|level| level != record.level) {
                return ControlFlow::Continue(());
            }
            *counts.entry(record.level).or_default() += 1;
            if let Some(time) = record.time {
                extent = Some(extent.map_or(Window { from: time, to: time }, |span| Window {
                    from: span.from.min(time),
                    to: span.to.max(time),
                }));
            }
            page.offer(number, record)
        })?;
    }
    let report = scan.report();
    let total: u64 = counts.values().sum();
    let mut summary = Map::new();
    summary.insert("service".to_owned(), json!(asked.service));
    summary.insert("window".to_owned(), log_scope::window_json(asked.window));
    log_scope::read_json(&report, &mut summary);
    let by_level: Map<_, _> = Level::ALL
        .iter()
        .filter_map(|level| counts.get(level).map(|count| (level.as_str().to_owned(), json!(count))))
        .collect();
    summary
        .insert("matched".to_owned(), json!({ "total": total, "levels": by_level, "complete": !page.ended_early() }));
    summary.insert("first_match".to_owned(), json!(extent.map(|extent| rfc3339(extent.from))));
    summary.insert("last_match".to_owned(), json!(extent.map(|extent| rfc3339(extent.to))));
    let mut reasons = page.left_out();
    reasons.extend(opened.notes.iter().cloned());
    reasons.extend(report.notes);
    let complete = !page.ended_early();
    let mut output = Output::lines(Origin::Log, summary, page.rows()).with_fields(OWN);
    output.matched = complete.then_some(total);
    output.left_out = log_scope::told(reasons);
    Ok(output)
}

#[cfg(test)]
mod tests;
