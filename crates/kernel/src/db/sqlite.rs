//! [`Storage`] in the SQLite file of the store.
//!
//! Commits go through one connection of their own with `synchronous=FULL`: they would survive a power cut on return.

mod batch;

mod rows;

use async_trait::async_trait;
use sqlx::{Connection as _, SqliteConnection, SqlitePool};
use tokio::sync::Mutex;

use crate::domain::digest::Digest;

use super::ballast::Ballast;
use super::present::Files;
use super::storage::{Batch, Document, DocumentKind, Find, Log, Row, Storage, StorageError, Tail};
use super::{Database, DatabaseError};

use rows::{closed, digest, document_of, other, reading, record_of, tail_of, writing};

/// The SQLite storage.
pub(crate) struct Sqlite {
    reads: SqlitePool,
    /// None once it is closed.
    durable: Mutex<Option<SqliteConnection>>,
    files: Files,
    ballast: Ballast,
}

impl Sqlite {
    /// The storage in an open database.
    pub(crate) async fn new(database: &Database) -> Result<Self, DatabaseError> {
        let durable = Mutex::new(Some(database.durable().await?));
        let files = Files::of(database.path())
            .map_err(|source| DatabaseError::File { path: database.path().to_owned(), source })?;
        Ok(Self { reads: database.pool().clone(), durable, files, ballast: Ballast::beside(database.path()) })
    }

    /// One batch is one statement: it is all of it or nothing, even where nobody waits for it any more.
    async fn write(&self, batch: Batch) -> Result<(), StorageError> {
        let mut query = batch::statement(batch)?;
        let mut durable = self.durable.lock().await;
        let connection = durable.as_mut().ok_or_else(closed)?;
        query.build().execute(connection).await.map(drop).map_err(writing)
    }
}

/// Records whose derived column has a value.
macro_rules! by {
    ($column:literal) => {
        concat!(
            "SELECT seq, hash, at, kind, bytes, openings FROM ledger_record WHERE log = $1 AND ",
            $column,
            " = $2 ORDER BY seq"
        )
    };
}

#[async_trait]
impl Storage for Sqlite {
    async fn tail(&self, log: Log) -> Result<Option<Tail>, StorageError> {
        let row = sqlx::query(
            "SELECT MAX(seq) AS seq, (SELECT hash FROM ledger_record WHERE log = $1 ORDER BY seq DESC LIMIT 1) AS hash \
             FROM ledger_record WHERE log = $1",
        )
        .bind(log.as_str())
        .fetch_one(&self.reads)
        .await
        .map_err(reading)?;
        tail_of(&row)
    }

    async fn records(&self, log: Log, from: u64, most: u32) -> Result<Vec<Row>, StorageError> {
        sqlx::query(
            "SELECT seq, hash, at, kind, bytes, openings FROM ledger_record \
             WHERE log = $1 AND seq >= $2 ORDER BY seq LIMIT $3",
        )
        .bind(log.as_str())
        .bind(i64::try_from(from).unwrap_or(i64::MAX))
        .bind(i64::from(most))
        .fetch_all(&self.reads)
        .await
        .map_err(reading)?
        .iter()
        .map(record_of)
        .collect()
    }

    async fn hashes(&self, log: Log, from: u64) -> Result<Vec<Digest>, StorageError> {
        sqlx::query_scalar::<_, Vec<u8>>("SELECT hash FROM ledger_record WHERE log = $1 AND seq >= $2 ORDER BY seq")
            .bind(log.as_str())
            .bind(i64::try_from(from).unwrap_or(i64::MAX))
            .fetch_all(&self.reads)
            .await
            .map_err(reading)?
            .iter()
            .map(|hash| digest(hash))
            .collect()
    }

