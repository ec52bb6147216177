//! A record: what it says, what it commits to, and the bytes that stand for both.
//!
//! The bytes are canonical JSON and hold no value, only salted commitments, one a field. So a value can be sealed later
//! without breaking the hash chain, and nobody finds a sealed value by trying.

use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

use crate::db::storage::{Opening, Row};
use crate::domain::digest::Digest;
use crate::domain::hex::hex;
use crate::domain::name::InvestigationId;

use super::canonical::{CanonicalError, canonical, quote};
use super::tree::leaf_hash;

/// The form of records that this program writes.
pub const SCHEMA: u64 = 1;

/// A value longer than this as canonical JSON is cut, and what was cut stands there as its digest.
pub const MAX_VALUE: usize = 64 << 10;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal;)*) => {
        /// What a record is about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum RecordKind { $($(#[$doc])* $kind,)* }

        impl RecordKind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Its name in records.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }
        }
    };
}

kinds! {
    /// The log begins: its name and its key.
    LogOpened = "log_opened";
    /// Policies came into force.
    PolicyLoaded = "policy_loaded";
    /// Another config came into force.
    ConfigChanged = "config_changed";
    /// Persons or their groups changed.
    PeopleChanged = "people_changed";
    /// A write was proposed.
    Proposed = "proposed";
    /// People are asked.
    ApprovalRequested = "approval_requested";
    /// A person voted.
    Vote = "vote";
    /// What came of it.
    Decision = "decision";
    /// A write is about to be done.
    Intent = "intent";
    /// What became of it.
    Outcome = "outcome";
    /// Whether the effect is there.
    Verified = "verified";
    /// A write that takes an earlier one back.
    Undo = "undo";
    /// Nobody knows whether a write was done.
    Unknown = "unknown";
    /// A person found out.
    Resolved = "resolved";
    /// A write, or a known person's vote, that did not count.
    Refused = "refused";
    /// An approval ran out of time.
    Expired = "expired";
    /// An approval was taken back.
    Revoked = "revoked";
    /// A denied plan may be asked again.
    Reopened = "reopened";
    /// A person acted without the second one.
    BreakGlass = "break_glass";
    /// A review is owed.
    ReviewDue = "review_due";
    /// It was done.
    ReviewDone = "review_done";
    /// Nobody may write.
    WritesStopped = "writes_stopped";
    /// Writes may go on.
    WritesAllowed = "writes_allowed";
    /// Two persons had values taken out.
    Sealed = "sealed";
    /// The log goes on under another key.
    KeyRotated = "key_rotated";
    /// The clock went back.
    ClockJump = "clock_jump";
    /// The disk is nearly of no use.
    StorageAlarm = "storage_alarm";
    /// A checkpoint was signed.
    Checkpoint = "checkpoint";
    /// The ledger was exported.
    AuditExported = "audit_exported";
    /// Somebody looked at it (in the log of looks).
    Looked = "looked";
}

/// A record to be made. What its fields say has been masked before.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What it is about.
    pub kind: RecordKind,
    /// In which investigation.
    pub investigation: Option<InvestigationId>,
    /// What it says. `about` is the number of the record that it follows, `approval` the id of an approval.
    pub fields: BTreeMap<&'static str, Value>,
    /// Texts to keep forever by their digest: [`text_digest`].
    pub texts: Vec<String>,
}

impl Entry {
    /// A record that says nothing yet.
    #[must_use]
    pub fn new(kind: RecordKind) -> Self {
        Self { kind, investigation: None, fields: BTreeMap::new(), texts: Vec::new() }
    }

    /// In an investigation.
    #[must_use]
    pub fn of(mut self, investigation: &InvestigationId) -> Self {
        self.investigation = Some(investigation.clone());
        self
    }

    /// With a field.
    #[must_use]
    pub fn with(mut self, field: &'static str, value: impl Into<Value>) -> Self {
        self.fields.insert(field, value.into());
        self
    }
}

/// The digest under which a text is kept.
#[must_use]
pub fn text_digest(text: &str) -> Digest {
    Digest::new(Sha256::digest(text).into())
}

