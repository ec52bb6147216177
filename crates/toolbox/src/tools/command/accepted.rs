//! A command that was understood: written anew, word by word, from what its grammar knows.
//!
//! Only the parsers make one, and only from flags of the grammar and values that were looked at.

use super::grammar::Grammar;
use super::value::{Use, Value};
use crate::tools::workspace::path::RelPath;

/// A word that the program is given.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    /// A flag or a value.
    Text(String),
    /// A path; `before` is what stands before it in the same word, as in `--file=`.
    Path { before: String, path: RelPath, used: Use },
}

/// A command that only looks.
#[derive(Debug, Clone)]
pub struct Accepted<'g> {
    grammar: &'g Grammar,
    words: Vec<Word>,
    recursive: Recursive,
}

/// Whether a command goes through directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recursive {
    /// It does.
    Yes,
    /// It does not.
    No,
}

impl<'g> Accepted<'g> {
    /// A command without words yet, but for those that its grammar puts first.
    pub(super) fn begin(grammar: &'g Grammar) -> Self {
        let words = grammar.first.iter().cloned().map(Word::Text).collect();
        Self { grammar, words, recursive: grammar.recursive }
    }

    /// Adds a word of the grammar itself.
    pub(super) fn fixed(&mut self, word: &str) {
        self.words.push(Word::Text(word.to_owned()));
    }

    /// Adds a value as a word of its own, or behind `before` in one word.
    pub(super) fn value(&mut self, before: &str, value: Value) {
        self.words.push(match value {
            Value::Text(text) => Word::Text(format!("{before}{text}")),
            Value::Path(path, used) => Word::Path { before: before.to_owned(), path, used },
        });
    }

    /// Notes that it goes through directories.
    pub(super) fn goes_through(&mut self) {
        self.recursive = Recursive::Yes;
    }

    /// What the program may be told.
    #[must_use]
    pub fn grammar(&self) -> &'g Grammar {
        self.grammar
    }

    /// The words after the program's name.
    #[must_use]
    pub fn argv(&self) -> Vec<String> {
        self.words.iter().map(Word::written).collect()
    }

    /// The paths and what is done with them.
    pub fn paths(&self) -> impl Iterator<Item = (&RelPath, Use)> {
        self.words.iter().filter_map(|word| match word {
            Word::Path { path, used, .. } => Some((path, *used)),
            Word::Text(_) => None,
        })
    }

    /// Whether it goes through directories.
    #[must_use]
    pub fn recursive(&self) -> Recursive {
        self.recursive
    }
}

impl Word {
    fn written(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            // A path that looks like a flag is one no longer, whatever stands before it.
            Self::Path { before, path, .. } if path.as_str().starts_with(['-', '+', '(', '!', ',']) => {
                format!("{before}./{path}")
            }
            Self::Path { before, path, .. } => format!("{before}{path}"),
        }
    }
}
