//! What operators install, looked at by the programs that will read it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

const WARRANT: &str = env!("CARGO_BIN_EXE_warrant");

/// Exposure, in tenths, that no unit may be over.
const EXPOSURE: u8 = 15;

fn deploy(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(name)
}

/// What it said; none, and a line that says so, where it is not installed.
fn run(test: &str, command: &mut Command) -> Option<Output> {
    let program = command.get_program().to_string_lossy().into_owned();
    if let Ok(output) = command.stdin(Stdio::null()).output() {
        Some(output)
    } else {
        // Not `eprintln`: the harness would keep it to itself.
        let mut uncaptured = std::io::stderr();
        writeln!(uncaptured, "\nSKIPPED {test}: {program} is not installed").unwrap();
        None
    }
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The unit with some of its drop-ins, starting the program under test.
fn unit(drop_ins: &[&str]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let unit = dir.path().join("warrant.service");
    let text = fs::read_to_string(deploy("warrant.service")).unwrap();
    assert!(text.contains("ExecStart=/usr/local/bin/warrant serve "));
    fs::write(&unit, text.replace("/usr/local/bin/warrant", WARRANT)).unwrap();
    let beside = dir.path().join("warrant.service.d");
    fs::create_dir(&beside).unwrap();
    for name in drop_ins {
        let name = format!("{name}.conf");
        fs::copy(deploy("drop-ins").join(&name), beside.join(&name)).unwrap();
    }
    (dir, unit)
}

#[test]
fn the_unit_is_tight_with_every_drop_in_that_writing_needs() {
    let mut shipped: Vec<String> = fs::read_dir(deploy("drop-ins"))
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    shipped.sort();
    assert_eq!(shipped, ["commands", "edits", "network", "owners", "restarts"], "each stands in a row below");
    let sets: [&[&str]; 7] = [
        &[],
        &["edits"],
        &["restarts"],
        &["commands"],
        &["network"],
        &["commands", "edits", "restarts"],
        // The right to give files away is weighed by itself: docs/OPERATING.md says what to do rather.
        &["owners", "network"],
    ];
    for set in sets {
        let (_dir, unit) = unit(set);
        let mut security = Command::new("systemd-analyze");
        security.args(["security", "--offline=true", &format!("--threshold={EXPOSURE}")]).arg(&unit);
        let Some(output) = run("the_unit_is_tight", &mut security) else { return };
        assert!(output.status.success(), "{set:?}: {}", said(&output));
        let mut verify = Command::new("systemd-analyze");
        let Some(output) = run("the_unit_is_tight", verify.args(["verify", "--man=no"]).arg(&unit)) else { return };
        let text = said(&output);
        let ours: Vec<&str> = text.lines().filter(|line| line.contains("warrant.service")).collect();
        assert!(ours.is_empty(), "{set:?}: {ours:?}");
    }
}

/// What the unit lets through of the kernel's calls, its own lines and those of all drop-ins taken in order.
fn let_through(sets: &str) -> BTreeSet<String> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut group = "";
    for line in sets.lines().filter(|line| !line.trim_start().starts_with('#')) {
        match line.strip_prefix("    ") {
            Some(member) => groups.entry(group).or_default().push(member.trim()),
            None => group = line.trim(),
        }
    }
    let mut allowed = BTreeSet::new();
    let mut texts = vec![fs::read_to_string(deploy("warrant.service")).unwrap()];
    for drop_in in ["edits", "owners", "restarts", "commands", "network"] {
        texts.push(fs::read_to_string(deploy("drop-ins").join(format!("{drop_in}.conf"))).unwrap());
    }
    let lines = texts.iter().flat_map(|text| text.lines());
    for value in std::iter::once("@default").chain(lines.filter_map(|line| line.strip_prefix("SystemCallFilter="))) {
        let (takes, names) = value.strip_prefix('~').map_or((false, value), |names| (true, names));
        let mut open: Vec<&str> = names.split_whitespace().collect();
        while let Some(name) = open.pop() {
            match groups.get(name) {
                Some(members) => open.extend(members),
                None if takes => drop(allowed.remove(name)),
                None => drop(allowed.insert(name.to_owned())),
            }
        }
    }
    allowed
}

/// The calls in what strace wrote: `PID NAME(...`, and `PID <... NAME resumed>`.
fn calls(trace: &Path) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(&fs::read(trace).unwrap()).into_owned();
    let name = |line: &str| {
        let rest = line.trim_start_matches(|digit: char| digit.is_ascii_digit()).trim_start();
        let name: String = rest
            .chars()
            .take_while(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || *letter == '_')
            .collect();
        (rest.get(name.len()..)?.starts_with('(') && !name.is_empty()).then_some(name)
    };
    text.lines().filter_map(name).collect()
}

