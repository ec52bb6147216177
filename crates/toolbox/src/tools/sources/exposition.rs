//! The Prometheus text format: what a `/metrics` page says, read line by line and never trusted.
//!
//! [`parse`] takes any text: a line that isn't one of the format is counted and skipped, what is beyond the limits is
//! counted and left out. [`family`] puts the samples of a histogram or summary together; [`delta`] compares two pages.

mod line;

pub mod family;

pub mod delta;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;

/// What a page is asked for in; other forms than the text format are not read.
pub const ACCEPT: &str = "text/plain;version=0.0.4,*/*;q=0.1";
/// Most samples that are kept of one page.
pub const MAX_SAMPLES: usize = 20_000;
/// Longest line that is looked at, in bytes.
pub const MAX_LINE: usize = 16 * 1024;
/// Most labels of one sample.
pub const MAX_LABELS: usize = 64;

/// What a metric is, as its page declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Only grows, save for restarts.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts by bucket.
    Histogram,
    /// Quantiles that the process worked out.
    Summary,
    /// Not said.
    Untyped,
}

impl Kind {
    /// The word as it stands on a page.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
            Self::Summary => "summary",
            Self::Untyped => "untyped",
        }
    }
}

/// Labels sorted by name; each name once.
pub type Labels = Vec<(String, String)>;

/// One line of values.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The name, suffixes included.
    pub name: String,
    /// Its labels.
    pub labels: Labels,
    /// Its value; `NaN` and infinities are values.
    pub value: f64,
}

/// What the page says of a metric before its samples.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// Its type, where declared.
    pub kind: Option<Kind>,
    /// Its help text, where given.
    pub help: Option<String>,
}

/// A page that has been read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// Declarations by metric name.
    pub about: HashMap<String, About>,
    /// Samples in the order of the page.
    pub samples: Vec<Sample>,
    /// Lines that are none of the format, and the number of the first of them.
    pub malformed: u64,
    /// The number of the first malformed line, from 1.
    pub first_malformed: Option<u64>,
    /// Samples beyond [`MAX_SAMPLES`].
    pub beyond: u64,
}

/// Reads a page. Any text will do.
#[must_use]
pub fn parse(text: &str) -> Page {
    let mut page = Page::default();
    for (number, raw) in (1..).zip(text.split('\n')) {
        let trimmed = raw.trim_matches([' ', '\t', '\r']);
        if trimmed.is_empty() {
            continue;
        }
        let understood = if trimmed.len() > MAX_LINE {
            false
        } else if let Some(comment) = trimmed.strip_prefix('#') {
            declare(&mut page, comment)
        } else if page.samples.len() >= MAX_SAMPLES {
            page.beyond += 1;
            true
        } else {
            line::sample(trimmed).map(|sample| page.samples.push(sample)).is_some()
        };
        if !understood {
            page.malformed += 1;
            page.first_malformed.get_or_insert(number);
        }
    }
    page
}

/// Takes a `# TYPE` or `# HELP` line; every other comment is none of ours, and well-formed.
fn declare(page: &mut Page, comment: &str) -> bool {
    let (word, rest) = line::word(comment);
    if !matches!(word, "TYPE" | "HELP") {
        return true;
    }
    let (name, text) = line::word(rest);
    if !line::is_metric_name(name) || (page.about.len() >= MAX_SAMPLES && !page.about.contains_key(name)) {
        return false;
    }
    let about = page.about.entry(name.to_owned()).or_default();
    if word == "HELP" {
        about.help = Some(line::unescaped(text.trim_start_matches([' ', '\t'])));
        return true;
    }
    about.kind = match text.trim_matches([' ', '\t']) {
        "counter" => Some(Kind::Counter),
        "gauge" | "stateset" | "info" => Some(Kind::Gauge),
        "histogram" | "gaugehistogram" => Some(Kind::Histogram),
        "summary" => Some(Kind::Summary),
        "untyped" | "unknown" => Some(Kind::Untyped),
        _ => None,
    };
    about.kind.is_some()
}

impl fmt::Display for Page {
    /// The page in its own format: [`parse`] reads it back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<_> = self.about.iter().collect();
        names.sort_unstable_by_key(|(name, _)| *name);
        for (name, about) in names {
            if let Some(help) = &about.help {
                writeln!(f, "# HELP {name} {}", help.replace('\\', "\\\\").replace('\n', "\\n"))?;
            }
            if let Some(kind) = about.kind {
                writeln!(f, "# TYPE {name} {}", kind.as_str())?;
            }
        }
        for sample in &self.samples {
            writeln!(f, "{sample}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (at, (name, value)) in self.labels.iter().enumerate() {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            write!(f, "{}{name}=\"{value}\"", if at == 0 { '{' } else { ',' })?;
        }
        if !self.labels.is_empty() {
            f.write_str("}")?;
        }
        if self.value.is_infinite() {
            return f.write_str(if self.value > 0.0 { " +Inf" } else { " -Inf" });
        }
        write!(f, " {}", self.value)
    }
}
