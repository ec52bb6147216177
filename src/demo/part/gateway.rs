//! What customers talk to: passes orders and carts on to checkout.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::Value;

use crate::demo::part::Part;
use crate::demo::part::answer::{Refusal, Request};

pub(super) fn router() -> Router<Arc<Part>> {
    Router::new().route("/orders", post(order)).route("/carts/{id}", get(cart))
}

async fn order(State(part): State<Arc<Part>>, Json(order): Json<Value>) -> Response {
    let request = Request::new(&part, "POST", "/orders");
    let base = part.spec.upstreams.checkout.as_deref();
    let placed = part.call("checkout", base, "/orders".to_owned(), Some(order)).await;
    request.answer(StatusCode::CREATED, placed.map_err(Refusal::from))
}

async fn cart(State(part): State<Arc<Part>>, Path(id): Path<u32>) -> Response {
    let request = Request::new(&part, "GET", "/carts/{id}");
    let base = part.spec.upstreams.checkout.as_deref();
    let found = part.call("checkout", base, format!("/carts/{id}"), None).await;
    request.answer(StatusCode::OK, found.map_err(Refusal::from))
}
