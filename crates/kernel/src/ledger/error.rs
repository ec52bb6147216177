//! Why the ledger did not take or give something.

use std::path::PathBuf;

use crate::db::DatabaseError;
use crate::db::lease::LeaseError;
use crate::db::storage::StorageError;
use crate::domain::digest::Digest;

/// Why the ledger did not take or give something. Nothing that needs a record may happen then.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Another process writes to it.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// The store can't be opened.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The storage said no.
    #[error("the ledger did not take it")]
    Storage(#[from] StorageError),
    /// After an error that leaves open what is on the disk, nothing more is written by this process.
    #[error(
        "the ledger stopped taking records: {reason}; look at its disk, then start again and run `warrant audit verify`"
    )]
    Poisoned {
        /// What happened.
        reason: String,
    },
    /// The record did not become durable in time. If it lands later it is closed as not executed.
    #[error("the ledger did not confirm the record within {0} s")]
    Late(u64),
    /// A field can't be recorded: a number that is no whole one, or too large to be exact everywhere.
    #[error("the field `{field}` can't be recorded: {why}")]
    Field {
        /// Its name.
        field: String,
        /// Why.
        why: String,
    },
    /// What is stored does not prove itself.
    #[error("the ledger is damaged at record {seq}: {what}; run `warrant audit verify`")]
    Damaged {
        /// Where.
        seq: u64,
        /// What is wrong.
        what: String,
    },
    /// The key could not be made, read or replaced.
    #[error("can't {doing} the ledger's key `{path}`")]
    Key {
        /// What was being tried.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The key file holds something else.
    #[error("`{0}` holds no key of a ledger")]
    NoKey(PathBuf),
    /// The key is not the one that the log was begun or went on with.
    #[error("the key `{path}` is `{found}`, the ledger's is `{expected}`; put the ledger's key back")]
    OtherKey {
        /// The file.
        path: PathBuf,
        /// The public key in it.
        found: String,
        /// The public key in the log.
        expected: String,
    },
    /// There is no such record.
    #[error("there is no record {0}; `warrant audit list` shows those there are")]
    NoRecord(u64),
    /// Such a text was never kept.
    #[error("no text `{0}` was kept")]
    NoText(Digest),
    /// A sealing that lacks something.
    #[error("nothing was sealed: {0}")]
    NotSealed(String),
    /// No randomness is to be had.
    #[error("the system gives no random bytes")]
    Random(#[source] getrandom::Error),
}
