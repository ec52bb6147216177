//! [`Storage`] in the SQLite file of the store.
//!
//! Commits go through one connection of their own with `synchronous=FULL`: they would survive a power cut on return.

mod rows;

use async_trait::async_trait;
use sqlx::{Row as _, SqliteConnection, SqlitePool};

use crate::domain::digest::Digest;

use super::ballast::Ballast;
use super::present::Files;
use super::storage::{
    Batch, Document, DocumentKind, DocumentWrite, Find, INDEXED, Log, Row, Seal, Storage, StorageError, Tail,
};
use super::{Database, DatabaseError};

use rows::{digest, document_of, other, reading, tail_of, writing};

/// The SQLite storage.
pub(crate) struct Sqlite {
    reads: SqlitePool,
    durable: SqlitePool,
    files: Files,
    ballast: Ballast,
}

impl Sqlite {
    /// The storage in an open database.
    pub(crate) async fn new(database: &Database) -> Result<Self, DatabaseError> {
        let durable = database.durable().await?;
        let files = Files::of(database.path())
            .map_err(|source| DatabaseError::File { path: database.path().to_owned(), source })?;
        Ok(Self { reads: database.pool().clone(), durable, files, ballast: Ballast::beside(database.path()) })
    }

    fn reads(&self) -> &SqlitePool {
        &self.reads
    }

    /// In a task of its own: whoever waits may be dropped, and a transaction that nobody ends would be in the way of the
    /// next one.
    async fn write(&self, batch: Batch) -> Result<(), StorageError> {
        let durable = self.durable.clone();
        let task = tokio::spawn(async move {
            let mut connection = durable.acquire().await.map_err(writing)?;
            // By hand, since SQLite ends a transaction itself when the disk is full, which sqlx does not see.
            sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut *connection).await.map_err(writing)?;
            let ended = match put_all(&mut connection, &batch).await {
                Ok(()) => sqlx::raw_sql("COMMIT").execute(&mut *connection).await.map(drop).map_err(writing),
                Err(error) => Err(error),
            };
            if ended.is_err() {
                // It fails where the transaction has ended already, and nothing else is left to do with it.
                drop(sqlx::raw_sql("ROLLBACK").execute(&mut *connection).await);
            }
            ended
        });
        task.await.unwrap_or_else(|error| Err(StorageError::Eio { doing: "written to", source: Box::new(error) }))
    }
}

async fn put_all(connection: &mut SqliteConnection, batch: &Batch) -> Result<(), StorageError> {
    check(connection, batch).await?;
    // A sealing and what it takes away come first: the triggers want the record that tells of them to follow.
    let by = batch.expect_tail.map_or(0, |tail| tail.size);
    for seal in &batch.seals {
        sealed(connection, batch.log, by, seal).await?;
    }
    for row in &batch.records {
        append(connection, batch.log, row).await?;
    }
    for document in &batch.documents {
        put(connection, document).await?;
    }
    for (digest, body) in &batch.texts {
        sqlx::query(
            "INSERT INTO ledger_text (digest, body) \
             SELECT $1, $2 WHERE NOT EXISTS (SELECT 1 FROM ledger_text WHERE digest = $1)",
        )
        .bind(digest.as_bytes().as_slice())
        .bind(body)
        .execute(&mut *connection)
        .await
        .map_err(writing)?;
    }
    Ok(())
}

/// Whether the batch is by the one who may write, and about the log as it is.
async fn check(connection: &mut SqliteConnection, batch: &Batch) -> Result<(), StorageError> {
    let row = sqlx::query(
        "SELECT (SELECT epoch FROM lease) AS epoch, \
         (SELECT MAX(seq) FROM ledger_record WHERE log = $1) AS seq, \
         (SELECT hash FROM ledger_record WHERE log = $1 ORDER BY seq DESC LIMIT 1) AS hash",
    )
    .bind(batch.log.as_str())
    .fetch_one(connection)
    .await
    .map_err(writing)?;
    let epoch: i64 = row.try_get("epoch").map_err(writing)?;
    if batch.epoch.is_some_and(|ours| i64::try_from(ours) != Ok(epoch)) {
        return Err(StorageError::Fenced);
    }
    if tail_of(&row)? != batch.expect_tail {
        return Err(StorageError::Stale("the ledger"));
    }
    Ok(())
}

async fn append(connection: &mut SqliteConnection, log: Log, row: &Row) -> Result<(), StorageError> {
    let seq = i64::try_from(row.seq).map_err(|error| other("appended to", error))?;
    let openings = row.openings.iter().map(|it| (&it.field, crate::domain::hex::hex(&it.salt), &it.value));
    let openings = serde_json::to_string(&openings.collect::<Vec<_>>()).map_err(|error| other("appended to", error))?;
    sqlx::query(
        "INSERT INTO ledger_opening (log, seq, field, salt, value) SELECT $1, $2, \
         json_extract(value, '$[0]'), unhex(json_extract(value, '$[1]')), json_extract(value, '$[2]') FROM json_each($3)",
    )
    .bind(log.as_str())
    .bind(seq)
    .bind(openings)
    .execute(&mut *connection)
    .await
    .map_err(writing)?;
    sqlx::query("INSERT INTO ledger_record (log, seq, hash, at, kind, bytes) VALUES ($1, $2, $3, $4, $5, $6)")
        .bind(log.as_str())
        .bind(seq)
        .bind(row.hash.as_bytes().as_slice())
        .bind(&row.at)
        .bind(&row.kind)
        .bind(&row.bytes)
        .execute(connection)
        .await
        .map_err(writing)?;
    Ok(())
}

