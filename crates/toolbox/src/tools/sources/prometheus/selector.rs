//! Series selectors, built from typed parts: a label value can't end its quotes.

use std::collections::BTreeMap;
use std::fmt;

use regex::RegexBuilder;
use warrant_kernel::redact::guard::first_chars;

use super::query::PATTERN_SIZE;

/// `{job="checkout",region="eu"}`. Make one with [`Selector::of`]; its text is safe to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector(BTreeMap<String, String>);

/// A text that may not name a label.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a label name; letters, digits and `_`, not beginning with a digit")]
pub struct NotALabel(String);

impl Selector {
    /// The series that bear all of these labels with exactly these values; none where there are no labels.
    ///
    /// # Errors
    /// The first name that may not name a label.
    pub fn of(labels: &BTreeMap<String, String>) -> Result<Option<Self>, NotALabel> {
        match labels.keys().find(|name| !is_label(name)) {
            Some(name) => Err(NotALabel(first_chars(name, 80).to_owned())),
            None if labels.is_empty() => Ok(None),
            None => Ok(Some(Self(labels.clone()))),
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, value)) in self.0.iter().enumerate() {
            write!(f, "{}{name}={}", if at == 0 { '{' } else { ',' }, Quoted(value))?;
        }
        f.write_str("}")
    }
}

/// Whether a text may name a label as it stands.
#[must_use]
pub fn is_label(name: &str) -> bool {
    name.chars().next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A value between quotes, escaped so that nothing in it can end them.
#[derive(Debug, Clone, Copy)]
pub struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '\\' => f.write_str("\\\\")?,
                '"' => f.write_str("\\\"")?,
                '\n' => f.write_str("\\n")?,
                // Other control characters would make the server's error, or its log, hard to read.
                control if control.is_control() => write!(f, "\\u{:04x}", u32::from(control))?,
                plain => write!(f, "{plain}")?,
            }
        }
        f.write_str("\"")
    }
}

/// Whether a regular expression may be asked of a server.
///
/// # Errors
/// What is wrong with it, or that it would grow too big.
pub fn pattern(text: &str) -> Result<(), String> {
    match RegexBuilder::new(text).size_limit(PATTERN_SIZE).build() {
        Ok(_) => Ok(()),
        Err(regex::Error::CompiledTooBig(_)) => Err("it grows too big when it is compiled".to_owned()),
        Err(error) => {
            // The last line says what is wrong; those before it draw an arrow.
            let said = error.to_string();
            let last = said.lines().last().unwrap_or_default().trim_start_matches("error: ");
            Err(first_chars(last, 120).to_owned())
        }
    }
}
