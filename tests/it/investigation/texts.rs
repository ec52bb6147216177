//! What a person reads: faults of the command line and the config, progress, and a report in 80 columns.

use std::io::Write;
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;
use warrant::app::ask::ask;
use warrant::chat::terminal::progress::Progress;
use warrant::chat::terminal::report::render;
use warrant::chat::terminal::style::Paint;

use super::whole::warrant;
use super::{World, at, model, reported, serve};
use crate::model_server::script::Shape;

/// Runs a command that must end with exit code 2 and say nothing on stdout; what it says on stderr.
async fn refused(world: &World, args: &[&str]) -> String {
    let run = warrant(world, args).env_remove("KEY").output().await.unwrap();
    assert_eq!(run.status.code(), Some(2), "{args:?}: {}", String::from_utf8_lossy(&run.stderr));
    assert!(run.stdout.is_empty(), "{args:?}");
    String::from_utf8(run.stderr).unwrap().replace(&world.dir.path().display().to_string(), "DIR")
}

#[tokio::test]
async fn faults_name_their_place_and_what_to_do() {
    let world = World::new();
    let ask = ["ask", "why?"];
    let mut none = warrant(&world, &ask);
    none.env_remove("WARRANT_CONFIG").env("HOME", world.dir.path()).env_remove("XDG_CONFIG_HOME");
    let none = none.current_dir(world.path("etc")).output().await.unwrap();
    assert_eq!(none.status.code(), Some(2));
    let none = String::from_utf8(none.stderr).unwrap().replace(&world.dir.path().display().to_string(), "DIR");
    insta::assert_snapshot!(none, @r"
    warrant: there is no config; looked for warrant.toml, DIR/.config/warrant/warrant.toml, /etc/warrant/warrant.toml
    `warrant init` writes a first one; or name one with --config
    ");

    let plain = world.config(&["runbook"], "", "", "");
    world.write_config(&plain.replace("[store]\n", "[store]\nretention = \"30d\"\n"));
    insta::assert_snapshot!(refused(&world, &ask).await, @"warrant: DIR/warrant.toml:14: unknown field `retention`, expected `path`");

    world.write_config(&plain.replace("window", "").replace("models = [\"runbook\"]", "turns = 1\nwall = \"soon\""));
    insta::assert_snapshot!(refused(&world, &ask).await, @r"
    warrant: DIR/warrant.toml: `investigation.wall`: `soon` is not a duration; write `90s`, `15m`, `1h30m` or `2d`
      `investigation.turns` is 1; it must be at least 3
    ");

    let keyed = model("main", Shape::OpenAi, "http://127.0.0.1:9/v1", "");
    world.write_config(&world.config(&["main", "runbook"], &keyed, "", ""));
    insta::assert_snapshot!(refused(&world, &ask).await, @r"
    warrant: DIR/warrant.toml: 1 thing to mend
      `[models.main]`: the environment variable `KEY` is not set; it holds the API key
    ");

    world.write_config(&plain);
    insta::assert_snapshot!(refused(&world, &["ask", "why?", "--service", "chekout"]).await, @"warrant: there is no service `chekout` in the catalog; there are: checkout");
    insta::assert_snapshot!(refused(&world, &["ask", "why?", "--since", "yesterdayish"]).await, @"warrant: --since: `yesterdayish` is not a time; write RFC 3339 as in `2026-01-31T04:05:00Z`, or `15m ago`, or `now`");
    insta::assert_snapshot!(refused(&world, &["ask", "why?", "--since", "2999-01-01T00:00:00Z"]).await, @"warrant: --since lies in the future; write a time before now");
    insta::assert_snapshot!(refused(&world, &["ask", "why?", "--model", "gpt"]).await, @r"
    warrant: DIR/warrant.toml: 1 thing to mend
      there is no model `gpt`; there are: runbook
    ");
    insta::assert_snapshot!(refused(&world, &["ask", "why?", "--role", "root"]).await, @"warrant: there is no role `root`; there are: explore, general-purpose");
    insta::assert_snapshot!(refused(&world, &["ask", " "]).await, @r#"warrant: ask something, as in: warrant ask "why is checkout slow?""#);

    world.write_config("[logs.files]\ndir = \"logs\"\n[store]\npath = \"/tmp/x.db\"");
    insta::assert_snapshot!(refused(&world, &ask).await, @"warrant: DIR/warrant.toml: `logs.files.dir` is `logs`; write an absolute path");
    std::fs::remove_file(world.path("warrant.toml")).unwrap();
    insta::assert_snapshot!(refused(&world, &ask).await, @"warrant: can't read the config `DIR/warrant.toml`: No such file or directory (os error 2)");
}

#[tokio::test]
async fn no_such_investigation_is_a_failure_that_says_where_to_look() {
    let world = World::new();
    world.write_config(&world.config(&["runbook"], "", "", ""));
    let run = warrant(&world, &["investigations", "resume", "nothing"]).output().await.unwrap();
    assert_eq!(run.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8(run.stderr).unwrap(), @"warrant: there is no investigation `nothing`; `warrant investigations list` shows those there are");
}

#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A text with what differs from run to run replaced.
fn steady(world: &World, text: &str) -> String {
    let mut text = text.to_owned();
    for (time, name) in [(world.deployed(), "DEPLOYED"), (world.since, "SINCE"), (world.onset, "ONSET")] {
        text = text.replace(&at(time), name).replace(&time.strftime("%H:%M:%SZ").to_string(), name);
    }
    for (pattern, name) in [
        (r"investigation [0-9a-f-]{36}", "investigation ID"),
        (r"\d+ ms\b", "N ms"),
        (r#""since":"\d{4}[0-9T:.-]*…"#, r#""since":"…"#),
        (r"[^,]*…  (\d+ rows)", " …  $1"),
        (r"since \d{4}-\d\d-\d\dT[0-9:.]+Z", "since EARLIER"),
        (r#""since":"\d{4}-\d\d-\d\dT[0-9:.]+Z""#, r#""since":"EARLIER""#),
    ] {
        text = regex::Regex::new(pattern).unwrap().replace_all(&text, name).into_owned();
    }
    text
}

#[tokio::test]
async fn progress_and_report_in_eighty_columns() {
    let world = World::new();
    let server = serve(world.script()).await;
    let app = world.app(&world.config_of(Shape::OpenAi, &server, ""));
    let screen = Screen::default();
    let watcher = Arc::new(Progress::new(screen.clone(), Paint::Plain, 80));
    let ended = ask(&app, world.question(), watcher, CancellationToken::new()).await.unwrap().1;
    let progress = String::from_utf8(screen.0.lock().unwrap().clone()).unwrap();
    let report = render(&reported(ended), Paint::Plain, 80);
    for text in [&progress, &report] {
        assert!(text.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= 80), "{text}");
        assert!(!text.contains('\u{1b}'));
    }
    // Results of one turn come in whatever order they are done.
    let mut lines: Vec<&str> = progress.lines().collect();
    lines.sort_unstable();
    insta::assert_snapshot!(steady(&world, &lines.join("\n")), @r#"
      E1  describe_service checkout  0 rows, N ms
      E2  search_runbooks query why does checkout fail?, …  3 rows, cut, N ms
      E3  compare_logs checkout, since SINCE  3 rows, N ms
      E4  recent_changes since EARLIER  2 rows, N ms
      E5  search_logs checkout, level error, …  5 rows, cut, N ms
      E5  search_logs checkout, level error, …  5 rows, cut, cached, N ms
      E6  read_file path checkout.toml  3 rows, N ms
      ✗ describe_service chekout: /service: there is no service `chekout`; did you …
      ✗ restart : there is no tool `restart`; did you mean `restart_service`?
      ✗ search_logs {"service": "checkout", : the arguments are not JSON: EOF while…
     E10  read_evidence evidence E5  5 rows, N ms
    I look at the errors first.
    Investigating (checkout): why does checkout fail?
    investigation ID
    the opening sweep
    the report went back: not all of its claims stood up
    turn 1: asking main
    turn 2: asking main
    turn 3: asking main
    turn 4: asking main
    "#);
    insta::assert_snapshot!(steady(&world, &report), @r#"
    CONFIRMED  symptom and cause rest on evidence of different sources
    
    Root cause
      The deploy of 2.4.1 cut the pool of checkout to 8 connections.
    
    Summary
      Checkout fails because its pool of 8 connections is exhausted.
    
    Findings
      symptom  Checkout logs 40 errors. (E3)
               “connection pool exhausted” E3
      cause    DEPLOYED 2.4.1 was deployed with a pool of 8 connections. (E4)
    
    Next steps
      - Roll back 2.4.1.
    
    Evidence
      E3    compare_logs {"service":"checkout","since":"…  [files]
      E4    recent_changes {"since":"EARLIER"}  [changes]
    "#);
}
