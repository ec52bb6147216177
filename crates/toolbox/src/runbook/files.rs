//! Finds the runbook files of a directory. Whoever may write a runbook decides what is looked at and believed, so a file or
//! directory that others than its owner may write does not load, and links may not lead out of the directory.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::runbook::document::Problem;
use crate::runbook::parse::MAX_BYTES;

/// Most runbooks of one directory.
const MAX_FILES: usize = 2_000;

/// Most entries looked at.
const MAX_ENTRIES: usize = 20_000;

/// Most directories within one another.
const MAX_DEPTH: usize = 8;

/// A runbook file, read.
pub(super) struct Found {
    /// Path beneath the directory, without `.md`, parts joined by `/`.
    pub id: String,
    /// The whole path.
    pub file: PathBuf,
    /// Its text.
    pub text: String,
}

/// Reads every `*.md` beneath `dir`, in order of their paths; hidden names and `README.md` are left out.
pub(super) fn read_dir(dir: &Path, problems: &mut Vec<Problem>) -> Vec<Found> {
    let root = match fs::canonicalize(dir) {
        Ok(root) => root,
        Err(error) => {
            problems.push(problem(dir, format!("the runbook directory can't be read: {error}; correct the path")));
            return Vec::new();
        }
    };
    let mut walk = Walk { root: &root, found: Vec::new(), entries: 0, problems };
    walk.directory(&root, "", 0);
    walk.found
}

struct Walk<'a> {
    root: &'a Path,
    found: Vec<Found>,
    entries: usize,
    problems: &'a mut Vec<Problem>,
}

impl Walk<'_> {
    fn directory(&mut self, dir: &Path, prefix: &str, depth: usize) {
        if depth > MAX_DEPTH {
            self.complain(dir, format!("directories lie more than {MAX_DEPTH} deep; move the runbooks up"));
            return;
        }
        let listed = fs::metadata(dir).and_then(|metadata| {
            if let Some(message) = writable_by_others(&metadata) {
                self.complain(dir, message);
                return Ok(Vec::new());
            }
            fs::read_dir(dir)?.take(MAX_ENTRIES).map(|entry| entry.map(|entry| entry.file_name())).collect()
        });
        let mut names = match listed {
            Ok(names) => names,
            Err(error) => {
                self.complain(dir, format!("the directory can't be read: {error}"));
                return;
            }
        };
        names.sort_unstable();
        for name in names {
            self.entries += 1;
            if self.found.len() >= MAX_FILES || self.entries > MAX_ENTRIES {
                if self.entries <= MAX_ENTRIES + 1 {
                    self.complain(dir, format!("there are more than {MAX_FILES} runbooks; the rest is not loaded"));
                }
                self.entries = MAX_ENTRIES + 1;
                return;
            }
            let Some(name) = name.to_str() else { continue };
            if !name.starts_with('.') && !name.eq_ignore_ascii_case("readme.md") {
                self.entry(&dir.join(name), &format!("{prefix}{name}"), depth);
            }
        }
    }

    fn entry(&mut self, path: &Path, id: &str, depth: usize) {
        let stem = id.strip_suffix(".md");
        let resolved = fs::canonicalize(path).and_then(|real| fs::metadata(&real).map(|metadata| (real, metadata)));
        let (real, metadata) = match resolved {
            Ok(resolved) => resolved,
            Err(error) if stem.is_some() => return self.complain(path, format!("the file can't be read: {error}")),
            Err(_) => return,
        };
        if !real.starts_with(self.root) {
            if stem.is_some() || metadata.is_dir() {
                self.complain(path, "a link leads out of the runbook directory; put the file itself there".to_owned());
            }
            return;
        }
        if metadata.is_dir() {
            return self.directory(&real, &format!("{id}/"), depth + 1);
        }
        let Some(stem) = stem else { return };
        if !metadata.is_file() {
            return self.complain(path, "not a regular file; put a Markdown file there".to_owned());
        }
        if let Some(message) = writable_by_others(&metadata) {
            return self.complain(path, message);
        }
        match read_text(&real) {
            Ok(text) => self.found.push(Found { id: stem.to_owned(), file: path.to_path_buf(), text }),
            Err(message) => self.complain(path, message),
        }
    }

    fn complain(&mut self, path: &Path, message: String) {
        self.problems.push(problem(path, message));
    }
}

fn problem(path: &Path, message: String) -> Problem {
    Problem { file: path.to_path_buf(), line: None, message }
}

/// Reads at most what a runbook may hold, also of a file that grows meanwhile.
fn read_text(path: &Path) -> Result<String, String> {
    let file = fs::File::open(path).map_err(|error| format!("the file can't be read: {error}"))?;
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(|error| format!("the file can't be read: {error}"))?;
    if bytes.len() > MAX_BYTES {
        return Err(format!("the file is longer than {MAX_BYTES} bytes; split it"));
    }
    String::from_utf8(bytes)
        .map_err(|error| format!("byte {} is not UTF-8; save the file as UTF-8", error.utf8_error().valid_up_to() + 1))
}

#[cfg(unix)]
fn writable_by_others(metadata: &fs::Metadata) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    let mode = metadata.permissions().mode() & 0o7777;
    (mode & 0o022 != 0).then(|| {
        format!("others than its owner may write it (mode {mode:o}), so it is not loaded; run `chmod go-w` on it")
    })
}

#[cfg(not(unix))]
fn writable_by_others(_: &fs::Metadata) -> Option<String> {
    None
}
