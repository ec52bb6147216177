//! The ledger: the permanent record of writes. Nothing deletes from it, and it proves itself.
//!
//! | module | does |
//! |---|---|
//! | [`record`] | what a record says and the bytes that stand for it |
//! | [`canonical`] | JSON in one form |
//! | [`tree`] | the Merkle tree and its proofs |
//! | [`note`] | keys, signed notes, checkpoints |
//! | [`chain`] | whether records prove themselves |
//! | [`receipt`] | what a warrant is issued against |
//! | [`publish`] | checkpoints leave the host |
//! | [`rotate`] | another key |
//! | [`seal`] | two persons take a value out |
//! | [`archive`] | reading, and the log of looks |
//! | [`verify`] | whether a log is the one that was written |
//!
//! One process appends, through [`Ledger`]: it holds the lease. A write is recorded as an intent before it is done, and
//! closed with its outcome after: [`Ledger`] alone makes the [`Receipt`] between the two. What cannot be recorded does not
//! happen.

pub mod record;

pub mod canonical;

pub mod tree;

pub mod note;

pub mod chain;

pub mod receipt;

pub mod publish;

pub mod rotate;

pub mod seal;

pub mod archive;

pub mod verify;

pub mod error;

mod key;

mod finish;

mod opening;

mod writer;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::{Mutex, Notify};

use crate::db::Database;
use crate::db::lease::Lease;
use crate::db::sqlite::Sqlite;
use crate::db::storage::{Document, DocumentKind, DocumentWrite, Find, Log, Row, Storage, StorageError};
use crate::domain::digest::Digest;

use archive::Archive;
use error::LedgerError;
use finish::{Finish, Waiting};
use receipt::Receipt;
use record::{Entry, RecordKind};
use writer::{Room, Writer};

/// An intent that is not durable by then is refused.
const DEADLINE: Duration = Duration::from_secs(2);

/// How often an outcome is tried again while others hold the store.
const TRIES: u32 = 5;

/// Tells the time.
pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Fills bytes that nobody can guess.
pub type Random = Arc<dyn Fn(&mut [u8]) -> Result<(), getrandom::Error> + Send + Sync>;

/// What a ledger needs beside its storage.
#[derive(Clone)]
pub struct Options {
    /// The file of its key. Made at first start.
    pub key: PathBuf,
    /// The clock.
    pub now: Now,
    /// Where salts and keys come from.
    pub random: Random,
    /// Who writes: the name of this machine, or `demo`. Stands in every record.
    pub instance: String,
    /// With which program. Stands in every record.
    pub build: String,
}

impl Options {
    /// With randomness of the system.
    #[must_use]
    pub fn new(key: PathBuf, now: Now, instance: String, build: String) -> Self {
        Self { key, now, random: Arc::new(getrandom::fill), instance, build }
    }
}

/// The ledger of a store, open for appending. Cloned handles share one writer.
#[derive(Clone)]
pub struct Ledger {
    storage: Arc<dyn Storage>,
    writer: Arc<Mutex<Writer>>,
    /// Something awaits a checkpoint.
    written: Arc<Notify>,
    _lease: Option<Arc<Lease>>,
}

impl Ledger {
    /// Opens the ledger of a store, begins it where there is none, and checks what was written since the last checkpoint.
    ///
    /// # Errors
    /// [`LedgerError`], where it can't be read, does not prove itself, or its key is missing or another.
    pub async fn open(database: &Database, lease: Lease, options: Options) -> Result<Self, LedgerError> {
        Self::over(Arc::new(Sqlite::new(database).await?), Some(lease), options).await
    }

    /// The ledger in any storage.
    pub(crate) async fn over(
        storage: Arc<dyn Storage>,
        lease: Option<Lease>,
        options: Options,
    ) -> Result<Self, LedgerError> {
        let writer = opening::open(storage.as_ref(), Log::Writes, options).await?;
        Ok(Self {
            storage,
            writer: Arc::new(Mutex::new(writer)),
            written: Arc::new(Notify::new()),
            _lease: lease.map(Arc::new),
        })
    }

