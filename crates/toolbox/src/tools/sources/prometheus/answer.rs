//! The shapes in which a server with the Prometheus API answers. Unknown fields are let be: servers add their own.

use std::collections::BTreeMap;
use std::fmt;

use jiff::{SignedDuration, Timestamp};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use warrant_kernel::call::tool::ReadError;
use warrant_kernel::domain::name::SourceName;
use warrant_kernel::redact::guard::first_chars;

use crate::tools::sources::http::answer::Answer;

/// Most characters of a server's own message that are passed on.
const SAID: usize = 600;

/// Data, and what the server said beside them.
#[derive(Debug, Clone, PartialEq)]
pub struct Told<T> {
    /// The data.
    pub data: T,
    /// The server's warnings.
    pub warnings: Vec<String>,
    /// The server says that parts of its storage did not answer.
    pub partial: bool,
}

#[derive(Deserialize)]
pub(super) struct Envelope<T> {
    data: T,
    #[serde(default)]
    warnings: Vec<String>,
    #[serde(default)]
    infos: Vec<String>,
    #[serde(default, rename = "isPartial")]
    partial: bool,
}

impl<T> Envelope<T> {
    pub(super) fn told(self) -> Told<T> {
        let mut warnings = self.warnings;
        warnings.extend(self.infos);
        warnings.truncate(10);
        let warnings = warnings.into_iter().map(|warning| first_chars(&warning, SAID).to_owned()).collect();
        Told { data: self.data, warnings, partial: self.partial }
    }
}

#[derive(Deserialize)]
pub(super) struct Refusal {
    pub(super) status: String,
    #[serde(default, rename = "errorType")]
    kind: String,
    #[serde(default)]
    error: String,
}

impl Refusal {
    /// The refusal in the server's own words.
    pub(super) fn told_by(&self, source: &SourceName, answer: &Answer) -> ReadError {
        let said = first_chars(&self.error, SAID);
        match (answer.status(), self.kind.as_str()) {
            (401 | 403, _) => answer.bad_status(),
            (_, "timeout" | "canceled") | (503, _) => ReadError::Backend {
                reason: "QUERY_TIMEOUT",
                message: format!("`{source}` gave up on the query: {said}; try a narrower window or fewer series"),
                retryable: true,
            },
            (400 | 422, "execution") => ReadError::Invalid {
                reason: "QUERY_FAILED",
                message: format!("`{source}` could not carry out the query: {said}"),
            },
            (400 | 422, _) => {
                ReadError::Invalid { reason: "QUERY_INVALID", message: format!("`{source}` refused the query: {said}") }
            }
            (status, _) => ReadError::Backend {
                reason: "SERVER_ERROR",
                message: format!("`{source}` answered {status}: {said}"),
                retryable: status >= 500,
            },
        }
    }
}

/// The answer to a range query.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Matrix {
    /// The series.
    pub result: Vec<Series>,
}

/// One series.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Series {
    /// Its labels, `__name__` among them; the first [`MAX_LABELS`] that came.
    #[serde(deserialize_with = "labels")]
    pub metric: BTreeMap<String, String>,
    /// Its points; none for a native histogram.
    #[serde(default)]
    pub values: Vec<Point>,
}

/// Most labels of one series that are kept.
pub const MAX_LABELS: usize = 128;

/// Reads labels; of more than [`MAX_LABELS`] none is made.
fn labels<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    struct Labels;

    impl<'de> Visitor<'de> for Labels {
        type Value = BTreeMap<String, String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("labels and their values")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut kept = BTreeMap::new();
            while kept.len() < MAX_LABELS {
                let Some((name, value)) = map.next_entry()? else { return Ok(kept) };
                kept.insert(name, value);
            }
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(kept)
        }
    }

    deserializer.deserialize_map(Labels)
}

/// One point.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "(f64, String)")]
pub struct Point {
    /// When.
    pub time: Timestamp,
    /// The value; `NaN` and infinities are values.
    pub value: f64,
}

impl TryFrom<(f64, String)> for Point {
    type Error = String;

    fn try_from((seconds, value): (f64, String)) -> Result<Self, String> {
        let time = SignedDuration::try_from_secs_f64(seconds).ok().and_then(|at| Timestamp::from_duration(at).ok());
        let shown = || first_chars(&value, 40);
        Ok(Self {
            time: time.ok_or_else(|| format!("`{seconds}` is no time in seconds"))?,
            value: value.parse().map_err(|_| format!("`{}` is no number", shown()))?,
        })
    }
}

/// What is known of a metric beside its samples.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Metadata {
    /// `counter`, `gauge`, ...
    #[serde(default, rename = "type")]
    pub kind: String,
    /// Its help text.
    #[serde(default)]
    pub help: String,
}

/// Alerts held by rules.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Alerts {
    /// The alerts.
    pub alerts: Vec<RuleAlert>,
}

/// One alert held by a rule.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RuleAlert {
    /// Its labels, `alertname` among them.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    /// `pending` or `firing`.
    #[serde(default)]
    pub state: String,
    /// Since when its expression has held.
    #[serde(default, rename = "activeAt")]
    pub active_at: Option<Timestamp>,
}
