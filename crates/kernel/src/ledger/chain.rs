//! Whether records prove themselves, one after the other: bytes, hash, chain, derived columns, commitments.

use crate::db::storage::Row;
use crate::domain::digest::Digest;

use super::record::{Record, commitment, text_digest};
use super::tree::{Tree, leaf_hash};

/// What stands where the first record of a log names the one before.
#[must_use]
pub fn genesis(origin: &str) -> Digest {
    text_digest(&format!("warrant ledger\n{origin}\n"))
}

/// A walk along a log.
#[derive(Debug, Clone)]
pub struct Chain {
    prev: Digest,
    tree: Tree,
}

/// A record that proved itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proved {
    /// What stands in its bytes.
    pub record: Record,
    /// The fields that it commits to and whose values are not there.
    pub missing: Vec<String>,
}

impl Chain {
    /// From the beginning of a log.
    #[must_use]
    pub fn begin(origin: &str) -> Self {
        Self { prev: genesis(origin), tree: Tree::default() }
    }

    /// From a place whose tree and last record are known.
    #[must_use]
    pub fn from(tree: Tree, last: Digest) -> Self {
        Self { prev: last, tree }
    }

    /// The tree over the records walked along.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The hash of the last record.
    #[must_use]
    pub fn last(&self) -> Digest {
        self.prev
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// What is wrong with it; the walk goes on from it all the same, so that the next ones are judged by themselves.
    pub fn step(&mut self, row: &Row) -> Result<Proved, String> {
        let expected = self.tree.size();
        let (hash, prev) = (leaf_hash(&row.bytes), self.prev);
        self.prev = hash;
        self.tree.push(hash);
        let record = Record::parse(&row.bytes).map_err(|error| error.to_string())?;
        if row.seq != expected || record.seq != expected {
            return Err(format!("it says that it is record {} and stands as {expected}", record.seq));
        }
        if record.prev != prev {
            return Err("it does not follow the record before it".to_owned());
        }
        if row.hash != hash || row.at != record.at || row.kind != record.kind {
            return Err("its columns are not those of its bytes".to_owned());
        }
        for (index, opening) in row.openings.iter().enumerate() {
            if record.commitments.get(&opening.field) != Some(&commitment(opening)) {
                return Err(format!("its value of `{}` is not the one that it commits to", opening.field));
            }
            if row.openings.iter().skip(index + 1).any(|other| other.field == opening.field) {
                return Err(format!("it has two values of `{}`", opening.field));
            }
        }
        let missing = record.commitments.keys().filter(|field| row.openings.iter().all(|it| it.field != **field));
        Ok(Proved { missing: missing.cloned().collect(), record })
    }
}
