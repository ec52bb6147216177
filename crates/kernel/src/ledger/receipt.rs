//! The receipt for an intent: what a warrant is issued against.

use crate::domain::digest::Digest;

/// Proof that an intent is recorded so that it would survive a crash. Only the ledger makes one, once for each intent.
#[derive(Debug)]
#[must_use = "an intent that nothing follows stays open until somebody resolves it"]
pub struct Receipt {
    seq: u64,
    hash: Digest,
    plan_digest: Option<String>,
}

impl Receipt {
    pub(super) fn new(seq: u64, hash: Digest, plan_digest: Option<String>) -> Self {
        Self { seq, hash, plan_digest }
    }

    /// The number of the record.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The hash of the record.
    #[must_use]
    pub fn hash(&self) -> Digest {
        self.hash
    }

    /// Of which plan: the field `plan_digest` of the intent.
    #[must_use]
    pub fn plan_digest(&self) -> Option<&str> {
        self.plan_digest.as_deref()
    }
}
