//! Letting notes and arrivals go that nobody asks for any more, a few at a time.

use jiff::Timestamp;
use sqlx::Row;

use crate::store::{Store, StoreError, reading};

use super::{Note, noted, stored};

/// A place among the notes of a kind in the order in which they were last written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    touched: i64,
    id: String,
}

impl Store {
    /// Notes of a kind that nobody has written since `before`, the oldest first, from the first behind `after` on; and the
    /// place of the last of them.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn untouched(
        &self,
        kind: &str,
        before: Timestamp,
        after: Option<&Place>,
        most: u32,
    ) -> Result<(Vec<Note>, Option<Place>), StoreError> {
        let (touched, id) = after.map_or((i64::MIN, ""), |place| (place.touched, place.id.as_str()));
        let rows = sqlx::query(
            "SELECT id, revision, body, touched FROM note \
             WHERE kind = $1 AND touched < $2 AND (touched, id) > ($3, $4) ORDER BY touched, id LIMIT $5",
        )
        .bind(kind)
        .bind(before.as_second())
        .bind(touched)
        .bind(id)
        .bind(i64::from(most))
        .fetch_all(self.database.pool())
        .await
        .map_err(reading)?;
        let last = match rows.last() {
            Some(row) => Some(Place {
                touched: row.try_get("touched").map_err(reading)?,
                id: row.try_get("id").map_err(reading)?,
            }),
            None => None,
        };
        Ok((rows.iter().map(noted).collect::<Result<_, _>>()?, last))
    }

    /// Lets notes go that are still as they were read. How many went.
    ///
    /// # Errors
    /// [`StoreError`]; then all of them are there.
    pub async fn let_go(&self, kind: &str, notes: &[Note]) -> Result<u64, StoreError> {
        let fail = |source| StoreError::Database { doing: "cleaned", source };
        let mut transaction = self.database.pool().begin_with("BEGIN IMMEDIATE").await.map_err(fail)?;
        let mut gone = 0;
        for note in notes {
            let done = sqlx::query("DELETE FROM note WHERE kind = $1 AND id = $2 AND revision = $3")
                .bind(kind)
                .bind(&note.id)
                .bind(stored(note.revision))
                .execute(&mut *transaction)
                .await
                .map_err(fail)?;
            gone += done.rows_affected();
        }
        transaction.commit().await.map_err(fail)?;
        Ok(gone)
    }

    /// Lets the keys of what was handled go, where it came before `before`, `most` of them: what is delivered again later is
    /// new. How many went.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn forget_arrivals(&self, before: Timestamp, most: u32) -> Result<u64, StoreError> {
        let done = sqlx::query(
            "DELETE FROM arrival WHERE number IN \
             (SELECT number FROM arrival WHERE body IS NULL AND at < $1 LIMIT $2)",
        )
        .bind(before.to_string())
        .bind(i64::from(most))
        .execute(self.database.pool())
        .await
        .map_err(|source| StoreError::Database { doing: "cleaned", source })?;
        Ok(done.rows_affected())
    }
}
