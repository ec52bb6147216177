//! `POST /v1/alerts/NAME`: who sends it, what it says, masked, into the store, answered. Nothing else happens here.
//!
//! Nothing of a body is read before the headers have shown what they can, and never more than the route's limit. Whatever
//! can't be kept is answered with 503, so that the sender comes again. A route that is off is a path that is not there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_LENGTH, RETRY_AFTER};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::post;
use futures_util::StreamExt;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::domain::name::ServiceName;
use warrant_kernel::domain::time::rfc3339;
use warrant_kernel::redact::Redactor;
use warrant_kernel::store::Store;
use warrant_kernel::store::desk::{Arrival, Received};

use super::config::{Checked, Kind, Route};
use super::content::{self, Alert};
use super::counts::{Counts, Event};
use super::incident::{Delivery, Neighbourhood};
use super::parse::{self, ParseError, Said};
use super::sns::{Amazon, Message, Network, Verifier};
use super::worker::CHANNEL;

#[cfg(test)]
mod tests;

/// How long a body may take to come.
const PATIENCE: Duration = Duration::from_secs(4);

/// Bodies of one route that are held at once.
const AT_ONCE: usize = 16;

/// What the front works with.
#[derive(Clone)]
pub struct Parts {
    /// Where arrivals are kept.
    pub store: Store,
    /// Masks what comes in.
    pub redactor: Redactor,
    /// Which services there are.
    pub around: Arc<dyn Neighbourhood>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The counts, the same as the worker's.
    pub counts: Arc<Counts>,
}

/// Where senders of alerts post.
pub const PATH: &str = "/v1/alerts/{name}";

/// A route that is on.
struct Open {
    route: Route,
    held: Semaphore,
    /// Set for SNS.
    verifier: Option<Verifier>,
}

struct Front {
    parts: Parts,
    routes: BTreeMap<String, Open>,
    queue: u64,
}

/// The router of all routes that are on.
pub fn router(config: &Checked, parts: Parts) -> Router {
    router_with(config, parts, || Box::new(Network))
}

fn router_with(config: &Checked, parts: Parts, amazon: fn() -> Box<dyn Amazon>) -> Router {
    let open = |route: &Route| {
        let verifier = || Verifier::new(route.topics.clone(), route.subscriptions, amazon());
        let verifier = (route.kind == Kind::Sns).then(verifier);
        Open { route: route.clone(), held: Semaphore::new(AT_ONCE), verifier }
    };
    let routes = config.routes.iter().map(|(name, route)| (name.clone(), open(route))).collect();
    let front = Front { parts, routes, queue: config.limits.queue };
    Router::new().route(PATH, post(receive)).with_state(Arc::new(front))
}

/// Why a request is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    Unauthenticated,
    TooLarge(usize),
    TooSlow,
    Broken,
    Unreadable(ParseError),
    Unavailable(&'static str),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, why) = match self {
            Self::Unauthenticated => (StatusCode::UNAUTHORIZED, super::authentic::Refused.to_string()),
            Self::TooLarge(limit) => (StatusCode::PAYLOAD_TOO_LARGE, format!("the body has more than {limit} bytes")),
            Self::TooSlow => (StatusCode::REQUEST_TIMEOUT, "the body took too long to come".to_owned()),
            Self::Broken => (StatusCode::BAD_REQUEST, "the body did not come whole".to_owned()),
            Self::Unreadable(error) => (StatusCode::BAD_REQUEST, error.to_string()),
            Self::Unavailable(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}; send it again")),
        };
        let body = Json(json!({ "error": why }));
        if status == StatusCode::SERVICE_UNAVAILABLE {
            return (status, [(RETRY_AFTER, "5")], body).into_response();
        }
        (status, body).into_response()
    }
}

async fn receive(
    State(front): State<Arc<Front>>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let Some(open) = front.routes.get(&name) else { return StatusCode::NOT_FOUND.into_response() };
    match front.take(open, &headers, body).await {
        Ok(kept) => Json(kept).into_response(),
        Err(refusal) => {
            let event = match refusal {
                Refusal::Unauthenticated => Event::Unauthenticated,
                Refusal::TooLarge(_) => Event::TooLarge,
                Refusal::TooSlow | Refusal::Broken | Refusal::Unreadable(_) => Event::Unreadable,
                Refusal::Unavailable(_) => Event::Unavailable,
            };
            front.parts.counts.count(event);
            tracing::warn!(route = name, ?refusal, "an alert was not taken");
            refusal.into_response()
        }
    }
}

