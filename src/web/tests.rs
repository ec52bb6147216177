//! The API over a real socket: a store with investigations in it, and a double for the parts above that checks what it is
//! asked.

mod double;

mod access;

mod investigations;

mod events;

mod approvals;

mod health;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use warrant_kernel::db::Database;
use warrant_kernel::domain::event::{Body, Event};
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger, Writes};
use warrant_kernel::store::{Store, numbered};

use super::feed::Feed;
use super::guard::{Guard, Names, guarded};
use super::metrics::Metrics;
use super::server::{Drained, Limits, serve};
use super::{Pace, Parts, router};

pub(super) use double::Double;

pub(super) const ANN: &str = "warrant_ann";
pub(super) const BOB: &str = "warrant_bob";
pub(super) const LOOKS: &str = "warrant_looks";
pub(super) const ASKS: &str = "warrant_asks";

pub(super) struct World {
    _dir: TempDir,
    pub(super) at: SocketAddr,
    pub(super) double: Arc<Double>,
    pub(super) store: Store,
    pub(super) feed: Arc<Feed>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) ending: CancellationToken,
    pub(super) serving: JoinHandle<Drained>,
    client: Client,
}

pub(super) fn pace() -> Pace {
    Pace { poll: Duration::from_millis(20), beat: Duration::from_millis(50), streams: 3 }
}

pub(super) async fn world(double: Double) -> World {
    served(double, Limits::standard(), Router::new()).await
}

/// With other routes beside ours.
pub(super) async fn served(double: Double, limits: Limits, others: Router) -> World {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new(Database::open(&dir.path().join("w.db")).await.unwrap());
    let (feed, double) = (Feed::new(), Arc::new(double));
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let metrics = Metrics::new(names(&["search_logs"]), names(&["scripted"]));
    let ending = CancellationToken::new();
    let parts = Parts {
        backend: Arc::clone(&double) as _,
        store: store.clone(),
        feed: Arc::clone(&feed),
        metrics: Arc::clone(&metrics),
        closing: ending.clone(),
        pace: pace(),
    };
    let own =
        Names { everything: names(&["warrant.internal"]), webhooks: names(&["hooks.example.com"]), address: None };
    let guard = Guard { names: Arc::new(own), metrics: Arc::clone(&metrics) };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let whole = guarded(router(parts).merge(others), guard);
    let shutdown = ending.clone();
    let serving = tokio::spawn(async move { serve(listener, whole, limits, shutdown).await.unwrap() });
    let client = Client::builder().no_proxy().build().unwrap();
    World { _dir: dir, at, double, store, feed, metrics, ending, serving, client }
}

impl World {
    pub(super) fn asked(&self, method: Method, path: &str, token: Option<&str>) -> RequestBuilder {
        let request = self.client.request(method, format!("http://{}{path}", self.at));
        match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub(super) async fn get(&self, path: &str, token: Option<&str>) -> (u16, Value) {
        told(self.asked(Method::GET, path, token).send().await.unwrap()).await
    }

    pub(super) async fn post(&self, path: &str, token: Option<&str>, body: &Value) -> (u16, Value) {
        told(self.asked(Method::POST, path, token).json(body).send().await.unwrap()).await
    }

    /// An investigation in the store.
    pub(super) async fn investigation(
        &self,
        id: &str,
        minute: u32,
        service: Option<&str>,
        who: &str,
    ) -> InvestigationId {
        let run = run(id, minute, service, who);
        self.store.open_investigation(&run, &[7; 32]).await.unwrap();
        self.store.append(&run.investigation, &[opened(&run)], None).await.unwrap();
        run.investigation
    }

    pub(super) async fn append(&self, id: &InvestigationId, last: u64, bodies: Vec<Body>) {
        let events = numbered(last, "2026-03-01T13:00:00Z".parse().unwrap(), bodies);
        self.store.append(id, &events, None).await.unwrap();
    }

    /// How often that was refused, as the metrics tell.
    pub(super) fn refused(&self, reason: &str) -> u64 {
        let text = self.metrics.text(super::backend::Standing::default()).unwrap();
        let begins = format!("warrant_http_refused_total{{reason=\"{reason}\"}} ");
        text.lines().find_map(|line| line.strip_prefix(&begins)?.parse().ok()).unwrap_or(0)
    }
}

pub(super) fn run(id: &str, minute: u32, service: Option<&str>, who: &str) -> Run {
    let at = format!("2026-03-01T12:{minute:02}:00Z").parse().unwrap();
    Run {
        investigation: id.parse().unwrap(),
        trigger: Trigger::Question { text: format!("why {id}?") },
        requester: Requester { person: who.parse().unwrap(), groups: Vec::new() },
        role: "explore".parse().unwrap(),
        channel: Channel::Api,
        writes: Writes::Off,
        service: service.map(|service| service.parse().unwrap()),
        since: at,
        opened_at: at,
    }
}

pub(super) fn opened(run: &Run) -> Event {
    let budgets = json!({
        "turns": 8, "wall_s": 600, "tokens": 1000, "cost": null, "calls_per_turn": 4, "context_chars": 1000,
    });
    let body = Body::Opened {
        run: Box::new(run.clone()),
        budgets: serde_json::from_value(budgets).unwrap(),
        models: vec!["scripted".to_owned()],
        version: "0".to_owned(),
    };
    numbered(0, run.opened_at, vec![body]).remove(0)
}

pub(super) fn report(outcome: &str) -> Body {
    let report = json!({
        "outcome": outcome, "outcome_reason": "it is so", "summary": "The pool is full.", "root_cause": "the pool",
        "findings": [{ "kind": "cause", "claim": "the pool is full", "evidence": ["E1"] }], "unsupported": [],
        "ruled_out": [], "impact": null, "timeline": [], "next_steps": ["raise it"], "not_seen": [],
        "evidence": [{ "evidence": "E1", "call": "search_logs", "source": null }], "written_by": "scripted",
        "partial": false, "volatile": false,
    });
    Body::Reported { report: Box::new(serde_json::from_value(report).unwrap()) }
}

async fn told(response: Response) -> (u16, Value) {
    let (status, text) = (response.status().as_u16(), response.text().await.unwrap());
    let value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("no JSON with {status}: {text}"));
    (status, value)
}

/// The status and the reason of a refusal.
pub(super) fn why((status, value): &(u16, Value)) -> (u16, &str) {
    (*status, value.pointer("/error/reason").and_then(Value::as_str).unwrap_or("no error"))
}

#[tokio::test]
async fn what_there_is_not_is_said_in_the_form_of_all_errors() {
    let world = world(Double::new()).await;
    let nowhere = world.get("/v2/none", Some(ANN)).await;
    assert_eq!(why(&nowhere), (404, "NOT_FOUND"));
    let put = world.asked(Method::PUT, "/v1/investigations", Some(ANN)).send().await.unwrap();
    assert_eq!(put.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(put.headers()["allow"], "POST,GET,HEAD");
    assert_eq!(told(put).await.1["error"]["code"], "METHOD_NOT_ALLOWED");
}
