use proptest::prelude::*;
use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;

use super::*;
use crate::agent::model::{ModelCall, Stop};
use crate::model::testing::endpoint;

/// Reads an answer from the deltas of its chunks.
fn read(deltas: &[serde_json::Value], finish: &str) -> Result<Answer, ModelError> {
    let (endpoint, (sender, _pieces)) = (endpoint(), unbounded_channel());
    let mut reader = answer::Reader::default();
    for delta in deltas {
        reader.take(&endpoint, &json!({ "choices": [{ "delta": delta }] }).to_string(), &sender)?;
    }
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": finish }] });
    reader.take(&endpoint, &end.to_string(), &sender)?;
    reader.finish(&endpoint, &[])
}

fn call(id: &str, name: &str, arguments: &str) -> ModelCall {
    ModelCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
}

fn piece(index: Option<u64>, id: Option<&str>, name: Option<&str>, arguments: &serde_json::Value) -> serde_json::Value {
    json!({ "tool_calls": [{ "index": index, "id": id, "function": { "name": name, "arguments": arguments } }] })
}

#[test]
fn parallel_calls_are_told_apart_whatever_a_gateway_leaves_out() {
    let whole = |index, id| piece(index, id, Some("f"), &json!("{}"));
    // All of index 0, as one gateway sends them; without an index, as another.
    for index in [Some(0), None] {
        let answer = read(&[whole(index, Some("a")), whole(index, Some("b"))], "stop").unwrap();
        assert_eq!(answer.calls, [call("a", "f", "{}"), call("b", "f", "{}")]);
        assert_eq!(answer.stop, Stop::Calls);
    }
    // The id in every piece, or in the first only.
    for id in [Some("a"), None] {
        let deltas = [
            piece(Some(3), Some("a"), Some("f"), &json!("{\"x\"")),
            piece(Some(3), id, None, &json!(":1}")),
            piece(Some(3), id, None, &json!(null)),
        ];
        assert_eq!(read(&deltas, "tool_calls").unwrap().calls, [call("a", "f", "{\"x\":1}")]);
    }
    // No ids at all.
    let answer = read(&[whole(Some(0), None), whole(Some(1), Some(""))], "tool_calls").unwrap();
    assert_eq!(answer.calls, [call("call_0_0", "f", "{}"), call("call_0_1", "f", "{}")]);
    // Arguments as an object.
    let answer = read(&[piece(Some(0), Some("a"), Some("f"), &json!({ "x": 1 }))], "tool_calls").unwrap();
    assert_eq!(answer.calls, [call("a", "f", "{\"x\":1}")]);
}

#[test]
fn lm_05_wrong_types_are_an_error_and_their_text_stays_short() {
    let long = "x".repeat(10_000);
    for delta in [json!({ "content": 7 }), json!({ "tool_calls": long }), json!({ "tool_calls": [{ "index": -1 }] })] {
        let error = read(&[delta], "stop").unwrap_err();
        assert!(matches!(&error, ModelError::Transient { message, .. } if message.chars().count() < 400), "{error}");
    }
}

#[test]
fn errors_within_a_stream_are_told_apart() {
    let (endpoint, (sender, _pieces)) = (endpoint(), unbounded_channel());
    let told = |error: serde_json::Value| {
        let event = json!({ "error": error }).to_string();
        answer::Reader::default().take(&endpoint, &event, &sender).unwrap_err()
    };
    assert!(matches!(told(json!({ "code": 429, "message": "slow" })), ModelError::Transient { .. }));
    assert!(matches!(told(json!({ "code": "404", "message": "gone" })), ModelError::Permanent { .. }));
    assert!(matches!(told(json!({ "type": "server_error" })), ModelError::Transient { .. }));
    assert!(matches!(told(json!("words only")), ModelError::Transient { .. }));
    let overflow = json!({ "code": "context_length_exceeded", "message": "too long" });
    assert!(matches!(told(overflow), ModelError::ContextOverflow { .. }));
}

proptest! {
    #[test]
    fn no_event_makes_the_reader_panic(events in proptest::collection::vec("\\PC{0,60}", 0..6)) {
        let (endpoint, (sender, _pieces)) = (endpoint(), unbounded_channel());
        let mut reader = answer::Reader::default();
        for event in &events {
            drop(reader.take(&endpoint, event, &sender));
        }
        prop_assert!(reader.finish(&endpoint, &[]).is_err());
    }
}
