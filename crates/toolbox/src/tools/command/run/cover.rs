//! What a command that goes through directories may read: all beneath a directory but what is protected.
//!
//! The sandbox can grant a directory with all beneath it, and take nothing away again. So where something protected lies
//! beneath, its neighbours are granted one by one, down the path to it, and it is not. The program is told that it may not
//! open it, whatever its flags are.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::ReadError;

use super::Held;
use crate::tools::command::refusal::{Reason, Refusal};
use crate::tools::process::sandbox::order::Right;
use crate::tools::workspace::Place;
use crate::tools::workspace::path::RelPath;
use crate::tools::workspace::walk::{Kind, walk};

/// How deep it is looked.
const DEPTH: usize = 64;
/// Most files and directories granted one by one; each is held open.
const MAX_GRANTS: usize = 300;

struct Seen {
    path: String,
    kind: Kind,
}

/// Grants a directory and all beneath it that is not protected.
pub(super) fn cover(held: &mut Held, place: &Place, path: &RelPath) -> Result<(), ReadError> {
    let root = &place.root;
    let (mut seen, mut protected) = (Vec::new(), Vec::new());
    // The call's own token ends the caller; a walk is bounded by the number of entries.
    let unseen = walk(root, path, DEPTH, &CancellationToken::new(), &mut |entry| {
        if entry.protected {
            protected.push(entry.path);
        } else {
            seen.push(Seen { path: entry.path, kind: entry.kind });
        }
        ControlFlow::Continue(())
    })?;
    if unseen.too_many || seen.iter().any(|entry| entry.path.split('/').count() > DEPTH) {
        let message = format!(
            "too much lies beneath `{path}` to be looked at for protected files; name a directory further down, or use `search_files`"
        );
        return Err(Refusal::new(Reason::TooLong, message).into());
    }
    let top = root.directory(path)?;
    if protected.is_empty() {
        held.grant(top, Right::Tree);
        return Ok(());
    }
    // The names of all, and content wherever nothing protected lies beneath.
    held.grant(top, Right::Names);
    let above: BTreeSet<&str> = protected.iter().flat_map(|path| ancestors(path)).collect();
    let whole = |entry: &&Seen| {
        let parent = entry.path.rsplit_once('/').map_or("", |(parent, _)| parent);
        !above.contains(entry.path.as_str()) && (above.contains(parent) || parent == path.as_str())
    };
    let granted: Vec<&Seen> = seen.iter().filter(whole).collect();
    if granted.len() > MAX_GRANTS {
        let message = format!(
            "too many protected files lie beneath `{path}`; name a directory further down, or use `search_files`"
        );
        return Err(Refusal::new(Reason::TooLong, message).into());
    }
    for entry in granted {
        let Ok(path) = RelPath::parse(&entry.path) else { continue };
        // What can't be opened here stays shut there.
        match entry.kind {
            Kind::File => {
                if let Ok(opened) = root.file(&path) {
                    held.grant(opened.file, Right::Content);
                }
            }
            Kind::Directory => {
                if let Ok(opened) = root.directory(&path) {
                    held.grant(opened, Right::Tree);
                }
            }
            Kind::Link | Kind::Special => {}
        }
    }
    Ok(())
}

/// All directories above a path, the root last.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(path.rsplit_once('/').map(|(parent, _)| parent), |path| {
        path.rsplit_once('/').map(|(parent, _)| parent)
    })
}
