//! Whole investigations under a scripted model: real tools on real files, a real store, and where it matters the real
//! binary.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test; Clippy's leave for tests ends at the test functions"
)]

mod whole;

mod kills;

mod processes;

mod failing;

mod budgets;

mod together;

mod context;

mod replays;

mod sources;

mod texts;

pub mod writes;

mod injection;

mod envelope;

mod crashes;

mod left;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use warrant::agent::state::State;
use warrant::agent::trace::{Unwatched, Watcher};
use warrant::app::App;
use warrant::app::ask::{Ended, Question, ask};
use warrant::config::Config;
use warrant_kernel::domain::event::{Answered, Body, Event};
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::report::Report;
use warrant_kernel::domain::result::ToolResult;
use warrant_kernel::domain::run::{Channel, Trigger, Writes};

use crate::model_server::ModelServer;
use crate::model_server::script::{Call, Pick, Rules, Script, Shape, Turn};

/// A key that must be seen in its header only.
pub const KEY: &str = "sk-scripted-4f9aQ7ZLkEw2";

/// A token that stands in a log, and in the question.
pub const SECRET: &str = concat!("gh", "p_Zx81kQmW0aTf5LrB7uYc2NdE9sHjV4pKgIoU");

/// A shop that broke ten minutes ago, as files.
pub struct World {
    pub dir: TempDir,
    /// When errors began.
    pub onset: Timestamp,
    /// Where the window begins.
    pub since: Timestamp,
}

pub fn at(time: Timestamp) -> String {
    warrant_kernel::domain::time::rfc3339(time)
}

impl World {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let now = Timestamp::from_second(Timestamp::now().as_second()).unwrap();
        let onset = now - SignedDuration::from_mins(10);
        let world = Self { dir, onset, since: onset - SignedDuration::from_mins(5) };
        for name in ["logs", "etc"] {
            std::fs::create_dir(world.path(name)).unwrap();
        }
        std::fs::write(world.path("logs/checkout.log"), world.log()).unwrap();
        std::fs::write(world.path("etc/checkout.toml"), "[pool]\nmax_connections = 8\nwait_ms = 3000\n").unwrap();
        let deploy = json!({ "time": at(world.deployed()), "service": "checkout", "version": "2.4.1", "by": "ada",
            "message": "pool of 8 connections" });
        std::fs::write(world.path("deploys.jsonl"), format!("{deploy}\n")).unwrap();
        world
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// When the change went out that brought the errors.
    pub fn deployed(&self) -> Timestamp {
        self.onset - SignedDuration::from_secs(30)
    }

    /// 100 lines that are well, and 40 errors from the onset on; one bears the secret.
    fn log(&self) -> String {
        let mut text = String::new();
        let mut line = |time: Timestamp, level: &str, message: &str| {
            writeln!(text, "{}", json!({ "time": at(time), "level": level, "msg": message })).unwrap();
        };
        for n in 0..100 {
            line(self.since + SignedDuration::from_millis(2_900 * (n + 1)), "info", &format!("order {n} taken"));
        }
        for n in 0..40 {
            let token = if n == 7 { format!(", token={SECRET}") } else { String::new() };
            let message = format!("connection pool exhausted: 8 of 8 in use, waited 3000 ms{token}");
            line(self.onset + SignedDuration::from_secs(n), "error", &message);
        }
        text
    }

    /// The config with these models in `order` and more of `[investigation]`; `more` comes last.
    pub fn config(&self, order: &[&str], models: &str, investigation: &str, more: &str) -> String {
        let dir = |name: &str| self.path(name).display().to_string();
        format!(
            r#"
[logs.files]
dir = "{}"
[workspaces.etc]
dir = "{}"
[deploys.deploys]
file = "{}"
[services.checkout]
description = "Takes orders."
logs = [{{ source = "files", file = "checkout.log" }}]
files = [{{ workspace = "etc", path = "checkout.toml" }}]
deploys = ["deploys"]
[store]
path = "{}"
[investigation]
models = {order:?}
{investigation}
{models}
{more}
"#,
            dir("logs"),
            dir("etc"),
            dir("deploys.jsonl"),
            dir("store/warrant.db"),
        )
    }

    /// The config with one model behind this server.
    pub fn config_of(&self, shape: Shape, server: &ModelServer, investigation: &str) -> String {
        self.config(&["main"], &model("main", shape, &server.base_url(shape), ""), investigation, "")
    }

