//! Rows and errors of SQLite as the types of [`storage`](crate::db::storage).

use std::collections::BTreeMap;
use std::error::Error;

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::db::storage::{Document, Log, Opening, Row, StorageError, Tail};
use crate::domain::digest::Digest;
use crate::domain::hex::unhex;

use super::Sqlite;

impl Sqlite {
    /// Rows of `ledger_record`, each with its openings.
    pub(super) async fn with_openings(&self, log: Log, rows: Vec<SqliteRow>) -> Result<Vec<Row>, StorageError> {
        let mut records = rows.iter().map(record_of).collect::<Result<Vec<Row>, StorageError>>()?;
        let places: BTreeMap<u64, usize> = records.iter().enumerate().map(|(place, row)| (row.seq, place)).collect();
        let seqs = places.keys().collect::<Vec<_>>();
        let seqs = serde_json::to_string(&seqs).map_err(|error| other("read", error))?;
        // One row a record: forty rows each would cost more than all the hashing.
        let openings = sqlx::query(
            "SELECT seq, json_group_array(json_array(field, lower(hex(salt)), value)) AS openings \
             FROM ledger_opening WHERE log = $1 AND seq IN (SELECT value FROM json_each($2)) GROUP BY seq",
        )
        .bind(log.as_str())
        .bind(seqs)
        .fetch_all(self.reads())
        .await
        .map_err(reading)?;
        for row in &openings {
            let text: String = row.try_get("openings").map_err(reading)?;
            let all: Vec<(String, String, String)> = serde_json::from_str(&text).map_err(|_| damaged("an opening"))?;
            let record = places.get(&seq_of(row)?).and_then(|place| records.get_mut(*place));
            let record = record.ok_or_else(|| damaged("an opening"))?;
            for (field, salt, value) in all {
                let salt = unhex(&salt).and_then(|salt| salt.try_into().ok()).ok_or_else(|| damaged("a salt"))?;
                record.openings.push(Opening { field, salt, value });
            }
            record.openings.sort_by(|a, b| a.field.cmp(&b.field));
        }
        Ok(records)
    }
}

fn record_of(row: &SqliteRow) -> Result<Row, StorageError> {
    Ok(Row {
        seq: seq_of(row)?,
        hash: digest(row.try_get("hash").map_err(reading)?)?,
        at: row.try_get("at").map_err(reading)?,
        kind: row.try_get("kind").map_err(reading)?,
        bytes: row.try_get("bytes").map_err(reading)?,
        openings: Vec::new(),
    })
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

pub(super) fn reading(error: sqlx::Error) -> StorageError {
    told("read", error)
}

pub(super) fn writing(error: sqlx::Error) -> StorageError {
    told("written to", error)
}

/// What an error of SQLite means: <https://www.sqlite.org/rescode.html>, the primary codes.
fn told(doing: &'static str, error: sqlx::Error) -> StorageError {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
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
