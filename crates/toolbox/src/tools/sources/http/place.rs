//! Where in the config a URL stands, and what may stand there.

use std::fmt;

use reqwest::Url;
use warrant_kernel::domain::name::{ServiceName, SourceName};

use super::address;

/// Where in the config a URL stands; for messages that say what to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// `[metrics.NAME]`, `[alertmanagers.NAME]` or `[http.NAME]`.
    Source {
        /// The section.
        kind: &'static str,
        /// The name in it.
        name: SourceName,
    },
    /// A URL of `[services.NAME]`.
    Service {
        /// The service.
        service: ServiceName,
        /// The key.
        field: &'static str,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source { kind, name } => write!(f, "`[{kind}.{name}]`"),
            Self::Service { service, field } => write!(f, "`{field}` of service `{service}`"),
        }
    }
}

/// Something in the config that no client can be made of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceProblem {
    /// The URL is none, or holds what must not stand in it. Its text is not repeated: it may hold a password.
    #[error("{place}: the URL {why}")]
    Url {
        /// Where it stands.
        place: Place,
        /// What is wrong and what would do.
        why: String,
    },
    /// A credential or a CA that can't be read.
    #[error("{place}: {why}")]
    Setting {
        /// Where it stands.
        place: Place,
        /// What is wrong and what would do.
        why: String,
    },
}

/// Whether a URL may bear a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Query {
    /// A page of its own.
    Allowed,
    /// A base beneath which paths are built.
    Refused,
}

/// Reads a URL of the config.
pub(super) fn checked(place: &Place, text: &str, query: Query) -> Result<Url, SourceProblem> {
    let wrong = |why: String| SourceProblem::Url { place: place.clone(), why };
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(wrong("holds a space or a control character; remove it".to_owned()));
    }
    let url: Url = text
        .parse()
        .map_err(|error| wrong(format!("can't be read ({error}); write `http://host:port` or `https://host`")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("is neither `http://` nor `https://`; only these are read".to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("holds a user or a password; use `basic_user` and `basic_password_env`".to_owned()));
    }
    if url.fragment().is_some() {
        return Err(wrong("has a fragment; remove all from the `#` on".to_owned()));
    }
    if query == Query::Refused && url.query().is_some() {
        return Err(wrong("has a query; remove all from the `?` on".to_owned()));
    }
    match literal(&url).map(address::allowed) {
        Some(Err(refused)) => Err(wrong(format!("is refused: {refused}"))),
        Some(Ok(())) | None => Ok(url),
    }
}

/// The address that stands in the URL; the parser has turned `0xA9FEA9FE` and its like into one by now.
fn literal(url: &Url) -> Option<std::net::IpAddr> {
    url.host_str()?.trim_start_matches('[').trim_end_matches(']').parse().ok()
}
