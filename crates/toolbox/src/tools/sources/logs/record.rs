//! One line as the head of a record: its time, level and message, whatever the format.
//!
//! [`parse`] reads a line that is a head; [`Heads`] says which lines are. A line that is no head belongs to the record
//! before it (a stack trace, a wrapped message).

mod json;

mod level;

mod logfmt;

use std::borrow::Cow;

use crate::analysis::level::Level;
use crate::tools::sources::logs::stamp::{self, Stamp};

/// A head, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head<'l> {
    /// Its time, where it has one.
    pub stamp: Option<Stamp>,
    /// Its level.
    pub level: Level,
    /// What it says, without the time; of a structured record the message and the error.
    pub message: Cow<'l, str>,
}

/// What makes a line of a file the head of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heads {
    /// A time of its own, or a whole JSON object.
    Timed,
    /// The file has no times: every line that is not indented or an obvious continuation.
    Untimed,
}

impl Heads {
    /// What makes heads in a file that begins with `sample`.
    #[must_use]
    pub fn of_sample(sample: &[u8]) -> Self {
        let timed = sample.split(|byte| *byte == b'\n').any(|line| Self::Timed.is_head(line));
        if timed || sample.is_empty() { Self::Timed } else { Self::Untimed }
    }

    /// Whether `line` (without its line end) begins a record.
    #[must_use]
    pub fn is_head(self, line: &[u8]) -> bool {
        match self {
            Self::Timed => is_object(line) || stamp::leading(line).is_some() || logfmt::has_time(line),
            Self::Untimed => {
                line.first().is_some_and(|first| !first.is_ascii_whitespace() && !b"})".contains(first))
                    && !CONTINUATIONS.iter().any(|start| line.starts_with(start))
            }
        }
    }
}

const CONTINUATIONS: [&[u8]; 4] = [b"Caused by", b"at ", b"... ", b"During handling"];

fn is_object(line: &[u8]) -> bool {
    line.first() == Some(&b'{') && line.trim_ascii_end().last() == Some(&b'}') && line.len() > 2
}

/// Reads a head. A line that is none is read too: as a message without a time.
#[must_use]
pub fn parse(line: &[u8]) -> Head<'_> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii_end();
    if line.first() == Some(&b'{')
        && let Some(head) = json::parse(line)
    {
        return head;
    }
    let (stamp, rest) = match stamp::leading(line) {
        Some((stamp, end)) => (Some(stamp), line.get(end..).unwrap_or_default()),
        None => (None, line),
    };
    let body = rest.trim_ascii_start();
    let body = body.strip_prefix(b"]").unwrap_or(body).trim_ascii_start();
    if let Some(inner) = wrapped_object(body)
        && let Some(head) = json::parse(inner)
    {
        return Head { stamp: stamp.or(head.stamp), ..head };
    }
    if let Some(head) = logfmt::parse(line) {
        return Head { stamp: head.stamp.or(stamp), ..head };
    }
    Head { stamp, level: level::of_line(line, rest), message: String::from_utf8_lossy(body) }
}

/// The JSON object that follows a container runtime's or syslog's own words.
fn wrapped_object(body: &[u8]) -> Option<&[u8]> {
    const WITHIN: usize = 64;
    let at = body.iter().take(WITHIN).position(|byte| *byte == b'{')?;
    body.get(at..).filter(|object| object.starts_with(b"{\"") && object.ends_with(b"}"))
}

#[cfg(test)]
mod tests;
