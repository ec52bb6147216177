//! Where in the config a URL stands, and what may stand there.

use std::fmt;

use reqwest::Url;
use warrant_kernel::domain::name::{ServiceName, SourceName};

use crate::catalog::network::Network;
use crate::catalog::reach::Reach;
use crate::tools::sources::prometheus::query::Unfit;

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
    /// A query among the signals of a service that would not be asked.
    #[error("signal `{signal}` of service `{service}`: {unfit}")]
    Signal {
        /// The service.
        service: ServiceName,
        /// The signal.
        signal: String,
        /// Why not.
        unfit: Unfit,
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

/// Reads a URL of the config, and how far its host reaches.
pub(super) fn checked(
    place: &Place,
    text: &str,
    query: Query,
    networks: &[Network],
) -> Result<(Url, Reach), SourceProblem> {
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
    let host = url.host_str().unwrap_or_default().to_owned();
    // What is refused anyway is told as that, however it is written.
    let reach = Reach::of(&host, networks).map_err(|refused| wrong(format!("is refused: {refused}")))?;
    // `0x7f000001`, `127.1`, an ideograph that reads as a dot: whoever reviews the config has to see what is meant.
    if written_host(text).is_none_or(|written| !written.eq_ignore_ascii_case(&host)) {
        return Err(wrong(format!("names its host in an unusual form; it is read as `{host}`, write that")));
    }
    if host.ends_with('.') {
        return Err(wrong("names its host with a dot at the end; remove it".to_owned()));
    }
    Ok((url, reach))
}

/// The host as it stands in the text of a URL without a user.
fn written_host(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once("://")?;
    if !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") {
        return None;
    }
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    match authority.rfind(']') {
        Some(end) => authority.get(..=end),
        None => authority.split(':').next(),
    }
}
