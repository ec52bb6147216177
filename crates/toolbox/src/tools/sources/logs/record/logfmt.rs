//! Lines of `key=value` pairs: `ts=2026-11-30T11:05:18Z level=error msg="can't connect" err=refused`.

use std::borrow::Cow;

use crate::analysis::level::Level;
use crate::tools::sources::logs::record::Head;
use crate::tools::sources::logs::stamp::{self, Stamp};

/// Pairs looked at in one line.
const MOST_PAIRS: usize = 64;

/// Reads a line that has a level or a message as a pair; none for any other line.
pub(super) fn parse(line: &[u8]) -> Option<Head<'_>> {
    let mut stamp = None;
    let mut level = None;
    let mut message: Option<&[u8]> = None;
    let mut error: Option<&[u8]> = None;
    for (key, value) in Pairs(line).take(MOST_PAIRS) {
        match key {
            b"time" | b"ts" | b"timestamp" | b"t" | b"at" => stamp = stamp.or_else(|| time_of(value)),
            b"level" | b"lvl" | b"severity" => level = level.or_else(|| Level::from_word(value)),
            b"msg" | b"message" => message = message.or(Some(value)),
            b"err" | b"error" => error = error.or(Some(value)),
            _ => {}
        }
    }
    if message.is_none() && level.is_none() {
        return None;
    }
    let text = match (message, error) {
        (Some(message), Some(error)) => {
            Cow::Owned(format!("{}: {}", String::from_utf8_lossy(message), String::from_utf8_lossy(error)))
        }
        (Some(one), None) | (None, Some(one)) => String::from_utf8_lossy(one),
        (None, None) => String::from_utf8_lossy(line),
    };
    Some(Head { stamp, level: level.unwrap_or_default(), message: text })
}

/// Whether the line begins with pairs of which one is a time: such a line is a head wherever the time stands.
pub(super) fn has_time(line: &[u8]) -> bool {
    let begins = line.iter().take(32).position(|byte| *byte == b'=').is_some_and(|at| {
        at > 0
            && line
                .get(..at)
                .is_some_and(|key| key.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.@-".contains(byte)))
    });
    begins
        && Pairs(line).take(MOST_PAIRS).any(|(key, value)| {
            matches!(key, b"time" | b"ts" | b"timestamp" | b"t" | b"at") && time_of(value).is_some()
        })
}

fn time_of(value: &[u8]) -> Option<Stamp> {
    std::str::from_utf8(value).ok().and_then(stamp::from_text)
}

/// The pairs of a line; words that are no pair are passed over.
struct Pairs<'l>(&'l [u8]);

impl<'l> Iterator for Pairs<'l> {
    type Item = (&'l [u8], &'l [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = self.0.trim_ascii_start();
            let end = rest.iter().position(|byte| *byte == b'=' || byte.is_ascii_whitespace())?;
            let (key, after) = rest.split_at_checked(end)?;
            let Some(value) = after.strip_prefix(b"=") else {
                self.0 = after;
                continue;
            };
            let quoted = value.strip_prefix(b"\"");
            let text = quoted.unwrap_or(value);
            let mut escaped = false;
            let end = text.iter().position(|byte| {
                let closes = if quoted.is_some() { *byte == b'"' && !escaped } else { byte.is_ascii_whitespace() };
                escaped = *byte == b'\\' && !escaped;
                closes
            });
            let (value, after) = text.split_at_checked(end.unwrap_or(text.len()))?;
            self.0 = if quoted.is_some() { after.strip_prefix(b"\"").unwrap_or(after) } else { after };
            return Some((key, value));
        }
    }
}
