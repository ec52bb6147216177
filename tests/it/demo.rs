//! `warrant demo`, the built binary, once for each fault; the seeds are few because the shop is real.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test; Clippy's leave for tests ends at the test functions"
)]

use serde_json::Value;
use tokio::sync::Semaphore;

/// More than two shops at once are too many for two processors.
static TURNS: Semaphore = Semaphore::const_new(2);

async fn demo(args: &[&str], codes: &[i32]) -> Value {
    let _turn = TURNS.acquire().await.unwrap();
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_warrant"));
    let run = command.args(["demo", "--json"]).args(args).kill_on_drop(true).output().await.unwrap();
    let stderr = String::from_utf8_lossy(&run.stderr);
    let code = run.status.code().unwrap();
    let printed: Value = serde_json::from_slice(&run.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    assert!(codes.contains(&code), "exit code {code}: {printed:#}");
    assert_eq!(printed.as_object().unwrap().keys().collect::<Vec<_>>(), ["injected", "report"]);
    let injected = printed["injected"].as_object().unwrap();
    let keys: Vec<_> = injected.keys().map(String::as_str).collect();
    assert_eq!(keys, ["fault", "service", "file", "key", "line", "onset", "decoy"]);
    printed
}

/// The text of a field, and of a field that is absent, nothing.
fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[tokio::test]
async fn pool_names_file_line_and_key_and_not_the_decoy() {
    let shown = demo(&["--fault", "pool", "--seed", "3"], &[0]).await;
    let cause = text(&shown, "/report/root_cause");
    assert_eq!(text(&shown, "/injected/fault"), "pool");
    let line = shown["injected"]["line"].as_u64().unwrap();
    assert!(cause.contains(&format!("{} line {line} ", text(&shown, "/injected/file"))), "{shown:#}");
    assert!(
        cause.contains(text(&shown, "/injected/key")) && cause.contains(text(&shown, "/injected/service")),
        "{cause}"
    );
    let decoy = text(&shown, "/injected/decoy/key");
    assert!(!decoy.is_empty() && !cause.contains(decoy), "{cause}");
    assert!(matches!(text(&shown, "/report/outcome"), "confirmed" | "likely"));
}

#[tokio::test]
async fn other_faults_are_named_by_service_and_mechanism() {
    for (fault, words) in [
        ("upstream", &["slow", "latency", "timeout", "upstream", "processor"][..]),
        ("disk", &["disk", "quota", "space", "full"][..]),
        ("certificate", &["certificate"][..]),
    ] {
        let shown = demo(&["--fault", fault, "--seed", "3"], &[0]).await;
        let cause = text(&shown, "/report/root_cause").to_lowercase();
        assert!(cause.contains(text(&shown, "/injected/service")), "{fault}: {shown:#}");
        assert!(words.iter().any(|word| cause.contains(word)), "{fault}: {cause}");
        for key in ["file", "key", "line"] {
            assert!(shown["injected"][key].is_null(), "no config changed by {fault}");
        }
    }
}

#[tokio::test]
async fn where_nothing_broke_no_fault_is_found() {
    let shown = demo(&["--fault", "none", "--seed", "3"], &[0]).await;
    assert_eq!(text(&shown, "/report/outcome"), "no_fault", "{shown:#}");
    assert!(shown["report"]["root_cause"].is_null());
}

#[tokio::test]
async fn without_the_decisive_source_it_is_inconclusive_and_says_what_it_lacks() {
    let shown = demo(&["--fault", "pool", "--seed", "3", "--without", "changes"], &[3]).await;
    assert_eq!(text(&shown, "/report/outcome"), "inconclusive", "{shown:#}");
    assert!(shown["report"]["root_cause"].is_null());
    let not_seen = shown["report"]["not_seen"].as_array().unwrap();
    assert!(not_seen.iter().any(|line| line.as_str().unwrap().contains("recent_changes")), "{not_seen:?}");
}

/// Outcome, tool and who decided, of each write.
fn writes(shown: &Value) -> Vec<String> {
    let writes = shown["report"]["writes"].as_array().unwrap();
    let by = |written: &Value| {
        let by = written["decided_by"].as_array().unwrap().iter().map(|by| by.as_str().unwrap());
        by.collect::<Vec<_>>().join("+")
    };
    writes.iter().map(|it| format!("{} {} {}", text(it, "/outcome"), text(it, "/tool"), by(it))).collect()
}

#[tokio::test]
async fn approved_the_fix_is_made_the_service_restarted_and_the_shop_well_again() {
    let shown = demo(&["--fault", "pool", "--seed", "3", "--approve", "all"], &[0]).await;
    assert_eq!(writes(&shown), ["done edit_config ann", "done restart_service ben"], "{shown:#}");
    for written in shown["report"]["writes"].as_array().unwrap() {
        assert_eq!(written["verified"]["held"], true, "{written:#}");
        assert!(written["proof"]["intent"].is_u64() && written["proof"]["checkpoint"].is_string(), "{written:#}");
    }
    assert!(text(&shown, "/report/summary").contains("What had shown the trouble no longer does."), "{shown:#}");
    let cause = text(&shown, "/report/root_cause");
    assert!(cause.contains(text(&shown, "/injected/key")), "{cause}");
}

#[tokio::test]
async fn with_the_restart_denied_it_takes_the_lesser_step_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let answers = dir.path().join("answers");
    std::fs::write(&answers, "approve\ndeny no restart during checkout peak\n").unwrap();
    let file = answers.display().to_string();
    let shown = demo(&["--fault", "pool", "--seed", "4", "--answers", &file], &[3]).await;
    let expected = [
        "done edit_config ann",
        "denied restart_service ben",
        "done edit_temp_config low-for-temporary-config+writes-by-role",
    ];
    assert_eq!(writes(&shown), expected, "{shown:#}");
    assert!(text(&shown, "/report/writes/1/reason").contains("no restart during checkout peak"), "{shown:#}");
    assert!(text(&shown, "/report/summary").contains("What had shown the trouble no longer does."), "{shown:#}");
}

#[tokio::test]
async fn with_nobody_there_the_fix_waits_and_the_report_says_how_it_is_decided() {
    let _turn = TURNS.acquire().await.unwrap();
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_warrant"));
    let run = command.args(["demo", "--seed", "3"]).stdin(std::process::Stdio::null()).kill_on_drop(true);
    let run = run.output().await.unwrap();
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert_eq!(run.status.code(), Some(3), "{out}{err}");
    assert!(out.contains("Changes\n  pending"), "{out}");
    assert!(out.contains("A1, medium: waits for people; `warrant approvals show A1`"), "{out}");
    assert!(err.contains("A1 waits for a person"), "{err}");
}
