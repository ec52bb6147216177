//! The tool against doubles of a metrics server and of a service's page.

use axum::extract::Query;
use axum::routing::get;
use axum::{Json, Router};
use insta::assert_json_snapshot;
use serde_json::{Value, json};

use super::list_metrics;
use crate::tools::read::metrics_source::double::{items, problems, read, serve, setup};

async fn server() -> String {
    let names = |Query(pairs): Query<Vec<(String, String)>>| async move {
        let selected = pairs.iter().any(|(name, value)| name == "match[]" && value == r#"{job="a\"b"}"#);
        Json(json!({"status": "success", "data": if selected {
            json!(["pool_in_use", "http_seconds_bucket", "up"])
        } else {
            json!(["pool_in_use", "http_seconds_bucket", "up", "other"])
        }}))
    };
    let metadata = || async {
        Json(json!({"status": "success", "data": {
            "http_seconds": [{"type": "histogram", "help": "Time.", "unit": ""}],
            "pool_in_use": [{"type": "gauge", "help": ""}],
        }}))
    };
    let page = || async { "# HELP b Bees.\n# TYPE b gauge\nb 1\na_total{x=\"1\"} 2\na_total{x=\"2\"} 2\n" };
    let router = Router::new()
        .route("/api/v1/label/__name__/values", get(names))
        .route("/api/v1/metadata", get(metadata))
        .route("/metrics", get(page));
    serve(router).await
}

async fn tool() -> std::sync::Arc<dyn warrant_kernel::call::tool::ReadTool> {
    let base = server().await;
    let (catalog, clients) = setup(&format!(
        "sources.metrics.prom.url = \"{base}\"
         services.checkout.metrics = {{ source = \"prom\", labels = {{ job = 'a\"b' }} }}
         services.shop.metrics_url = \"{base}/metrics\""
    ));
    list_metrics(catalog, clients)
}

#[tokio::test]
async fn names_of_a_service_have_type_and_help() {
    let output = read(tool().await.as_ref(), json!({"service": "checkout", "pattern": "http|pool"})).await.unwrap();
    assert_eq!(output.summary["metrics"], 3);
    assert_json_snapshot!(items(output), @r#"
    [
      {
        "name": "http_seconds_bucket",
        "type": "histogram",
        "help": "Time."
      },
      {
        "name": "pool_in_use",
        "type": "gauge",
        "help": null
      }
    ]
    "#);
}

#[tokio::test]
async fn a_limit_is_flagged() {
    let output = read(tool().await.as_ref(), json!({"limit": 1})).await.unwrap();
    assert_eq!((output.matched, output.rows.len()), (Some(4), 1));
    assert_eq!(output.left_out.unwrap(), "4 names matched, the first 1 are here; narrow `pattern` or raise `limit`");
}

#[tokio::test]
async fn a_service_without_a_server_is_listed_from_its_page() {
    let output = read(tool().await.as_ref(), json!({"service": "shop"})).await.unwrap();
    let rows: Vec<Value> = items(output);
    assert_eq!(
        rows,
        [
            json!({"name": "a_total", "type": "counter", "help": null}),
            json!({"name": "b", "type": "gauge", "help": "Bees."})
        ]
    );
}

#[tokio::test]
async fn ql_06_a_pattern_that_explodes_is_refused() {
    let said = problems(tool().await.as_ref(), json!({"pattern": "(?:a{0,1000}){0,1000}", "service": "nosuch"}));
    assert_eq!(said[0], "/service: there is no service `nosuch`");
    assert!(said[1].starts_with("/pattern: not a regular expression that can be used"), "{said:?}");
}
