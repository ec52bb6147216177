//! Verifying a log, of a store or of an export, against checkpoints kept elsewhere.
//!
//! [`Verifier::step`] takes every record in order; [`Verifier::finish`] says all that is wrong. The log alone shows a
//! record that does not fit; a cut end, an old copy, a fork and a history written anew show against a kept checkpoint only.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::db::storage::Row;
use crate::domain::digest::Digest;

use super::chain::Chain;
use super::note::{self, Checkpoint, PublicKey};
use super::opening::text;
use super::record::RecordKind;
use super::rotate::statement;
use super::tree::Tree;

/// Findings beyond this are counted only: one altered byte early may make thousands.
const MOST: usize = 100;

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The first record that it concerns.
    pub from: u64,
    /// The first one after those.
    pub to: u64,
    /// What is wrong.
    pub what: String,
}

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// Which log.
    pub origin: String,
    /// How many records it has.
    pub size: u64,
    /// The root of the tree over them.
    pub root: Digest,
    /// The public key that signs it now.
    pub key: Option<String>,
    /// All that signed it, the first one first.
    pub keys: Vec<String>,
    /// The sizes of the kept checkpoints that it agrees with.
    pub agrees_with: Vec<u64>,
    /// How many checkpoints in it are as they were signed.
    pub checkpoints: u64,
    /// How many values two persons have sealed.
    pub sealed: u64,
    /// All that is wrong.
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub more: u64,
}

/// A checkpoint that somebody kept.
struct Kept {
    note: String,
    says: Checkpoint,
    root: Option<Digest>,
}

/// A verification under way.
pub struct Verifier {
    chain: Option<Chain>,
    origin: String,
    keys: Vec<PublicKey>,
    more_keys: Vec<PublicKey>,
    pinned: Option<PublicKey>,
    kept: Vec<Kept>,
    leaves: Vec<Digest>,
    /// The tree at the last checkpoint that stands in the log.
    behind: Tree,
    checkpoints: u64,
    missing: BTreeSet<(u64, String)>,
    sealed: BTreeSet<(u64, String)>,
    findings: Vec<Finding>,
    more: u64,
}

impl Verifier {
    /// A verification against kept checkpoints, under a key that is known from elsewhere if there is one.
    #[must_use]
    pub fn new(kept: Vec<String>, pinned: Option<PublicKey>) -> Self {
        let mut this = Self {
            chain: None,
            origin: String::new(),
            keys: Vec::new(),
            more_keys: Vec::new(),
            pinned,
            kept: Vec::new(),
            leaves: Vec::new(),
            behind: Tree::default(),
            checkpoints: 0,
            missing: BTreeSet::new(),
            sealed: BTreeSet::new(),
            findings: Vec::new(),
            more: 0,
        };
        for note in kept {
            match Checkpoint::unproved(&note) {
                Some(says) => this.kept.push(Kept { note, says, root: None }),
                None => this.found(0, 0, "a file that was to be a kept checkpoint is none".to_owned()),
            }
        }
        this.kept.sort_by_key(|kept| kept.says.size);
        this
    }

    /// Under more keys: the log of looks is signed with those of the log of writes, which alone tells of their rotation.
    #[must_use]
    pub fn under(mut self, keys: &[String]) -> Self {
        self.more_keys.extend(keys.iter().filter_map(|key| key.parse().ok()));
        self
    }

    fn found(&mut self, from: u64, to: u64, what: String) {
        if self.findings.len() < MOST {
            self.findings.push(Finding { from, to, what });
        } else {
            self.more += 1;
        }
    }

    /// Takes the next record.
    pub fn step(&mut self, row: &Row) {
        let begins = self.chain.is_none();
        if begins {
            self.origin = text(row, "origin").unwrap_or_default();
        }
        let mut chain = self.chain.take().unwrap_or_else(|| Chain::begin(&self.origin));
        let seq = chain.tree().size();
        match chain.step(row) {
            Err(what) => self.found(seq, seq + 1, what),
            Ok(proved) => {
                self.missing.extend(proved.missing.into_iter().map(|field| (seq, field)));
                if begins {
                    self.begin(row);
                }
                if let Err(what) = self.meaning(row) {
                    self.found(seq, seq + 1, what);
                }
            }
        }
        self.leaves.push(chain.last());
        let size = chain.tree().size();
        if self.kept.iter().any(|kept| kept.says.size == size) {
            let root = chain.tree().root();
            for kept in self.kept.iter_mut().filter(|kept| kept.says.size == size) {
                kept.root = Some(root);
            }
        }
        self.chain = Some(chain);
    }

    fn begin(&mut self, row: &Row) {
        match text(row, "key").and_then(|key| key.parse().ok()) {
            Some(key) => {
                self.keys.push(key);
                self.keys.append(&mut self.more_keys);
            }
            None => self.found(0, 1, "it does not name the log's key".to_owned()),
        }
    }

    /// What a record says about the log itself.
    fn meaning(&mut self, row: &Row) -> Result<(), String> {
        if row.kind == RecordKind::Checkpoint.as_str() {
            self.checkpoint(row)
        } else if row.kind == RecordKind::KeyRotated.as_str() {
            self.rotation(row)
        } else if row.kind == RecordKind::Sealed.as_str() {
            self.sealing(row)
        } else {
            Ok(())
        }
    }

