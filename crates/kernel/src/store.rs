//! The trace of investigations: events, and the whole outputs that evidence stands on; and what came in and is noted
//! beside.
//!
//! Events are only appended. What is stored has been masked before; this module never sees a secret.

pub mod capture;

pub mod desk;

pub mod pages;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::db::{Database, DatabaseError};
use crate::domain::event::{Body, Event};
use crate::domain::name::{InvestigationId, NameError};
use crate::domain::run::Run;

use capture::Captured;
use desk::Durable;

/// Why the trace could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database said no.
    #[error("the trace could not be {doing}")]
    Database {
        /// What was being tried.
        doing: &'static str,
        /// Why.
        source: sqlx::Error,
    },
    /// An event is not in a form that this program knows.
    #[error("event {seq} of investigation `{investigation}` can't be read; it may be of a newer program")]
    Event {
        /// Which investigation.
        investigation: String,
        /// Which event.
        seq: i64,
        /// Why.
        source: serde_json::Error,
    },
    /// Something could not be written as JSON.
    #[error("the trace could not be put into JSON")]
    Json(#[source] serde_json::Error),
    /// There is no such investigation.
    #[error("there is no investigation `{0}`; `warrant investigations list` shows those there are")]
    NoInvestigation(String),
    /// Several match.
    #[error("`{0}` is the beginning or the end of several investigation ids; write more of it")]
    Ambiguous(String),
    /// A stored id is not an id.
    #[error("a stored id can't be read")]
    Name(#[source] NameError),
    /// A connection for what must survive a power cut could not be had.
    #[error("the store can't be written to")]
    Open(#[source] DatabaseError),
    /// Somebody else was faster; nothing was written.
    #[error("{0} has changed meanwhile")]
    Stale(String),
    /// What is stored is not in the form that was written.
    #[error("{0} in the store can't be read")]
    Damaged(&'static str),
    /// It was closed.
    #[error("the store was closed")]
    Closed,
}

/// One line of `investigations list`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Its id.
    pub id: InvestigationId,
    /// When it was opened.
    pub opened_at: String,
    /// The trigger's words.
    pub question: String,
    /// The service in question.
    pub service: Option<String>,
    /// When it ended; none while it runs or waits to be resumed.
    pub ended_at: Option<String>,
    /// How it ended.
    pub outcome: Option<String>,
}

/// The trace store.
#[derive(Debug, Clone)]
pub struct Store {
    database: Database,
    durable: Arc<Durable>,
}

impl Store {
    /// The store in an open database.
    #[must_use]
    pub fn new(database: Database) -> Self {
        Self { database, durable: Arc::default() }
    }

    /// Opens an investigation with its placeholders' key.
    ///
    /// # Errors
    /// [`StoreError::Database`]; nothing was written then.
    pub async fn open_investigation(&self, run: &Run, mask_key: &[u8]) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO investigation (id, opened_at, question, service, mask_key) VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(run.investigation.as_str())
        .bind(run.opened_at.to_string())
        .bind(run.trigger.text())
        .bind(run.service.as_ref().map(ToString::to_string))
        .bind(mask_key)
        .execute(self.database.pool())
        .await
        .map_err(|source| StoreError::Database { doing: "opened", source })?;
        Ok(())
    }

    /// Appends events, and the whole output that one of them stands on; all or none.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was written then. Two writers of one investigation collide here on the sequence number.
    pub async fn append(
        &self,
        investigation: &InvestigationId,
        events: &[Event],
        whole: Option<&Captured>,
    ) -> Result<(), StoreError> {
        let fail = |source| StoreError::Database { doing: "appended to", source };
        let mut transaction = self.database.pool().begin().await.map_err(fail)?;
        for event in events {
            let body = serde_json::to_string(event).map_err(StoreError::Json)?;
            sqlx::query("INSERT INTO event (investigation, seq, at, body) VALUES ($1, $2, $3, $4)")
                .bind(investigation.as_str())
                .bind(i64::try_from(event.seq).unwrap_or(i64::MAX))
                .bind(event.at.to_string())
                .bind(body)
                .execute(&mut *transaction)
                .await
                .map_err(fail)?;
            if let Body::Reported { report } = &event.body {
                sqlx::query("UPDATE investigation SET ended_at = $2, outcome = $3 WHERE id = $1")
                    .bind(investigation.as_str())
                    .bind(event.at.to_string())
                    .bind(report.outcome.as_str())
                    .execute(&mut *transaction)
                    .await
                    .map_err(fail)?;
            }
        }
        if let Some(whole) = whole {
            capture::insert(&mut transaction, investigation, whole).await?;
        }
        transaction.commit().await.map_err(fail)
    }

    /// All events of an investigation, in order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn events(&self, investigation: &InvestigationId) -> Result<Vec<Event>, StoreError> {
        let rows = sqlx::query("SELECT seq, body FROM event WHERE investigation = $1 ORDER BY seq")
            .bind(investigation.as_str())
            .fetch_all(self.database.pool())
            .await
            .map_err(reading)?;
        rows.iter()
            .map(|row| {
                let seq: i64 = row.try_get("seq").map_err(reading)?;
                let body: String = row.try_get("body").map_err(reading)?;
                serde_json::from_str(&body).map_err(|source| StoreError::Event {
                    investigation: investigation.to_string(),
                    seq,
                    source,
                })
            })
            .collect()
    }

    /// The key of an investigation's placeholders.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn mask_key(&self, investigation: &InvestigationId) -> Result<Vec<u8>, StoreError> {
        sqlx::query_scalar("SELECT mask_key FROM investigation WHERE id = $1")
            .bind(investigation.as_str())
            .fetch_optional(self.database.pool())
            .await
            .map_err(reading)?
            .ok_or_else(|| StoreError::NoInvestigation(investigation.to_string()))
    }

    /// Tokens that models have taken on the day (UTC) of `at`, over all investigations opened then or the day before.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn tokens_on_day_of(&self, at: Timestamp) -> Result<u64, StoreError> {
        let day = |at: Timestamp| at.strftime("%Y-%m-%d").to_string();
        let eve = at.checked_sub(SignedDuration::from_hours(24)).unwrap_or(Timestamp::MIN);
        // Only a model's answer has a usage. Days sort as text.
        let tokens: i64 = sqlx::query_scalar(
            "SELECT COALESCE(SUM(json_extract(body, '$.answer.usage.input') \
                               + json_extract(body, '$.answer.usage.output')), 0) \
             FROM event WHERE investigation IN (SELECT id FROM investigation WHERE opened_at >= $1) AND at >= $2",
        )
        .bind(day(eve))
        .bind(day(at))
        .fetch_one(self.database.pool())
        .await
        .map_err(reading)?;
        Ok(u64::try_from(tokens).unwrap_or(0))
    }

    /// The newest investigations first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn list(&self, limit: u32) -> Result<Vec<Summary>, StoreError> {
        sqlx::query(
            "SELECT id, opened_at, question, service, ended_at, outcome FROM investigation \
             ORDER BY opened_at DESC, id DESC LIMIT $1",
        )
        .bind(i64::from(limit))
        .fetch_all(self.database.pool())
        .await
        .map_err(reading)?
        .iter()
        .map(summary)
        .collect()
    }

    /// Investigations that have not ended, oldest first: those that run, and those that wait to be taken up again.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn unfinished(&self, since: Timestamp, limit: u32) -> Result<Vec<InvestigationId>, StoreError> {
        let found: Vec<String> = sqlx::query_scalar(
            "SELECT id FROM investigation WHERE ended_at IS NULL AND opened_at >= $1 ORDER BY opened_at, id LIMIT $2",
        )
        .bind(since.to_string())
        .bind(i64::from(limit))
        .fetch_all(self.database.pool())
        .await
        .map_err(reading)?;
        found.iter().map(|id| id.parse().map_err(StoreError::Name)).collect()
    }

    /// The investigation whose id is, or ends or begins with, `text`; four characters at least where it is not whole.
    ///
    /// # Errors
    /// [`StoreError::NoInvestigation`] and [`StoreError::Ambiguous`].
    pub async fn find(&self, text: &str) -> Result<InvestigationId, StoreError> {
        // Compared in SQL without LIKE: `%` and `_` in `text` mean themselves.
        let found: Vec<String> = sqlx::query_scalar(
            "SELECT id FROM investigation WHERE id = $1 OR length($1) >= 4 \
             AND (substr(id, 1, length($1)) = $1 OR substr(id, -length($1)) = $1) ORDER BY id = $1 DESC LIMIT 2",
        )
        .bind(text)
        .fetch_all(self.database.pool())
        .await
        .map_err(reading)?;
        match found.as_slice() {
            [] => Err(StoreError::NoInvestigation(text.chars().take(80).collect())),
            [one] => one.parse().map_err(StoreError::Name),
            [exact, _] if exact == text => exact.parse().map_err(StoreError::Name),
            [_, ..] => Err(StoreError::Ambiguous(text.chars().take(80).collect())),
        }
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Waits for what is under way and lets go of the file.
    pub async fn close(&self) {
        self.durable.close().await;
        self.database.close().await;
    }
}

fn reading(source: sqlx::Error) -> StoreError {
    StoreError::Database { doing: "read", source }
}

fn summary(row: &SqliteRow) -> Result<Summary, StoreError> {
    let id: String = row.try_get("id").map_err(reading)?;
    Ok(Summary {
        id: id.parse().map_err(StoreError::Name)?,
        opened_at: row.try_get("opened_at").map_err(reading)?,
        question: row.try_get("question").map_err(reading)?,
        service: row.try_get("service").map_err(reading)?,
        ended_at: row.try_get("ended_at").map_err(reading)?,
        outcome: row.try_get("outcome").map_err(reading)?,
    })
}

/// Makes the events of one append, numbered on from `last`, all at the same time.
#[must_use]
pub fn numbered(last: u64, at: Timestamp, bodies: Vec<Body>) -> Vec<Event> {
    (last + 1..).zip(bodies).map(|(seq, body)| Event { seq, at, schema: crate::domain::event::SCHEMA, body }).collect()
}
