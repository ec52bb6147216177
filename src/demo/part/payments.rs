//! Charges cards: asks the card processor, then writes the payment to the store. A payment that has begun is finished
//! even when checkout no longer waits for it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::demo::part::Part;
use crate::demo::part::answer::{Refusal, Request};

pub(super) fn router() -> Router<Arc<Part>> {
    Router::new().route("/payments", post(payment))
}

async fn payment(State(part): State<Arc<Part>>, Json(order): Json<Value>) -> Result<Response, StatusCode> {
    let paying = tokio::spawn(async move {
        let request = Request::new(&part, "POST", "/payments");
        let paid = pay(&part, order).await;
        request.answer(StatusCode::CREATED, paid)
    });
    paying.await.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

async fn pay(part: &Part, order: Value) -> Result<Value, Refusal> {
    let amount = order.get("amount_cents").cloned().unwrap_or(Value::Null);
    let processor = part.spec.upstreams.processor.as_deref();
    let charge = json!({ "amount_cents": amount });
    part.call("card-processor", processor, "/charges".to_owned(), Some(charge)).await?;
    let _connection = part.connection().await?;
    let body = json!({ "kind": "payment", "record": order });
    let store = part.spec.upstreams.store.as_deref();
    part.call("store", store, "/transactions".to_owned(), Some(body)).await?;
    Ok(json!({ "paid": true }))
}
