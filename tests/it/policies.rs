//! Policy at the command line: files as their service, what persons may do, and cases of the operator's that must hold.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

fn warrant(dir: &Path, arguments: &[&str]) -> Output {
    let config = dir.join("warrant.toml");
    Command::new(env!("CARGO_BIN_EXE_warrant")).arg("--config").arg(config).args(arguments).output().unwrap()
}

fn read(dir: &Path, arguments: &[&str]) -> Value {
    let ran = warrant(dir, arguments);
    let read = serde_json::from_slice(&ran.stdout);
    assert!(read.is_ok(), "{}", String::from_utf8_lossy(&ran.stderr));
    read.unwrap()
}

/// A restricted service with a file, and policies of the operator's with these cases.
fn site(cases: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    for directory in ["books/ledger", "policies"] {
        std::fs::create_dir_all(at.join(directory)).unwrap();
    }
    std::fs::write(at.join("books/ledger/q1.csv"), "amount\n12\n").unwrap();
    std::fs::write(at.join("books/readme"), "open\n").unwrap();
    std::fs::write(at.join("policies/tests.toml"), cases).unwrap();
    let shown = at.display();
    let config = format!(
        "store.path = \"{shown}/warrant.db\"\npolicies.dirs = [\"{shown}/policies\"]\n\
         [writes]\nallow = true\n\
         [workspaces.books]\ndir = \"{shown}/books\"\n\
         [services.ledger]\nenvironment = \"restricted\"\nowner = \"ann\"\n\
         files = [{{ workspace = \"books\", path = \"ledger\" }}]\n"
    );
    std::fs::write(at.join("warrant.toml"), config).unwrap();
    dir
}

#[test]
fn a_file_of_a_restricted_service_is_restricted() {
    let site = site("");
    let call = |path: &str| {
        let args = json!({ "path": path }).to_string();
        read(site.path(), &["tools", "call", "read_file", "--args", &args])
    };
    assert_eq!(call("readme")["status"], "ok");
    let denied = call("ledger/q1.csv");
    assert_eq!(denied["error"]["code"], "POLICY_DENIED", "{denied}");
    assert!(!denied.to_string().contains("amount"), "{denied}");
    let searched = read(site.path(), &["tools", "call", "search_files", "--args", r#"{"pattern": "amount"}"#]);
    assert_eq!(searched["error"]["code"], "POLICY_DENIED", "{searched}");
    let args = r#"{"path": "ledger/q1.csv"}"#;
    let owner = ["policy", "explain", "read_file", "--args", args, "--person", "ann", "--json"];
    assert_eq!(read(site.path(), &owner)["action"], "allow");
}

#[test]
fn what_a_person_may_do_is_explained() {
    let site = site("");
    let explain = |more: &[&str]| {
        let arguments: Vec<&str> = ["policy", "explain"].iter().chain(more).chain(&["--json"]).copied().collect();
        let told = read(site.path(), &arguments);
        (told["action"].as_str().unwrap().to_owned(), told["policy_ids"].clone())
    };
    let about = ["--tool", "read_file", "--args", r#"{"path": "ledger/q1.csv"}"#];
    let of = |verb: &str, more: &[&str]| {
        let all: Vec<&str> = std::iter::once(verb).chain(about).chain(more.iter().copied()).collect();
        explain(&all)
    };
    assert_eq!(of("approve", &["--person", "ann"]), ("allow".to_owned(), json!(["oncall-and-owners-approve"])));
    assert_eq!(
        of("approve", &["--person", "ann", "--contributor"]),
        ("deny".to_owned(), json!(["no-contributor-at-high"]))
    );
    assert_eq!(
        of("break_glass", &["--person", "bob", "--group", "breakglass"]),
        ("deny".to_owned(), json!(["no-broken-glass-in-restricted"]))
    );
    assert_eq!(explain(&["stop_writes", "--person", "eve"]).0, "allow");
    assert_eq!(explain(&["lift_stop", "--person", "eve"]), ("deny".to_owned(), json!(["default-deny"])));
    let unsaid = warrant(site.path(), &["policy", "explain", "approve", "--person", "ann"]);
    assert_eq!(unsaid.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unsaid.stderr).contains("name it with --tool"));
}

#[test]
fn a_case_of_the_operators_that_does_not_hold_stops_the_start() {
    let case = "[[case]]\nname = \"nobody restarts\"\nrole = \"general-purpose\"\nallow_writes = true\n\
                tool = \"restart_service\"\ntarget = { kind = \"service\", name = \"ledger\" }\nexpect = \"deny\"\n";
    let site = site(case);
    let stopped = warrant(site.path(), &["tools", "list"]);
    assert_eq!(stopped.status.code(), Some(2));
    let told = String::from_utf8(stopped.stderr).unwrap();
    assert!(told.contains("tests.toml:1: case `nobody restarts`: expected deny, and it is ask-high"), "{told}");
    let forbid = "@id(\"no-restarts\") forbid (principal, action == Action::\"restart_service\", resource);";
    std::fs::write(site.path().join("policies/own.cedar"), forbid).unwrap();
    assert!(warrant(site.path(), &["tools", "list"]).status.success());
    let checked = read(site.path(), &["policy", "check", "--json"]);
    assert_eq!(checked["problems"], json!([]), "the shipped cases are held to the shipped policies: {checked}");
}

#[test]
fn check_says_that_nobody_could_approve() {
    let site = site("");
    let told = String::from_utf8(warrant(site.path(), &["check"]).stdout).unwrap();
    assert!(told.contains("nobody is in the group `oncall`"), "{told}");
}
