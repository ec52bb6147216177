//! Checkpoints leave the host: at most a minute after a record, at once where the tier was high.
//!
//! What lies on the same machine proves nothing against whoever owns the machine; what was published elsewhere does.
//! Call [`Ledger::due`] and [`Ledger::publish`] in turn for as long as the ledger is open, and publish once more at the end.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout, timeout_at};

use crate::db::storage::StorageError;
use crate::domain::digest::Digest;

use super::Ledger;
use super::error::LedgerError;
use super::record::{Entry, RecordKind};
use super::writer::{Due, Room};

/// A checkpoint is signed at most so long after a record; the rest of the minute is for publishing it.
const INTERVAL: Duration = Duration::from_secs(30);

/// A publisher that has not answered by then has failed.
const PATIENCE: Duration = Duration::from_secs(15);

/// A checkpoint as it is published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The signed note.
    pub note: String,
    /// Of which log.
    pub origin: String,
    /// How many records the log has.
    pub size: u64,
    /// The root of the tree over them.
    pub root: Digest,
}

/// What became of a checkpoint at one publisher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The publisher's name.
    pub to: String,
    /// Why it failed, if it did.
    pub error: Option<String>,
}

/// Takes checkpoints to where they are kept.
#[async_trait]
pub trait Publisher: Send + Sync {
    /// Where to, for records and people.
    fn name(&self) -> &str;

    /// Publishes one. It is durable there on return.
    ///
    /// # Errors
    /// Why not, for people. It is tried again.
    async fn publish(&self, signed: &Signed) -> Result<(), String>;
}

impl Ledger {
    /// Waits until a checkpoint has to leave, or the files have to be looked at again.
    pub async fn due(&self) {
        let until = Instant::now() + INTERVAL;
        loop {
            if self.writer.lock().await.due == Due::Now {
                return;
            }
            if timeout_at(until, self.written.notified()).await.is_err() {
                return;
            }
        }
    }

    /// Checks that the files are still there, and where records were written reads them back, signs how far the log has
    /// come, publishes that, and records it.
    ///
    /// # Errors
    /// [`LedgerError::Poisoned`] where what is stored is not what was written: nothing is signed then.
    pub async fn publish(&self, publishers: &[Arc<dyn Publisher>]) -> Result<Vec<Published>, LedgerError> {
        let (signed, edge) = {
            let mut writer = self.writer.lock().await;
            writer.sound()?;
            if let Err(error) = self.storage.present().await {
                return Err(writer.poison(error.to_string()));
            }
            if writer.due == Due::No {
                return Ok(Vec::new());
            }
            let (signed, edge) = writer.sign(self.storage.as_ref()).await?;
            writer.due = Due::No;
            (signed, edge)
        };
        let mut all = Vec::new();
        for publisher in publishers {
            let ended = timeout(PATIENCE, publisher.publish(&signed)).await;
            let error = ended.unwrap_or_else(|_| Err(format!("no answer within {} s", PATIENCE.as_secs()))).err();
            if let Some(error) = &error {
                tracing::warn!("the checkpoint of {} records did not reach {}: {error}", signed.size, publisher.name());
            }
            all.push(Published { to: publisher.name().to_owned(), error });
        }
        let mut writer = self.writer.lock().await;
        if all.iter().any(|it| it.error.is_some()) {
            writer.due = writer.due.max(Due::Soon);
        } else if writer.due == Due::No {
            writer.waiting = None;
        }
        // What failed everywhere is tried again; recording each try would fill the log for as long as that goes on.
        let reached = all.is_empty() || all.iter().any(|it| it.error.is_none());
        if reached && writer.has_news {
            let entry = noted(&signed, &edge, &all);
            match self.write(&mut writer, &[entry], Vec::new(), Room::Ordinary).await {
                // What others wrote meanwhile is not covered.
                Ok(_) => writer.has_news = writer.tree.size() > signed.size + 1,
                // It was published; that it is not recorded yet stops nothing.
                Err(LedgerError::Storage(error @ (StorageError::Busy | StorageError::NoSpace))) => {
                    tracing::warn!("the checkpoint of {} records could not be recorded: {error}", signed.size);
                    writer.due = writer.due.max(Due::Soon);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    /// How long a record has been waiting to be covered by a checkpoint that was published everywhere; none where none does.
    pub async fn waiting(&self) -> Option<Duration> {
        self.writer.lock().await.waiting.map(|since| since.elapsed())
    }

    /// A checkpoint of the log as it is now, for an export. What is stored is read back before.
    ///
    /// # Errors
    /// [`LedgerError`].
    pub async fn checkpoint(&self) -> Result<Signed, LedgerError> {
        Ok(self.writer.lock().await.sign(self.storage.as_ref()).await?.0)
    }
}

/// The record of a checkpoint.
pub(super) fn noted(signed: &Signed, edge: &[Digest], published: &[Published]) -> Entry {
    let published = published.iter().map(|it| match &it.error {
        None => json!({ "to": it.to, "ok": true }),
        Some(error) => json!({ "to": it.to, "ok": false, "error": error }),
    });
    Entry::new(RecordKind::Checkpoint)
        .with("note", signed.note.as_str())
        .with("size", signed.size)
        .with("root", signed.root.to_string())
        .with("edge", Value::Array(edge.iter().map(|node| node.to_string().into()).collect()))
        .with("published", Value::Array(published.collect()))
}
