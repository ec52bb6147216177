//! A write that is data, against a server of feature flags.

use std::collections::BTreeSet;
use std::sync::Mutex;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;
use warrant_kernel::call::definition::{DefinitionFile, Definitions, LoadContext, Standing};

use super::*;
use crate::tools::read::metrics_source::double::{nobody, serve, setup};
use crate::tools::write::trying::{looking, plan, preview, problems, reason};

/// What tests/definitions.rs loads, too.
const FLAG: &str = include_str!("../../../../../../examples/tools/set_flag.toml");

#[derive(Default)]
struct Flags {
    on: bool,
    revision: u64,
    sent: Vec<Value>,
    answer: Option<u16>,
}

type Shared = Arc<Mutex<Flags>>;

async fn server(flags: &Shared) -> String {
    let read = async |State(flags): State<Shared>, Path((_, name)): Path<(String, String)>| {
        let flags = flags.lock().unwrap();
        if name == "nosuch" {
            return Err(StatusCode::NOT_FOUND);
        }
        Ok(Json(json!({"on": flags.on, "revision": flags.revision, "changed_by": "ada"})))
    };
    let write = async |State(flags): State<Shared>, Json(body): Json<Value>| {
        let mut flags = flags.lock().unwrap();
        flags.sent.push(body.clone());
        if flags.answer.is_none_or(|status| status >= 500) {
            flags.on = body["on"] == true;
            flags.revision += 1;
        }
        StatusCode::from_u16(flags.answer.unwrap_or(200)).unwrap()
    };
    let router =
        Router::new().route("/api/services/{service}/flags/{flag}", get(read).put(write)).with_state(Arc::clone(flags));
    serve(router).await
}

fn tool(base: &str) -> HttpWrite {
    let context = LoadContext {
        http_sources: &["flags".parse().unwrap()].into(),
        roles: &["general-purpose"].map(|name| name.parse().unwrap()).into(),
    };
    let file = DefinitionFile { name: "set_flag.toml", text: FLAG, standing: Standing::Operator };
    let definitions = Definitions::load([file], &context).unwrap();
    let (catalog, clients) =
        setup(&format!("sources.http.flags.url = \"{base}\"\nservices.shop.environment = \"staging\""));
    HttpWrite::new(definitions.get("set_flag").unwrap().tool(), catalog, &clients).unwrap()
}

fn args() -> Value {
    json!({"service": "shop", "flag": "new_cart", "on": true})
}

#[tokio::test]
async fn a_write_that_is_data_goes_from_preview_to_verdict() {
    let flags = Shared::default();
    let tool = tool(&server(&flags).await);
    let made = preview(&tool, &args(), &[]).await.unwrap();
    assert_eq!(made.effect, "sends PUT /api/services/shop/flags/new_cart to `flags`");
    assert_eq!(made.bound["revision"], "0");
    assert_eq!(made.bound["body"], r#"{"on":true,"reason":"warrant"}"#);
    assert_eq!((made.shown["changed_by"].as_str(), made.floor), ("ada", None));
    let plan = plan(&tool, "set_flag", &args(), made);
    assert_eq!(plan.target.environment.as_ref().unwrap().as_str(), "staging");
    let probe = async || looking(async |looking| tool.probe(&plan, looking).await).await;
    assert!(matches!(probe().await, Probed::DidNot { .. }));
    let effect = tool.apply(&plan).await.unwrap();
    assert_eq!(flags.lock().unwrap().sent, [json!({"on": true, "reason": "warrant"})]);
    assert_eq!(effect.after["revision"], "1");
    assert!(matches!(probe().await, Probed::Took { .. }));
    let verdict = looking(async |looking| tool.verify(&plan, &effect, looking).await).await;
    assert_eq!((verdict.held, verdict.facts["/on"].as_str()), (Held::Held, "true"));
    assert_eq!(reason(preview(&tool, &args(), &[]).await), "NOOP");
}

#[tokio::test]
async fn what_changed_since_the_approval_is_left_alone() {
    let flags = Shared::default();
    let tool = tool(&server(&flags).await);
    let plan = plan(&tool, "set_flag", &args(), preview(&tool, &args(), &[]).await.unwrap());
    flags.lock().unwrap().revision = 7;
    assert_eq!(reason(tool.apply(&plan).await), "CHANGED");
    assert!(flags.lock().unwrap().sent.is_empty());
    assert!(matches!(looking(async |looking| tool.probe(&plan, looking).await).await, Probed::CantTell { .. }));
    let mut nosuch = args();
    nosuch["flag"] = json!("nosuch");
    assert_eq!(reason(preview(&tool, &nosuch, &[]).await), "NOT_FOUND");
}

#[tokio::test]
async fn cr_03_an_answer_that_says_nothing_is_not_known_and_a_refusal_is() {
    for (status, expected) in
        [(500, "UNKNOWN"), (504, "UNKNOWN"), (408, "UNKNOWN"), (403, "UNAUTHORIZED"), (409, "REFUSED")]
    {
        let flags = Shared::default();
        let tool = tool(&server(&flags).await);
        let plan = plan(&tool, "set_flag", &args(), preview(&tool, &args(), &[]).await.unwrap());
        flags.lock().unwrap().answer = Some(status);
        assert_eq!(reason(tool.apply(&plan).await), expected, "{status}");
        assert_eq!(flags.lock().unwrap().sent.len(), 1, "sent once, never again");
    }
}

#[tokio::test]
async fn cr_03_a_server_that_is_not_there_was_not_changed() {
    let tool = tool(&nobody().await);
    assert_eq!(reason(preview(&tool, &args(), &[]).await), "UNREACHABLE");
}

#[tokio::test]
async fn an_argument_does_not_leave_its_segment() {
    let tool = tool("http://127.0.0.1:1");
    let mut hostile = args();
    hostile["flag"] = json!("../admin");
    assert!(!problems(&tool, hostile).is_empty());
    let mut unknown = args();
    unknown["service"] = json!("nosuch");
    let told: BTreeSet<String> = problems(&tool, unknown).into_iter().map(|problem| problem.message).collect();
    assert!(told.contains("there is no service `nosuch`"), "{told:?}");
}
