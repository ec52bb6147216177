//! Investigations as spans, at an OTLP receiver that is not ours: `oteltap` of `PyPI`. `OTLP_RECEIVER` names a directory with
//! a Python at `py/bin/python` that has it; tests/servers/otlp-receiver.sh installs it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test; Clippy's leave for tests ends at the test functions"
)]

mod tap;

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use warrant::agent::state::State;
use warrant::agent::trace::{Unwatched, Watcher};
use warrant::app::ask::{AtHand, Ended, ask};
use warrant::app::{App, investigations};
use warrant_kernel::domain::event::{Answered, Body, Event};
use warrant_kernel::domain::name::InvestigationId;

use crate::investigation::{KEY, SECRET, World, model, reported, result_of, serve_all};
use crate::model_server::ModelServer;
use crate::model_server::script::Shape;

use tap::{Span, Tap, free_port};

fn config(world: &World, server: &ModelServer, port: u16, more: &str) -> String {
    let models = model("main", Shape::OpenAi, &server.base_url(Shape::OpenAi), "");
    let telemetry = format!("[telemetry]\notlp_endpoint = \"http://127.0.0.1:{port}\"\n{more}\n");
    world.config(&["main"], &models, "", &telemetry)
}

fn app(world: &World, server: &ModelServer, port: u16, more: &str) -> App {
    world.app(&config(world, server, port, more))
}

