//! What stands where a secret stood: `[secret:KIND:6 hex]`.
//!
//! The hex is keyed, so that the same secret is the same placeholder within an investigation (a model can correlate
//! what it cannot see) and tells nothing to whoever lacks the key. A placeholder is never masked again.

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use hmac::{Hmac, KeyInit, Mac};
use regex::bytes::Regex;
use sha2::Sha256;

use super::RedactError;
use crate::domain::hex::hex;

/// Stands in for the bytes of a placeholder while secrets are looked for: no name, token or encoding contains it.
pub(super) const BLANK: u8 = 0x1a;

/// The key of one investigation's placeholders. Whoever resumes the investigation needs the same key.
#[derive(Clone, PartialEq, Eq)]
pub struct RedactionKey([u8; 32]);

impl RedactionKey {
    /// A fresh key.
    ///
    /// # Errors
    /// [`RedactError::Randomness`] where the system gives none.
    pub fn random() -> Result<Self, RedactError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| RedactError::Randomness(error.to_string()))?;
        Ok(Self(bytes))
    }

    /// The key that the store kept.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes, for the store only.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(super) fn placeholder(&self, kind: &str, secret: &[u8]) -> Result<String, RedactError> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).map_err(|_| RedactError::Key)?;
        mac.update(secret);
        let digest = mac.finalize().into_bytes();
        Ok(format!("[secret:{kind}:{}]", hex(digest.get(..3).unwrap_or_default())))
    }
}

impl fmt::Debug for RedactionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RedactionKey(..)")
    }
}

/// Where placeholders stand already.
pub(super) fn marks(text: &[u8]) -> Result<Vec<Range<usize>>, RedactError> {
    static SHAPE: OnceLock<Result<Regex, regex::Error>> = OnceLock::new();
    let shape = SHAPE
        .get_or_init(|| Regex::new(r"(?-u)\[secret:[a-z0-9_]{1,40}:[0-9a-f]{6}\]"))
        .as_ref()
        .map_err(|error| RedactError::Rule { kind: "placeholder".to_owned(), message: error.to_string() })?;
    Ok(shape.find_iter(text).map(|found| found.range()).collect())
}

/// Overwrites the placeholders of `text`, so that what is in them starts or ends nothing.
pub(super) fn blank(text: &mut [u8], marks: &[Range<usize>]) {
    for mark in marks {
        text.get_mut(mark.clone()).unwrap_or_default().fill(BLANK);
    }
}

/// A kind for a placeholder, made from a name out of the config.
pub(super) fn kind_of(name: &str) -> String {
    let kind: String = name
        .chars()
        .take(40)
        .map(|character| if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '_' })
        .collect();
    if kind.is_empty() { "known".to_owned() } else { kind }
}
