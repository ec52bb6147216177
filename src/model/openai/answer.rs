//! An answer out of its pieces. It is whole once a finish reason came; before that it is nothing.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use crate::agent::model::{Answer, Message, ModelCall, ModelError, Stop, Usage};
use crate::model::endpoint::Endpoint;
use crate::model::{failure, wire};

#[derive(Deserialize)]
struct Chunk {
    error: Option<Value>,
    choices: Option<Vec<Choice>>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Choice {
    index: Option<u64>,
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<Piece>>,
}

#[derive(Deserialize)]
struct Piece {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionPiece>,
}

#[derive(Deserialize)]
struct FunctionPiece {
    name: Option<String>,
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(rename = "prompt_tokens")]
    input: Option<u64>,
    #[serde(rename = "completion_tokens")]
    output: Option<u64>,
    #[serde(rename = "prompt_tokens_details")]
    details: Option<TokenDetails>,
}

#[derive(Deserialize)]
struct TokenDetails {
    cached_tokens: Option<u64>,
}

/// The answer so far.
#[derive(Default)]
pub(super) struct Reader {
    text: String,
    refusal: String,
    calls: Vec<ModelCall>,
    by_index: HashMap<u64, usize>,
    finish: Option<String>,
    usage: Usage,
}

impl Reader {
    /// Whether the finish reason came.
    pub(super) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Takes one event.
    pub(super) fn take(
        &mut self,
        endpoint: &Endpoint,
        event: &str,
        deltas: &UnboundedSender<String>,
    ) -> Result<(), ModelError> {
        let chunk: Chunk = serde_json::from_str(event).map_err(|error| {
            endpoint.transient(format!("sent an event that can't be read: {}", failure::chain(&error)))
        })?;
        if let Some(error) = chunk.error {
            return Err(failure::of_event(endpoint, &error));
        }
        if let Some(usage) = chunk.usage {
            let cached = usage.details.and_then(|details| details.cached_tokens);
            self.usage = Usage {
                input: usage.input.unwrap_or_default(),
                cached: cached.unwrap_or_default(),
                output: usage.output.unwrap_or_default(),
            };
        }
        // One answer was asked for; others would only mix with it.
        let first = chunk.choices.into_iter().flatten().find(|choice| choice.index.unwrap_or_default() == 0);
        let Some(choice) = first else { return Ok(()) };
        if let Some(delta) = choice.delta {
            let content = delta.content.unwrap_or_default();
            let refusal = delta.refusal.unwrap_or_default();
            wire::show(deltas, &content);
            wire::show(deltas, &refusal);
            self.text.push_str(&content);
            self.refusal.push_str(&refusal);
            for piece in delta.tool_calls.into_iter().flatten() {
                self.take_piece(piece);
            }
        }
        self.finish = choice.finish_reason.filter(|reason| !reason.is_empty()).or(self.finish.take());
        Ok(())
    }

    /// Adds a piece to its call. The index says which; where there is none, or where parallel calls share one, an id
    /// that was not there before begins a new call.
    fn take_piece(&mut self, piece: Piece) {
        let id = piece.id.unwrap_or_default();
        let last = self.calls.len().checked_sub(1);
        let known = piece.index.map_or(last, |index| self.by_index.get(&index).copied());
        let same = known.filter(|at| id.is_empty() || self.calls.get(*at).is_some_and(|call| call.id == id));
        let at = same.unwrap_or(self.calls.len());
        if same.is_none() {
            self.calls.push(ModelCall { id, name: String::new(), arguments: String::new() });
            if let Some(index) = piece.index {
                self.by_index.insert(index, at);
            }
        }
        let (Some(call), Some(function)) = (self.calls.get_mut(at), piece.function) else { return };
        if call.name.is_empty() {
            call.name = function.name.unwrap_or_default();
        }
        match function.arguments {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => call.arguments.push_str(&text),
            Some(other) => call.arguments.push_str(&other.to_string()),
        }
    }

    /// The whole answer, if it is one.
    pub(super) fn finish(self, endpoint: &Endpoint, messages: &[Message]) -> Result<Answer, ModelError> {
        let Some(finish) = self.finish else {
            return Err(endpoint.transient("the answer ended without a finish reason, so it is not whole"));
        };
        let stop = match finish.as_str() {
            "length" => Stop::MaxTokens,
            "content_filter" => Stop::Refused,
            "stop" | "tool_calls" | "function_call" if !self.refusal.is_empty() => Stop::Refused,
            // Several servers say `stop` beside calls.
            "stop" | "tool_calls" | "function_call" if self.calls.is_empty() => Stop::Done,
            "stop" | "tool_calls" | "function_call" => Stop::Calls,
            "error" => return Err(endpoint.transient("the provider gave up in the middle of the answer")),
            other => {
                let other: String = other.chars().take(40).collect();
                return Err(endpoint.permanent(format!("the answer ended for an unknown reason, `{other}`")));
            }
        };
        let mut calls = wire::calls_for(stop, self.calls);
        wire::settle_ids(&mut calls, messages);
        let text = if self.refusal.is_empty() { self.text } else { self.text + &self.refusal };
        Ok(Answer {
            model: endpoint.name.clone(),
            text,
            calls,
            opaque: Vec::new(),
            stop,
            usage: self.usage,
            cost: None,
            passed_over: Vec::new(),
        })
    }
}
