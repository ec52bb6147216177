//! Streams that go wrong: what is not whole is an error, and nothing of it is ever a call.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use warrant::agent::model::{ModelError, Stop};

use super::{BOTH, Talk, model, model_at, serve, told};
use crate::model_server::script::{Call, Ending, Finish, Shape, Turn};

fn one_call() -> Turn {
    Turn::calls([("a", "search_logs", json!({ "service": "checkout", "pattern": "a long one, to be cut" }))])
}

#[tokio::test]
async fn lm_02_a_call_cut_in_its_arguments_is_never_a_call() {
    for shape in BOTH {
        let cut = one_call().ending(Ending::CutInCall);
        let server = serve(vec![cut.clone(), cut, one_call()]).await;
        let mut talk = Talk::new("what is wrong?");
        let error = talk.ask(&*model(shape, &server, "")).await.unwrap_err();
        assert!(told(&error).starts_with("transient None: main: the answer broke off"), "{}", told(&error));
        // Asked again, the turn is whole.
        let patient = model_at("main", shape, &server.base_url(shape), "");
        assert_eq!(talk.ask(&*patient).await.unwrap().calls.len(), 1);
    }
}

#[tokio::test]
async fn lm_03_each_way_to_stop_is_told_apart_and_none_leaves_a_call() {
    let cases = [
        (Finish::MaxTokens, Stop::MaxTokens),
        (Finish::Refusal, Stop::Refused),
        (Finish::Pause, Stop::Paused),
        (Finish::ContextWindow, Stop::ContextOverflow),
    ];
    for (finish, stop) in cases {
        let server = serve(vec![one_call().finish(finish)]).await;
        let answer = Talk::new("?").ask(&*model(Shape::Anthropic, &server, "")).await.unwrap();
        assert_eq!((answer.stop, answer.calls), (stop, Vec::new()));
    }
    let content_filter = Finish::Raw("content_filter".to_owned());
    let spoken = Turn { text: vec!["I can't help with that.".to_owned()], ..Turn::default() };
    let cases = [
        (one_call().finish(Finish::MaxTokens), Stop::MaxTokens),
        (one_call().finish(content_filter), Stop::Refused),
        (spoken.finish(Finish::Refusal), Stop::Refused),
    ];
    for (turn, stop) in cases {
        let server = serve(vec![turn]).await;
        let answer = Talk::new("?").ask(&*model(Shape::OpenAi, &server, "")).await.unwrap();
        assert_eq!((answer.stop, answer.calls), (stop, Vec::new()));
    }
}

#[tokio::test]
async fn lm_03_an_unknown_reason_is_no_answer() {
    for shape in BOTH {
        let server = serve(vec![one_call().finish(Finish::Raw("whatever".to_owned()))]).await;
        let error = Talk::new("?").ask(&*model(shape, &server, "")).await.unwrap_err();
        assert_eq!(told(&error), "permanent: main: the answer ended for an unknown reason, `whatever`");
    }
}

#[tokio::test]
async fn lm_05_what_a_model_writes_wrong_comes_as_it_is_and_goes_back_well_formed() {
    for shape in BOTH {
        let server = serve(vec![
            Turn::calls([
                ("a", "search_logs", Value::from(r#"{"service": "check"#)),
                ("a", "no such tool!", Value::from("[1, 2]")),
                ("", "list_services", json!({ "deep": { "er": 1 } })),
                ("über:0", "list_services", json!({})),
            ]),
            Turn::calls([("a", "list_services", json!({}))]),
            Turn::text(["done"]),
        ])
        .await;
        let model = model(shape, &server, "");
        let mut talk = Talk::new("what is wrong?");
        let answer = talk.ask(&*model).await.unwrap();
        let calls: Vec<_> = answer.calls.iter().map(|c| (c.id.as_str(), c.arguments.as_str())).collect();
        let expected = [
            ("a", r#"{"service": "check"#),
            ("call_1_1", "[1, 2]"),
            ("call_1_2", r#"{"deep":{"er":1}}"#),
            ("über:0", "{}"),
        ];
        assert_eq!(calls, expected);
        talk.answer_calls();
        // An id of an earlier turn is taken too.
        assert_eq!(talk.ask(&*model).await.unwrap().calls[0].id, "call_3_0");
        talk.answer_calls();
        talk.ask(&*model).await.unwrap();
    }
}

#[tokio::test]
async fn lm_05_five_hundred_calls_arrive() {
    for shape in BOTH {
        let calls = (0..500).map(|n| Call::new(&format!("c{n}"), "list_services", json!({ "n": n }))).collect();
        let server = serve(vec![Turn { calls, ..Turn::default() }]).await;
        let answer = Talk::new("?").ask(&*model(shape, &server, "")).await.unwrap();
        assert!(answer.calls.iter().enumerate().all(|(n, call)| call.arguments == format!("{{\"n\":{n}}}")));
        assert_eq!(answer.calls.len(), 500);
    }
}

#[tokio::test]
async fn lm_06_silence_ends_the_wait() {
    for shape in BOTH {
        let stalled = Turn::text(["so far"]).ending(Ending::Stall);
        let slow = Turn { delay: Duration::from_mins(10), ..Turn::default() };
        let server = serve(vec![stalled, slow]).await;
        let model = model(shape, &server, "idle_timeout = \"200ms\"");
        let mut talk = Talk::new("?");
        for shown in [vec!["so far"], vec![]] {
            let error = talk.ask(&*model).await.unwrap_err();
            assert_eq!(told(&error), "transient None: main: sent nothing for 200 ms");
            assert_eq!(talk.shown, shown);
        }
    }
}

#[tokio::test]
async fn the_end_of_the_investigation_ends_the_wait() {
    for shape in BOTH {
        let server = serve(vec![Turn::text(["so far"]).ending(Ending::Stall)]).await;
        let mut talk = Talk::new("?");
        let cancel = talk.cancel.clone();
        let began = Instant::now();
        let ended = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            cancel.cancel();
        };
        let model = model(shape, &server, "");
        let (answer, ()) = tokio::join!(talk.ask(&*model), ended);
        assert_eq!(answer.unwrap_err(), ModelError::Cancelled);
        assert!(began.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn lm_07_a_line_of_200_mib_is_refused_early() {
    for shape in BOTH {
        let server = serve(vec![Turn::text(["so far"]).ending(Ending::HugeLine(200 << 20))]).await;
        let error = Talk::new("?").ask(&*model(shape, &server, "")).await.unwrap_err();
        assert_eq!(told(&error), "permanent: main: sent a line of more than 1048576 bytes");
    }
}

#[tokio::test]
async fn lm_08_a_clean_end_without_a_finish_is_no_answer() {
    for shape in BOTH {
        for turn in [Turn::text(["half an ans"]), one_call()] {
            let server = serve(vec![turn.ending(Ending::NoFinish)]).await;
            let error = Talk::new("?").ask(&*model(shape, &server, "")).await.unwrap_err();
            assert!(told(&error).starts_with("transient None: main: the answer ended without"), "{}", told(&error));
        }
    }
}

#[tokio::test]
async fn an_error_within_the_stream_is_an_error() {
    for shape in BOTH {
        let server = serve(vec![Turn::text(["so far"]).ending(Ending::ErrorEvent)]).await;
        let error = Talk::new("?").ask(&*model(shape, &server, "")).await.unwrap_err();
        assert_eq!(told(&error), "transient None: main: status 529: Overloaded");
    }
}
