//! What the process file system tells: when a process was started, how long the host is up, how busy it is.
//!
//! Times are clock ticks since the host was started, as `/proc` counts them (a hundred a second), so that nothing depends
//! on a clock that somebody may set.

use std::fs;

use serde::{Deserialize, Serialize};

/// Ticks in a second: fixed in what Linux shows to programs.
pub const TICKS: u64 = 100;

/// A process that can't be mistaken for another that got the same number later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it was started, in ticks since the host was.
    pub started: u64,
}

/// The process with this number, if it is there and has not ended.
#[must_use]
pub fn process(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold some; what follows the last one is fixed.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    let started = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(Process { pid, started })
}

/// Ticks since the host was started.
#[must_use]
pub fn uptime() -> Option<u64> {
    let text = fs::read_to_string("/proc/uptime").ok()?;
    let (seconds, hundredths) = text.split_ascii_whitespace().next()?.split_once('.')?;
    Some(seconds.parse::<u64>().ok()? * TICKS + hundredths.parse::<u64>().ok()?)
}

/// Another one after each start of the host; empty where it is not told.
#[must_use]
pub fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// The load of the last 1, 5 and 15 minutes.
#[must_use]
pub fn load() -> Option<String> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    Some(text.split_ascii_whitespace().take(3).collect::<Vec<_>>().join(" "))
}
