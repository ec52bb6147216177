//! The tool against doubles of a metrics server.

use std::sync::Arc;

use axum::extract::Query;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::{ReadError, ReadTool};

use super::{MAX_SERIES, query_metrics};
use crate::tools::read::metrics_source::double::{items, nobody, problems, read, read_until, serve, setup};

fn tool(base: &str) -> Arc<dyn ReadTool> {
    let (catalog, clients) = setup(&format!(
        "sources.metrics.prom.url = \"{base}\"
         services.checkout.metrics = {{ source = \"prom\", labels = {{ job = \"check\\\"out\" }} }}"
    ));
    query_metrics(catalog, clients)
}

async fn answering(status: StatusCode, body: Value) -> Arc<dyn ReadTool> {
    let answer = move || {
        let body = body.clone();
        async move { (status, Json(body)) }
    };
    tool(&serve(Router::new().route("/api/v1/query_range", get(answer))).await)
}

fn matrix(result: &Value) -> Value {
    json!({"status": "success", "data": {"resultType": "matrix", "result": result}})
}

const ASKED: &str = r#"{"query": "up", "since": "2026-03-01T11:00:00Z"}"#;

fn asked() -> Value {
    serde_json::from_str(ASKED).unwrap()
}

#[tokio::test]
async fn a_series_is_summed_up_before_its_points() {
    let tool = answering(
        StatusCode::OK,
        matrix(&json!([
            {"metric": {"__name__": "pool", "job": "a"}, "values": [[1_772_366_400, "1"], [1_772_366_420, "NaN"], [1_772_366_440, "9"], [1_772_366_460, "9"], [1_772_366_480, "2.5"]]},
            {"metric": {"job": "b"}, "values": [[1_772_366_400, "+Inf"], [1_772_366_420, "+Inf"]]},
            {"metric": {"job": "native"}, "histograms": []},
        ])),
    )
    .await;
    let mut output = read(tool.as_ref(), asked()).await.unwrap();
    let overview = output.summary.shift_remove("overview").unwrap();
    assert_json_snapshot!(output.summary, @r#"
    {
      "query": "up",
      "source": "prom",
      "window": {
        "since": "2026-03-01T11:00:00.000Z",
        "until": "2026-03-01T12:00:00.000Z"
      },
      "step_s": 30,
      "series_total": 3
    }
    "#);
    let rows = items(output);
    for (row, brief) in rows.iter().zip(overview.as_array().unwrap()) {
        assert_eq!((&row["labels"], &row["summary"]), (&brief["labels"], &brief["summary"]));
    }
    let rows: Vec<String> = rows.iter().map(Value::to_string).collect();
    assert_snapshot!(rows.join("\n"), @r#"
    {"labels":{"__name__":"pool","job":"a"},"summary":{"min":1,"max":9,"first":1,"last":2.5,"change":1.5,"at_max":"2026-03-01T12:00:40Z","steepest":{"at":"2026-03-01T12:00:40Z","from":1,"to":9}},"points":[["2026-03-01T12:00:00Z",1],["2026-03-01T12:00:20Z","NaN"],["2026-03-01T12:00:40Z",9],["2026-03-01T12:01:00Z",9],["2026-03-01T12:01:20Z",2.5]]}
    {"labels":{"job":"b"},"summary":{"min":"+Inf","max":"+Inf","first":"+Inf","last":"+Inf","change":null,"at_max":"2026-03-01T12:00:00Z","steepest":null},"points":[["2026-03-01T12:00:00Z","+Inf"],["2026-03-01T12:00:20Z","+Inf"]]}
    {"labels":{"job":"native"},"summary":{"min":null,"max":null,"first":null,"last":null,"change":null,"at_max":null,"steepest":null},"points":[]}
    "#);
}

#[tokio::test]
async fn the_series_that_moved_most_are_kept_and_the_cut_is_flagged() {
    let series: Vec<Value> = (0..MAX_SERIES + 20)
        .map(|n| json!({"metric": {"n": n.to_string()}, "values": [[1, "0"], [2, n.to_string()]]}))
        .collect();
    let output = read(answering(StatusCode::OK, matrix(&json!(series))).await.as_ref(), asked()).await.unwrap();
    assert_eq!(output.matched, Some(70));
    let overview = &output.summary["overview"];
    assert!(
        overview.to_string().len() <= super::OVERVIEW + 200 && overview.as_array().unwrap().len() > 5,
        "{overview}"
    );
    assert_snapshot!(output.left_out.clone().unwrap(), @"70 series matched, the 50 that moved most are here; select fewer by label, or aggregate (`sum by (label) (...)`, `topk(10, ...)`)");
    let rows = items(output);
    assert_eq!((rows.len(), &rows[0]["labels"]["n"], &rows[49]["labels"]["n"]), (50, &json!("69"), &json!("20")));
}

#[tokio::test]
async fn a_server_that_sends_too_many_points_is_cut_and_flagged() {
    let values: Vec<Value> = (0..250).map(|n| json!([n, n.to_string()])).collect();
    let tool = answering(StatusCode::OK, matrix(&json!([{"metric": {}, "values": values}]))).await;
    let output = read(tool.as_ref(), asked()).await.unwrap();
    assert!(output.left_out.clone().unwrap().contains("more than 200 points"));
    assert_eq!(items(output)[0]["points"].as_array().unwrap().len(), 200);
}

#[tokio::test]
async fn the_servers_own_words_reach_the_model() {
    let refusal = json!({"status": "error", "errorType": "bad_data", "error": "1:5: parse error: unclosed left paren"});
    let error = read(answering(StatusCode::BAD_REQUEST, refusal).await.as_ref(), asked()).await.unwrap_err();
    let ReadError::Invalid { reason, message } = error else { panic!("{error:?}") };
    assert_snapshot!(format!("{reason} {message}"), @"QUERY_INVALID `prom` refused the query: 1:5: parse error: unclosed left paren");
    let busy = json!({"status": "error", "errorType": "timeout", "error": "query timed out"});
    let error = read(answering(StatusCode::SERVICE_UNAVAILABLE, busy).await.as_ref(), asked()).await.unwrap_err();
    assert!(matches!(error, ReadError::Backend { reason: "QUERY_TIMEOUT", retryable: true, .. }), "{error:?}");
}

#[tokio::test]
async fn nothing_found_says_how_the_service_is_selected() {
    let mut args = asked();
    args["service"] = json!("checkout");
    let output = read(answering(StatusCode::OK, matrix(&json!([]))).await.as_ref(), args).await.unwrap();
    assert_snapshot!(output.summary["note"], @r#""no series had a value in this window: check the name with `list_metrics`, or widen the window; the service's series are {job=\"check\\\"out\"}""#);
    assert_eq!(output.left_out, None);
}

#[tokio::test]
async fn ql_01_a_query_stays_one_parameter() {
    let echo = |Query(pairs): Query<Vec<(String, String)>>| async move {
        let metric: Value = pairs.into_iter().map(|(name, value)| (name, Value::from(value))).collect();
        Json(matrix(&json!([{"metric": metric, "values": []}])))
    };
    let tool = tool(&serve(Router::new().route("/api/v1/query_range", get(echo))).await);
    let mut args = asked();
    args["query"] = json!("up{a=\"&end=0#+%\"}");
    let rows = items(read(tool.as_ref(), args).await.unwrap());
    assert_json_snapshot!(rows[0]["labels"], @r##"
    {
      "end": "2026-03-01T12:00:00.000Z",
      "limit": "1000",
      "query": "up{a=\"&end=0#+%\"}",
      "start": "2026-03-01T11:00:00.000Z",
      "step": "30",
      "timeout": "15s"
    }
    "##);
}

#[tokio::test]
async fn ql_03_a_raised_step_is_told_and_what_costs_too_much_is_never_sent() {
    let tool = answering(StatusCode::OK, matrix(&json!([]))).await;
    let mut args = asked();
    args["query"] = json!("rate(errors_total[7d])");
    let output = read(tool.as_ref(), args).await.unwrap();
    assert_eq!(output.summary["step_s"], json!(120));
    assert_snapshot!(output.left_out.unwrap(), @"the ranges of the query are long, so it was looked at each 120 s only; shorter ranges, or a narrower window, are seen finer");
    let mut args = asked();
    args["query"] = json!("count({__name__!=\"\"})");
    assert_snapshot!(problems(tool.as_ref(), args).join("\n"), @r#"/query: the selector `{__name__!=""}` could match every series; give it a metric name or an equality (`job="..."`) that is not empty"#);
}

#[test]
fn ql_03_a_signal_that_would_be_refused_stops_the_start() {
    let config = "sources.metrics.prom.url = \"http://127.0.0.1:9090\"
         services.checkout.metrics = { source = \"prom\", labels = {}, signals = { up = \"up\", all = \"count({__name__=~'.+'})\" } }";
    let told = crate::tools::read::metrics_source::double::refusals(config);
    assert_snapshot!(told.join("\n"), @r#"signal `all` of service `checkout`: the selector `{__name__=~".+"}` could match every series; give it a metric name or an equality (`job="..."`) that is not empty"#);
}

#[tokio::test]
async fn cancel_ends_a_read_that_hangs() {
    let cancel = CancellationToken::new();
    let reached = cancel.clone();
    let hang = move || {
        // Cancelled once the request has arrived: the read is under way.
        reached.cancel();
        std::future::pending::<StatusCode>()
    };
    let tool = tool(&serve(Router::new().route("/api/v1/query_range", get(hang))).await);
    let ended = read_until(tool.as_ref(), asked(), &cancel).await;
    assert_eq!(ended.unwrap_err(), ReadError::Cancelled);
}

#[tokio::test]
async fn a_server_that_is_down_is_an_error_of_the_source() {
    let error = read(tool(&nobody().await).as_ref(), asked()).await.unwrap_err();
    assert!(matches!(error, ReadError::Backend { reason: "UNREACHABLE", retryable: true, .. }), "{error:?}");
}
