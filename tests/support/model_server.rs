//! A model behind real HTTP that follows a script, in both shapes at once, and checks every request it gets.
//!
//! Start it with the turns it shall answer with; what a request does wrong is a violation, and dropping a server with
//! violations fails the test. `/v1/chat/completions` and `/v1/messages` share the script.

#![expect(clippy::expect_used, reason = "a test server that can't run must fail its test")]

#[path = "model_server/script.rs"]
pub mod script;

#[path = "model_server/openai.rs"]
mod openai;

#[path = "model_server/anthropic.rs"]
mod anthropic;

#[path = "model_server/check.rs"]
mod check;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::serve::ListenerExt;
use futures_util::{StreamExt, stream};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use check::Checker;
use script::{Ending, Pick, Rules, Script, Shape, Step, Turn};

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Seen {
    pub headers: HeaderMap,
    pub body: Value,
}

struct Inner {
    script: Script,
    served: usize,
    requests: Vec<Seen>,
    checker: Checker,
    violations: Vec<String>,
}

type Shared = Arc<Mutex<Inner>>;

/// The server. It ends when it is dropped.
pub struct ModelServer {
    address: SocketAddr,
    inner: Shared,
    task: JoinHandle<()>,
}

impl ModelServer {
    /// Serves `turns`, one a request, on a free port of the loopback.
    pub async fn start(turns: Vec<Turn>) -> Self {
        Self::with(Script { turns, pick: Pick::InOrder }, Rules::default(), 0).await
    }

    /// Serves a script under rules of one's own, on `port` (0: any).
    pub async fn with(script: Script, rules: Rules, port: u16) -> Self {
        let checker = Checker::new(rules);
        let inner = Inner { script, served: 0, requests: Vec::new(), checker, violations: Vec::new() };
        let inner = Arc::new(Mutex::new(inner));
        let app = Router::new()
            .route("/v1/chat/completions", post(chat_completions))
            .route("/v1/messages", post(messages))
            .layer(DefaultBodyLimit::max(64 << 20))
            .with_state(Arc::clone(&inner));
        let listener = TcpListener::bind(("127.0.0.1", port)).await.expect("a port of the loopback");
        let address = listener.local_addr().expect("a bound socket has an address");
        // Small pieces go out at once, as they do from a provider.
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).expect("a socket takes the option"));
        let task = tokio::spawn(async move { axum::serve(listener, app).await.expect("the server runs") });
        Self { address, inner, task }
    }

    /// `base_url` of a model in this shape.
    pub fn base_url(&self, shape: Shape) -> String {
        match shape {
            Shape::OpenAi => format!("http://{}/v1", self.address),
            Shape::Anthropic => format!("http://{}", self.address),
        }
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Seen> {
        lock(&self.inner).requests.clone()
    }

    /// What the requests did wrong so far; those taken here do not fail the drop.
    pub fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.inner).violations)
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
        let violations = self.take_violations();
        if !std::thread::panicking() {
            assert!(violations.is_empty(), "the requests to the model are wrong:\n{}", violations.join("\n"));
        }
    }
}

fn lock(inner: &Shared) -> std::sync::MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn chat_completions(State(inner): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    serve(&inner, Shape::OpenAi, headers, &body).await
}

async fn messages(State(inner): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    serve(&inner, Shape::Anthropic, headers, &body).await
}

/// Checks the request, takes its turn from the script. No lock is held over a wait.
fn next_turn(inner: &Shared, shape: Shape, headers: HeaderMap, body: &[u8]) -> Option<Turn> {
    let mut guard = lock(inner);
    let inner = &mut *guard;
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
        inner.violations.push("the body is no JSON".to_owned());
        return None;
    };
    let number = inner.served + 1;
    let wrong = inner.checker.check(shape, &headers, body, &value);
    inner.violations.extend(wrong.into_iter().map(|what| format!("request {number} ({shape:?}): {what}")));
    let index = match inner.script.pick {
        Pick::InOrder => inner.served,
        Pick::ByTurn => check::assistant_messages(&value).min(inner.script.turns.len().saturating_sub(1)),
    };
    inner.served += 1;
    let turn = inner.script.turns.get(index).cloned();
    match (&turn, inner.script.pick) {
        (None, _) => inner.violations.push(format!("request {number}: the script is over")),
        (Some(_), Pick::ByTurn) => {}
        (Some(turn), Pick::InOrder) => {
            inner.checker.issued(&turn.thinking);
            inner.requests.push(Seen { headers, body: value });
        }
    }
    turn
}

async fn serve(inner: &Shared, shape: Shape, headers: HeaderMap, body: &[u8]) -> Response {
    let Some(turn) = next_turn(inner, shape, headers, body) else {
        return (StatusCode::BAD_REQUEST, "see the violations").into_response();
    };
    tokio::time::sleep(turn.delay).await;
    if let Some(refusal) = turn.refusal {
        let status = StatusCode::from_u16(refusal.status).expect("a status of the script");
        let body = stream::iter([Ok::<_, std::io::Error>(Bytes::from(refusal.body))]);
        let body = match turn.ending {
            Ending::Stall => Body::from_stream(body.chain(stream::pending())),
            Ending::Whole | Ending::CutInCall | Ending::NoFinish | Ending::HugeLine(_) | Ending::ErrorEvent => {
                Body::from_stream(body)
            }
        };
        let mut response = (status, body).into_response();
        for (name, value) in refusal.headers {
            let name = axum::http::HeaderName::try_from(name).expect("a header of the script");
            response.headers_mut().insert(name, value.parse().expect("a header of the script"));
        }
        return response;
    }
    let steps = match shape {
        Shape::OpenAi => openai::steps(&turn),
        Shape::Anthropic => anthropic::steps(&turn),
    };
    let stream = stream::iter(steps).then(|step| async {
        match step {
            Step::Bytes(bytes) => Ok(bytes),
            Step::Cut => {
                // What was said before must be on its way, for closing drops what is still buffered.
                tokio::time::sleep(Duration::from_millis(50)).await;
                Err(std::io::Error::other("the script cuts here"))
            }
            Step::Stall => std::future::pending().await,
        }
    });
    ([("content-type", "text/event-stream")], Body::from_stream(stream)).into_response()
}
