//! Tools that are data: what their definitions may say, and what a call can't do to them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::routing::any;
use axum::{Json, Router};
use insta::{assert_debug_snapshot, assert_snapshot};
use serde_json::{Value, json};
use warrant_kernel::call::tool::{ReadError, ReadTool};
use warrant_kernel::domain::decision::Risk;
use warrant_kernel::domain::target::TargetKind;
use warrant_kernel::domain::tool::{ArgSpec, HttpRun, Keep, OutputPolicy, TargetSpec, ToolDefinition, ToolRun};

use super::{HttpToolProblem, http_tool};
use crate::tools::read::metrics_source::double::{items, problems, read, serve, setup};

const ARGS: &str = r#"
    uid = { type = "text", required = true, description = "" }
    tag = { type = "text", description = "" }
    service = { type = "service", description = "" }
    limit = { type = "int", default = 5, description = "" }
"#;

fn definition(run: &str) -> ToolDefinition {
    let args: BTreeMap<String, ArgSpec> = toml::from_str(ARGS).unwrap();
    let run: HttpRun = toml::from_str(run).unwrap();
    ToolDefinition {
        name: "marks".parse().unwrap(),
        version: 1,
        description: String::new(),
        args,
        risk: Risk::Read,
        tier_floor: None,
        roles: Vec::new(),
        parallel_safe: true,
        timeout: Duration::from_secs(5),
        output: OutputPolicy { max_chars: 1000, keep: Keep::Full },
        cache: Duration::ZERO,
        target: TargetSpec { kind: TargetKind::Source, arg: None },
        side_effects: Vec::new(),
        run: ToolRun::Http(Box::new(run)),
        examples: Vec::new(),
    }
}

fn tool(base: &str, run: &str) -> Result<Arc<dyn ReadTool>, Vec<HttpToolProblem>> {
    let (catalog, clients) =
        setup(&format!("sources.http.api.url = \"{base}\"\nservices.\"shop/a\".description = \"\""));
    http_tool(&definition(run), catalog, clients)
}

/// A server that answers with the request line and body it got.
async fn echo() -> String {
    let answer = |request: Request| async move {
        let line = format!("{} {}", request.method(), request.uri());
        let body = axum::body::to_bytes(request.into_body(), 10_000).await.unwrap();
        Json(json!({"data": {"rows": [line, String::from_utf8_lossy(&body)], "one": {"a": 1}, "none": null}}))
    };
    serve(Router::new().fallback(any(answer))).await
}

#[tokio::test]
async fn arguments_are_encoded_into_their_places() {
    let run = r#"source = "api"
        path = "/api/dash-{uid}/panels"
        query = { tag = "{tag}", fixed = "a&b", expr = "up{job=\"{service}\"}[{limit}m]" }
        pointer = "/data/rows""#;
    let tool = tool(&echo().await, run).unwrap();
    let args = json!({"uid": "a b?c#d%é", "tag": "x&y=z", "service": "shop/a", "limit": 5});
    let rows = items(read(tool.as_ref(), args).await.unwrap());
    assert_snapshot!(rows[0].as_str().unwrap(), @"GET /api/dash-a%20b%3Fc%23d%25%C3%A9/panels?expr=up%7Bjob%3D%22shop%2Fa%22%7D%5B5m%5D&fixed=a%26b&tag=x%26y%3Dz");
    let rows = items(read(tool.as_ref(), json!({"uid": "u", "limit": 5})).await.unwrap());
    assert_snapshot!(rows[0].as_str().unwrap(), @"GET /api/dash-u/panels?fixed=a%26b");
}

#[tokio::test]
async fn a_post_sends_its_query_as_a_form_and_a_pointer_finds_the_rows() {
    let post = |pointer: &str| {
        format!(
            "source = \"api\"\nmethod = \"POST\"\npath = \"/q/\"\nquery = {{ tag = \"{{tag}}\" }}\npointer = \"{pointer}\""
        )
    };
    let base = echo().await;
    let ask = async |pointer: &str| {
        read(tool(&base, &post(pointer)).unwrap().as_ref(), json!({"uid": "u", "tag": "a b"})).await
    };
    assert_eq!(items(ask("/data/rows").await.unwrap()), [json!("POST /q/"), json!("tag=a+b")]);
    assert_eq!(items(ask("/data/one").await.unwrap()), [json!({"a": 1})]);
    assert_eq!(items(ask("/data/none").await.unwrap()), Vec::<Value>::new());
    let error = ask("/rows").await.unwrap_err();
    assert_snapshot!(error, @"`api` answered without `/rows`; the answer is an object with the keys `data`");
}

#[tokio::test]
async fn fs_and_ss_a_path_can_not_climb() {
    let tool = tool(&echo().await, "source = \"api\"\npath = \"/api/.{uid}\"").unwrap();
    for uid in ["..", ".", "", "a/b", "a\\b", "%2e%2E", "a%2Fb", "%252e%252e", "a\u{0}b", "...."] {
        let said = problems(tool.as_ref(), json!({"uid": uid}));
        assert!(said[0].contains("must be one segment of a path"), "{uid}: {said:?}");
    }
    assert!(
        tool.resolve(
            &crate::tools::read::metrics_source::double::args(json!({"uid": "a..b"})),
            jiff::Timestamp::UNIX_EPOCH
        )
        .is_ok()
    );
}

#[tokio::test]
async fn definitions_that_an_argument_could_break_out_of_do_not_load() {
    let base = echo().await;
    let whys = |run: &str| -> Vec<String> {
        tool(&base, run).err().unwrap().into_iter().map(|problem| problem.to_string()).collect()
    };
    assert_debug_snapshot!(
        [
            whys("source = \"apj\"\npath = \"api\"\npointer = \"rows\""),
            whys("source = \"api\"\npath = \"/a/../b?x/{nope}/{tag}\"\nquery = { q = \"up{job=\\\"{tag}\\\"}\", r = \"{nope}\" }"),
        ],
        @r#"
    [
        [
            "tool `marks`: `run.http.source`: there is no `[http.NAME]` source `apj`; did you mean `api`?",
            "tool `marks`: `run.http.path`: `api` must begin with `/`",
            "tool `marks`: `run.http.pointer`: `rows` is no JSON pointer; begin with `/`",
        ],
        [
            "tool `marks`: `run.http.path`: the segment `..` may not hold `.`, `..`, `?`, `#`, `%` or `\\`",
            "tool `marks`: `run.http.path`: the segment `b?x` may not hold `.`, `..`, `?`, `#`, `%` or `\\`",
            "tool `marks`: `run.http.path`: `{nope}` names no argument of the tool",
            "tool `marks`: `run.http.path`: the argument `tag` must be required or have a default",
            "tool `marks`: `run.http.query.q`: `tag` is free text and could break out of the text around it; give it a parameter of its own, or a type such as `service`, `int` or `enum`",
            "tool `marks`: `run.http.query.r`: `{nope}` names no argument of the tool",
        ],
    ]
    "#
    );
}

#[tokio::test]
async fn an_answer_that_is_no_json_is_an_error_that_shows_its_beginning() {
    let base = serve(Router::new().fallback(any(|| async { "<html>".repeat(1000) }))).await;
    let tool = tool(&base, "source = \"api\"\npath = \"/x\"").unwrap();
    let error = read(tool.as_ref(), json!({"uid": "u"})).await.unwrap_err();
    assert!(matches!(&error, ReadError::Backend { reason: "MALFORMED", .. }));
    assert!(error.to_string().ends_with("<html><html><h") || error.to_string().len() < 400, "{error}");
}
