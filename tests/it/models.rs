//! Models of both shapes against the scripted server: what they send, what they make of what comes back.

#![expect(clippy::unwrap_used, reason = "what a test sets up must stand")]

mod openai;

mod anthropic;

mod faults;

mod cuts;

mod failing;

mod together;

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;
use warrant::agent::model::{Answer, CallAnswer, Message, Model, ModelError, Request, ToolSpec};
use warrant::model::config::{ModelConfig, build};
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger, Writes};

use crate::model_server::ModelServer;
use crate::model_server::script::{Pick, Rules, Script, Shape, Turn};

/// A key that must never be seen anywhere but in its header.
pub const KEY: &str = "sk-scripted-4f9aQ7ZLkEw2";

pub const BOTH: [Shape; 2] = [Shape::OpenAi, Shape::Anthropic];

/// A server that looks for the key in every request.
pub async fn serve(turns: Vec<Turn>) -> ModelServer {
    let rules = Rules { secrets: vec![KEY.to_owned()], ..Rules::default() };
    ModelServer::with(Script { turns, pick: Pick::InOrder }, rules, 0).await
}

/// A model of the config: `name` in this shape, with further settings.
pub fn model_at(name: &str, shape: Shape, base_url: &str, settings: &str) -> Arc<dyn Model> {
    let provider = match shape {
        Shape::OpenAi => "openai",
        Shape::Anthropic => "anthropic",
    };
    let text = format!(
        "provider = \"{provider}\"\nmodel = \"some-model\"\nbase_url = \"{base_url}\"\napi_key_env = \"KEY\"\n{settings}"
    );
    let config: ModelConfig = toml::from_str(&text).unwrap();
    build(name, &config, &|name| (name == "KEY").then(|| KEY.to_owned()), Arc::new(|| 1.0)).unwrap().model
}

/// A model that is asked once only.
pub fn model(shape: Shape, server: &ModelServer, settings: &str) -> Arc<dyn Model> {
    model_at("main", shape, &server.base_url(shape), &format!("tries = 1\n{settings}"))
}

/// A conversation as the loop has it.
pub struct Talk {
    run: Run,
    system: String,
    tools: Vec<ToolSpec>,
    pub messages: Vec<Message>,
    /// The pieces that were shown since the last question.
    pub shown: Vec<String>,
    pub cancel: CancellationToken,
}

impl Talk {
    pub fn new(question: &str) -> Self {
        let now = "2026-01-31T04:05:00Z".parse().unwrap();
        let run = Run {
            investigation: InvestigationId::try_from("i1".to_owned()).unwrap(),
            trigger: Trigger::Question { text: question.to_owned() },
            requester: Requester { person: "ada".parse().unwrap(), groups: Vec::new() },
            role: "explore".parse().unwrap(),
            channel: Channel::Terminal,
            writes: Writes::Off,
            service: None,
            since: now,
            opened_at: now,
        };
        let tool = |name: &str, description: &str| ToolSpec {
            name: name.to_owned(),
            description: description.to_owned(),
            schema: json!({ "type": "object", "properties": { "service": { "type": "string" } } }),
        };
        Self {
            run,
            system: "You investigate incidents.".to_owned(),
            tools: vec![tool("list_services", "Lists services."), tool("search_logs", "Searches logs.")],
            messages: vec![Message::User { text: question.to_owned() }],
            shown: Vec::new(),
            cancel: CancellationToken::new(),
        }
    }

    /// Asks, and keeps the answer as the loop does.
    pub async fn ask(&mut self, model: &dyn Model) -> Result<Answer, ModelError> {
        let request = Request {
            run: &self.run,
            seen: &[],
            system: &self.system,
            tools: &self.tools,
            messages: &self.messages,
            max_tokens: 1000,
        };
        let (deltas, mut pieces) = unbounded_channel();
        let answer = model.answer(request, &deltas, &self.cancel).await;
        drop(deltas);
        self.shown.clear();
        while let Some(piece) = pieces.recv().await {
            self.shown.push(piece);
        }
        let answer = answer?;
        let (text, calls, opaque) = (answer.text.clone(), answer.calls.clone(), answer.opaque.clone());
        self.messages.push(Message::Assistant { text, calls, opaque });
        Ok(answer)
    }

    /// Answers the calls of the last message, the first as an error.
    pub fn answer_calls(&mut self) {
        let Some(Message::Assistant { calls, .. }) = self.messages.last() else { return };
        let answers = calls.iter().enumerate().map(|(n, call)| CallAnswer {
            id: call.id.clone(),
            content: format!("{{\"n\":{n}}}"),
            is_error: n == 0,
        });
        let answers = answers.collect();
        self.messages.push(Message::Answers { answers });
    }

    pub fn say(&mut self, text: &str) {
        self.messages.push(Message::User { text: text.to_owned() });
    }
}

/// A request body with one field, tool or message a line.
pub fn by_line(body: &Value) -> String {
    let lines = body.as_object().into_iter().flatten().flat_map(|(name, value)| match value {
        Value::Array(items) => items.iter().map(|item| format!("{name}: {item}")).collect(),
        other => vec![format!("{name}: {other}")],
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What kind of error it is, and its text.
pub fn told(error: &ModelError) -> String {
    let kind = match error {
        ModelError::Transient { retry_after, .. } => format!("transient {retry_after:?}"),
        ModelError::Permanent { .. } => "permanent".to_owned(),
        ModelError::ContextOverflow { .. } => "overflow".to_owned(),
        ModelError::Cancelled => "cancelled".to_owned(),
    };
    format!("{kind}: {error}")
}
