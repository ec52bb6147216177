//! Commands as the program runs them: through all stages, and confined by its own launcher.

#![expect(clippy::indexing_slicing, clippy::panic, reason = "helpers of tests fail the test")]

mod sandbox;

mod trees;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use warrant_toolbox::tools::process::sandbox::order::{Grant, Order, Processes, Right, Task};
use warrant_toolbox::tools::process::sandbox::{Sandbox, needs};

/// The program under test, which is its own launcher.
const WARRANT: &str = env!("CARGO_BIN_EXE_warrant");

/// A workspace of which something is protected, and a config beside it.
struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new(commands: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let shop = dir.path().join("shop");
        std::fs::create_dir_all(shop.join("conf/.git")).unwrap();
        std::fs::create_dir_all(shop.join("logs")).unwrap();
        let files = [
            ("app.log", "one ERROR\ntwo\n"),
            (".env", "TOKEN=hidden-marker\n"),
            ("conf/app.toml", "pool = 5\n"),
            ("conf/server.key", "hidden-marker\n"),
            ("conf/.git/config", "hidden-marker\n"),
            ("logs/a.log", "pool is empty\n"),
        ];
        for (name, text) in files {
            std::fs::write(shop.join(name), text).unwrap();
        }
        std::fs::write(dir.path().join("outside.txt"), "hidden-marker\n").unwrap();
        std::os::unix::fs::symlink(dir.path().join("outside.txt"), shop.join("link.txt")).unwrap();
        std::fs::create_dir(dir.path().join("tools")).unwrap();
        let at = dir.path().display();
        let config = format!(
            "store.path = \"{at}/warrant.db\"\ntools.dirs = [\"{at}/tools\"]\n[workspaces.shop]\ndir = \"{at}/shop\"\n{commands}"
        );
        std::fs::write(dir.path().join("warrant.toml"), config).unwrap();
        Self { dir }
    }

    fn allowed() -> Self {
        Self::new("[commands]\nallow_readonly_shell = true\n")
    }

    fn shop(&self) -> PathBuf {
        self.dir.path().join("shop")
    }

    fn warrant(&self) -> Command {
        let mut command = Command::new(WARRANT);
        command.arg("--config").arg(self.dir.path().join("warrant.toml"));
        command
    }

    fn call_as(&self, role: &str, tool: &str, args: &Value) -> Value {
        let ran =
            self.warrant().args(["tools", "call", tool, "--role", role, "--args", &args.to_string()]).output().unwrap();
        serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ran.stderr)))
    }

    fn run(&self, argv: &[&str]) -> Value {
        self.call_as("general-purpose", "run_command", &json!({ "argv": argv }))
    }
}

fn reason(result: &Value) -> &str {
    result["error"]["reason"].as_str().unwrap_or_else(|| panic!("{result:#}"))
}

/// An order for a program of the system with these grants more.
fn order(program: &str, args: &[&str], more: &[(&Path, Right)]) -> Order {
    let task = Task::Run {
        program: PathBuf::from(program),
        name: program.rsplit('/').next().unwrap().to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: vec![("ONLY".to_owned(), "this".to_owned())],
    };
    let mut order = Order::of(task, PathBuf::from("/"));
    order.grants = needs::of(Path::new(program)).unwrap();
    order.grants.extend(more.iter().map(|(path, right)| Grant { path: path.to_path_buf(), right: *right }));
    order
}

/// Python without its own environment; it may have children where `processes` says so.
fn python(script: &str, args: &[&str], processes: Processes) -> Order {
    let python = std::fs::canonicalize("/usr/bin/python3").unwrap();
    let all: Vec<&str> = ["-I", "-S", "-B", "-c", script].into_iter().chain(args.iter().copied()).collect();
    let mut order = order(python.to_str().unwrap(), &all, &[]);
    order.processes = processes;
    order
}

fn sandbox() -> Sandbox {
    Sandbox::tried_with(PathBuf::from(WARRANT)).unwrap()
}

