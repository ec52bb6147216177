//! Whether the process lives, and whether it can do its work: each dependency with its state.
//!
//! Checks are made at most once a second however often they are asked for, and none may take long. Strangers are told words
//! only; what stands behind a word is told to this machine, and to whoever has a token.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use warrant_kernel::call::gate::sequencer::tokens::Scope;

use super::App;
use super::token::{Asking, caller};

/// How long what was found is told again.
const FRESH: Duration = Duration::from_secs(1);

/// How long all checks may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// How a dependency is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// It works.
    Up,
    /// It works in part.
    Degraded,
    /// It does not work.
    Down,
    /// It is not configured.
    Off,
}

/// Whether the process can do without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// It can't: while that is down, the process is not ready.
    Decides,
    /// It can, with less.
    Informs,
}

/// A dependency and how it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Which: `store`, `ledger`, `lease`, `slack`, `models`, or a source's name.
    pub name: String,
    /// How it is.
    pub state: Condition,
    /// Whether the process can do without it.
    pub weight: Weight,
    /// What there is to say, masked; empty where nothing is.
    pub detail: String,
}

/// What was found last.
pub(super) struct Health {
    last: Mutex<Option<(Instant, Arc<[Check]>)>>,
}

impl Health {
    pub(super) fn new() -> Self {
        Self { last: Mutex::default() }
    }

    async fn checks(&self, app: &App) -> Arc<[Check]> {
        let mut last = self.last.lock().await;
        if let Some((_, found)) = last.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return Arc::clone(found);
        }
        let found: Arc<[Check]> = match timeout(PATIENCE, app.backend.checks()).await {
            Ok(found) => found.into(),
            Err(_) => Arc::new([Check {
                name: "checks".to_owned(),
                state: Condition::Down,
                weight: Weight::Decides,
                detail: format!("no answer within {} s", PATIENCE.as_secs()),
            }]),
        };
        *last = Some((Instant::now(), Arc::clone(&found)));
        found
    }
}

/// `GET /healthz`: the process answers.
pub(super) async fn healthz() -> Response {
    Json(json!({ "alive": true, "version": env!("CARGO_PKG_VERSION") })).into_response()
}

/// `GET /readyz`: each dependency with its state.
pub(super) async fn readyz(State(app): State<Arc<App>>, request: Request) -> Response {
    let asking = Asking::of(&request);
    drop(request);
    let is_known = asking.is_near || asking.says() && caller(&app, &asking, Scope::Read).await.is_ok();
    let mut checks = app.health.checks(&app).await.to_vec();
    if app.closing.is_cancelled() {
        let (name, detail) = ("server".to_owned(), "it is about to end".to_owned());
        checks.push(Check { name, state: Condition::Down, weight: Weight::Decides, detail });
    }
    if !is_known {
        for check in &mut checks {
            check.detail.clear();
        }
    }
    let ready = !checks.iter().any(|check| check.weight == Weight::Decides && check.state == Condition::Down);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(json!({ "ready": ready, "checks": checks }))).into_response()
}
