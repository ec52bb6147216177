//! Series selectors, built from typed parts: a label value can't end its quotes.

use std::collections::BTreeMap;
use std::fmt;

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
        let well_named = |name: &str| {
            name.chars().next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        match labels.keys().find(|name| !well_named(name)) {
            Some(name) => Err(NotALabel(name.chars().take(80).collect())),
            None if labels.is_empty() => Ok(None),
            None => Ok(Some(Self(labels.clone()))),
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, value)) in self.0.iter().enumerate() {
            write!(f, "{}{name}=\"", if at == 0 { '{' } else { ',' })?;
            for c in value.chars() {
                match c {
                    '\\' => f.write_str("\\\\")?,
                    '"' => f.write_str("\\\"")?,
                    '\n' => f.write_str("\\n")?,
                    // Other control characters would make the server's error, or its log, hard to read.
                    control if control.is_control() => write!(f, "\\u{:04x}", u32::from(control))?,
                    plain => write!(f, "{plain}")?,
                }
            }
            f.write_str("\"")?;
        }
        f.write_str("}")
    }
}