#[test]
fn what_is_allowed_is_run_and_shown() {
    let world = World::allowed();
    let result = world.run(&["grep", "-n", "ERROR", "app.log"]);
    assert_eq!(result["data"]["lines"], json!(["1:one ERROR"]), "{result:#}");
    assert_eq!((&result["data"]["exit"], &result["meta"]["origin"]), (&json!(0), &json!("command")));
    assert_eq!(result["data"]["argv"], json!(["grep", "--color=never", "-n", "--", "ERROR", "app.log"]));
    let none = world.run(&["grep", "nothing", "app.log"]);
    assert_eq!((&none["status"], &none["data"]["exit"], &none["data"]["lines"]), (&json!("ok"), &json!(1), &json!([])));
    let beneath = world.call_as("general-purpose", "run_command", &json!({ "argv": ["ls"], "path": "conf" }));
    assert_eq!(beneath["data"]["lines"], json!(["app.toml", "server.key"]), "{beneath:#}");
    for argv in [
        &["ps", "aux"][..],
        &["free", "-m"],
        &["df", "-h"],
        &["uptime"],
        &["id"],
        &["ip", "-br", "addr"],
        &["ss", "-tln"],
        &["date"],
    ] {
        let result = world.run(argv);
        assert_eq!(
            (&result["data"]["exit"], &result["data"]["stderr"]),
            (&json!(0), &Value::Null),
            "{argv:?}: {result:#}"
        );
        assert!(!result["data"]["lines"].as_array().unwrap().is_empty(), "{argv:?}: {result:#}");
    }
}

/// Nothing that is protected comes out, whatever goes through it, and the program is told.
#[test]
fn what_is_protected_is_not_read_by_any_program() {
    let world = World::allowed();
    for argv in [
        &["cat", ".env"][..],
        &["head", "conf/server.key"],
        &["grep", "x", "conf/.git/config"],
        &["diff", "app.log", ".env"],
        &["ls", "conf/.git"],
    ] {
        assert_eq!(reason(&world.run(argv)), "PROTECTED_FILE", "{argv:?}");
    }
    for argv in [&["cat", "link.txt"][..], &["stat", "link.txt"], &["sha256sum", "link.txt"]] {
        assert_eq!(reason(&world.run(argv)), "OUTSIDE_WORKSPACE", "{argv:?}");
    }
    for argv in [
        &["grep", "-rn", "marker\\|pool", "."][..],
        &["grep", "-Rn", "marker\\|pool", "."],
        &["rg", "-uu", "--hidden", "marker|pool"],
        &["rg", "-L", "-uu", "--hidden", "marker|pool", "."],
    ] {
        let result = world.run(argv);
        let shown = result.to_string();
        assert!(shown.contains("pool = 5") && shown.contains("pool is empty"), "{argv:?}: {result:#}");
        assert!(!shown.contains("hidden-marker"), "{argv:?}: {result:#}");
    }
    let told = world.run(&["grep", "-r", "marker", "."]);
    assert!(told["data"]["stderr"].as_str().unwrap().contains(".env: Permission denied"), "{told:#}");
}

#[test]
fn a_refusal_says_why_and_what_would_do_and_changes_nothing() {
    let world = World::allowed();
    let cases: [(&[&str], &str); 12] = [
        (&["find", ".", "-delete"], "FLAG_NOT_ALLOWED"),
        (&["find", ".", "-exec", "touch", "pwn", ";"], "FLAG_NOT_ALLOWED"),
        (&["sort", "-o", "pwn", "app.log"], "FLAG_NOT_ALLOWED"),
        (&["sed", "-n", "w pwn", "app.log"], "VALUE_INVALID"),
        (&["sed", "-i", "s/o/0/", "app.log"], "FLAG_NOT_ALLOWED"),
        (&["ls\ntouch pwn"], "CONTROL_CHAR"),
        (&["ls", ">", "pwn"], "OPERATOR"),
        (&["touch", "pwn"], "PROGRAM_NOT_ALLOWED"),
        (&["sh", "-c", "touch pwn"], "PROGRAM_NOT_ALLOWED"),
        (&["cat", "/etc/shadow"], "PATH_OUTSIDE_WORKSPACE"),
        (&["cat", "nothing.log"], "NOT_FOUND"),
        (&["grep", "pool", "conf"], "OPERAND_NOT_ALLOWED"),
    ];
    for (argv, wanted) in cases {
        let result = world.run(argv);
        assert_eq!((&result["status"], reason(&result)), (&json!("error"), wanted), "{argv:?}: {result:#}");
    }
    assert!(!world.shop().join("pwn").exists());
    assert_eq!(std::fs::read_to_string(world.shop().join("app.log")).unwrap(), "one ERROR\ntwo\n");
    let told = world.run(&["tail", "-f", "app.log"]);
    assert!(told["error"]["message"].as_str().unwrap().contains("use `search_logs`"), "{told:#}");
}

