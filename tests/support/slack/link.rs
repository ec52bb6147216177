//! The other end of Socket Mode.

use std::sync::Arc;

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::sync::mpsc;

use super::Shared;
use super::state::{Frame, Socket};

#[derive(serde::Deserialize)]
pub struct Ticket {
    ticket: String,
}

pub async fn link(
    State(shared): State<Arc<Shared>>,
    Query(ticket): Query<Ticket>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let mut inner = shared.lock();
    // A ticket opens one connection.
    let Some(at) = inner.tickets.iter().position(|known| *known == ticket.ticket) else {
        return StatusCode::FORBIDDEN.into_response();
    };
    inner.tickets.remove(at);
    drop(inner);
    upgrade.on_upgrade(move |socket| serve(shared, socket))
}

async fn serve(shared: Arc<Shared>, mut socket: WebSocket) {
    let (send, mut frames) = mpsc::unbounded_channel();
    let (number, hello) = {
        let mut inner = shared.lock();
        let number = inner.next();
        if inner.sockets.len() >= inner.most_sockets {
            (number, r#"{"type":"disconnect","reason":"too_many_websockets"}"#.to_owned())
        } else {
            inner.sockets.push(Socket { number, send });
            (number, inner.hello())
        }
    };
    socket.send(Message::Text(hello.into())).await.ok();
    shared.changed();
    loop {
        tokio::select! {
            frame = frames.recv() => match frame {
                Some(Frame::Text(text)) => {
                    if socket.send(Message::Text(text.into())).await.is_err() {
                        break;
                    }
                }
                Some(Frame::Cut) | None => break,
            },
            heard = socket.recv() => match heard {
                Some(Ok(Message::Text(text))) => acknowledged(&shared, &text),
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Binary(_))) => {}
                Some(Ok(Message::Close(_)) | Err(_)) | None => break,
            },
        }
    }
    shared.lock().sockets.retain(|socket| socket.number != number);
    shared.changed();
}

fn acknowledged(shared: &Shared, text: &str) {
    let said: Value = serde_json::from_str(text).unwrap_or_default();
    let mut inner = shared.lock();
    match said.get("envelope_id").and_then(Value::as_str) {
        Some(id) if inner.sent.contains_key(id) => {
            let answer = said.get("payload").cloned().unwrap_or_default();
            if inner.acks.insert(id.to_owned(), answer).is_some() {
                inner.violations.push(format!("`{id}` was acknowledged twice"));
            }
        }
        Some(_) | None => inner.violations.push(format!("what came through the socket is no acknowledgement: {text}")),
    }
    drop(inner);
    shared.changed();
}
