//! Policies, tools and runbooks that change while it serves.

use std::time::Duration;

use serde_json::{Value, json};

use super::world::Serving;
use crate::investigation::writes::{records, report};
use crate::investigation::{World, model, serve};
use crate::model_server::ModelServer;
use crate::model_server::script::{Shape, Turn};

const CLOSED: &str = r#"@id("closed") @reason("no file is read today")
forbid (principal, action == Action::"read_file", resource);"#;

const BOOK: &str = "# Frobnicator is loose\n\n## Meaning\n\nThe frobnicator came loose.\n";

const TOOL: &str = r#"
name = "frobnicate"
version = 1
description = "Looks at the frobnicator."
risk = "read"
roles = ["general-purpose"]
parallel_safe = true
timeout = "5s"
output = { max_chars = 4000, keep = "full" }
target = { kind = "service", arg = "service" }

[run.http]
source = "frob"
path = "/{service}"
pointer = "/state"

[args.service]
type = "service"
required = true
description = "Which."
"#;

/// A file, and a runbook that is not there at first; then the report.
fn turns(world: &World) -> Vec<Turn> {
    let looks = Turn::calls([
        ("f1", "read_file", json!({ "path": "checkout.toml" })),
        ("b1", "read_runbook", json!({ "id": "frobnicator" })),
    ]);
    vec![looks, report(world)]
}

/// The process over directories of its own, which are empty.
async fn start(world: &World, server: &ModelServer) -> Serving {
    let dirs = ["policies", "runbooks", "tools"].map(|name| {
        std::fs::create_dir(world.path(name)).unwrap();
        format!("[{name}]\ndirs = [\"{}\"]\n", world.path(name).display())
    });
    let more = format!("[web]\nlisten = \"127.0.0.1:0\"\n[http.frob]\nurl = \"http://127.0.0.1:9\"\n{}", dirs.concat());
    let models = model("main", Shape::OpenAi, &server.base_url(Shape::OpenAi), "");
    Serving::start(world, &world.config(&["main"], &models, "", &more)).await
}

/// Begins an investigation; its id.
async fn begin(serving: &Serving) -> String {
    let asked = json!({ "question": "why does checkout fail?", "service": "checkout" });
    let sent = reqwest::Client::new().post(format!("{}/v1/investigations", serving.at)).json(&asked).send();
    let begun: Value = sent.await.unwrap().json().await.unwrap();
    begun.get("id").unwrap().as_str().unwrap().to_owned()
}

/// How the two looks of an investigation ended, once it has.
async fn looks(serving: &Serving, id: &str) -> [String; 2] {
    let events = reqwest::get(format!("{}/v1/investigations/{id}/events", serving.at));
    let told = tokio::time::timeout(Duration::from_secs(30), async { events.await?.text().await }).await.unwrap();
    let told = told.unwrap();
    let events = told.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    let ended: Vec<(String, String)> = events
        .filter_map(|event| {
            let result = find(&event, "tool")?;
            Some((result.get("tool")?.as_str()?.to_owned(), result.get("status")?.as_str()?.to_owned()))
        })
        .collect();
    ["read_file", "read_runbook"].map(|tool| {
        let of = ended.iter().rev().find(|(name, _)| name == tool);
        assert!(of.is_some(), "no result of {tool}: {told}");
        of.unwrap().1.clone()
    })
}

/// The object within a value that has this key, and says how it ended.
fn find<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Object(fields) if fields.contains_key(key) && fields.contains_key("status") => Some(value),
        Value::Object(fields) => fields.values().find_map(|it| find(it, key)),
        Value::Array(items) => items.iter().find_map(|it| find(it, key)),
        _ => None,
    }
}

async fn state(serving: &Serving) -> (Value, String) {
    let ready = serving.get("/readyz").await;
    assert_eq!(ready.get("ready"), Some(&true.into()), "{ready}");
    let checks = ready.get("checks").unwrap().as_array().unwrap();
    let is_ours = |it: &&Value| it.get("name").is_some_and(|name| name == "policies, tools and runbooks");
    let check = checks.iter().find(is_ours).unwrap();
    let text = reqwest::get(format!("{}/metrics", serving.at)).await.unwrap().text().await.unwrap();
    let gauge = text.lines().find(|line| line.starts_with("warrant_reload_refused ")).unwrap().to_owned();
    (json!([check.get("state"), check.get("detail")]), gauge)
}

#[tokio::test]
async fn what_is_read_again_is_gone_by_from_the_next_investigation_on() {
    let world = World::new();
    let mut slow = turns(&world);
    slow[0].delay = Duration::from_secs(4);
    let all = [turns(&world), slow, turns(&world), turns(&world)].concat();
    let server = serve(all).await;
    let mut serving = start(&world, &server).await;
    let first = begin(&serving).await;
    assert_eq!(looks(&serving, &first).await, ["ok", "error"]);

    // One that runs meanwhile keeps what it began with.
    let running = begin(&serving).await;
    std::fs::write(world.path("policies/closed.cedar"), CLOSED).unwrap();
    std::fs::write(world.path("runbooks/frobnicator.md"), BOOK).unwrap();
    std::fs::write(world.path("tools/frobnicate.toml"), TOOL).unwrap();
    serving.hang_up();
    let told = serving.next().await;
    assert_eq!(told["event"], "reloaded", "{told}");
    assert_eq!(serving.get(&format!("/v1/investigations/{running}")).await["running"], true);
    assert_eq!(looks(&serving, &running).await, ["ok", "error"]);
    let next = begin(&serving).await;
    assert_eq!(looks(&serving, &next).await, ["denied", "ok"]);

    // A broken file is named, and everything stays as it was.
    std::fs::write(world.path("policies/closed.cedar"), "permit (principal, action, resource").unwrap();
    serving.hang_up();
    let told = serving.next().await;
    assert_eq!(told["event"], "not_reloaded", "{told}");
    assert!(told["why"].as_str().unwrap().contains("closed.cedar"), "{told}");
    let (check, gauge) = state(&serving).await;
    assert_eq!((&check[0], gauge.as_str()), (&json!("degraded"), "warrant_reload_refused 1"));
    assert!(check[1].as_str().unwrap().contains("closed.cedar"), "{check}");
    let next = begin(&serving).await;
    assert_eq!(looks(&serving, &next).await, ["denied", "ok"]);
    serving.end().await;
}

#[tokio::test]
async fn a_change_is_seen_without_being_told_and_the_ledger_knows_of_it() {
    let world = World::new();
    let server = serve(Vec::new()).await;
    let mut serving = start(&world, &server).await;
    let policy = world.path("policies/closed.cedar");
    std::fs::write(&policy, "nonsense").unwrap();
    assert_eq!(serving.next().await["event"], "not_reloaded");
    // Whoever puts it right is told so, once.
    std::fs::write(&policy, CLOSED).unwrap();
    assert_eq!(serving.next().await["event"], "reloaded");
    let (check, gauge) = state(&serving).await;
    assert_eq!((&check[0], gauge.as_str()), (&json!("up"), "warrant_reload_refused 0"));
    std::fs::remove_file(&policy).unwrap();
    std::fs::write(world.path("runbooks/frobnicator.md"), BOOK).unwrap();
    assert_eq!(serving.next().await["event"], "reloaded");
    assert_eq!(serving.end().await["event"], "ending");
    let app = world.app(&std::fs::read_to_string(world.path("warrant.toml")).unwrap());
    let kinds = records(&app).await;
    let count = |kind: &str| kinds.iter().filter(|it| *it == kind).count();
    assert_eq!((count("policy_loaded"), count("config_changed")), (3, 2), "{kinds:?}");
}
