//! The lease: which one process appends to the ledger of a store.
//!
//! An exclusive lock on a file beside the store: it ends with its process, however that ends. Hold [`Lease`] for as long
//! as one writes.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::beside;

/// Why the lease was not to be had.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// Another process has it.
    #[error("another process{holder} writes to the ledger of `{store}`; there is one at a time")]
    Held {
        /// The store.
        store: PathBuf,
        /// ` (pid 123)`, if it said so.
        holder: String,
    },
    /// The file could not be made or locked.
    #[error("can't lock `{path}`")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// The right to append, for as long as it lives.
#[derive(Debug)]
#[must_use]
pub struct Lease {
    _locked: File,
}

impl Lease {
    /// Takes the lease of the store at `store`.
    ///
    /// # Errors
    /// [`LeaseError::Held`] while another process has it.
    pub fn take(store: &Path) -> Result<Self, LeaseError> {
        let path = beside(store, ".lock");
        let fail = |source| LeaseError::File { path: path.clone(), source };
        let mut file = open(&path).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut said = String::new();
                // Who holds it helps to find them; where it can't be read the refusal stands all the same.
                let read = Read::by_ref(&mut file).take(20).read_to_string(&mut said);
                let pid = read.ok().and_then(|_| said.trim().parse::<u32>().ok());
                let holder = pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
                return Err(LeaseError::Held { store: store.to_owned(), holder });
            }
            Err(TryLockError::Error(source)) => return Err(fail(source)),
        }
        file.set_len(0).map_err(fail)?;
        file.seek(SeekFrom::Start(0)).map_err(fail)?;
        writeln!(file, "{}", std::process::id()).map_err(fail)?;
        Ok(Self { _locked: file })
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
