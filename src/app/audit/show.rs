//! `warrant audit show`: a write with all its records, and the proof that they are in the log.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};
use warrant_kernel::db::storage::{Find, Log};
use warrant_kernel::domain::digest::Digest;
use warrant_kernel::ledger::error::LedgerError;
use warrant_kernel::ledger::note::Checkpoint;
use warrant_kernel::ledger::record::RecordKind;
use warrant_kernel::ledger::tree::{Tree, includes, inclusion};

use super::{Reading, Told, list};
use crate::app::App;
use crate::app::fault::Fault;

/// What is shown of a write.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    /// What became of it; none for a record that is of no write.
    pub outcome: Option<String>,
    /// Its records, in order.
    pub records: Vec<Told>,
    /// Why they are believed.
    pub proof: Proof,
}

/// The proof that records are in a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// The last checkpoint that stands in the log; none before the first.
    pub checkpoint: Option<String>,
    /// How many records it covers.
    pub size: u64,
    /// The nodes from each record that it covers to its root (RFC 6962).
    pub paths: BTreeMap<u64, Vec<Digest>>,
    /// Records that came after it.
    pub not_yet_covered: Vec<u64>,
}

/// Shows the write of an approval (`A12`), or that which a record (`17`) belongs to.
///
/// # Errors
/// [`Fault::Usage`] where there is none, [`Fault::Ledger`].
pub async fn show(app: &App, id: &str) -> Result<Shown, Fault> {
    let reading = Reading::open(app).await?;
    reading.look(app, RecordKind::Looked, &[("command", json!("show")), ("id", json!(id))]).await?;
    let records = match id.parse::<u64>() {
        Ok(seq) => of_record(&reading, seq).await?,
        Err(_) => list::records(&reading, id).await?,
    };
    if records.is_empty() {
        let id: String = id.chars().take(80).collect();
        return Err(Fault::Usage(format!("the ledger knows no `{id}`; `warrant audit list` shows what there is")));
    }
    let proof = proof(&reading, &records).await?;
    reading.close().await;
    let is_write = records.iter().any(|it| it.fields.contains_key("approval"));
    Ok(Shown { outcome: is_write.then(|| list::outcome(&records)), records, proof })
}

async fn of_record(reading: &Reading, seq: u64) -> Result<Vec<Told>, Fault> {
    let row = reading.archive.records(Log::Writes, seq, 1).await?;
    let told = row.first().filter(|row| row.seq == seq).map(Told::of).ok_or(LedgerError::NoRecord(seq))?;
    match told.text("approval") {
        Some(approval) => list::records(reading, &approval).await,
        None => Ok(vec![told]),
    }
}

async fn proof(reading: &Reading, records: &[Told]) -> Result<Proof, Fault> {
    let kinds = [RecordKind::Checkpoint.as_str()];
    let find = Find::Kinds { kinds: &kinds, before: u64::MAX, most: 1 };
    let last = reading.archive.find(Log::Writes, find).await?;
    let note = last.first().map(Told::of).and_then(|told| told.text("note"));
    let says = note.as_deref().and_then(Checkpoint::unproved);
    let Some(says) = says else {
        let all = records.iter().map(|it| it.seq).collect();
        return Ok(Proof { checkpoint: None, size: 0, paths: BTreeMap::new(), not_yet_covered: all });
    };
    let mut leaves = reading.archive.hashes(Log::Writes).await?;
    leaves.truncate(usize::try_from(says.size).unwrap_or(usize::MAX));
    if Tree::of(&leaves).root() != says.root {
        return Err(damaged("the log is not the one that its last checkpoint signed"));
    }
    let mut paths = BTreeMap::new();
    for record in records.iter().filter(|it| it.seq < says.size) {
        let path = inclusion(&leaves, usize::try_from(record.seq).unwrap_or(usize::MAX));
        if !includes(&says.root, says.size, record.seq, &record.hash, &path) {
            return Err(damaged(&format!("record {} is not where it should be", record.seq)));
        }
        paths.insert(record.seq, path);
    }
    let not_yet_covered = records.iter().map(|it| it.seq).filter(|seq| *seq >= says.size).collect();
    Ok(Proof { checkpoint: note, size: says.size, paths, not_yet_covered })
}

