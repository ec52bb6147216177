//! `read_file`: some lines of a text file of a workspace, with their numbers.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::hex::hex;
use warrant_kernel::domain::output::{Around, Output};
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::Target;
use warrant_kernel::domain::time;

use super::list_files::invalid;
use crate::tools::workspace::lines::{Cancellable, Line, Lines, MAX_LINE};
use crate::tools::workspace::root::Opened;
use crate::tools::workspace::{Workspaces, blocking};

/// How many bytes of lines beside those that are shown are looked at for secrets; a private key is shorter.
const BESIDE: usize = 16 * 1024;
/// Up to this size a file is read to its end, for its number of lines and its hash.
const MAX_WHOLE: u64 = 64 * 1024 * 1024;
/// How much of its beginning tells a binary file.
const BINARY_PROBE: usize = 8 * 1024;

struct ReadFile {
    workspaces: Arc<Workspaces>,
}

/// The tool.
#[must_use]
pub fn read_file(workspaces: Arc<Workspaces>) -> Arc<dyn ReadTool> {
    Arc::new(ReadFile { workspaces })
}

#[derive(Deserialize)]
struct Args {
    path: String,
    #[serde(default = "first")]
    from_line: u64,
    #[serde(default = "four_hundred")]
    lines: u64,
}

fn first() -> u64 {
    1
}

fn four_hundred() -> u64 {
    400
}

/// Hashes what passes through, and notices a NUL byte in the beginning.
struct Probe<R> {
    reader: R,
    hash: Sha256,
    passed: usize,
    binary: bool,
}

impl<R: Read> Read for Probe<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        let (bytes, _) = buffer.split_at(count.min(buffer.len()));
        self.hash.update(bytes);
        let (start, _) = bytes.split_at(BINARY_PROBE.saturating_sub(self.passed).min(bytes.len()));
        self.binary |= start.contains(&0);
        self.passed = self.passed.saturating_add(count);
        Ok(count)
    }
}

struct Window {
    rows: Vec<String>,
    around: Around,
    cut: u64,
    /// The number of lines, where the whole was read.
    total: Option<u64>,
    sha256: Option<String>,
}

fn read(opened: Opened, args: &Args, cancel: &CancellationToken) -> Result<Window, ReadError> {
    let failed = |error: io::Error| {
        if cancel.is_cancelled() {
            return ReadError::Cancelled;
        }
        let message = format!("reading `{}` failed: {error}", args.path);
        ReadError::Backend { reason: "FILE_ERROR", message, retryable: true }
    };
    // A file that grows while it is read ends where it ended when it was opened.
    let file = Cancellable::new(opened.file, cancel.clone()).take(opened.size);
    let mut lines = Lines::new(Probe { reader: file, hash: Sha256::new(), passed: 0, binary: false }, MAX_LINE);
    let (mut rows, mut cut, mut number) = (Vec::new(), 0, 0_u64);
    let (mut before, mut after) = (Before::default(), Vec::new());
    let end = args.from_line.saturating_add(args.lines);
    let whole = opened.size <= MAX_WHOLE;
    while let Some(line) = lines.next_line().map_err(failed)? {
        if lines.get_ref().binary {
            return Err(ReadError::Invalid {
                reason: "BINARY_FILE",
                message: format!("`{}` is a binary file; only text is shown", args.path),
            });
        }
        number += 1;
        if (args.from_line..end).contains(&number) {
            cut += u64::from(line.more > 0);
            rows.push(numbered(number, &line));
        } else if number < end {
            before.push(number, line);
        }
        if number + 1 == end {
            after = next_lines(lines.peek().map_err(failed)?, end);
        }
        if number >= end && !whole {
            let around = Around { before: before.texts(), after };
            return Ok(Window { rows, around, cut, total: None, sha256: None });
        }
    }
    let sha256 = hex(&lines.into_inner().hash.finalize());
    let around = Around { before: before.texts(), after };
    Ok(Window { rows, around, cut, total: Some(number), sha256: Some(sha256) })
}

