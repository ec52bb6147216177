//! Log search beside ripgrep, and a narrow window of a large file.
//!
//! `cargo bench --bench logsearch` writes a log of 1 GB (or `LOGSEARCH_MB`) to a temporary directory, searches all of it with
//! `search_logs` and with `rg --no-mmap -n -m N` printing the same lines, turn about in one run, and prints the fastest of
//! each and their ratio. Then it reads one minute of the file's day and the comparison of that minute with the one before.
#![expect(clippy::unwrap_used, reason = "a bench that can't go on ends")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::{Arguments, EvidencePage, EvidencePages, ReadError, ReadTool, Reading};
use warrant_kernel::domain::name::EvidenceId;
use warrant_kernel::domain::output::{Output, Rows};
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger, Writes};
use warrant_toolbox::catalog::Catalog;
use warrant_toolbox::catalog::service::{LogFiles, Service};
use warrant_toolbox::catalog::source::{DirSource, Sources};
use warrant_toolbox::tools::read::{compare_logs, search_logs};

const ROUNDS: usize = 7;
const START: Timestamp = Timestamp::constant(1_796_000_400, 0);
const DAY: SignedDuration = SignedDuration::from_hours(24);

struct NoEvidence;

#[async_trait]
impl EvidencePages for NoEvidence {
    async fn page(&self, _: EvidenceId, _: u64, _: u64) -> Result<Option<EvidencePage>, ReadError> {
        Ok(None)
    }
}

/// A day of JSON lines; about one in thirty thousand tells of the pool, one in fifty is an error.
fn write_log(path: &Path, megabytes: u64) {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
    let lines = megabytes * 1_000_000 / 190;
    for line in 0..lines {
        let nanos = DAY.as_nanos() * i128::from(line) / i128::from(lines);
        let time = Timestamp::from_nanosecond(START.as_nanosecond() + nanos).unwrap();
        let (level, message) = match line {
            line if line % 29_989 == 17 => ("error", "pool exhausted, no slot within the limit"),
            line if line % 50 == 3 => ("error", "the card was declined by the issuer bank"),
            _ => ("info", "request served from the nearest replica."),
        };
        writeln!(
            file,
            "{{\"time\":\"{time:.3}\",\"level\":\"{level}\",\"msg\":\"{message}\",\"trace\":\"{:032x}\",\"path\":\"/cart/{line:09}\",\"ms\":{}}}",
            u128::from(line).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060),
            line % 900
        )
        .unwrap();
    }
    let file = file.into_inner().unwrap();
    file.set_modified(SystemTime::try_from(START + DAY).unwrap()).unwrap();
}

fn catalog(dir: &Path) -> Arc<Catalog> {
    let mut sources = Sources::default();
    sources.logs.insert("files".parse().unwrap(), DirSource { dir: dir.to_path_buf() });
    let logs = vec![LogFiles { source: "files".parse().unwrap(), file: "app.log".to_owned() }];
    let service = Service { logs, ..Service::default() };
    Arc::new(Catalog::new(BTreeMap::from([("shop".parse().unwrap(), service)]), sources).unwrap())
}

fn call(runtime: &tokio::runtime::Runtime, tool: &Arc<dyn ReadTool>, args: Value) -> (Output, Duration) {
    let Value::Object(args) = args else {
        return (
            Output::lines(warrant_kernel::domain::result::Origin::Log, serde_json::Map::new(), Vec::new()),
            Duration::ZERO,
        );
    };
    let args = Arguments::checked(args);
    let now = START + DAY;
    let run = Run {
        investigation: "i1".parse().unwrap(),
        trigger: Trigger::Question { text: String::new() },
        requester: Requester { person: "anna".parse().unwrap(), groups: Vec::new() },
        role: "explore".parse().unwrap(),
        channel: Channel::Terminal,
        writes: Writes::Off,
        service: None,
        since: START,
        opened_at: now,
    };
    let cancel = CancellationToken::new();
    let reading = Reading { now, run: &run, cancel: &cancel, evidence: &NoEvidence };
    let begun = Instant::now();
    let output = runtime.block_on(tool.read(&args, reading)).unwrap();
    (output, begun.elapsed())
}

/// Lines printed and time taken by ripgrep; none where it is not installed.
fn ripgrep(path: &Path, pattern: &str, most: usize) -> Option<(usize, Duration)> {
    let begun = Instant::now();
    #[expect(clippy::disallowed_methods, reason = "the peer is a program")]
    let mut child = Command::new("rg")
        .args(["--no-config", "--no-mmap", "-n", "-m", &most.to_string(), "-e", pattern])
        .arg(path)
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut printed = Vec::new();
    child.stdout.take()?.read_to_end(&mut printed).ok()?;
    child.wait().ok()?;
    Some((String::from_utf8_lossy(&printed).lines().count(), begun.elapsed()))
}

fn bytes_read() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    io.lines().find_map(|line| line.strip_prefix("rchar: ")?.parse().ok()).unwrap_or(0)
}

fn rows(output: &Output) -> usize {
    match &output.rows {
        Rows::Lines(lines) => lines.len(),
        Rows::Items(items) => items.len(),
    }
}

fn main() {
    let megabytes = std::env::var("LOGSEARCH_MB").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("app.log");
    write_log(&path, megabytes);
    let size = std::fs::metadata(&path).unwrap().len();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let search = search_logs::tool(catalog(dir.path()));
    println!("a log of {size} bytes, fastest of {ROUNDS}");
    let cases = [
        ("literal", "pool exhausted", "newest"),
        ("alternation", "pool exhausted|deadlock|out of memory|disk full", "newest"),
        ("no case", "(?i)POOL EXHAUSTED", "newest"),
        ("regex", r"pool [a-z]+, no \w+ within", "newest"),
        ("the first 1000", "declined", "oldest"),
    ];
    for (name, pattern, order) in cases {
        let mut ours = (0, Duration::MAX);
        let mut theirs: Option<(usize, Duration)> = None;
        for _ in 0..ROUNDS {
            let args = json!({"service": "shop", "pattern": pattern, "since": START.to_string(), "limit": 1_000, "order": order});
            let (output, time) = call(&runtime, &search, args);
            ours = (rows(&output), ours.1.min(time));
            if let Some((lines, time)) = ripgrep(&path, pattern, 1_000) {
                theirs = Some((lines, theirs.map_or(time, |(_, best)| best.min(time))));
            }
        }
        let beside = theirs.map_or_else(
            || "rg not installed".to_owned(),
            |(lines, time)| {
                format!("rg {lines} lines {time:.1?}, {:.2} of its speed", time.as_secs_f64() / ours.1.as_secs_f64())
            },
        );
        println!("{name:16} {} lines {:.1?}; {beside}", ours.0, ours.1);
    }
    let minute = START + SignedDuration::from_hours(13);
    let window = json!({"service": "shop", "pattern": "declined", "since": minute.to_string(),
        "until": (minute + SignedDuration::from_mins(1)).to_string(), "limit": 1_000});
    let compare = compare_logs::tool(catalog(dir.path()));
    for (name, tool, args) in [("one minute", &search, window.clone()), ("two compared", &compare, window)] {
        let mut best = (0, Duration::MAX, 0);
        for _ in 0..ROUNDS {
            let before = bytes_read();
            let (output, time) = call(&runtime, tool, args.clone());
            best = (rows(&output), best.1.min(time), bytes_read() - before);
        }
        println!("{name:16} {} rows {:.1?}, {} bytes read", best.0, best.1, best.2);
    }
}
