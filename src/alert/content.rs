//! One alert as it is kept: masked first, then cut to size, with every cut said.
//!
//! A parser makes a [`Draft`]; [`keep`] makes [`Alert`]s of drafts and is the only way there, so no text gets past the
//! redactor. Label names that are no identifiers are not kept: somebody might put them into a query.

use std::collections::BTreeMap;
use std::fmt::Write;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use warrant_kernel::domain::hex::hex;
use warrant_kernel::domain::visible::visible;
use warrant_kernel::redact::{RedactError, Redactor};

#[cfg(test)]
mod tests;

const MOST_LABELS: usize = 64;
const MOST_ANNOTATIONS: usize = 32;
const LABEL: usize = 1_024;
const ANNOTATION: usize = 4_096;
const NAME: usize = 200;
const SUMMARY: usize = 500;
const LINK: usize = 2_048;
/// So many cuts are named; the rest are counted.
const MOST_CUTS: usize = 8;

/// Whether an alert fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It does.
    Firing,
    /// It did.
    Resolved,
}

/// What an alert says, in a stranger's words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// The alert's name.
    pub name: String,
    /// The word for its severity; empty where there is none.
    #[serde(default)]
    pub severity: String,
    /// One sentence.
    #[serde(default)]
    pub summary: String,
    /// A page about it.
    #[serde(default)]
    pub link: Option<String>,
    /// What it is about.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// What is said of it.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
}

/// An alert as it was parsed: neither masked nor cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// What stays the same from one firing to the next: 16 hexadecimal digits, or the first 32 of a hash.
    pub fingerprint: String,
    /// When it began, where that was said.
    pub starts_at: Option<Timestamp>,
    /// Whether it fires.
    pub state: State,
    /// What it says.
    pub words: Words,
    /// What the sender itself left out, in our words.
    pub unsent: Option<String>,
}

/// An alert, masked and bounded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alert {
    /// What stays the same from one firing to the next.
    pub fingerprint: String,
    /// When it began.
    pub starts_at: Timestamp,
    /// Whether it fires.
    pub state: State,
    /// What it says.
    pub words: Words,
    /// What is not here, in our words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// Why alerts could not be kept. Nothing of them may be sent or stored then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeepError {
    /// The redactor failed.
    #[error("the alert could not be masked")]
    Masked(#[from] RedactError),
    /// The masked words are no words of an alert any more.
    #[error("the alert has another shape after it was masked")]
    Shape,
}

/// A fingerprint from the sender's own, or from parts that tell the alert from others.
#[must_use]
pub fn fingerprint(parts: &[&str]) -> String {
    if let [own] = parts
        && own.len() == 16
        && own.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    {
        return (*own).to_owned();
    }
    let mut hash = Sha256::new();
    for part in parts {
        // The length keeps `a`, `bc` from `ab`, `c`.
        hash.update(part.len().to_be_bytes());
        hash.update(part.as_bytes());
    }
    hex(&hash.finalize()).chars().take(32).collect()
}

/// A fingerprint from the labels, for a sender that gives none.
#[must_use]
pub fn fingerprint_of(name: &str, labels: &BTreeMap<String, String>) -> String {
    let pairs = labels.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]);
    fingerprint(&std::iter::once(name).chain(pairs).collect::<Vec<_>>())
}

/// Masks and cuts. An alert that does not say when it began began in the ten minutes of its arrival, so that a second
/// delivery of it is the same alert.
///
/// # Errors
/// [`KeepError`]; nothing is kept then.
pub fn keep(drafts: Vec<Draft>, redactor: &Redactor, at: Timestamp) -> Result<Vec<Alert>, KeepError> {
    let rows: Result<Vec<Value>, _> = drafts.iter().map(|draft| serde_json::to_value(&draft.words)).collect();
    let (masked, _) = redactor.redact_rows(&rows.map_err(|_| KeepError::Shape)?)?;
    if masked.len() != drafts.len() {
        return Err(KeepError::Shape);
    }
    let kept = drafts.into_iter().zip(masked).map(|(draft, masked)| {
        let mut cuts = Cuts::default();
        if let Some(unsent) = draft.unsent {
            cuts.named.push(unsent);
        }
        let words = serde_json::from_value(masked).map_err(|_| KeepError::Shape)?;
        let words = cuts.words(words);
        let starts_at = draft.starts_at.unwrap_or_else(|| ten_minutes_of(at));
        let Draft { fingerprint, state, .. } = draft;
        Ok(Alert { fingerprint, starts_at, state, words, left_out: cuts.said() })
    });
    kept.collect()
}

