//! `[ledger]`: where the ledger's key lies, and where its checkpoints are kept.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What stands for the file of a checkpoint in `publish_command`.
pub const PLACE: &str = "{checkpoint}";

/// `[ledger]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ledger {
    key: Option<PathBuf>,
    /// What records call this machine; its host name where nothing is said.
    pub instance: Option<String>,
    /// A directory that takes checkpoints; best one of another machine's.
    pub publish_dir: Option<PathBuf>,
    /// A program that takes a checkpoint elsewhere: its absolute path, then its arguments.
    pub publish_command: Vec<String>,
}

impl Ledger {
    /// The file of the key: the one named, else one beside the store.
    #[must_use]
    pub fn key(&self, store: &Path) -> PathBuf {
        let mut beside = store.as_os_str().to_owned();
        beside.push(".key");
        self.key.clone().unwrap_or_else(|| PathBuf::from(beside))
    }

    /// What is wrong with it.
    pub(super) fn check(&self, problems: &mut Vec<String>) {
        if self.instance.as_ref().is_some_and(|name| name.trim().is_empty() || name.chars().count() > 200) {
            problems.push("`ledger.instance` must be a name of at most 200 characters".to_owned());
        }
        for (key, path) in [("key", &self.key), ("publish_dir", &self.publish_dir)] {
            if let Some(path) = path.as_ref().filter(|path| !path.is_absolute()) {
                problems.push(format!("`ledger.{key}` is `{}`; write an absolute path", path.display()));
            }
        }
        let Some((program, arguments)) = self.publish_command.split_first() else { return };
        if !Path::new(program).is_absolute() {
            problems
                .push(format!("`ledger.publish_command` begins with `{program}`; write the program's absolute path"));
        }
        if !arguments.iter().any(|argument| argument.contains(PLACE)) {
            problems.push(format!("`ledger.publish_command` has no argument with `{PLACE}`, the checkpoint's file"));
        }
    }
}
