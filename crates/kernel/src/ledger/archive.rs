//! Reading the ledger: by any process that may read the store, whoever holds the lease.
//!
//! Every look at what records say is recorded in a second log of the same form, [`Archive::look`], before anything is
//! shown.

use std::sync::Arc;

use serde_json::Value;

use crate::db::Database;
use crate::db::sqlite::Sqlite;
use crate::db::storage::{Find, Log, Row, Storage, StorageError, Tail};
use crate::domain::digest::Digest;
use crate::domain::name::PersonId;

use super::Options;
use super::error::LedgerError;
use super::opening;
use super::publish::noted;
use super::record::{Entry, RecordKind};
use super::writer::Room;

/// How often a look is recorded anew while others look too.
const TRIES: u32 = 8;

/// A checkpoint of the looks is recorded after so many, from which the next look goes on.
const LOOKS: u64 = 16;

/// The ledger of a store, open for reading.
#[derive(Clone)]
pub struct Archive {
    storage: Arc<dyn Storage>,
}

impl Archive {
    /// The archive of an open store.
    ///
    /// # Errors
    /// [`LedgerError::Database`].
    pub async fn open(database: &Database) -> Result<Self, LedgerError> {
        Ok(Self { storage: Arc::new(Sqlite::new(database).await?) })
    }

    pub(super) fn over(storage: Arc<dyn Storage>) -> Self {
        Self { storage }
    }

    /// Where a log ends; none while it is empty.
    ///
    /// # Errors
    /// [`LedgerError::Storage`].
    pub async fn tail(&self, log: Log) -> Result<Option<Tail>, LedgerError> {
        Ok(self.storage.tail(log).await?)
    }

    /// Records in order from a place on.
    ///
    /// # Errors
    /// [`LedgerError::Storage`].
    pub async fn records(&self, log: Log, from: u64, most: u32) -> Result<Vec<Row>, LedgerError> {
        Ok(self.storage.records(log, from, most).await?)
    }

    /// The hashes of all records.
    ///
    /// # Errors
    /// [`LedgerError::Storage`].
    pub async fn hashes(&self, log: Log) -> Result<Vec<Digest>, LedgerError> {
        Ok(self.storage.hashes(log, 0).await?)
    }

    /// Records by what they are about.
    ///
    /// # Errors
    /// [`LedgerError::Storage`].
    pub async fn find(&self, log: Log, find: Find<'_>) -> Result<Vec<Row>, LedgerError> {
        Ok(self.storage.find(log, find).await?)
    }

    /// A text that was in force.
    ///
    /// # Errors
    /// [`LedgerError::NoText`].
    pub async fn text(&self, digest: Digest) -> Result<String, LedgerError> {
        self.storage.text(digest).await?.ok_or(LedgerError::NoText(digest))
    }

    /// Records that a person looks at the ledger, or exports it. Nothing is recorded where there is no ledger.
    ///
    /// # Errors
    /// [`LedgerError`]: then nothing may be shown.
    pub async fn look(
        &self,
        kind: RecordKind,
        person: &PersonId,
        what: &[(&'static str, Value)],
        options: &Options,
    ) -> Result<(), LedgerError> {
        if self.tail(Log::Writes).await?.is_none() {
            return Ok(());
        }
        let entry = Entry::new(kind).with("person", person.as_str());
        let entry = what.iter().fold(entry, |entry, (field, value)| entry.with(field, value.clone()));
        let mut tries = 1;
        loop {
            match self.look_once(entry.clone(), options.clone()).await {
                // Others looked at the same time.
                Err(LedgerError::Storage(StorageError::Stale(_) | StorageError::Busy)) if tries < TRIES => tries += 1,
                ended => return ended,
            }
        }
    }

    async fn look_once(&self, entry: Entry, options: Options) -> Result<(), LedgerError> {
        let storage = self.storage.as_ref();
        let mut writer = opening::open(storage, Log::Looks, options).await?;
        writer.append(storage, &[entry], Vec::new(), Vec::new(), Room::Ordinary).await?;
        if writer.since_checkpoint() >= LOOKS {
            let (signed, edge) = writer.sign(storage).await?;
            writer.append(storage, &[noted(&signed, &edge, &[])], Vec::new(), Vec::new(), Room::Ordinary).await?;
        }
        Ok(())
    }

    /// Waits for what is under way and lets go of the files. Close the store after it.
    pub async fn shut(self) {
        self.storage.close().await;
    }
}