/// What binds a record to a value without showing it: SHA-256 over salt, field name, a zero byte, canonical value.
#[must_use]
pub fn commitment(opening: &Opening) -> Digest {
    let mut hash = Sha256::new();
    hash.update(opening.salt);
    hash.update(&opening.field);
    hash.update([0]);
    hash.update(&opening.value);
    Digest::new(hash.finalize().into())
}

/// The fields of an entry in canonical form, each value within [`MAX_VALUE`].
pub(super) fn values(
    entry: &Entry,
    always: &BTreeMap<&'static str, String>,
) -> Result<Vec<(String, String)>, (String, CanonicalError)> {
    let always: Vec<(&str, Value)> = always.iter().map(|(name, value)| (*name, value.as_str().into())).collect();
    let investigation = entry.investigation.as_ref().map(|id| Value::from(id.as_str()));
    let mut fields: BTreeMap<&str, &Value> = always.iter().map(|(name, value)| (*name, value)).collect();
    fields.extend(entry.fields.iter().map(|(name, value)| (*name, value)));
    fields.extend(investigation.iter().map(|id| ("investigation", id)));
    let fields = fields.into_iter();
    fields
        .map(|(name, value)| {
            bounded(value).map(|value| (name.to_owned(), value)).map_err(|error| (name.to_owned(), error))
        })
        .collect()
}

fn bounded(value: &Value) -> Result<String, CanonicalError> {
    let whole = canonical(value)?;
    if whole.len() <= MAX_VALUE {
        return Ok(whole);
    }
    // A text is cut as a text, anything else as the JSON that it is.
    let text = value.as_str().unwrap_or(&whole);
    // Escapes may take six bytes for one.
    let (kept, rest) = text.split_at(text.floor_char_boundary(MAX_VALUE / 8));
    canonical(
        &serde_json::json!({ "cut": kept, "rest_bytes": rest.len(), "rest_sha256": text_digest(rest).to_string() }),
    )
}

/// What stands in the bytes of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its place in the log.
    pub seq: u64,
    /// The hash of the record before, or the one that begins the log.
    pub prev: Digest,
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// Its kind.
    pub kind: String,
    /// What it commits to, by field.
    pub commitments: BTreeMap<String, Digest>,
}

/// Why bytes are no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its bytes are not in the form of a record")]
pub struct RecordError;

impl Record {
    /// The canonical bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut text = String::from("{\"commitments\":{");
        let mut before = "";
        for (field, commitment) in &self.commitments {
            text.push_str(before);
            quote(&mut text, field);
            text.push_str(":\"");
            text.push_str(&hex(commitment.as_bytes()));
            text.push('"');
            before = ",";
        }
        text.push_str("},\"kind\":");
        quote(&mut text, &self.kind);
        text.push_str(",\"prev\":\"");
        text.push_str(&hex(self.prev.as_bytes()));
        text.push_str("\",\"schema\":");
        text.push_str(&SCHEMA.to_string());
        text.push_str(",\"seq\":");
        text.push_str(&self.seq.to_string());
        text.push_str(",\"time\":");
        quote(&mut text, &self.at);
        text.push('}');
        text.into_bytes()
    }

    /// Reads bytes that are a record, and in the one form that a record has.
    ///
    /// # Errors
    /// [`RecordError`] for any other.
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordError> {
        let form: Form = serde_json::from_slice(bytes).map_err(|_| RecordError)?;
        let record =
            Self { seq: form.seq, prev: form.prev, at: form.time, kind: form.kind, commitments: form.commitments };
        if form.schema == SCHEMA && record.bytes() == bytes { Ok(record) } else { Err(RecordError) }
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    commitments: BTreeMap<String, Digest>,
    kind: String,
    prev: Digest,
    schema: u64,
    seq: u64,
    time: String,
}

/// Makes the row of a record.
pub(super) fn row(seq: u64, prev: Digest, at: Timestamp, kind: RecordKind, openings: Vec<Opening>) -> Row {
    let commitments = openings.iter().map(|opening| (opening.field.clone(), commitment(opening))).collect();
    let record = Record { seq, prev, at: format!("{at:.9}"), kind: kind.as_str().to_owned(), commitments };
    let bytes = record.bytes();
    Row { seq, hash: leaf_hash(&bytes), at: record.at, kind: record.kind, bytes, openings }
}
