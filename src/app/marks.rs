//! By what it is known whether files of the config's directories are still those that were read.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::config::Config;

/// Most entries looked at: where there are more, changes behind them are not seen.
const MOST: usize = 20_000;

/// Directories within one another that may hold runbooks.
const DEPTH: usize = 8;

/// What a file looks like from outside. Whatever writes to a file, or puts another in its place, changes one of these.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    inode: u64,
    mode: u32,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Mark {
    fn of(found: &Metadata) -> Self {
        Self {
            inode: found.ino(),
            mode: found.mode(),
            bytes: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

/// All files from which tools, policies and runbooks are read, as they look from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Marks {
    files: BTreeMap<PathBuf, Option<Mark>>,
}

impl Marks {
    /// Those of a config's directories. What can't be looked at has no mark, and gets one when it can.
    pub(super) fn of(config: &Config) -> Self {
        let mut marks = Self::default();
        for (dirs, extensions, depth) in [
            (&config.tool_dirs, &["toml"][..], 0),
            (&config.policy_dirs, &["cedar", "toml"], 0),
            (&config.runbook_dirs, &["md"], DEPTH),
        ] {
            for dir in dirs {
                marks.add(dir, extensions, depth);
            }
        }
        marks
    }

    fn add(&mut self, dir: &Path, extensions: &[&str], depth: usize) {
        // Who may write the directory decides whether it is read at all.
        let mode = fs::metadata(dir).ok();
        let seen = mode.map(|found| Mark { bytes: 0, modified: (0, 0), changed: (0, 0), ..Mark::of(&found) });
        self.files.insert(dir.to_owned(), seen);
        let Ok(entries) = fs::read_dir(dir) else { return };
        for entry in entries.flatten() {
            if self.files.len() >= MOST {
                return;
            }
            let path = entry.path();
            // A link counts by what it leads to: some put a new set in place by turning one link.
            let found = fs::metadata(&path).ok();
            if found.as_ref().is_some_and(Metadata::is_dir) {
                if depth > 0 {
                    self.add(&path, extensions, depth - 1);
                }
                continue;
            }
            let is_ours = path.extension().and_then(|it| it.to_str()).is_some_and(|it| extensions.contains(&it));
            if is_ours {
                self.files.insert(path, found.as_ref().map(Mark::of));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(dir: &Path) -> Config {
        let text = format!("[store]\npath = \"/tmp/x.db\"\n[runbooks]\ndirs = [\"{}\"]\n", dir.display());
        Config::parse(Path::new("warrant.toml"), &text).unwrap()
    }

    #[test]
    fn whatever_changes_in_a_file_that_is_read_is_seen_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let (config, book) = (config(dir.path()), dir.path().join("deep/pool.md"));
        let look = || Marks::of(&config);
        let mut last = look();
        let mut changes = |what: &str, does: &dyn Fn()| {
            does();
            let now = look();
            assert_ne!(now, last, "{what}");
            last = now;
        };
        fs::create_dir(dir.path().join("deep")).unwrap();
        changes("a new file", &|| fs::write(&book, "# A").unwrap());
        changes("another of the same size and time in its place", &|| {
            let time = fs::metadata(&book).unwrap().modified().unwrap();
            let aside = dir.path().join("aside");
            fs::write(&aside, "# B").unwrap();
            fs::File::options().write(true).open(&aside).unwrap().set_modified(time).unwrap();
            fs::rename(&aside, &book).unwrap();
        });
        changes("a link that leads elsewhere", &|| {
            let other = dir.path().join("other");
            fs::write(&other, "# C").unwrap();
            fs::remove_file(&book).unwrap();
            std::os::unix::fs::symlink(&other, &book).unwrap();
        });
        changes("a file less", &|| fs::remove_file(&book).unwrap());
        fs::write(dir.path().join(".pool.md.swp"), "half").unwrap();
        fs::write(dir.path().join("deep/notes.txt"), "no runbook").unwrap();
        assert_eq!(look(), last);
    }
}
