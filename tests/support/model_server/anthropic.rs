//! A turn as a stream of events of the Messages API.

use serde_json::{Value, json};

use super::script::{Ending, Finish, Step, Turn, broken_ending, pieces};

fn event(value: &Value) -> Step {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    Step::text(format!("event: {kind}\ndata: {value}\n\n"))
}

struct Blocks {
    steps: Vec<Step>,
    index: usize,
}

impl Blocks {
    fn start(&mut self, block: &Value) {
        let index = self.index;
        self.steps.push(event(&json!({ "type": "content_block_start", "index": index, "content_block": block })));
    }

    fn delta(&mut self, delta: &Value) {
        let index = self.index;
        self.steps.push(event(&json!({ "type": "content_block_delta", "index": index, "delta": delta })));
    }

    fn stop(&mut self) {
        self.steps.push(event(&json!({ "type": "content_block_stop", "index": self.index })));
        self.index += 1;
    }
}

pub fn steps(turn: &Turn) -> Vec<Step> {
    let start = json!({ "type": "message_start", "message": {
        "id": "msg_scripted", "type": "message", "role": "assistant", "model": "scripted", "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 15, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 100,
            "output_tokens": 1 },
    } });
    let mut blocks = Blocks { steps: vec![event(&start), event(&json!({ "type": "ping" }))], index: 0 };
    turn.thinking.iter().for_each(|block| thinking(&mut blocks, block));
    if !turn.text.is_empty() {
        blocks.start(&json!({ "type": "text", "text": "" }));
        turn.text.iter().for_each(|piece| blocks.delta(&json!({ "type": "text_delta", "text": piece })));
    }
    if let Some(broken) = broken_ending(turn.ending) {
        blocks.steps.extend(broken);
        return blocks.steps;
    }
    if !turn.text.is_empty() {
        blocks.stop();
    }
    let last = turn.calls.len().saturating_sub(1);
    for (n, call) in turn.calls.iter().enumerate() {
        blocks.start(&json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": {} }));
        let mut parts = pieces(&call.arguments_text());
        let cut = turn.ending == Ending::CutInCall && n == last;
        if cut {
            parts.truncate(parts.len().div_ceil(2));
        }
        for part in &parts {
            blocks.delta(&json!({ "type": "input_json_delta", "partial_json": part }));
        }
        if cut {
            blocks.steps.push(Step::Cut);
            return blocks.steps;
        }
        blocks.stop();
    }
    let mut steps = blocks.steps;
    if turn.ending != Ending::NoFinish {
        steps.push(event(&json!({ "type": "message_delta",
            "delta": { "stop_reason": finish(turn), "stop_sequence": null }, "usage": { "output_tokens": 30 } })));
        steps.push(event(&json!({ "type": "message_stop" })));
    }
    steps
}

/// Thinking comes in pieces, its signature last; redacted thinking comes whole.
fn thinking(blocks: &mut Blocks, block: &Value) {
    let field = |name: &str| block.get(name).and_then(Value::as_str);
    match (field("thinking"), field("signature")) {
        (Some(thinking), Some(signature)) => {
            blocks.start(&json!({ "type": "thinking", "thinking": "", "signature": "" }));
            for part in pieces(thinking) {
                blocks.delta(&json!({ "type": "thinking_delta", "thinking": part }));
            }
            blocks.delta(&json!({ "type": "signature_delta", "signature": signature }));
        }
        _ => blocks.start(block),
    }
    blocks.stop();
}

fn finish(turn: &Turn) -> String {
    match &turn.finish {
        Finish::Natural if turn.calls.is_empty() => "end_turn".to_owned(),
        Finish::Natural => "tool_use".to_owned(),
        Finish::MaxTokens => "max_tokens".to_owned(),
        Finish::Refusal => "refusal".to_owned(),
        Finish::Pause => "pause_turn".to_owned(),
        Finish::ContextWindow => "model_context_window_exceeded".to_owned(),
        Finish::Raw(words) => words.clone(),
    }
}
