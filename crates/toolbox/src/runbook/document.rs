//! What a runbook is, once read. Made by [`crate::runbook::parse`] only.

use std::fmt;
use std::path::PathBuf;

use serde_json::{Map, Value};
use warrant_kernel::domain::name::{ServiceName, ToolName};

use crate::runbook::expect::Expect;

/// One runbook.
#[derive(Debug, Clone, PartialEq)]
pub struct Runbook {
    /// Its file's path beneath the runbook directory without `.md`: `disk-full`, `storage/CephOSDDown`.
    pub id: String,
    /// Where it was read from; built-in ones are `runbooks/NAME.md`.
    pub file: PathBuf,
    /// Its title.
    pub title: String,
    /// Names of the alerts it is for.
    pub alerts: Vec<String>,
    /// Services it is for; all of them where empty.
    pub services: Vec<ServiceName>,
    /// What people see when it applies, in their words.
    pub symptoms: Vec<String>,
    /// What to look at, in order.
    pub checks: Vec<Check>,
    /// What to do about it.
    pub remedies: Vec<Remedy>,
    /// Lower-case words of a changed key or file that make a recent change a candidate cause.
    pub change_words: Vec<String>,
    /// The Markdown below the front matter.
    pub text: String,
    /// The text by headings.
    pub sections: Vec<Section>,
}

/// What stands below one heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The heading; empty for what stands before the first one.
    pub heading: String,
    /// The text without markup.
    pub text: String,
    /// Words of the links in it.
    pub(super) links: String,
    /// The line of the heading in the file.
    pub line: usize,
}

/// A tool call and what its answer means.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Its name within the runbook.
    pub id: String,
    /// The tool to call.
    pub tool: ToolName,
    /// Its arguments, placeholders in them; see [`crate::runbook::fill`].
    pub args: Map<String, Value>,
    /// What must be so for the check to hold.
    pub expect: Expect,
    /// What it means when it holds.
    pub means: String,
    /// What is ruled out when it fails.
    pub rules_out: Option<String>,
    /// What holding shows.
    pub shows: Shows,
    /// Where it begins in the file.
    pub line: usize,
}

/// What a check shows when it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// That the trouble is there.
    Symptom,
    /// How it comes about. Why is then a change that fits, or not known.
    Mechanism,
    /// Why it is there.
    Cause,
}

/// Something to do about it: a write that can be proposed, or a text for people only. Texts become the report's next steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Remedy {
    /// In a sentence.
    pub text: String,
    /// The check that must have held for it to be proposed; any check will do where none is named.
    pub when: Option<String>,
    /// The write that does it; none where it is for people.
    pub write: Option<Deed>,
    /// What it needs to take effect, in order, unless the trouble is over without.
    pub then: Vec<Deed>,
    /// Smaller steps in its place, in order, where people refuse it or what follows it.
    pub lesser: Vec<Deed>,
    /// What else would help, for people.
    pub alternatives: Vec<String>,
    /// Where it begins in the file.
    pub line: usize,
}

impl Remedy {
    /// All writes that it names.
    pub fn deeds(&self) -> impl Iterator<Item = &Deed> {
        self.write.iter().chain(&self.then).chain(&self.lesser)
    }
}

/// A write that a remedy names.
#[derive(Debug, Clone, PartialEq)]
pub struct Deed {
    /// What it does, in a sentence.
    pub text: String,
    /// The tool to call.
    pub tool: ToolName,
    /// Its arguments, placeholders in them; see [`crate::runbook::fill`].
    pub args: Map<String, Value>,
}

/// Something wrong with a runbook file, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub struct Problem {
    /// The file or directory.
    pub file: PathBuf,
    /// The line, where the trouble has one.
    pub line: Option<usize>,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// What makes two spellings of an alert's name the same: letters and digits, case folded. `KubePodCrashLooping`,
/// `kube_pod_crash_looping` and `Kube Pod Crash Looping` are one name.
#[must_use]
pub fn alert_key(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
