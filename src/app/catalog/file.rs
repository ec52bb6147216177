//! Puts a new text in the place of a config: whole or not at all, and only where the file is still the one that was read.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::app::fault::Fault;
use crate::app::files;

/// Replaces the file's text `before` by `whole`; the path of the file itself, where links led to it.
pub(super) fn replace(path: &Path, before: &str, whole: &str) -> Result<PathBuf, Fault> {
    let put = || -> std::io::Result<PathBuf> {
        let path = fs::canonicalize(path)?;
        let dir = path.parent().ok_or_else(|| std::io::Error::other("it lies in no directory"))?;
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        file.write_all(whole.as_bytes())?;
        file.as_file().set_permissions(fs::metadata(&path)?.permissions())?;
        file.as_file().sync_all()?;
        if files::text(&path)? != before {
            return Err(std::io::Error::other("it was changed meanwhile; try again"));
        }
        file.persist(&path).map_err(|error| error.error)?;
        fs::File::open(dir)?.sync_all()?;
        Ok(path)
    };
    put().map_err(|error| Fault::Failed(format!("can't write `{}`: {error}", path.display())))
}
