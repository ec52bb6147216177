//! The file that holds the ledger's key: made at first start for its owner alone, replaced by rotation.
//!
//! Whoever has it can sign another history; only checkpoints kept elsewhere show that. It needs a backup: without it the
//! log can't go on.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::error::LedgerError;
use super::note::PrivateKey;

/// Where the key lies, and where the next one waits while it is being rotated in.
pub(super) struct KeyFile {
    path: PathBuf,
}

impl KeyFile {
    pub(super) fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn next(&self) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(".next");
        PathBuf::from(name)
    }

    /// The key; none where there is no file.
    pub(super) fn read(&self) -> Result<Option<PrivateKey>, LedgerError> {
        read(&self.path)
    }

    /// The key that a rotation left behind.
    pub(super) fn read_next(&self) -> Result<Option<PrivateKey>, LedgerError> {
        read(&self.next())
    }

    /// Writes the first key.
    pub(super) fn write(&self, key: &PrivateKey) -> Result<(), LedgerError> {
        self.write_next(key)?;
        self.take_next()
    }

    /// Writes the key that shall follow, durable on return.
    pub(super) fn write_next(&self, key: &PrivateKey) -> Result<(), LedgerError> {
        let next = self.next();
        let fail = |source| LedgerError::Key { doing: "write", path: next.clone(), source };
        if let Some(directory) = self.path.parent() {
            std::fs::create_dir_all(directory).map_err(fail)?;
        }
        match std::fs::remove_file(&next) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(fail(error)),
            Ok(()) | Err(_) => {}
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&next).map_err(fail)?;
        file.write_all(key.encoded().as_bytes()).and_then(|()| file.sync_all()).map_err(fail)
    }

    /// Puts the next key in the place of the key.
    pub(super) fn take_next(&self) -> Result<(), LedgerError> {
        let fail = |source| LedgerError::Key { doing: "replace", path: self.path.clone(), source };
        std::fs::rename(self.next(), &self.path).map_err(fail)?;
        // A rename is durable once its directory is.
        match self.path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
            Some(directory) => File::open(directory).and_then(|directory| directory.sync_all()).map_err(fail),
            None => Ok(()),
        }
    }
}

fn read(path: &Path) -> Result<Option<PrivateKey>, LedgerError> {
    match std::fs::read_to_string(path) {
        Ok(text) => PrivateKey::decode(&text).map(Some).ok_or_else(|| LedgerError::NoKey(path.to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(LedgerError::Key { doing: "read", path: path.to_owned(), source }),
    }
}
