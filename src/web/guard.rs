//! What every request passes first: for which name it was sent, from which page, and what its answer may be used for.
//!
//! A page of another site that a browser is made to open can reach a loopback port; it can't choose the `Host` that is sent
//! there. So a request is answered only under names that the config has, or loopback's own. A webhook may be reached under a
//! further, public name, under which nothing else is answered. No answer ever allows another origin to read it.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::uri::Authority;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};

use super::error::{ApiError, Code};
use super::metrics::Metrics;
use super::metrics::labels::Refused;

/// Below these paths others' machines send to us, each proved in its own way.
const WEBHOOKS: [&str; 2] = ["/v1/alerts/", "/slack/"];

/// The names under which requests are answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// Everything is, besides under loopback's names. Lower case, without a port.
    pub everything: BTreeSet<String>,
    /// Webhooks are, and nothing else.
    pub webhooks: BTreeSet<String>,
    /// The address listened on, where it is a certain one: nobody's name can be made to lead to a number.
    pub address: Option<IpAddr>,
}

impl Names {
    fn answer(&self, host: &str, path: &str) -> bool {
        is_loopback(host)
            || self.everything.contains(host)
            || self.address.is_some_and(|own| address(host) == Some(own))
            || (is_webhook(path) && self.webhooks.contains(host))
    }
}

/// What the guard is made of.
#[derive(Clone)]
pub struct Guard {
    /// The names.
    pub names: Arc<Names>,
    /// Where refusals are counted.
    pub metrics: Arc<Metrics>,
}

/// Puts the guard in front of all routes, and answers in our form where there is none.
pub fn guarded(router: Router, guard: Guard) -> Router {
    router
        .fallback(|| async { ApiError::not_found("path") })
        .method_not_allowed_fallback(|| async {
            ApiError::new(Code::MethodNotAllowed, "METHOD_NOT_ALLOWED", "this path does not take that method")
        })
        .layer(from_fn_with_state(guard, pass))
}

/// The route that answered, for counting; the words are ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Route(pub(super) &'static str);

async fn pass(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let (method, webhook) = (request.method().clone(), WEBHOOKS.into_iter().find(|prefix| path.starts_with(prefix)));
    let mut answer = match check(&guard, &request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    let route = answer.extensions().get::<Route>().map(|route| route.0).or(webhook).unwrap_or("other");
    guard.metrics.answered(route, &method, answer.status());
    hold_close(answer.headers_mut());
    answer
}

fn check(guard: &Guard, request: &Request) -> Result<(), ApiError> {
    let refuse = |refused: Refused, reason: &'static str, message: &str| {
        guard.metrics.refused(refused);
        tracing::warn!(reason, "a request for another name or from another page was refused");
        Err(ApiError::new(Code::Forbidden, reason, message))
    };
    let Some(host) = host_of(request) else {
        return refuse(Refused::Host, "HOST_NOT_ALLOWED", "one `Host` is needed, and it must be a name");
    };
    if !guard.names.answer(host.name(), request.uri().path()) {
        let message = "nothing is answered under this `Host`; add it to `hosts` under `[web]` if it is ours";
        return refuse(Refused::Host, "HOST_NOT_ALLOWED", message);
    }
    // Browsers send an origin with what changes something, and with what another page asks for.
    let origins: Vec<&HeaderValue> = request.headers().get_all(header::ORIGIN).iter().collect();
    let is_own = |origin: &HeaderValue| {
        let origin = origin.to_str().ok().and_then(|text| Host::parse(text.split_once("://")?.1));
        origin.is_some_and(|origin| origin == host)
    };
    let from_afar = request.headers().get("sec-fetch-site").is_some_and(|site| site == "cross-site");
    if from_afar || !origins.into_iter().all(is_own) {
        return refuse(Refused::Origin, "ORIGIN_NOT_ALLOWED", "pages of other origins get no answer here");
    }
    Ok(())
}

/// What is said of every answer: it is data for whoever asked, and for no page.
fn hold_close(headers: &mut HeaderMap) {
    const SAID: [(HeaderName, &str); 5] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in SAID {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let allows: Vec<HeaderName> =
        headers.keys().filter(|name| name.as_str().starts_with("access-control-")).cloned().collect();
    for name in allows {
        headers.remove(name);
    }
}

/// A name and a port, as they stand in `Host`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Host {
    /// Lower case, without the dot that may end it and without the brackets of a number.
    name: String,
    port: Option<u16>,
}

impl Host {
    fn parse(text: &str) -> Option<Self> {
        let authority: Authority = text.parse().ok()?;
        // Nobody's name stands before it, and nothing but a port after it.
        let port = match text.strip_prefix(authority.host())? {
            "" => None,
            rest => Some(rest.strip_prefix(':')?.parse().ok()?),
        };
        let name = authority.host().to_ascii_lowercase();
        let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let name = bare.or_else(|| name.strip_suffix('.')).unwrap_or(&name).to_owned();
        (!name.is_empty()).then_some(Self { name, port })
    }

    fn name(&self) -> &str {
        &self.name
    }
}

/// The one host that a request names; none where it names none or several.
fn host_of(request: &Request) -> Option<Host> {
    let mut stated = request.headers().get_all(header::HOST).iter();
    let host = Host::parse(stated.next()?.to_str().ok()?)?;
    let in_target = request.uri().authority().map(|authority| Host::parse(authority.as_str()));
    (stated.next().is_none() && in_target.is_none_or(|other| other.as_ref() == Some(&host))).then_some(host)
}

/// Whether a request is for a name that only this machine has.
pub(super) fn is_for_loopback(request: &Request) -> bool {
    host_of(request).is_some_and(|host| is_loopback(host.name()))
}

fn is_webhook(path: &str) -> bool {
    WEBHOOKS.iter().any(|prefix| path.starts_with(prefix))
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || address(host).is_some_and(|address| address.is_loopback())
}

fn address(host: &str) -> Option<IpAddr> {
    host.parse().ok()
}

#[cfg(test)]
mod tests;