async fn put(connection: &mut SqliteConnection, document: &DocumentWrite) -> Result<(), StorageError> {
    let body = serde_json::to_string(&document.body).map_err(|error| other("written", error))?;
    let expected = i64::try_from(document.expect_revision).map_err(|error| other("written", error))?;
    let query = if expected == 0 {
        "INSERT INTO document (kind, id, revision, body) SELECT $1, $2, $3 + 1, $4 \
         WHERE NOT EXISTS (SELECT 1 FROM document WHERE kind = $1 AND id = $2)"
    } else {
        "UPDATE document SET revision = $3 + 1, body = $4 WHERE kind = $1 AND id = $2 AND revision = $3"
    };
    let done = sqlx::query(query)
        .bind(document.kind.as_str())
        .bind(&document.id)
        .bind(expected)
        .bind(body)
        .execute(connection)
        .await
        .map_err(writing)?;
    if done.rows_affected() == 1 { Ok(()) } else { Err(StorageError::Stale("a document")) }
}

async fn sealed(connection: &mut SqliteConnection, log: Log, by: u64, seal: &Seal) -> Result<(), StorageError> {
    let number = |seq: u64| i64::try_from(seq).map_err(|error| other("sealed", error));
    let [first, second] = &seal.persons;
    sqlx::query("INSERT INTO ledger_sealing (log, seq, field, by_seq, first, second) VALUES ($1, $2, $3, $4, $5, $6)")
        .bind(log.as_str())
        .bind(number(seal.seq)?)
        .bind(&seal.field)
        .bind(number(by)?)
        .bind(first)
        .bind(second)
        .execute(&mut *connection)
        .await
        .map_err(writing)?;
    let gone = sqlx::query("DELETE FROM ledger_opening WHERE log = $1 AND seq = $2 AND field = $3")
        .bind(log.as_str())
        .bind(number(seal.seq)?)
        .bind(&seal.field)
        .execute(connection)
        .await
        .map_err(writing)?;
    if gone.rows_affected() == 1 { Ok(()) } else { Err(StorageError::Stale("the opening")) }
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
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        let rows = sqlx::query(
            "SELECT seq, hash, at, kind, bytes FROM ledger_record WHERE log = $1 AND seq >= $2 ORDER BY seq LIMIT $3",
        )
        .bind(log.as_str())
        .bind(from)
        .bind(i64::from(most))
        .fetch_all(&self.reads)
        .await
        .map_err(reading)?;
        self.with_openings(log, rows).await
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
            Find::Field { field, value } if INDEXED.contains(&field) => {
                // The conditions on the field are those of the index, so that SQLite takes it.
                sqlx::query(
                    "SELECT seq, hash, at, kind, bytes FROM ledger_record WHERE log = $1 AND seq IN ( \
                     SELECT seq FROM ledger_opening WHERE log = $1 AND field = $2 AND value = $3 \
                     AND field IN ('about', 'approval', 'investigation', 'target')) ORDER BY seq",
                )
                .bind(log.as_str())
                .bind(field)
                .bind(value)
                .fetch_all(&self.reads)
                .await
            }
            Find::Field { .. } => Ok(Vec::new()),
            Find::OpenIntents => {
                sqlx::query(
                    "SELECT seq, hash, at, kind, bytes FROM ledger_record AS intent \
                     WHERE log = $1 AND kind = 'intent' AND NOT EXISTS ( \
                     SELECT 1 FROM ledger_opening AS it JOIN ledger_record AS closing \
                     ON closing.log = it.log AND closing.seq = it.seq AND closing.kind IN ('outcome', 'resolved') \
                     WHERE it.log = $1 AND it.field = 'about' AND it.value = CAST(intent.seq AS TEXT) \
                     AND it.field IN ('about', 'approval', 'investigation', 'target')) ORDER BY seq",
                )
                .bind(log.as_str())
                .fetch_all(&self.reads)
                .await
            }
            Find::Kinds { kinds, before, most } => {
                let kinds = serde_json::to_string(kinds).map_err(|error| other("read", error))?;
                sqlx::query(
                    "SELECT seq, hash, at, kind, bytes FROM ledger_record WHERE log = $1 \
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
        self.with_openings(log, rows.map_err(reading)?).await
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

    async fn documents(&self, kind: DocumentKind) -> Result<Vec<Document>, StorageError> {
        sqlx::query("SELECT id, revision, body FROM document WHERE kind = $1 ORDER BY id")
            .bind(kind.as_str())
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
        self.files.check()?;
        self.write(batch).await?;
        self.files.check()?;
        if takes_away {
            // What was sealed must not live on in SQLite's own log. It was committed, so an error is no refusal.
            if let Err(error) = sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").execute(&self.durable).await {
                tracing::warn!(
                    "what was sealed stays in the store's write-ahead log until that is written again: {error}"
                );
            }
        }
        Ok(())
    }

    async fn raise_epoch(&self) -> Result<u64, StorageError> {
        let epoch: i64 = sqlx::query_scalar("UPDATE lease SET epoch = epoch + 1 RETURNING epoch")
            .fetch_one(&self.durable)
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
        self.durable.close().await;
    }
}