    async fn find(&self, log: Log, find: Find<'_>) -> Result<Vec<Row>, StorageError> {
        let rows = match find {
            Find::Field { field, value } => {
                let query = match field {
                    "about" => by!("about"),
                    "approval" => by!("approval"),
                    "investigation" => by!("investigation"),
                    "target" => by!("target"),
                    _ => return Ok(Vec::new()),
                };
                sqlx::query(query).bind(log.as_str()).bind(value).fetch_all(&self.reads).await
            }
            Find::OpenIntents => {
                sqlx::query(
                    "SELECT seq, hash, at, kind, bytes, openings FROM ledger_record AS intent \
                     WHERE log = $1 AND kind = 'intent' AND NOT EXISTS ( \
                     SELECT 1 FROM ledger_record WHERE log = $1 AND about = CAST(intent.seq AS TEXT) \
                     AND kind IN ('outcome', 'resolved')) ORDER BY seq",
                )
                .bind(log.as_str())
                .fetch_all(&self.reads)
                .await
            }
            // By its index, where that gives the order as well: most kinds are rare.
            Find::Kinds { kinds: [kind], before, most } => {
                sqlx::query(
                    "SELECT seq, hash, at, kind, bytes, openings FROM ledger_record \
                     WHERE log = $1 AND kind = $2 AND seq < $3 ORDER BY seq DESC LIMIT $4",
                )
                .bind(log.as_str())
                .bind(kind)
                .bind(i64::try_from(before).unwrap_or(i64::MAX))
                .bind(i64::from(most))
                .fetch_all(&self.reads)
                .await
            }
            Find::Kinds { kinds, before, most } => {
                let kinds = serde_json::to_string(kinds).map_err(|error| other("read", error))?;
                sqlx::query(
                    "SELECT seq, hash, at, kind, bytes, openings FROM ledger_record WHERE log = $1 \
                     AND kind IN (SELECT value FROM json_each($2)) AND seq < $3 ORDER BY seq DESC LIMIT $4",
                )
                .bind(log.as_str())
                .bind(kinds)
                .bind(i64::try_from(before).unwrap_or(i64::MAX))
                .bind(i64::from(most))
                .fetch_all(&self.reads)
                .await
            }
        };
        rows.map_err(reading)?.iter().map(record_of).collect()
    }

    async fn document(&self, kind: DocumentKind, id: &str) -> Result<Option<Document>, StorageError> {
        sqlx::query("SELECT id, revision, body FROM document WHERE kind = $1 AND id = $2")
            .bind(kind.as_str())
            .bind(id)
            .fetch_optional(&self.reads)
            .await
            .map_err(reading)?
            .as_ref()
            .map(document_of)
            .transpose()
    }

    async fn documents(&self, kind: DocumentKind, after: &str, most: u32) -> Result<Vec<Document>, StorageError> {
        sqlx::query("SELECT id, revision, body FROM document WHERE kind = $1 AND id > $2 ORDER BY id LIMIT $3")
            .bind(kind.as_str())
            .bind(after)
            .bind(i64::from(most))
            .fetch_all(&self.reads)
            .await
            .map_err(reading)?
            .iter()
            .map(document_of)
            .collect()
    }

    async fn text(&self, digest: Digest) -> Result<Option<String>, StorageError> {
        sqlx::query_scalar("SELECT body FROM ledger_text WHERE digest = $1")
            .bind(digest.as_bytes().as_slice())
            .fetch_optional(&self.reads)
            .await
            .map_err(reading)
    }

    async fn commit(&self, batch: Batch) -> Result<(), StorageError> {
        let takes_away = !batch.seals.is_empty();
        self.write(batch).await?;
        // Afterwards: a file that goes while it is written to is gone as well.
        self.files.check()?;
        if takes_away {
            // What was sealed must not live on in SQLite's own log. It was committed, so an error is no refusal.
            let mut durable = self.durable.lock().await;
            let connection = durable.as_mut().ok_or_else(closed)?;
            if let Err(error) = sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").execute(connection).await {
                tracing::warn!(
                    "what was sealed stays in the store's write-ahead log until that is written again: {error}"
                );
            }
        }
        Ok(())
    }

    async fn raise_epoch(&self) -> Result<u64, StorageError> {
        let mut durable = self.durable.lock().await;
        let epoch: i64 = sqlx::query_scalar("UPDATE lease SET epoch = epoch + 1 RETURNING epoch")
            .fetch_one(durable.as_mut().ok_or_else(closed)?)
            .await
            .map_err(writing)?;
        u64::try_from(epoch).map_err(|error| other("taken over", error))
    }

    async fn present(&self) -> Result<(), StorageError> {
        self.files.check()
    }

    async fn lay_ballast(&self) -> Result<(), StorageError> {
        self.ballast.lay().await
    }

    async fn free_ballast(&self) -> Result<(), StorageError> {
        self.ballast.free().await
    }

    async fn close(&self) {
        if let Some(connection) = self.durable.lock().await.take()
            && let Err(error) = connection.close().await
        {
            tracing::warn!("the store was not closed as it should be: {error}");
        }
    }
}
