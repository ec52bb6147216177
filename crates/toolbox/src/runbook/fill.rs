//! Makes the arguments of a check's call: `{service}`, `{since}` and `{until}` stand for what is looked into. A remedy's
//! call has placeholders of its own, [`REMEDY_PLACEHOLDERS`], which only evidence can fill.
//!
//! A placeholder may be a whole value or a part of one. Every other brace is text, as in `\d{3}` or `up{job="api"}`.

use jiff::Timestamp;
use serde_json::{Map, Value};
use warrant_kernel::domain::name::ServiceName;
use warrant_kernel::domain::time;

/// What the placeholders stand for.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    /// The service in question, if there is one.
    pub service: Option<&'a ServiceName>,
    /// Beginning of the window looked at.
    pub since: Timestamp,
    /// End of the window.
    pub until: Timestamp,
}

impl Values<'_> {
    /// The same over the window of the same length that ends where this one begins.
    #[must_use]
    pub fn previous(self) -> Self {
        let length = self.until.duration_since(self.since);
        Self { since: self.since.checked_sub(length).unwrap_or(Timestamp::MIN), until: self.since, ..self }
    }
}

/// The placeholders of a check.
pub const CHECK_PLACEHOLDERS: [&str; 3] = ["service", "since", "until"];

/// The placeholders of a remedy: the service; the file, line now and line before of the change that brought the trouble
/// about; and of the service's file of overrides its path, the line to begin at, and that line with the setting of
/// before the change.
pub const REMEDY_PLACEHOLDERS: [&str; 7] = [
    "service",
    "change.path",
    "change.line_now",
    "change.line_before",
    "override.path",
    "override.line_now",
    "override.line_wanted",
];

/// A call whose placeholders can't be filled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// It is about a service and none is known.
    #[error("the check is about a service, and the question names none")]
    NoService,
    /// A word in braces that stands for nothing.
    #[error("`{{{0}}}` is no placeholder; there are `{{service}}`, `{{since}}` and `{{until}}`")]
    Unknown(String),
    /// A placeholder of a remedy for which there is no evidence.
    #[error("nothing that was seen says what `{{{0}}}` stands for")]
    Unseen(String),
}

/// The arguments of a check with every placeholder replaced.
///
/// # Errors
/// [`FillError`] where a placeholder stands for nothing.
pub fn fill(args: &Map<String, Value>, values: Values<'_>) -> Result<Map<String, Value>, FillError> {
    fill_with(args, &|name| match name {
        "service" => Ok(values.service.ok_or(FillError::NoService)?.to_string()),
        "since" => Ok(time::rfc3339(values.since)),
        "until" => Ok(time::rfc3339(values.until)),
        other => Err(FillError::Unknown(other.to_owned())),
    })
}

/// The arguments with every placeholder replaced by what `value_of` says of it.
///
/// # Errors
/// The first that `value_of` gives.
pub fn fill_with(
    args: &Map<String, Value>,
    value_of: &dyn Fn(&str) -> Result<String, FillError>,
) -> Result<Map<String, Value>, FillError> {
    args.iter().map(|(name, value)| Ok((name.clone(), fill_value(value, value_of)?))).collect()
}

fn fill_value(value: &Value, value_of: &dyn Fn(&str) -> Result<String, FillError>) -> Result<Value, FillError> {
    match value {
        Value::String(text) => fill_text(text, value_of).map(Value::String),
        Value::Array(items) => items.iter().map(|item| fill_value(item, value_of)).collect(),
        Value::Object(fields) => fill_with(fields, value_of).map(Value::Object),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(value.clone()),
    }
}

/// What is filled in is not looked through again: a line of a file may hold braces.
fn fill_text(text: &str, value_of: &dyn Fn(&str) -> Result<String, FillError>) -> Result<String, FillError> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, name, after)) = next_placeholder(rest) {
        filled.push_str(before);
        filled.push_str(&value_of(name)?);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// The placeholders of arguments, known or not.
#[must_use]
pub fn placeholders_of(args: &Map<String, Value>) -> Vec<&str> {
    args.values().flat_map(texts).flat_map(placeholders).collect()
}

/// All texts within a value.
pub(super) fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text.as_str()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// The placeholders of a text, known or not.
pub(super) fn placeholders(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some((_, name, after)) = next_placeholder(rest) {
        names.push(name);
        rest = after;
    }
    names
}

/// The text with each placeholder replaced by its name, for checks of its form.
pub(super) fn with_names(text: &str) -> String {
    placeholders(text).iter().fold(text.to_owned(), |text, name| text.replace(&format!("{{{name}}}"), name))
}

/// The next `{word}` or `{word.word}`: what stands before it, the word, what stands after it.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices('{').find_map(|(at, _)| {
        let (before, opened) = text.split_at_checked(at)?;
        let inside = opened.strip_prefix('{')?;
        let length = inside.bytes().take_while(|b| b.is_ascii_lowercase() || matches!(b, b'_' | b'.')).count();
        let (name, closed) = inside.split_at_checked(length)?;
        let after = closed.strip_prefix('}')?;
        // Dots belong between words: `{.}` and `{a.}` are of a regular expression.
        name.split('.').all(|word| !word.is_empty()).then_some((before, name, after))
    })
}

#[cfg(test)]
mod tests;
