//! Slack's posts: `/slack/events`, `/slack/interactivity` and `/slack/commands`, for whoever has a public address.
//!
//! Nothing is read before its size and its headers are what they may be, nothing is parsed before its signature holds over
//! the bytes as they came, and nothing is acknowledged before the inbox has kept it.

mod signature;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use warrant_kernel::call::tool::Clock;

use super::health::Health;
use super::inbox::{Acknowledgement, Inbox};
use super::incoming::read::Kind;

use signature::Claimed;

pub use signature::Secret;

/// Where Slack posts events, what people press, and commands.
pub const PATHS: [&str; 3] = ["/slack/events", "/slack/interactivity", "/slack/commands"];

/// The largest body that is read. Slack's are below 100 kB.
const MOST: usize = 1 << 20;
/// How long a body may take.
const LONGEST: Duration = Duration::from_secs(3);
/// How many posts are read at once: what they can hold together is bounded.
const AT_ONCE: usize = 64;

/// What the addresses need.
pub struct Http {
    /// What posts are proved by.
    pub secret: Secret,
    /// Takes payloads in.
    pub inbox: Arc<Inbox>,
    /// Where refusals are counted.
    pub health: Arc<Health>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

struct Door {
    parts: Http,
    places: Semaphore,
}

/// The addresses.
pub fn router(parts: Http) -> Router {
    parts.health.up(parts.clock.now());
    let [at_events, at_interactivity, at_commands] = PATHS;
    Router::new()
        .route(at_events, post(events))
        .route(at_interactivity, post(interactivity))
        .route(at_commands, post(commands))
        .with_state(Arc::new(Door { parts, places: Semaphore::new(AT_ONCE) }))
}

/// A post that Slack did not send, or that can't be one.
struct Refused(StatusCode, &'static str);

impl Door {
    /// The body of a post that Slack signed.
    async fn signed(&self, request: Request) -> Result<Bytes, Refused> {
        let (parts, body) = request.into_parts();
        let claimed = self.claimed(&parts.headers)?;
        if body.size_hint().lower() > MOST as u64 {
            return Err(Refused(StatusCode::PAYLOAD_TOO_LARGE, "too large"));
        }
        let Ok(_place) = self.places.try_acquire() else {
            return Err(Refused(StatusCode::SERVICE_UNAVAILABLE, "too many at once"));
        };
        let bytes = read(body).await?;
        if self.parts.secret.signed(&claimed, &bytes) {
            Ok(bytes)
        } else {
            Err(Refused(StatusCode::UNAUTHORIZED, "not signed by Slack"))
        }
    }

    fn claimed(&self, headers: &HeaderMap) -> Result<Claimed, Refused> {
        let stated = headers.get("content-length").and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if stated.is_some_and(|length| length > MOST as u64) {
            return Err(Refused(StatusCode::PAYLOAD_TOO_LARGE, "too large"));
        }
        let now = self.parts.clock.now().as_second();
        Claimed::read(headers, now).ok_or(Refused(StatusCode::UNAUTHORIZED, "not signed by Slack"))
    }

    async fn take(&self, kind: Kind, payload: &Value) -> Response {
        match self.parts.inbox.take(kind, payload).await {
            Acknowledgement::Received(None) => StatusCode::OK.into_response(),
            Acknowledgement::Received(Some(answer)) => axum::Json(answer).into_response(),
            Acknowledgement::NotKept => (StatusCode::SERVICE_UNAVAILABLE, "not kept; send it again").into_response(),
        }
    }

    fn refuse(&self, refused: &Refused) -> Response {
        self.parts.health.refused();
        (refused.0, refused.1).into_response()
    }
}

async fn read(body: Body) -> Result<Bytes, Refused> {
    match tokio::time::timeout(LONGEST, to_bytes(body, MOST)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => Err(Refused(StatusCode::PAYLOAD_TOO_LARGE, "too large")),
        Err(_) => Err(Refused(StatusCode::REQUEST_TIMEOUT, "too slow")),
    }
}

const NONSENSE: Refused = Refused(StatusCode::BAD_REQUEST, "not what Slack sends");

async fn events(State(door): State<Arc<Door>>, request: Request) -> Response {
    let payload = match door.signed(request).await.map(|body| serde_json::from_slice::<Value>(&body)) {
        Ok(Ok(payload)) => payload,
        Ok(Err(_)) => return door.refuse(&NONSENSE),
        Err(refused) => return door.refuse(&refused),
    };
    if payload.get("type").and_then(Value::as_str) == Some("url_verification") {
        let challenge: String =
            payload.get("challenge").and_then(Value::as_str).unwrap_or_default().chars().take(200).collect();
        return axum::Json(json!({ "challenge": challenge })).into_response();
    }
    door.take(Kind::Event, &payload).await
}

async fn interactivity(State(door): State<Arc<Door>>, request: Request) -> Response {
    let form = match door.signed(request).await.map(|body| form(&body)) {
        Ok(form) => form,
        Err(refused) => return door.refuse(&refused),
    };
    match form.get("payload").and_then(Value::as_str).map(serde_json::from_str::<Value>) {
        Some(Ok(payload)) => door.take(Kind::Interaction, &payload).await,
        Some(Err(_)) | None => door.refuse(&NONSENSE),
    }
}

async fn commands(State(door): State<Arc<Door>>, request: Request) -> Response {
    match door.signed(request).await.map(|body| form(&body)) {
        Ok(form) if form.get("ssl_check").and_then(Value::as_str) == Some("1") => StatusCode::OK.into_response(),
        Ok(form) => door.take(Kind::Command, &Value::Object(form)).await,
        Err(refused) => door.refuse(&refused),
    }
}

/// The fields of a form; the first of a name counts.
fn form(body: &[u8]) -> Map<String, Value> {
    let mut fields = Map::new();
    // The parser of addresses reads forms too: a query is one.
    if let (Ok(body), Ok(mut url)) = (std::str::from_utf8(body), reqwest::Url::parse("form:")) {
        url.set_query(Some(body));
        for (name, value) in url.query_pairs().take(64) {
            fields.entry(name.into_owned()).or_insert_with(|| Value::String(value.into_owned()));
        }
    }
    fields
}