#[test]
fn sh_29_what_the_workspace_calls_ls_is_not_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::allowed();
    let own = world.shop().join("ls");
    std::fs::write(&own, "#!/bin/sh\necho own\n").unwrap();
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:.", world.shop().display());
    let ran = world
        .warrant()
        .args(["tools", "call", "run_command", "--args", r#"{"argv": ["ls", "conf"]}"#])
        .env("PATH", path)
        .current_dir(world.shop())
        .output()
        .unwrap();
    let result: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(result["data"]["lines"], json!(["app.toml", "server.key"]), "{result:#}");
}

#[test]
fn sh_13_no_config_of_a_program_is_read() {
    let world = World::allowed();
    let config = world.dir.path().join("ripgreprc");
    std::fs::write(&config, "--pre=/usr/bin/touch\n--files-with-matches\n").unwrap();
    let ran = world
        .warrant()
        .args(["tools", "call", "run_command", "--args", r#"{"argv": ["rg", "pool", "logs/a.log"]}"#])
        .env("RIPGREP_CONFIG_PATH", &config)
        .output()
        .unwrap();
    let result: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(result["data"]["lines"], json!(["pool is empty"]), "{result:#}");
}

#[test]
fn commands_are_for_those_whom_config_and_policy_let() {
    let world = World::allowed();
    let explore = world.call_as("explore", "run_command", &json!({ "argv": ["ls"] }));
    assert_eq!(explore["error"]["code"], "UNKNOWN_TOOL", "{explore:#}");
    let off = World::new("");
    let ran = off.warrant().args(["tools", "call", "run_command", "--args", r#"{"argv": ["ls"]}"#]).output().unwrap();
    let result: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(result["error"]["code"], "UNKNOWN_TOOL", "{result:#}");
    let listed = off.warrant().args(["tools", "list"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&listed.stdout).contains("run_command"));
    let says = |world: &World| {
        let ran = world.warrant().args(["check", "--json"]).output().unwrap();
        let lines = String::from_utf8_lossy(&ran.stdout).into_owned();
        lines.lines().find(|line| line.contains("\"commands\"")).map(str::to_owned)
    };
    assert!(says(&world).unwrap().contains("the sandbox holds"));
    assert_eq!(says(&off), None);
}

#[test]
fn an_operator_adds_a_command_with_typed_places() {
    let world = World::allowed();
    let text = |name: &str, argv: &str, more: &str| {
        format!(
            "name = \"{name}\"\nversion = 1\ndescription = \"x\"\nrisk = \"shell\"\nroles = [\"general-purpose\"]\n\
             parallel_safe = true\ntimeout = \"20s\"\noutput = {{ max_chars = 4000, keep = \"full\" }}\n\
             target = {{ kind = \"path\", arg = \"file\" }}\nrun.command.argv = {argv}\n\
             [args.file]\ntype = \"path\"\nrequired = true\ndescription = \"x\"\n{more}"
        )
    };
    let tools = world.dir.path().join("tools");
    let count = "[args.count]\ntype = \"int\"\nmin = 1\nmax = 9\ndescription = \"x\"\n";
    std::fs::write(tools.join("first.toml"), text("first_lines", r#"["head", "--lines={count}", "{file}"]"#, count))
        .unwrap();
    std::fs::write(tools.join("own.toml"), text("sum_of", r#"["/usr/bin/sha1sum", "--", "{file}"]"#, "")).unwrap();
    let call = |tool: &str, args: Value| world.call_as("general-purpose", tool, &args);
    let first = call("first_lines", json!({ "file": "app.log", "count": 1 }));
    assert_eq!(first["data"]["lines"], json!(["one ERROR"]), "{first:#}");
    let all = call("first_lines", json!({ "file": "app.log" }));
    assert_eq!(all["data"]["lines"], json!(["one ERROR", "two"]), "{all:#}");
    let sum = call("sum_of", json!({ "file": "logs/a.log" }));
    assert!(sum["data"]["lines"][0].as_str().unwrap().ends_with("  logs/a.log"), "{sum:#}");
    assert_eq!(reason(&call("sum_of", json!({ "file": ".env" }))), "PROTECTED_FILE");
    for hostile in ["--check", "-c", "../outside.txt", "/etc/passwd", "app.log\nx"] {
        let refused = call("sum_of", json!({ "file": hostile }));
        assert_eq!(refused["error"]["code"], "INVALID_ARGUMENTS", "{hostile}: {refused:#}");
    }
    assert_eq!(call("sum_of", json!({ "file": "app.log; touch pwn" }))["status"], "error");
}
