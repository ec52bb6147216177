//! Space set aside, so that the outcome of a write finds room on a disk that has filled up meanwhile.
//!
//! A file of [`BALLAST`] bytes beside the store: laid before a write begins, removed when SQLite says that the disk is full.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::beside;
use super::storage::StorageError;

/// Room for some hundred records and the pages that they touch.
const BALLAST: usize = 1 << 20;

/// The file.
pub(super) struct Ballast {
    path: PathBuf,
}

impl Ballast {
    pub(super) fn beside(store: &Path) -> Self {
        Self { path: beside(store, ".ballast") }
    }

    /// Writes it, unless it is there whole.
    pub(super) async fn lay(&self) -> Result<(), StorageError> {
        let path = self.path.clone();
        run("set space aside for", move || {
            if std::fs::metadata(&path).is_ok_and(|found| found.len() == BALLAST as u64) {
                return Ok(());
            }
            let laid = write(&path);
            if laid.is_err() {
                // Half a ballast takes the space that others need, and is none.
                match std::fs::remove_file(&path) {
                    Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                    Ok(()) | Err(_) => {}
                }
            }
            laid
        })
        .await
    }

    /// Removes it.
    pub(super) async fn free(&self) -> Result<(), StorageError> {
        let path = self.path.clone();
        run("give space back to", move || match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        })
        .await
    }
}

fn write(path: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    // Noise, since zeros take no space where a file system compresses.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let noise = (0..BALLAST / 8).flat_map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    file.write_all(&noise.collect::<Vec<u8>>())?;
    file.sync_all()
}

async fn run(
    doing: &'static str,
    work: impl FnOnce() -> std::io::Result<()> + Send + 'static,
) -> Result<(), StorageError> {
    let done = tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    done.map_err(|source| match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StorageError::NoSpace,
        _ => StorageError::Other { doing, source: Box::new(source) },
    })
}
