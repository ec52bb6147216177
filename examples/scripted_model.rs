//! A scripted model at a given port, in both shapes, for timing whole investigations without a real model.
//!
//! `cargo run --example scripted_model -- PORT [SCRIPT.json]`; the script is a list of turns
//! (`[{"calls": [{"id": "a", "name": "list_services", "arguments": {}}]}, {"text": ["done"]}]`). Each request is
//! answered with the turn after as many as it holds, so any number of investigations may run at once.

#[expect(dead_code, reason = "the tests use the rest of it")]
#[path = "../tests/support/model_server.rs"]
mod model_server;

use anyhow::Context;
use model_server::ModelServer;
use model_server::script::{History, Pick, Rules, Script, Turn};
use serde_json::json;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let port = args.next().context("usage: scripted_model PORT [SCRIPT.json]")?.parse().context("PORT is a number")?;
    let turns = match args.next() {
        None => three_turns(),
        Some(path) => serde_json::from_str(&std::fs::read_to_string(&path).context(path)?).context("the script")?,
    };
    let script = Script { turns, pick: Pick::ByTurn };
    let rules = Rules { history: History::Unwatched, ..Rules::default() };
    let _server = ModelServer::with(script, rules, port).await;
    std::future::pending().await
}

fn three_turns() -> Vec<Turn> {
    vec![
        Turn::calls([("a1", "list_services", json!({}))]),
        Turn::calls([("a2", "search_runbooks", json!({ "query": "error rate" }))]),
        Turn::text(["Nothing ", "is ", "wrong."]),
    ]
}
