//! What every request must hold to: its form, its history, and the secrets it must not hold.

use std::collections::{HashMap, HashSet};

use axum::http::HeaderMap;
use serde_json::Value;

use super::script::{History, Rules, Shape};

/// Remembers each conversation, to compare it with its continuation.
pub struct Checker {
    rules: Rules,
    conversations: HashMap<String, Conversation>,
    issued: Vec<Value>,
}

struct Conversation {
    prefix: String,
    blocks: Vec<Value>,
}

/// How many turns of the model a request holds.
pub fn assistant_messages(body: &Value) -> usize {
    list(body, "messages").iter().filter(|message| text(message, "role") == "assistant").count()
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn is_plain(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

impl Checker {
    pub fn new(rules: Rules) -> Self {
        Self { rules, conversations: HashMap::new(), issued: Vec::new() }
    }

    /// Remembers thinking that was sent, for only that may come back.
    pub fn issued(&mut self, thinking: &[Value]) {
        self.issued.extend_from_slice(thinking);
    }

    /// Everything wrong with a request.
    pub fn check(&mut self, shape: Shape, headers: &HeaderMap, raw: &[u8], body: &Value) -> Vec<String> {
        let mut wrong = Vec::new();
        let raw = String::from_utf8_lossy(raw);
        for secret in self.rules.secrets.iter().filter(|secret| raw.contains(secret.as_str())) {
            let shown: String = secret.chars().take(4).collect();
            wrong.push(format!("the secret `{shown}…` stands in it"));
        }
        if body.get("stream") != Some(&Value::Bool(true)) {
            wrong.push("it does not ask for a stream".to_owned());
        }
        if text(body, "model").is_empty() {
            wrong.push("it names no model".to_owned());
        }
        match shape {
            Shape::OpenAi => openai_form(body, &mut wrong),
            Shape::Anthropic => anthropic_form(headers, body, &self.issued, &mut wrong),
        }
        self.compare(shape, body, &mut wrong);
        wrong
    }

    /// The beginning is the same bytes in every turn, and messages are only appended.
    fn compare(&mut self, shape: Shape, body: &Value, wrong: &mut Vec<String>) {
        if self.rules.history == History::Unwatched {
            return;
        }
        let mut body = body.clone();
        remove_marks(&mut body);
        let mut blocks = blocks(shape, &body);
        let has_system = shape == Shape::OpenAi && blocks.first().is_some_and(|first| text(first, "role") == "system");
        let system = if has_system { blocks.remove(0) } else { body.get("system").cloned().unwrap_or_default() };
        let prefix = format!("{system}{}", body.get("tools").cloned().unwrap_or_default());
        let key = format!("{shape:?} {} {}", text(&body, "model"), blocks.first().cloned().unwrap_or_default());
        if let Some(earlier) = self.conversations.get(&key) {
            if earlier.prefix != prefix {
                wrong.push("the system prompt or the tools differ from those of the turn before".to_owned());
            }
            if blocks.len() < earlier.blocks.len() {
                wrong.push("messages of the turn before are missing".to_owned());
            }
            for (n, (before, now)) in earlier.blocks.iter().zip(&blocks).enumerate() {
                if before != now && !(self.rules.history == History::MayShrink && shrank(before, now)) {
                    wrong.push(format!("part {n} changed: {before} became {now}"));
                }
            }
        }
        self.conversations.insert(key, Conversation { prefix, blocks });
    }
}

fn remove_marks(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("cache_control");
            fields.values_mut().for_each(remove_marks);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_marks),
        _ => {}
    }
}

/// The conversation in its smallest parts.
fn blocks(shape: Shape, body: &Value) -> Vec<Value> {
    let messages = list(body, "messages");
    match shape {
        Shape::OpenAi => messages.to_vec(),
        Shape::Anthropic => messages
            .iter()
            .flat_map(|message| {
                let role = text(message, "role");
                list(message, "content").iter().map(move |block| serde_json::json!({ "role": role, "block": block }))
            })
            .collect(),
    }
}

/// Whether only the content of a tool result became shorter.
fn shrank(before: &Value, now: &Value) -> bool {
    let content = |value: &Value| {
        let whole = value.get("block").unwrap_or(value);
        let is_result = text(whole, "role") == "tool" || text(whole, "type") == "tool_result";
        is_result.then(|| text(whole, "content").len())
    };
    let without = |value: &Value| {
        let mut value = value.clone();
        let whole = if value.get("block").is_some() { value.get_mut("block") } else { Some(&mut value) };
        whole.and_then(Value::as_object_mut).and_then(|fields| fields.remove("content"));
        value
    };
    matches!((content(before), content(now)), (Some(long), Some(short)) if short < long)
        && without(before) == without(now)
}

/// Each call of an assistant message has exactly one result, next, in the order of the calls.
fn answered(calls: &[String], results: &[String], at: usize, wrong: &mut Vec<String>) {
    if calls != results {
        wrong.push(format!("message {at}: the calls {calls:?} are followed by the results {results:?}"));
    }
}

