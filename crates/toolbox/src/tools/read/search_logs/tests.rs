use proptest::prelude::*;
use serde_json::{Value, json};
use warrant_kernel::call::tool::ReadError;
use warrant_kernel::domain::output::{Output, Rows};
use warrant_kernel::domain::target::TargetKind;

use super::pattern::matcher;
use super::{Level, tool};
use crate::tools::read::log_scope::tests::{NOW, args, catalog, problems, read, shown, text, write};
use crate::tools::sources::logs::record::parse;

fn lines(output: &Output) -> Vec<&str> {
    match &output.rows {
        Rows::Lines(lines) => lines.iter().map(String::as_str).collect(),
        Rows::Items(_) => panic!("lines"),
    }
}

#[tokio::test]
async fn what_the_model_sees() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "app.log",
        "{\"time\":\"2026-11-30T11:05:17.004Z\",\"level\":\"info\",\"msg\":\"order placed\"}\n\
         {\"time\":\"2026-11-30T11:05:18.123Z\",\"level\":\"error\",\"msg\":\"no slot in pool\",\"waited_ms\":500}\n\
         {\"time\":\"2026-11-30T11:05:19.000Z\",\"level\":\"warn\",\"msg\":\"pool is full\"}\n",
    );
    write(
        dir.path(),
        "error.log",
        "2026-11-30 11:05:18,200 ERROR [pay] pool gave nothing\njava.lang.IllegalStateException: no slot\n\tat Pay.java:118\n\
         2026-11-30 11:05:20,000 INFO [pay] done\n",
    );
    let output =
        read(&tool(catalog(dir.path())), json!({"service": "checkout", "pattern": "pool|slot"})).await.unwrap();
    insta::assert_snapshot!(shown(&output), @r#"
    {
      "service": "checkout",
      "window": {
        "from": "2026-11-30T10:20:00.000Z",
        "to": "2026-11-30T11:20:00.000Z"
      },
      "files": [
        "checkout/app.log",
        "checkout/error.log"
      ],
      "matched": {
        "total": 3,
        "levels": {
          "error": 2,
          "warn": 1
        },
        "complete": true
      },
      "first_match": "2026-11-30T11:05:18.123Z",
      "last_match": "2026-11-30T11:05:19.000Z"
    }
    lines:
    2026-11-30T11:05:18.123Z error checkout/app.log:2 {"time":"2026-11-30T11:05:18.123Z","level":"error","msg":"no slot in pool","waited_ms":500}
    2026-11-30T11:05:18.200Z error checkout/error.log:1 2026-11-30 11:05:18,200 ERROR [pay] pool gave nothing
    java.lang.IllegalStateException: no slot
    	at Pay.java:118
    2026-11-30T11:05:19.000Z warn checkout/app.log:3 {"time":"2026-11-30T11:05:19.000Z","level":"warn","msg":"pool is full"}
    matched: Some(3)
    left out: None
    "#);
}

#[tokio::test]
async fn pages_together_hold_every_match_once_in_both_orders() {
    let dir = tempfile::tempdir().unwrap();
    let line = |n: usize| format!("{} failed {n}", 1_796_036_400 + n / 3);
    write(dir.path(), "app.log.1", text((0..50).map(line)));
    write(dir.path(), "app.log", text((50..100).map(line)));
    write(dir.path(), "error.log", text((0..100).step_by(2).map(line)));
    let tool = tool(catalog(dir.path()));
    for order in ["newest", "oldest"] {
        let mut pages: Vec<Vec<String>> = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let mut asked = json!({"service": "checkout", "pattern": "failed", "limit": 32, "order": order});
            if let (Some(cursor), Value::Object(map)) = (&cursor, &mut asked) {
                map.insert("cursor".to_owned(), json!(cursor));
            }
            let output = read(&tool, asked).await.unwrap();
            pages.push(lines(&output).into_iter().map(str::to_owned).collect());
            let Some(left) = &output.left_out else { break };
            cursor = left.split('`').nth(1).map(str::to_owned);
        }
        assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [32, 32, 32, 32, 22], "{order}");
        if order == "newest" {
            pages.reverse();
        }
        let all = pages.concat();
        assert!(all.is_sorted_by_key(|line| line.split(' ').next().map(str::to_owned)));
        let unique: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(unique.len(), 150);
    }
}

