//! The server of `warrant serve`: the API, health and metrics, and what stands in front of every route.
//!
//! Everything that happens beyond HTTP comes in through [`backend::Backend`], which the part above implements; the trace is
//! read from the store. Serving is put together as `server::serve(listener, guard::guarded(router(parts).merge(..), guard),
//! limits, shutdown)`.
//!
//! | module | does |
//! |---|---|
//! | [`server`] | HTTP/1.1 on a listener, bounded, and drained at the end |
//! | [`guard`] | `Host`, `Origin` and the headers of every answer |
//! | [`error`] | the form in which the API says no |
//! | [`backend`] | what the API asks of the parts above |
//! | [`token`] | who is asking, and for what their token is good |
//! | [`feed`] | who waits for the next event of an investigation |
//! | [`api`] | the routes, from one table |
//! | [`openapi`] | the document about them, from the same table |
//! | [`health`] | `/healthz`, `/readyz` |
//! | [`metrics`] | `/metrics`, and what feeds it |
//! | [`config`] | `[web]` |

pub mod server;

pub mod guard;

pub mod error;

pub mod backend;

pub mod token;

pub mod feed;

pub mod api;

pub mod openapi;

pub mod health;

pub mod metrics;

pub mod config;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use warrant_kernel::store::Store;

use backend::Backend;
use feed::Feed;
use health::Health;
use metrics::Metrics;

/// What the routes are made of.
pub struct Parts {
    /// What happens beyond HTTP.
    pub backend: Arc<dyn Backend>,
    /// The trace.
    pub store: Store,
    /// Tells of new events of what runs here.
    pub feed: Arc<Feed>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// Fires when the server ends; streams end with it.
    pub closing: CancellationToken,
    /// How fast streams go.
    pub pace: Pace,
}

/// How streams of events go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// How often the store is looked at for what another process writes.
    pub poll: Duration,
    /// How often a stream without events shows that it lives, and the right to it is looked at again.
    pub beat: Duration,
    /// Streams at a time.
    pub streams: usize,
}

impl Pace {
    /// Every 2 s; every 15 s; 128 streams.
    #[must_use]
    pub fn standard() -> Self {
        Self { poll: Duration::from_secs(2), beat: Duration::from_secs(15), streams: 128 }
    }
}

/// What handlers work with.
pub(crate) struct App {
    backend: Arc<dyn Backend>,
    store: Store,
    feed: Arc<Feed>,
    metrics: Arc<Metrics>,
    closing: CancellationToken,
    pace: Pace,
    streams: Arc<Semaphore>,
    health: Health,
}

/// The routes of the API, of health and of metrics. Put [`guard::guarded`] around them and all others.
pub fn router(parts: Parts) -> Router {
    let Parts { backend, store, feed, metrics, closing, pace } = parts;
    let streams = Arc::new(Semaphore::new(pace.streams.min(Semaphore::MAX_PERMITS)));
    let health = Health::new();
    api::router(Arc::new(App { backend, store, feed, metrics, closing, pace, streams, health }))
}
