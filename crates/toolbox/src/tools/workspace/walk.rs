//! Goes through what lies beneath a directory, in the order of the names, within bounds.
//!
//! Links are shown and not gone through, so there is no loop and nothing is seen twice.

use std::ops::ControlFlow;
use std::path::Path;

use cap_std::fs::{Dir, DirEntry, Metadata};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::ReadError;

use crate::tools::workspace::path::RelPath;
use crate::tools::workspace::root::{Root, real_path};

/// Most entries looked at in one walk.
const MAX_ENTRIES: u64 = 200_000;
/// Most entries of one directory; their names are sorted in memory.
const MAX_IN_DIRECTORY: usize = 20_000;

/// What an entry of a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A FIFO, socket or device.
    Special,
}

impl Kind {
    /// The word that a reader sees.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Link => "link",
            Self::Special => "special",
        }
    }
}

/// One entry of a directory.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its path from the root.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// Its size in bytes.
    pub size: u64,
    /// When it was last written.
    pub modified: Timestamp,
    /// Whether its content is never shown.
    pub protected: bool,
}

impl Entry {
    pub(super) fn of(path: String, facts: &Metadata, protected: bool) -> Self {
        let kind = facts.file_type();
        let kind = if kind.is_file() {
            Kind::File
        } else if kind.is_dir() {
            Kind::Directory
        } else if kind.is_symlink() {
            Kind::Link
        } else {
            Kind::Special
        };
        let modified = facts.modified().ok().and_then(|time| Timestamp::try_from(time.into_std()).ok());
        Self { path, kind, size: facts.len(), modified: modified.unwrap_or_default(), protected }
    }
}

/// What a walk did not see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unseen {
    /// Directories that could not be opened.
    pub unreadable: u64,
    /// Whether there was more than a walk looks at.
    pub too_many: bool,
}

impl Unseen {
    /// The sentence for `left_out`, if there is something to say.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.unreadable > 0 {
            parts.push(format!("{} directories could not be opened", self.unreadable));
        }
        if self.too_many {
            parts.push(format!("there are more than {MAX_ENTRIES} entries (or {MAX_IN_DIRECTORY} in one directory); name a `path` further down"));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Calls `visit` for each entry beneath `path`, at most `depth` directories down, until it breaks.
///
/// # Errors
/// When `path` itself can't be opened, or the token fires.
pub fn walk(
    root: &Root,
    path: &RelPath,
    depth: usize,
    cancel: &CancellationToken,
    visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
) -> Result<Unseen, ReadError> {
    let top = root.directory(path)?;
    let mut walk = Walk { root, cancel, visit, seen: 0, unseen: Unseen::default() };
    // A break is the visitor's own wish.
    let _: ControlFlow<()> = walk.directory(&top, path.as_str(), depth)?;
    Ok(walk.unseen)
}

struct Walk<'a> {
    root: &'a Root,
    cancel: &'a CancellationToken,
    visit: &'a mut dyn FnMut(Entry) -> ControlFlow<()>,
    seen: u64,
    unseen: Unseen,
}

impl Walk<'_> {
    fn directory(&mut self, dir: &Dir, path: &str, depth: usize) -> Result<ControlFlow<()>, ReadError> {
        let (Ok(entries), Ok(location)) = (dir.entries(), real_path(dir)) else {
            self.unseen.unreadable += 1;
            return Ok(ControlFlow::Continue(()));
        };
        let mut entries: Vec<DirEntry> = entries.filter_map(Result::ok).take(MAX_IN_DIRECTORY + 1).collect();
        entries.sort_by_key(DirEntry::file_name);
        if entries.len() > MAX_IN_DIRECTORY {
            self.unseen.too_many = true;
            entries.truncate(MAX_IN_DIRECTORY);
        }
        for entry in entries {
            if self.cancel.is_cancelled() {
                return Err(ReadError::Cancelled);
            }
            self.seen += 1;
            if self.seen > MAX_ENTRIES {
                self.unseen.too_many = true;
                return Ok(ControlFlow::Break(()));
            }
            // An entry that vanished since it was listed is no entry.
            let Some(found) = self.entry(&location, path, &entry) else { continue };
            let inner = (found.kind == Kind::Directory && !found.protected && depth > 1).then(|| found.path.clone());
            if (self.visit)(found).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let Some(inner) = inner else { continue };
            match self.root.inner(dir, &entry.file_name(), &inner) {
                Ok(opened) if self.directory(&opened, &inner, depth - 1)?.is_break() => {
                    return Ok(ControlFlow::Break(()));
                }
                Ok(_) => {}
                Err(_) => self.unseen.unreadable += 1,
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn entry(&self, location: &Path, parent: &str, entry: &DirEntry) -> Option<Entry> {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if parent.is_empty() { name.clone() } else { format!("{parent}/{name}") };
        let facts = entry.metadata().ok()?;
        let protected = self.root.protects(location, &path, &name);
        Some(Entry::of(path, &facts, protected))
    }
}
