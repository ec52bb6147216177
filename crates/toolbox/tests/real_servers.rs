//! The HTTP tools against real servers: Prometheus, VictoriaMetrics, Alertmanager and node-exporter.
//!
//! `tests/servers/start.sh DIR` starts them and `. DIR/env` names them. A test whose server is not named writes
//! `SKIPPED name: why` to stderr, past the test harness's capture, and passes.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests, outside #[test]")]
#![expect(clippy::disallowed_methods, reason = "what real servers measure bears the real time")]

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::{Arguments, EvidencePage, EvidencePages, ReadError, ReadTool, Reading};
use warrant_kernel::domain::name::{EvidenceId, ServiceName};
use warrant_kernel::domain::output::{Output, Rows};
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger, Writes};
use warrant_toolbox::catalog::Catalog;
use warrant_toolbox::catalog::service::Service;
use warrant_toolbox::catalog::source::Sources;
use warrant_toolbox::tools::read::active_alerts::active_alerts;
use warrant_toolbox::tools::read::http_check::http_check;
use warrant_toolbox::tools::read::list_metrics::list_metrics;
use warrant_toolbox::tools::read::query_metrics::query_metrics;
use warrant_toolbox::tools::read::scrape_metrics::scrape_metrics;
use warrant_toolbox::tools::sources::http::clients::HttpClients;

const PROMETHEUS: &str = "WARRANT_TEST_PROMETHEUS";
const VICTORIAMETRICS: &str = "WARRANT_TEST_VICTORIAMETRICS";
const ALERTMANAGER: &str = "WARRANT_TEST_ALERTMANAGER";
const NODE_EXPORTER: &str = "WARRANT_TEST_NODE_EXPORTER";

/// The addresses that a test needs; none, and a line that says so, where one isn't named.
fn addresses<const N: usize>(test: &str, variables: [&str; N]) -> Option<[String; N]> {
    let found = variables.map(|variable| std::env::var(variable).ok());
    if let Some(at) = found.iter().position(Option::is_none) {
        let why = format!("SKIPPED {test}: {} is not set; tests/servers/start.sh starts the servers", variables[at]);
        // Not `eprintln`: the harness would keep it to itself.
        let mut uncaptured = std::io::stderr();
        writeln!(uncaptured, "\n{why}").unwrap();
        return None;
    }
    Some(found.map(Option::unwrap))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    #[serde(default)]
    sources: Sources,
    #[serde(default)]
    services: BTreeMap<ServiceName, Service>,
}

type Made = fn(Arc<Catalog>, Arc<HttpClients>) -> Arc<dyn ReadTool>;

fn tool(made: Made, toml: &str) -> Arc<dyn ReadTool> {
    let config: Config = toml::from_str(toml).unwrap();
    let catalog = Catalog::new(config.services, config.sources).unwrap();
    let clients = HttpClients::new(&catalog, &|_| None).unwrap();
    made(Arc::new(catalog), Arc::new(clients))
}

async fn read(tool: &dyn ReadTool, args: Value) -> Result<Output, ReadError> {
    let Value::Object(map) = args else { panic!("arguments are an object") };
    let (args, now) = (Arguments::checked(map), Timestamp::now());
    tool.resolve(&args, now).unwrap();
    let run = Run {
        investigation: "i1".parse().unwrap(),
        trigger: Trigger::Question { text: "why".to_owned() },
        requester: Requester { person: "ada".parse().unwrap(), groups: Vec::new() },
        role: "general-purpose".parse().unwrap(),
        channel: Channel::Terminal,
        writes: Writes::Off,
        service: None,
        since: now,
        opened_at: now,
    };
    tool.read(&args, Reading { now, run: &run, cancel: &CancellationToken::new(), evidence: &NoEvidence }).await
}

