//! What a tool hands to the normaliser: everything it found, whole and unmasked.
//!
//! A tool never cuts for the reader and never masks; it says what its *source* left out (`left_out`).
//! `summary` stands first in `data`, in full as long as it is small (no text over 2,000 characters, no more in all than
//! the output policy allows); `rows` follow and are cut by that policy.

use serde_json::{Map, Value};

use super::result::Origin;

/// The rows of an output.
#[derive(Debug, Clone, PartialEq)]
pub enum Rows {
    /// Lines of text, each without its line end. A stack trace is one row with line breaks in it.
    Lines(Vec<String>),
    /// Structured rows.
    Items(Vec<Value>),
}

impl Rows {
    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Lines(lines) => lines.len(),
            Self::Items(items) => items.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Lines that stand before and behind the rows. Secrets are looked for in them too, for one may begin before the rows or
/// end behind them; they are never shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    /// Those before the first row, the nearest last.
    pub before: Vec<String>,
    /// Those behind the last row.
    pub after: Vec<String>,
}

/// Everything a tool found.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Facts that stand before the rows (at most a few kB), none of them under the rows' key.
    pub summary: Map<String, Value>,
    /// Under which key the rows stand in `data`: `lines`, `series`, `services`, ...
    pub rows_key: &'static str,
    /// The rows, in the order in which a reader wants them.
    pub rows: Rows,
    /// Whose words these are, but for `fields`.
    pub origin: Origin,
    /// Fields of the summary that are somebody else's words; what is not named here is of `origin`.
    pub fields: &'static [(&'static str, Origin)],
    /// How many rows matched at the source, if more may have matched than are here.
    pub matched: Option<u64>,
    /// Of lines that are a part of something, those beside it.
    pub around: Option<Box<Around>>,
    /// What the source or the tool's own limits left out, and how to see it: becomes `truncated` and part of the hint.
    pub left_out: Option<String>,
}

impl Output {
    /// An output of lines under the key `lines`.
    #[must_use]
    pub fn lines(origin: Origin, summary: Map<String, Value>, lines: Vec<String>) -> Self {
        Self {
            summary,
            rows_key: "lines",
            rows: Rows::Lines(lines),
            origin,
            fields: &[],
            matched: None,
            around: None,
            left_out: None,
        }
    }

    /// An output of structured rows under `key`.
    #[must_use]
    pub fn items(origin: Origin, summary: Map<String, Value>, key: &'static str, items: Vec<Value>) -> Self {
        Self {
            summary,
            rows_key: key,
            rows: Rows::Items(items),
            origin,
            fields: &[],
            matched: None,
            around: None,
            left_out: None,
        }
    }

    /// The same, with whose words some fields of the summary are.
    #[must_use]
    pub fn with_fields(self, fields: &'static [(&'static str, Origin)]) -> Self {
        Self { fields, ..self }
    }
}
