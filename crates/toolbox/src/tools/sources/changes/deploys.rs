//! Reads a deploy log: one JSON object a line.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use jiff::Timestamp;
use rustix::fs::OFlags;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use warrant_kernel::redact::guard::first_chars;

use crate::tools::workspace::lines::{Cancellable, Lines};

/// Most bytes that are read, from the end of the file backwards.
const MAX_BYTES: u64 = 8 * 1024 * 1024;
const MAX_LINE: usize = 64 * 1024;
const MAX_TEXT: usize = 300;

/// One deploy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deploy {
    /// When.
    pub at: Timestamp,
    /// What was deployed.
    pub service: Option<String>,
    /// To which version.
    pub version: Option<String>,
    /// By whom.
    pub by: Option<String>,
    /// What was said about it.
    pub message: Option<String>,
}

/// What a deploy log holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// Deploys within the window.
    pub deploys: Vec<Deploy>,
    /// Lines that are no deploy: no JSON object, or none with a time.
    pub bad_lines: u64,
    /// Whether the file begins before what was read, and what was read begins within the window.
    pub begins_later: bool,
}

/// Reads the deploys between two times.
///
/// # Errors
/// A sentence for the reader.
pub fn read(path: &Path, since: Timestamp, until: Timestamp, cancel: &CancellationToken) -> Result<Log, String> {
    let failed = |error: std::io::Error| format!("`{}` can't be read: {error}", path.display());
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).unwrap_or_default();
    let mut file = File::options().read(true).custom_flags(flags).open(path).map_err(failed)?;
    let facts = file.metadata().map_err(failed)?;
    if !facts.is_file() {
        return Err(format!("`{}` is not a regular file", path.display()));
    }
    let start = facts.len().saturating_sub(MAX_BYTES);
    file.seek(SeekFrom::Start(start)).map_err(failed)?;
    let mut lines = Lines::new(Cancellable::new(file.take(MAX_BYTES), cancel.clone()), MAX_LINE);
    if start > 0 {
        // It most likely begins in the middle of a line.
        lines.next_line().map_err(failed)?;
    }
    let (mut log, mut oldest) = (Log::default(), None);
    while let Some(line) = lines.next_line().map_err(failed)? {
        if line.bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let Some(deploy) = deploy(&line.bytes) else {
            log.bad_lines += 1;
            continue;
        };
        oldest.get_or_insert(deploy.at);
        if since <= deploy.at && deploy.at <= until {
            log.deploys.push(deploy);
        }
    }
    log.begins_later = start > 0 && oldest.is_some_and(|oldest| oldest > since);
    Ok(log)
}

fn deploy(line: &[u8]) -> Option<Deploy> {
    let entry: Map<String, Value> = serde_json::from_slice(line).ok()?;
    let first = |names: &[&str]| names.iter().find_map(|name| entry.get(*name).filter(|value| !value.is_null()));
    let text = |names: &[&str]| {
        let text = match first(names)? {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Some(first_chars(&text, MAX_TEXT).to_owned())
    };
    Some(Deploy {
        at: time(first(&["time", "ts", "at", "timestamp"])?)?,
        service: text(&["service", "app"]),
        version: text(&["version", "tag", "revision"]),
        by: text(&["by", "user", "author", "actor"]),
        message: text(&["message", "msg", "description"]),
    })
}

/// RFC 3339, or seconds or milliseconds since 1970.
fn time(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => {
            // From here on a number of seconds would be the year 5138.
            const MILLISECONDS: f64 = 1e11;
            let number = number.as_f64()?;
            let seconds = if number.abs() >= MILLISECONDS { number / 1000.0 } else { number };
            Timestamp::from_duration(jiff::SignedDuration::try_from_secs_f64(seconds).ok()?).ok()
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
