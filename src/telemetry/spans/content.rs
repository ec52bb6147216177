//! What was said and found, for those who ask for it: masked, then cut. What can't be checked for secrets is left out.

use opentelemetry::KeyValue;
use serde_json::{Value, json};
use warrant_kernel::domain::event::Call;
use warrant_kernel::domain::report::Report;
use warrant_kernel::domain::result::ToolResult;
use warrant_kernel::domain::run::Run;
use warrant_kernel::redact::Redactor;
use warrant_kernel::redact::guard::first_chars;

use crate::agent::model::{Answer, ModelCall};

use super::Spans;
use super::attributes::finish_reason;

/// Most characters of one value.
const MAX_CHARS: usize = 16_000;

/// The question, or the alert.
pub(super) fn question(spans: &Spans, run: &Run) -> Vec<KeyValue> {
    let messages = || json!([{ "role": "user", "parts": [text(run.trigger.text())] }]);
    sent(spans, "gen_ai.input.messages", messages)
}

/// What was found in the end.
pub(super) fn report(spans: &Spans, report: &Report) -> Vec<KeyValue> {
    let messages = || json!([{ "role": "assistant", "parts": [text(&report.summary)], "finish_reason": "stop" }]);
    sent(spans, "gen_ai.output.messages", messages)
}

/// What the model wrote.
pub(super) fn answer(spans: &Spans, answer: &Answer) -> Vec<KeyValue> {
    let messages = || {
        let words = (!answer.text.is_empty()).then(|| text(&answer.text));
        let parts: Vec<Value> = words.into_iter().chain(answer.calls.iter().map(call_of)).collect();
        json!([{ "role": "assistant", "parts": parts, "finish_reason": finish_reason(answer.stop) }])
    };
    sent(spans, "gen_ai.output.messages", messages)
}

/// What a tool was given, and what it found.
pub(super) fn call(spans: &Spans, call: &Call, result: &ToolResult) -> Vec<KeyValue> {
    let mut found = sent(spans, "gen_ai.tool.call.arguments", || read(&call.arguments));
    found.extend(sent(spans, "gen_ai.tool.call.result", || result.for_model()));
    found
}

fn text(words: &str) -> Value {
    json!({ "type": "text", "content": words })
}

fn call_of(call: &ModelCall) -> Value {
    json!({ "type": "tool_call", "id": call.id, "name": call.name, "arguments": read(&call.arguments) })
}

/// Arguments are whatever the model wrote.
fn read(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or_else(|_| Value::String(arguments.to_owned()))
}

fn sent(spans: &Spans, key: &'static str, value: impl FnOnce() -> Value) -> Vec<KeyValue> {
    let shown = spans.parts.content.as_ref().and_then(|redactor| masked(redactor, &value()));
    shown.map(|shown| KeyValue::new(key, shown)).into_iter().collect()
}

fn masked(redactor: &Redactor, value: &Value) -> Option<String> {
    let whole = redactor.redact_json(value).ok()?.0.to_string();
    let shown = first_chars(&whole, MAX_CHARS);
    Some(if shown.len() == whole.len() { whole } else { format!("{shown} [cut; the investigation keeps the whole]") })
}
