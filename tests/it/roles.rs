//! Roles of the config: they see the tools that they name, under a policy that lets them, and nothing else.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn warrant(config: &str, arguments: &[&str]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("warrant.toml");
    let store = directory.path().join("trace.db");
    std::fs::write(&path, format!("{config}\n[store]\npath = '{}'\n", store.display())).unwrap();
    run(&path, arguments)
}

fn run(config: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_warrant");
    Command::new(program).arg("--config").arg(config).args(arguments).output().unwrap()
}

const TRIAGE: &str = "[roles.triage]\ntools = [\"search_files\"]\n";

#[test]
fn a_role_sees_its_own_tools_and_no_others() {
    let seen = warrant(TRIAGE, &["tools", "call", "search_files", "--role", "triage", "--args", r#"{"pattern": "x"}"#]);
    let result: Value = serde_json::from_slice(&seen.stdout).unwrap();
    assert_ne!(result["error"]["code"], "UNKNOWN_TOOL", "{result}");
    let unseen = warrant(TRIAGE, &["tools", "call", "list_services", "--role", "triage"]);
    let result: Value = serde_json::from_slice(&unseen.stdout).unwrap();
    assert_eq!(result["error"]["code"], "UNKNOWN_TOOL", "{result}");
    assert_eq!(result["meta"]["trace_reason"], "NOT_IN_ROLE", "{result}");
}

#[test]
fn the_config_is_the_policy_that_lets_it_read() {
    let arguments =
        ["policy", "explain", "search_files", "--role", "triage", "--args", r#"{"pattern": "x"}"#, "--json"];
    let config = format!("{TRIAGE}[workspaces.etc]\ndir = \"/etc\"\n");
    let explained: Value = serde_json::from_slice(&warrant(&config, &arguments).stdout).unwrap();
    assert_eq!(explained["policy_ids"], serde_json::json!(["roles-of-the-config"]), "{explained}");
}

#[test]
fn an_investigation_of_a_role_without_the_tools_of_the_sweep_ends() {
    let ended = warrant(TRIAGE, &["ask", "is anything wrong?", "--role", "triage", "--model", "runbook", "--json"]);
    let report: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(report["report"]["outcome"], "inconclusive", "{report}");
    assert_eq!(ended.status.code(), Some(3));
}

#[test]
fn a_role_that_is_built_in_or_names_no_tool_there_is_stops_the_start() {
    for (config, told) in [
        ("[roles.explore]\ntools = [\"read_file\"]\n", "`explore` is built in"),
        ("[roles.triage]\ntools = []\n", "`tools` is empty"),
        ("[roles.triage]\ntools = [\"search_file\"]\n", "there is no tool `search_file`"),
    ] {
        let refused = warrant(config, &["tools", "list"]);
        let text = String::from_utf8(refused.stderr).unwrap();
        assert!(text.contains(told), "{text}");
        assert_eq!(refused.status.code(), Some(2));
    }
}
