//! Finds and opens the files of a log beneath its directory.
//!
//! All files are opened at once, so that a rotation a moment later changes names but not what is read. Only regular files
//! are opened; links are followed beneath the directory and never out of it.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use jiff::Timestamp;
use rustix::fs::OFlags;

use crate::tools::sources::logs::rotation::{Member, Packing, Place, member};

/// Entries of a directory that are looked at.
const MOST_ENTRIES: usize = 50_000;

/// One file of a log, open.
#[derive(Debug)]
pub struct LogFile {
    /// Its path beneath the log directory.
    pub name: String,
    /// How it is packed.
    pub packing: Packing,
    /// When it was last written to.
    pub modified: Timestamp,
    /// Its size in bytes when it was opened.
    pub size: u64,
    /// The open file.
    pub file: File,
}

/// A live file and its rotated neighbours, oldest first.
#[derive(Debug)]
pub struct Log {
    /// Its files.
    pub files: Vec<LogFile>,
    /// Whether the file that is written to is among them: only then is the order by name one of time.
    pub has_live: bool,
}

/// What was found for one entry of the catalog.
#[derive(Debug, Default)]
pub struct Found {
    /// The logs, by the name of their live file.
    pub logs: Vec<Log>,
    /// How many file names belong to them, those not written to since the window began included.
    pub names: usize,
    /// What could not be opened, and why.
    pub notes: Vec<String>,
}

/// Finds the files that `pattern` (a path; `*` in its last part) names beneath `dir`, opens those written to at or after
/// `since`, the newest `most` of each log.
///
/// # Errors
/// The directory can't be read. A missing one is reported as such; a missing file is an empty finding.
pub fn find(dir: &Path, pattern: &str, since: Timestamp, most: usize) -> io::Result<Found> {
    let root = Dir::open_ambient_dir(dir, ambient_authority())?;
    let path = Path::new(pattern);
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).map(Path::to_path_buf);
    let name_pattern = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let place = parent.clone().unwrap_or_else(|| PathBuf::from("."));
    let mut found = Found::default();
    let mut candidates = Vec::new();
    for entry in root.read_dir(&place)?.take(MOST_ENTRIES) {
        let Ok(name) = entry.map(|entry| entry.file_name()) else { continue };
        let Some(member) = name.to_str().and_then(|name| member(name, name_pattern)) else { continue };
        found.names += 1;
        candidates.push((place.join(&name), member));
    }
    let mut logs: BTreeMap<String, Vec<(Place, LogFile)>> = BTreeMap::new();
    let mut seen = HashSet::new();
    for (path, Member { base, packing, place }) in candidates {
        let shown = path.strip_prefix(".").unwrap_or(&path).display().to_string();
        match open(&root, &path, since, packing) {
            Ok(Some((file, modified, size, identity))) => {
                if seen.insert(identity) {
                    logs.entry(base).or_default().push((place, LogFile { name: shown, packing, modified, size, file }));
                }
            }
            Ok(None) => {}
            Err(error) => found.notes.push(format!("`{shown}` was not read: {error}")),
        }
    }
    for (base, mut files) in logs {
        files.sort_by(|left, right| (&left.0, left.1.modified).cmp(&(&right.0, right.1.modified)));
        if files.len() > most {
            let over = files.len() - most;
            found.notes.push(format!("{over} older files of `{base}` were not read: narrow the time window"));
            files.drain(..over);
        }
        let has_live = files.last().is_some_and(|(place, _)| *place == Place::Live);
        found.logs.push(Log { files: files.into_iter().map(|(_, file)| file).collect(), has_live });
    }
    Ok(found)
}

type Opened = (File, Timestamp, u64, (u64, u64));

/// Opens a regular file; none where it was not written to since.
fn open(root: &Dir, path: &Path, since: Timestamp, packing: Packing) -> io::Result<Option<Opened>> {
    // Opening a device can have effects of its own, so its kind is looked at first, and again once it is open.
    if !root.metadata(path)?.is_file() {
        return Err(not_regular());
    }
    let mut options = OpenOptions::new();
    // A pipe put there a moment ago must not make us wait for its other end.
    options.read(true).custom_flags(i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default());
    let file = root.open_with(path, &options)?.into_std();
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(not_regular());
    }
    let modified = metadata.modified().ok().and_then(|time| Timestamp::try_from(time).ok()).unwrap_or(Timestamp::MAX);
    if modified < since {
        return Ok(None);
    }
    if packing == Packing::Other {
        return Err(io::Error::new(
            ErrorKind::Unsupported,
            "only gzip and zstd are unpacked; unpack it beside the log",
        ));
    }
    Ok(Some((file, modified, metadata.len(), (metadata.dev(), metadata.ino()))))
}

fn not_regular() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "not a regular file")
}

#[cfg(test)]
mod tests;
