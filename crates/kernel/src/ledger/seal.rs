//! Sealing: two persons take a value out of a record, and a record says so. The proof of all the rest stands.
//!
//! The first person's wish waits as a document; the second one's, for the same fields, does it.

use serde_json::{Value, json};

use crate::db::storage::{DocumentKind, DocumentWrite, Log, Seal};
use crate::domain::name::PersonId;

use super::Ledger;
use super::error::LedgerError;
use super::record::{Entry, RecordKind};
use super::writer::Room;

/// A person who wants something done, and how it is known that it was they.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// Who.
    pub person: PersonId,
    /// How proved: `uid 1000`, `token`.
    pub proved: String,
}

/// What shall be taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealing {
    /// Of which record.
    pub seq: u64,
    /// Which fields.
    pub fields: Vec<String>,
    /// Why. It stays.
    pub reason: String,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sealed {
    /// A second person has to ask for the same.
    Waits,
    /// It is done; the number of the record that says so.
    Done(u64),
}

/// What records are tied together and verified by stays.
const KEPT: [&str; 12] =
    ["about", "approval", "edge", "fields", "key", "note", "origin", "persons", "previous", "root", "size", "texts"];

impl Ledger {
    /// Asks for a sealing; the second person who asks for the same has it done.
    ///
    /// # Errors
    /// [`LedgerError::NotSealed`] and the other errors of the ledger.
    pub async fn seal(&self, sealing: &Sealing, by: &Consent) -> Result<Sealed, LedgerError> {
        let mut fields = sealing.fields.clone();
        fields.sort();
        fields.dedup();
        let refused = |why: String| Err(LedgerError::NotSealed(why));
        if sealing.reason.trim().is_empty() {
            return refused("say why".to_owned());
        }
        let found = self.storage.records(Log::Writes, sealing.seq, 1).await?;
        let row = found.first().ok_or(LedgerError::NoRecord(sealing.seq))?;
        let there: Vec<&str> = row.openings.iter().map(|it| it.field.as_str()).collect();
        if fields.is_empty() || fields.iter().any(|field| !there.contains(&field.as_str())) {
            return refused(format!("record {} has the fields {}", row.seq, there.join(", ")));
        }
        if let Some(kept) = fields.iter().find(|field| KEPT.contains(&field.as_str())) {
            return refused(format!("`{kept}` is what records are tied together by"));
        }

        let id = sealing.seq.to_string();
        let asked = self.storage.document(DocumentKind::Sealing, &id).await?;
        let revision = asked.as_ref().map_or(0, |asked| asked.revision);
        let first = asked.map(|asked| asked.body).filter(|body| body.get("fields") == Some(&json!(fields)));
        let first = first.filter(|body| body.get("done") == Some(&Value::Bool(false)));
        let write = |body: Value| {
            vec![DocumentWrite { kind: DocumentKind::Sealing, id: id.clone(), expect_revision: revision, body }]
        };
        let me = json!({ "person": by.person.as_str(), "proved": by.proved, "reason": sealing.reason });
        let other = first.and_then(|body| {
            let person = body.get("by")?.get("person")?.as_str()?.to_owned();
            (person != by.person.as_str()).then_some((person, body))
        });
        let Some((person, body)) = other else {
            self.append(Vec::new(), write(json!({ "fields": fields, "by": me, "done": false }))).await?;
            return Ok(Sealed::Waits);
        };
        let entry = Entry::new(RecordKind::Sealed)
            .with("about", sealing.seq)
            .with("fields", json!(fields))
            .with("persons", json!([body.get("by"), me]));
        let persons = [person, by.person.as_str().to_owned()];
        let seals =
            fields.iter().map(|field| Seal { seq: sealing.seq, field: field.clone(), persons: persons.clone() });
        let mut writer = self.writer.lock().await;
        // Afterwards the record can't be compared with what it was asked to say.
        writer.read_back(self.storage.as_ref()).await?;
        let documents = write(json!({ "fields": fields, "by": me, "done": true }));
        let storage = self.storage.as_ref();
        let seqs = writer.append(storage, &[entry], documents, seals.collect(), Room::Ordinary).await?;
        self.written.notify_one();
        Ok(Sealed::Done(seqs.first().copied().unwrap_or_default()))
    }
}
