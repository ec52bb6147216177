//! Clients that are not ours take the server of these tests for Slack: `@slack/bolt` of npm, `slack_bolt` and `slack_sdk` of
//! `PyPI`. `SLACK_CLIENTS` names a directory with `node_modules` and with a Python at `py/bin/python`.

use std::io::Write;
use std::path::PathBuf;
use std::process::Output;
use std::time::Duration;

use tokio::process::Command;
use tokio::task::JoinHandle;
use warrant::app::SystemClock;
use warrant_kernel::call::tool::Clock as _;

use crate::slack_server::people::signed;
use crate::slack_server::state::Fault;
use crate::slack_server::{APP_TOKEN, BOT, BOT_TOKEN, SlackServer};

/// How long Slack waits before it delivers something again.
const PATIENCE: Duration = Duration::from_secs(3);

fn clients(test: &str) -> Option<PathBuf> {
    let named = std::env::var_os("SLACK_CLIENTS").map(PathBuf::from);
    if named.is_none() {
        // Past what the harness captures.
        let mut stderr = std::io::stderr();
        writeln!(stderr, "\nSKIPPED {test}: `SLACK_CLIENTS` is not set; tests/servers/slack-clients.sh installs them")
            .unwrap();
    }
    named
}

fn script(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/support/slack/clients").join(name)
}

async fn server() -> SlackServer {
    let slack = SlackServer::start().await;
    slack.members(&["U0ANN"]);
    slack.fault("reactions.add", [Fault::Limited(7)]);
    slack
}

fn started(mut command: Command) -> JoinHandle<Output> {
    command.kill_on_drop(true);
    tokio::spawn(async move { command.output().await.unwrap() })
}

/// Waits until the client has acknowledged an envelope; one that got lost while it changed its connection is delivered again,
/// as Slack does.
async fn taken(slack: &SlackServer, envelope: String) {
    let mut newest = envelope;
    for attempt in 1..=8 {
        if tokio::time::timeout(PATIENCE, slack.acked(&newest)).await.is_ok() {
            return;
        }
        newest = slack.again(&newest, attempt);
    }
    slack.acked(&newest).await;
}

/// Somebody mentions the client's bot, reads its answer, and clicks; what the client said when it ended.
async fn talk(slack: &SlackServer, client: JoinHandle<Output>) -> String {
    slack.connected().await;
    let mentioned = slack.writes("U0ANN", "C0OPS", None, &format!("<@{BOT}> hello"));
    taken(slack, mentioned).await;
    let answer = slack.until("an answer", |inner| inner.messages.first().cloned()).await;
    assert_eq!(answer.body.get("text"), Some(&serde_json::json!(format!("heard: <@{BOT}> hello"))));
    assert!(answer.thread.is_some());
    // The channel takes one message a second.
    let clicked = slack.clicks("U0ANN", "C0OPS", &answer.ts, "approve", "A12");
    taken(slack, clicked).await;
    slack.until("a modal", |inner| inner.views.first().map(drop)).await;
    let output = tokio::time::timeout(Duration::from_secs(30), client).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    said
}

#[tokio::test]
async fn bolt_takes_the_server_for_slack() {
    let Some(clients) = clients("bolt_takes_the_server_for_slack") else { return };
    let slack = server().await;
    let mut node = Command::new("node");
    node.arg(script("bolt.js")).args([format!("{}/", slack.api_url()).as_str(), BOT_TOKEN, APP_TOKEN]);
    node.env("NODE_PATH", clients.join("node_modules"));
    let said = talk(&slack, started(node)).await;
    assert_eq!(said.lines().last(), Some("refused: invalid_blocks, limited: 7"), "{said}");
}

#[tokio::test]
async fn slack_sdk_takes_the_server_for_slack() {
    let Some(clients) = clients("slack_sdk_takes_the_server_for_slack") else { return };
    let slack = server().await;
    let (secret, time, body) = ("0123456789abcdef", SystemClock.now().as_second().to_string(), "payload=%7B%7D");
    let signature = signed(secret, &time, body.as_bytes());
    let mut python = Command::new(clients.join("py/bin/python"));
    python.arg(script("sdk.py")).args([format!("{}/", slack.api_url()).as_str(), BOT_TOKEN, APP_TOKEN]);
    python.args([secret, &time, body, &signature]);
    let said = talk(&slack, started(python)).await;
    let said: Vec<&str> = said.lines().collect();
    assert_eq!(said, ["signed: True", "user: T0TEAM", "twice: exchanged_trigger_id", "limited: 7"]);
    let kept = slack.shared.lock().files.values().next().cloned().unwrap();
    assert_eq!(kept.bytes, b"a log");
}
