//! A configuration file of the shop: sections of keys, written as TOML, YAML or JSON.
//!
//! The text is always made from the whole document, so a change of one value changes one line, and
//! [`Document::line_of`] says which. What the services read back is their own affair (`part::settings`).

use serde_json::Value;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// TOML, with comments.
    Toml,
    /// YAML, with comments.
    Yaml,
    /// JSON, without.
    Json,
}

impl Format {
    /// The ending of a file name, without the dot.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Toml => "toml",
            Self::Yaml => "yaml",
            Self::Json => "json",
        }
    }
}

/// How a section shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A table of its own: `[pool]`, then `max = 20`.
    Nested,
    /// A prefix of each key: `pool.max = 20`.
    Flat,
}

/// One key and its value.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The key within its section.
    pub key: String,
    /// A whole number or a text.
    pub value: Value,
    /// A comment above it, where the format has comments.
    pub remark: Option<String>,
}

/// Keys that belong together.
#[derive(Debug, Clone)]
pub struct Section {
    /// Its name; empty for the keys at the top, which come first.
    pub name: String,
    /// A comment above it, where the format has comments.
    pub remark: Option<String>,
    /// Its keys, in order.
    pub entries: Vec<Entry>,
}

/// A whole file.
#[derive(Debug, Clone)]
pub struct Document {
    /// How it is written.
    pub format: Format,
    /// How its sections show.
    pub layout: Layout,
    /// Comments at the top.
    pub heading: Vec<String>,
    /// Its sections, in order.
    pub sections: Vec<Section>,
}

/// A line of the text, and the path of the key that stands on it.
type Line = (String, Option<String>);

/// The path of a key: `pool.max`, or `pool_size` at the top.
#[must_use]
pub fn path_of(section: &str, key: &str) -> String {
    if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") }
}

impl Document {
    /// The whole text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (line, _) in self.lines() {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    /// The line, counted from 1, on which the key at `path` stands.
    #[must_use]
    pub fn line_of(&self, path: &str) -> Option<usize> {
        self.lines().iter().position(|(_, at)| at.as_deref() == Some(path)).map(|index| index + 1)
    }

    /// The key at `path` as it stands on its line.
    #[must_use]
    pub fn written_key(&self, path: &str) -> Option<String> {
        let (section, entry) = self.find(path)?;
        Some(match self.layout {
            Layout::Nested => entry.key.clone(),
            Layout::Flat => path_of(&section.name, &entry.key),
        })
    }

    /// The value at `path`.
    #[must_use]
    pub fn value(&self, path: &str) -> Option<&Value> {
        self.find(path).map(|(_, entry)| &entry.value)
    }

    /// The same document with another value at `path`; unchanged where there is no such key.
    #[must_use]
    pub fn with(&self, path: &str, value: &Value) -> Self {
        let mut changed = self.clone();
        for section in &mut changed.sections {
            for entry in &mut section.entries {
                if path_of(&section.name, &entry.key) == path {
                    entry.value = value.clone();
                }
            }
        }
        changed
    }

    fn find(&self, path: &str) -> Option<(&Section, &Entry)> {
        let all = self.sections.iter().flat_map(|section| section.entries.iter().map(move |entry| (section, entry)));
        all.into_iter().find(|(section, entry)| path_of(&section.name, &entry.key) == path)
    }

    fn lines(&self) -> Vec<Line> {
        match self.format {
            Format::Toml => self.commented(" = ", |name| format!("[{name}]"), ""),
            Format::Yaml => self.commented(": ", |name| format!("{name}:"), "  "),
            Format::Json => self.json(),
        }
    }

    fn commented(&self, sign: &str, header: impl Fn(&str) -> String, indent: &str) -> Vec<Line> {
        let mut lines: Vec<Line> = self.heading.iter().map(|text| (format!("# {text}"), None)).collect();
        for section in &self.sections {
            let nested = self.layout == Layout::Nested && !section.name.is_empty();
            if !lines.is_empty() {
                lines.push((String::new(), None));
            }
            lines.extend(section.remark.iter().map(|text| (format!("# {text}"), None)));
            if nested {
                lines.push((header(&section.name), None));
            }
            let (indent, prefix) = if nested { (indent, "") } else { ("", section.name.as_str()) };
            for entry in &section.entries {
                lines.extend(entry.remark.iter().map(|text| (format!("{indent}# {text}"), None)));
                let key = path_of(prefix, &entry.key);
                lines.push((format!("{indent}{key}{sign}{}", entry.value), Some(path_of(&section.name, &entry.key))));
            }
        }
        lines
    }

    fn json(&self) -> Vec<Line> {
        let mut lines: Vec<Line> = vec![("{".to_owned(), None)];
        for (index, section) in self.sections.iter().enumerate() {
            let nested = self.layout == Layout::Nested && !section.name.is_empty();
            let last_section = index + 1 == self.sections.len();
            let (indent, prefix) = if nested { ("    ", "") } else { ("  ", section.name.as_str()) };
            if nested {
                lines.push((format!("  \"{}\": {{", section.name), None));
            }
            for (place, entry) in section.entries.iter().enumerate() {
                let last = place + 1 == section.entries.len() && (nested || last_section);
                let comma = if last { "" } else { "," };
                let key = Value::from(path_of(prefix, &entry.key));
                lines
                    .push((format!("{indent}{key}: {}{comma}", entry.value), Some(path_of(&section.name, &entry.key))));
            }
            if nested {
                lines.push((if last_section { "  }" } else { "  }," }.to_owned(), None));
            }
        }
        lines.push(("}".to_owned(), None));
        lines
    }
}

#[cfg(test)]
mod tests;