fn numbered(number: u64, line: &Line) -> String {
    format!("{number}| {}", line.text())
}

/// What follows the window, from the line `number` on.
fn next_lines(text: &[u8], number: u64) -> Vec<String> {
    let near = text.get(..BESIDE).unwrap_or(text);
    let lines = near.split(|byte| *byte == b'\n').zip(number..);
    lines.map(|(line, number)| format!("{number}| {}", String::from_utf8_lossy(line))).collect()
}

/// The last lines before the window.
#[derive(Default)]
struct Before {
    lines: VecDeque<(u64, Line)>,
    bytes: usize,
}

impl Before {
    fn push(&mut self, number: u64, line: Line) {
        self.bytes += line.bytes.len();
        self.lines.push_back((number, line));
        while self.bytes > BESIDE
            && let Some((_, first)) = self.lines.pop_front()
        {
            self.bytes -= first.bytes.len();
        }
    }

    fn texts(&self) -> Vec<String> {
        self.lines.iter().map(|(number, line)| numbered(*number, line)).collect()
    }
}

/// What the tool itself counts and says.
const OWN: &[(&str, Origin)] = &[
    ("path", Origin::Warrant),
    ("size", Origin::Warrant),
    ("lines_total", Origin::Warrant),
    ("modified", Origin::Warrant),
    ("sha256", Origin::Warrant),
];

fn output(args: &Args, size: u64, modified: Timestamp, window: Window) -> Output {
    let count = u64::try_from(window.rows.len()).unwrap_or_default();
    let next = args.from_line.saturating_add(count);
    let mut summary: Map<String, Value> = Map::new();
    summary.insert("path".to_owned(), args.path.clone().into());
    summary.insert("size".to_owned(), size.into());
    summary.insert("lines_total".to_owned(), window.total.into());
    summary.insert("modified".to_owned(), time::rfc3339(modified).into());
    summary.insert("sha256".to_owned(), window.sha256.into());
    let mut left_out = Vec::new();
    match window.total {
        Some(total) if args.from_line > total && total > 0 => {
            left_out.push(format!("the file has {total} lines; none from {}", args.from_line));
        }
        Some(total) if next <= total => {
            left_out.push(format!("lines {next} to {total}; read on with `from_line` {next}"));
        }
        Some(_) => {}
        None => left_out.push(format!("all lines from {next} on; read on with `from_line` {next}")),
    }
    if args.from_line > 1 && window.total.is_none_or(|total| total > 0) {
        left_out.push(format!("lines before {}", args.from_line));
    }
    if window.cut > 0 {
        left_out.push(format!("the ends of {} lines longer than {MAX_LINE} bytes", window.cut));
    }
    let mut output = Output::lines(Origin::File, summary, window.rows).with_fields(OWN);
    output.around = Some(Box::new(window.around));
    output.matched = window.total;
    output.left_out = (!left_out.is_empty()).then(|| left_out.join("; "));
    output
}

#[async_trait]
impl ReadTool for ReadFile {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        let place = self.workspaces.place("path", args.text("path").unwrap_or_default());
        place.and_then(|place| self.workspaces.target(Some(&place))).map_err(|problem| vec![problem])
    }

    async fn read(&self, args: &Arguments, reading: Reading<'_>) -> Result<Output, ReadError> {
        let args: Args = args.parse().map_err(invalid)?;
        let place = self.workspaces.place("path", &args.path).map_err(invalid)?;
        let cancel = reading.cancel.clone();
        blocking(move || {
            let opened = place.root.file(&place.path)?;
            let (size, modified) = (opened.size, opened.modified);
            Ok(output(&args, size, modified, read(opened, &args, &cancel)?))
        })
        .await
    }
}

#[cfg(test)]
mod tests;
