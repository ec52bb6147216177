//! `list_files`: what lies in a directory of a workspace.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::Target;
use warrant_kernel::domain::time;

use crate::tools::workspace::walk::{Entry, walk};
use crate::tools::workspace::{Place, Workspaces, blocking};

struct ListFiles {
    workspaces: Arc<Workspaces>,
}

/// The tool.
#[must_use]
pub fn list_files(workspaces: Arc<Workspaces>) -> Arc<dyn ReadTool> {
    Arc::new(ListFiles { workspaces })
}

#[derive(Deserialize)]
struct Args {
    path: Option<String>,
    #[serde(default = "one")]
    depth: usize,
    #[serde(default = "two_hundred")]
    limit: usize,
}

fn one() -> usize {
    1
}

fn two_hundred() -> usize {
    200
}

/// The places that an optional path names: one, or all roots.
pub(super) fn places(workspaces: &Workspaces, path: Option<&str>) -> Result<Vec<Place>, Problem> {
    match path.filter(|path| !path.is_empty()) {
        Some(path) => Ok(vec![workspaces.place("path", path)?]),
        None if workspaces.roots().is_empty() => Ok(vec![workspaces.place("path", "")?]),
        None => Ok(workspaces.roots().values().map(Place::top).collect()),
    }
}

/// The target of a call on these places.
pub(super) fn target(workspaces: &Workspaces, path: Option<&str>) -> Result<Target, Vec<Problem>> {
    let places = places(workspaces, path).map_err(|problem| vec![problem])?;
    let only = if let [only] = places.as_slice() { Some(only) } else { None };
    workspaces.target(only).map_err(|problem| vec![problem])
}

/// A problem that the checks before should have found.
pub(super) fn invalid(problem: Problem) -> ReadError {
    ReadError::Invalid { reason: "PATH_INVALID", message: problem.message }
}

fn row(path: &str, entry: &Entry) -> Value {
    let mut row = json!({
        "path": path,
        "kind": entry.kind.as_str(),
        "size": entry.size,
        "modified": time::rfc3339(entry.modified),
    });
    if let (true, Some(row)) = (entry.protected, row.as_object_mut()) {
        row.insert("protected".to_owned(), Value::Bool(true));
    }
    row
}

/// What the tool itself counts and says.
const OWN: &[(&str, Origin)] = &[("path", Origin::Warrant), ("entries", Origin::Warrant)];

fn list(workspaces: &Workspaces, args: &Args, cancel: &CancellationToken) -> Result<Output, ReadError> {
    let mut rows: BTreeMap<String, Value> = BTreeMap::new();
    let (mut seen, mut left_out) = (0_u64, Vec::new());
    for place in places(workspaces, args.path.as_deref()).map_err(invalid)? {
        let unseen = walk(&place.root, &place.path, args.depth, cancel, &mut |entry| {
            seen += 1;
            let path = workspaces.shown(&place.root, &entry.path);
            let shown = row(&path, &entry);
            rows.insert(path, shown);
            // The first in order are kept, whatever order a walk has.
            if rows.len() > args.limit {
                rows.pop_last();
            }
            ControlFlow::Continue(())
        })?;
        left_out.extend(unseen.sentence());
    }
    let kept = u64::try_from(rows.len()).unwrap_or(u64::MAX);
    if seen > kept {
        left_out.push(format!("{} more entries; raise `limit`, or name a `path` further down", seen - kept));
    }
    let mut summary = Map::new();
    summary.insert("path".to_owned(), args.path.clone().unwrap_or_default().into());
    summary.insert("entries".to_owned(), seen.into());
    let mut output = Output::items(Origin::File, summary, "files", rows.into_values().collect()).with_fields(OWN);
    output.matched = Some(seen);
    output.left_out = (!left_out.is_empty()).then(|| left_out.join("; "));
    Ok(output)
}

#[async_trait]
impl ReadTool for ListFiles {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        target(&self.workspaces, args.text("path"))
    }

    async fn read(&self, args: &Arguments, reading: Reading<'_>) -> Result<Output, ReadError> {
        let args: Args = args.parse().map_err(invalid)?;
        let (workspaces, cancel) = (Arc::clone(&self.workspaces), reading.cancel.clone());
        blocking(move || list(&workspaces, &args, &cancel)).await
    }
}
