//! Whether a config file parses, by the ending of its name.
//!
//! Only the form is looked at. A file whose ending is not known has no answer.

use std::fmt;

use saphyr_parser::{Event, Parser};
use warrant_kernel::redact::guard::first_chars;

/// A form that can be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// TOML 1.0.
    Toml,
    /// YAML 1.2, one document or several.
    Yaml,
    /// JSON.
    Json,
    /// Sections, `key = value` lines and comments.
    Ini,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Toml => "TOML",
            Self::Yaml => "YAML",
            Self::Json => "JSON",
            Self::Ini => "INI",
        })
    }
}

impl Form {
    /// The form of a file with this path.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        let (_, ending) = path.rsplit_once('.')?;
        match ending.to_ascii_lowercase().as_str() {
            "toml" => Some(Self::Toml),
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            "ini" => Some(Self::Ini),
            _ => None,
        }
    }

    /// Parses the bytes of a file.
    ///
    /// # Errors
    /// What is wrong, in one line; it may repeat a piece of the file.
    pub fn parse(self, bytes: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(bytes).map_err(|error| format!("not UTF-8: {error}"))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let parsed = match self {
            Self::Toml => toml::de::DeTable::parse(text).map(drop).map_err(|error| error.to_string()),
            Self::Json => {
                serde_json::from_str::<serde::de::IgnoredAny>(text).map(drop).map_err(|error| error.to_string())
            }
            Self::Yaml => yaml(text),
            Self::Ini => ini(text),
        };
        parsed.map_err(|message| first_chars(&message.split_whitespace().collect::<Vec<_>>().join(" "), 300).to_owned())
    }
}

/// Goes through the events: aliases are not followed, so a small file can't grow.
fn yaml(text: &str) -> Result<(), String> {
    tab_first(text)?;
    let mut depth = 0_usize;
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| error.to_string())?;
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
            Event::SequenceEnd | Event::MappingEnd => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > 128 {
            return Err("nested more than 128 deep".to_owned());
        }
    }
    Ok(())
}

/// The parser takes a tab for the indentation of a document's first line; the readers of these files do not.
fn tab_first(text: &str) -> Result<(), String> {
    let mut first = true;
    for (index, line) in text.lines().enumerate() {
        let content = line.trim_start();
        if line.starts_with("---") || line.starts_with("...") {
            first = true;
        } else if first && !content.is_empty() && !content.starts_with('#') && !line.starts_with('%') {
            let (indentation, _) = line.split_at(line.len() - content.len());
            if indentation.contains('\t') {
                return Err(format!("line {} begins with a tab; indent with spaces", index + 1));
            }
            first = false;
        }
    }
    Ok(())
}

fn ini(text: &str) -> Result<(), String> {
    let mut may_continue = false;
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        let continues = may_continue && line.starts_with([' ', '\t']);
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) || continues {
            continue;
        }
        let section = trimmed.strip_prefix('[').map(|rest| rest.trim_end_matches(']').len() + 1 == rest.len());
        let key = trimmed.split_once(['=', ':']).map(|(key, _)| !key.trim().is_empty());
        match (section, key) {
            (Some(true), _) => may_continue = false,
            (None, Some(true)) => may_continue = true,
            (Some(false), _) | (None, Some(false) | None) => {
                return Err(format!("line {} is neither a section, nor `key = value`, nor a comment", index + 1));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
