//! A TOML file whose fields are taken one by one, so that every fault is told with its line and not only the first.
//!
//! Take what you know, then [`Document::finish`]: what is left over is refused.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::DefinitionError;
use super::nearest::{did_you_mean, nearest};

const MAX_FILE: usize = 64 * 1024;

/// The faults of one file.
pub(super) struct Faults<'a> {
    file: &'a str,
    text: &'a str,
    found: Vec<DefinitionError>,
}

impl<'a> Faults<'a> {
    pub(super) fn of(file: &'a str, text: &'a str) -> Self {
        Self { file, text, found: Vec::new() }
    }

    /// The line of a byte offset, from 1 on.
    pub(super) fn line(&self, at: usize) -> usize {
        1 + self.text.bytes().take(at).filter(|byte| *byte == b'\n').count()
    }

    pub(super) fn at(&mut self, at: usize, message: impl Into<String>) {
        self.at_line(self.line(at), message);
    }

    pub(super) fn at_line(&mut self, line: usize, message: impl Into<String>) {
        self.found.push(DefinitionError { file: self.file.to_owned(), line, message: message.into() });
    }

    pub(super) fn none(&self) -> bool {
        self.found.is_empty()
    }

    pub(super) fn into_errors(self) -> Vec<DefinitionError> {
        self.found
    }
}

/// A value and where it stands: the byte offset of its key, or of itself in an array.
#[derive(Debug, Clone)]
pub(super) struct Placed<T> {
    pub(super) value: T,
    pub(super) at: usize,
}

/// Where the fields of one table stand.
pub(super) struct Places {
    fields: BTreeMap<String, usize>,
    start: usize,
}

impl Places {
    /// The place of a field; the table's own where it is absent.
    pub(super) fn at(&self, name: &str) -> usize {
        self.fields.get(name).copied().unwrap_or(self.start)
    }
}

/// A table, the whole file or a part of it.
pub(super) struct Document<'i> {
    fields: BTreeMap<String, (usize, Spanned<DeValue<'i>>)>,
    start: usize,
}

impl<'i> Document<'i> {
    pub(super) fn parse(faults: &mut Faults<'i>) -> Option<Self> {
        if faults.text.len() > MAX_FILE {
            faults.at_line(1, format!("the file is larger than {} KiB", MAX_FILE / 1024));
            return None;
        }
        match DeTable::parse(faults.text) {
            Ok(table) => Some(Self::of(table.span(), table.into_inner())),
            Err(error) => {
                faults.at(error.span().map_or(0, |span| span.start), one_line(error.message()));
                None
            }
        }
    }

    fn of(span: Range<usize>, table: DeTable<'i>) -> Self {
        let fields = table.into_iter().map(|(key, value)| {
            let at = key.span().start;
            (key.into_inner().into_owned(), (at, value))
        });
        Self { fields: fields.collect(), start: span.start }
    }

    /// Where the table begins.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// Where a field stands; the table's beginning where it is absent.
    pub(super) fn place(&self, name: &str) -> usize {
        self.fields.get(name).map_or(self.start, |(at, _)| *at)
    }

    /// A field, if it is there and is what it must be.
    pub(super) fn take<T: DeserializeOwned>(&mut self, name: &str, faults: &mut Faults<'_>) -> Option<Placed<T>> {
        let (at, value) = self.fields.remove(name)?;
        let value_at = value.span().start;
        match T::deserialize(ValueDeserializer::from(value)) {
            Ok(value) => Some(Placed { value, at }),
            Err(error) => {
                let at = error.span().map_or(value_at, |span| span.start);
                faults.at(at, format!("`{name}`: {}", one_line(error.message())));
                None
            }
        }
    }

    /// As [`Self::take`]; a fault where it is absent.
    pub(super) fn require<T: DeserializeOwned>(
        &mut self,
        name: &str,
        why: &str,
        faults: &mut Faults<'_>,
    ) -> Option<Placed<T>> {
        if !self.has(name) {
            faults.at(self.start, format!("`{name}` is missing: {why}"));
        }
        self.take(name, faults)
    }

    /// A table within this one.
    pub(super) fn table(&mut self, name: &str, faults: &mut Faults<'_>) -> Option<Placed<Self>> {
        let (at, value) = self.fields.remove(name)?;
        let span = value.span();
        if let DeValue::Table(table) = value.into_inner() {
            return Some(Placed { value: Self::of(at..span.end, table), at });
        }
        faults.at(at, format!("`{name}` must be a table"));
        None
    }

    /// Where the fields of a table within this one stand.
    pub(super) fn places_within(&self, name: &str) -> Places {
        let start = self.place(name);
        let fields = self.fields.get(name).and_then(|(_, value)| match value.get_ref() {
            DeValue::Table(table) => {
                Some(table.keys().map(|key| (key.get_ref().to_string(), key.span().start)).collect())
            }
            _ => None,
        });
        Places { fields: fields.unwrap_or_default(), start }
    }

    /// A field that is a text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(|(_, value)| match value.get_ref() {
            DeValue::String(text) => Some(text.as_ref()),
            _ => None,
        })
    }

    /// The items of an array, each with its own place.
    pub(super) fn items<T: DeserializeOwned>(&mut self, name: &str, faults: &mut Faults<'_>) -> Vec<Placed<T>> {
        let Some((at, value)) = self.fields.remove(name) else { return Vec::new() };
        let DeValue::Array(array) = value.into_inner() else {
            faults.at(at, format!("`{name}` must be an array"));
            return Vec::new();
        };
        let mut items = Vec::new();
        for item in array {
            let at = item.span().start;
            match T::deserialize(ValueDeserializer::from(item)) {
                Ok(value) => items.push(Placed { value, at }),
                Err(error) => {
                    let at = error.span().map_or(at, |span| span.start);
                    faults.at(at, format!("`{name}`: {}", one_line(error.message())));
                }
            }
        }
        items
    }

    /// The names of the fields that are left.
    pub(super) fn names(&self) -> Vec<String> {
        self.fields.keys().cloned().collect()
    }

    /// Refuses what is left; `known` are the fields there are.
    pub(super) fn finish(self, known: &[&str], faults: &mut Faults<'_>) {
        for (name, (at, _)) in self.fields {
            let near = nearest(&name, known.iter().copied());
            faults.at(at, format!("unknown field `{name}`{}", did_you_mean(&near)));
        }
    }
}

/// A message of the TOML parser as one line.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