fn damaged(what: &str) -> Fault {
    Fault::Failed(format!("{what}; run `warrant audit verify`"))
}

/// What stands in every record, told once.
const EVERYWHERE: [&str; 9] =
    ["approval", "build", "instance", "investigation", "requester", "source", "target", "target_kind", "tool"];

/// A write for people, a line each.
#[must_use]
pub fn lines(shown: &Shown) -> Vec<String> {
    let mut lines = Vec::new();
    if let (Some(outcome), Some(first)) = (&shown.outcome, shown.records.first()) {
        let text = |field: &str| first.text(field).unwrap_or_else(|| "(sealed)".to_owned());
        lines.push(format!("{}: {} on {} {}", text("approval"), text("tool"), text("target_kind"), text("target")));
        lines.push(format!("{outcome}; asked for by {} in {}", text("requester"), text("investigation")));
    }
    for record in &shown.records {
        let time = record.at.get(..19).unwrap_or(&record.at);
        lines.extend([String::new(), format!("{}  {time}Z  record {}", record.kind, record.seq)]);
        for (field, value) in &record.fields {
            if shown.outcome.is_none() || !EVERYWHERE.contains(&field.as_str()) {
                lines.extend(field_lines(field, value));
            }
        }
        lines.extend(record.sealed.iter().map(|field| format!("  {field}: (sealed)")));
    }
    lines.push(String::new());
    let covered: Vec<String> = shown.proof.paths.keys().map(ToString::to_string).collect();
    match &shown.proof.checkpoint {
        Some(note) => {
            lines.push(format!("Proved by the checkpoint of {} records: {}", shown.proof.size, covered.join(", ")));
            lines.extend(note.trim_end().lines().map(|line| format!("  {line}")));
        }
        None => lines.push("No checkpoint was signed yet.".to_owned()),
    }
    if !shown.proof.not_yet_covered.is_empty() {
        let seqs: Vec<String> = shown.proof.not_yet_covered.iter().map(ToString::to_string).collect();
        lines.push(format!("Not yet covered by a checkpoint: {}", seqs.join(", ")));
    }
    lines
}

/// A field, whatever is in it, beneath its name.
fn field_lines(field: &str, value: &Value) -> Vec<String> {
    lines_of(2, &format!("{field}: "), value)
}

fn lines_of(indent: usize, label: &str, value: &Value) -> Vec<String> {
    let line = |text: &str| format!("{:indent$}{label}{text}", "");
    // What has no name stands where its name would.
    let deeper = if label.is_empty() { indent } else { indent + 2 };
    let inner: Vec<String> = match value {
        Value::Null => Vec::new(),
        Value::String(text) if text.contains('\n') => {
            text.lines().map(|text| format!("{:deeper$}{text}", "")).collect()
        }
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => return vec![line(text)],
        Value::Bool(_) | Value::Number(_) => return vec![line(&value.to_string())],
        Value::Array(all) => all.iter().flat_map(|one| lines_of(deeper, "", one)).collect(),
        Value::Object(map) => {
            map.iter().flat_map(|(key, value)| lines_of(deeper, &format!("{key}: "), value)).collect()
        }
    };
    if inner.is_empty() || label.is_empty() {
        return inner;
    }
    std::iter::once(line("").trim_end().to_owned()).chain(inner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_reads_as_text_whatever_is_in_it() {
        let value = json!([
            { "evidence": "E3", "rows": ["10:02 pool exhausted", "10:03 pool exhausted"], "of": null },
            { "evidence": "E7", "rows": ["two\nlines"], "cut": true },
        ]);
        let lines = [
            field_lines("excerpts", &value),
            field_lines("diff", &json!(["-size = 5", "+size = 50"])),
            field_lines("quorum", &json!(1)),
            field_lines("reason", &json!("")),
        ];
        insta::assert_snapshot!(lines.concat().join("\n"), @r"
          excerpts:
            evidence: E3
            rows:
              10:02 pool exhausted
              10:03 pool exhausted
            evidence: E7
            rows:
              two
              lines
            cut: true
          diff:
            -size = 5
            +size = 50
          quorum: 1
        ");
    }
}
