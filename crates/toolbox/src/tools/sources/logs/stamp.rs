//! The time a line begins with, in the forms that programs write.
//!
//! [`leading`] finds it in a line, [`from_text`] reads the value of a time field. What a line leaves open (its zone, its
//! year) stays open in [`Stamp`] until [`Zone::settle`] closes it with what is known of the file.

mod forms;

use jiff::civil::DateTime;
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

use forms::Reader;

/// A time as a line tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stamp {
    /// With a zone, or seconds since the epoch.
    Exact(Timestamp),
    /// A date and a time of an unnamed zone.
    Local(DateTime),
    /// A date without a year; it stands in the leap year 2000.
    Yearless(DateTime),
}

/// What a file's lines leave open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone {
    /// The offset of times without a zone.
    pub offset: Offset,
    /// A time not earlier than the file's records, within a year of them: closes dates without a year.
    pub latest: Timestamp,
}

/// A line may name its time this late: after a level, a logger, a client's address.
const ISO_WITHIN: usize = 48;
/// The time in brackets of an access log stands after address, identity and user.
const BRACKET_WITHIN: usize = 200;
/// Clocks differ; a record of tomorrow is still one of this year.
const AHEAD: SignedDuration = SignedDuration::from_hours(36);

impl Zone {
    /// The moment a stamp means.
    #[must_use]
    pub fn settle(&self, stamp: Stamp) -> Option<Timestamp> {
        match stamp {
            Stamp::Exact(time) => Some(time),
            Stamp::Local(civil) => self.offset.to_timestamp(civil).ok(),
            Stamp::Yearless(civil) => {
                let limit = self.latest.checked_add(AHEAD).unwrap_or(self.latest);
                let year = self.offset.to_datetime(limit).year();
                [year, year - 1, year - 2, year - 3, year - 4]
                    .into_iter()
                    .filter_map(|year| civil.with().year(year).build().ok())
                    .filter_map(|civil| self.offset.to_timestamp(civil).ok())
                    .find(|time| *time <= limit)
            }
        }
    }
}

/// The time that `line` begins with and where it ends; none where the line has no time of its own.
#[must_use]
pub fn leading(line: &[u8]) -> Option<(Stamp, usize)> {
    let first = *line.first()?;
    if first.is_ascii_whitespace() {
        return None;
    }
    let mut reader = Reader::new(line);
    reader.skip_opening();
    if let Some(stamp) = reader.any_form() {
        return Some((stamp, reader.at()));
    }
    if line.starts_with(b"Caused by") || line.starts_with(b"at ") || line.starts_with(b"...") {
        return None;
    }
    embedded(line)
}

/// A time that follows a few words: a level, a logger, an address.
fn embedded(line: &[u8]) -> Option<(Stamp, usize)> {
    let within = line.get(..line.len().min(BRACKET_WITHIN))?;
    let mut before = 0;
    for (at, byte) in within.iter().enumerate() {
        let opens = matches!(before, b' ' | b'[' | b'(' | b'=' | b'"' | b':' | b'\t' | b'|');
        let bracket = before == b'[' && byte.is_ascii_alphanumeric();
        before = *byte;
        if !(bracket || (opens && byte.is_ascii_digit() && at <= ISO_WITHIN)) {
            continue;
        }
        let mut reader = Reader::starting(line, at);
        let stamp = reader.dated_form();
        if let Some(stamp) = stamp {
            return Some((stamp, reader.at()));
        }
    }
    None
}

/// The value of a time field, whole.
#[must_use]
pub fn from_text(text: &str) -> Option<Stamp> {
    let mut reader = Reader::new(text.trim().as_bytes());
    reader.any_form()
}

/// Seconds, milliseconds, microseconds or nanoseconds since the epoch, told apart by their size.
#[must_use]
pub fn from_number(number: f64) -> Option<Stamp> {
    let per_second = [1.0, 1e3, 1e6, 1e9].into_iter().find(|unit| (1e9..1e10).contains(&(number / unit)))?;
    let time = SignedDuration::try_from_secs_f64(number / per_second).ok()?;
    Timestamp::UNIX_EPOCH.checked_add(time).ok().map(Stamp::Exact)
}

#[cfg(test)]
mod tests;
