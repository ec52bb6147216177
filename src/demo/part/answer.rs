//! How a service answers: every answer is JSON, is counted, and leaves a line in the log.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONNECTION, CONTENT_TYPE, HeaderValue};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::demo::part::Part;
use crate::demo::part::client::CallFailure;
use crate::demo::part::journal::Level;

/// A request that was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    status: StatusCode,
    error: String,
}

impl Refusal {
    /// Something that is needed is not there now.
    #[must_use]
    pub fn unavailable(error: String) -> Self {
        Self { status: StatusCode::SERVICE_UNAVAILABLE, error }
    }

    /// There is no room to store it.
    #[must_use]
    pub fn no_room(error: String) -> Self {
        Self { status: StatusCode::INSUFFICIENT_STORAGE, error }
    }
}

impl From<CallFailure> for Refusal {
    fn from(failure: CallFailure) -> Self {
        let status = match &failure {
            CallFailure::Timeout { .. } => StatusCode::GATEWAY_TIMEOUT,
            CallFailure::Status { .. } => StatusCode::SERVICE_UNAVAILABLE,
            CallFailure::Broken { .. } => StatusCode::BAD_GATEWAY,
        };
        Self { status, error: failure.to_string() }
    }
}

/// A request that is being answered.
pub(super) struct Request {
    part: Arc<Part>,
    method: &'static str,
    route: &'static str,
    begun: Instant,
}

impl Request {
    pub(super) fn new(part: &Arc<Part>, method: &'static str, route: &'static str) -> Self {
        Self { part: Arc::clone(part), method, route, begun: Instant::now() }
    }

    /// Answers it: `done` is what is said when `result` is good.
    pub(super) fn answer(self, done: StatusCode, result: Result<Value, Refusal>) -> Response {
        let (status, body) = match result {
            Ok(body) => (done, body),
            Err(refusal) => (refusal.status, json!({ "error": refusal.error })),
        };
        let took = self.begun.elapsed();
        self.part.metrics.served(self.method, self.route, status.as_u16(), took);
        let level = if status.is_server_error() { Level::Error } else { Level::Info };
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let fields = json!({ "status": status.as_u16(), "duration_ms": millis });
        self.part.log.write(level, &format!("{} {} {}", self.method, self.route, status.as_u16()), fields);
        let mut response = (status, Json(body)).into_response();
        if self.part.keeper.as_deref().is_some_and(super::tls::Keeper::draining) {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// `/healthz`: the process serves. It says nothing of what the service depends on.
pub(super) async fn health(State(part): State<Arc<Part>>) -> Response {
    Json(json!({ "status": "ok", "service": part.spec.role.as_str() })).into_response()
}

/// `/metrics`.
pub(super) async fn metrics(State(part): State<Arc<Part>>) -> Response {
    let page = part.metrics.page(&part.gauges());
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], page).into_response()
}
