//! One page of matches: the newest (or oldest) few, held in order of time however they come.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::ops::ControlFlow;

use jiff::{SignedDuration, Timestamp};
use warrant_kernel::domain::time::rfc3339;

use crate::tools::sources::logs::scan::{Order, Record};

/// Bytes of rows kept; beyond, the page is shorter than its limit and the cursor leads on.
const MOST_BYTES: usize = 8 << 20;

/// The place of a record among all: its time, its log, its offset. As text it is a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cursor {
    time: Option<Timestamp>,
    log: usize,
    offset: u64,
}

impl Cursor {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let time = match parts.next()? {
            "none" => None,
            nanos => Some(Timestamp::from_nanosecond(nanos.parse().ok()?).ok()?),
        };
        let cursor = Self { time, log: parts.next()?.parse().ok()?, offset: parts.next()?.parse().ok()? };
        parts.next().is_none().then_some(cursor)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.time {
            Some(time) => write!(f, "{}", time.as_nanosecond())?,
            None => f.write_str("none")?,
        }
        write!(f, ".{}.{}", self.log, self.offset)
    }
}

/// The matches kept so far.
pub(super) struct Page {
    limit: usize,
    order: Order,
    after: Option<Cursor>,
    disorder: SignedDuration,
    rows: BTreeMap<Cursor, String>,
    bytes: usize,
    /// Matches that are not on this page but on a following one.
    following: u64,
    ended_early: bool,
    /// Records of which only the beginning is kept.
    cut: u64,
}

impl Page {
    pub(super) fn new(limit: usize, order: Order, after: Option<Cursor>, disorder: SignedDuration) -> Self {
        Self {
            limit,
            order,
            after,
            disorder,
            rows: BTreeMap::new(),
            bytes: 0,
            following: 0,
            ended_early: false,
            cut: 0,
        }
    }

    /// Takes a match if it belongs on the page. `Break` when no later record of this log can.
    pub(super) fn offer(&mut self, log: usize, record: &Record<'_>) -> ControlFlow<()> {
        let place = Cursor { time: record.time, log, offset: record.offset };
        if self.after.is_some_and(|after| !self.is_before(after, place)) {
            return ControlFlow::Continue(());
        }
        if let Some(last) = self.last().filter(|_| self.rows.len() >= self.limit)
            && self.is_before(last, place)
        {
            self.following += 1;
            return if self.is_far_behind(last, place) {
                self.ended_early = true;
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            };
        }
        self.cut += u64::from(record.more > 0);
        let row = row(record);
        self.bytes += row.len();
        if let Some(same) = self.rows.insert(place, row) {
            self.bytes -= same.len();
        }
        while self.rows.len() > self.limit || (self.bytes > MOST_BYTES && self.rows.len() > 1) {
            let dropped = match self.order {
                Order::NewestFirst => self.rows.pop_first(),
                Order::OldestFirst => self.rows.pop_last(),
            };
            self.bytes -= dropped.map_or(0, |(_, row)| row.len());
            self.following += 1;
        }
        ControlFlow::Continue(())
    }

    /// Whether `left` stands on an earlier page, or earlier on this one, than `right`.
    fn is_before(&self, left: Cursor, right: Cursor) -> bool {
        match self.order {
            Order::NewestFirst => left > right,
            Order::OldestFirst => left < right,
        }
    }

    /// The record that the next page goes on from.
    fn last(&self) -> Option<Cursor> {
        match self.order {
            Order::NewestFirst => self.rows.first_key_value(),
            Order::OldestFirst => self.rows.last_key_value(),
        }
        .map(|(place, _)| *place)
    }

    /// Whether, reading oldest first, what follows `place` in its log is behind `last` even if it is out of order.
    fn is_far_behind(&self, last: Cursor, place: Cursor) -> bool {
        self.order == Order::OldestFirst
            && last.time.zip(place.time).is_some_and(|(last, time)| time.duration_since(last) > self.disorder)
    }

    /// Whether reading ended once the page was full, so that not all matches are counted.
    pub(super) fn ended_early(&self) -> bool {
        self.ended_early
    }

    /// What is not on this page, and how to see it.
    pub(super) fn left_out(&self) -> Vec<String> {
        let cut = (self.cut > 0)
            .then(|| "of very long records only the beginning is shown, and the line that matched".to_owned());
        self.following().into_iter().chain(cut).collect()
    }

    fn following(&self) -> Option<String> {
        let last = self.last().filter(|_| self.following > 0)?;
        Some(match self.order {
            Order::NewestFirst => {
                format!("{} older matches: page with cursor `{last}`, or narrow pattern or window", self.following)
            }
            Order::OldestFirst => {
                format!("more matches follow: page with cursor `{last}`, or narrow pattern or window")
            }
        })
    }

    /// The rows in order of time.
    pub(super) fn rows(self) -> Vec<String> {
        self.rows.into_values().collect()
    }
}

/// A record so that a reader can cite it: time, level, place, text.
fn row(record: &Record<'_>) -> String {
    let text = String::from_utf8_lossy(record.text);
    let time = record.time.map_or_else(|| "-".to_owned(), rfc3339);
    let place = record.line.map_or_else(|| format!("@{}", record.offset), |line| format!(":{line}"));
    let mut row = format!("{time} {} {}{place} {}", record.level.as_str(), record.file, text.replace("\r\n", "\n"));
    if let Some(hit) = record.hit {
        row.push_str("\n... ");
        row.push_str(&String::from_utf8_lossy(hit));
    }
    if record.more > 0 {
        // Writing to a text can't fail.
        let _written = write!(row, "\n... {} more bytes of this record", record.more);
    }
    row
}
