//! Links: only to hosts that the operator's own config names.

use std::collections::BTreeSet;

use reqwest::Url;

/// Longest address.
const LONGEST: usize = 2_000;

/// The hosts that links may lead to, as `host` or `host:port`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts(BTreeSet<String>);

/// An address that may be a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link(String);

impl Hosts {
    /// The hosts of these addresses; what is no address of the web gives none.
    pub fn of<'a>(addresses: impl IntoIterator<Item = &'a str>) -> Self {
        let hosts = addresses.into_iter().filter_map(|address| place(&Url::parse(address).ok()?));
        Self(hosts.collect())
    }

    /// No host: nothing becomes a link.
    #[must_use]
    pub fn none() -> Self {
        Self(BTreeSet::new())
    }

    /// The address as a link, where it leads to one of the hosts, openly: a web address without a name or password in it.
    #[must_use]
    pub fn link(&self, address: &str) -> Option<Link> {
        let url = Url::parse(address).ok()?;
        let open = url.username().is_empty() && url.password().is_none();
        let sent = url.as_str();
        let plain = sent.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '<' | '>' | '|' | '"' | '`'));
        (open && plain && sent.len() <= LONGEST && self.0.contains(&place(&url)?)).then(|| Link(sent.to_owned()))
    }
}

impl Link {
    /// The address as it is sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Host and port; none where it is not of the web.
fn place(url: &Url) -> Option<String> {
    let web = matches!(url.scheme(), "http" | "https");
    let host = url.host_str().filter(|_| web)?;
    Some(match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}
