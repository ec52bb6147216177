//! Whether the store's files are still those that were opened.
//!
//! Whoever removes the file, or its write-ahead log, or puts another in its place leaves us writing to something that
//! nobody will read again.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::beside;
use super::storage::StorageError;

/// What tells a file from another one at the same path.
type Identity = (u64, u64);

/// The files of an open store.
pub(super) struct Files {
    store: PathBuf,
    log: PathBuf,
    identity: Identity,
    /// That of the write-ahead log, once there is one. It stays while the store is open.
    log_identity: Mutex<Option<Identity>>,
}

impl Files {
    pub(super) fn of(store: &Path) -> std::io::Result<Self> {
        let (store, log) = (store.to_owned(), beside(store, "-wal"));
        let (identity, found) = (identity(&store)?, identity(&log).ok());
        Ok(Self { store, log, identity, log_identity: Mutex::new(found) })
    }

    /// Fails where one of them is gone or another.
    pub(super) fn check(&self) -> Result<(), StorageError> {
        if identity(&self.store).ok() != Some(self.identity) {
            return Err(StorageError::Gone);
        }
        let mut known = self.log_identity.lock().unwrap_or_else(PoisonError::into_inner);
        match (*known, identity(&self.log).ok()) {
            (None, found) => *known = found,
            (known, found) if known == found => {}
            (Some(_), _) => return Err(StorageError::Gone),
        }
        Ok(())
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> std::io::Result<Identity> {
    use std::os::unix::fs::MetadataExt;
    std::fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> std::io::Result<Identity> {
    std::fs::metadata(path).map(|_| (0, 0))
}