#[tokio::test]
async fn oldest_first_ends_once_the_page_is_full_and_says_that_counts_are_not_whole() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "app.log", text((0..3_000).map(|n| format!("{} failed", 1_796_034_100 + n))));
    let tool = tool(catalog(dir.path()));
    let oldest =
        read(&tool, json!({"service": "checkout", "pattern": "failed", "order": "oldest", "limit": 10})).await.unwrap();
    assert_eq!((oldest.matched, &oldest.summary["matched"]["complete"]), (None, &json!(false)));
    assert_eq!(lines(&oldest)[0], "2026-11-30T10:21:40.000Z unknown checkout/app.log:1 1796034100 failed");
    let newest = read(&tool, json!({"service": "checkout", "pattern": "failed", "limit": 10})).await.unwrap();
    assert_eq!((newest.matched, &newest.summary["matched"]["complete"]), (Some(3_000), &json!(true)));
    assert!(newest.left_out.unwrap().starts_with("2990 older matches: page with cursor `"));
}

#[tokio::test]
async fn a_level_finds_its_records_with_and_without_a_pattern() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "app.log",
        "1796036400 ERROR one\n1796036401 WARN two about an error\n1796036402 INFO three\n\tat Exception\n\
         E1130 11:00:04.000000 1 x.go:1] four\n{\"time\":1796036405000,\"level\":50,\"msg\":\"five\"}\n\
         10.0.0.1 - - [30/Nov/2026:11:00:06 +0000] \"GET / HTTP/1.1\" 503 1\n1796036407 DEBUG seven\n",
    );
    let tool = tool(catalog(dir.path()));
    let count = async |level: &str, pattern: &str| {
        let asked = json!({"service": "checkout", "level": level, "pattern": pattern});
        read(&tool, asked).await.unwrap().matched.unwrap()
    };
    assert_eq!(count("error", "").await, 4);
    assert_eq!(count("warn", "").await, 1);
    assert_eq!(count("info", "").await, 1);
    assert_eq!(count("debug", "").await, 1);
    assert_eq!(count("any", "").await, 7);
    assert_eq!(count("error", "one|two").await, 1);
    assert_eq!(count("error", "ONE").await, 0);
}

#[test]
fn the_target_is_the_service_with_its_source() {
    let dir = tempfile::tempdir().unwrap();
    let target = tool(catalog(dir.path())).resolve(&args(json!({"service": "checkout"})), NOW).unwrap();
    assert_eq!((target.kind, target.name.as_str(), target.source.as_str()), (TargetKind::Service, "checkout", "files"));
    assert_eq!(target.environment.unwrap().as_str(), "production");
}

#[test]
fn arguments_that_make_no_sense_are_told_with_what_would_do() {
    let dir = tempfile::tempdir().unwrap();
    let tool = tool(catalog(dir.path()));
    let cases = [
        json!({"service": "checkout", "since": "2026-12-30T00:00:00Z"}),
        json!({"service": "checkout", "since": "2026-11-30T11:00:00Z", "until": "2026-11-30T10:00:00Z"}),
        json!({"service": "checkout", "since": "2026-09-01T00:00:00Z"}),
        json!({"service": "silent"}),
        json!({"service": "checkouts"}),
        json!({"service": "checkout", "pattern": "(a"}),
        json!({"service": "checkout", "pattern": "a\\nb", "cursor": "k3f"}),
    ];
    let told: Vec<String> = cases.into_iter().flat_map(|case| problems(&tool, case)).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    /since `2026-12-30T00:00:00.000Z` is in the future; it is 2026-11-30T11:20:00.000Z now: name a time before that
    /since `since` (2026-11-30T11:00:00.000Z) must be before `until` (2026-11-30T10:00:00.000Z); leave `until` out for now
    /since a window of at most 31 days can be read; name a later `since` or an `until`
    /service no log files are configured for `silent` (`logs` of the service); services that have some: checkout
    /service there is no service `checkouts`; `list_services` lists them
    /pattern regex parse error:
        (?:(a)
        ^
    error: unclosed group; patterns match within one line, in the syntax of Rust's regex: no look-around, no back-references
    /pattern the literal "\n" is not allowed in a regex; patterns match within one line, in the syntax of Rust's regex: no look-around, no back-references
    /cursor not a cursor of this tool; use the one a hint names, or leave it out
    "#);
}

#[test]
fn ql_06_a_pattern_that_would_explode_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let told = problems(&tool(catalog(dir.path())), json!({"service": "checkout", "pattern": "(?:a{0,1000}){0,1000}"}));
    assert!(told[0].starts_with("/pattern") && told[0].contains("size limit"), "{told:?}");
}

