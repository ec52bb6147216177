//! The one writer of a log: makes records out of entries, appends them, and signs how far the log has come.
//!
//! After an error that leaves open what is on the disk it is poisoned: asking the disk again would prove nothing.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;
use tokio::time::Instant;

use crate::db::storage::{Batch, DocumentWrite, Log, Opening, Row, Seal, Storage, StorageError, Tail};
use crate::domain::digest::Digest;

use super::Options;
use super::chain::Chain;
use super::error::LedgerError;
use super::key::KeyFile;
use super::note::{Checkpoint, PrivateKey};
use super::publish::Signed;
use super::record::{self, Entry, RecordKind, text_digest};
use super::tree::Tree;

/// How many records are read back at a time.
const PAGE: u32 = 256;

/// How much a batch matters when the disk is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// It has to wait.
    Ordinary,
    /// Something was done: it must be written, with the space set aside for it.
    Outcome,
}

/// How soon a checkpoint has to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    No,
    Soon,
    Now,
}

/// The state of the one writer.
pub(super) struct Writer {
    pub(super) log: Log,
    pub(super) origin: String,
    pub(super) epoch: Option<u64>,
    pub(super) options: Options,
    pub(super) key: PrivateKey,
    pub(super) key_file: KeyFile,
    /// The tree over all records, and the hash of the last one.
    pub(super) tree: Tree,
    pub(super) last: Digest,
    pub(super) last_at: Option<Timestamp>,
    /// The tree and last record up to which what is stored was read back.
    pub(super) checked: Chain,
    /// Of the records after that: the digests of what they were asked to say.
    pub(super) asked: BTreeMap<u64, Digest>,
    /// What the last record of texts that came into force names, by its kind.
    pub(super) in_force: BTreeMap<RecordKind, Value>,
    pub(super) due: Due,
    /// Since when a record waits that no published checkpoint covers.
    pub(super) waiting: Option<Instant>,
    /// Records that no `checkpoint` record covers.
    pub(super) has_news: bool,
    /// How many records the last checkpoint covers that stands in the log.
    pub(super) covered: u64,
    pub(super) poisoned: Option<String>,
}

impl Writer {
    /// The hash of the last record.
    pub(super) fn last(&self) -> Digest {
        self.last
    }

    /// Whether a checkpoint has to be signed and published.
    pub(super) fn is_due(&self) -> bool {
        self.due > Due::No
    }

    /// How many records there are since the last checkpoint that stands in the log.
    pub(super) fn since_checkpoint(&self) -> u64 {
        self.tree.size() - self.covered
    }

    fn tail(&self) -> Option<Tail> {
        (self.tree.size() > 0).then(|| Tail { size: self.tree.size(), hash: self.last })
    }

    /// Nothing more is written from here on.
    pub(super) fn poison(&mut self, reason: String) -> LedgerError {
        tracing::error!("the ledger takes no more records: {reason}");
        self.poisoned = Some(reason.clone());
        LedgerError::Poisoned { reason }
    }

    /// Fails once it is poisoned.
    pub(super) fn sound(&self) -> Result<(), LedgerError> {
        match &self.poisoned {
            Some(reason) => Err(LedgerError::Poisoned { reason: reason.clone() }),
            None => Ok(()),
        }
    }

    /// Appends records, all or nothing; gives the numbers of those of `entries`.
    pub(super) async fn append(
        &mut self,
        storage: &dyn Storage,
        entries: &[Entry],
        documents: Vec<DocumentWrite>,
        seals: Vec<Seal>,
        room: Room,
    ) -> Result<Vec<u64>, LedgerError> {
        self.sound()?;
        // Only what is tried again is kept for that.
        let again = (room == Room::Outcome).then(|| (documents.clone(), seals.clone()));
        match (self.try_append(storage, entries, documents, seals).await, again) {
            (Err(LedgerError::Storage(StorageError::NoSpace)), Some((documents, seals))) => {
                tracing::error!("no space is left for the ledger; what was set aside for outcomes is used");
                storage.free_ballast().await?;
                let alarm = Entry::new(RecordKind::StorageAlarm).with("what", "no space left; the ballast was freed");
                let entries: Vec<Entry> = entries.iter().cloned().chain([alarm]).collect();
                let mut seqs = self.try_append(storage, &entries, documents, seals).await?;
                seqs.pop();
                Ok(seqs)
            }
            (ended, _) => ended,
        }
    }

