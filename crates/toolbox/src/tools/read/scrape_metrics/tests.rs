//! The tool against a page that changes from one look to the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::routing::get;
use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::{ReadError, ReadTool};

use super::scrape_metrics;
use crate::tools::read::metrics_source::double::{items, nobody, problems, read, read_until, serve, setup};

const FIRST: &str = "# TYPE pool_in_use gauge
pool_in_use{pool=\"main\"} 3
pool_in_use{pool=\"idle\"} 1
# TYPE requests_total counter
requests_total{code=\"200\"} 100
requests_total{code=\"500\"} 7
restarts_total 50
# TYPE wait_seconds histogram
wait_seconds_bucket{op=\"get\",le=\"0.1\"} 10
wait_seconds_bucket{op=\"get\",le=\"1\"} 10
wait_seconds_bucket{op=\"get\",le=\"+Inf\"} 10
wait_seconds_sum{op=\"get\"} 0.5
wait_seconds_count{op=\"get\"} 10
wait_seconds_bucket{op=\"put\",le=\"+Inf\"} 1
wait_seconds_sum{op=\"put\"} 30
wait_seconds_count{op=\"put\"} 1
";

const SECOND: &str = "# TYPE pool_in_use gauge
pool_in_use{pool=\"main\"} 10
pool_in_use{pool=\"idle\"} 1
# TYPE requests_total counter
requests_total{code=\"200\"} 120
requests_total{code=\"500\"} 7
restarts_total 2
# TYPE wait_seconds histogram
wait_seconds_bucket{op=\"get\",le=\"0.1\"} 10
wait_seconds_bucket{op=\"get\",le=\"1\"} 20
wait_seconds_bucket{op=\"get\",le=\"+Inf\"} 20
wait_seconds_sum{op=\"get\"} 5.5
wait_seconds_count{op=\"get\"} 20
wait_seconds_bucket{op=\"put\",le=\"+Inf\"} 1
wait_seconds_sum{op=\"put\"} 30
wait_seconds_count{op=\"put\"} 1
not a sample
";

fn tool(base: &str) -> Arc<dyn ReadTool> {
    let (catalog, clients) = setup(&format!(
        "services.checkout.metrics_url = \"{base}/metrics\"
         services.payments.description = \"no page\""
    ));
    scrape_metrics(catalog, clients)
}

async fn changing() -> Arc<dyn ReadTool> {
    let looks = Arc::new(AtomicUsize::new(0));
    let page = move || async move { if looks.fetch_add(1, Ordering::SeqCst) == 0 { FIRST } else { SECOND } };
    tool(&serve(Router::new().route("/metrics", get(page))).await)
}

/// Seconds between the looks differ from run to run, and with them the rates.
fn steady(mut row: Value) -> Value {
    for key in ["rate_per_s", "count_rate", "rate"] {
        if let Some(rate) = row.get_mut(key)
            && rate.as_f64().is_some_and(|rate| rate > 0.0)
        {
            *rate = Value::from("growing");
        }
    }
    row
}

#[tokio::test]
async fn two_looks_tell_what_happened_in_between() {
    let output = read(changing().await.as_ref(), json!({"service": "checkout", "interval": "50ms"})).await.unwrap();
    assert!(output.summary["interval_s"].as_f64().unwrap() >= 0.05);
    let seen: Value = ["series_total", "matched", "highest", "slowest", "fastest", "resets"]
        .into_iter()
        .map(|key| (key.to_owned(), steady(output.summary[key].clone())))
        .collect();
    assert_json_snapshot!(seen, @r#"
    {
      "series_total": 7,
      "matched": 7,
      "highest": {
        "name": "pool_in_use",
        "labels": {
          "pool": "main"
        },
        "value": 10
      },
      "slowest": {
        "name": "wait_seconds",
        "labels": {
          "op": "get"
        },
        "mean": 0.5,
        "over": "interval"
      },
      "fastest": {
        "name": "requests_total",
        "labels": {
          "code": "200"
        },
        "rate": "growing"
      },
      "resets": 1
    }
    "#);
    assert_snapshot!(output.left_out.clone().unwrap(), @"1 lines are not in the text format and were skipped (the first is line 17)");
    let rows: Vec<String> = items(output).into_iter().map(|row| steady(row).to_string()).collect();
    assert_snapshot!(rows.join("\n"), @r#"
    {"name":"pool_in_use","labels":{"pool":"main"},"type":"gauge","value":10,"change":7}
    {"name":"requests_total","labels":{"code":"200"},"type":"counter","value":120,"rate_per_s":"growing"}
    {"name":"restarts_total","labels":{},"type":"counter","value":2,"rate_per_s":null,"reset":true}
    {"name":"wait_seconds","labels":{"op":"get"},"type":"histogram","count":20,"count_rate":"growing","over":"interval","mean":0.5,"p50":0.55,"p99":0.991}
    {"name":"pool_in_use","labels":{"pool":"idle"},"type":"gauge","value":1,"change":0}
    {"name":"requests_total","labels":{"code":"500"},"type":"counter","value":7,"rate_per_s":0}
    {"name":"wait_seconds","labels":{"op":"put"},"type":"histogram","count":1,"count_rate":0,"over":"start","mean":30,"p50":null,"p99":null}
    "#);
}

#[tokio::test]
async fn one_look_has_values_and_no_rates() {
    let args = json!({"service": "checkout", "interval": "0s", "match": "_bucket$|requests"});
    let output = read(changing().await.as_ref(), args).await.unwrap();
    assert_eq!((&output.summary["matched"], &output.summary["highest"]), (&json!(4), &Value::Null));
    assert_eq!(output.summary["slowest"]["mean"], 30);
    let rows = items(output);
    assert_eq!(rows[0]["rate_per_s"], Value::Null);
    assert_eq!((&rows[2]["over"], &rows[2]["mean"]), (&json!("start"), &json!(0.05)));
}

#[tokio::test]
async fn calls_without_a_page_are_told_what_to_use() {
    let tool = changing().await;
    assert_snapshot!(problems(tool.as_ref(), json!({"service": "payments", "match": "(", "interval": "2m"})).join("\n"), @r"
    /service: service `payments` has no `metrics_url`; try `query_metrics` or `list_metrics`
    /match: not a regular expression that can be used: regex parse error:
        (
        ^
    error: unclosed group
    /interval: at most 30s between the two looks
    ");
}

#[tokio::test]
async fn a_page_that_is_none_says_so() {
    let page = || async { "<!doctype html>\n<title>Sign in</title>\n" };
    let tool = tool(&serve(Router::new().route("/metrics", get(page))).await);
    let error = read(tool.as_ref(), json!({"service": "checkout"})).await.unwrap_err();
    assert!(error.to_string().contains("did not answer in the Prometheus text format; check `metrics_url`"), "{error}");
    let error = read(super::tests::tool(&nobody().await).as_ref(), json!({"service": "checkout"})).await.unwrap_err();
    assert!(error.to_string().starts_with("`metrics_url` of service `checkout`: can't connect to"), "{error}");
}

#[tokio::test]
async fn cancel_ends_the_wait_between_the_looks() {
    let cancel = CancellationToken::new();
    let looked = cancel.clone();
    let page = move || async move {
        looked.cancel();
        FIRST
    };
    let tool = tool(&serve(Router::new().route("/metrics", get(page))).await);
    let ended = read_until(tool.as_ref(), json!({"service": "checkout", "interval": "30s"}), &cancel).await;
    assert_eq!(ended.unwrap_err(), ReadError::Cancelled);
}
