//! A model behind HTTP that says what the runner lets it say, one turn at a time.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// How long the agent may take until it asks its model again.
const PATIENCE: Duration = Duration::from_secs(45);

/// A call that the model makes.
pub struct Call {
    pub tool: String,
    pub arguments: Value,
}

struct Asked {
    body: Value,
    answer: oneshot::Sender<String>,
}

/// The model. Until it is told what to say, the agent waits for it.
pub struct Puppet {
    pub base_url: String,
    asked: mpsc::UnboundedReceiver<Asked>,
    waiting: Option<Asked>,
    turns: usize,
    task: JoinHandle<()>,
}

impl Drop for Puppet {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(asked): State<mpsc::UnboundedSender<Asked>>, body: Bytes) -> Response {
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let (answer, said) = oneshot::channel();
    let gone = asked.send(Asked { body, answer }).is_err();
    match said.await {
        Ok(text) if !gone => {
            let events = stream::iter([Ok::<_, Infallible>(text)]);
            ([("content-type", "text/event-stream")], Body::from_stream(events)).into_response()
        }
        _ => axum::http::StatusCode::BAD_REQUEST.into_response(),
    }
}

fn event(delta: &Value, finish: Option<&str>) -> String {
    let chunk = json!({ "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "puppet",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] });
    format!("data: {chunk}\n\n")
}

impl Puppet {
    pub async fn start() -> Result<Self, String> {
        let (sender, asked) = mpsc::unbounded_channel();
        let app = Router::new()
            .route("/v1/chat/completions", post(answer))
            .layer(axum::extract::DefaultBodyLimit::max(16 << 20))
            .with_state(sender);
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let task = tokio::spawn(async move {
            let ended = axum::serve(listener, app).await;
            drop(ended);
        });
        Ok(Self { base_url: format!("http://{address}/v1"), asked, waiting: None, turns: 0, task })
    }

    /// Waits until the agent asks for the next turn; what it was told since the last one.
    pub async fn next(&mut self) -> Result<(), String> {
        self.waiting = None;
        let asked = tokio::time::timeout(PATIENCE, self.asked.recv()).await;
        self.waiting = Some(asked.map_err(|_| "the agent does not ask its model")?.ok_or("the model is gone")?);
        Ok(())
    }

    /// The agent was killed and asks again from where it was.
    pub fn forget(&mut self) {
        self.waiting = None;
        while self.asked.try_recv().is_ok() {}
    }

    /// Says something and calls tools; the answers to the calls, in order.
    pub async fn say(&mut self, text: &str, calls: &[Call]) -> Result<Vec<String>, String> {
        let asked = self.waiting.take().ok_or("the agent does not wait for its model")?;
        self.turns += 1;
        let turn = self.turns;
        let ids: Vec<String> = (0..calls.len()).map(|n| format!("t{turn}-{n}")).collect();
        let calls: Vec<Value> = calls
            .iter()
            .zip(&ids)
            .enumerate()
            .map(|(index, (call, id))| {
                let arguments = call.arguments.as_str().map_or_else(|| call.arguments.to_string(), str::to_owned);
                json!({ "index": index, "id": id, "type": "function",
                    "function": { "name": call.tool, "arguments": arguments } })
            })
            .collect();
        let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
        let mut said = event(&json!({ "role": "assistant", "content": text }), None);
        if !calls.is_empty() {
            said.push_str(&event(&json!({ "tool_calls": calls }), None));
        }
        said.push_str(&event(&json!({}), Some(finish)));
        said.push_str("data: [DONE]\n\n");
        asked.answer.send(said).map_err(|_| "the agent did not wait for the answer")?;
        self.next().await?;
        let body = self.waiting.as_ref().map(|asked| asked.body.clone()).unwrap_or_default();
        let messages = body.get("messages").and_then(Value::as_array).cloned().unwrap_or_default();
        let content = |id: &String| {
            let message =
                messages.iter().find(|message| message.get("tool_call_id").and_then(Value::as_str) == Some(id));
            message.and_then(|message| message.get("content")?.as_str().map(str::to_owned)).unwrap_or_default()
        };
        Ok(ids.iter().map(content).collect())
    }
}
