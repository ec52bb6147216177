//! A turn as a stream of chat completion chunks.

use serde_json::{Value, json};

use super::script::{Ending, Finish, Step, Turn, broken_ending, pieces};

fn event(value: &Value) -> Step {
    Step::text(format!("data: {value}\n\n"))
}

fn chunk(delta: &Value, finish: Option<&str>) -> Step {
    event(&json!({
        "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
        "usage": null,
    }))
}

pub fn steps(turn: &Turn) -> Vec<Step> {
    let mut steps = vec![chunk(&json!({ "role": "assistant", "content": "" }), None)];
    let refused = turn.finish == Finish::Refusal;
    let field = if refused { "refusal" } else { "content" };
    steps.extend(turn.text.iter().map(|piece| chunk(&json!({ field: piece }), None)));
    if let Some(broken) = broken_ending(turn.ending) {
        steps.extend(broken);
        return steps;
    }
    for (index, call) in turn.calls.iter().enumerate() {
        let head = json!({ "index": index, "id": call.id, "type": "function",
            "function": { "name": call.name, "arguments": "" } });
        steps.push(chunk(&json!({ "tool_calls": [head] }), None));
    }
    // The pieces of parallel calls come interleaved, which the format allows.
    let mut parts: Vec<_> = turn.calls.iter().map(|call| pieces(&call.arguments_text())).collect();
    if turn.ending == Ending::CutInCall
        && let Some(last) = parts.last_mut()
    {
        last.truncate(last.len().div_ceil(2));
    }
    for round in 0..parts.iter().map(Vec::len).max().unwrap_or_default() {
        for (index, parts) in parts.iter().enumerate() {
            if let Some(piece) = parts.get(round) {
                let part = json!({ "index": index, "function": { "arguments": piece } });
                steps.push(chunk(&json!({ "tool_calls": [part] }), None));
            }
        }
    }
    match turn.ending {
        Ending::CutInCall => steps.push(Step::Cut),
        Ending::NoFinish => steps.push(Step::text("data: [DONE]\n\n")),
        Ending::Whole | Ending::Stall | Ending::HugeLine(_) | Ending::ErrorEvent => {
            steps.push(chunk(&json!({}), Some(&finish(turn))));
            steps.push(event(&json!({
                "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
                "choices": [],
                "usage": { "prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150,
                    "prompt_tokens_details": { "cached_tokens": 100 } },
            })));
            steps.push(Step::text("data: [DONE]\n\n"));
        }
    }
    steps
}

fn finish(turn: &Turn) -> String {
    match &turn.finish {
        Finish::Natural if turn.calls.is_empty() => "stop".to_owned(),
        Finish::Natural => "tool_calls".to_owned(),
        Finish::MaxTokens => "length".to_owned(),
        Finish::Refusal => "stop".to_owned(),
        Finish::Pause | Finish::ContextWindow => "content_filter".to_owned(),
        Finish::Raw(words) => words.clone(),
    }
}
