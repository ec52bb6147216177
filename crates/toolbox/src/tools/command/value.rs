//! The types of values, and whether a word is a value of one.

use std::collections::BTreeMap;

use regex::Regex;
use serde::Deserialize;

use super::refusal::{Reason, Refusal, shown};
use super::words;
use crate::tools::workspace::path::{PathError, RelPath};

/// Longest expression, name pattern or format.
const MAX_PATTERN: usize = 1000;
/// Longest value of any other type.
const MAX_VALUE: usize = 200;

/// What a word of a command may be.
#[derive(Debug, Clone)]
pub enum Type {
    /// An expression, a pattern of names, a format: any text, for the program itself to understand.
    Pattern,
    /// A whole number within bounds.
    Int(i64, i64),
    /// One of these.
    OneOf(Vec<String>),
    /// What a regular expression matches whole.
    Match(Box<Shape>),
    /// A path in the workspace.
    Path(Use),
}

/// A form of text, and what to call it.
#[derive(Debug, Clone)]
pub struct Shape {
    regex: Regex,
    says: String,
}

/// What a program does with what a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Use {
    /// Reads the content of a file.
    File,
    /// Reads the content of a file, or of all files beneath a directory where the command goes through directories.
    Tree,
    /// Reads names, sizes and times, and no content.
    Entry,
}

/// A type as an operator or a built-in grammar writes it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TypeText {
    min: Option<i64>,
    max: Option<i64>,
    one_of: Vec<String>,
    #[serde(rename = "match")]
    matches: Option<String>,
    says: Option<String>,
}

impl TypeText {
    /// The type that it describes.
    pub(super) fn read(self) -> Result<Type, String> {
        match self {
            Self { min: None, max: None, one_of, matches: None, says: None } if !one_of.is_empty() => {
                Ok(Type::OneOf(one_of))
            }
            Self { min: Some(min), max: Some(max), one_of, matches: None, says: None }
                if one_of.is_empty() && min <= max =>
            {
                Ok(Type::Int(min, max))
            }
            Self { min: None, max: None, one_of, matches: Some(matches), says: Some(says) } if one_of.is_empty() => {
                let regex = Regex::new(&format!("\\A(?:{matches})\\z")).map_err(|error| {
                    // The crate's message draws the place over several lines.
                    let last = error.to_string().lines().last().unwrap_or_default().to_owned();
                    format!("`match` is no regular expression: {last}")
                })?;
                Ok(Type::Match(Box::new(Shape { regex, says })))
            }
            _ => Err("a type is `{ min = 0, max = 9 }`, `{ one_of = [..] }` or `{ match = \"..\", says = \"..\" }`"
                .to_owned()),
        }
    }
}

/// The types that every grammar knows.
pub(super) fn usual() -> BTreeMap<String, Type> {
    let usual = [
        ("pattern", Type::Pattern),
        ("file", Type::Path(Use::File)),
        ("tree", Type::Path(Use::Tree)),
        ("entry", Type::Path(Use::Entry)),
    ];
    usual.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect()
}

/// A word that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// A text.
    Text(String),
    /// A path.
    Path(RelPath, Use),
}

impl Type {
    /// Looks at a word; `what` names it for a refusal.
    pub(super) fn check(&self, what: &str, word: &str) -> Result<Value, Refusal> {
        let invalid = |wanted: &str| {
            let message = format!("{what} is `{}`, and must be {wanted}", shown(word));
            Err(Refusal::new(Reason::ValueInvalid, message))
        };
        if let Self::Path(used) = self {
            return path(what, word).map(|path| Value::Path(path, *used));
        }
        let most = if matches!(self, Self::Pattern) { MAX_PATTERN } else { MAX_VALUE };
        if word.len() > most {
            return Err(Refusal::new(Reason::TooLong, format!("{what} has {} bytes; at most {most}", word.len())));
        }
        match self {
            Self::Pattern | Self::Path(_) => {}
            Self::Int(min, max) => {
                let plain = word.strip_prefix('-').unwrap_or(word).bytes().all(|byte| byte.is_ascii_digit());
                if !plain || !word.parse().is_ok_and(|number: i64| (*min..=*max).contains(&number)) {
                    return invalid(&format!("a whole number from {min} to {max}"));
                }
            }
            Self::OneOf(choices) => {
                if !choices.iter().any(|choice| choice == word) {
                    return invalid(&format!("one of `{}`", choices.join("`, `")));
                }
            }
            Self::Match(shape) => {
                if !shape.regex.is_match(word) {
                    return invalid(&shape.says);
                }
            }
        }
        Ok(Value::Text(word.to_owned()))
    }

    /// Whether a word is a value of this type.
    #[must_use]
    pub fn fits(&self, word: &str) -> bool {
        self.check("", word).is_ok()
    }

    /// A value of this type, in words.
    #[must_use]
    pub fn wanted(&self) -> String {
        match self {
            Self::Pattern => "a text".to_owned(),
            Self::Int(min, max) => format!("{min} to {max}"),
            Self::OneOf(choices) => choices.join("|"),
            Self::Match(shape) => shape.says.clone(),
            Self::Path(Use::File) => "a file".to_owned(),
            Self::Path(Use::Tree | Use::Entry) => "a path".to_owned(),
        }
    }
}

fn path(what: &str, word: &str) -> Result<RelPath, Refusal> {
    words::operator(word)?;
    let outside = |how: &str| {
        let message =
            format!("{what} is `{}`, which {how}; name a path beneath the workspace, without `..`", shown(word));
        Err(Refusal::new(Reason::PathOutsideWorkspace, message))
    };
    if word == "-" {
        let message = "`-` is standard input, and there is none; name a file".to_owned();
        return Err(Refusal::new(Reason::OperandNotAllowed, message));
    }
    if word == "~" || word.starts_with("~/") {
        return outside("would be a home directory to a shell, and there is none");
    }
    if word.contains(['\\', '"', '\'']) {
        let message =
            format!("{what} is `{}`: words are taken to the letter, so leave quotes and backslashes away", shown(word));
        return Err(Refusal::new(Reason::ValueInvalid, message));
    }
    match RelPath::parse(word) {
        // The root is `.`; an empty word is a mistake that programs take in different ways.
        Ok(_) if word.is_empty() => outside("is empty"),
        Ok(path) => Ok(path),
        Err(PathError::Absolute) => outside("is absolute"),
        Err(PathError::Upwards) => outside("leads upwards"),
        Err(error @ (PathError::Character | PathError::Disguised | PathError::Trailing)) => {
            Err(Refusal::new(Reason::ValueInvalid, format!("{what} is `{}`: {error}", shown(word))))
        }
        Err(error @ PathError::TooLong) => Err(Refusal::new(Reason::TooLong, format!("{what}: {error}"))),
    }
}
