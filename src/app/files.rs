//! Files that are data: those compiled in, and those in the directories that the config names.

use std::path::{Path, PathBuf};

use super::builtin::File;

/// A larger file of this kind is a mistake.
const MOST_BYTES: u64 = 1 << 20;

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its name for messages: the path, or `policies/reads.cedar` for one compiled in.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Whether it is compiled in.
    pub is_builtin: bool,
}

/// The built-in files and those with this extension in the directories, in the order of their names.
pub fn read(dirs: &[PathBuf], extension: &str, builtin: &[File], problems: &mut Vec<String>) -> Vec<Found> {
    let mut found: Vec<Found> = builtin
        .iter()
        .map(|(name, text)| Found { name: (*name).to_owned(), text: (*text).to_owned(), is_builtin: true })
        .collect();
    for dir in dirs {
        match list(dir, extension) {
            Ok(paths) => found.extend(paths.iter().filter_map(|path| {
                let text = text(path);
                text.map_err(|error| problems.push(format!("can't read `{}`: {error}", path.display())))
                    .ok()
                    .map(|text| Found { name: path.display().to_string(), text, is_builtin: false })
            })),
            Err(error) => problems.push(format!("can't read the directory `{}`: {error}", dir.display())),
        }
    }
    found
}

fn list(dir: &Path, extension: &str) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The text of a file of this kind.
///
/// # Errors
/// Where it can't be read, or is too large.
pub fn text(path: &Path) -> std::io::Result<String> {
    let size = std::fs::metadata(path)?.len();
    if size > MOST_BYTES {
        return Err(std::io::Error::other(format!("it has {size} bytes; at most {MOST_BYTES} are read")));
    }
    std::fs::read_to_string(path)
}
