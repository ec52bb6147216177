//! Where a remote model is reached: one POST, then a stream of events, with every way it can fail told apart.
//!
//! The client is made at the first request, for setting up TLS costs milliseconds that other commands need not pay.

use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use warrant_kernel::redact::guard::Piece;
use warrant_toolbox::catalog::reach::Reach;

use crate::agent::model::ModelError;

use super::failure;
use super::sse::{Parser, TooLarge};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Most bytes read of an answer that reports an error.
const MAX_ERROR_BODY: usize = 64 << 10;

/// An API key and where it came from.
#[derive(Clone)]
pub(super) struct Key {
    /// The key.
    pub(super) value: String,
    /// The place for people: `$ANTHROPIC_API_KEY`.
    pub(super) from: String,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key from {}", self.from)
    }
}

/// A remote model.
#[derive(Debug)]
pub(super) struct Endpoint {
    /// Its name in the config.
    pub(super) name: String,
    /// The provider's name of the model.
    pub(super) model: String,
    /// The base URL, without user, query or fragment.
    pub(super) base_url: Url,
    /// The key, if one is sent.
    pub(super) key: Option<Key>,
    /// How long no byte may come.
    pub(super) idle: Duration,
    client: OnceLock<Client>,
}

impl Endpoint {
    /// An endpoint that has not been spoken to.
    pub(super) fn new(name: &str, model: &str, base_url: Url, key: Option<Key>, idle: Duration) -> Self {
        let (name, model) = (name.to_owned(), model.to_owned());
        Self { name, model, base_url, key, idle, client: OnceLock::new() }
    }

    /// Worth trying again.
    pub(super) fn transient(&self, message: impl Into<String>) -> ModelError {
        ModelError::Transient { model: self.name.clone(), message: message.into(), retry_after: None }
    }

    /// Not worth trying again.
    pub(super) fn permanent(&self, message: impl Into<String>) -> ModelError {
        ModelError::Permanent { model: self.name.clone(), message: message.into() }
    }

    fn client(&self) -> Result<&Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // A redirect would send the conversation to a host that the config does not name.
        let mut builder = Client::builder().connect_timeout(CONNECT_TIMEOUT).redirect(Policy::none());
        // A model, and a proxy on the way to it, may be anywhere but where credentials are handed out.
        let reach = Reach::anywhere(self.base_url.host_str().unwrap_or_default());
        let reach = reach.map_err(|refused| self.permanent(refused.to_string()))?;
        builder = builder.dns_resolver(Checked(reach));
        if self.base_url.host_str().is_some_and(is_this_machine) {
            builder = builder.no_proxy();
        }
        if self.base_url.scheme() == "http" {
            // Redirects are off, so no certificate is ever looked at; reading the system's costs milliseconds.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|error| self.permanent(failure::chain(&error)))?;
        Ok(self.client.get_or_init(|| client))
    }

    /// Posts `body` and waits for the head of the answer.
    pub(super) async fn post<'a>(
        &'a self,
        path: &str,
        headers: HeaderMap,
        body: Vec<u8>,
        cancel: &'a CancellationToken,
    ) -> Result<Events<'a>, ModelError> {
        let url = format!("{}/{path}", self.base_url.as_str().trim_end_matches('/'));
        let json = HeaderValue::from_static("application/json");
        let request = self.client()?.post(url).headers(headers).header(CONTENT_TYPE, json).body(body);
        let sent = self.guarded(cancel, request.send()).await?;
        let mut response = sent.map_err(|error| failure::of_transport(self, error))?;
        let status = response.status();
        if !status.is_success() {
            let retry_after = failure::retry_after(response.headers());
            let body = self.error_body(&mut response, cancel).await?;
            return Err(failure::of_status(self, status.as_u16(), &body, retry_after));
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if kind.starts_with("application/json") || kind.starts_with("text/html") {
            let kind: String = kind.chars().take(40).collect();
            return Err(self.permanent(format!(
                "{} answered with `{kind}` in place of an event stream; `base_url` must lead to an API that streams",
                self.base_url
            )));
        }
        Ok(Events { endpoint: self, response, cancel, parser: Parser::default(), ready: VecDeque::new() })
    }

    async fn error_body(&self, response: &mut Response, cancel: &CancellationToken) -> Result<String, ModelError> {
        let mut body: Vec<u8> = Vec::new();
        let read = loop {
            match self.guarded(cancel, response.chunk()).await {
                Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
                Ok(Ok(None)) => break Piece::up_to(body, MAX_ERROR_BODY),
                Err(ModelError::Cancelled) => return Err(ModelError::Cancelled),
                // The status says enough where the body breaks off or never ends.
                Ok(Err(_)) | Err(_) => break Piece::beginning(body),
            }
            if body.len() > MAX_ERROR_BODY {
                break Piece::up_to(body, MAX_ERROR_BODY);
            }
        };
        Ok(read.text().into_owned())
    }

    /// Ends `work` when the investigation ends or the provider falls silent.
    async fn guarded<T>(&self, cancel: &CancellationToken, work: impl Future<Output = T>) -> Result<T, ModelError> {
        match cancel.run_until_cancelled(timeout(self.idle, work)).await {
            None => Err(ModelError::Cancelled),
            Some(Err(_)) => Err(self.transient(format!("sent nothing for {}", shown(self.idle)))),
            Some(Ok(done)) => Ok(done),
        }
    }
}

/// Resolves names as the system does; what was judged is what is connected to.
struct Checked(Reach);

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let (host, reach) = (name.as_str().to_owned(), self.0.clone());
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host, 0)).await?.collect();
            found.iter().try_for_each(|address| reach.permits(address.ip()))?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

fn shown(duration: Duration) -> String {
    if duration.as_secs() > 0 { format!("{} s", duration.as_secs()) } else { format!("{} ms", duration.as_millis()) }
}

fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// The events of one answer. Dropping it closes the connection.
pub(super) struct Events<'a> {
    endpoint: &'a Endpoint,
    response: Response,
    cancel: &'a CancellationToken,
    parser: Parser,
    ready: VecDeque<String>,
}

impl Events<'_> {
    /// The data of the next event; none at the end of the stream.
    pub(super) async fn next(&mut self) -> Result<Option<String>, ModelError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let chunk = self.endpoint.guarded(self.cancel, self.response.chunk()).await?;
            let chunk = chunk.map_err(|error| {
                self.endpoint.transient(format!("the answer broke off: {}", failure::chain(&error.without_url())))
            })?;
            let Some(chunk) = chunk else { return Ok(None) };
            self.parser
                .push(&chunk, &mut self.ready)
                .map_err(|too_large: TooLarge| self.endpoint.permanent(too_large.to_string()))?;
        }
    }
}
