//! Takes orders: writes the order to the store, then has payments charge the card. The connection to the store goes back
//! before payments is called, so that a slow payment never holds one.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::demo::part::Part;
use crate::demo::part::answer::{Refusal, Request};
use crate::demo::part::journal::Level;

pub(super) fn router() -> Router<Arc<Part>> {
    Router::new().route("/orders", post(order)).route("/carts/{id}", get(cart))
}

async fn order(State(part): State<Arc<Part>>, Json(order): Json<Value>) -> Response {
    let request = Request::new(&part, "POST", "/orders");
    let placed = place(&part, order).await;
    request.answer(StatusCode::CREATED, placed)
}

async fn place(part: &Part, order: Value) -> Result<Value, Refusal> {
    let connection = part.connection().await?;
    let body = json!({ "kind": "order", "record": order });
    let store = part.spec.upstreams.store.as_deref();
    let stored = part.call("store", store, "/transactions".to_owned(), Some(body)).await;
    drop(connection);
    stored?;
    let payments = part.spec.upstreams.payments.as_deref();
    part.call("payments", payments, "/payments".to_owned(), Some(order)).await?;
    Ok(json!({ "placed": true }))
}

async fn cart(State(part): State<Arc<Part>>, Path(id): Path<u32>) -> Response {
    let request = Request::new(&part, "GET", "/carts/{id}");
    part.log.write(Level::Debug, "reading a cart", json!({ "cart": id }));
    let found = read(&part, id).await;
    request.answer(StatusCode::OK, found)
}

async fn read(part: &Part, id: u32) -> Result<Value, Refusal> {
    let _connection = part.connection().await?;
    let store = part.spec.upstreams.store.as_deref();
    Ok(part.call("store", store, format!("/carts/{id}"), None).await?)
}
