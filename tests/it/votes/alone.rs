//! Where no process decides on writes, the command does: it takes the lease, acts, and lets go.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use warrant::app::App;
use warrant::app::fault::Fault;
use warrant::app::sequencer::hold::Hold;
use warrant::chat::terminal::approver::Attended;
use warrant::config::Config;
use warrant_kernel::db::lease::LeaseError;
use warrant_kernel::ledger::error::LedgerError;

/// A config in which the user of this process is ben, on call.
fn app(dir: &Path) -> App {
    let uid = rustix::process::getuid().as_raw();
    let text = format!(
        "[store]\npath = \"{}\"\n[people.ben]\ngroups = [\"oncall\"]\nuids = [{uid}]\n",
        dir.join("store.db").display()
    );
    let path = dir.join("warrant.toml");
    std::fs::write(&path, text).unwrap();
    App::open(Config::load(&path).unwrap(), &|_| None, Some("runbook")).unwrap()
}

async fn warrant(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_warrant"));
    command.args(args).env("WARRANT_CONFIG", dir.join("warrant.toml")).env("NO_COLOR", "1").kill_on_drop(true);
    command.env_remove("WARRANT_LOG").env_remove("WARRANT_TOKEN").stdin(Stdio::null());
    let output = command.output().await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[tokio::test]
async fn a_second_sequencer_is_refused_and_its_commands_are_answered_by_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let app = app(dir.path());
    let first = Hold::take(&app, Attended::default()).await.unwrap();
    let second = Hold::take(&app, Attended::default()).await;
    assert!(matches!(second, Err(Fault::Ledger(LedgerError::Lease(LeaseError::Held { .. })))));
    let (code, out, err) = warrant(dir.path(), &["stop-writes", "two restarts too many"]).await;
    assert_eq!(code, 0, "{out}{err}");
    let stopped = first.sequencer().stopped().await.unwrap().unwrap();
    assert_eq!((stopped.by.as_str(), stopped.reason.as_str()), ("ben", "two restarts too many"));
    first.end().await;
    assert!(!dir.path().join("store.db.sock").exists());
    // What was said outlives the process that took it down.
    let (code, out, err) = warrant(dir.path(), &["approvals", "list"]).await;
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("by ben: two restarts too many"), "{out}");
    let (code, out, err) = warrant(dir.path(), &["stop-writes", "--lift", "it was the load balancer"]).await;
    assert_eq!(code, 0, "{out}{err}");
    let (_, out, _) = warrant(dir.path(), &["approvals", "list"]).await;
    assert!(out.starts_with("No write was ever asked for."), "{out}");
    // Both stand in the ledger, which proves itself.
    let (_, out, _) = warrant(dir.path(), &["audit", "list", "--all", "--json"]).await;
    let kinds: Vec<Value> =
        out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].clone()).collect();
    assert!(kinds.contains(&"writes_stopped".into()) && kinds.contains(&"writes_allowed".into()), "{kinds:?}");
    assert_eq!(warrant(dir.path(), &["audit", "verify"]).await.0, 0);
}

#[tokio::test]
async fn what_is_not_there_is_told_with_a_code_and_an_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    app(dir.path());
    for args in [
        vec!["approvals", "show", "A7"],
        vec!["approvals", "deny", "A7", "because it is so"],
        vec!["audit", "resolve", "A7", "not-done", "because it is so"],
    ] {
        let (code, out, err) = warrant(dir.path(), &args).await;
        assert_eq!((code, out.as_str()), (1, ""), "{args:?}: {err}");
        assert!(err.contains("there is no approval A7") && err.contains("(NO_SUCH_APPROVAL)"), "{args:?}: {err}");
    }
    for args in [vec!["approvals", "show", "7"], vec!["stop-writes", "--lift"], vec!["approvals", "deny", "A7"]] {
        assert_eq!(warrant(dir.path(), &args).await.0, 2, "{args:?}");
    }
}
