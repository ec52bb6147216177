//! The Messages API.

use serde_json::{Value, json};
use warrant::agent::model::{Stop, Usage};

use super::{KEY, Talk, by_line, model, serve};
use crate::model_server::script::{Finish, Shape, Turn};

fn thinking() -> Vec<Value> {
    vec![
        json!({ "type": "thinking", "thinking": "The pool may be full: look at wärnings.", "signature": "c2lnbmVk" }),
        json!({ "type": "redacted_thinking", "data": "b3BhcXVl" }),
    ]
}

#[tokio::test]
async fn text_streams_in_order_and_is_counted() {
    let server = serve(vec![Turn::text(["All ", "is ", "well."]).thinking(thinking())]).await;
    let mut talk = Talk::new("what is wrong?");
    let answer = talk.ask(&*model(Shape::Anthropic, &server, "thinking_budget = 2048")).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.stop, answer.model.as_str()), ("All is well.", Stop::Done, "main"));
    assert_eq!(talk.shown, ["All ", "is ", "well."]);
    assert_eq!(answer.usage, Usage { input: 120, cached: 100, output: 30 });
}

#[tokio::test]
async fn thinking_goes_back_as_it_came_and_results_share_one_message() {
    let calls = [("a", "search_logs", json!({ "service": "checkout" })), ("b", "list_services", json!({}))];
    let server = serve(vec![
        Turn { text: vec!["I look.".to_owned()], ..Turn::calls(calls).thinking(thinking()) },
        Turn::calls([("c", "list_services", json!({}))]),
        Turn::text(["done"]),
    ])
    .await;
    let model = model(Shape::Anthropic, &server, "thinking_budget = 2048");
    let mut talk = Talk::new("what is wrong?");
    assert_eq!(talk.ask(&*model).await.unwrap().calls.len(), 2);
    talk.answer_calls();
    talk.ask(&*model).await.unwrap();
    talk.answer_calls();
    talk.say("two turns are left");
    assert_eq!(talk.ask(&*model).await.unwrap().text, "done");

    let requests = server.requests();
    assert_eq!(requests[0].headers["x-api-key"], KEY);
    // The server compared the thinking with what it sent; here is that it stands before all else.
    insta::assert_snapshot!(by_line(&requests[1].body), @r#"
    model: "some-model"
    max_tokens: 3048
    stream: true
    thinking: {"type":"enabled","budget_tokens":2048}
    tools: {"name":"list_services","description":"Lists services.","input_schema":{"type":"object","properties":{"service":{"type":"string"}}}}
    tools: {"name":"search_logs","description":"Searches logs.","input_schema":{"type":"object","properties":{"service":{"type":"string"}}},"cache_control":{"type":"ephemeral"}}
    system: {"type":"text","text":"You investigate incidents.","cache_control":{"type":"ephemeral"}}
    messages: {"role":"user","content":[{"type":"text","text":"what is wrong?","cache_control":{"type":"ephemeral"}}]}
    messages: {"role":"assistant","content":[{"type":"thinking","thinking":"The pool may be full: look at wärnings.","signature":"c2lnbmVk"},{"type":"redacted_thinking","data":"b3BhcXVl"},{"type":"text","text":"I look."},{"type":"tool_use","id":"a","name":"search_logs","input":{"service":"checkout"}},{"type":"tool_use","id":"b","name":"list_services","input":{}}]}
    messages: {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"{\"n\":0}","is_error":true},{"type":"tool_result","tool_use_id":"b","content":"{\"n\":1}","cache_control":{"type":"ephemeral"}}]}
    "#);
    assert_eq!(requests[2].body["messages"][4]["content"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn the_conversation_survives_its_own_json() {
    let calls = Turn::calls([("a", "list_services", json!({}))]).thinking(thinking());
    let server = serve(vec![calls, Turn::text(["done"])]).await;
    let model = model(Shape::Anthropic, &server, "thinking = \"adaptive\"");
    let mut talk = Talk::new("what is wrong?");
    talk.ask(&*model).await.unwrap();
    talk.answer_calls();
    talk.messages = serde_json::from_str(&serde_json::to_string(&talk.messages).unwrap()).unwrap();
    talk.ask(&*model).await.unwrap();
    assert_eq!(server.requests()[1].body["thinking"], json!({ "type": "adaptive" }));
}

#[tokio::test]
async fn a_message_of_thinking_alone_is_left_out() {
    let cut = Turn::default().thinking(thinking()).finish(Finish::MaxTokens);
    let server = serve(vec![cut, Turn::text(["shorter"])]).await;
    let model = model(Shape::Anthropic, &server, "thinking_budget = 2048");
    let mut talk = Talk::new("what is wrong?");
    assert_eq!(talk.ask(&*model).await.unwrap().stop, Stop::MaxTokens);
    talk.say("be brief");
    assert_eq!(talk.ask(&*model).await.unwrap().text, "shorter");
}
