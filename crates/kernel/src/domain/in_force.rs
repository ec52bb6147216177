//! A text that is in force, in one canonical form, so that a record can name it by its digest and keep it.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::hex::hex;

/// A canonical text and its digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InForce {
    text: String,
    digest: String,
}

impl InForce {
    /// The canonical text of a value: JSON with the fields of each object in the order of their names.
    #[must_use]
    pub fn of(mut value: Value) -> Self {
        value.sort_all_objects();
        let text = value.to_string();
        let digest = hex(&Sha256::digest(text.as_bytes()));
        Self { text, digest }
    }

    /// The canonical text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The SHA-256 digest of the canonical text in hex: the one under which the ledger keeps it.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }
}