    /// Appends records and writes documents, all or nothing; gives the records' numbers.
    pub(crate) async fn append(
        &self,
        entries: Vec<Entry>,
        documents: Vec<DocumentWrite>,
    ) -> Result<Vec<u64>, LedgerError> {
        let this = self.clone();
        Finish::of(async move |_| {
            let mut writer = this.writer.lock().await;
            this.write(&mut writer, &entries, documents, Room::Ordinary).await
        })
        .await
    }

    /// Records that a write is about to be done: `entries`, then the intent, and `documents`, all or nothing. The only
    /// maker of a [`Receipt`].
    ///
    /// # Errors
    /// [`LedgerError`]: nothing may be done then. An intent that lands after the deadline is closed as not executed.
    pub(crate) async fn intend(
        &self,
        mut entries: Vec<Entry>,
        intent: Entry,
        documents: Vec<DocumentWrite>,
    ) -> Result<Receipt, LedgerError> {
        let plan = intent.fields.get("plan_digest").and_then(Value::as_str).map(str::to_owned);
        entries.push(intent);
        let this = self.clone();
        let work = Finish::of(async move |waiting: Waiting| {
            let mut writer = this.writer.lock().await;
            let late = || LedgerError::Late(DEADLINE.as_secs());
            if waiting.is_over() {
                return Err(late());
            }
            let ended = this.intend_now(&mut writer, &entries, documents, plan).await;
            drop(writer);
            match ended {
                Ok(unheard) if waiting.is_over() => {
                    let outcome = Entry::new(RecordKind::Outcome)
                        .with("status", "not_executed")
                        .with("reason", "the intent became durable after its deadline");
                    if let Err(error) = this.close(unheard.seq(), outcome, Vec::new()).await {
                        tracing::error!("intent {} stays open: {error}", unheard.seq());
                    }
                    Err(late())
                }
                ended => ended,
            }
        });
        tokio::time::timeout(DEADLINE, work).await.unwrap_or_else(|_| Err(LedgerError::Late(DEADLINE.as_secs())))
    }

    async fn intend_now(
        &self,
        writer: &mut Writer,
        entries: &[Entry],
        documents: Vec<DocumentWrite>,
        plan: Option<String>,
    ) -> Result<Receipt, LedgerError> {
        // Without room for the outcome the write must not begin.
        self.storage.lay_ballast().await?;
        let written = self.write(writer, entries, documents, Room::Ordinary).await?;
        let seq = written.last().copied().unwrap_or_default();
        Ok(Receipt::new(seq, writer.last(), plan))
    }

    /// Closes an intent with what became of it. Finds room on a full disk, and waits while others hold the store.
    pub(crate) async fn close(
        &self,
        intent: u64,
        outcome: Entry,
        documents: Vec<DocumentWrite>,
    ) -> Result<u64, LedgerError> {
        self.close_with(intent, outcome, Vec::new(), documents).await
    }

    /// As [`Ledger::close`], with more records in the same commit, that tell what the outcome means.
    pub(crate) async fn close_with(
        &self,
        intent: u64,
        outcome: Entry,
        also: Vec<Entry>,
        documents: Vec<DocumentWrite>,
    ) -> Result<u64, LedgerError> {
        let this = self.clone();
        let entries: Vec<Entry> = std::iter::once(outcome.with("about", intent)).chain(also).collect();
        Finish::of(async move |_| {
            let mut tries = 1;
            loop {
                let mut writer = this.writer.lock().await;
                let ended = this.write(&mut writer, &entries, documents.clone(), Room::Outcome).await;
                drop(writer);
                match ended {
                    Err(LedgerError::Storage(StorageError::Busy)) if tries < TRIES => tries += 1,
                    ended => return ended.map(|seqs| seqs.first().copied().unwrap_or_default()),
                }
            }
        })
        .await
    }

    async fn write(
        &self,
        writer: &mut Writer,
        entries: &[Entry],
        documents: Vec<DocumentWrite>,
        room: Room,
    ) -> Result<Vec<u64>, LedgerError> {
        let seqs = writer.append(self.storage.as_ref(), entries, documents, Vec::new(), room).await?;
        if writer.is_due() {
            self.written.notify_one();
        }
        Ok(seqs)
    }