fn named<'s>(spans: &'s [Span], begins: &str) -> Vec<&'s Span> {
    spans.iter().filter(|span| span.text("name").starts_with(begins)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_investigation_is_a_trace_in_the_words_of_the_conventions() {
    let Some(mut tap) = Tap::start("an_investigation_is_a_trace_in_the_words_of_the_conventions").await else { return };
    let world = World::new();
    let server = serve_all(world.script()).await;
    let app = app(&world, &server, tap.port, "headers_env = { authorization = \"KEY\" }");
    let (id, report, events) = world.report(&app).await;
    app.close().await;
    let (spans, _) = tap.run().await;

    let root = spans.last().unwrap();
    assert_eq!((root.text("parentSpanId"), &root.printed["kind"]), ("", &json!(1)));
    assert_eq!(root.told("gen_ai.operation.name"), "invoke_agent");
    assert_eq!(root.told("gen_ai.agent.name"), "warrant");
    assert_eq!(root.told("gen_ai.conversation.id"), id.as_str());
    assert_eq!(root.told("warrant.outcome"), report.outcome.as_str());
    assert_eq!(root.told("warrant.service"), "checkout");
    assert_eq!(root.told("warrant.resumed"), "false");
    assert_eq!(root.printed["links"], json!([]));
    for span in &spans {
        assert_eq!(span.text("traceId"), id.as_str().replace('-', ""));
        assert_eq!(span.told("gen_ai.conversation.id"), id.as_str());
        assert!(span.nanos("startTimeUnixNano") >= root.nanos("startTimeUnixNano"), "{span:?}");
        assert!(span.nanos("endTimeUnixNano") <= root.nanos("endTimeUnixNano"), "{span:?}");
        assert!(span.nanos("startTimeUnixNano") <= span.nanos("endTimeUnixNano"), "{span:?}");
        if span.text("spanId") != root.text("spanId") {
            assert_eq!(span.text("parentSpanId"), root.text("spanId"));
        }
    }

    let chats = named(&spans, "chat ");
    assert_eq!(chats.len(), 4);
    for (span, turn) in chats.iter().zip(["1", "2", "3", "4"]) {
        assert_eq!((span.text("name"), &span.printed["kind"]), ("chat some-model", &json!(3)));
        assert_eq!(span.told("gen_ai.operation.name"), "chat");
        assert_eq!(span.told("gen_ai.provider.name"), "openai");
        assert_eq!(span.told("gen_ai.request.model"), "some-model");
        assert_eq!(span.told("gen_ai.response.finish_reasons"), "{\"values\":[{\"stringValue\":\"tool_call\"}]}");
        assert_eq!((span.told("warrant.turn").as_str(), span.told("warrant.model").as_str()), (turn, "main"));
        assert_eq!(span.told("server.address"), "127.0.0.1");
        assert_eq!(span.printed["status"]["code"], 0);
    }
    let tokens = |span: &Span, kind: &str| span.told(&format!("gen_ai.usage.{kind}_tokens")).parse::<u64>().unwrap();
    let usage = State::fold(&events).unwrap().usage();
    assert!(usage.input > 0 && usage.output > 0);
    for (kind, used) in [("input", usage.input), ("output", usage.output)] {
        assert_eq!(chats.iter().map(|span| tokens(span, kind)).sum::<u64>(), used);
        assert_eq!(tokens(root, kind), used);
    }

    let answers: Vec<_> = events.iter().filter_map(|event| Some((event, result_of(event)?))).collect();
    let calls = named(&spans, "execute_tool ");
    assert_eq!(calls.len(), answers.len());
    for (event, result) in answers {
        let span = *calls.iter().find(|span| span.told("gen_ai.tool.call.id") == result.call_id.as_str()).unwrap();
        let name = if result.tool == "restart" { "_OTHER" } else { result.tool.as_str() };
        assert_eq!(span.text("name"), format!("execute_tool {name}"));
        assert_eq!((span.told("gen_ai.tool.name").as_str(), &span.printed["kind"]), (name, &json!(1)));
        assert_eq!(json!(span.told("warrant.tool.status")), serde_json::to_value(result.status).unwrap());
        assert_eq!(span.told("warrant.evidence"), result.evidence.map(|it| it.to_string()).unwrap_or_default());
        let why = result.error.as_ref().map_or(Value::Null, |error| serde_json::to_value(error.code).unwrap());
        assert_eq!(json!(span.told("error.type")), if why.is_null() { json!("") } else { why });
        assert_eq!(span.printed["status"]["code"], if result.ok { 0 } else { 2 });
        assert_eq!(span.printed["status"]["message"], "");
        assert_eq!(span.nanos("endTimeUnixNano"), event.at.as_nanosecond());
    }
    assert!(calls.iter().any(|span| span.told("error.type") == "UNKNOWN_TOOL"));
    assert!(calls.iter().any(|span| span.told("error.type") == "INVALID_ARGUMENTS"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rd_12_no_secret_is_in_a_span_and_no_content_unless_it_is_asked_for() {
    let test = "rd_12_no_secret_is_in_a_span_and_no_content_unless_it_is_asked_for";
    let Some(mut tap) = Tap::start(test).await else { return };
    let world = World::new();
    let server = serve_all(world.script()).await;
    let contents = [
        "why does checkout fail",
        "connection pool exhausted",
        "I look at the errors",
        "max_connections",
        "chekout",
        "pool of 8 connections is exhausted",
        "restart",
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
        "gen_ai.input.messages",
        "gen_ai.output.messages",
    ];
    for (setting, is_sent) in [("", false), ("content = false", false), ("content = true", true)] {
        let app = app(&world, &server, tap.port, setting);
        world.report(&app).await;
        app.close().await;
        let (spans, printed) = tap.run().await;
        for words in contents {
            assert_eq!(printed.contains(words), is_sent, "`{words}` with `{setting}`");
        }
        assert!(!printed.contains(SECRET) && !printed.contains(KEY));
        assert_eq!(printed.contains("token=[secret:"), is_sent, "the line with the secret is there, masked");
        if is_sent {
            let call = *named(&spans, "execute_tool read_file").first().unwrap();
            let arguments: Value = serde_json::from_str(&call.told("gen_ai.tool.call.arguments")).unwrap();
            assert_eq!(arguments, json!({ "path": "checkout.toml" }));
            let result: Value = serde_json::from_str(&call.told("gen_ai.tool.call.result")).unwrap();
            assert_eq!(result.get("status"), Some(&json!("ok")));
            let chat = *named(&spans, "chat ").first().unwrap();
            let said: Value = serde_json::from_str(&chat.told("gen_ai.output.messages")).unwrap();
            assert_eq!(said.pointer("/0/parts/0/content"), Some(&json!("I look at the errors first.\n")));
            assert_eq!(said.pointer("/0/parts/2/name"), Some(&json!("read_file")));
        }
    }
}

/// Ends the run at the first answer of the model: as a kill would, or by its token.
struct EndAt {
    how: Option<CancellationToken>,
    id: Mutex<Option<InvestigationId>>,
}

impl Watcher for EndAt {
    fn event(&self, event: &Event, state: &State) {
        *self.id.lock().unwrap() = Some(state.run.investigation.clone());
        if matches!(event.body, Body::Answered(Answered::Model { .. })) {
            match &self.how {
                Some(token) => token.cancel(),
                // Unwinding drops the whole run where it stands.
                None => std::panic::resume_unwind(Box::new("killed")),
            }
        }
    }

    fn delta(&self, _: &str) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_goes_on_later_is_in_the_same_trace_and_linked_to_the_first() {
    let test = "a_run_that_goes_on_later_is_in_the_same_trace_and_linked_to_the_first";
    let Some(mut tap) = Tap::start(test).await else { return };
    let world = World::new();
    let server = serve_all(world.script()).await;
    let app = app(&world, &server, tap.port, "");
    let killed = Arc::new(EndAt { how: None, id: Mutex::default() });
    let run = ask(&app, world.question(), Arc::clone(&killed) as _, CancellationToken::new());
    assert!(AssertUnwindSafe(run).catch_unwind().await.is_err());
    let id = killed.id.lock().unwrap().clone().unwrap();
    let cancel = CancellationToken::new();
    let interrupts = Arc::new(EndAt { how: Some(cancel.clone()), id: Mutex::default() });
    let ended = investigations::resume(&app, id.as_str(), AtHand::watching(interrupts), cancel).await.unwrap().1;
    assert!(matches!(ended, Ended::Interrupted(_)), "{ended:?}");
    let at_hand = AtHand::watching(Arc::new(Unwatched));
    reported(investigations::resume(&app, id.as_str(), at_hand, CancellationToken::new()).await.unwrap().1);
    app.close().await;

    let mut first = None;
    for (outcome, why) in [("broken_off", "broken_off"), ("interrupted", ""), ("confirmed", "")] {
        let (spans, _) = tap.run().await;
        let root = spans.last().unwrap();
        assert_eq!((root.told("warrant.outcome").as_str(), root.told("error.type").as_str()), (outcome, why));
        assert_eq!(root.told("warrant.resumed"), first.is_some().to_string());
        assert!(named(&spans, "chat ").len() == 1 || outcome == "confirmed", "{outcome}");
        let (trace, ours) = (root.text("traceId").to_owned(), root.text("spanId").to_owned());
        assert!(spans.iter().all(|span| span.text("traceId") == trace));
        assert!(spans.iter().all(|span| span.text("parentSpanId") == ours || span.text("spanId") == ours));
        match &first {
            None => first = Some((trace, ours)),
            Some((before, span)) => {
                assert_eq!(*before, trace);
                assert_ne!(*span, ours);
                assert_eq!(root.printed.pointer("/links/0/spanId"), Some(&json!(span)));
                assert_eq!(root.printed.pointer("/links/0/traceId"), Some(&json!(before)));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_receiver_an_investigation_is_what_it_is_anyway() {
    let world = World::new();
    let server = serve_all(world.script()).await;
    let models = model("main", Shape::OpenAi, &server.base_url(Shape::OpenAi), "");
    let without = world.app(&world.config(&["main"], &models, "", ""));
    let expected = world.report(&without).await.1;
    // Nobody listens there.
    let refused = app(&world, &server, free_port(), "");
    assert_eq!(world.report(&refused).await.1, expected);
    refused.close().await;
    // Somebody listens, and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silenced = app(&world, &server, silent.local_addr().unwrap().port(), "");
    assert_eq!(world.report(&silenced).await.1, expected);
    tokio::time::timeout(std::time::Duration::from_secs(10), silenced.close()).await.unwrap();
}

/// The program, with the key of its collector in the environment.
async fn program(world: &World, args: &[&str]) -> std::process::Output {
    tokio::process::Command::new(env!("CARGO_BIN_EXE_warrant"))
        .args(args)
        .env_clear()
        .env("WARRANT_CONFIG", world.path("warrant.toml"))
        .env("KEY", KEY)
        .env("COLLECTOR", COLLECTOR)
        // What a collector's own variables say is nothing to us.
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
        .env("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
        .env("OTEL_SDK_DISABLED", "true")
        .output()
        .await
        .unwrap()
}

/// The value of a header.
const COLLECTOR: &str = "Bearer zx-81-collector-key-57Qm";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_ends_has_sent_its_spans() {
    let Some(mut tap) = Tap::start("a_command_that_ends_has_sent_its_spans").await else { return };
    let world = World::new();
    let server = serve_all(world.script()).await;
    let headers = "headers_env = { authorization = \"COLLECTOR\" }";
    world.write_config(&config(&world, &server, tap.port, headers));
    let check = program(&world, &["check", "--json"]).await;
    let said = String::from_utf8(check.stdout).unwrap();
    let told = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let tried = told.into_iter().find(|it| it["what"] == "telemetry").unwrap();
    assert_eq!(tried["ok"], true, "{tried}");
    let asked = program(&world, &["ask", "why does checkout fail?", "--json"]).await;
    let report: Value = serde_json::from_slice(&asked.stdout).unwrap();
    let (spans, _) = tap.run().await;
    assert_eq!(spans.last().unwrap().told("gen_ai.conversation.id"), report["investigation"]);
}

#[tokio::test]
async fn rd_12_a_collector_that_fails_is_told_of_once_and_without_its_key() {
    let world = World::new();
    let server = serve_all(world.script()).await;
    let port = free_port();
    world.write_config(&config(&world, &server, port, "headers_env = { authorization = \"COLLECTOR\" }"));
    let asked = program(&world, &["ask", "why does checkout fail?", "--json"]).await;
    assert_eq!(asked.status.code(), Some(0));
    let said = String::from_utf8(asked.stderr).unwrap();
    assert_eq!(said.matches("does not take spans").count(), 1, "{said}");
    assert_eq!(said.matches("did not take the last spans").count(), 1, "{said}");
    assert!(said.contains(&format!("127.0.0.1:{port}")) && !said.contains("collector-key"), "{said}");
    let check = program(&world, &["check"]).await;
    let shown = String::from_utf8(check.stdout).unwrap();
    assert!(shown.contains("telemetry") && shown.contains("takes no spans"), "{shown}");
    assert!(!shown.contains("collector-key"));
}
