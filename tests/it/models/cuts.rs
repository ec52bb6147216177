//! A stream that is cut at each byte in turn: what is not whole is never an answer, and no call of it is ever one.

#![expect(clippy::indexing_slicing, reason = "helpers of tests fail the test")]

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use warrant::agent::model::Stop;

use super::{BOTH, KEY, Talk, model, model_at, serve, told};
use crate::model_server::script::{Shape, Turn};

fn one_call() -> Turn {
    Turn::calls([("a", "list_services", json!({ "a": 1 }))])
}

/// The bytes of an answer as a provider streams them.
async fn streamed(shape: Shape) -> Vec<u8> {
    let server = serve(vec![one_call(), one_call()]).await;
    Talk::new("?").ask(&*model(shape, &server, "")).await.unwrap();
    let asked = server.requests()[0].clone();
    let path = match shape {
        Shape::OpenAi => "chat/completions",
        Shape::Anthropic => "v1/messages",
    };
    let url = format!("{}/{path}", server.base_url(shape));
    let request = reqwest::Client::new().post(url).header(CONTENT_TYPE, "application/json");
    let request = request.header(AUTHORIZATION, format!("Bearer {KEY}")).body(asked.body.to_string());
    let bytes = request.send().await.unwrap().bytes().await.unwrap().to_vec();
    drop(server.take_violations());
    bytes
}

/// How the connection tells that the answer is over.
#[derive(Clone, Copy, PartialEq)]
enum Told {
    /// By closing, as if all had been said.
    Closed,
    /// It said how much would come, and closes before.
    Short,
}

async fn request_of(stream: &mut TcpStream) {
    let mut seen = Vec::new();
    let mut piece = [0; 16 << 10];
    loop {
        let text = String::from_utf8_lossy(&seen).to_ascii_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.split_once("content-length: ").unwrap().1.lines().next().unwrap();
            if body.len() >= length.parse().unwrap() {
                return;
            }
        }
        let count = stream.read(&mut piece).await.unwrap();
        assert!(count > 0, "the request came whole");
        seen.extend_from_slice(&piece[..count]);
    }
}

/// Answers the n-th request with the first n bytes of `whole`.
async fn cutting(whole: Vec<u8>, lengths: Vec<usize>, how: Told) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        for length in lengths {
            let (mut stream, _) = listener.accept().await.unwrap();
            Box::pin(request_of(&mut stream)).await;
            let announced =
                if how == Told::Short { format!("content-length: {}\r\n", whole.len()) } else { String::new() };
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{announced}connection: close\r\n\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(&whole[..length]).await.unwrap();
            stream.shutdown().await.unwrap();
        }
    });
    url
}

#[tokio::test]
async fn lm_02_lm_08_cut_at_any_byte_a_stream_is_a_whole_answer_or_none() {
    for shape in BOTH {
        let whole = streamed(shape).await;
        assert!(whole.len() > 400, "{}", whole.len());
        // Before the provider has said why it stopped nothing is an answer, however the connection ends.
        let text = String::from_utf8(whole.clone()).unwrap();
        let finish = text.find("\"tool_calls\"}").or_else(|| text.find("tool_use\"}")).or_else(|| text.rfind("tool_"));
        let finish = finish.unwrap();
        // A broken length is told by the transport; a few cuts show that it is heard.
        for (how, step) in [(Told::Closed, 1), (Told::Short, 29)] {
            let lengths: Vec<usize> = (0..whole.len()).step_by(step).chain([whole.len()]).collect();
            let url = cutting(whole.clone(), lengths.clone(), how).await;
            let base = if shape == Shape::OpenAi { format!("{url}/v1") } else { url };
            let model = model_at("main", shape, &base, "tries = 1");
            let mut answers = 0;
            for length in lengths {
                match Talk::new("?").ask(&*model).await {
                    Ok(answer) => {
                        answers += 1;
                        assert!(length > finish, "{shape:?}: an answer after {length} bytes, before its finish");
                        assert_eq!((answer.stop, answer.calls.len()), (Stop::Calls, 1), "cut after {length} bytes");
                        assert_eq!(answer.calls[0].arguments, r#"{"a":1}"#, "cut after {length} bytes");
                    }
                    Err(error) => assert!(told(&error).starts_with("transient"), "{length}: {}", told(&error)),
                }
            }
            assert!(answers > 0, "the whole of it is an answer");
        }
    }
}