/// Reads until the servers have gathered what `enough` asks for: they have been up for seconds only.
async fn read_until(tool: &dyn ReadTool, args: Value, enough: impl Fn(&Output) -> bool) -> Output {
    let mut last = None;
    for _ in 0..150 {
        let output = read(tool, args.clone()).await.unwrap();
        if enough(&output) {
            return output;
        }
        last = Some(output);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    panic!("30 s and not yet enough: {last:?}");
}

struct NoEvidence;

#[async_trait]
impl EvidencePages for NoEvidence {
    async fn page(&self, _: EvidenceId, _: u64, _: u64) -> Result<Option<EvidencePage>, ReadError> {
        Ok(None)
    }
}

fn items(output: &Output) -> &[Value] {
    match &output.rows {
        Rows::Items(items) => items,
        Rows::Lines(lines) => panic!("lines: {lines:?}"),
    }
}

fn ago(seconds: i64) -> String {
    Timestamp::now().checked_sub(SignedDuration::from_secs(seconds)).unwrap().to_string()
}

fn server(base: &str) -> String {
    format!(
        "sources.metrics.prom.url = \"{base}\"\nservices.checkout.metrics = {{ source = \"prom\", labels = {{ service = \"checkout\" }} }}"
    )
}

fn keys(value: &Value) -> Vec<&String> {
    value.as_object().unwrap().keys().collect()
}

#[tokio::test]
async fn query_metrics_has_one_shape_on_both_servers() {
    let test = "query_metrics_has_one_shape_on_both_servers";
    let Some(bases) = addresses(test, [PROMETHEUS, VICTORIAMETRICS]) else { return };
    let mut shapes = Vec::new();
    for base in bases {
        let tool = tool(query_metrics, &server(&base));
        let args = json!({"query": "up{job=\"dead\"}", "service": "checkout", "since": ago(600)});
        let output = read_until(tool.as_ref(), args, |output| !output.rows.is_empty()).await;
        let row = &items(&output)[0];
        assert_eq!((&row["labels"]["service"], &row["summary"]["max"]), (&json!("checkout"), &json!(0)));
        let point = row["points"][0].as_array().unwrap();
        assert_eq!((point.len(), &point[1]), (2, &json!(0)));
        point[0].as_str().unwrap().parse::<Timestamp>().unwrap();
        let summary = Value::Object(output.summary.clone());
        let shape =
            format!("{:?} {:?} {:?} {:?}", keys(&summary), keys(row), keys(&row["summary"]), keys(&row["labels"]));
        shapes.push((shape, output.summary["step_s"].clone(), output.left_out.clone()));
    }
    assert_eq!(shapes[0], shapes[1]);
}

#[tokio::test]
async fn what_a_server_refuses_is_told_in_its_own_words() {
    let test = "what_a_server_refuses_is_told_in_its_own_words";
    let Some(bases) = addresses(test, [PROMETHEUS, VICTORIAMETRICS]) else { return };
    // A function that newer servers know.
    for (base, own_words) in bases.iter().zip(["parse error", "mad_over_time"]) {
        let args = json!({"query": "mad_over_time(up[5m])"});
        let error = read(tool(query_metrics, &server(base)).as_ref(), args).await.unwrap_err();
        let ReadError::Invalid { reason, message } = &error else { panic!("{error:?}") };
        assert_eq!(*reason, "QUERY_INVALID");
        assert!(message.contains(own_words), "{message}");
    }
}

#[tokio::test]
async fn a_series_has_at_most_200_points() {
    let test = "a_series_has_at_most_200_points";
    let Some(bases) = addresses(test, [PROMETHEUS, VICTORIAMETRICS]) else { return };
    for base in &bases {
        for seconds in [1, 60, 199, 200, 3_601, 86_399, 31 * 86_400 - 5] {
            let args = json!({"query": "vector(1)", "since": ago(seconds)});
            let output = read(tool(query_metrics, &server(base)).as_ref(), args).await.unwrap();
            let points = items(&output)[0]["points"].as_array().unwrap().len();
            assert!((1..=200).contains(&points), "{points} points over {seconds} s at {base}");
            assert_eq!(output.left_out, None, "{seconds} s at {base}");
        }
    }
}

/// What is sent is written anew from what was read; nobody's reading of it may differ from the servers'.
#[tokio::test]
async fn ql_01_queries_of_every_day_are_understood_by_both_servers_as_they_are_written_anew() {
    let test = "ql_01_queries_of_every_day_are_understood_by_both_servers_as_they_are_written_anew";
    let Some(bases) = addresses(test, [PROMETHEUS, VICTORIAMETRICS]) else { return };
    for base in &bases {
        let tool = tool(query_metrics, &server(base));
        let queries = include_str!("data/promql/everyday.txt").lines();
        for query in queries.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let told = read(tool.as_ref(), json!({"query": query, "since": ago(60)})).await;
            assert!(told.is_ok(), "{base}: {query}: {told:?}");
        }
    }
}

#[tokio::test]
async fn the_cap_on_series_is_flagged() {
    let test = "the_cap_on_series_is_flagged";
    let Some(bases) = addresses(test, [PROMETHEUS, VICTORIAMETRICS]) else { return };
    for base in &bases {
        let tool = tool(query_metrics, &server(base));
        let args = json!({"query": "{__name__=~\"node_.+\",job=\"node\"}", "since": ago(30)});
        let output = read_until(tool.as_ref(), args, |output| output.matched > Some(50)).await;
        assert_eq!(output.rows.len(), 50);
        assert!(output.left_out.unwrap().contains("the 50 that moved most are here"));
    }
}

