//! What is counted of an investigation, whatever names a model makes up; and that Prometheus reads it.

#![expect(clippy::disallowed_methods, reason = "tests start servers that are not ours")]

use std::collections::BTreeSet;
use std::io::{ErrorKind, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::timeout;
use warrant_kernel::call::gate::sequencer::shown::{Counted, Decision, Figures};
use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::event::{Answered, Body, Event};
use warrant_kernel::domain::result::ToolResult;

use crate::agent::state::State;
use crate::agent::trace::{Unwatched, Watcher};
use crate::web::backend::{Alerts, Standing};
use crate::web::tests::{Double, opened, report, run, world};

use super::{Metrics, Reload};

fn result(call: &str, tool: &str, status: &str, duration_ms: u64, redactions: u64) -> ToolResult {
    let error = (status != "ok").then(|| json!({ "code": "TIMEOUT", "message": "late", "retryable": true }));
    let result = json!({
        "call_id": call, "tool": tool, "status": status, "ok": status == "ok", "evidence": null, "data": {},
        "truncated": false, "error": error, "hint": null,
        "meta": { "source": null, "origin": "log", "lines_returned": 0, "lines_matched": null, "duration_ms": duration_ms,
            "output_chars": 0, "redactions": redactions, "cached": false, "captured": false, "side_effects": [] },
    });
    serde_json::from_value(result).unwrap()
}

fn answer(model: &str, cost: Option<f64>) -> Value {
    json!({
        "model": model, "text": "", "calls": [], "opaque": [], "stop": "done",
        "usage": { "input": 1_000, "cached": 400, "output": 50 }, "cost": cost,
    })
}

/// Lets a watcher see these, as the trace of an investigation would.
fn watch(watcher: &dyn Watcher, bodies: Vec<Body>) {
    let opening = opened(&run("i-one", 1, Some("checkout"), "ann"));
    let mut state = State::fold(std::slice::from_ref(&opening)).unwrap();
    watcher.event(&opening, &state);
    for (seq, body) in (2..).zip(bodies) {
        let event = Event { seq, at: opening.at, schema: opening.schema, body };
        state.apply(&event);
        watcher.event(&event, &state);
    }
}

fn counted() -> Arc<Metrics> {
    let names = |name: &str| BTreeSet::from([name.to_owned()]);
    let metrics = Metrics::new(names("search_logs"), names("scripted"));
    let read = |tool: &str, status: &str, redactions| {
        Body::Answered(Answered::Read { result: Box::new(result("c1", tool, status, 30, redactions)) })
    };
    let mut bodies = vec![
        read("search_logs", "ok", 3),
        read("search_logs", "timeout", 0),
        Body::Answered(Answered::Model { turn: 1, answer: answer("scripted", Some(0.25)) }),
        Body::Answered(Answered::Model { turn: 2, answer: answer("made-up\"} 1\nx{a=\"", Some(f64::MAX)) }),
        Body::Answered(Answered::ModelFailed { turn: 3, message: "no".to_owned() }),
    ];
    // A stranger's names make no series of their own.
    bodies.extend((0..1_000).map(|n| read(&format!("tool-{n}\"\n}}"), "error", 0)));
    bodies.push(report("confirmed"));
    let watcher = metrics.counting(Arc::new(Unwatched));
    watch(watcher.as_ref(), bodies);
    metrics.reloaded(Reload::Taken);
    metrics.reloaded(Reload::Refused);
    metrics
}

fn standing() -> Standing {
    let by = [
        ((Tier::High, Decision::Open), 1),
        ((Tier::High, Decision::Denied), 1),
        ((Tier::Medium, Decision::Approved), 2),
        ((Tier::Low, Decision::Expired), 1),
    ];
    let times = [1, 0, 2, 0, 0, 0, 0, 0, 0, 1];
    let figures = Figures { asked: 4, decisions: 4, hasty: 1, seconds: 90, executed: 1, times };
    let alerts = Alerts {
        received: 11,
        known: 12,
        unauthenticated: 13,
        unreadable: 14,
        too_large: 15,
        unavailable: 16,
        opened: 17,
        shed: 18,
    };
    Standing {
        queues: vec![("alerts", 7), ("slack", 0)],
        ledger_lag_s: Some(1.5),
        disks: vec![("store", 1 << 30)],
        alerts: Some(alerts),
        approvals: Some(Counted { by: by.into(), figures }),
    }
}

#[test]
fn all_that_is_counted_stands_in_the_text() {
    let text = counted().text(standing()).unwrap();
    let values = text.lines().filter(|line| !line.starts_with('#') && !line.contains("_bucket{"));
    let mut values: Vec<&str> = values.collect();
    values.sort_unstable();
    insta::assert_snapshot!(values.join("\n"), @r#"
    warrant_alert_requests_refused_total{reason="too_large"} 15
    warrant_alert_requests_refused_total{reason="unauthenticated"} 13
    warrant_alert_requests_refused_total{reason="unavailable"} 16
    warrant_alert_requests_refused_total{reason="unreadable"} 14
    warrant_alerts_received_total{delivery="known"} 12
    warrant_alerts_received_total{delivery="new"} 11
    warrant_alerts_shed_total 18
    warrant_approvals_open{tier="high"} 1
    warrant_approvals_total{tier="high",decision="denied"} 1
    warrant_approvals_total{tier="low",decision="expired"} 1
    warrant_approvals_total{tier="medium",decision="approved"} 2
    warrant_decision_time_seconds_count 4
    warrant_decision_time_seconds_sum 90.0
    warrant_decisions_hasty_ratio 0.25
    warrant_decisions_hasty_total 1
    warrant_decisions_total 4
    warrant_disk_free_bytes{disk="store"} 1073741824
    warrant_incidents_opened_total 17
    warrant_investigations_running 0
    warrant_investigations_started_total{trigger="question",channel="api"} 1
    warrant_investigations_total{outcome="confirmed"} 1
    warrant_ledger_lag_seconds 1.5
    warrant_model_cost_total{model="other"} 1.7976931348623157e308
    warrant_model_cost_total{model="scripted"} 0.25
    warrant_model_failures_total 1
    warrant_model_tokens_total{model="other",kind="cached"} 400
    warrant_model_tokens_total{model="other",kind="input"} 1000
    warrant_model_tokens_total{model="other",kind="output"} 50
    warrant_model_tokens_total{model="scripted",kind="cached"} 400
    warrant_model_tokens_total{model="scripted",kind="input"} 1000
    warrant_model_tokens_total{model="scripted",kind="output"} 50
    warrant_queue_depth{queue="alerts"} 7
    warrant_queue_depth{queue="slack"} 0
    warrant_redactions_total 3
    warrant_reload_refused 1
    warrant_reloads_total{outcome="refused"} 1
    warrant_reloads_total{outcome="taken"} 1
    warrant_tool_calls_total{tool="other",status="error"} 1000
    warrant_tool_calls_total{tool="search_logs",status="ok"} 1
    warrant_tool_calls_total{tool="search_logs",status="timeout"} 1
    warrant_tool_duration_seconds_count{tool="other",status="error"} 1000
    warrant_tool_duration_seconds_count{tool="search_logs",status="ok"} 1
    warrant_tool_duration_seconds_count{tool="search_logs",status="timeout"} 1
    warrant_tool_duration_seconds_sum{tool="other",status="error"} 30.00000000000038
    warrant_tool_duration_seconds_sum{tool="search_logs",status="ok"} 0.03
    warrant_tool_duration_seconds_sum{tool="search_logs",status="timeout"} 0.03
    "#);
}

#[test]
fn times_to_decide_are_a_histogram_that_counts_up() {
    let text = counted().text(standing()).unwrap();
    let buckets = text.lines().filter(|line| line.starts_with("warrant_decision_time_seconds_bucket"));
    insta::assert_snapshot!(buckets.collect::<Vec<_>>().join("\n"), @r#"
    warrant_decision_time_seconds_bucket{le="3.0"} 1
    warrant_decision_time_seconds_bucket{le="10.0"} 1
    warrant_decision_time_seconds_bucket{le="30.0"} 3
    warrant_decision_time_seconds_bucket{le="60.0"} 3
    warrant_decision_time_seconds_bucket{le="120.0"} 3
    warrant_decision_time_seconds_bucket{le="300.0"} 3
    warrant_decision_time_seconds_bucket{le="900.0"} 3
    warrant_decision_time_seconds_bucket{le="1800.0"} 3
    warrant_decision_time_seconds_bucket{le="3600.0"} 3
    warrant_decision_time_seconds_bucket{le="+Inf"} 4
    "#);
}

#[test]
fn names_of_strangers_are_counted_under_other() {
    let text = counted().text(Standing::default()).unwrap();
    assert!(text.lines().count() < 150, "{} lines", text.lines().count());
    assert!(!text.contains("made-up") && !text.contains("tool-9"));
}

#[test]
fn what_runs_is_counted_for_as_long_as_it_is_watched() {
    let metrics = Metrics::new(BTreeSet::new(), BTreeSet::new());
    let running = || {
        let text = metrics.text(Standing::default()).unwrap();
        text.lines().find_map(|line| line.strip_prefix("warrant_investigations_running ").map(str::to_owned)).unwrap()
    };
    let (one, two) = (metrics.counting(Arc::new(Unwatched)), metrics.counting(Arc::new(Unwatched)));
    assert_eq!(running(), "2");
    drop(one);
    assert_eq!(running(), "1");
    drop(two);
    assert_eq!(running(), "0");
}

#[test]
fn promtool_finds_nothing_that_can_not_be_read() {
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Some(mut check) = begun("promtool_finds_nothing_that_can_not_be_read", &mut promtool) else { return };
    let text = counted().text(standing()).unwrap();
    check.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = check.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!told.contains("error while linting") && !told.contains("error parsing"), "{told}");
}

/// Begins a program that is not ours; none, and a line that says so, where it is not installed.
fn begun(test: &str, command: &mut Command) -> Option<Child> {
    match command.spawn() {
        Ok(child) => Some(child),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // Not `eprintln`: the harness would keep it to itself.
            writeln!(std::io::stderr(), "\nSKIPPED {test}: {command:?} is not installed").unwrap();
            None
        }
        Err(error) => panic!("{command:?}: {error}"),
    }
}

/// Ends the server that it is.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        if self.0.kill().is_ok() {
            self.0.wait().unwrap();
        }
    }
}

