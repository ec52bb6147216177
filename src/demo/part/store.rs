//! Keeps orders and payments: appends each to a file beneath a directory whose quota is kept, as a file system would.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::demo::part::Part;
use crate::demo::part::answer::{Refusal, Request};
use crate::demo::part::journal::Level;
use crate::demo::part::metrics::Filesystem;
use crate::demo::part::spec::DataDir;

/// What a transaction takes on this store's disk: from, to, in milliseconds.
const TRANSACTION_MS: (u64, u64) = (100, 140);
/// What a read takes.
const READ_MS: (u64, u64) = (5, 9);

pub(super) fn router() -> Router<Arc<Part>> {
    Router::new().route("/transactions", post(transaction)).route("/carts/{id}", get(cart))
}

async fn transaction(State(part): State<Arc<Part>>, Json(body): Json<Value>) -> Response {
    let request = Request::new(&part, "POST", "/transactions");
    tokio::time::sleep(between(TRANSACTION_MS)).await;
    let written = write(&part, &body);
    request.answer(StatusCode::CREATED, written)
}

async fn cart(State(part): State<Arc<Part>>, Path(id): Path<u32>) -> Response {
    let request = Request::new(&part, "GET", "/carts/{id}");
    tokio::time::sleep(between(READ_MS)).await;
    request.answer(StatusCode::OK, Ok(json!({ "cart": id, "items": id % 7 })))
}

/// No two transactions take the same time; how they differ does not matter.
fn between((low, high): (u64, u64)) -> Duration {
    let now = jiff::Timestamp::now().subsec_nanosecond().unsigned_abs();
    Duration::from_millis(low + (u64::from(now) / 1_000) % (high - low + 1))
}

fn write(part: &Part, body: &Value) -> Result<Value, Refusal> {
    let Some(data) = &part.spec.data else {
        return Err(Refusal::unavailable("no data directory".to_owned()));
    };
    let name = match body.get("kind").and_then(Value::as_str) {
        Some("payment") => "payments.jsonl",
        Some(_) | None => "orders.jsonl",
    };
    let mut line = body.get("record").unwrap_or(&Value::Null).to_string();
    line.push('\n');
    let appended = append(data, name, &line);
    appended.map_err(|error| {
        let fields = json!({ "file": name, "bytes": line.len() });
        part.log.write(Level::Error, &format!("write failed: {error}"), fields);
        Refusal::no_room(error)
    })?;
    Ok(json!({ "stored": true }))
}

fn append(data: &DataDir, name: &str, line: &str) -> Result<(), String> {
    let needed = u64::try_from(line.len()).unwrap_or(u64::MAX);
    if used(data).saturating_add(needed) > data.quota_bytes {
        return Err("disk quota exceeded".to_owned());
    }
    let file = OpenOptions::new().create(true).append(true).open(data.dir.join(name));
    file.and_then(|mut file| file.write_all(line.as_bytes())).map_err(|error| error.to_string())
}

fn used(data: &DataDir) -> u64 {
    let Ok(entries) = std::fs::read_dir(&data.dir) else { return 0 };
    entries.filter_map(|entry| entry.ok()?.metadata().ok()).map(|metadata| metadata.len()).sum()
}

/// The data directory as a file system of its own.
pub(super) fn filesystem(data: &DataDir) -> Filesystem {
    Filesystem {
        mountpoint: data.dir.display().to_string(),
        size: data.quota_bytes,
        avail: data.quota_bytes.saturating_sub(used(data)),
    }
}