#[tokio::test]
async fn a_service_whose_files_are_not_there_says_where_they_were_looked_for() {
    let dir = tempfile::tempdir().unwrap();
    let error = read(&tool(catalog(dir.path())), json!({"service": "checkout"})).await.unwrap_err();
    let ReadError::Backend { reason, message, retryable } = error else { panic!("{error:?}") };
    assert_eq!((reason, retryable), ("NO_LOG_FILES", false));
    assert!(message.contains(&format!("`{}/checkout/app.log`", dir.path().display())), "{message}");
}

#[tokio::test]
async fn what_could_not_be_read_stands_beside_what_could() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "app.log", "1796036400 ERROR one\n");
    write(dir.path(), "app.log.1.gz", "no gzip");
    let output = read(&tool(catalog(dir.path())), json!({"service": "checkout", "pattern": "one"})).await.unwrap();
    assert_eq!(lines(&output).len(), 1);
    assert!(output.left_out.unwrap().contains("`checkout/app.log.1.gz` was not read"));
}

proptest! {
    #[test]
    fn no_line_of_a_level_escapes_the_pattern_that_looks_for_it(
        line in "(1796036400 |\\[|<[0-9]{1,3}>|2026/11/30 11:05:18 |\\{\"level\":\"?|level=|[EWIF]1130 11:00:04 )?(\\[?(error|WARN|Fatal|crit|50|40|3|panic|EMERG|wrn|info|SEVERE)[\\]:\",} ]{0,2})?[ a-zA-Z0-9\":]{0,40}(\" [45]03 1)?\\}?"
    ) {
        use grep_matcher::Matcher;
        let found = parse(line.as_bytes()).level;
        if matches!(found, Level::Error | Level::Warn) {
            let matcher = matcher(&args(json!({})), Some(found)).unwrap().unwrap();
            prop_assert!(matcher.is_match(line.as_bytes()).unwrap(), "{found:?} {line}");
        }
    }
}

#[tokio::test]
async fn ql_02_a_pattern_is_one_pattern_whatever_stands_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let line = |n: i64, text: &str| format!("{} {text}", 1_796_036_400 + n);
    let long = format!("{}b", "a".repeat(50_000));
    write(
        dir.path(),
        "app.log",
        text([line(0, r#"said "no" `x` | level=error {app="y"}"#), line(1, "plain"), line(2, &long)]),
    );
    let tool = tool(catalog(dir.path()));
    let search = async |pattern: &str| {
        let output = read(&tool, json!({ "service": "checkout", "pattern": pattern, "since": "2026-11-30T00:00:00Z" }))
            .await
            .unwrap();
        output.matched.unwrap()
    };
    // Quotes, backticks and pipes of other languages end nothing here.
    for literal in ["\"no\"", "`x`", "\\| level=error", "\\{app=\"y\"\\}"] {
        assert_eq!(search(literal).await, 1, "{literal}");
    }
    // What explodes for a reader that goes back is linear here.
    assert_eq!(search("(a+)+$").await, 0);
    assert_eq!(search("(a|a)*b$").await, 1);
}

#[tokio::test]
async fn ql_04_a_search_without_a_bound_gets_one_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "app.log", text((0..3_000).map(|n| format!("{} line {n}", 1_796_036_400 + n / 10))));
    let tool = tool(catalog(dir.path()));
    // Neither window, nor pattern, nor limit: an hour, and the newest of what is there.
    let output = read(&tool, json!({ "service": "checkout" })).await.unwrap();
    assert!(lines(&output).len() <= 200 && output.matched == Some(3_000), "{:?}", output.matched);
    assert!(output.left_out.is_some());
    let told = problems(&tool, json!({ "service": "checkout", "since": "2026-01-01T00:00:00Z" }));
    assert!(told[0].contains("31 days"), "{told:?}");
}
