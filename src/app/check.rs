//! `warrant check`: tries the config and every source that it names, through the tools that would use them.

use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::domain::name::{PersonId, SourceName};
use warrant_kernel::domain::run::{Channel, Run, Trigger, Writes};
use warrant_toolbox::tools::write::check;

use super::fault::Fault;
use super::{App, SystemClock, environment, policy, runbooks, serve, tools};
use crate::agent::model::{Message, Request};
use crate::model::config::RUNBOOK;
use crate::model::retry::system_jitter;

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Tried {
    /// What: `metrics.main`, `services.checkout: logs`.
    pub what: String,
    /// Whether it works.
    pub ok: bool,
    /// What was found, or what is wrong and what to do.
    pub says: String,
}

impl Tried {
    fn new(what: impl Into<String>, outcome: Result<String, String>) -> Self {
        let ok = outcome.is_ok();
        Self { what: what.into(), ok, says: outcome.unwrap_or_else(|why| why) }
    }
}

/// Tries everything, telling each outcome as it comes.
///
/// # Errors
/// [`Fault`] where nothing could even be tried.
pub async fn check(app: &App, cancel: &CancellationToken, tell: &mut dyn FnMut(&Tried)) -> Result<Vec<Tried>, Fault> {
    let mut all = Vec::new();
    let mut told = |tried: Tried| {
        tell(&tried);
        all.push(tried);
    };
    told(Tried::new("config", Ok(app.config.path.display().to_string())));
    for warning in &app.warnings {
        told(Tried::new("config", Err(warning.clone())));
    }
    match serve::settings(app) {
        Ok(settings) => {
            for warning in settings.alerts.warnings {
                told(Tried::new("serve", Err(warning)));
            }
        }
        Err(Fault::Config { problems, .. }) => told(Tried::new("serve", Err(problems.join("; ")))),
        Err(fault) => return Err(fault),
    }
    told(store(app).await);
    if let Some(spans) = &app.spans {
        told(Tried::new("telemetry", spans.probe().await));
    }
    let checked = policy::check(app);
    let policies = format!("{} policies, {} cases", checked.policies, checked.cases);
    told(Tried::new("policies", all_well(policies, &checked.problems)));
    if let Some(said) = app.shell.says() {
        told(Tried::new("commands", said));
    }
    if app.config.writes == Writes::Allowed {
        told(Tried::new("approvers", approvers(app)));
        for finding in check::check(&app.hands).await {
            told(Tried::new(finding.what, finding.outcome));
        }
    }
    let lint: Vec<String> = runbooks::lint(app).iter().map(ToString::to_string).collect();
    told(Tried::new("runbooks", all_well(format!("{} runbooks", app.bench.library.runbooks().len()), &lint)));
    for (what, tool, arguments) in trials(app) {
        let result = tools::call(app, tool, &arguments.to_string(), "general-purpose", cancel).await?;
        let outcome = match &result.error {
            Some(error) => Err(error.message.clone()),
            None => verdict(&result.data, result.meta.lines_returned),
        };
        told(Tried::new(what, outcome));
    }
    for name in app.config.model_order.iter().filter(|name| *name != RUNBOOK) {
        told(Tried::new(format!("models.{name}"), model(app, name, cancel).await));
    }
    Ok(all)
}

/// Who of the config may approve by the shipped policies. Without anybody a change waits until it expires.
fn approvers(app: &App) -> Result<String, String> {
    let oncall: Vec<&str> = app.config.people.in_group("oncall").map(PersonId::as_str).collect();
    if oncall.is_empty() {
        return Err("nobody is in the group `oncall`, which approves changes; write `groups = [\"oncall\"]` under a \
                    `[people.NAME]`"
            .to_owned());
    }
    Ok(format!("{} in the group `oncall`", oncall.join(", ")))
}

fn all_well(well: String, problems: &[String]) -> Result<String, String> {
    if problems.is_empty() { Ok(well) } else { Err(problems.join("; ")) }
}

async fn store(app: &App) -> Tried {
    let outcome = match app.store().await {
        Ok(store) => {
            store.close().await;
            Ok(app.config.store.display().to_string())
        }
        Err(fault) => Err(with_sources(&fault)),
    };
    Tried::new("store", outcome)
}

fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text.push_str(": ");
        text.push_str(&source.to_string());
        next = source.source();
    }
    text
}

