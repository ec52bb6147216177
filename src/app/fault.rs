//! What a command can fail with, and the exit code that each has.

use std::path::PathBuf;

use warrant_kernel::db::DatabaseError;
use warrant_kernel::ledger::error::LedgerError;
use warrant_kernel::store::StoreError;

use crate::config::ConfigError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The config can't be read.
    #[error(transparent)]
    Load(#[from] ConfigError),
    /// The config, or a file that it names, is wrong.
    #[error("{}: {} to mend\n  {}", path.display(), counted(problems.len(), "thing"), problems.join("\n  "))]
    Config {
        /// The config.
        path: PathBuf,
        /// All that is wrong, a line each.
        problems: Vec<String>,
    },
    /// The command line asks for something that isn't there.
    #[error("{0}")]
    Usage(String),
    /// The store can't be opened.
    #[error(transparent)]
    Database(DatabaseError),
    /// The store can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The ledger can't be read or written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The sequencer said no to a person.
    #[error("{message} ({code})")]
    Refused {
        /// For programs, in upper case.
        code: String,
        /// For people.
        message: String,
    },
    /// Something else stood in the way.
    #[error("{0}")]
    Failed(String),
}

impl Fault {
    /// The exit code: 2 for usage and config, 1 for the rest.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Load(_) | Self::Config { .. } | Self::Usage(_) => 2,
            Self::Database(_) | Self::Store(_) | Self::Ledger(_) | Self::Refused { .. } | Self::Failed(_) => 1,
        }
    }
}

/// `1 thing`, `2 things`.
#[must_use]
pub fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// An error with all that lies beneath it, in one line.
#[must_use]
pub fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text.push_str(": ");
        text.push_str(&source.to_string());
        next = source.source();
    }
    text
}