    pub fn write_config(&self, text: &str) -> PathBuf {
        let path = self.path("warrant.toml");
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn app(&self, text: &str) -> App {
        let path = self.write_config(text);
        let config = Config::parse(&path, text).unwrap();
        App::open(config, &|name| (name == "KEY").then(|| KEY.to_owned()), None).unwrap()
    }

    pub fn question(&self) -> Question {
        Question {
            trigger: Trigger::Question { text: "why does checkout fail?".to_owned() },
            service: None,
            since: Some(at(self.since)),
            role: "general-purpose".to_owned(),
            channel: Channel::Terminal,
            writes: Writes::Off,
        }
    }

    /// Runs one investigation to its report.
    pub async fn report(&self, app: &App) -> (InvestigationId, Report, Vec<Event>) {
        let (id, ended) = ask(app, self.question(), Arc::new(Unwatched), CancellationToken::new()).await.unwrap();
        let events = warrant::app::investigations::show(app, id.as_str()).await.unwrap().1;
        (id, reported(ended), events)
    }

    /// The report of a model that found the cause; E3 and E4 are the sweep's logs and changes.
    pub fn good_report(&self) -> Value {
        json!({
            "summary": "Checkout fails because its pool of 8 connections is exhausted.",
            "root_cause": "The deploy of 2.4.1 cut the pool of checkout to 8 connections.",
            "findings": [
                { "kind": "symptom", "claim": "Checkout logs 40 errors.", "evidence": ["E3"],
                  "quotes": [{ "evidence": "E3", "text": "connection pool exhausted" }] },
                { "kind": "cause", "claim": "2.4.1 was deployed with a pool of 8 connections.", "evidence": ["E4"],
                  "at": at(self.deployed()) }
            ],
            "next_steps": ["Roll back 2.4.1."]
        })
    }

    /// Four turns: calls together, more calls, a report that goes back, and one that stands.
    pub fn script(&self) -> Vec<Turn> {
        let window = json!({ "service": "checkout", "level": "error", "since": at(self.since), "limit": 5 });
        let mut bad = self.good_report();
        bad["findings"][0]["claim"] = json!("Checkout logs 4711 errors.");
        let calls = Turn::calls([
            ("c1", "search_logs", window.clone()),
            ("c2", "read_file", json!({ "path": "checkout.toml" })),
            ("c3", "search_logs", window),
            ("c4", "search_logs", json!("{\"service\": \"checkout\", ")),
            ("c5", "describe_service", json!({ "service": "chekout" })),
        ]);
        vec![
            Turn { text: vec!["I look at the errors".to_owned(), " first.\n".to_owned()], ..calls },
            Turn::calls([("d1", "read_evidence", json!({ "evidence": "E5" })), ("d2", "restart", json!({}))]),
            Turn::calls([("r1", "report", bad)]),
            Turn::calls([("r2", "report", self.good_report())]),
        ]
    }
}

/// `[models.NAME]`.
pub fn model(name: &str, shape: Shape, base_url: &str, settings: &str) -> String {
    let provider = match shape {
        Shape::OpenAi => "openai",
        Shape::Anthropic => "anthropic",
    };
    format!(
        "[models.{name}]\nprovider = \"{provider}\"\nmodel = \"some-model\"\nbase_url = \"{base_url}\"\n\
         api_key_env = \"KEY\"\ntries = 1\n{settings}\n"
    )
}

/// A server for one conversation that looks for the key and the secret in every request.
pub async fn serve(turns: Vec<Turn>) -> ModelServer {
    ModelServer::with(Script { turns, pick: Pick::InOrder }, rules(), 0).await
}

/// A server for any number of conversations.
pub async fn serve_all(turns: Vec<Turn>) -> ModelServer {
    ModelServer::with(Script { turns, pick: Pick::ByTurn }, rules(), 0).await
}

pub fn rules() -> Rules {
    Rules { secrets: vec![KEY.to_owned(), SECRET.to_owned()], ..Rules::default() }
}

pub fn reported(ended: Ended) -> Report {
    match ended {
        Ended::Reported(report) => *report,
        Ended::Interrupted(_) => panic!("it was interrupted"),
    }
}

/// The results in the order of their calls.
pub fn results(events: &[Event]) -> Vec<ToolResult> {
    let state = State::fold(events).unwrap();
    state.calls.iter().map(|known| known.result.clone().unwrap()).collect()
}

/// The result that an event records.
pub fn result_of(event: &Event) -> Option<ToolResult> {
    match &event.body {
        Body::Answered(Answered::Read { result }) => Some((**result).clone()),
        _ => None,
    }
}

/// Keeps every event.
#[derive(Default)]
pub struct Keeping(pub Mutex<Vec<Event>>);

impl Watcher for Keeping {
    fn event(&self, event: &Event, _: &State) {
        self.0.lock().unwrap().push(event.clone());
    }

    fn delta(&self, _: &str) {}
}

/// What the model is told in the user messages and tool results of a request.
pub fn told(body: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut all = Vec::new();
    for message in body["messages"].as_array().unwrap().iter().filter(|it| it["role"] != "assistant") {
        match &message["content"] {
            Value::Array(blocks) => {
                let said = blocks.iter().filter_map(|it| text(&it["text"]).or(text(&it["content"])));
                all.extend(said);
            }
            content => all.extend(text(content)),
        }
    }
    all
}

/// Many calls of one tool.
pub fn many(count: usize, name: &str, arguments: &Value) -> Turn {
    let calls = (0..count).map(|n| Call::new(&format!("m{n}"), name, arguments.clone())).collect();
    Turn { calls, ..Turn::default() }
}