    fn checkpoint(&mut self, row: &Row) -> Result<(), String> {
        let key = self.keys.last().ok_or("there is no key to check its checkpoint with")?;
        let note = text(row, "note").ok_or("it holds no checkpoint")?;
        // Where the key was rotated while it was on its way, the one before signed it.
        let says = self.keys.iter().rev().find_map(|key| Checkpoint::open(&note, key).ok());
        let says = says.ok_or_else(|| format!("its checkpoint is not signed by `{}`", key.name()))?;
        if says.origin != self.origin {
            return Err("its checkpoint is of another log".to_owned());
        }
        if says.size < self.behind.size() || says.size > self.leaves.len() as u64 {
            return Err("its checkpoint is of a size that the log did not have then".to_owned());
        }
        let skip = usize::try_from(self.behind.size()).unwrap_or(usize::MAX);
        let take = usize::try_from(says.size - self.behind.size()).unwrap_or(usize::MAX);
        for leaf in self.leaves.iter().skip(skip).take(take) {
            self.behind.push(*leaf);
        }
        if self.behind.root() != says.root {
            return Err(format!("the first {} records are not those that its checkpoint signed", says.size));
        }
        self.checkpoints += 1;
        Ok(())
    }

    fn rotation(&mut self, row: &Row) -> Result<(), String> {
        let old = self.keys.last().ok_or("there is no key to rotate")?;
        let next: PublicKey =
            text(row, "key").and_then(|key| key.parse().ok()).ok_or("it does not name the next key")?;
        let note = text(row, "note").unwrap_or_default();
        let signed = note::open(&note, old).is_ok_and(|text| text == statement(&self.origin, &next));
        if !signed {
            return Err("the key before did not sign the next one".to_owned());
        }
        self.keys.push(next);
        Ok(())
    }

    fn sealing(&mut self, row: &Row) -> Result<(), String> {
        let value = |field: &str| {
            let opening = row.openings.iter().find(|it| it.field == field);
            opening.and_then(|it| serde_json::from_str::<Value>(&it.value).ok()).unwrap_or_default()
        };
        let about = value("about").as_u64().ok_or("it does not say what was sealed")?;
        let persons = value("persons");
        let persons: BTreeSet<&str> = persons
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|person| person.get("person").and_then(Value::as_str))
            .collect();
        if persons.len() < 2 {
            return Err("two persons have to seal".to_owned());
        }
        let fields = value("fields");
        let fields = fields.as_array().into_iter().flatten().filter_map(Value::as_str);
        self.sealed.extend(fields.map(|field| (about, field.to_owned())));
        Ok(())
    }

    /// All that is wrong.
    #[must_use]
    pub fn finish(mut self) -> Verified {
        let size = self.leaves.len() as u64;
        let root = self.chain.as_ref().map_or_else(|| Tree::default().root(), |chain| chain.tree().root());
        for (seq, field) in std::mem::take(&mut self.missing) {
            if !self.sealed.contains(&(seq, field.clone())) {
                self.found(seq, seq + 1, format!("its value of `{field}` is missing, and nobody sealed it"));
            }
        }
        let agrees_with = self.compare(size);
        self.findings.sort_by_key(|finding| finding.from);
        Verified {
            origin: self.origin,
            size,
            root,
            key: self.keys.last().map(ToString::to_string),
            keys: self.keys.iter().map(ToString::to_string).collect(),
            agrees_with,
            checkpoints: self.checkpoints,
            sealed: self.sealed.len() as u64,
            findings: self.findings,
            more: self.more,
        }
    }

    /// Compares with the kept checkpoints, smallest first; gives the sizes of those that agree.
    fn compare(&mut self, size: u64) -> Vec<u64> {
        let mut agrees_with = Vec::new();
        if let Some(pinned) = self.pinned.clone().filter(|pinned| !self.keys.contains(pinned)) {
            self.found(0, 1, format!("the log was not begun or continued under the key `{pinned}`"));
        }
        for kept in std::mem::take(&mut self.kept) {
            let Kept { note, says, root } = kept;
            let keys: Vec<PublicKey> = self.pinned.clone().map_or_else(|| self.keys.clone(), |key| vec![key]);
            // Under a pinned key, those that it handed over to count as well.
            let after = self.pinned.as_ref().and_then(|pinned| self.keys.iter().position(|key| key == pinned));
            let keys: Vec<PublicKey> = after.map_or(keys, |from| self.keys.iter().skip(from).cloned().collect());
            let good = keys.iter().any(|key| Checkpoint::open(&note, key).is_ok());
            let agreed = agrees_with.last().copied().unwrap_or(0);
            if !good {
                self.found(0, 0, format!("the checkpoint of {} records is not signed by the log's key", says.size));
            } else if says.origin != self.origin {
                self.found(0, 0, format!("the checkpoint of {} records is of the log `{}`", says.size, says.origin));
            } else if says.size > size {
                let what = format!(
                    "the log had {} records and has {size}: its end was cut off, or an old copy restored",
                    says.size
                );
                self.found(size, says.size, what);
            } else if says.size > 0 && root != Some(says.root) {
                let what = "these records are not those that the kept checkpoint signed: the history was written anew";
                self.found(agreed, says.size, what.to_owned());
            } else {
                agrees_with.push(says.size);
            }
        }
        agrees_with
    }
}
