//! Files of services that were written within the window, where nothing else tells of it.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::ReadError;
use warrant_kernel::domain::name::ServiceName;

use super::{Asked, Change, Changes, Found, Kind};
use crate::catalog::service::WorkspaceFiles;
use crate::tools::workspace::path::RelPath;
use crate::tools::workspace::root::Root;
use crate::tools::workspace::walk::{Entry, Kind as EntryKind, walk};
use crate::tools::workspace::{Workspaces, blocking};

/// How far down a directory of a service is looked through.
const DEPTH: usize = 8;

/// Reads the times of the services' files; those in `explained` have a better row already.
pub(super) async fn read(
    changes: &Changes,
    asked: &Asked,
    explained: Vec<PathBuf>,
    cancel: &CancellationToken,
) -> Result<Found, ReadError> {
    let mut places = Vec::new();
    for (name, service) in changes.catalog.services() {
        if asked.service.as_ref().is_none_or(|asked| asked == name) {
            places.extend(service.files.iter().map(|files| (name.clone(), files.clone())));
        }
    }
    let (workspaces, asked, cancel) = (Arc::clone(&changes.workspaces), asked.clone(), cancel.clone());
    blocking(move || {
        let mut found = Found::default();
        for (service, files) in &places {
            place(&workspaces, &asked, (service, files), &explained, &cancel, &mut found)?;
        }
        Ok(found)
    })
    .await
}

fn place(
    workspaces: &Workspaces,
    asked: &Asked,
    (service, files): (&ServiceName, &WorkspaceFiles),
    explained: &[PathBuf],
    cancel: &CancellationToken,
    found: &mut Found,
) -> Result<(), ReadError> {
    let section = format!("workspaces.{}:{}", files.workspace, files.path);
    let entries = match entries(workspaces, files, cancel, found, &section) {
        Ok(entries) => entries,
        Err(ReadError::Cancelled) => return Err(ReadError::Cancelled),
        Err(error @ (ReadError::Backend { .. } | ReadError::Invalid { .. })) => {
            found.fail(section, error.to_string());
            return Ok(());
        }
    };
    found.read.push(section);
    let (root, entries) = entries;
    let above = root.real().unwrap_or_default();
    for entry in entries {
        let in_window = asked.since <= entry.modified && entry.modified <= asked.until;
        if !in_window || explained.contains(&above.join(&entry.path)) {
            continue;
        }
        let file = workspaces.shown(&root, &entry.path);
        // Two services may share a file.
        let same = |change: &&mut Change| change.kind == Kind::Modified && change.file.as_ref() == Some(&file);
        if let Some(known) = found.changes.iter_mut().find(same) {
            known.also.push(service.to_string());
            continue;
        }
        found.changes.push(Change {
            service: Some(service.to_string()),
            file: Some(file),
            ..Change::new(Kind::Modified, entry.modified)
        });
    }
    Ok(())
}

fn entries(
    workspaces: &Workspaces,
    files: &WorkspaceFiles,
    cancel: &CancellationToken,
    found: &mut Found,
    section: &str,
) -> Result<(Arc<Root>, Vec<Entry>), ReadError> {
    let invalid = |message: String| ReadError::Invalid { reason: "NOT_FOUND", message };
    let root = workspaces.root(&files.workspace).ok_or_else(|| invalid("the workspace is not open".to_owned()))?;
    let path = RelPath::parse(&files.path).map_err(|error| invalid(error.to_string()))?;
    let mut entries = Vec::new();
    if let Some(entry) = root.entry(&path)? {
        entries.push(entry);
        return Ok((Arc::clone(root), entries));
    }
    let unseen = walk(root, &path, DEPTH, cancel, &mut |entry| {
        if entry.kind == EntryKind::File {
            entries.push(entry);
        }
        ControlFlow::Continue(())
    })?;
    found.left_out.extend(unseen.sentence().map(|sentence| format!("`{section}`: {sentence}")));
    Ok((Arc::clone(root), entries))
}
