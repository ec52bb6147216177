//! The seam to language models: what the loop says and what comes back, in types of our own.
//!
//! These types are what the trace keeps, so they survive their own JSON. Providers convert at their edge.

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;
use warrant_kernel::domain::event::Call;
use warrant_kernel::domain::result::ToolResult;
use warrant_kernel::domain::run::Run;

use super::state::CallKind;

/// A call as the model wrote it. The arguments are its raw text and may be anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCall {
    /// The provider's id of the call; the answer must bear it.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, as text.
    pub arguments: String,
}

/// The answer to one call, as the model is shown it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallAnswer {
    /// The provider's id of the call.
    pub id: String,
    /// The envelope as JSON text.
    pub content: String,
    /// Whether the call brought no data.
    pub is_error: bool,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// From a person or from Warrant itself.
    User {
        /// The text.
        text: String,
    },
    /// From the model.
    Assistant {
        /// The text; may be empty.
        text: String,
        /// The calls, in order.
        calls: Vec<ModelCall>,
        /// Blocks of the provider that must go back to it unchanged (signed thinking), in order.
        opaque: Vec<Value>,
    },
    /// The answers to all calls of the assistant message before, in the order of the calls.
    Answers {
        /// One for each call.
        answers: Vec<CallAnswer>,
    },
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: Value,
}

/// A call and its result, for models that run inside this program.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The call.
    pub call: &'a Call,
    /// Whether it looks or changes something.
    pub kind: CallKind,
    /// Its result, masked and cut as any model sees it.
    pub result: &'a ToolResult,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When it was answered.
    pub ended_at: Timestamp,
}

/// What a model is asked.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The investigation, for models that run inside this program.
    pub run: &'a Run,
    /// All calls that were answered, in their order, for the same models.
    pub seen: &'a [Seen<'a>],
    /// The system prompt; the same bytes in every turn.
    pub system: &'a str,
    /// The tools; the same in every turn.
    pub tools: &'a [ToolSpec],
    /// The conversation so far.
    pub messages: &'a [Message],
    /// Most tokens of the answer.
    pub max_tokens: u32,
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It said all it wanted to say.
    Done,
    /// It wants its calls answered.
    Calls,
    /// It ran into `max_tokens`; a call in the answer may be cut, so none is carried out.
    MaxTokens,
    /// It declined.
    Refused,
    /// The provider paused a long turn; the same conversation is sent again with this answer in it.
    Paused,
    /// The conversation is longer than the model's window.
    ContextOverflow,
}

/// Tokens, as the provider counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, those from a cache included.
    pub input: u64,
    /// Tokens read from the provider's cache.
    pub cached: u64,
    /// Tokens written.
    pub output: u64,
}

/// A whole answer. A stream that ended without its final mark is an error, never an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Which model answered.
    pub model: String,
    /// The text; may be empty.
    pub text: String,
    /// The calls, in order; each whole.
    pub calls: Vec<ModelCall>,
    /// Blocks that must go back unchanged.
    pub opaque: Vec<Value>,
    /// Why it stopped.
    pub stop: Stop,
    /// The tokens it took.
    pub usage: Usage,
    /// What it cost, in the currency of the prices in the config; none where the config states no price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The models that were asked before this one, and why each did not answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<String>,
}

/// Why there is no answer. Retries and the fall-back to the next model have been tried when the loop sees this.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Worth trying again: 408, 409, 429, 5xx, an idle or cut stream, no connection.
    #[error("{model}: {message}")]
    Transient {
        /// Which model.
        model: String,
        /// What happened.
        message: String,
        /// What the provider asked us to wait.
        retry_after: Option<std::time::Duration>,
    },
    /// Not worth trying again: a wrong key, a wrong model name, a request it does not understand.
    #[error("{model}: {message}")]
    Permanent {
        /// Which model.
        model: String,
        /// What happened and what to do.
        message: String,
    },
    /// The conversation is longer than the model's window.
    #[error("{model}: the conversation is longer than the model's window")]
    ContextOverflow {
        /// Which model.
        model: String,
    },
    /// The investigation was ended.
    #[error("ended before the model answered")]
    Cancelled,
}

/// A language model.
#[async_trait]
pub trait Model: Send + Sync {
    /// Its name in the config and in reports.
    fn name(&self) -> &str;

    /// Asks it. Pieces of text are sent to `deltas` as they come, for people to watch; only the returned answer counts.
    ///
    /// # Errors
    /// [`ModelError`] where there is no whole answer.
    async fn answer(
        &self,
        request: Request<'_>,
        deltas: &UnboundedSender<String>,
        cancel: &CancellationToken,
    ) -> Result<Answer, ModelError>;
}
