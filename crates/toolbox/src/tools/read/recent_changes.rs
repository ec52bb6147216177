//! `recent_changes`: what changed lately, as one list, newest first.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use warrant_kernel::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::name::SourceName;
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::{Target, TargetKind};
use warrant_kernel::domain::time;

use super::describe_service::{service_of, service_target};
use super::sight::{Seen, Sight, hidden};
use crate::catalog::Catalog;
use crate::tools::sources::changes::{Asked, Changes, Found, Kind};

struct RecentChanges {
    catalog: Arc<Catalog>,
    changes: Changes,
    sight: Arc<dyn Sight>,
}

/// The tool.
#[must_use]
pub fn recent_changes(catalog: Arc<Catalog>, changes: Changes, sight: Arc<dyn Sight>) -> Arc<dyn ReadTool> {
    Arc::new(RecentChanges { catalog, changes, sight })
}

fn window(args: &Arguments, now: Timestamp) -> Result<(Timestamp, Timestamp), Vec<Problem>> {
    let until = args.time("until").unwrap_or(now);
    let since = args.time("since").ok_or_else(|| vec![Problem::of("since", "give the beginning of the window")])?;
    if since >= until {
        return Err(vec![Problem::of("since", "`since` must lie before `until`")]);
    }
    Ok((since, until))
}

fn source() -> Result<SourceName, Vec<Problem>> {
    "changes".parse().map_err(|error| vec![Problem::of("", format!("{error}"))])
}

fn output(asked: &Asked, mut found: Found, limit: usize) -> Output {
    let count = |kind: Kind| found.changes.iter().filter(|change| change.kind == kind).count();
    let window = json!({ "since": time::rfc3339(asked.since), "until": time::rfc3339(asked.until) });
    let mut summary: Map<String, Value> = Map::new();
    summary.insert("window".to_owned(), window);
    for (name, kind) in [
        ("commits", Kind::Commit),
        ("uncommitted", Kind::Uncommitted),
        ("modified", Kind::Modified),
        ("deploys", Kind::Deploy),
    ] {
        summary.insert(name.to_owned(), count(kind).into());
    }
    if found.older_uncommitted > 0 {
        summary.insert("uncommitted_before_window".to_owned(), found.older_uncommitted.into());
    }
    summary.insert("sources_read".to_owned(), json!(found.read));
    summary.insert("sources_failed".to_owned(), json!(found.failed));
    let mut left_out: Vec<String> =
        found.failed.iter().map(|failed| format!("`{}` could not be read: {}", failed.source, failed.why)).collect();
    if found.read.is_empty() && found.failed.is_empty() {
        let note = "nothing tells of changes here: an operator adds `changes`, `files` or `deploys` to the service";
        summary.insert("note".to_owned(), note.into());
    }
    let total = found.changes.len();
    if total > limit {
        left_out.push(format!("{} older changes; narrow the window or raise `limit`", total - limit));
        found.changes.truncate(limit);
    }
    left_out.extend(found.left_out);
    let rows: Vec<Value> = found.changes.iter().map(|change| json!(change)).collect();
    let mut output = Output::items(Origin::Change, summary, "changes", rows).with_fields(OWN);
    output.matched = u64::try_from(total).ok();
    output.left_out = (!left_out.is_empty()).then(|| left_out.join("; "));
    output
}

/// What the tool itself counts and says.
const OWN: &[(&str, Origin)] = &[
    ("window", Origin::Warrant),
    ("commits", Origin::Warrant),
    ("uncommitted", Origin::Warrant),
    ("modified", Origin::Warrant),
    ("deploys", Origin::Warrant),
    ("uncommitted_before_window", Origin::Warrant),
    ("sources_read", Origin::Warrant),
    ("note", Origin::Warrant),
];

#[async_trait]
impl ReadTool for RecentChanges {
    fn resolve(&self, args: &Arguments, now: Timestamp) -> Result<Target, Vec<Problem>> {
        window(args, now)?;
        if args.text("service").is_some() {
            let (name, service) = service_of(&self.catalog, args).map_err(|problem| vec![problem])?;
            return Ok(service_target(name, service, source()?));
        }
        Ok(Target {
            kind: TargetKind::Catalog,
            name: "catalog".to_owned(),
            service: None,
            environment: None,
            owner: None,
            source: source()?,
        })
    }

    async fn read(&self, args: &Arguments, reading: Reading<'_>) -> Result<Output, ReadError> {
        let (since, until) = window(args, reading.now).map_err(|problems| ReadError::Invalid {
            reason: "WINDOW_INVALID",
            message: problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; "),
        })?;
        let limit = args.int("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(100);
        let asked = Asked { service: args.service("service"), since, until };
        let mut found = self.changes.gather(&asked, reading.cancel).await?;
        // One service was ruled on before; rows of several were not.
        let seen = Seen::of(&self.catalog, &*self.sight, reading.run, reading.now);
        let before = found.changes.len();
        found.changes.retain(|change| change.service.iter().chain(&change.also).all(|name| seen.shows(name)));
        found.left_out.extend(hidden(before - found.changes.len(), "changes"));
        Ok(output(&asked, found, limit))
    }
}

#[cfg(test)]
mod tests;
