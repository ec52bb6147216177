//! What came in and waits to be handled, and what is noted beside it.
//!
//! An arrival is kept before its sender is told that it came. It is handled in the one transaction that writes what came
//! of it as notes, so that a crash leaves either both or neither. All of it would survive a power cut on return.

pub mod letting_go;

use jiff::Timestamp;
use serde_json::Value;
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row, SqliteConnection};
use tokio::sync::{Mutex, MutexGuard};

use crate::db::{Database, DatabaseError};

use super::{Store, StoreError, reading};

/// Something from outside, masked.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// Where it came in.
    pub channel: &'a str,
    /// What a second delivery of the same thing has in common with the first.
    pub key: &'a str,
    /// When.
    pub at: Timestamp,
    /// What it says.
    pub body: &'a Value,
}

/// Whether something is here for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// It is, and has this number.
    New(u64),
    /// It was delivered before.
    Known,
}

/// An arrival that nobody has handled.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrived {
    /// Its number; later ones are higher.
    pub number: u64,
    /// The key of its deliveries.
    pub key: String,
    /// When it came.
    pub at: Timestamp,
    /// What it says.
    pub body: Value,
}

/// Something noted.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// Its id among those of its kind.
    pub id: String,
    /// Raised by every write, from 1.
    pub revision: u64,
    /// What it says.
    pub body: Value,
}

/// A note as it shall be.
#[derive(Debug, Clone, PartialEq)]
pub struct NoteWrite {
    /// Its kind.
    pub kind: &'static str,
    /// Its id.
    pub id: String,
    /// The revision that was read; 0 where there must be none yet.
    pub expect_revision: u64,
    /// What it shall say.
    pub body: Value,
}

/// The connection of its own that all of this is written through, opened when the first thing is written.
#[derive(Debug, Default)]
pub(super) struct Durable(Mutex<Option<SqliteConnection>>);

impl Durable {
    async fn lock(&self, database: &Database) -> Result<MutexGuard<'_, Option<SqliteConnection>>, DatabaseError> {
        let mut kept = self.0.lock().await;
        if kept.is_none() {
            *kept = Some(database.durable().await?);
        }
        Ok(kept)
    }

    pub(super) async fn close(&self) {
        if let Some(connection) = self.0.lock().await.take()
            && let Err(error) = connection.close().await
        {
            tracing::warn!(%error, "a connection to the store did not close");
        }
    }
}

impl Store {
    /// Keeps what arrived, each thing once; all of it, or nothing.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was kept, and whoever sent it should send it again.
    pub async fn receive(&self, arrivals: &[Arrival<'_>]) -> Result<Vec<Received>, StoreError> {
        let fail = |source| StoreError::Database { doing: "written to", source };
        let mut kept = self.durable.lock(&self.database).await.map_err(StoreError::Open)?;
        let Some(connection) = kept.as_mut() else { return Err(StoreError::Closed) };
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(fail)?;
        let mut received = Vec::with_capacity(arrivals.len());
        for arrival in arrivals {
            let body = serde_json::to_string(arrival.body).map_err(StoreError::Json)?;
            let number: Option<i64> = sqlx::query_scalar(
                "INSERT INTO arrival (channel, key, at, body) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (channel, key) DO NOTHING RETURNING number",
            )
            .bind(arrival.channel)
            .bind(arrival.key)
            .bind(arrival.at.to_string())
            .bind(body)
            .fetch_optional(&mut *transaction)
            .await
            .map_err(fail)?;
            let number = number.and_then(|number| u64::try_from(number).ok());
            received.push(number.map_or(Received::Known, Received::New));
        }
        transaction.commit().await.map_err(fail)?;
        Ok(received)
    }

    /// What nobody has handled yet, oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn arrived(&self, channel: &str, most: u32) -> Result<Vec<Arrived>, StoreError> {
        sqlx::query(
            "SELECT number, key, at, body FROM arrival WHERE channel = $1 AND body IS NOT NULL ORDER BY number LIMIT $2",
        )
        .bind(channel)
        .bind(i64::from(most))
        .fetch_all(self.database.pool())
        .await
        .map_err(reading)?
        .iter()
        .map(arrived)
        .collect()
    }

