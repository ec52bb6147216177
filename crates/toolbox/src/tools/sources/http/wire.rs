//! The connections of one client, made at the first request: TLS set-up costs milliseconds that a run which never
//! connects must not pay.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::{Certificate, Client, ClientBuilder, redirect};
use warrant_kernel::call::tool::ReadError;

use super::address::CheckedResolver;
use super::place::Place;
use crate::catalog::reach::Reach;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Whether the server must prove who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    /// No TLS at all.
    Plain,
    /// TLS, verified.
    Tls,
}

/// What connections are made with.
pub(super) struct Wire {
    scheme: Scheme,
    reach: Reach,
    roots: Vec<Certificate>,
    client: OnceLock<Client>,
    unverified: OnceLock<Client>,
}

impl Wire {
    pub(super) fn new(scheme: Scheme, reach: Reach, roots: Vec<Certificate>) -> Self {
        Self { scheme, reach, roots, client: OnceLock::new(), unverified: OnceLock::new() }
    }

    /// The client.
    pub(super) fn client(&self, place: &Place) -> Result<Client, ReadError> {
        let roots = self.roots.iter().cloned();
        let builder = match self.scheme {
            // Nothing is ever verified here; an empty set of roots spares reading the system's.
            Scheme::Plain => self.base().tls_certs_only([]),
            Scheme::Tls => self.base().tls_certs_merge(roots).tls_info(true),
        };
        made(&self.client, place, builder)
    }

    /// A client that takes any certificate, so that the dates of a bad one can be told. Its answers count for nothing.
    pub(super) fn unverified(&self, place: &Place) -> Result<Client, ReadError> {
        made(&self.unverified, place, self.base().tls_danger_accept_invalid_certs(true).tls_info(true))
    }

    fn base(&self) -> ClientBuilder {
        Client::builder()
            .user_agent(concat!("warrant/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_TIMEOUT)
            .dns_resolver(CheckedResolver(self.reach.clone()))
    }
}

fn made(cell: &OnceLock<Client>, place: &Place, builder: ClientBuilder) -> Result<Client, ReadError> {
    if let Some(client) = cell.get() {
        return Ok(client.clone());
    }
    let client = builder.build().map_err(|error| ReadError::Backend {
        reason: "TLS_SETUP",
        message: format!(
            "{place}: TLS can't be set up ({}); check `ca_file`, or install the system's CA certificates",
            super::failure::cause(&error)
        ),
        retryable: false,
    })?;
    // Two first requests at once make two clients; one is kept.
    Ok(cell.get_or_init(|| client).clone())
}