    /// Texts that came into force: recorded where they are not those of the last record of this kind, and kept forever.
    ///
    /// # Errors
    /// [`LedgerError`].
    pub async fn in_force(&self, kind: RecordKind, texts: &BTreeMap<String, String>) -> Result<(), LedgerError> {
        self.came_into_force(kind, texts, BTreeMap::new()).await
    }

    /// As [`Ledger::in_force`], with what else there is to say about it.
    ///
    /// # Errors
    /// [`LedgerError`].
    pub async fn came_into_force(
        &self,
        kind: RecordKind,
        texts: &BTreeMap<String, String>,
        said: BTreeMap<&'static str, Value>,
    ) -> Result<(), LedgerError> {
        // Whoever calls from outside the kernel records nothing else.
        if ![RecordKind::PolicyLoaded, RecordKind::ConfigChanged, RecordKind::PeopleChanged].contains(&kind) {
            let why = "only policies, config and people come into force".to_owned();
            return Err(LedgerError::Field { field: kind.as_str().to_owned(), why });
        }
        let digests = texts.iter().map(|(name, text)| (name.clone(), record::text_digest(text).to_string().into()));
        let digests = Value::Object(digests.collect());
        if self.last_in_force(kind).await?.as_ref() == Some(&digests) {
            return Ok(());
        }
        let fields = said.into_iter().chain([("texts", digests)]).collect();
        let texts = texts.values().cloned().collect();
        let entry = Entry { kind, investigation: None, fields, texts };
        self.append(vec![entry], Vec::new()).await.map(drop)
    }

    /// What the last record of this kind names: from the store where this process has written none.
    async fn last_in_force(&self, kind: RecordKind) -> Result<Option<Value>, LedgerError> {
        if let Some(known) = self.writer.lock().await.in_force.get(&kind) {
            return Ok(Some(known.clone()));
        }
        let kinds = [kind.as_str()];
        let last = self.storage.find(Log::Writes, Find::Kinds { kinds: &kinds, before: u64::MAX, most: 1 }).await?;
        let known = last.first().and_then(|row| row.openings.iter().find(|it| it.field == "texts"));
        Ok(known.and_then(|known| serde_json::from_str(&known.value).ok()))
    }

    /// Intents that nothing has closed: no outcome, no person who found out.
    pub(crate) async fn open_intents(&self) -> Result<Vec<Row>, LedgerError> {
        Ok(self.storage.find(Log::Writes, Find::OpenIntents).await?)
    }

    /// One document.
    pub(crate) async fn document(&self, kind: DocumentKind, id: &str) -> Result<Option<Document>, LedgerError> {
        Ok(self.storage.document(kind, id).await?)
    }

    /// All documents of a kind, by id. For kinds of which there are few.
    pub(crate) async fn documents(&self, kind: DocumentKind) -> Result<Vec<Document>, LedgerError> {
        Ok(self.storage.documents(kind, "", u32::MAX).await?)
    }

    /// Documents of a kind by their ids, from the first after `after` on, `most` at most.
    pub(crate) async fn documents_after(
        &self,
        kind: DocumentKind,
        after: &str,
        most: u32,
    ) -> Result<Vec<Document>, LedgerError> {
        Ok(self.storage.documents(kind, after, most).await?)
    }

    /// A text that was in force.
    ///
    /// # Errors
    /// [`LedgerError::NoText`].
    pub async fn text(&self, digest: Digest) -> Result<String, LedgerError> {
        self.storage.text(digest).await?.ok_or(LedgerError::NoText(digest))
    }

    /// The same ledger for reading.
    #[must_use]
    pub fn archive(&self) -> Archive {
        Archive::over(Arc::clone(&self.storage))
    }

    /// Waits for what is under way and lets go of the files. Close the store after it.
    pub async fn shut(self) {
        // Whoever writes has done so when the lock is free.
        drop(self.writer.lock().await);
        self.storage.close().await;
    }
}
