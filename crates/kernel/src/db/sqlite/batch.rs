//! A [`Batch`] as one statement: an insert of its parts into the view that takes them apart.
//!
//! `0003_packed.sql` says what the columns mean for each part, and refuses what does not follow from what the writer
//! believes; [`refused`] tells those refusals apart.

use std::collections::BTreeMap;

use sqlx::{QueryBuilder, Sqlite};

use crate::db::storage::{Batch, Opening, StorageError};
use crate::domain::digest::Digest;
use crate::domain::hex::hex;

use super::rows::other;

/// A row of the view.
struct Part {
    what: &'static str,
    log: Option<&'static str>,
    seq: Option<i64>,
    kind: Option<String>,
    id: Option<Id>,
    hash: Option<Digest>,
    at: Option<String>,
    bytes: Option<Vec<u8>>,
    body: Option<String>,
}

enum Id {
    Epoch(i64),
    Text(String),
}

impl Part {
    fn new(what: &'static str) -> Self {
        Self { what, log: None, seq: None, kind: None, id: None, hash: None, at: None, bytes: None, body: None }
    }
}

/// The statement that is a batch.
pub(super) fn statement(batch: Batch) -> Result<QueryBuilder<Sqlite>, StorageError> {
    let mut query = QueryBuilder::new("INSERT INTO batch (part, log, seq, kind, id, hash, at, bytes, body) ");
    query.push_values(parts(batch)?, |mut row, part| {
        row.push_bind(part.what).push_bind(part.log).push_bind(part.seq).push_bind(part.kind);
        match part.id {
            Some(Id::Epoch(epoch)) => row.push_bind(epoch),
            Some(Id::Text(id)) => row.push_bind(id),
            None => row.push_bind(None::<i64>),
        };
        row.push_bind(part.hash.map(|hash| hash.as_bytes().to_vec()));
        row.push_bind(part.at).push_bind(part.bytes).push_bind(part.body);
    });
    Ok(query)
}

fn parts(batch: Batch) -> Result<Vec<Part>, StorageError> {
    let log = Some(batch.log.as_str());
    let mut parts = vec![Part {
        log,
        seq: Some(number(batch.expect_tail.map_or(0, |tail| tail.size))?),
        id: batch.epoch.map(|epoch| number(epoch).map(Id::Epoch)).transpose()?,
        hash: batch.expect_tail.map(|tail| tail.hash),
        ..Part::new("expected")
    }];
    // A sealing and what it takes away come first: the triggers want the record that tells of them to follow.
    for seal in batch.seals {
        let persons = serde_json::to_string(&seal.persons).map_err(|error| other("sealed", error))?;
        let (seq, id) = (Some(number(seal.seq)?), Some(Id::Text(seal.field)));
        parts.push(Part { log, seq, id, body: Some(persons), ..Part::new("sealing") });
    }
    for row in batch.records {
        parts.push(Part {
            log,
            seq: Some(number(row.seq)?),
            body: Some(packed(&row.openings)?),
            kind: Some(row.kind),
            hash: Some(row.hash),
            at: Some(row.at),
            bytes: Some(row.bytes),
            ..Part::new("record")
        });
    }
    for document in batch.documents {
        parts.push(Part {
            seq: Some(number(document.expect_revision)?),
            kind: Some(document.kind.as_str().to_owned()),
            id: Some(Id::Text(document.id)),
            body: Some(serde_json::to_string(&document.body).map_err(|error| other("written", error))?),
            ..Part::new("document")
        });
    }
    for (digest, body) in batch.texts {
        parts.push(Part { hash: Some(digest), body: Some(body), ..Part::new("text") });
    }
    Ok(parts)
}

fn number(number: u64) -> Result<i64, StorageError> {
    i64::try_from(number).map_err(|error| other("written to", error))
}

/// Openings as the column of that name holds them.
fn packed(openings: &[Opening]) -> Result<String, StorageError> {
    let all = openings.iter().map(|it| (it.field.as_str(), (hex(&it.salt), it.value.as_str())));
    serde_json::to_string(&all.collect::<BTreeMap<_, _>>()).map_err(|error| other("appended to", error))
}

/// What it means that the view refused a batch with these words.
pub(super) fn refused(message: &str) -> Option<StorageError> {
    match message {
        "another epoch" => Some(StorageError::Fenced),
        "another tail" => Some(StorageError::Stale("the ledger")),
        "another revision" => Some(StorageError::Stale("a document")),
        "no such opening" => Some(StorageError::Stale("the opening")),
        _ => None,
    }
}
