//! What an investigation costs: two tools, three turns of a model that answers at once, a durable trace.
//!
//! `cargo bench --bench investigation [-- COUNT]`. Beside the processor time of a whole investigation stands the time from
//! the model's answer to the next request, in which tools run, results are masked and the trace is written.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a bench that fails should stop")]
#![expect(clippy::disallowed_methods, reason = "a bench makes its own input")]

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;
use warrant::agent::model::{Answer, Model, ModelCall, ModelError, Request, Stop, Usage};
use warrant::agent::prompt;
use warrant::agent::trace::Unwatched;
use warrant::app::App;
use warrant::app::ask::{Ended, Question, ask};
use warrant::config::Config;
use warrant_kernel::domain::run::{Channel, Trigger, Writes};

/// Answers from a script, at once, and notes when it was asked and when it had answered.
struct Scripted {
    gaps: Mutex<Vec<Duration>>,
    answered: Mutex<Option<Instant>>,
}

#[async_trait::async_trait]
impl Model for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    async fn answer(
        &self,
        request: Request<'_>,
        _deltas: &UnboundedSender<String>,
        _cancel: &CancellationToken,
    ) -> Result<Answer, ModelError> {
        let turn =
            request.messages.iter().filter(|it| matches!(it, warrant::agent::model::Message::Answers { .. })).count();
        if let Some(answered) = self.answered.lock().unwrap().take() {
            self.gaps.lock().unwrap().push(answered.elapsed());
        }
        let call = |id: &str, name: &str, arguments: &str| ModelCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        };
        let calls = match turn {
            0 => vec![call("a", "search_logs", r#"{"service":"orders","level":"error","limit":50}"#)],
            1 => vec![call("b", "describe_service", r#"{"service":"orders"}"#)],
            _ => vec![call("c", "report", r#"{"summary":"The log holds errors.","findings":[]}"#)],
        };
        if turn < 2 {
            *self.answered.lock().unwrap() = Some(Instant::now());
        }
        let usage = Usage::default();
        let (text, opaque) = (String::new(), Vec::new());
        Ok(Answer {
            model: "scripted".to_owned(),
            text,
            calls,
            opaque,
            stop: Stop::Calls,
            usage,
            cost: None,
            passed_over: Vec::new(),
        })
    }
}

fn cpu() -> Duration {
    // Of all threads: user and system time in ticks of 10 ms, so measure many investigations.
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields.iter().skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

fn main() {
    let count: u32 = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(300);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path().display();
    let now = jiff::Timestamp::now();
    let mut log = String::new();
    for second in (1..=2_000).rev() {
        let at = now.checked_sub(jiff::SignedDuration::from_secs(second)).unwrap();
        let level = if second % 20 == 0 { "error" } else { "info" };
        writeln!(log, r#"{{"time":"{at}","level":"{level}","msg":"order {second} took {} ms"}}"#, second % 97).unwrap();
    }
    std::fs::write(directory.path().join("orders.log"), log).unwrap();
    let text = format!(
        "[store]\npath = \"{dir}/trace.db\"\n[logs.app]\ndir = \"{dir}\"\n\
         [services.orders]\nlogs = [{{ source = \"app\", file = \"orders.log\" }}]\n"
    );
    let config = Config::parse(&directory.path().join("warrant.toml"), &text).unwrap();
    let model = Arc::new(Scripted { gaps: Mutex::default(), answered: Mutex::default() });
    let mut app = App::open(config, &|_| None, None).unwrap();
    app.model = Arc::clone(&model) as Arc<dyn Model>;

    let role = app.role("general-purpose").unwrap();
    let tools = prompt::tools(&app.bench.registry, &role, Writes::Off);
    let bytes = prompt::system(Writes::Off).len() + serde_json::to_vec(&tools).unwrap().len();
    println!("system prompt and {} tools: {bytes} bytes", tools.len());

    let one = || async {
        let question = Question {
            trigger: Trigger::Question { text: "why do orders fail?".to_owned() },
            service: Some("orders".to_owned()),
            since: Some("10m".to_owned()),
            role: "general-purpose".to_owned(),
            channel: Channel::Terminal,
            writes: Writes::Off,
        };
        let (_, ended) = ask(&app, question, Arc::new(Unwatched), CancellationToken::new()).await.unwrap();
        assert!(matches!(ended, Ended::Reported(_)));
    };
    runtime.block_on(async {
        for _ in 0..10 {
            one().await;
        }
        model.gaps.lock().unwrap().clear();
        let (began, wall) = (cpu(), Instant::now());
        for _ in 0..count {
            one().await;
        }
        let (used, took) = (cpu().saturating_sub(began), wall.elapsed());
        println!(
            "{count} investigations, opening sweep included: {:?} CPU, {:?} wall each",
            used / count,
            took / count
        );
    });
    let mut gaps = model.gaps.lock().unwrap().clone();
    gaps.sort_unstable();
    let at = |percent: usize| gaps.get(gaps.len() * percent / 100).copied().unwrap_or_default();
    println!("from the model's answer to the next request, tool included: median {:?}, p95 {:?}", at(50), at(95));
}