/// One call for each source and each signal of each service.
fn trials(app: &App) -> Vec<(String, &'static str, Value)> {
    let sources = app.bench.catalog.sources();
    let mut trials = Vec::new();
    for name in sources.metrics.keys() {
        let arguments = json!({ "source": name, "query": "count(up)", "since": "5m ago" });
        trials.push((format!("metrics.{name}"), "query_metrics", arguments));
    }
    if !sources.alertmanagers.is_empty() {
        let names: Vec<&str> = sources.alertmanagers.keys().map(SourceName::as_str).collect();
        trials.push((format!("alertmanagers.{}", names.join(", ")), "active_alerts", json!({})));
    }
    for name in sources.workspaces.keys() {
        let path = if sources.workspaces.len() > 1 { format!("{name}:.") } else { ".".to_owned() };
        trials.push((format!("workspaces.{name}"), "list_files", json!({ "path": path })));
    }
    for (name, service) in app.bench.catalog.services() {
        let mut trial = |signal: &str, tool: &'static str, arguments: Value| {
            trials.push((format!("services.{name}: {signal}"), tool, arguments));
        };
        if !service.logs.is_empty() {
            trial("logs", "search_logs", json!({ "service": name, "limit": 1 }));
        }
        if service.metrics_url.is_some() {
            trial("metrics page", "scrape_metrics", json!({ "service": name, "interval": "1s" }));
        }
        if !service.health.is_empty() {
            trial("health", "http_check", json!({ "service": name }));
        }
        if !(service.changes.is_empty() && service.deploys.is_empty() && service.files.is_empty()) {
            trial("changes", "recent_changes", json!({ "service": name }));
        }
        for (signal, query) in service.metrics.iter().flat_map(|series| &series.signals) {
            trial(&format!("signal {signal}"), "query_metrics", json!({ "service": name, "query": query }));
        }
    }
    trials
}

/// What a result that came back says of its source.
fn verdict(data: &Value, rows: u64) -> Result<String, String> {
    if let Some(failed) = data.pointer("/sources_failed").and_then(Value::as_array).filter(|failed| !failed.is_empty())
    {
        let text = |source: &Value, key: &str| source.get(key).and_then(Value::as_str).unwrap_or("?").to_owned();
        let lines: Vec<String> =
            failed.iter().map(|source| format!("{}: {}", text(source, "source"), text(source, "why"))).collect();
        return Err(lines.join("; "));
    }
    match data.pointer("/unhealthy").and_then(Value::as_u64) {
        Some(0) | None => Ok(super::fault::counted(usize::try_from(rows).unwrap_or(usize::MAX), "row")),
        Some(unhealthy) => {
            let error = data.pointer("/checks/0/error").and_then(Value::as_str).unwrap_or("see `warrant tools call`");
            Err(format!("{unhealthy} health URLs fail: {error}"))
        }
    }
}

/// Asks a model for a word.
async fn model(app: &App, name: &str, cancel: &CancellationToken) -> Result<String, String> {
    let section = app.config.models.get(name).ok_or("it is not configured")?;
    let built = crate::model::config::build(name, section, &environment, system_jitter());
    let model = built.map_err(|error| error.to_string())?.model;
    let now = SystemClock.now();
    let run = Run {
        investigation: "command-line".parse().map_err(|error| format!("{error}"))?,
        trigger: Trigger::Question { text: "warrant check".to_owned() },
        requester: app.requester().await.map_err(|fault| fault.to_string())?,
        role: app.role("explore").map_err(|fault| fault.to_string())?,
        channel: Channel::Command,
        writes: Writes::Off,
        service: None,
        since: now,
        opened_at: now,
    };
    let messages = [Message::User { text: "Answer with the word OK.".to_owned() }];
    let request = Request {
        run: &run,
        seen: &[],
        system: "Answer in one word.",
        tools: &[],
        messages: &messages,
        max_tokens: 16,
    };
    let (deltas, _unread) = unbounded_channel();
    let answer = model.answer(request, &deltas, cancel).await;
    answer.map(|answer| format!("{} answers", answer.model)).map_err(|error| {
        app.redactor.redact_text(&error.to_string()).map_or_else(|_| "it failed".to_owned(), |it| it.text.into_owned())
    })
}
