//! What is counted, and `GET /metrics` that tells it in the text format `OpenMetrics`, which Prometheus reads.
//!
//! Labels come from closed lists, or from the names of tools and models that the config has: whatever a model or a stranger
//! writes is counted under `other`, so that nobody can make series grow.

pub mod labels;

pub mod counting;

mod standing;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::sync::{Arc, PoisonError, RwLock};

use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use warrant_kernel::call::gate::sequencer::tokens::Scope;

use super::App;
use super::backend::Standing;
use super::error::ApiError;
use super::token::{Asking, caller};
pub use labels::Reload;
use labels::{Began, Ended, Http, Named, Reason, Refused, Tokens, Tool};
use standing::Latest;

/// What the text is.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Bounds of durations of calls, in seconds: a look at a file takes a millisecond, one at a far source a minute.
const BOUNDS: [f64; 10] = [0.001, 0.005, 0.02, 0.1, 0.25, 1.0, 2.5, 10.0, 30.0, 60.0];

type Durations = Family<Tool, Histogram, fn() -> Histogram>;

/// Everything that is counted.
pub struct Metrics {
    registry: Registry,
    began: Family<Began, Counter>,
    ended: Family<Ended, Counter>,
    running: Gauge<i64, AtomicI64>,
    calls: Family<Tool, Counter>,
    durations: Durations,
    tokens: Family<Tokens, Counter>,
    cost: Family<Named, Counter<f64, AtomicU64>>,
    model_failures: Counter,
    redactions: Counter,
    requests: Family<Http, Counter>,
    refused: Family<Reason, Counter>,
    reloads: Family<Ended, Counter>,
    reload_refused: Gauge<i64, AtomicI64>,
    latest: Arc<Latest>,
    tools: RwLock<BTreeSet<String>>,
    models: RwLock<BTreeSet<String>>,
}

fn durations() -> Histogram {
    Histogram::new(BOUNDS)
}

impl Metrics {
    /// Nothing has been counted. `tools` and `models` are the names that may stand in labels.
    #[must_use]
    pub fn new(tools: BTreeSet<String>, models: BTreeSet<String>) -> Arc<Self> {
        let mut metrics = Self {
            registry: Registry::with_prefix("warrant"),
            began: Family::default(),
            ended: Family::default(),
            running: Gauge::default(),
            calls: Family::default(),
            durations: Family::new_with_constructor(durations),
            tokens: Family::default(),
            cost: Family::default(),
            model_failures: Counter::default(),
            redactions: Counter::default(),
            requests: Family::default(),
            refused: Family::default(),
            reloads: Family::default(),
            reload_refused: Gauge::default(),
            latest: Arc::default(),
            tools: RwLock::new(tools),
            models: RwLock::new(models),
        };
        metrics.register();
        Arc::new(metrics)
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register("investigations_started", "Investigations begun, by what began them", self.began.clone());
        registry.register("investigations", "Investigations that ended, by outcome", self.ended.clone());
        registry.register("investigations_running", "Investigations that run in this process", self.running.clone());
        registry.register("tool_calls", "Calls of tools, by how they ended", self.calls.clone());
        let seconds = Unit::Seconds;
        registry.register_with_unit("tool_duration", "How long calls of tools took", seconds, self.durations.clone());
        registry.register("model_tokens", "Tokens that models read and wrote", self.tokens.clone());
        registry.register(
            "model_cost",
            "What models cost, in the currency of the prices in the config",
            self.cost.clone(),
        );
        registry.register("model_failures", "Turns that no model answered", self.model_failures.clone());
        registry.register("redactions", "Secrets masked in what tools brought", self.redactions.clone());
        registry.register("http_requests", "Requests answered, by route and status", self.requests.clone());
        registry.register("http_refused", "Requests refused before they came to a route, by why", self.refused.clone());
        registry.register(
            "reloads",
            "Readings of policies, tools and runbooks while this process runs, by outcome",
            self.reloads.clone(),
        );
        let help = "1 while the files as they are now are not taken, and those of before stay in force";
        registry.register("reload_refused", help, self.reload_refused.clone());
        registry.register_collector(Box::new(Arc::clone(&self.latest)));
    }

    /// The names of tools that may stand in labels from now on.
    pub fn know_tools(&self, tools: BTreeSet<String>) {
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = tools;
    }

    /// Policies, tools and runbooks were read again.
    pub fn reloaded(&self, reload: Reload) {
        self.reloads.get_or_create(&Ended { outcome: reload.as_str() }).inc();
        self.reload_refused.set(match reload {
            Reload::Taken => 0,
            Reload::Refused => 1,
        });
    }

    /// A request was answered.
    pub(super) fn answered(&self, route: &'static str, method: &Method, status: StatusCode) {
        let method = match *method {
            Method::GET | Method::HEAD => "GET",
            Method::POST => "POST",
            _ => "other",
        };
        self.requests.get_or_create(&Http { route, method, status: status.as_u16() }).inc();
    }

    /// A request was refused.
    pub(super) fn refused(&self, why: Refused) {
        self.refused.get_or_create(&Reason { reason: why.as_str() }).inc();
    }

    /// The text, with what is counted elsewhere as it stands now.
    ///
    /// # Errors
    /// Where it can't be put into text.
    pub fn text(&self, standing: Standing) -> Result<String, std::fmt::Error> {
        self.latest.set(standing);
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// The name, where it is one of those; else `other`.
fn known(names: &RwLock<BTreeSet<String>>, name: &str) -> String {
    let names = names.read().unwrap_or_else(PoisonError::into_inner);
    if names.contains(name) { name.to_owned() } else { "other".to_owned() }
}

/// `GET /metrics`. This machine needs no token for it: there are numbers in it and names of the config.
pub(super) async fn metrics(State(app): State<Arc<App>>, request: Request) -> Response {
    let asking = Asking::of(&request);
    drop(request);
    if !asking.is_near
        && let Err(error) = caller(&app, &asking, Scope::Read).await
    {
        return error.into_response();
    }
    let standing = app.backend.standing().await;
    match app.metrics.text(standing) {
        Ok(text) => ([(CONTENT_TYPE, OPEN_METRICS)], text).into_response(),
        Err(error) => ApiError::internal("metrics", &error).into_response(),
    }
}