#[tokio::test]
async fn a_real_prometheus_scrapes_it() {
    let world = world(Double::new()).await;
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("prometheus.yml");
    let jobs = format!(
        "scrape_configs:\n- job_name: warrant\n  scrape_interval: 100ms\n  scrape_timeout: 100ms\n  static_configs:\n  - targets: ['{}']\n",
        world.at
    );
    std::fs::write(&config, jobs).unwrap();
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let mut prometheus = Command::new("prometheus");
    prometheus
        .arg(format!("--config.file={}", config.display()))
        .arg(format!("--web.listen-address=127.0.0.1:{port}"))
        .arg(format!("--storage.tsdb.path={}", dir.path().join("data").display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let Some(server) = begun("a_real_prometheus_scrapes_it", &mut prometheus) else { return };
    let _server = Server(server);
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let query = async |what: &str| -> Option<Value> {
        let asked = client.get(format!("http://127.0.0.1:{port}/api/v1/query")).query(&[("query", what)]);
        let answer: Value = asked.send().await.ok()?.json().await.ok()?;
        answer.pointer("/data/result/0/value/1").cloned()
    };
    let scraped = async {
        // The second scrape tells that the first one was answered.
        while query("warrant_queue_depth{queue=\"alerts\"}").await != Some(json!("2"))
            || query("warrant_http_requests_total{route=\"/metrics\"}").await.is_none()
        {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_mins(1), scraped).await.unwrap();
}
