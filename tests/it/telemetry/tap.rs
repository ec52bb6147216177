//! The receiver, and the spans that it says it received.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

const PATIENCE: Duration = Duration::from_mins(1);

/// A span as the receiver prints it, and its attributes without the types around them.
#[derive(Debug, Clone)]
pub struct Span {
    pub printed: Value,
    pub attributes: BTreeMap<String, Value>,
}

impl Span {
    fn of(line: &str) -> Self {
        let printed: Value = serde_json::from_str(line).unwrap();
        let bare = |value: &Value| value.as_object().unwrap().values().next().unwrap().clone();
        let attributes = printed["attributes"].as_array().unwrap().iter();
        let attributes = attributes.map(|it| (it["key"].as_str().unwrap().to_owned(), bare(&it["value"]))).collect();
        Self { printed, attributes }
    }

    pub fn text(&self, field: &str) -> &str {
        self.printed[field].as_str().unwrap()
    }

    /// An attribute as text; empty where there is none.
    pub fn told(&self, key: &str) -> String {
        match self.attributes.get(key) {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }

    pub fn nanos(&self, field: &str) -> i128 {
        self.text(field).parse().unwrap()
    }
}

/// The receiver, ended with the test.
pub struct Tap {
    pub port: u16,
    stdout: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

/// A port that was free a moment ago: the receiver does not tell which one it took.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Tap {
    /// Starts it; none where it is not installed, which is said.
    pub async fn start(test: &str) -> Option<Self> {
        let Some(dir) = std::env::var_os("OTLP_RECEIVER").map(PathBuf::from) else {
            // Past what the harness captures.
            let mut stderr = std::io::stderr();
            writeln!(
                stderr,
                "\nSKIPPED {test}: `OTLP_RECEIVER` is not set; tests/servers/otlp-receiver.sh installs it"
            )
            .unwrap();
            return None;
        };
        let port = free_port();
        let mut child = Command::new(dir.join("py/bin/python"))
            .args(["-u", "-m", "oteltap", "--port", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = tokio::time::timeout(PATIENCE, stdout.next_line()).await.unwrap().unwrap().unwrap();
        assert!(said.starts_with("Listening"), "{said}");
        Some(Self { port, stdout, _child: child })
    }

    /// What it received up to the end of the next run, that one last, and the whole as it was printed.
    pub async fn run(&mut self) -> (Vec<Span>, String) {
        let (mut spans, mut printed) = (Vec::new(), String::new());
        loop {
            let line = tokio::time::timeout(PATIENCE, self.stdout.next_line()).await.unwrap().unwrap().unwrap();
            let span = Span::of(&line);
            printed.push_str(&line);
            let is_run = span.text("name") == "invoke_agent warrant";
            spans.push(span);
            if is_run {
                return (spans, printed);
            }
        }
    }
}
