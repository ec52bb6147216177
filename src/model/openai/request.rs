//! The request body. The same conversation gives the same bytes, and a longer one begins with those of the shorter.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::agent::model::{Message, ModelCall, ModelError, Request, ToolSpec};
use crate::model::wire;

use super::OpenAi;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Turn<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Tool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: FunctionSpec<'a>,
}

#[derive(Serialize)]
struct FunctionSpec<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum Turn<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
    },
    Assistant {
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
}

/// OpenAI's own models take only `max_completion_tokens`, most other servers only `max_tokens`.
fn wants_completion_tokens(host: Option<&str>) -> bool {
    host.is_some_and(|host| host == "api.openai.com" || host.ends_with(".openai.com") || host.ends_with(".azure.com"))
}

pub(super) fn body(model: &OpenAi, request: &Request<'_>) -> Result<Vec<u8>, ModelError> {
    let limit = request.max_tokens.min(model.max_tokens.unwrap_or(u32::MAX));
    let completion = wants_completion_tokens(model.endpoint.base_url.host_str());
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        messages.push(Turn::System { content: request.system });
    }
    for message in request.messages {
        push(message, &mut messages);
    }
    let body = Body {
        model: &model.endpoint.model,
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        max_tokens: (!completion).then_some(limit),
        max_completion_tokens: completion.then_some(limit),
        temperature: model.temperature,
        tools: request.tools.iter().map(tool).collect(),
        messages,
    };
    serde_json::to_vec(&body).map_err(|error| model.endpoint.permanent(format!("the request is no JSON: {error}")))
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    let function = FunctionSpec { name: &spec.name, description: &spec.description, parameters: &spec.schema };
    Tool { kind: "function", function }
}

fn push<'a>(message: &'a Message, messages: &mut Vec<Turn<'a>>) {
    match message {
        Message::User { text } => messages.push(Turn::User { content: text }),
        Message::Assistant { text, calls, opaque: _ } => {
            let content = Some(text.as_str()).filter(|text| !text.is_empty());
            if content.is_some() || !calls.is_empty() {
                messages.push(Turn::Assistant { content, tool_calls: calls.iter().map(call).collect() });
            }
        }
        Message::Answers { answers } => {
            messages.extend(answers.iter().map(|a| Turn::Tool { tool_call_id: &a.id, content: &a.content }));
        }
    }
}

fn call(call: &ModelCall) -> Call<'_> {
    let whole = serde_json::from_str::<serde_json::Map<String, Value>>(&call.arguments).is_ok();
    let arguments = if whole {
        Cow::Borrowed(call.arguments.as_str())
    } else {
        // Servers that fill a template with the arguments fail on text that is no JSON.
        Cow::Owned(Value::Object(wire::arguments(&call.arguments)).to_string())
    };
    Call { id: &call.id, kind: "function", function: Function { name: wire::name(&call.name), arguments } }
}
