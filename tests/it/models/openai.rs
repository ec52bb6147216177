//! Chat completions.

use serde_json::json;
use warrant::agent::model::{Stop, Usage};

use super::{KEY, Talk, by_line, model, serve};
use crate::model_server::ModelServer;
use crate::model_server::script::{Shape, Turn};

#[tokio::test]
async fn text_streams_in_order_and_is_counted() {
    let server = serve(vec![Turn::text(["All ", "is ", "well."])]).await;
    let mut talk = Talk::new("what is wrong?");
    let answer = talk.ask(&*model(Shape::OpenAi, &server, "")).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.stop, answer.model.as_str()), ("All is well.", Stop::Done, "main"));
    assert_eq!(talk.shown, ["All ", "is ", "well."]);
    assert_eq!(answer.usage, Usage { input: 120, cached: 100, output: 30 });
}

#[tokio::test]
async fn parallel_calls_come_whole_and_are_answered_in_order() {
    let server = serve(vec![
        Turn::calls([
            ("a", "search_logs", json!({ "service": "checkout" })),
            ("b", "list_services", json!({})),
            ("c", "search_logs", json!({ "service": "päyments" })),
        ]),
        Turn::calls([("d", "list_services", json!({}))]),
        Turn::text(["done"]),
    ])
    .await;
    let model = model(Shape::OpenAi, &server, "");
    let mut talk = Talk::new("what is wrong?");
    let answer = talk.ask(&*model).await.unwrap();
    assert_eq!(answer.stop, Stop::Calls);
    let calls: Vec<_> = answer.calls.iter().map(|c| (c.id.as_str(), c.name.as_str(), c.arguments.as_str())).collect();
    let expected = [
        ("a", "search_logs", r#"{"service":"checkout"}"#),
        ("b", "list_services", "{}"),
        ("c", "search_logs", r#"{"service":"päyments"}"#),
    ];
    assert_eq!(calls, expected);
    talk.answer_calls();
    talk.ask(&*model).await.unwrap();
    talk.answer_calls();
    talk.say("two turns are left");
    assert_eq!(talk.ask(&*model).await.unwrap().text, "done");
}

#[tokio::test]
async fn the_request_holds_what_the_smallest_servers_take() {
    let server = serve(vec![Turn::calls([("a", "list_services", json!({}))]), Turn::text(["done"])]).await;
    let model = model(Shape::OpenAi, &server, "temperature = 0.2\nmax_tokens = 500");
    let mut talk = Talk::new("what is wrong?");
    talk.ask(&*model).await.unwrap();
    talk.answer_calls();
    talk.ask(&*model).await.unwrap();
    let requests = server.requests();
    assert_eq!(requests[0].headers["authorization"], format!("Bearer {KEY}"));
    insta::assert_snapshot!(by_line(&requests[1].body), @r#"
    model: "some-model"
    stream: true
    stream_options: {"include_usage":true}
    max_tokens: 500
    temperature: 0.2
    tools: {"type":"function","function":{"name":"list_services","description":"Lists services.","parameters":{"type":"object","properties":{"service":{"type":"string"}}}}}
    tools: {"type":"function","function":{"name":"search_logs","description":"Searches logs.","parameters":{"type":"object","properties":{"service":{"type":"string"}}}}}
    messages: {"role":"system","content":"You investigate incidents."}
    messages: {"role":"user","content":"what is wrong?"}
    messages: {"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"list_services","arguments":"{}"}}]}
    messages: {"role":"tool","tool_call_id":"a","content":"{\"n\":0}"}
    "#);
}

#[tokio::test]
async fn no_key_is_needed() {
    let server = ModelServer::start(vec![Turn::text(["hello"])]).await;
    let config = format!("provider = \"openai\"\nmodel = \"m\"\nbase_url = \"{}/\"", server.base_url(Shape::OpenAi));
    let config = toml::from_str(&config).unwrap();
    let built = warrant::model::config::build("local", &config, &|_| None, std::sync::Arc::new(|| 0.0)).unwrap();
    assert_eq!(built.secrets, Vec::<String>::new());
    assert_eq!(Talk::new("hi").ask(&*built.model).await.unwrap().model, "local");
    assert!(!server.requests()[0].headers.contains_key("authorization"));
}
