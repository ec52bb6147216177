//! The card processor: somebody else's service, which payments calls. It is run by the demo itself, so that no process,
//! file or page of the shop says how it fares.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// What a charge usually takes, in milliseconds: from, to.
const USUAL_MS: (u64, u64) = (15, 30);

/// A running card processor; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Processor {
    pace: Arc<Pace>,
    port: u16,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Pace {
    low: AtomicU64,
    high: AtomicU64,
    charges: AtomicU64,
}

impl Processor {
    pub(super) async fn start() -> std::io::Result<Self> {
        let (low, high) = USUAL_MS;
        let pace = Arc::new(Pace { low: low.into(), high: high.into(), charges: 0.into() });
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let router = Router::new().route("/charges", post(charge)).with_state(Arc::clone(&pace));
        let task = tokio::spawn(async move {
            // Serving ends only with the task itself.
            drop(axum::serve(listener, router).await);
        });
        Ok(Self { pace, port, task })
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// From now on a charge takes so long.
    pub(super) fn slow_down(&self, (low, high): (u64, u64)) {
        self.pace.low.store(low, Ordering::Relaxed);
        self.pace.high.store(high, Ordering::Relaxed);
    }
}

impl Drop for Processor {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn charge(State(pace): State<Arc<Pace>>) -> Json<Value> {
    let number = pace.charges.fetch_add(1, Ordering::Relaxed);
    let (low, high) = (pace.low.load(Ordering::Relaxed), pace.high.load(Ordering::Relaxed));
    // A stride prime to most widths spreads the charges over the whole of it.
    let width = high.saturating_sub(low).saturating_add(1);
    let extra = number.wrapping_mul(379).checked_rem(width).unwrap_or(0);
    tokio::time::sleep(Duration::from_millis(low.saturating_add(extra))).await;
    Json(json!({ "charge": number }))
}