fn ten_minutes_of(at: Timestamp) -> Timestamp {
    let over = SignedDuration::from_secs(at.as_second().rem_euclid(600));
    let whole = Timestamp::from_second(at.as_second()).unwrap_or(at);
    whole.checked_sub(over).unwrap_or(at)
}

#[derive(Default)]
struct Cuts {
    named: Vec<String>,
    more: usize,
}

impl Cuts {
    fn say(&mut self, what: String) {
        if self.named.len() < MOST_CUTS {
            self.named.push(what);
        } else {
            self.more += 1;
        }
    }

    fn said(mut self) -> Vec<String> {
        if self.more > 0 {
            self.named.push(format!("{} cuts more", self.more));
        }
        self.named
    }

    /// At most `most` characters of one line.
    fn line(&mut self, what: &str, text: &str, most: usize) -> String {
        let mut shown = String::new();
        let (mut left, mut chars) = (most, text.trim().chars());
        for c in chars.by_ref() {
            if left == 0 {
                // This one and the rest.
                let over = 1 + chars.count();
                self.say(format!("{over} characters of {what}"));
                shown.push('…');
                break;
            }
            left -= 1;
            shown.push(c);
        }
        visible(&shown)
    }

    /// As [`Self::line`], with the line ends of the text.
    fn lines(&mut self, what: &str, text: &str, most: usize) -> String {
        let cut = {
            let kept: String = text.trim().chars().take(most).collect();
            let over = text.trim().chars().count().saturating_sub(most);
            if over > 0 {
                self.say(format!("{over} characters of {what}"));
            }
            kept
        };
        let lines: Vec<String> = cut.lines().map(visible).collect();
        lines.join("\n")
    }

    fn words(&mut self, words: Words) -> Words {
        let name = self.line("the name", &words.name, NAME);
        let severity = self.line("the severity", &words.severity, 64);
        let summary = self.line("the summary", &words.summary, SUMMARY);
        let link = words.link.and_then(|link| self.link(&link));
        let mut labels = BTreeMap::new();
        for (name, value) in words.labels {
            let shown = visible(&name.chars().take(64).collect::<String>());
            if !is_identifier(&name) {
                self.say(format!("the label `{shown}`, whose name is no identifier"));
            } else if labels.len() == MOST_LABELS {
                self.say(format!("the label `{shown}`, beyond {MOST_LABELS}"));
            } else {
                let value = self.line(&format!("the label `{shown}`"), &value, LABEL);
                labels.insert(name, value);
            }
        }
        let mut annotations = BTreeMap::new();
        for (name, value) in words.annotations {
            let shown = visible(&name.chars().take(64).collect::<String>());
            if !is_identifier(&name) {
                self.say(format!("the annotation `{shown}`, whose name is no identifier"));
            } else if annotations.len() == MOST_ANNOTATIONS {
                self.say(format!("the annotation `{shown}`, beyond {MOST_ANNOTATIONS}"));
            } else {
                let value = self.lines(&format!("the annotation `{shown}`"), &value, ANNOTATION);
                annotations.insert(name, value);
            }
        }
        let name = if name.is_empty() { "an alert without a name".to_owned() } else { name };
        Words { name, severity, summary, link, labels, annotations }
    }

    fn link(&mut self, link: &str) -> Option<String> {
        let is_web = link.starts_with("https://") || link.starts_with("http://");
        let is_plain = link.len() <= LINK && link.bytes().all(|byte| byte.is_ascii_graphic());
        if link.is_empty() {
            return None;
        }
        if !(is_web && is_plain) {
            self.say("a link that is no plain address of a web page".to_owned());
            return None;
        }
        Some(link.to_owned())
    }
}

/// Letters, digits, `_`, `.`, `-` and `/`, beginning with a letter or `_`.
fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && name.len() <= 128
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'/'))
}

impl Words {
    /// The words for ranking runbooks and for people: name, summary, description, then the labels.
    #[must_use]
    pub fn told(&self) -> String {
        let mut told = self.name.clone();
        let said = self.annotations.get("description").map(String::as_str).unwrap_or_default();
        for part in [self.summary.as_str(), said] {
            if !part.is_empty() && part != self.name {
                told.push('\n');
                told.push_str(part);
            }
        }
        let labels = self.labels.iter().filter(|(name, _)| *name != "alertname");
        let pairs: Vec<String> = labels.map(|(name, value)| format!("{name}={value}")).collect();
        if !pairs.is_empty() {
            // Writing to a text never fails.
            let _ = write!(told, "\nlabels: {}", pairs.join(", "));
        }
        told
    }
}
