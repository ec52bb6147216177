//! The tool against doubles of both kinds of server.

use std::sync::Arc;

use axum::routing::get;
use axum::{Json, Router};
use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::{Value, json};
use warrant_kernel::call::tool::{ReadError, ReadTool};

use super::active_alerts;
use crate::tools::read::metrics_source::double::{items, nobody, read, serve, setup};

async fn prometheus() -> String {
    let alerts = json!({"status": "success", "data": {"alerts": [
        {"labels": {"alertname": "PoolFull", "job": "checkout", "severity": "critical"}, "annotations": {"summary": "full"},
         "state": "firing", "activeAt": "2026-03-01T11:00:00.5Z", "value": "1e+00"},
        {"labels": {"alertname": "SlowSoon", "service": "checkout"}, "annotations": {}, "state": "pending",
         "activeAt": "2026-03-01T11:59:00Z"},
        {"labels": {"alertname": "Other", "job": "payments"}, "state": "firing"},
    ]}});
    serve(Router::new().route("/api/v1/alerts", get(move || async { Json(alerts) }))).await
}

async fn alertmanager() -> String {
    let held = |labels: Value, silenced: Value| {
        json!({"labels": labels, "annotations": {"runbook": "r"}, "startsAt": "2026-03-01T11:05:00Z", "fingerprint": "f",
               "status": {"state": "active", "silencedBy": silenced, "inhibitedBy": []}, "receivers": [{"name": "x"}]})
    };
    let alerts = json!([
        held(json!({"alertname": "PoolFull", "job": "checkout", "severity": "critical", "cluster": "eu"}), json!([])),
        held(
            json!({"alertname": "PoolFull", "job": "checkout", "severity": "critical", "cluster": "eu", "pod": "p2"}),
            json!([])
        ),
        held(json!({"alertname": "Quiet", "service": "checkout"}), json!(["s1"])),
    ]);
    serve(Router::new().route("/api/v2/alerts", get(move || async { Json(alerts) }))).await
}

fn tool(prometheus: &str, alertmanager: &str) -> Arc<dyn ReadTool> {
    let (catalog, clients) = setup(&format!(
        "sources.metrics.prom.url = \"{prometheus}\"
         sources.alertmanagers.am.url = \"{alertmanager}\"
         services.checkout.metrics = {{ source = \"prom\", labels = {{ job = \"checkout\" }} }}"
    ));
    active_alerts(catalog, clients)
}

#[tokio::test]
async fn an_alert_that_both_know_is_told_once() {
    let tool = tool(&prometheus().await, &alertmanager().await);
    let output = read(tool.as_ref(), json!({"service": "checkout", "state": "all"})).await.unwrap();
    assert_json_snapshot!(output.summary, @r#"
    {
      "sources": 2,
      "alerts": 4,
      "firing": 3,
      "of_other_services": 1
    }
    "#);
    assert_eq!(output.left_out, None);
    let rows: Vec<String> = items(output).iter().map(Value::to_string).collect();
    assert_snapshot!(rows.join("\n"), @r#"
    {"name":"PoolFull","state":"firing","severity":"critical","since":"2026-03-01T11:05:00.000Z","labels":{"alertname":"PoolFull","cluster":"eu","job":"checkout","pod":"p2","severity":"critical"},"annotations":{"runbook":"r"},"silenced":false,"source":"am"}
    {"name":"PoolFull","state":"firing","severity":"critical","since":"2026-03-01T11:00:00.500Z","labels":{"alertname":"PoolFull","cluster":"eu","job":"checkout","severity":"critical"},"annotations":{"runbook":"r","summary":"full"},"silenced":false,"source":"am, prom"}
    {"name":"Quiet","state":"firing","severity":null,"since":"2026-03-01T11:05:00.000Z","labels":{"alertname":"Quiet","service":"checkout"},"annotations":{"runbook":"r"},"silenced":true,"source":"am"}
    {"name":"SlowSoon","state":"pending","severity":null,"since":"2026-03-01T11:59:00.000Z","labels":{"alertname":"SlowSoon","service":"checkout"},"annotations":{},"silenced":false,"source":"prom"}
    "#);
    let pending = read(tool.as_ref(), json!({"state": "pending"})).await.unwrap();
    assert_eq!(pending.rows.len(), 1);
}

#[tokio::test]
async fn a_source_that_is_down_is_named_and_the_others_are_told() {
    let output = read(tool(&prometheus().await, &nobody().await).as_ref(), json!({})).await.unwrap();
    let left_out = output.left_out.clone().unwrap();
    assert!(left_out.starts_with("sources that did not answer: `[alertmanagers.am]`: can't connect to"), "{left_out}");
    assert_eq!(output.rows.len(), 2);
}

#[tokio::test]
async fn all_sources_down_is_an_error_and_none_configured_is_not() {
    let error = read(tool(&nobody().await, &nobody().await).as_ref(), json!({})).await.unwrap_err();
    assert!(matches!(&error, ReadError::Backend { reason: "UNREACHABLE", retryable: true, .. }), "{error:?}");
    let (catalog, clients) = setup("");
    let output = read(active_alerts(catalog, clients).as_ref(), json!({})).await.unwrap();
    assert_json_snapshot!(output.summary, @r#"
    {
      "sources": 0,
      "alerts": 0,
      "firing": 0,
      "note": "no source of alerts is configured: add `[metrics.NAME]` or `[alertmanagers.NAME]`"
    }
    "#);
    assert_eq!(output.left_out, None);
}
