//! The one seam through which approvals and the ledger are stored.
//!
//! `Storage` reads, and writes by `Storage::commit` alone: all of a [`Batch`] or nothing, durable on return. Nothing
//! in it changes or removes a record; what may go is an opening, in the batch that appends the record which says so.

use std::error::Error;

use async_trait::async_trait;
use serde_json::Value;

use crate::domain::digest::Digest;

/// Why something could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The disk failed. Whether a commit landed is not known, and asking the disk again would not tell.
    #[error("the disk failed while the ledger was {doing}")]
    Eio {
        /// What was being tried.
        doing: &'static str,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The disk is full; nothing was written.
    #[error("no space is left for the ledger; free some on its disk")]
    NoSpace,
    /// Others held the store for too long; nothing was written.
    #[error("the store is held by another process")]
    Busy,
    /// The log or a document has moved on since it was read; nothing was written.
    #[error("{0} has changed meanwhile")]
    Stale(&'static str),
    /// Another process has taken over the lease; nothing was written.
    #[error("another process has taken over the ledger")]
    Fenced,
    /// The file is not the one that was opened: removed, or another put in its place.
    #[error("the store's file was removed or replaced while it was open")]
    Gone,
    /// What is stored is not in the form that was written.
    #[error("what the ledger holds can't be read: {0}")]
    Damaged(String),
    /// Anything else; nothing was written.
    #[error("the ledger could not be {doing}")]
    Other {
        /// What was being tried.
        doing: &'static str,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// One of the two logs of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Log {
    /// What was changed, asked, decided: the ledger.
    Writes,
    /// Who looked at the ledger.
    Looks,
}

impl Log {
    /// Its name as stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Writes => "writes",
            Self::Looks => "looks",
        }
    }
}

/// The value that one commitment of a record stands for, and the salt that hides it there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// The field's name.
    pub field: String,
    /// Random bytes.
    pub salt: [u8; 16],
    /// The value as canonical JSON.
    pub value: String,
}

/// A record as it lies in storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its place in the log, from 0.
    pub seq: u64,
    /// The leaf hash of `bytes`; a column derived from them.
    pub hash: Digest,
    /// When it was written; derived.
    pub at: String,
    /// Its kind; derived.
    pub kind: String,
    /// The record: the truth that all else is derived from.
    pub bytes: Vec<u8>,
    /// The values that it commits to, sorted by field; those that were sealed are missing.
    pub openings: Vec<Opening>,
}

/// Where a log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tail {
    /// How many records there are.
    pub size: u64,
    /// The hash of the last one.
    pub hash: Digest,
}

/// Which records to look for.
#[derive(Debug, Clone, Copy)]
pub enum Find<'a> {
    /// Those whose field has this value, oldest first.
    Field {
        /// One of [`INDEXED`].
        field: &'a str,
        /// The value as canonical JSON.
        value: &'a str,
    },
    /// The newest of these kinds before a place in the log, newest first.
    Kinds {
        /// The kinds.
        kinds: &'a [&'a str],
        /// Only records before this one.
        before: u64,
        /// How many at most.
        most: u32,
    },
    /// The intents that no outcome and no person has closed, oldest first.
    OpenIntents,
}

/// The fields by which records are found.
pub const INDEXED: [&str; 4] = ["about", "approval", "investigation", "target"];

/// What is stored beside the ledger and changes: one JSON document with a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DocumentKind {
    /// A request for people's votes.
    Approval,
    /// A durable switch: stop-writes.
    Switch,
    /// A person's token.
    Token,
    /// A review that is still owed.
    Debt,
    /// A sealing that waits for its second person.
    Sealing,
}

impl DocumentKind {
    /// Its name as stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approval => "approval",
            Self::Switch => "switch",
            Self::Token => "token",
            Self::Debt => "debt",
            Self::Sealing => "sealing",
        }
    }
}

/// A document as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its id among those of its kind.
    pub id: String,
    /// Raised by every write, from 1.
    pub revision: u64,
    /// What it says.
    pub body: Value,
}

/// A document as it shall be.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentWrite {
    /// Its kind.
    pub kind: DocumentKind,
    /// Its id.
    pub id: String,
    /// The revision that was read; 0 where there must be none yet.
    pub expect_revision: u64,
    /// What it shall say.
    pub body: Value,
}

/// An opening that shall go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    /// Of which record.
    pub seq: u64,
    /// Which field.
    pub field: String,
    /// Two persons, not the same.
    pub persons: [String; 2],
}

/// One write: all of it, or nothing.
#[derive(Debug, Clone)]
pub struct Batch {
    /// To which log.
    pub log: Log,
    /// Where the writer believes that the log ends.
    pub expect_tail: Option<Tail>,
    /// The writer's epoch. Only looks, which anybody who may read appends, have none.
    pub epoch: Option<u64>,
    /// Appended.
    pub records: Vec<Row>,
    /// Written, each only over the revision that it expects.
    pub documents: Vec<DocumentWrite>,
    /// Kept forever by their digests.
    pub texts: Vec<(Digest, String)>,
    /// Openings that the first of `records`, a `sealed` one, takes away.
    pub seals: Vec<Seal>,
}

/// Where approvals and the ledger lie.
#[async_trait]
pub(crate) trait Storage: Send + Sync {
    /// Where a log ends; none while it is empty.
    async fn tail(&self, log: Log) -> Result<Option<Tail>, StorageError>;

    /// Records in order from a place on, `most` at most.
    async fn records(&self, log: Log, from: u64, most: u32) -> Result<Vec<Row>, StorageError>;

    /// The hashes of all records from a place on.
    async fn hashes(&self, log: Log, from: u64) -> Result<Vec<Digest>, StorageError>;

    /// Records by what they are about.
    async fn find(&self, log: Log, find: Find<'_>) -> Result<Vec<Row>, StorageError>;

    /// One document.
    async fn document(&self, kind: DocumentKind, id: &str) -> Result<Option<Document>, StorageError>;

    /// Documents of a kind by their ids, from the first after `after` on, `most` at most.
    async fn documents(&self, kind: DocumentKind, after: &str, most: u32) -> Result<Vec<Document>, StorageError>;

    /// A text that was kept.
    async fn text(&self, digest: Digest) -> Result<Option<String>, StorageError>;

    /// Writes a batch; it would survive a crash once this returns.
    async fn commit(&self, batch: Batch) -> Result<(), StorageError>;

    /// Takes over: every commit of an earlier epoch fails from here on.
    async fn raise_epoch(&self) -> Result<u64, StorageError>;

    /// Whether this is still the file that was opened.
    async fn present(&self) -> Result<(), StorageError>;

    /// Sets space aside for outcomes, unless it is.
    async fn lay_ballast(&self) -> Result<(), StorageError>;

    /// Gives the space that was set aside back.
    async fn free_ballast(&self) -> Result<(), StorageError>;

    /// Waits for what is under way and lets go of the files.
    async fn close(&self);
}
