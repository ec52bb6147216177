//! `compare_logs`: what a service logged in a window beside the window before it: counts by level and by message, what is
//! new, and when errors began to rise.

mod tally;

use std::ops::ControlFlow;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::name::ServiceName;
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::Target;

use crate::catalog::Catalog;
use crate::tools::read::log_scope::{self, Opened};
use crate::tools::sources::logs::scan::{Order, Scan};
use crate::tools::sources::logs::{Limits, Window};
use tally::Tally;

/// Looked at when `since` is left out.
const USUAL_WINDOW: SignedDuration = SignedDuration::from_mins(15);

/// The tool, reading what `catalog` names.
#[must_use]
pub fn tool(catalog: Arc<Catalog>) -> Arc<dyn ReadTool> {
    Arc::new(CompareLogs { catalog, limits: Limits { read: 2 << 30, ..Limits::default() } })
}

struct CompareLogs {
    catalog: Arc<Catalog>,
    limits: Limits,
}

#[async_trait]
impl ReadTool for CompareLogs {
    fn resolve(&self, args: &Arguments, now: Timestamp) -> Result<Target, Vec<Problem>> {
        let (target, problems) = log_scope::resolve(&self.catalog, args, now, USUAL_WINDOW);
        match target {
            Some(target) if problems.is_empty() => Ok(target),
            Some(_) | None => Err(problems),
        }
    }

    async fn read(&self, args: &Arguments, reading: Reading<'_>) -> Result<Output, ReadError> {
        let Some(service) = args.service("service") else {
            return Err(ReadError::Invalid { reason: "SERVICE_MISSING", message: "name a service".to_owned() });
        };
        let window = log_scope::window(args, reading.now, USUAL_WINDOW);
        let (catalog, limits, cancel) = (self.catalog.clone(), self.limits, reading.cancel.clone());
        let work = tokio::task::spawn_blocking(move || {
            let both =
                Window { from: window.from.checked_sub(window.length()).unwrap_or(Timestamp::MIN), to: window.to };
            let opened = log_scope::open(&catalog, &service, both, &limits)?;
            compare(&opened, &service, window, both, limits, &cancel)
        });
        work.await.map_err(|_| ReadError::Cancelled)?
    }
}

/// What the tool itself counts and says.
const OWN: &[(&str, Origin)] = &[
    ("service", Origin::Catalog),
    ("window", Origin::Warrant),
    ("before", Origin::Warrant),
    ("zone_assumed", Origin::Warrant),
    ("records", Origin::Warrant),
    ("errors", Origin::Warrant),
    ("warnings", Origin::Warrant),
    ("patterns_total", Origin::Warrant),
    ("new_patterns", Origin::Warrant),
    ("onset", Origin::Warrant),
    ("onset_of", Origin::Warrant),
];

fn compare(
    opened: &Opened,
    service: &ServiceName,
    window: Window,
    both: Window,
    limits: Limits,
    cancel: &CancellationToken,
) -> Result<Output, ReadError> {
    let mut scan = Scan::new(both, None, limits, cancel);
    let mut tally = Tally::new(window, both);
    for log in &opened.logs {
        scan.log(log, Order::NewestFirst, &mut |record| {
            tally.add(record);
            ControlFlow::Continue(())
        })?;
    }
    let report = scan.report();
    let mut summary = Map::new();
    summary.insert("service".to_owned(), json!(service));
    summary.insert("window".to_owned(), log_scope::window_json(window));
    summary.insert("before".to_owned(), log_scope::window_json(Window { from: both.from, to: window.from }));
    tally.summarise(&mut summary);
    log_scope::read_json(&report, &mut summary);
    let mut reasons = tally.left_out();
    reasons.extend(opened.notes.iter().cloned());
    reasons.extend(report.notes);
    let matched = tally.patterns();
    let rows: Vec<Value> = tally.rows();
    let mut output = Output::items(Origin::Log, summary, "patterns", rows).with_fields(OWN);
    output.matched = Some(matched);
    output.left_out = log_scope::told(reasons);
    Ok(output)
}

#[cfg(test)]
mod tests;
