//! Makes the arguments of a check's call: `{service}`, `{since}` and `{until}` stand for what is looked into.
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

/// A check that can't be called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// It is about a service and none is known.
    #[error("the check is about a service, and the question names none")]
    NoService,
    /// A word in braces that stands for nothing.
    #[error("`{{{0}}}` is no placeholder; there are `{{service}}`, `{{since}}` and `{{until}}`")]
    Unknown(String),
}

/// The arguments with every placeholder replaced.
///
/// # Errors
/// [`FillError`] where a placeholder stands for nothing.
pub fn fill(args: &Map<String, Value>, values: Values<'_>) -> Result<Map<String, Value>, FillError> {
    args.iter().map(|(name, value)| Ok((name.clone(), fill_value(value, values)?))).collect()
}

fn fill_value(value: &Value, values: Values<'_>) -> Result<Value, FillError> {
    match value {
        Value::String(text) => fill_text(text, values).map(Value::String),
        Value::Array(items) => items.iter().map(|item| fill_value(item, values)).collect(),
        Value::Object(fields) => fill(fields, values).map(Value::Object),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(value.clone()),
    }
}

fn fill_text(text: &str, values: Values<'_>) -> Result<String, FillError> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, name, after)) = next_placeholder(rest) {
        filled.push_str(before);
        match name {
            "service" => filled.push_str(values.service.ok_or(FillError::NoService)?.as_str()),
            "since" => filled.push_str(&time::rfc3339(values.since)),
            "until" => filled.push_str(&time::rfc3339(values.until)),
            other => return Err(FillError::Unknown(other.to_owned())),
        }
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
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

/// The next `{word}`: what stands before it, the word, what stands after it.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices('{').find_map(|(at, _)| {
        let (before, opened) = text.split_at_checked(at)?;
        let inside = opened.strip_prefix('{')?;
        let length = inside.bytes().take_while(|b| b.is_ascii_lowercase() || *b == b'_').count();
        let (name, closed) = inside.split_at_checked(length)?;
        let after = closed.strip_prefix('}')?;
        (length > 0).then_some((before, name, after))
    })
}

#[cfg(test)]
mod tests;
