use serde_json::json;
use warrant_kernel::domain::output::{Output, Rows};

use super::tool;
use crate::tools::read::log_scope::tests::{catalog, problems, read, shown, text, write};

/// From 10:50 to 11:20: an order every ten seconds, a slow one each minute; from 11:10:07 on the pool gives nothing.
fn an_incident() -> String {
    let mut lines = Vec::new();
    for second in 0..1_800 {
        let time = jiff::Timestamp::from_second(1_796_035_800 + second).unwrap();
        let mut line = |level: &str, message: &str| {
            lines.push(format!("{{\"time\":\"{time}\",\"level\":\"{level}\",\"msg\":\"{message}\"}}"));
        };
        if second % 10 == 0 {
            line("info", &format!("order {} placed in {}ms", 7_000 + second, second % 90));
        }
        if second % 60 == 30 {
            line("warn", &format!("slow query took {}ms", 500 + second));
        }
        if second % 400 == 0 {
            line("error", &format!("card of customer {second} declined"));
        }
        if second >= 1_207 && second % 3 == 1 {
            line("error", &format!("no slot in pool main after {}ms", 500 + second));
        }
    }
    text(lines)
}

fn items(output: &Output) -> &[serde_json::Value] {
    match &output.rows {
        Rows::Items(items) => items,
        Rows::Lines(_) => panic!("items"),
    }
}

#[tokio::test]
async fn what_the_model_sees() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "app.log", an_incident());
    let output = read(&tool(catalog(dir.path())), json!({"service": "checkout", "since": "2026-11-30T11:05:00Z"}))
        .await
        .unwrap();
    insta::assert_snapshot!(shown(&output), @r#"
    {
      "service": "checkout",
      "window": {
        "from": "2026-11-30T11:05:00.000Z",
        "to": "2026-11-30T11:20:00.000Z"
      },
      "before": {
        "from": "2026-11-30T10:50:00.000Z",
        "to": "2026-11-30T11:05:00.000Z"
      },
      "records": {
        "now": 305,
        "before": 108
      },
      "errors": {
        "now": 200,
        "before": 3
      },
      "warnings": {
        "now": 15,
        "before": 15
      },
      "patterns_total": 4,
      "new_patterns": 1,
      "onset": "2026-11-30T11:10:07.000Z",
      "onset_of": "errors",
      "files": [
        "checkout/app.log"
      ]
    }
    patterns:
    {"pattern":"no slot in pool main after <*>","level":"error","now":198,"before":0,"new":true,"first_seen":"2026-11-30T11:10:07.000Z","last_seen":"2026-11-30T11:19:58.000Z","at":"checkout/app.log:146","example":"{\"time\":\"2026-11-30T11:10:07Z\",\"level\":\"error\",\"msg\":\"no slot in pool main after 1707ms\"}"}
    {"pattern":"slow query took <*>","level":"warn","now":15,"before":15,"new":false,"first_seen":"2026-11-30T10:50:30.000Z","last_seen":"2026-11-30T11:19:30.000Z","at":"checkout/app.log:6","example":"{\"time\":\"2026-11-30T10:50:30Z\",\"level\":\"warn\",\"msg\":\"slow query took 530ms\"}"}
    {"pattern":"order <*> placed in <*>","level":"info","now":90,"before":90,"new":false,"first_seen":"2026-11-30T10:50:00.000Z","last_seen":"2026-11-30T11:19:50.000Z","at":"checkout/app.log:1","example":"{\"time\":\"2026-11-30T10:50:00Z\",\"level\":\"info\",\"msg\":\"order 7000 placed in 0ms\"}"}
    {"pattern":"card of customer <*> declined","level":"error","now":2,"before":3,"new":false,"first_seen":"2026-11-30T10:50:00.000Z","last_seen":"2026-11-30T11:16:40.000Z","at":"checkout/app.log:2","example":"{\"time\":\"2026-11-30T10:50:00Z\",\"level\":\"error\",\"msg\":\"card of customer 0 declined\"}"}
    matched: Some(4)
    left out: None
    "#);
}

#[tokio::test]
async fn a_quiet_service_has_no_onset() {
    let dir = tempfile::tempdir().unwrap();
    let quiet = text(an_incident().lines().filter(|line| !line.contains("pool")).map(str::to_owned));
    write(dir.path(), "app.log", quiet);
    let output = read(&tool(catalog(dir.path())), json!({"service": "checkout", "since": "2026-11-30T11:05:00Z"}))
        .await
        .unwrap();
    assert_eq!((&output.summary["onset"], &output.summary["new_patterns"]), (&json!(null), &json!(0)));
}

#[tokio::test]
async fn warnings_tell_the_onset_where_errors_do_not() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "app.log", an_incident().replace("\"error\"", "\"warn\""));
    let output = read(&tool(catalog(dir.path())), json!({"service": "checkout", "since": "2026-11-30T11:05:00Z"}))
        .await
        .unwrap();
    assert_eq!(
        (&output.summary["onset_of"], &output.summary["onset"]),
        (&json!("warnings"), &json!("2026-11-30T11:10:07.000Z"))
    );
}

#[tokio::test]
async fn a_flood_of_different_messages_is_bounded_and_the_rest_counted() {
    let dir = tempfile::tempdir().unwrap();
    let letters = |n: u32| char::from_digit(10 + n % 26, 36).unwrap();
    let flood = text((0..30_000).map(|n| {
        let word: String = [n, n / 26, n / 676, n / 17_576].map(letters).into_iter().collect();
        format!("{} ERROR {word} {word}x {word}y", 1_796_037_000 + n / 100)
    }));
    write(dir.path(), "app.log", flood);
    let output = read(&tool(catalog(dir.path())), json!({"service": "checkout", "since": "2026-11-30T11:05:00Z"}))
        .await
        .unwrap();
    assert_eq!(output.summary["errors"], json!({"now": 30_000, "before": 0}));
    assert!(items(&output).len() <= 200);
    assert!(output.left_out.unwrap().contains("not by pattern"));
}

#[tokio::test]
async fn records_without_a_time_are_told_as_not_compared() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "app.log", "started\nlistening\n");
    let output = read(&tool(catalog(dir.path())), json!({"service": "checkout"})).await.unwrap();
    assert_eq!(output.left_out.unwrap(), "2 records without a time could not be compared: see them with search_logs");
}

#[test]
fn a_window_in_the_future_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(
        problems(&tool(catalog(dir.path())), json!({"service": "checkout", "since": "2027-01-01T00:00:00Z"})).len(),
        1
    );
}
