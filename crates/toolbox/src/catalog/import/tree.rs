//! YAML as a tree of texts, lists and maps, within bounds.
//!
//! Aliases are refused rather than followed, so a small file can't grow. A key that stands twice is refused: which of the two
//! others would go by is theirs to know.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle};

/// Deepest nesting.
const DEPTH: usize = 32;

/// Most values of one file.
const VALUES: usize = 100_000;

/// Most documents of one file.
const DOCUMENTS: usize = 2_000;

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// Nothing stands there.
    Nothing,
    /// A text, or a number or truth value as it is written.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// Values by name.
    Map(BTreeMap<String, Node>),
}

/// Why a file is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// It is no YAML.
    #[error("no YAML that can be read: {0}")]
    Syntax(String),
    /// An alias stands there.
    #[error("line {0}: aliases (`*name`) are not followed; write out what it stands for")]
    Alias(usize),
    /// A key stands twice in one map.
    #[error("line {0}: a key stands twice in one map; take one of them out")]
    Twice(usize),
    /// A key is a list or a map.
    #[error("line {0}: a key must be a text")]
    Key(usize),
    /// There is more of it than is read.
    #[error("line {line}: more than {most} {what}; split the file")]
    Large {
        /// Where.
        line: usize,
        /// How many there may be.
        most: usize,
        /// Of what.
        what: &'static str,
    },
}

enum Open {
    List(Vec<Node>),
    Map(BTreeMap<String, Node>, Option<String>),
}

/// The documents of a file; empty ones are left out.
///
/// # Errors
/// [`Unread`].
pub fn documents(text: &str) -> Result<Vec<Node>, Unread> {
    let mut building = Building { done: Vec::new(), open: Vec::new(), values: 0 };
    for event in Parser::new_from_str(text.strip_prefix('\u{feff}').unwrap_or(text)) {
        let (event, span) = event.map_err(|error| Unread::Syntax(error.to_string()))?;
        building.take(event, span.start.line())?;
    }
    Ok(building.done)
}

struct Building {
    done: Vec<Node>,
    open: Vec<Open>,
    values: usize,
}

impl Building {
    fn take(&mut self, event: Event<'_>, line: usize) -> Result<(), Unread> {
        match event {
            Event::Alias(_) => Err(Unread::Alias(line)),
            Event::Scalar(text, style, ..) => {
                let is_nothing = style == ScalarStyle::Plain && matches!(text.as_ref(), "" | "~" | "null");
                self.put(if is_nothing { Node::Nothing } else { Node::Text(text.into_owned()) }, line)
            }
            Event::SequenceStart(..) => self.begin(Open::List(Vec::new()), line),
            Event::MappingStart(..) => self.begin(Open::Map(BTreeMap::new(), None), line),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(items)) => self.put(Node::List(items), line),
                Some(Open::Map(fields, _)) => self.put(Node::Map(fields), line),
                None => Err(Unread::Syntax("something ends that has not begun".to_owned())),
            },
            Event::DocumentStart(_) if self.done.len() >= DOCUMENTS => {
                Err(Unread::Large { line, most: DOCUMENTS, what: "documents" })
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => {
                Ok(())
            }
        }
    }

    fn begin(&mut self, open: Open, line: usize) -> Result<(), Unread> {
        if self.open.len() >= DEPTH {
            return Err(Unread::Large { line, most: DEPTH, what: "levels" });
        }
        // What is a key may not be built up first: nobody would know where it ends.
        if matches!(self.open.last(), Some(Open::Map(_, None))) {
            return Err(Unread::Key(line));
        }
        self.open.push(open);
        Ok(())
    }

    fn put(&mut self, node: Node, line: usize) -> Result<(), Unread> {
        self.values += 1;
        if self.values > VALUES {
            return Err(Unread::Large { line, most: VALUES, what: "values" });
        }
        match self.open.last_mut() {
            None if node == Node::Nothing => {}
            None => self.done.push(node),
            Some(Open::List(items)) => items.push(node),
            Some(Open::Map(fields, waiting)) => match (waiting.take(), node) {
                (Some(key), node) => drop(fields.insert(key, node)),
                (None, Node::Text(key)) if fields.contains_key(&key) => return Err(Unread::Twice(line)),
                (None, Node::Text(key)) => *waiting = Some(key),
                (None, Node::Nothing | Node::List(_) | Node::Map(_)) => return Err(Unread::Key(line)),
            },
        }
        Ok(())
    }
}

impl Node {
    /// The field of a map.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Self::Map(fields) => fields.get(key).filter(|node| **node != Self::Nothing),
            Self::Nothing | Self::Text(_) | Self::List(_) => None,
        }
    }

    /// The text of a field.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Self::Text(text) => Some(text),
            Self::Nothing | Self::List(_) | Self::Map(_) => None,
        }
    }

    /// The items of a field that is a list; none where it is something else.
    #[must_use]
    pub fn list(&self, key: &str) -> &[Node] {
        match self.get(key) {
            Some(Self::List(items)) => items,
            Some(Self::Nothing | Self::Text(_) | Self::Map(_)) | None => &[],
        }
    }
}
