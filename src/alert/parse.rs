//! The bodies of each kind of sender, into drafts of alerts.
//!
//! Fields that we do not know are nobody's business here, and one that has another shape than it should counts as absent:
//! senders add to their bodies as they like, and half an alert is better than none. Only a body that holds no alert at all
//! is refused. Nothing panics, whatever comes.

mod field;

mod prometheus;

mod pagerduty;

mod opsgenie;

mod sentry;

mod sns;

mod templates;

mod generic;

#[cfg(test)]
mod tests;

use serde_json::Value;

use super::config::{Kind, Route};
use super::content::Draft;

/// More alerts in one body are refused whole.
const MOST_ALERTS: usize = 4_096;

/// What a body says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// Alerts.
    Alerts(Vec<Draft>),
    /// Nothing that anything follows from, and what it is.
    Aside(&'static str),
}

/// Why a body can't be taken. The texts are ours throughout: they go back to the sender and into the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// No JSON.
    #[error("the body is not JSON (line {line}, column {column}); check what the sender is configured to send")]
    Json {
        /// Where it stops being JSON.
        line: usize,
        /// Where in the line.
        column: usize,
    },
    /// JSON, and no alert.
    #[error(
        "the body has no `{pointer}`, so it is no alert of kind `{kind}`; check `kind` in the config of this route"
    )]
    Shape {
        /// What such a body would have.
        pointer: &'static str,
        /// The kind that was expected.
        kind: &'static str,
    },
    /// No pointer of the config leads anywhere.
    #[error("`pointers.name` and `pointers.each` of this route lead nowhere in the body")]
    Pointers,
    /// A template whose variables nobody has replaced.
    #[error("the body holds the template's variables as they are; nothing in it tells one alert from another")]
    Template,
    /// Too many.
    #[error(
        "the body has more than {MOST_ALERTS} alerts; let the sender limit them, as by Alertmanager's `max_alerts`"
    )]
    TooMany,
}

/// Parses what a route's sender posts.
///
/// # Errors
/// [`ParseError`] where there is no alert in it.
pub fn parse(route: &Route, body: &[u8]) -> Result<Said, ParseError> {
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| ParseError::Json { line: error.line(), column: error.column() })?;
    let said = match route.kind {
        Kind::Alertmanager | Kind::Grafana => prometheus::parse(route, &value),
        Kind::Pagerduty => pagerduty::parse(&value),
        Kind::Opsgenie => opsgenie::parse(&value),
        Kind::Sentry => sentry::parse(&value),
        Kind::Sns => sns::parse(&value),
        Kind::Datadog => templates::datadog(&value),
        Kind::Zabbix => templates::zabbix(&value),
        Kind::Generic => generic::parse(&route.pointers, &value),
    }?;
    match said {
        Said::Alerts(alerts) if alerts.len() > MOST_ALERTS => Err(ParseError::TooMany),
        said => Ok(said),
    }
}
