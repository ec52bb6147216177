//! The durable shelf that Slack's parts write on: the store, or a double that fails when a test says so.
//!
//! What a method returned `Ok` for is there after a power cut.

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value;
use warrant_kernel::store::desk::{Arrival, Note, NoteWrite, Received};
use warrant_kernel::store::{Store, StoreError};

/// The name under which arrivals from Slack are kept.
pub const CHANNEL: &str = "slack";

/// Why nothing was kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// Somebody else wrote meanwhile; read again.
    #[error("somebody else has written it meanwhile")]
    Stale,
    /// It can't be written or read.
    #[error("the store does not take it: {0}")]
    Store(String),
}

/// The shelf.
#[async_trait]
pub trait Keep: Send + Sync {
    /// Keeps what arrived, once.
    ///
    /// # Errors
    /// [`KeepError`]; it was not kept then.
    async fn receive(&self, key: &str, at: Timestamp, body: &Value) -> Result<Received, KeepError>;

    /// Writes a note, if its revision is still the one that was read (0 where there was none).
    ///
    /// # Errors
    /// [`KeepError::Stale`] where it is not.
    async fn write(&self, kind: &'static str, id: &str, revision: u64, body: Value) -> Result<(), KeepError>;

    /// A note.
    ///
    /// # Errors
    /// [`KeepError`].
    async fn note(&self, kind: &'static str, id: &str) -> Result<Option<Note>, KeepError>;

    /// Notes of a kind by their ids, from the first after `after` on.
    ///
    /// # Errors
    /// [`KeepError`].
    async fn notes(&self, kind: &'static str, after: &str, most: u32) -> Result<Vec<Note>, KeepError>;
}

fn kept(error: StoreError) -> KeepError {
    match error {
        StoreError::Stale(_) => KeepError::Stale,
        other => KeepError::Store(other.to_string()),
    }
}

#[async_trait]
impl Keep for Store {
    async fn receive(&self, key: &str, at: Timestamp, body: &Value) -> Result<Received, KeepError> {
        let arrival = Arrival { channel: CHANNEL, key, at, body };
        let received = Store::receive(self, &[arrival]).await.map_err(kept)?;
        received.first().copied().ok_or_else(|| KeepError::Store("it did not say whether it kept it".to_owned()))
    }

    async fn write(&self, kind: &'static str, id: &str, revision: u64, body: Value) -> Result<(), KeepError> {
        let note = NoteWrite { kind, id: id.to_owned(), expect_revision: revision, body };
        self.settle(&[], &[note]).await.map_err(kept)
    }

    async fn note(&self, kind: &'static str, id: &str) -> Result<Option<Note>, KeepError> {
        Store::note(self, kind, id).await.map_err(kept)
    }

    async fn notes(&self, kind: &'static str, after: &str, most: u32) -> Result<Vec<Note>, KeepError> {
        Store::notes(self, kind, after, most).await.map_err(kept)
    }
}
