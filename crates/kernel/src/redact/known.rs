//! Secrets that Warrant holds itself (from its config and environment): found by exact match, name or not.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

use super::placeholder::kind_of;
use super::value;
use crate::domain::hex::hex;

/// Shorter values would mask ordinary text; they are found beside a name only.
const SHORTEST: usize = 8;
/// A value that is one plain word (`postgres`) must be longer than this.
const WORD: usize = 12;
/// How much of a form goes into the prefilter.
const HEAD: usize = 12;

/// A secret and the name it goes by in placeholders.
#[derive(Clone, PartialEq, Eq)]
pub struct KnownSecret {
    kind: String,
    value: String,
}

impl KnownSecret {
    /// The secret `value`, called `name` (`slack_bot_token`) where it is masked.
    #[must_use]
    pub fn new(name: &str, value: impl Into<String>) -> Self {
        Self { kind: kind_of(name), value: value.into() }
    }

    /// Whether it is long and odd enough to be looked for without a name beside it.
    #[must_use]
    pub fn stands_alone(&self) -> bool {
        let value = self.value.trim().as_bytes();
        let shortest = if value::is_word(value) || value::is_number(value) { WORD } else { SHORTEST };
        value.len() >= shortest && !value::is_blank(value)
    }
}

impl fmt::Debug for KnownSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KnownSecret({})", self.kind)
    }
}

/// One way in which a known secret may be written.
pub(super) struct Form {
    pub(super) kind: String,
    pub(super) secret: Vec<u8>,
    pub(super) written: Vec<u8>,
}

impl Form {
    /// The part that the prefilter looks for.
    pub(super) fn head(&self) -> &[u8] {
        self.written.get(..HEAD).unwrap_or(&self.written)
    }
}

/// All forms of the secrets. What is URL-encoded, escaped or inside a longer field is found by decoding the text.
pub(super) fn forms(known: impl IntoIterator<Item = KnownSecret>) -> Vec<Form> {
    let mut forms: Vec<Form> = Vec::new();
    for secret in known.into_iter().filter(KnownSecret::stands_alone) {
        let value = secret.value.trim().as_bytes();
        let hex = hex(value);
        let mut written = vec![
            value.to_vec(),
            STANDARD.encode(value).into_bytes(),
            STANDARD_NO_PAD.encode(value).into_bytes(),
            URL_SAFE.encode(value).into_bytes(),
            URL_SAFE_NO_PAD.encode(value).into_bytes(),
            hex.to_ascii_uppercase().into_bytes(),
            hex.into_bytes(),
        ];
        written.sort();
        written.dedup();
        forms.extend(written.into_iter().map(|written| Form {
            kind: secret.kind.clone(),
            secret: value.to_vec(),
            written,
        }));
    }
    forms
}
