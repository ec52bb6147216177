//! An answer out of its blocks. It is whole once `message_stop` came; before that it is nothing.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use crate::agent::model::{Answer, Message, ModelCall, ModelError, Stop, Usage};
use crate::model::endpoint::Endpoint;
use crate::model::{failure, wire};

use super::FAMILY;

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    MessageStart {
        message: Start,
    },
    ContentBlockStart {
        index: u64,
        content_block: Value,
    },
    ContentBlockDelta {
        index: u64,
        delta: Delta,
    },
    ContentBlockStop {
        index: u64,
    },
    MessageDelta {
        delta: End,
        usage: Option<Tokens>,
    },
    MessageStop,
    Error {
        error: Value,
    },
    /// Pings, and kinds that came after this was written.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Start {
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct End {
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "input_json_delta")]
    Input { partial_json: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(rename = "signature_delta")]
    Signature { signature: String },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(rename = "input_tokens")]
    uncached: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens")]
    cache_written: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    cache_read: Option<u64>,
    #[serde(rename = "output_tokens")]
    output: Option<u64>,
}

/// Whether the answer goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    More,
    Whole,
}

enum Block {
    Text(String),
    Call { start: ModelCall, arguments: String },
    Thinking { block: Value, thinking: String, signature: String },
    Redacted(Value),
    Unknown,
}

impl Block {
    fn begin(content: Value) -> Self {
        let text = |field: &str| content.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        match text("type").as_str() {
            "text" => Self::Text(text("text")),
            "tool_use" => {
                let input = content.get("input").map(Value::to_string).unwrap_or_default();
                let start = ModelCall { id: text("id"), name: text("name"), arguments: input };
                Self::Call { start, arguments: String::new() }
            }
            "thinking" => {
                let (thinking, signature) = (text("thinking"), text("signature"));
                Self::Thinking { block: content, thinking, signature }
            }
            "redacted_thinking" => Self::Redacted(content),
            _ => Self::Unknown,
        }
    }
}

/// The answer so far.
#[derive(Default)]
pub(super) struct Reader {
    blocks: Vec<Block>,
    open: HashMap<u64, usize>,
    stop_reason: Option<String>,
    usage: Usage,
}

impl Reader {
    /// Takes one event.
    pub(super) fn take(
        &mut self,
        endpoint: &Endpoint,
        event: &str,
        deltas: &UnboundedSender<String>,
    ) -> Result<Progress, ModelError> {
        let event: Event = serde_json::from_str(event).map_err(|error| {
            endpoint.transient(format!("sent an event that can't be read: {}", failure::chain(&error)))
        })?;
        match event {
            Event::MessageStart { message } => self.count(message.usage),
            Event::ContentBlockStart { index, content_block } => {
                let block = Block::begin(content_block);
                if let Block::Text(text) = &block {
                    wire::show(deltas, text);
                }
                self.open.insert(index, self.blocks.len());
                self.blocks.push(block);
            }
            Event::ContentBlockDelta { index, delta } => {
                let block = self.open.get(&index).and_then(|at| self.blocks.get_mut(*at));
                match (block, delta) {
                    (Some(Block::Text(so_far)), Delta::Text { text }) => {
                        wire::show(deltas, &text);
                        so_far.push_str(&text);
                    }
                    (Some(Block::Call { arguments, .. }), Delta::Input { partial_json }) => {
                        arguments.push_str(&partial_json);
                    }
                    (Some(Block::Thinking { thinking: so_far, .. }), Delta::Thinking { thinking }) => {
                        so_far.push_str(&thinking);
                    }
                    (Some(Block::Thinking { signature: so_far, .. }), Delta::Signature { signature }) => {
                        so_far.push_str(&signature);
                    }
                    (Some(Block::Unknown), _) | (Some(_), Delta::Other) => {}
                    (Some(_) | None, _) => {
                        return Err(endpoint.transient("sent a piece that belongs to no open block"));
                    }
                }
            }
            Event::ContentBlockStop { index } => drop(self.open.remove(&index)),
            Event::MessageDelta { delta, usage } => {
                self.count(usage);
                self.stop_reason = delta.stop_reason.or(self.stop_reason.take());
            }
            Event::MessageStop => return Ok(Progress::Whole),
            Event::Error { error } => return Err(failure::of_event(endpoint, &error)),
            Event::Other => {}
        }
        Ok(Progress::More)
    }

    /// The counts are running totals; a later one stands for an earlier one.
    fn count(&mut self, tokens: Option<Tokens>) {
        let Some(tokens) = tokens else { return };
        // Some gateways count the input only at the end and say zero at the beginning, others the other way round.
        if let Some(uncached) = tokens.uncached.filter(|uncached| *uncached > 0 || self.usage.input == 0) {
            self.usage.cached = tokens.cache_read.unwrap_or_default();
            let written = tokens.cache_written.unwrap_or_default();
            self.usage.input = uncached.saturating_add(written).saturating_add(self.usage.cached);
        }
        self.usage.output = tokens.output.unwrap_or(self.usage.output);
    }

    /// The whole answer, if it is one.
    pub(super) fn finish(self, endpoint: &Endpoint, messages: &[Message]) -> Result<Answer, ModelError> {
        let Some(reason) = self.stop_reason else {
            return Err(endpoint.transient("the answer ended without a stop reason, so it is not whole"));
        };
        let has_calls = self.blocks.iter().any(|block| matches!(block, Block::Call { .. }));
        let stop = match reason.as_str() {
            "end_turn" | "stop_sequence" | "tool_use" if has_calls => Stop::Calls,
            "end_turn" | "stop_sequence" | "tool_use" => Stop::Done,
            "max_tokens" => Stop::MaxTokens,
            "refusal" => Stop::Refused,
            "pause_turn" => Stop::Paused,
            "model_context_window_exceeded" => Stop::ContextOverflow,
            other => {
                let other: String = other.chars().take(40).collect();
                return Err(endpoint.permanent(format!("the answer ended for an unknown reason, `{other}`")));
            }
        };
        if stop == Stop::Calls && !self.open.is_empty() {
            return Err(endpoint.transient("the answer ended within a block, so it is not whole"));
        }
        let (mut text, mut calls, mut opaque) = (String::new(), Vec::new(), Vec::new());
        for block in self.blocks {
            match block {
                Block::Text(piece) => text.push_str(&piece),
                Block::Call { start, arguments } => {
                    // No piece at all means the input stood in the beginning of the block.
                    let arguments = if arguments.is_empty() { start.arguments } else { arguments };
                    calls.push(ModelCall { arguments, ..start });
                }
                // Thinking that was cut has no signature, and the API refuses it without one.
                Block::Thinking { signature, .. } if signature.is_empty() => {}
                Block::Thinking { mut block, thinking, signature } => {
                    if let Some(fields) = block.as_object_mut() {
                        fields.insert("thinking".to_owned(), Value::String(thinking));
                        fields.insert("signature".to_owned(), Value::String(signature));
                    }
                    opaque.push(wire::opaque(FAMILY, text.len(), calls.len(), &block));
                }
                Block::Redacted(block) => opaque.push(wire::opaque(FAMILY, text.len(), calls.len(), &block)),
                Block::Unknown => {}
            }
        }
        let mut calls = wire::calls_for(stop, calls);
        wire::settle_ids(&mut calls, messages);
        Ok(Answer {
            model: endpoint.name.clone(),
            text,
            calls,
            opaque,
            stop,
            usage: self.usage,
            cost: None,
            passed_over: Vec::new(),
        })
    }
}
