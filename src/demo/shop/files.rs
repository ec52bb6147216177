//! Writes the files of the shop. What a service reads while it runs is replaced as a whole, so that it never reads half.

use std::fs::File;
use std::path::Path;
use std::time::SystemTime;

use crate::demo::shop::ShopError;

fn failed(file: &Path) -> impl FnOnce(std::io::Error) -> ShopError {
    let file = file.to_path_buf();
    move |source| ShopError::Write { file, source }
}

pub(super) fn make_dir(dir: &Path) -> Result<(), ShopError> {
    std::fs::create_dir_all(dir).map_err(failed(dir))
}

pub(super) fn write(file: &Path, text: &[u8]) -> Result<(), ShopError> {
    std::fs::write(file, text).map_err(failed(file))
}

/// Puts a new file in the place of an old one. `private` is a directory of the same file system.
pub(super) fn replace(private: &Path, file: &Path, text: &[u8]) -> Result<(), ShopError> {
    let new = private.join("new");
    write(&new, text)?;
    std::fs::rename(&new, file).map_err(failed(file))
}

/// Makes a file as old as its last commit.
pub(super) fn set_age(file: &Path, modified: SystemTime) -> Result<(), ShopError> {
    let opened = File::options().append(true).open(file);
    opened.and_then(|opened| opened.set_modified(modified)).map_err(failed(file))
}
