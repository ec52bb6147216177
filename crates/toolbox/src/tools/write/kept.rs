//! The bytes that our own edits replaced, kept for a while so that an edit can be taken back.
//!
//! A directory of Warrant's own, readable by nobody else. What is kept belongs to one path: bytes of one file can't be
//! restored into another. The oldest go when there are too many; an edit whose bytes are gone can no longer be taken back.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::tools::workspace::Place;
use crate::tools::workspace::held::sha256;

/// Most contents kept.
const MAX_KEPT: usize = 512;
/// Most bytes kept in all.
const MAX_BYTES: u64 = 128 * 1024 * 1024;

/// The directory.
#[derive(Debug, Clone)]
pub struct Kept {
    dir: PathBuf,
}

/// One edit of ours: what the file was before it and after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// SHA-256 of the content before, which is kept.
    pub before: String,
    /// SHA-256 of the content after.
    pub after: String,
}

impl Kept {
    /// The directory `dir`; it is made when something is kept for the first time.
    #[must_use]
    pub fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Where it lies.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Makes the directory, for its owner alone.
    ///
    /// # Errors
    /// What the system said.
    pub fn open(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)
    }

    /// Keeps the content before an edit of `place`, durably.
    ///
    /// # Errors
    /// What the system said.
    pub fn keep(&self, place: &Place, before: &[u8], after: &str) -> io::Result<()> {
        self.open()?;
        let path = self.dir.join(format!("{}-{}-{after}", key(place), sha256(before)));
        self.write(&path, before)?;
        self.forget_oldest(&path)
    }

    /// A small note of a tool's own, durably; it replaces one of the same name.
    ///
    /// # Errors
    /// What the system said.
    pub fn note(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.open()?;
        let path = self.dir.join(name);
        self.write(&path, bytes)?;
        self.forget_oldest(&path)
    }

    /// A note, if it is there.
    ///
    /// # Errors
    /// What the system said, where it is there and can't be read.
    pub fn noted(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.dir.join(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let temporary = path.with_extension("tmp");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        File::open(&self.dir)?.sync_all()
    }

    /// Our edits of `place` whose content before is still kept.
    #[must_use]
    pub fn edits(&self, place: &Place) -> Vec<Edit> {
        let key = key(place);
        let names = fs::read_dir(&self.dir).into_iter().flatten().flatten().map(|entry| entry.file_name());
        names
            .filter_map(|name| {
                let mut parts = name.to_str()?.split('-');
                let of = parts.next()? == key;
                let edit = Edit { before: parts.next()?.to_owned(), after: parts.next()?.to_owned() };
                (of && parts.next().is_none()).then_some(edit)
            })
            .collect()
    }

    /// The content before an edit; none where it is gone or no longer what it was.
    #[must_use]
    pub fn content(&self, place: &Place, edit: &Edit) -> Option<Vec<u8>> {
        let bytes = fs::read(self.dir.join(format!("{}-{}-{}", key(place), edit.before, edit.after))).ok()?;
        (sha256(&bytes) == edit.before).then_some(bytes)
    }

    /// Removes the oldest until the rest is within the bounds; never `newest`.
    fn forget_oldest(&self, newest: &Path) -> io::Result<()> {
        let mut all: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.dir)?.flatten() {
            let (path, facts) = (entry.path(), entry.metadata()?);
            if facts.is_file() && path != newest {
                all.push((facts.modified()?, facts.len(), path));
            }
        }
        all.sort();
        let mut bytes = all.iter().map(|(_, size, _)| size).sum::<u64>();
        let mut count = all.len() + 1;
        for (_, size, path) in all {
            if count <= MAX_KEPT && bytes <= MAX_BYTES {
                break;
            }
            fs::remove_file(path)?;
            count -= 1;
            bytes -= size;
        }
        Ok(())
    }
}

fn key(place: &Place) -> String {
    sha256(format!("{}:{}", place.root.name(), place.path.as_str()).as_bytes())
}