#[tokio::test]
async fn list_metrics_tells_names_types_and_help() {
    let test = "list_metrics_tells_names_types_and_help";
    let Some([prometheus, victoria]) = addresses(test, [PROMETHEUS, VICTORIAMETRICS]) else { return };
    for base in [&prometheus, &victoria] {
        let tool = tool(list_metrics, &server(base));
        let args = json!({"pattern": "^node_cpu_seconds_total$"});
        let output = read_until(tool.as_ref(), args, |output| output.matched == Some(1)).await;
        assert!(output.summary["metrics"].as_u64().unwrap() > 100);
        if *base == prometheus {
            let expected = json!({"name": "node_cpu_seconds_total", "type": "counter", "help": "Seconds the CPUs spent in each mode."});
            assert_eq!(items(&output)[0], expected);
        }
        // The dead target of the service has `up` and the like, and nothing of the host.
        let output = read_until(tool.as_ref(), json!({"service": "checkout"}), |output| !output.rows.is_empty()).await;
        let names: Vec<_> = items(&output).iter().map(|row| row["name"].as_str().unwrap()).collect();
        assert!(names.contains(&"up") && !names.contains(&"node_cpu_seconds_total"), "{names:?}");
    }
}

#[tokio::test]
async fn scrape_metrics_tells_rates_of_a_real_page() {
    let test = "scrape_metrics_tells_rates_of_a_real_page";
    let Some([base]) = addresses(test, [NODE_EXPORTER]) else { return };
    let tool = tool(scrape_metrics, &format!("services.host.metrics_url = \"{base}/metrics\""));
    let output = read(tool.as_ref(), json!({"service": "host", "interval": "1s"})).await.unwrap();
    assert_eq!(output.left_out, None, "every line of the page is understood");
    assert!(output.summary["series_total"].as_u64().unwrap() > 100);
    assert!(output.summary["fastest"]["rate"].as_f64().unwrap() > 0.0);

    let args = json!({"service": "host", "interval": "1s", "match": "^promhttp_metric_handler_requests_total$"});
    let output = read(tool.as_ref(), args).await.unwrap();
    let scrapes = items(&output).iter().find(|row| row["labels"]["code"] == "200").unwrap();
    // At least our own second look came in between.
    assert_eq!(scrapes["type"], "counter");
    assert!(scrapes["rate_per_s"].as_f64().unwrap() > 0.5, "{scrapes}");
}

#[tokio::test]
async fn active_alerts_come_from_both_kinds_of_server() {
    let test = "active_alerts_come_from_both_kinds_of_server";
    let Some([prometheus, alertmanager]) = addresses(test, [PROMETHEUS, ALERTMANAGER]) else { return };
    let posted = json!([{
        "labels": {"alertname": "PostedByTest", "service": "checkout", "severity": "page"},
        "annotations": {"summary": "by hand"},
        "startsAt": ago(60),
    }]);
    let sent = reqwest::Client::new().post(format!("{alertmanager}/api/v2/alerts")).json(&posted).send().await.unwrap();
    assert_eq!(sent.status(), 200);

    let tool =
        tool(active_alerts, &format!("{}\nsources.alertmanagers.am.url = \"{alertmanager}\"", server(&prometheus)));
    let find = |output: &Output, name: &str| items(output).iter().find(|row| row["name"] == name).cloned();
    let args = json!({"service": "checkout", "state": "all"});
    let both = |output: &Output| {
        let merged = find(output, "TargetDown").is_some_and(|row| row["source"] == "am, prom");
        merged && find(output, "PostedByTest").is_some()
    };
    let output = read_until(tool.as_ref(), args, both).await;
    assert_eq!((&output.summary["sources"], &output.left_out), (&json!(2), &None));
    let down = find(&output, "TargetDown").unwrap();
    assert_eq!(
        (&down["state"], &down["severity"], &down["silenced"]),
        (&json!("firing"), &json!("critical"), &json!(false))
    );
    assert_eq!(down["annotations"]["summary"], "127.0.0.1:1 of dead is down");
    // The label that only the Alertmanager's copy bears.
    assert_eq!(down["labels"]["cluster"], "tests");
    assert_eq!(find(&output, "PostedByTest").unwrap()["annotations"]["summary"], "by hand");
    assert_eq!(find(&output, "SlowToFire"), None, "it is of no service");
    let pending = read(tool.as_ref(), json!({"state": "pending"})).await.unwrap();
    assert_eq!(find(&pending, "SlowToFire").unwrap()["state"], "pending");
}

#[tokio::test]
async fn http_check_finds_real_servers_well() {
    let test = "http_check_finds_real_servers_well";
    let Some([prometheus, alertmanager]) = addresses(test, [PROMETHEUS, ALERTMANAGER]) else { return };
    let urls = [format!("{prometheus}/-/healthy"), format!("{alertmanager}/-/healthy"), format!("{prometheus}/")];
    let tool = tool(http_check, &format!("services.monitoring.health = {urls:?}"));
    let output = read(tool.as_ref(), json!({"service": "monitoring"})).await.unwrap();
    // The last one redirects to its pages, and a redirect is not followed.
    assert_eq!((&output.summary["healthy"], &output.summary["unhealthy"]), (&json!(2), &json!(1)));
}
