//! `[commands]`: whether programs are run that only look.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The section as it is written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Section {
    allow_readonly_shell: bool,
    pub(super) dirs: Vec<PathBuf>,
}

/// Whether programs are run that only look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// They are, in the sandbox.
    ReadOnly,
    /// None is.
    Off,
}

impl Section {
    pub(super) fn shell(&self) -> Shell {
        if self.allow_readonly_shell { Shell::ReadOnly } else { Shell::Off }
    }
}
