//! Answers with a status that says no: whether to try again, and what the person is told.

use serde_json::json;
use warrant::agent::model::ModelError;

use super::{BOTH, KEY, Talk, model, model_at, serve, told};
use crate::model_server::script::{Ending, Shape, Turn};

async fn refused(shape: Shape, turn: Turn) -> ModelError {
    let server = serve(vec![turn]).await;
    Talk::new("a question that is nobody's business").ask(&*model(shape, &server, "")).await.unwrap_err()
}

#[tokio::test]
async fn lm_01_overload_is_transient_and_bears_what_the_provider_asks_for() {
    let body = r#"{"error":{"type":"x","message":"slow down"}}"#;
    for shape in BOTH {
        for status in [408, 409, 429, 500, 502, 503, 529] {
            let error = refused(shape, Turn::status(status, &[("retry-after", "30")], body)).await;
            assert_eq!(told(&error), format!("transient Some(30s): main: status {status}: slow down"));
        }
        let date = [("date", "Sat, 31 Jan 2026 04:05:00 GMT"), ("retry-after", "Sat, 31 Jan 2026 04:05:07 GMT")];
        assert!(told(&refused(shape, Turn::status(503, &date, "")).await).starts_with("transient Some(7s)"));
        for unreadable in ["soon", "-3", "NaN", "1e300", "Sat, 99 Jan 2026 04:05:07 GMT"] {
            let error = refused(shape, Turn::status(503, &[("retry-after", unreadable)], "")).await;
            assert_eq!(told(&error), "transient None: main: status 503");
        }
        let milliseconds = Turn::status(429, &[("retry-after-ms", "1500"), ("retry-after", "2")], "");
        assert!(told(&refused(shape, milliseconds).await).starts_with("transient Some(1.5s)"));
    }
}

#[tokio::test]
async fn lm_06_a_refusal_that_never_ends_is_still_known_by_its_status() {
    for shape in BOTH {
        let server = serve(vec![Turn::status(404, &[], "gone for good").ending(Ending::Stall)]).await;
        let model = model(shape, &server, "idle_timeout = \"200ms\"");
        let error = told(&Talk::new("?").ask(&*model).await.unwrap_err());
        // What may be half a word at its end is not told.
        assert!(error.starts_with("permanent: main: status 404") && error.contains(": gone for"), "{error}");
    }
}

#[tokio::test]
async fn lm_01_a_patient_model_asks_again() {
    for shape in BOTH {
        let wait = Turn::status(429, &[("retry-after-ms", "20")], "");
        let server = serve(vec![wait.clone(), wait, Turn::text(["at last"])]).await;
        let patient = model_at("main", shape, &server.base_url(shape), "");
        assert_eq!(Talk::new("?").ask(&*patient).await.unwrap().text, "at last");
        assert_eq!(server.requests().len(), 3);
    }
}

#[tokio::test]
async fn lm_09_failing_for_good_says_what_to_do() {
    let error = |message: &str| json!({ "error": { "type": "x", "message": message } }).to_string();
    let server = serve(vec![
        Turn::calls([("a", "list_services", json!({}))]),
        Turn::status(401, &[], &error(&format!("bad key {KEY}"))),
        Turn::status(403, &[], &error(&format!("{KEY} is not allowed"))),
        Turn::status(404, &[], r#"{"error":"model 'some-model' not found, try pulling it first"}"#),
        Turn::status(400, &[], &error("tools.0: bad\nschema")),
        Turn::status(429, &[], &error("insufficient_quota: pay first")),
        Turn::status(307, &[("location", "http://127.0.0.1:1/")], ""),
        Turn::status(418, &[], &"<p>no</p> ".repeat(10_000)),
    ])
    .await;
    let url = server.base_url(Shape::OpenAi);
    let model = model(Shape::OpenAi, &server, "");
    let mut talk = Talk::new("a question that is nobody's business");
    talk.ask(&*model).await.unwrap();
    talk.answer_calls();
    let mut lines = Vec::new();
    for _ in 1..8 {
        let error = told(&talk.ask(&*model).await.unwrap_err());
        assert!(!error.contains(KEY) && !error.contains("business") && error.chars().count() < 500, "{error}");
        lines.push(error.replace(&url, "URL"));
    }
    // The conversation is as it was, findings and all: no error was taken for an answer.
    assert_eq!(talk.messages.len(), 3);
    insta::assert_snapshot!(lines.join("\n"), @r"
    permanent: main: status 401: URL refused the key in `$KEY`; check that it is whole and valid
    permanent: main: status 403: the key may not use model `some-model`: [api key] is not allowed
    permanent: main: status 404: URL knows no model `some-model`; check `model` and `base_url` of `[models.main]`: model 'some-model' not found, try pulling it first
    permanent: main: status 400, the request was not understood: tools.0: bad schema
    permanent: main: status 429, the account has no credit left: insufficient_quota: pay first
    permanent: main: status 307: URL leads elsewhere; put the final address into `base_url` of `[models.main]`
    permanent: main: status 418, the request was not understood: <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> <p>no</p> …
    ");
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_told_apart() {
    let bodies = [
        r#"{"error":{"code":"context_length_exceeded","message":"too long"}}"#,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        r#"{"error":{"code":400,"type":"exceed_context_size_error","message":"the request exceeds the available context size"}}"#,
        r#"{"object":"error","message":"This model's maximum context length is 4096 tokens."}"#,
    ];
    for shape in BOTH {
        for body in bodies {
            let error = refused(shape, Turn::status(400, &[], body)).await;
            assert_eq!(told(&error), "overflow: main: the conversation is longer than the model's window");
        }
        assert!(told(&refused(shape, Turn::status(413, &[], "")).await).starts_with("overflow"));
    }
}

#[tokio::test]
async fn a_provider_that_is_not_there_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let model = model_at("local", Shape::OpenAi, &url, "tries = 1");
    let error = told(&Talk::new("?").ask(&*model).await.unwrap_err());
    assert!(error.starts_with(&format!("transient None: local: no connection to {url}")), "{error}");
    assert!(error.contains("refused"), "{error}");
}

#[tokio::test]
async fn an_api_that_does_not_stream_is_named() {
    let app = axum::Router::new().fallback(|| async { axum::Json(json!({ "choices": [] })) });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move { axum::serve(listener, app).await });
    for shape in BOTH {
        let error = told(&Talk::new("?").ask(&*model_at("main", shape, &url, "tries = 1")).await.unwrap_err());
        assert!(error.contains("answered with `application/json` in place of an event stream"), "{error}");
    }
    server.abort();
}
