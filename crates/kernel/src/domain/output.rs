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

/// Everything a tool found.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Facts that stand before the rows (at most a few kB), none of them under the rows' key.
    pub summary: Map<String, Value>,
    /// Under which key the rows stand in `data`: `lines`, `series`, `services`, ...
    pub rows_key: &'static str,
    /// The rows, in the order in which a reader wants them.
    pub rows: Rows,
    /// Whose words these are.
    pub origin: Origin,
    /// How many rows matched at the source, if more may have matched than are here.
    pub matched: Option<u64>,
    /// What the source or the tool's own limits left out, and how to see it: becomes `truncated` and part of the hint.
    pub left_out: Option<String>,
}

impl Output {
    /// An output of lines under the key `lines`.
    #[must_use]
    pub fn lines(origin: Origin, summary: Map<String, Value>, lines: Vec<String>) -> Self {
        Self { summary, rows_key: "lines", rows: Rows::Lines(lines), origin, matched: None, left_out: None }
    }

    /// An output of structured rows under `key`.
    #[must_use]
    pub fn items(origin: Origin, summary: Map<String, Value>, key: &'static str, items: Vec<Value>) -> Self {
        Self { summary, rows_key: key, rows: Rows::Items(items), origin, matched: None, left_out: None }
    }
}
