use proptest::prelude::*;

use super::{Heads, parse};
use crate::analysis::level::Level;

fn read(line: &str) -> (bool, Level, String) {
    let head = parse(line.as_bytes());
    (head.stamp.is_some(), head.level, head.message.into_owned())
}

#[test]
fn json_lines_of_the_usual_libraries() {
    let cases = [
        (r#"{"time":"2026-11-30T11:05:18Z","level":"error","msg":"no route","port":80}"#, Level::Error, "no route"),
        (
            r#"{"level":50,"time":1796036718123,"pid":1,"msg":"no route","err":{"type":"E","message":"refused"}}"#,
            Level::Error,
            "no route: refused",
        ),
        (
            r#"{"@timestamp":"2026-11-30T11:05:18.000Z","log.level":"WARN","message":"slow","error":"took long"}"#,
            Level::Warn,
            "slow: took long",
        ),
        (
            r#"{"severity":"CRITICAL","timestamp":"2026-11-30T11:05:18Z","message":"a \"quoted\" one"}"#,
            Level::Error,
            "a \"quoted\" one",
        ),
        (r#"{"ts":1796036718.12,"level":"info","message":"é ok"}"#, Level::Info, "é ok"),
        (r#"{"log":"hello\n","stream":"stderr","time":"2026-11-30T11:05:18.1Z"}"#, Level::Unknown, "hello\n"),
    ];
    for (line, level, message) in cases {
        assert_eq!(read(line), (true, level, message.to_owned()), "{line}");
    }
}

#[test]
fn a_json_line_that_breaks_off_gives_what_stood_before() {
    let (timed, level, message) = read(r#"{"time":"2026-11-30T11:05:18Z","level":"error","msg":"cut here"#);
    assert!(timed);
    assert_eq!(level, Level::Error);
    assert!(message.contains("cut here"));
    assert!(!read("{ not json }").0);
}

#[test]
fn logfmt_lines() {
    assert_eq!(
        read(r#"ts=2026-11-30T11:05:18Z level=warn msg="pool \"main\" is full" err="no slot" n=3"#),
        (true, Level::Warn, r#"pool \"main\" is full: no slot"#.to_owned())
    );
    assert_eq!(
        read(r#"level=error caller=a.go:1 time="2026-11-30T11:05:18Z" msg=x"#),
        (true, Level::Error, "x".to_owned())
    );
}

#[test]
fn free_text_syslog_and_access_logs() {
    let cases = [
        ("2026-11-30 11:05:18,123 ERROR [main] c.s.Pay - declined", Level::Error),
        ("2026/11/30 11:05:18 [error] 42#0: *1 upstream timed out", Level::Error),
        ("Nov 30 11:05:18 web1 sshd[42]: error: no key", Level::Error),
        ("<34>Nov 30 11:05:18 web1 su: failed", Level::Error),
        ("<165>1 2026-11-30T11:05:18.123Z web1 app 42 ID47 - hello", Level::Info),
        ("W1130 11:05:18.123456   42 main.go:7] slow", Level::Warn),
        ("10.0.0.1 - - [30/Nov/2026:11:05:18 +0000] \"GET /pay HTTP/1.1\" 502 12 \"-\" \"curl\"", Level::Error),
        ("10.0.0.1 - - [30/Nov/2026:11:05:18 +0000] \"GET /pay HTTP/1.1\" 404 12", Level::Warn),
        ("[Mon Nov 30 11:05:18.123 2026] [core:error] [pid 42] denied", Level::Error),
        ("2026-11-30 11:05:18.123 UTC [42] ERROR:  deadlock detected", Level::Error),
        ("2026-11-30T11:05:18Z found no error in the input", Level::Unknown),
        ("2026-11-30 11:05:18 INFO  ErrorHandler ready", Level::Info),
        ("INFO:root:2026-11-30 11:05:18 started", Level::Info),
    ];
    for (line, level) in cases {
        let (timed, found, _) = read(line);
        assert_eq!((timed, found), (true, level), "{line}");
    }
}

#[test]
fn what_a_container_runtime_wraps_is_read() {
    let line = r#"2026-11-30T11:05:18.123456789Z stdout F {"level":"error","msg":"no slot"}"#;
    assert_eq!(read(line), (true, Level::Error, "no slot".to_owned()));
}

#[test]
fn heads_of_files_with_and_without_times() {
    assert_eq!(Heads::of_sample(b"\tat x\n2026-11-30 11:05:18 a\n"), Heads::Timed);
    assert_eq!(Heads::of_sample(b"started\nlistening\n"), Heads::Untimed);
    assert!(Heads::Untimed.is_head(b"listening"));
    assert!(!Heads::Untimed.is_head(b"    at x"));
    assert!(!Heads::Timed.is_head(b"java.lang.IllegalStateException: no slot"));
    assert!(Heads::Timed.is_head(b"caller=a.go:1 level=info ts=2026-11-30T11:05:18Z"));
}

proptest! {
    #[test]
    fn hostile_lines_are_read_without_a_panic(line in prop::collection::vec(any::<u8>(), 0..300)) {
        let _head = parse(&line);
        let _is = (Heads::Timed.is_head(&line), Heads::Untimed.is_head(&line));
    }

    #[test]
    fn broken_pairs_and_objects_are_read_without_a_panic(line in "[{}\"=:,a-z\\\\ ]{0,80}") {
        let _head = parse(line.as_bytes());
    }
}