fn traced(trace: &Path) -> Command {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-s", "0", "-e", "signal=none", "-o"]).arg(trace).arg(WARRANT);
    strace.stdin(Stdio::null());
    strace
}

fn metrics(at: &str) -> String {
    let mut stream = TcpStream::connect(at).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

fn ended(mut child: Child) {
    assert!(child.wait().unwrap().success());
}

#[test]
fn everything_that_it_asks_of_the_kernel_the_unit_lets_through() {
    let test = "everything_that_it_asks";
    let Some(sets) = run(test, Command::new("systemd-analyze").arg("syscall-filter")) else { return };
    let allowed = let_through(&String::from_utf8(sets.stdout).unwrap());
    assert!(allowed.contains("openat2") && !allowed.contains("mount") && !allowed.contains("setuid"), "{allowed:?}");
    if run(test, Command::new("strace").arg("-V")).is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::create_dir(at.join("shop")).unwrap();
    fs::write(at.join("shop/app.toml"), "pool = 5\n").unwrap();
    let config = format!(
        "store.path = \"{0}/warrant.db\"\n[web]\nlisten = \"127.0.0.1:0\"\n[commands]\nallow_readonly_shell = true\n\
         [workspaces.shop]\ndir = \"{0}/shop\"\n",
        at.display()
    );
    fs::write(at.join("warrant.toml"), config).unwrap();

    // The shop is mended: an edit, a restart, reads of every source, the ledger.
    let demo = traced(&at.join("demo.trace")).args(["demo", "--approve", "all"]).stdout(Stdio::null()).spawn();
    let demo = demo.unwrap();
    // A command in its confinement.
    let args = "{\"argv\": [\"cat\", \"app.toml\"], \"path\": \"shop:.\"}";
    let mut shell = traced(&at.join("shell.trace"));
    shell
        .args(["tools", "call", "run_command", "--json", "--args", args])
        .env("WARRANT_CONFIG", at.join("warrant.toml"));
    let shell = shell.output().unwrap();
    assert!(said(&shell).contains("pool = 5"), "{}", said(&shell));
    // Serving, from its start to its end.
    let mut serve = traced(&at.join("serve.trace"));
    serve.args(["serve", "--json", "--config"]).arg(at.join("warrant.toml")).stdout(Stdio::piped());
    let mut serve = serve.spawn().unwrap();
    let mut first = String::new();
    BufReader::new(serve.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
    let ready: serde_json::Value = serde_json::from_str(&first).unwrap();
    let exported = metrics(ready.get("listen").unwrap().as_str().unwrap());
    let rules = fs::read_to_string(deploy("prometheus-rules.yml")).unwrap();
    let named: BTreeSet<&str> = rules
        .split(|letter: char| !(letter.is_ascii_lowercase() || letter == '_'))
        .filter(|word| word.starts_with("warrant_"))
        .collect();
    assert!(named.len() >= 4, "{named:?}");
    for name in named {
        assert!(exported.contains(&format!("# TYPE {} ", name.trim_end_matches("_total"))), "{name}: {exported}");
    }
    // strace hands on nothing; the process that it follows is asked to end.
    let ask = Command::new("pkill").args(["-TERM", "-P", &serve.id().to_string()]).status().unwrap();
    assert!(ask.success());
    ended(serve);
    ended(demo);

    for trace in ["demo.trace", "shell.trace", "serve.trace"] {
        let called = calls(&at.join(trace));
        assert!(called.contains("openat") && called.contains("execve"), "{trace}: {called:?}");
        let refused: Vec<&String> = called.difference(&allowed).collect();
        assert!(refused.is_empty(), "{trace}: {refused:?}");
    }
}

#[test]
fn alertmanager_and_prometheus_take_what_is_shipped_for_them() {
    let (config, rules) = (deploy("alertmanager.yml"), deploy("prometheus-rules.yml"));
    let mut amtool = Command::new("amtool");
    let Some(output) = run("alertmanager_and_prometheus", amtool.arg("check-config").arg(config)) else { return };
    assert!(output.status.success(), "{}", said(&output));
    let mut promtool = Command::new("promtool");
    let Some(output) = run("alertmanager_and_prometheus", promtool.args(["check", "rules"]).arg(&rules)) else {
        return;
    };
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("6 rules found"), "{}", said(&output));
}
