//! Rows and errors of SQLite as the types of [`storage`](crate::db::storage).

use std::collections::BTreeMap;
use std::error::Error;

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::db::storage::{Document, Opening, Row, StorageError, Tail};
use crate::domain::digest::Digest;
use crate::domain::hex::unhex;

use super::batch;

/// A row of `ledger_record`.
pub(super) fn record_of(row: &SqliteRow) -> Result<Row, StorageError> {
    let seq = seq_of(row)?;
    let openings: &str = row.try_get("openings").map_err(reading)?;
    Ok(Row {
        seq,
        hash: digest(row.try_get("hash").map_err(reading)?)?,
        at: row.try_get("at").map_err(reading)?,
        kind: row.try_get("kind").map_err(reading)?,
        bytes: row.try_get("bytes").map_err(reading)?,
        openings: unpacked(openings).ok_or_else(|| damaged(&format!("the openings of record {seq}")))?,
    })
}

/// The openings that the column of that name holds, sorted by field.
fn unpacked(openings: &str) -> Option<Vec<Opening>> {
    let all: BTreeMap<String, (String, String)> = serde_json::from_str(openings).ok()?;
    let opening = |(field, (salt, value)): (String, (String, String))| {
        Some(Opening { field, salt: unhex(&salt)?.try_into().ok()?, value })
    };
    all.into_iter().map(opening).collect()
}

fn seq_of(row: &SqliteRow) -> Result<u64, StorageError> {
    let seq: i64 = row.try_get("seq").map_err(reading)?;
    u64::try_from(seq).map_err(|_| damaged("a record's number"))
}

/// The end of a log from columns `seq` and `hash`, both null while it is empty.
pub(super) fn tail_of(row: &SqliteRow) -> Result<Option<Tail>, StorageError> {
    let seq: Option<i64> = row.try_get("seq").map_err(reading)?;
    let hash: Option<Vec<u8>> = row.try_get("hash").map_err(reading)?;
    let (Some(seq), Some(hash)) = (seq, hash) else { return Ok(None) };
    let size =
        u64::try_from(seq).ok().and_then(|seq| seq.checked_add(1)).ok_or_else(|| damaged("a record's number"))?;
    Ok(Some(Tail { size, hash: digest(&hash)? }))
}

pub(super) fn document_of(row: &SqliteRow) -> Result<Document, StorageError> {
    let revision: i64 = row.try_get("revision").map_err(reading)?;
    let body: String = row.try_get("body").map_err(reading)?;
    Ok(Document {
        id: row.try_get("id").map_err(reading)?,
        revision: u64::try_from(revision).map_err(|_| damaged("a document's revision"))?,
        body: serde_json::from_str(&body).map_err(|_| damaged("a document"))?,
    })
}

pub(super) fn digest(bytes: &[u8]) -> Result<Digest, StorageError> {
    Digest::try_from(bytes).map_err(|_| damaged("a hash"))
}

fn damaged(what: &str) -> StorageError {
    StorageError::Damaged(what.to_owned())
}

pub(super) fn other(doing: &'static str, error: impl Error + Send + Sync + 'static) -> StorageError {
    StorageError::Other { doing, source: Box::new(error) }
}

/// The connection for commits is no longer there.
pub(super) fn closed() -> StorageError {
    other("written to", std::io::Error::other("the store was closed"))
}

pub(super) fn reading(error: sqlx::Error) -> StorageError {
    told("read", error)
}

pub(super) fn writing(error: sqlx::Error) -> StorageError {
    told("written to", error)
}

/// What an error of SQLite means: <https://www.sqlite.org/rescode.html>, the primary codes.
fn told(doing: &'static str, error: sqlx::Error) -> StorageError {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    let refused = error.as_database_error().and_then(|error| batch::refused(error.message()));
    if let (Some("1811"), Some(refused)) = (code.as_deref(), refused) {
        // SQLITE_CONSTRAINT_TRIGGER, with words of ours.
        return refused;
    }
    let primary = code.and_then(|code| code.parse::<i32>().ok()).map(|code| code & 0xff);
    match (primary, &error) {
        (Some(5 | 6), _) => StorageError::Busy,
        (Some(13), _) => StorageError::NoSpace,
        (Some(11 | 26), _) => StorageError::Damaged(error.to_string()),
        // 10 is IOERR; a worker that died or a closed connection leaves as open as it does whether a commit landed.
        (Some(10), _) | (_, sqlx::Error::Io(_) | sqlx::Error::WorkerCrashed) => {
            StorageError::Eio { doing, source: Box::new(error) }
        }
        (_, _) => StorageError::Other { doing, source: Box::new(error) },
    }
}
