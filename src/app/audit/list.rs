//! `warrant audit list`: the writes, newest first, and what became of each.

use serde::Serialize;
use serde_json::{Value, json};
use warrant_kernel::db::storage::{Find, Log};
use warrant_kernel::ledger::record::RecordKind;

use super::{Reading, Told};
use crate::app::App;
use crate::app::fault::Fault;

/// A write, or one that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Write {
    /// The number of its first record.
    pub seq: u64,
    /// The approval that was asked for; none where it was refused before.
    pub approval: Option<String>,
    /// When it was proposed.
    pub at: String,
    /// The tool.
    pub tool: String,
    /// On what.
    pub target: String,
    /// Who approved, or who decided otherwise.
    pub persons: Vec<String>,
    /// What was asked for.
    pub tier: String,
    /// What became of it.
    pub outcome: String,
    /// In which investigation.
    pub investigation: Option<String>,
}

/// Which records to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Writes, a line each.
    Writes,
    /// Every record.
    All,
    /// Who looked at the ledger.
    Looks,
}

/// The newest writes.
///
/// # Errors
/// [`Fault::Ledger`].
pub async fn writes(app: &App, most: u32) -> Result<Vec<Write>, Fault> {
    let reading = Reading::open(app).await?;
    reading.look(app, RecordKind::Looked, &[("command", json!("list"))]).await?;
    let kinds = [RecordKind::Proposed.as_str(), RecordKind::Refused.as_str()];
    let find = Find::Kinds { kinds: &kinds, before: u64::MAX, most };
    let mut all = Vec::new();
    for row in reading.archive.find(Log::Writes, find).await? {
        let first = Told::of(&row);
        match first.text("approval") {
            // A vote that did not count belongs to its write.
            Some(_) if row.kind == RecordKind::Refused.as_str() => {}
            Some(approval) => all.push(write(&records(&reading, &approval).await?, &first)),
            None => all.push(write(&[], &first)),
        }
    }
    reading.close().await;
    Ok(all)
}

/// The newest records.
///
/// # Errors
/// [`Fault::Ledger`].
pub async fn records_of(app: &App, which: Which, most: u32) -> Result<Vec<Told>, Fault> {
    let reading = Reading::open(app).await?;
    let (log, command) = match which {
        Which::Writes | Which::All => (Log::Writes, "list --all"),
        Which::Looks => (Log::Looks, "list --looks"),
    };
    reading.look(app, RecordKind::Looked, &[("command", json!(command))]).await?;
    let kinds: Vec<&str> = RecordKind::ALL.iter().map(|kind| kind.as_str()).collect();
    let rows = reading.archive.find(log, Find::Kinds { kinds: &kinds, before: u64::MAX, most }).await?;
    reading.close().await;
    Ok(rows.iter().map(Told::of).collect())
}

/// All records of an approval, in order, with those that follow its intent.
pub(super) async fn records(reading: &Reading, approval: &str) -> Result<Vec<Told>, Fault> {
    let value = Value::from(approval).to_string();
    let find = Find::Field { field: "approval", value: &value };
    let mut rows = reading.archive.find(Log::Writes, find).await?;
    let intents: Vec<u64> =
        rows.iter().filter(|row| row.kind == RecordKind::Intent.as_str()).map(|row| row.seq).collect();
    for intent in intents {
        let value = intent.to_string();
        rows.extend(reading.archive.find(Log::Writes, Find::Field { field: "about", value: &value }).await?);
    }
    rows.sort_by_key(|row| row.seq);
    rows.dedup_by_key(|row| row.seq);
    Ok(rows.iter().map(Told::of).collect())
}

fn write(records: &[Told], first: &Told) -> Write {
    let text = |field: &str| first.text(field).unwrap_or_else(|| "sealed".to_owned());
    let decided = records.iter().rev().find(|it| it.kind == RecordKind::Decision.as_str());
    let approvers = decided.and_then(|it| it.fields.get("approvers")).and_then(Value::as_array);
    let mut persons: Vec<String> = approvers
        .into_iter()
        .flatten()
        .filter_map(|it| it.get("person").or(Some(it)).and_then(Value::as_str).map(str::to_owned))
        .collect();
    if persons.is_empty() {
        // Whoever denied it; where nobody was asked, the policy that let it pass.
        let by_policy = |it: &Told| it.text("policy_ids").map(|ids| format!("policy {ids}"));
        persons.extend(decided.and_then(|it| it.text("person").or_else(|| by_policy(it))));
    }
    Write {
        seq: first.seq,
        approval: first.text("approval"),
        at: first.at.clone(),
        tool: text("tool"),
        target: text("target"),
        persons,
        tier: text("tier"),
        outcome: if records.is_empty() { refusal(first) } else { outcome(records) },
        investigation: first.text("investigation"),
    }
}

fn refusal(record: &Told) -> String {
    let why = record.text("reason_code").or_else(|| record.text("reason"));
    why.map_or_else(|| "refused".to_owned(), |why| format!("refused: {why}"))
}

/// What the records of a write add up to.
#[must_use]
pub fn outcome(records: &[Told]) -> String {
    let mut state = "proposed".to_owned();
    let whose = records.first().and_then(|record| record.text("approval"));
    for record in records {
        let status = record.text("status");
        let status = status.as_deref();
        match (record.kind.as_str(), status) {
            ("approval_requested", _) => "waits for people".clone_into(&mut state),
            ("decision", Some("allowed")) => "approved".clone_into(&mut state),
            ("decision" | "outcome" | "unknown" | "resolved", Some(status)) => status.clone_into(&mut state),
            ("intent", _) => "begun, no outcome yet".clone_into(&mut state),
            ("unknown", None) => "unknown".clone_into(&mut state),
            ("verified", Some("held")) => state.push_str(", verified"),
            ("verified", Some("failed")) => state.push_str(", verification FAILED"),
            ("verified", _) => state.push_str(", could not be verified"),
            ("undo", _) if record.text("approval") != whose => state.push_str(", taken back"),
            ("expired" | "revoked" | "reopened", _) => record.kind.clone_into(&mut state),
            (_, _) => {}
        }
    }
    state
}
