//! The process, with a Slack-shaped server, a scripted model and real files.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::investigation::{World, model};
use crate::model_server::ModelServer;
use crate::model_server::script::Shape;
use crate::slack_server::state::{Inner, Message};
use crate::slack_server::{APP, APP_TOKEN, BOT_TOKEN, SlackServer, TEAM};

/// What alerts prove themselves with.
pub const BEARER: &str = "alerts-of-the-tests-0123456789";

/// The channel where everything goes.
pub const OPS: &str = "C0OPS";

/// The config: three persons, of whom two may decide, and the channel.
pub fn config(world: &World, server: &ModelServer, slack: &SlackServer) -> String {
    let models = model("main", Shape::OpenAi, &server.base_url(Shape::OpenAi), "");
    let more = format!(
        "[people.ann]\nslack = [\"U0ANN\"]\ngroups = [\"oncall\"]\n\
         [people.bob]\nslack = [\"U0BOB\"]\ngroups = [\"oncall\"]\n\
         [people.eve]\nslack = [\"U0EVE\"]\n\
         [writes]\nallow = true\n\
         [web]\nlisten = \"127.0.0.1:0\"\n\
         [alerts.alertmanager]\nbearer_env = \"ALERTS_TOKEN\"\n\
         [slack]\nteam = \"{TEAM}\"\napp = \"{APP}\"\nbot_token_env = \"SLACK_BOT_TOKEN\"\n\
         app_token_env = \"SLACK_APP_TOKEN\"\napi_url = \"{}\"\n\
         [[slack.channels]]\nchannel = \"{OPS}\"\n",
        slack.api_url()
    );
    world.config(&["main"], &models, "", &more)
}

/// A Slack with its people and the channel.
pub async fn slack() -> SlackServer {
    let slack = SlackServer::start().await;
    slack.members(&["U0ANN", "U0BOB", "U0EVE", "U0STRANGER"]);
    slack.channel(OPS);
    slack
}

/// The program under test; `WARRANT_TEST_PROGRAM` names another build of it, for measuring.
pub fn program() -> std::ffi::OsString {
    std::env::var_os("WARRANT_TEST_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_warrant").into())
}

/// What the config takes from the environment.
pub fn secrets() -> [(&'static str, &'static str); 4] {
    [
        ("KEY", crate::investigation::KEY),
        ("ALERTS_TOKEN", BEARER),
        ("SLACK_BOT_TOKEN", BOT_TOKEN),
        ("SLACK_APP_TOKEN", APP_TOKEN),
    ]
}

/// The running process.
pub struct Serving {
    child: Child,
    out: Lines<BufReader<ChildStdout>>,
    /// Where it listens.
    pub at: String,
}

impl Serving {
    pub async fn start(world: &World, config: &str) -> Self {
        let path = world.write_config(config);
        let mut child = Command::new(program())
            .args(["serve", "--json", "--config"])
            .arg(path)
            .envs(secrets())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = tokio::time::timeout(Duration::from_secs(20), out.next_line()).await.unwrap().unwrap();
        let ready: Value = serde_json::from_str(&first.unwrap()).unwrap();
        let of = |key: &str| ready.get(key).and_then(Value::as_str).unwrap().to_owned();
        assert_eq!(of("event"), "ready", "{ready}");
        let at = format!("http://{}", of("listen"));
        Self { child, out, at }
    }

    /// Ends it at once, as a power cut would.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.child.id().unwrap()).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Asks it to read policies, tools and runbooks again.
    pub fn hang_up(&self) {
        self.signal(rustix::process::Signal::HUP);
    }

    /// What it says next.
    pub async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(20), self.out.next_line()).await.unwrap().unwrap();
        serde_json::from_str(&line.unwrap()).unwrap()
    }

    /// Asks it to end, and waits for that; what it said last.
    pub async fn end(mut self) -> Value {
        self.signal(rustix::process::Signal::TERM);
        let last = self.out.next_line().await.unwrap().unwrap();
        let status = tokio::time::timeout(Duration::from_secs(20), self.child.wait()).await.unwrap().unwrap();
        assert!(status.success(), "{status}");
        serde_json::from_str(&last).unwrap()
    }

    /// The memory that it has now, in KiB.
    pub fn resident_kib(&self) -> u64 {
        self.memory("VmRSS:")
    }

    /// The most that it had, in KiB.
    pub fn peak_kib(&self) -> u64 {
        self.memory("VmHWM:")
    }

    fn memory(&self, what: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id().unwrap())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    pub async fn get(&self, path: &str) -> Value {
        reqwest::get(format!("{}{path}", self.at)).await.unwrap().json().await.unwrap()
    }

    /// How it stands with the approvals, the newest first.
    pub async fn approvals(&self) -> Vec<String> {
        let listed = self.get("/v1/approvals").await;
        let all = listed.get("approvals").and_then(Value::as_array).unwrap();
        all.iter().map(|it| it.pointer("/state/is").and_then(Value::as_str).unwrap().to_owned()).collect()
    }

    /// Sends alerts as Alertmanager does; the status.
    pub async fn alert(&self, names: &[&str], status: &str, bearer: &str) -> u16 {
        let alerts: Vec<Value> = names
            .iter()
            .map(|name| {
                json!({
                    "status": status, "labels": { "alertname": name, "service": "checkout", "severity": "critical" },
                    "annotations": { "summary": "orders fail <!channel> <@U0ANN>" },
                    "startsAt": "2026-11-30T10:00:00Z", "endsAt": "0001-01-01T00:00:00Z", "fingerprint": format!("f-{name}"),
                })
            })
            .collect();
        let body = json!({
            "version": "4", "groupKey": "{}:{}", "status": status, "receiver": "warrant", "groupLabels": {},
            "commonLabels": {}, "commonAnnotations": {}, "externalURL": "http://am", "alerts": alerts,
        });
        let sent = reqwest::Client::new()
            .post(format!("{}/v1/alerts/alertmanager", self.at))
            .bearer_auth(bearer)
            .json(&body)
            .send();
        sent.await.unwrap().status().as_u16()
    }
}

/// What a message says, as it is sent.
pub fn text(message: &Message) -> String {
    message.body.to_string()
}

/// A message of the channel that says something.
pub fn says<'m>(inner: &'m Inner, words: &str) -> Option<&'m Message> {
    inner.messages.iter().find(|message| message.channel == OPS && text(message).contains(words))
}

/// The button of a message, with its value.
pub fn button(message: &Message, action: &str) -> Option<String> {
    let blocks = message.body.get("blocks")?.as_array()?;
    let mut elements = blocks.iter().filter_map(|block| block.get("elements")?.as_array()).flatten();
    let of = |element: &Value| {
        (element.get("action_id")? == action).then(|| element.get("value")?.as_str().map(str::to_owned))?
    };
    elements.find_map(of)
}
