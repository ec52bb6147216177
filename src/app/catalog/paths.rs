//! Finds the files that are named, and those of directories that are named.

use std::path::{Path, PathBuf};

use crate::app::files::{self, Found};

/// What such files are called in a directory.
const NAMES: [&str; 2] = ["catalog-info.yaml", "catalog-info.yml"];

/// Most files of one import.
const MOST_FILES: usize = 2_000;

/// Most entries of directories looked at.
const MOST_ENTRIES: usize = 50_000;

/// Deepest directory that is looked into.
const DEPTH: usize = 8;

/// Reads the files, each once; or says all that is wrong.
pub(super) fn read(from: &[PathBuf]) -> Result<Vec<Found>, Vec<String>> {
    let mut search = Search { files: Vec::new(), entries: 0, problems: Vec::new() };
    for path in from {
        if path.is_dir() {
            let before = search.files.len();
            search.directory(path, 0);
            if search.files.len() == before && search.problems.is_empty() {
                search.problems.push(format!("no `{}` lies beneath `{}`", NAMES.join("` or `"), path.display()));
            }
        } else {
            search.files.push(path.clone());
        }
    }
    search.files.sort();
    search.files.dedup();
    if search.files.len() > MOST_FILES {
        search.problems.push(format!("there are more than {MOST_FILES} files; import fewer at once"));
    }
    let mut found = Vec::new();
    if search.problems.is_empty() {
        for path in &search.files {
            match files::text(path) {
                Ok(text) => found.push(Found { name: path.display().to_string(), text, is_builtin: false }),
                Err(error) => search.problems.push(format!("can't read `{}`: {error}", path.display())),
            }
        }
    }
    if search.problems.is_empty() { Ok(found) } else { Err(search.problems) }
}

struct Search {
    files: Vec<PathBuf>,
    entries: usize,
    problems: Vec<String>,
}

impl Search {
    /// Links are not followed: what is taken over lies where it was said.
    fn directory(&mut self, dir: &Path, depth: usize) {
        let entries = match std::fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) => return self.problems.push(format!("can't read the directory `{}`: {error}", dir.display())),
        };
        for entry in entries.flatten() {
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                if self.entries == MOST_ENTRIES + 1 {
                    self.problems
                        .push(format!("there are more than {MOST_ENTRIES} entries; name directories farther down"));
                }
                return;
            }
            let (name, kind) = (entry.file_name(), entry.file_type());
            let Some(name) = name.to_str() else { continue };
            match kind {
                Ok(kind) if kind.is_dir() && depth < DEPTH && !name.starts_with('.') && name != "node_modules" => {
                    self.directory(&entry.path(), depth + 1);
                }
                Ok(kind) if kind.is_file() && NAMES.contains(&name) => self.files.push(entry.path()),
                Ok(_) | Err(_) => {}
            }
        }
    }
}
