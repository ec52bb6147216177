//! The request body. The same conversation gives the same bytes but for the cache marks, which move to its end.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::agent::model::{CallAnswer, Message, ModelCall, ModelError, Request};
use crate::model::wire;

use super::{Anthropic, FAMILY, Thinking};

/// Room for adaptive thinking, which counts as part of the answer.
const ADAPTIVE_ROOM: u32 = 8_192;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingParam>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<Turn<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ThinkingParam {
    Enabled { budget_tokens: u32 },
    Adaptive,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Mark>,
}

/// "Keep what stands up to here."
#[derive(Clone, Copy, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Mark {
    Ephemeral,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Role {
    User,
    Assistant,
}

#[derive(Serialize)]
struct Turn<'a> {
    role: Role,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: Map<String, Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
    /// Thinking as it came. It can't bear a mark.
    #[serde(untagged)]
    Opaque(&'a Value),
}

impl Block<'_> {
    /// Puts a mark on the block, if it can bear one.
    fn mark(&mut self) -> bool {
        match self {
            Self::Text { cache_control, .. }
            | Self::ToolUse { cache_control, .. }
            | Self::ToolResult { cache_control, .. } => {
                *cache_control = Some(Mark::Ephemeral);
                true
            }
            Self::Opaque(_) => false,
        }
    }
}

fn text(text: &str) -> Option<Block<'_>> {
    // The API refuses blocks of white space.
    (!text.trim().is_empty()).then_some(Block::Text { text, cache_control: None })
}

pub(super) fn body(model: &Anthropic, request: &Request<'_>) -> Result<Vec<u8>, ModelError> {
    let thinking = thinking_for(model.thinking, request.messages);
    let limit = request.max_tokens.min(model.max_tokens.unwrap_or(u32::MAX));
    let (thinking, room) = match thinking {
        Thinking::Unasked => (None, 0),
        Thinking::Budget(budget_tokens) => (Some(ThinkingParam::Enabled { budget_tokens }), budget_tokens),
        Thinking::Adaptive => (Some(ThinkingParam::Adaptive), ADAPTIVE_ROOM),
    };
    let switched_off = thinking.is_none() && model.thinking != Thinking::Unasked;
    let mut system: Vec<_> = text(request.system).into_iter().collect();
    for block in &mut system {
        block.mark();
    }
    let mut tools: Vec<_> = request
        .tools
        .iter()
        .map(|spec| Tool {
            name: &spec.name,
            description: &spec.description,
            input_schema: &spec.schema,
            cache_control: None,
        })
        .collect();
    if let Some(last) = tools.last_mut() {
        last.cache_control = Some(Mark::Ephemeral);
    }
    let mut messages = turns(request.messages, if switched_off { Keep::Nothing } else { Keep::Own });
    mark_end(&mut messages);
    let body = Body {
        model: &model.endpoint.model,
        max_tokens: limit.saturating_add(room),
        stream: true,
        temperature: model.temperature,
        thinking,
        tools,
        system,
        messages,
    };
    serde_json::to_vec(&body).map_err(|error| model.endpoint.permanent(format!("the request is no JSON: {error}")))
}

/// Under a budget the API wants a turn that calls tools to begin with thinking. A turn that another provider began has
/// none, so thinking stays off until it is over.
fn thinking_for(configured: Thinking, messages: &[Message]) -> Thinking {
    let Thinking::Budget(_) = configured else { return configured };
    let begin = messages
        .iter()
        .enumerate()
        .rposition(|(at, message)| {
            let after_answers = at.checked_sub(1).and_then(|before| messages.get(before));
            matches!(message, Message::User { .. }) && !matches!(after_answers, Some(Message::Answers { .. }))
        })
        .unwrap_or_default();
    let first = messages.iter().skip(begin).find_map(|message| match message {
        Message::Assistant { calls, opaque, .. } if !calls.is_empty() => Some(opaque),
        Message::Assistant { .. } | Message::User { .. } | Message::Answers { .. } => None,
    });
    match first {
        Some(opaque) if !wire::open(FAMILY, opaque).iter().any(|block| block.after_calls == 0) => Thinking::Unasked,
        Some(_) | None => configured,
    }
}

/// Which opaque blocks go back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Own,
    Nothing,
}

/// The conversation in turns that alternate. Answers and what a person says after them share one turn.
fn turns(messages: &[Message], keep: Keep) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for message in messages {
        let (role, content) = match message {
            Message::User { text: said } => (Role::User, text(said).into_iter().collect()),
            Message::Assistant { text, calls, opaque } => (Role::Assistant, assistant(text, calls, opaque, keep)),
            Message::Answers { answers } => (Role::User, answers.iter().map(answer).collect()),
        };
        match turns.last_mut() {
            _ if content.is_empty() => {}
            Some(last) if last.role == role => last.content.extend(content),
            _ => turns.push(Turn { role, content }),
        }
    }
    turns
}

/// Text, calls and thinking, each where it stood.
fn assistant<'a>(said: &'a str, calls: &'a [ModelCall], opaque: &'a [Value], keep: Keep) -> Vec<Block<'a>> {
    let mut content = Vec::new();
    let (mut text_done, mut calls_done) = (0, 0);
    let own = if keep == Keep::Own { wire::open(FAMILY, opaque) } else { Vec::new() };
    for block in own {
        let upto = block.after_text.min(said.len());
        // Text that was masked since then may have no such place; it follows with the rest.
        if let Some(piece) = said.get(text_done..upto) {
            content.extend(text(piece));
            text_done = upto;
        }
        let before = block.after_calls.clamp(calls_done, calls.len());
        content.extend(calls.iter().take(before).skip(calls_done).map(call));
        calls_done = before;
        content.push(Block::Opaque(block.block));
    }
    content.extend(said.get(text_done..).and_then(text));
    content.extend(calls.iter().skip(calls_done).map(call));
    // The API refuses a message that ends in thinking or, where it is the last one, in white space.
    while let Some(Block::Opaque(_)) = content.last() {
        content.pop();
    }
    if let Some(Block::Text { text, .. }) = content.last_mut() {
        *text = text.trim_end();
    }
    content
}

fn call(call: &ModelCall) -> Block<'_> {
    let input = wire::arguments(&call.arguments);
    Block::ToolUse { id: wire::plain_id(&call.id), name: wire::name(&call.name), input, cache_control: None }
}

fn answer(answer: &CallAnswer) -> Block<'_> {
    Block::ToolResult {
        tool_use_id: wire::plain_id(&answer.id),
        content: &answer.content,
        is_error: answer.is_error,
        cache_control: None,
    }
}

/// Marks the end of the conversation, and the end of the request before: the API looks back only twenty blocks for
/// what it keeps, and one turn can bring more.
fn mark_end(turns: &mut [Turn<'_>]) {
    let from_user = turns.iter_mut().rev().filter(|turn| turn.role == Role::User);
    for turn in from_user.take(2) {
        turn.content.iter_mut().rev().find_map(|block| block.mark().then_some(()));
    }
}
