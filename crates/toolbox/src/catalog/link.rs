//! A page about a service, for people: a dashboard, a repository, a manual. Nothing here follows it.

use serde::{Deserialize, Serialize};
use warrant_kernel::domain::visible::is_plain;

/// Longest title, in characters.
const MOST_TITLE: usize = 80;

/// Longest address, in bytes.
const MOST_URL: usize = 2_000;

/// A page, with the words under which it is shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct Link {
    title: String,
    url: String,
}

/// As the config has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    title: String,
    url: String,
}

/// Why something is no link.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Nobody could tell what it leads to.
    #[error("the title of a link must have 1 to {MOST_TITLE} characters, none of them hidden")]
    Title,
    /// It leads nowhere that a person could go, or elsewhere than it seems.
    #[error(
        "the `url` of a link must begin with `http://` or `https://`, name a host and no user, have no blanks and no quotes, and \
         at most {MOST_URL} bytes"
    )]
    Url,
}

impl Link {
    /// A link, where it is one.
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn new(title: &str, url: &str) -> Result<Self, LinkError> {
        let title = title.trim();
        if title.is_empty() || title.chars().count() > MOST_TITLE || !is_plain(title) {
            return Err(LinkError::Title);
        }
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).ok_or(LinkError::Url)?;
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let is_odd = |c: char| matches!(c, ' ' | '"' | '\'' | '<' | '>' | '`' | '\\' | '|' | '{' | '}');
        if host.is_empty() || host.contains('@') || url.len() > MOST_URL || !is_plain(url) || url.contains(is_odd) {
            return Err(LinkError::Url);
        }
        Ok(Self { title: title.to_owned(), url: url.to_owned() })
    }

    /// The words.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl TryFrom<Written> for Link {
    type Error = LinkError;

    fn try_from(written: Written) -> Result<Self, LinkError> {
        Self::new(&written.title, &written.url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_where_it_seems_to() {
        for url in ["https://grafana.example.com/d/abc?orgId=1", "http://127.0.0.1:3000/", "https://wiki.example.com"] {
            assert_eq!(Link::new("Dashboard", url).unwrap().url(), url);
        }
        for url in [
            "javascript:alert(1)",
            "https://",
            "https:///etc/passwd",
            "https://good.example.com@evil.example.com/",
            "https://a.example.com/\u{202e}",
            "https://a.example.com/x y",
            "https://a.example.com/|text>",
            "file:///etc/shadow",
        ] {
            assert_eq!(Link::new("Dashboard", url), Err(LinkError::Url), "{url}");
        }
        for title in ["", "  ", "two\nlines", "a\u{200b}b"] {
            assert_eq!(Link::new(title, "https://a.example.com/"), Err(LinkError::Title), "{title:?}");
        }
    }
}