    async fn try_append(
        &mut self,
        storage: &dyn Storage,
        entries: &[Entry],
        documents: Vec<DocumentWrite>,
        seals: Vec<Seal>,
    ) -> Result<Vec<u64>, LedgerError> {
        let at = (self.options.now)();
        let jump = self.last_at.filter(|last| at < *last).map(|last| {
            let (now, before) = (format!("{at:.9}"), format!("{last:.9}"));
            Entry::new(RecordKind::ClockJump).with("before", before).with("now", now)
        });
        // The record that tells of a sealing must be the first one after it: it says itself when it was.
        let jump = jump.filter(|_| seals.is_empty());
        let jumped = usize::from(jump.is_some());
        let mut rows: Vec<Row> = Vec::with_capacity(entries.len() + jumped);
        let mut asked = Vec::with_capacity(entries.len() + jumped);
        for entry in jump.iter().chain(entries) {
            let (seq, prev) = rows.last().map_or((self.tree.size(), self.last), |row: &Row| (row.seq + 1, row.hash));
            let values = self.values(entry)?;
            asked.push((seq, said(values.iter().map(|(field, value)| (field.as_str(), value.as_str())))));
            rows.push(record::row(seq, prev, at, entry.kind, self.salted(values)?));
        }
        let texts = entries.iter().flat_map(|entry| &entry.texts).map(|text| (text_digest(text), text.clone()));
        let hashes: Vec<(u64, Digest)> = rows.iter().map(|row| (row.seq, row.hash)).collect();
        let batch = Batch {
            log: self.log,
            expect_tail: self.tail(),
            epoch: self.epoch,
            records: rows,
            documents,
            texts: texts.collect(),
            seals,
        };
        if let Err(error) = storage.commit(batch).await {
            return Err(self.judge(error));
        }
        for (_, hash) in &hashes {
            self.tree.push(*hash);
            self.last = *hash;
        }
        let texts = entries.iter().filter_map(|entry| Some((entry.kind, entry.fields.get("texts")?.clone())));
        self.in_force.extend(texts);
        self.asked.extend(asked);
        self.last_at = Some(at);
        self.due = entries.iter().map(due).fold(self.due, Due::max);
        if self.is_due() {
            self.waiting.get_or_insert_with(Instant::now);
        }
        self.has_news |= entries.iter().any(|entry| entry.kind != RecordKind::Checkpoint);
        Ok(hashes.iter().skip(jumped).map(|(seq, _)| *seq).collect())
    }

    /// What an error of a commit means for the next one.
    fn judge(&mut self, error: StorageError) -> LedgerError {
        match error {
            StorageError::Eio { .. }
            | StorageError::Fenced
            | StorageError::Gone
            | StorageError::Damaged(_)
            | StorageError::Stale("the ledger") => {
                drop(self.poison(error.to_string()));
            }
            StorageError::NoSpace | StorageError::Busy | StorageError::Stale(_) | StorageError::Other { .. } => {}
        }
        LedgerError::Storage(error)
    }

    fn values(&self, entry: &Entry) -> Result<Vec<(String, String)>, LedgerError> {
        let always =
            BTreeMap::from([("build", self.options.build.clone()), ("instance", self.options.instance.clone())]);
        record::values(entry, &always).map_err(|(field, error)| LedgerError::Field { field, why: error.to_string() })
    }

    fn salted(&self, values: Vec<(String, String)>) -> Result<Vec<Opening>, LedgerError> {
        let mut salts = vec![[0; 16]; values.len()];
        (self.options.random)(salts.as_flattened_mut()).map_err(LedgerError::Random)?;
        Ok(values.into_iter().zip(salts).map(|((field, value), salt)| Opening { field, salt, value }).collect())
    }

    /// Reads back what was written since the last time and compares it with what was asked for: a bit that flipped on the
    /// way must not be signed.
    pub(super) async fn read_back(&mut self, storage: &dyn Storage) -> Result<(), LedgerError> {
        self.sound()?;
        while self.checked.tree().size() < self.tree.size() {
            let rows = storage.records(self.log, self.checked.tree().size(), PAGE).await?;
            if rows.is_empty() {
                return Err(self.poison("records that were written are not there".to_owned()));
            }
            for row in &rows {
                let asked = self.asked.remove(&row.seq);
                let says = said(row.openings.iter().map(|it| (it.field.as_str(), it.value.as_str())));
                let wrong = match self.checked.step(row) {
                    Err(what) => Some(what),
                    Ok(proved) if proved.missing.is_empty() && asked.is_some_and(|asked| asked != says) => {
                        Some("it does not say what it was asked to".to_owned())
                    }
                    Ok(_) => None,
                };
                if let Some(what) = wrong {
                    return Err(self.poison(format!("read back, record {} is not as written: {what}", row.seq)));
                }
            }
        }
        if *self.checked.tree() == self.tree {
            return Ok(());
        }
        Err(self.poison("read back, the log is not the one that was written".to_owned()))
    }

    /// How far the log has come, read back and signed, and the edge of its tree there.
    pub(super) async fn sign(&mut self, storage: &dyn Storage) -> Result<(Signed, Vec<Digest>), LedgerError> {
        self.read_back(storage).await?;
        let (origin, size, root) = (self.origin.clone(), self.tree.size(), self.tree.root());
        let checkpoint = Checkpoint { origin, size, root };
        let note = self.key.sign(&checkpoint.text());
        Ok((Signed { note, origin: checkpoint.origin, size, root }, self.tree.edge().to_vec()))
    }
}

/// The digest of what a record says: its fields and values in order.
fn said<'a>(values: impl Iterator<Item = (&'a str, &'a str)>) -> Digest {
    text_digest(&values.flat_map(|(field, value)| [field, "\n", value, "\n"]).collect::<String>())
}

fn due(entry: &Entry) -> Due {
    let is_high = entry.fields.get("tier").and_then(Value::as_str) == Some("high");
    match entry.kind {
        RecordKind::Checkpoint => Due::No,
        RecordKind::KeyRotated => Due::Now,
        _ if is_high => Due::Now,
        _ => Due::Soon,
    }
}
