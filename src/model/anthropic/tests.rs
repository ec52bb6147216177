use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;

use super::*;
use crate::agent::model::{CallAnswer, Message, ModelCall, Stop, Usage};
use crate::model::testing::endpoint;

fn read(events: &[Value]) -> Result<Answer, ModelError> {
    let (endpoint, (sender, _pieces)) = (endpoint(), unbounded_channel());
    let mut reader = answer::Reader::default();
    for event in events {
        reader.take(&endpoint, &event.to_string(), &sender)?;
    }
    reader.finish(&endpoint, &[])
}

fn block(index: u64, start: &Value, deltas: &[Value]) -> Vec<Value> {
    let begin = json!({ "type": "content_block_start", "index": index, "content_block": start });
    let deltas = deltas.iter().map(|d| json!({ "type": "content_block_delta", "index": index, "delta": d }));
    let end = json!({ "type": "content_block_stop", "index": index });
    std::iter::once(begin).chain(deltas).chain([end]).collect()
}

fn end(reason: &str) -> Vec<Value> {
    vec![json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 7 } })]
}

fn thought(index: u64, thinking: &str) -> Vec<Value> {
    let deltas = [
        json!({ "type": "thinking_delta", "thinking": thinking }),
        json!({ "type": "signature_delta", "signature": "s" }),
    ];
    block(index, &json!({ "type": "thinking", "thinking": "", "signature": "" }), &deltas)
}

fn said(index: u64, text: &str) -> Vec<Value> {
    block(index, &json!({ "type": "text", "text": "" }), &[json!({ "type": "text_delta", "text": text })])
}

fn called(index: u64, id: &str) -> Vec<Value> {
    block(index, &json!({ "type": "tool_use", "id": id, "name": "f", "input": { "x": 1 } }), &[])
}

/// The blocks of the only assistant message in the request that holds these messages.
fn sent(messages: &[Message], thinking: Thinking) -> Value {
    let model = Anthropic { endpoint: endpoint(), max_tokens: None, temperature: None, thinking };
    let run = crate::model::testing::run();
    let request = Request { run: &run, seen: &[], system: "", tools: &[], messages, max_tokens: 10 };
    serde_json::from_slice(&request::body(&model, &request).unwrap()).unwrap()
}

fn kept(answer: &Answer) -> Vec<Message> {
    let (text, calls, opaque) = (answer.text.clone(), answer.calls.clone(), answer.opaque.clone());
    let answers = calls.iter().map(|c| CallAnswer { id: c.id.clone(), content: String::new(), is_error: false });
    let answers = Message::Answers { answers: answers.collect() };
    vec![Message::User { text: "?".to_owned() }, Message::Assistant { text, calls, opaque }, answers]
}

#[test]
fn thinking_between_other_blocks_keeps_its_place() {
    let events =
        [thought(0, "a"), said(1, "über "), thought(2, "b"), called(3, "c1"), thought(4, "c"), called(5, "c2")];
    let answer = read(&[events.concat(), end("tool_use")].concat()).unwrap();
    assert_eq!((answer.text.as_str(), answer.calls.len(), answer.opaque.len()), ("über ", 2, 3));
    let body = sent(&kept(&answer), Thinking::Budget(1024));
    let content = body["messages"][1]["content"].as_array().unwrap();
    let shown: Vec<_> = content
        .iter()
        .map(|block| block["thinking"].as_str().or(block["text"].as_str()).or(block["id"].as_str()).unwrap())
        .collect();
    assert_eq!(shown, ["a", "über ", "b", "c1", "c", "c2"]);
    assert_eq!(content[3]["input"], json!({ "x": 1 }));
}

#[test]
fn text_that_was_masked_since_then_goes_back_whole() {
    let events = [said(0, "the key is über"), thought(1, "b"), called(2, "c1")];
    let mut answer = read(&[events.concat(), end("tool_use")].concat()).unwrap();
    answer.text = "kürzer ü".to_owned();
    for cut in 0..20 {
        answer.opaque[0]["after_text"] = json!(cut);
        let body = sent(&kept(&answer), Thinking::Adaptive);
        let content = body["messages"][1]["content"].as_array().unwrap();
        let text: String = content.iter().filter_map(|block| block["text"].as_str()).collect();
        assert_eq!(text, "kürzer ü");
    }
}

#[test]
fn thinking_without_a_signature_was_cut_and_is_left_out() {
    let cut = block(0, &json!({ "type": "thinking", "thinking": "hm", "signature": "" }), &[]);
    let answer = read(&[cut, end("max_tokens")].concat()).unwrap();
    assert_eq!((answer.stop, answer.opaque), (Stop::MaxTokens, Vec::<Value>::new()));
}

#[test]
fn under_a_budget_a_turn_that_another_model_began_goes_on_without_thinking() {
    let call = ModelCall { id: "a".to_owned(), name: "f".to_owned(), arguments: "{}".to_owned() };
    let foreign = Answer {
        model: "other".to_owned(),
        text: String::new(),
        calls: vec![call],
        opaque: vec![json!({ "family": "other", "block": { "type": "thinking" } }), json!("no object")],
        stop: Stop::Calls,
        usage: Usage::default(),
        cost: None,
        passed_over: Vec::new(),
    };
    let mut messages = kept(&foreign);
    let body = sent(&messages, Thinking::Budget(1024));
    assert_eq!((&body["thinking"], &body["max_tokens"]), (&Value::Null, &json!(10)));
    assert_eq!(body["messages"][1]["content"].as_array().unwrap().len(), 1);
    assert_eq!(sent(&messages, Thinking::Adaptive)["thinking"]["type"], "adaptive");
    // A new question begins a new turn.
    messages.push(Message::Assistant { text: "so".to_owned(), calls: Vec::new(), opaque: Vec::new() });
    messages.push(Message::User { text: "and?".to_owned() });
    assert_eq!(sent(&messages, Thinking::Budget(1024))["thinking"]["budget_tokens"], 1024);
}

#[test]
fn lm_02_a_block_that_never_ended_is_no_call() {
    let mut open = called(0, "a");
    open.pop();
    let error = read(&[open, end("tool_use")].concat()).unwrap_err();
    assert_eq!(error.to_string(), "main: the answer ended within a block, so it is not whole");
}

#[test]
fn counts_of_the_input_may_come_late() {
    let start = json!({ "type": "message_start", "message": { "usage": { "input_tokens": 0, "output_tokens": 0 } } });
    let late = json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" },
        "usage": { "input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 2 } });
    assert_eq!(read(&[start, late]).unwrap().usage, Usage { input: 8, cached: 3, output: 2 });
}

#[test]
fn pieces_that_belong_nowhere_are_an_error() {
    let delta = json!({ "type": "content_block_delta", "index": 9, "delta": { "type": "text_delta", "text": "x" } });
    assert!(matches!(read(&[delta]), Err(ModelError::Transient { .. })));
    let wrong =
        block(0, &json!({ "type": "text", "text": "" }), &[json!({ "type": "input_json_delta", "partial_json": "{" })]);
    assert!(matches!(read(&wrong), Err(ModelError::Transient { .. })));
    assert!(read(&[vec![json!({ "type": "a_new_kind", "x": 1 })], end("end_turn")].concat()).is_ok());
}