    /// Marks arrivals as handled and writes what came of them; all of it, or nothing.
    ///
    /// # Errors
    /// [`StoreError::Stale`] where somebody else has handled one of them or written one of the notes meanwhile.
    pub async fn settle(&self, handled: &[u64], notes: &[NoteWrite]) -> Result<(), StoreError> {
        let fail = |source| StoreError::Database { doing: "written to", source };
        let mut kept = self.durable.lock(&self.database).await.map_err(StoreError::Open)?;
        let Some(connection) = kept.as_mut() else { return Err(StoreError::Closed) };
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(fail)?;
        for number in handled {
            let done = sqlx::query("UPDATE arrival SET body = NULL WHERE number = $1 AND body IS NOT NULL")
                .bind(stored(*number))
                .execute(&mut *transaction)
                .await
                .map_err(fail)?;
            if done.rows_affected() != 1 {
                return Err(StoreError::Stale(format!("arrival {number}")));
            }
        }
        for note in notes {
            let body = serde_json::to_string(&note.body).map_err(StoreError::Json)?;
            let statement = if note.expect_revision == 0 {
                "INSERT INTO note (kind, id, revision, body, touched) VALUES ($1, $2, $3 + 1, $4, unixepoch()) \
                 ON CONFLICT DO NOTHING"
            } else {
                "UPDATE note SET revision = revision + 1, body = $4, touched = unixepoch() \
                 WHERE kind = $1 AND id = $2 AND revision = $3"
            };
            let done = sqlx::query(statement)
                .bind(note.kind)
                .bind(&note.id)
                .bind(stored(note.expect_revision))
                .bind(body)
                .execute(&mut *transaction)
                .await
                .map_err(fail)?;
            if done.rows_affected() != 1 {
                return Err(StoreError::Stale(format!("{} `{}`", note.kind, note.id)));
            }
        }
        transaction.commit().await.map_err(fail)
    }

    /// A note.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn note(&self, kind: &str, id: &str) -> Result<Option<Note>, StoreError> {
        sqlx::query("SELECT id, revision, body FROM note WHERE kind = $1 AND id = $2")
            .bind(kind)
            .bind(id)
            .fetch_optional(self.database.pool())
            .await
            .map_err(reading)?
            .as_ref()
            .map(noted)
            .transpose()
    }

    /// Notes of a kind by their ids, from the first after `after` on.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn notes(&self, kind: &str, after: &str, most: u32) -> Result<Vec<Note>, StoreError> {
        sqlx::query("SELECT id, revision, body FROM note WHERE kind = $1 AND id > $2 ORDER BY id LIMIT $3")
            .bind(kind)
            .bind(after)
            .bind(i64::from(most))
            .fetch_all(self.database.pool())
            .await
            .map_err(reading)?
            .iter()
            .map(noted)
            .collect()
    }

    /// Lets notes go; those that are not there already went.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn drop_notes(&self, kind: &str, ids: &[&str]) -> Result<(), StoreError> {
        let fail = |source| StoreError::Database { doing: "written to", source };
        let mut transaction = self.database.pool().begin_with("BEGIN IMMEDIATE").await.map_err(fail)?;
        for id in ids {
            sqlx::query("DELETE FROM note WHERE kind = $1 AND id = $2")
                .bind(kind)
                .bind(*id)
                .execute(&mut *transaction)
                .await
                .map_err(fail)?;
        }
        transaction.commit().await.map_err(fail)
    }
}

/// Numbers of ours are counted from 1 and never come near the end of what SQLite keeps.
fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unstored(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn arrived(row: &SqliteRow) -> Result<Arrived, StoreError> {
    let (at, body): (String, String) = (row.try_get("at").map_err(reading)?, row.try_get("body").map_err(reading)?);
    Ok(Arrived {
        number: unstored(row.try_get("number").map_err(reading)?),
        key: row.try_get("key").map_err(reading)?,
        at: at.parse().map_err(|_| StoreError::Damaged("the time of an arrival"))?,
        body: serde_json::from_str(&body).map_err(|_| StoreError::Damaged("an arrival"))?,
    })
}

fn noted(row: &SqliteRow) -> Result<Note, StoreError> {
    let body: String = row.try_get("body").map_err(reading)?;
    Ok(Note {
        id: row.try_get("id").map_err(reading)?,
        revision: unstored(row.try_get("revision").map_err(reading)?),
        body: serde_json::from_str(&body).map_err(|_| StoreError::Damaged("a note"))?,
    })
}

#[cfg(test)]
mod tests;
