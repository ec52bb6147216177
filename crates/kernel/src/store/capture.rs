//! Whole outputs, kept so that evidence can be paged through and cited.

use serde_json::Value;
use sha2::{Digest, Sha256};
use sqlx::{Row, SqliteConnection};

use super::{Store, StoreError, reading};
use crate::domain::hex::hex;
use crate::domain::name::{EvidenceId, InvestigationId};
use crate::domain::result::Origin;

/// The whole, masked output of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Captured {
    /// Which evidence.
    pub evidence: EvidenceId,
    /// The tool that brought it.
    pub tool: String,
    /// Whose words it holds.
    pub origin: Origin,
    /// The facts before the rows.
    pub summary: Value,
    /// The rows.
    pub rows: Vec<Value>,
}

/// A page of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The whole, with the rows asked for only.
    pub part: Captured,
    /// How many rows there are in all.
    pub total: u64,
}

/// Keeps the whole output of a call. A call that is carried out again on resume replaces it.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    investigation: &InvestigationId,
    whole: &Captured,
) -> Result<(), StoreError> {
    let fail = |source| StoreError::Database { doing: "written", source };
    let mut lines = Vec::new();
    for row in &whole.rows {
        serde_json::to_writer(&mut lines, row).map_err(StoreError::Json)?;
        lines.push(b'\n');
    }
    let digest = hex(&Sha256::digest(&lines));
    let origin = serde_json::to_string(&whole.origin).map_err(StoreError::Json)?;
    let summary = serde_json::to_string(&whole.summary).map_err(StoreError::Json)?;
    sqlx::query("INSERT INTO blob (digest, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING")
        .bind(&digest)
        .bind(&lines)
        .execute(&mut *connection)
        .await
        .map_err(fail)?;
    sqlx::query(
        "INSERT OR REPLACE INTO evidence (investigation, number, tool, origin, summary, total, rows_digest) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(investigation.as_str())
    .bind(i64::try_from(whole.evidence.number()).unwrap_or(i64::MAX))
    .bind(&whole.tool)
    .bind(origin)
    .bind(summary)
    .bind(i64::try_from(whole.rows.len()).unwrap_or(i64::MAX))
    .bind(&digest)
    .execute(&mut *connection)
    .await
    .map_err(fail)?;
    Ok(())
}

impl Store {
    /// Rows `from .. from + count` of a captured output; none where it was not captured.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn page(
        &self,
        investigation: &InvestigationId,
        evidence: EvidenceId,
        from: u64,
        count: u64,
    ) -> Result<Option<Page>, StoreError> {
        let Some(found) = sqlx::query(
            "SELECT tool, origin, summary, total, bytes FROM evidence \
             JOIN blob ON blob.digest = evidence.rows_digest WHERE investigation = $1 AND number = $2",
        )
        .bind(investigation.as_str())
        .bind(i64::try_from(evidence.number()).unwrap_or(i64::MAX))
        .fetch_optional(self.database().pool())
        .await
        .map_err(reading)?
        else {
            return Ok(None);
        };
        let text = |column: &str| found.try_get::<String, _>(column).map_err(reading);
        let bytes: Vec<u8> = found.try_get("bytes").map_err(reading)?;
        let total: i64 = found.try_get("total").map_err(reading)?;
        let skip = usize::try_from(from).unwrap_or(usize::MAX);
        let take = usize::try_from(count).unwrap_or(usize::MAX);
        let rows = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .skip(skip)
            .take(take)
            .map(serde_json::from_slice)
            .collect::<Result<Vec<Value>, _>>()
            .map_err(StoreError::Json)?;
        let part = Captured {
            evidence,
            tool: text("tool")?,
            origin: serde_json::from_str(&text("origin")?).map_err(StoreError::Json)?,
            summary: serde_json::from_str(&text("summary")?).map_err(StoreError::Json)?,
            rows,
        };
        Ok(Some(Page { part, total: u64::try_from(total).unwrap_or_default() }))
    }
}
