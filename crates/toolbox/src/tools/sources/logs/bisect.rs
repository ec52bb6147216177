//! The bytes of a plain file that hold a time window, found by bisection over byte offsets.
//!
//! Every shortcut errs to the safe side: where a probe finds no time, more of the file is read, never less. Records may
//! stand up to `disorder` from their place in time.

use std::fs::File;
use std::io;
use std::ops::Range;

use jiff::{SignedDuration, Timestamp};

use crate::tools::sources::logs::Window;
use crate::tools::sources::logs::content::{Nature, read_at};
use crate::tools::sources::logs::record::parse;

/// The first look of a probe; each further look is twice as long.
const FIRST_LOOK: usize = 4 << 10;
/// A probe gives up after this much without a time.
const LAST_LOOK: usize = 1 << 20;

/// A file to be bisected.
pub struct Bisection<'f> {
    file: &'f File,
    size: u64,
    nature: Nature,
    read: u64,
    buffer: Vec<u8>,
}

impl<'f> Bisection<'f> {
    /// Of the first `size` bytes of a file.
    #[must_use]
    pub fn new(file: &'f File, size: u64, nature: Nature) -> Self {
        Self { file, size, nature, read: 0, buffer: Vec::new() }
    }

    /// A range that begins at the head of a record (or at 0), ends before one (or at the end of the file) and holds every
    /// record of the window; parts smaller than `fine` are not halved further.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn range(&mut self, window: Window, disorder: SignedDuration, fine: u64) -> io::Result<Range<u64>> {
        let earliest = window.from.checked_sub(disorder).unwrap_or(Timestamp::MIN);
        let latest = window.to.checked_add(disorder).unwrap_or(Timestamp::MAX);
        let (mut start, mut upper) = (0, self.size);
        while upper - start > fine {
            let middle = start + (upper - start) / 2;
            match self.probe(middle, upper)? {
                Some((head, time)) if time < earliest => start = head,
                Some(_) | None => upper = middle,
            }
        }
        let (mut lower, mut upper, mut end) = (start, self.size, self.size);
        while upper - lower > fine {
            let middle = lower + (upper - lower) / 2;
            match self.probe(middle, upper)? {
                Some((head, time)) if time > latest => {
                    end = head;
                    upper = middle;
                }
                Some((head, _)) => lower = head,
                None => upper = middle,
            }
        }
        Ok(start..end)
    }

    /// How many bytes were read to find out.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.read
    }

    /// The first record with a time that begins in `from..to`; none where there is none, or none near.
    fn probe(&mut self, from: u64, to: u64) -> io::Result<Option<(u64, Timestamp)>> {
        let mut look = FIRST_LOOK;
        loop {
            // One byte before, so that a line that begins exactly here is seen to begin.
            let begin = from.saturating_sub(1);
            self.buffer.resize(look, 0);
            let length = read_at(self.file, &mut self.buffer, begin)?;
            self.read += length as u64;
            let text = self.buffer.get(..length).unwrap_or_default();
            let mut at = memchr::memchr(b'\n', text).map_or(length, |newline| newline + 1);
            let mut rest = text.get(at..).unwrap_or_default();
            while begin + (at as u64) < to
                && let Some(newline) = memchr::memchr(b'\n', rest)
            {
                let (line, after) = rest.split_at_checked(newline + 1).unwrap_or_default();
                if let Some(time) = self.time_of(line.trim_ascii_end()) {
                    return Ok(Some((begin + at as u64, time)));
                }
                at += line.len();
                rest = after;
            }
            if begin + at as u64 >= to || length < look || look >= LAST_LOOK {
                return Ok(None);
            }
            look *= 2;
        }
    }

    fn time_of(&self, line: &[u8]) -> Option<Timestamp> {
        let head = self.nature.heads.is_head(line).then(|| parse(line))?;
        self.nature.zone.settle(head.stamp?)
    }
}