fn unique(ids: &[String], seen: &mut HashSet<String>, wrong: &mut Vec<String>) {
    for id in ids.iter().filter(|id| id.is_empty() || !seen.insert((*id).clone())) {
        wrong.push(format!("the call id `{id}` is empty or used twice"));
    }
}

fn ids(items: &[Value], field: &str) -> Vec<String> {
    items.iter().map(|item| text(item, field).to_owned()).collect()
}

fn openai_form(body: &Value, wrong: &mut Vec<String>) {
    if body.pointer("/stream_options/include_usage") != Some(&Value::Bool(true)) {
        wrong.push("it does not ask for the usage".to_owned());
    }
    let messages = list(body, "messages");
    let mut seen = HashSet::new();
    let mut results_until = 0;
    for (at, message) in messages.iter().enumerate() {
        match text(message, "role") {
            "system" if at == 0 => {}
            "user" if message.get("content").is_some_and(Value::is_string) => {}
            "assistant" => {
                let calls = list(message, "tool_calls");
                if calls.is_empty() && text(message, "content").is_empty() {
                    wrong.push(format!("message {at} says nothing"));
                }
                for function in calls.iter().filter_map(|call| call.get("function")) {
                    let arguments = serde_json::from_str::<Value>(text(function, "arguments"));
                    if !is_plain(text(function, "name")) || !arguments.is_ok_and(|value| value.is_object()) {
                        wrong.push(format!("message {at} holds a call that templates fail on: {function}"));
                    }
                }
                let calls = ids(calls, "id");
                unique(&calls, &mut seen, wrong);
                let next = messages.iter().skip(at + 1).take_while(|next| text(next, "role") == "tool");
                let results: Vec<_> = next.map(|next| text(next, "tool_call_id").to_owned()).collect();
                results_until = at + results.len();
                answered(&calls, &results, at, wrong);
            }
            "tool" if at <= results_until && message.get("content").is_some_and(Value::is_string) => {}
            role => wrong.push(format!("message {at} of role `{role}` has no place there")),
        }
    }
}

fn anthropic_form(headers: &HeaderMap, body: &Value, issued: &[Value], wrong: &mut Vec<String>) {
    if headers.get("anthropic-version").is_none() {
        wrong.push("it names no version of the API".to_owned());
    }
    if body.to_string().matches("\"cache_control\"").count() > 4 {
        wrong.push("it holds more than four cache marks".to_owned());
    }
    let budget = body.pointer("/thinking/budget_tokens").and_then(Value::as_u64);
    if budget.is_some_and(|budget| body.get("max_tokens").and_then(Value::as_u64).unwrap_or_default() <= budget) {
        wrong.push("`max_tokens` leaves no room beside the thinking".to_owned());
    }
    let messages = list(body, "messages");
    let mut seen = HashSet::new();
    let mut calls_before = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        let content = list(message, "content");
        if text(message, "role") != expected || content.is_empty() {
            wrong.push(format!("message {at} must be of role `{expected}` and say something"));
        }
        for block in content {
            match (expected, text(block, "type")) {
                (_, "text") if !text(block, "text").trim().is_empty() => {}
                ("user", "tool_result") if block.get("content").is_some_and(Value::is_string) => {}
                ("assistant", "tool_use")
                    if is_plain(text(block, "name")) && block.get("input").is_some_and(Value::is_object) => {}
                ("assistant", "thinking" | "redacted_thinking") if issued.contains(block) => {}
                _ => wrong.push(format!("message {at} holds a block that has no place there: {block}")),
            }
        }
        if content.last().is_some_and(|last| text(last, "type").ends_with("thinking")) {
            wrong.push(format!("message {at} ends in thinking"));
        }
        let of = |kind: &str| content.iter().filter(|b| text(b, "type") == kind).cloned().collect::<Vec<_>>();
        let results = of("tool_result");
        if content.iter().take(results.len()).any(|block| text(block, "type") != "tool_result") {
            wrong.push(format!("message {at}: results must stand before other blocks"));
        }
        answered(&calls_before, &ids(&results, "tool_use_id"), at, wrong);
        calls_before = ids(&of("tool_use"), "id");
        unique(&calls_before, &mut seen, wrong);
    }
    answered(&calls_before, &[], messages.len(), wrong);
    if budget.is_some() {
        begins_with_thinking(messages, wrong);
    }
}

/// Under a budget, a turn that calls tools begins with thinking.
fn begins_with_thinking(messages: &[Value], wrong: &mut Vec<String>) {
    let is_result = |message: &Value| list(message, "content").iter().any(|b| text(b, "type") == "tool_result");
    let begin = messages.iter().rposition(|m| text(m, "role") == "user" && !is_result(m)).unwrap_or_default();
    let first = messages.iter().skip(begin).find(|m| text(m, "role") == "assistant");
    let kind = first.and_then(|message| list(message, "content").first()).map(|block| text(block, "type"));
    if kind.is_some_and(|kind| !kind.ends_with("thinking")) {
        wrong.push(format!("expected `thinking` or `redacted_thinking`, but found `{}`", kind.unwrap_or_default()));
    }
}