impl Front {
    async fn take(&self, open: &Open, headers: &HeaderMap, body: Body) -> Result<Value, Refusal> {
        let Open { route, held, verifier } = open;
        match verifier {
            Some(verifier) if verifier.expects(headers) => {}
            Some(_) => return Err(Refusal::Unauthenticated),
            None => route.authentication.before(headers).map_err(|_| Refusal::Unauthenticated)?,
        }
        let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        if length.is_some_and(|length| length > route.body_limit) {
            return Err(Refusal::TooLarge(route.body_limit));
        }
        if self.parts.counts.waiting() >= self.queue {
            return Err(Refusal::Unavailable("too many alerts wait"));
        }
        let permit = timeout(PATIENCE / 2, held.acquire()).await;
        let Ok(Ok(_permit)) = permit else { return Err(Refusal::Unavailable("too many bodies come at once")) };
        let body = timeout(PATIENCE, read(body, route.body_limit)).await.map_err(|_| Refusal::TooSlow)??;
        let now = self.parts.clock.now();
        match verifier {
            None => route.authentication.whole(headers, &body, now).map_err(|_| Refusal::Unauthenticated)?,
            Some(verifier) => match verifier.verify(&body, now).await.ok_or(Refusal::Unauthenticated)? {
                Message::Notification => {}
                Message::Subscription(what) => return Ok(json!({ "received": 0, "known": 0, "note": what })),
            },
        }
        self.keep(route, body, now).await
    }

    async fn keep(&self, route: &Route, body: Bytes, now: Timestamp) -> Result<Value, Refusal> {
        let (reading, redactor, around) = (route.clone(), self.parts.redactor.clone(), Arc::clone(&self.parts.around));
        // A megabyte of hostile JSON takes a while.
        let read = tokio::task::spawn_blocking(move || deliveries(&reading, &body, &redactor, &*around, now)).await;
        let deliveries = match read.map_err(|_| Refusal::Unavailable("the body could not be worked through"))?? {
            Taken::Deliveries(deliveries) => deliveries,
            Taken::Aside(what) => return Ok(json!({ "received": 0, "known": 0, "note": what })),
        };
        let arrivals: Vec<Arrival<'_>> =
            deliveries.iter().map(|(key, body)| Arrival { channel: CHANNEL, key, at: now, body }).collect();
        let received = self.parts.store.receive(&arrivals).await.map_err(|error| {
            tracing::error!(error = &error as &dyn std::error::Error, "alerts could not be kept");
            Refusal::Unavailable("the alerts could not be kept")
        })?;
        let new = received.iter().filter(|it| matches!(it, Received::New(_))).count();
        let (new, all) = (count(new), count(received.len()));
        self.parts.counts.kept(new, all - new);
        Ok(json!({ "received": new, "known": all - new }))
    }
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// The body, as long as it is within the limit.
async fn read(body: Body, limit: usize) -> Result<Bytes, Refusal> {
    let (mut stream, mut whole) = (body.into_data_stream(), Vec::new());
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|_| Refusal::Broken)?;
        if piece.len() > limit.saturating_sub(whole.len()) {
            return Err(Refusal::TooLarge(limit));
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.into())
}

enum Taken {
    Deliveries(Vec<(String, Value)>),
    Aside(&'static str),
}

fn deliveries(
    route: &Route,
    body: &[u8],
    redactor: &Redactor,
    around: &dyn Neighbourhood,
    now: Timestamp,
) -> Result<Taken, Refusal> {
    let drafts = match parse::parse(route, body).map_err(Refusal::Unreadable)? {
        Said::Alerts(drafts) => drafts,
        Said::Aside(what) => return Ok(Taken::Aside(what)),
    };
    let alerts = content::keep(drafts, redactor, now).map_err(|error| {
        tracing::error!(%error, "alerts could not be masked");
        Refusal::Unavailable("the alerts could not be masked")
    })?;
    let arrivals: Result<Vec<(String, Value)>, _> =
        alerts.into_iter().map(|alert| delivery(route, alert, around)).collect();
    arrivals.map(Taken::Deliveries).map_err(|_| Refusal::Unavailable("the alerts could not be put into JSON"))
}

fn delivery(route: &Route, alert: Alert, around: &dyn Neighbourhood) -> Result<(String, Value), serde_json::Error> {
    let words = &alert.words;
    let severity = Some(words.severity.as_str()).filter(|word| !word.is_empty());
    let severity = severity.or_else(|| words.labels.get(&route.severity_label).map(String::as_str));
    let urgency = route.urgency(severity.unwrap_or_default());
    let named: Vec<ServiceName> =
        route.service_labels.iter().filter_map(|label| words.labels.get(label)?.parse().ok()).collect();
    let service = named.iter().find(|service| around.knows(service)).or(named.first()).cloned();
    let state = match alert.state {
        content::State::Firing => "firing",
        content::State::Resolved => "resolved",
    };
    // Of the kind, not the route: two Alertmanagers send the same alert by two routes.
    let key = format!("{} {} {} {state}", route.kind.as_str(), alert.fingerprint, rfc3339(alert.starts_at));
    let delivery = Delivery { route: route.name.clone(), urgency, role: route.role.clone(), service, alert };
    Ok((key, serde_json::to_value(&delivery)?))
}
