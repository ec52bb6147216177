//! The trace page by page, for those who read it over a network: investigations from the newest on, events from one on.
//!
//! A reader who comes back names the last thing it has; nothing is held for it meanwhile.

use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::domain::event::Event;
use crate::domain::name::{InvestigationId, PersonId};

use super::{Store, StoreError, Summary, reading, summary};

/// One line of a list, with whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What the list shows.
    pub summary: Summary,
    /// For whom it runs; none where its first event is not written or can't be read.
    pub requester: Option<PersonId>,
}

/// Investigations with whose they are.
macro_rules! lines {
    ($which:literal) => {
        concat!(
            "SELECT id, opened_at, question, service, ended_at, outcome, (SELECT json_extract(body, ",
            "'$.run.requester.person') FROM event WHERE investigation = id AND seq = 1) AS requester ",
            "FROM investigation ",
            $which
        )
    };
}

impl Store {
    /// Investigations that were opened before this one, the newest first; the newest of all where none is named.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn lines_before(&self, before: Option<&InvestigationId>, most: u32) -> Result<Vec<Line>, StoreError> {
        // An id that is not there is before nothing.
        let rows = sqlx::query(lines!(
            "WHERE $1 IS NULL OR (opened_at, id) < (SELECT opened_at, id FROM investigation WHERE id = $1) \
             ORDER BY opened_at DESC, id DESC LIMIT $2"
        ))
        .bind(before.map(InvestigationId::as_str))
        .bind(i64::from(most))
        .fetch_all(self.database.pool())
        .await
        .map_err(reading)?;
        rows.iter().map(line).collect()
    }

    /// One investigation, by its whole id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn line(&self, id: &InvestigationId) -> Result<Option<Line>, StoreError> {
        let row = sqlx::query(lines!("WHERE id = $1"))
            .bind(id.as_str())
            .fetch_optional(self.database.pool())
            .await
            .map_err(reading)?;
        row.as_ref().map(line).transpose()
    }

    /// Events of an investigation after this one, in order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn events_after(
        &self,
        investigation: &InvestigationId,
        after: u64,
        most: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let rows =
            sqlx::query("SELECT seq, body FROM event WHERE investigation = $1 AND seq > $2 ORDER BY seq LIMIT $3")
                .bind(investigation.as_str())
                .bind(i64::try_from(after).unwrap_or(i64::MAX))
                .bind(i64::from(most))
                .fetch_all(self.database.pool())
                .await
                .map_err(reading)?;
        rows.iter()
            .map(|row| {
                let seq: i64 = row.try_get("seq").map_err(reading)?;
                let body: String = row.try_get("body").map_err(reading)?;
                let investigation = investigation.to_string();
                serde_json::from_str(&body).map_err(|source| StoreError::Event { investigation, seq, source })
            })
            .collect()
    }
}

fn line(row: &SqliteRow) -> Result<Line, StoreError> {
    let requester: Option<String> = row.try_get("requester").map_err(reading)?;
    Ok(Line { summary: summary(row)?, requester: requester.and_then(|person| person.parse().ok()) })
}
