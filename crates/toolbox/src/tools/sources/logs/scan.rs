//! Shows every record of some logs that lies in a time window and matches.
//!
//! Make a [`Scan`], then [`Scan::log`] each log; ask [`Scan::report`] at the end what was read and what was not. A file that
//! can't be read, or not to its end, is a note in the report and never ends the scan; only a cancel does.

mod records;

use std::io::{self, Read};
use std::ops::ControlFlow;

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::ReadError;

use crate::analysis::level::Level;
use crate::tools::sources::logs::bisect::Bisection;
use crate::tools::sources::logs::block::Blocks;
use crate::tools::sources::logs::content::{self, Nature};
use crate::tools::sources::logs::files::{Log, LogFile};
use crate::tools::sources::logs::record::Heads;
use crate::tools::sources::logs::{Limits, Window};
use records::{Context, Records};

/// One record, as it is shown to a visitor.
#[derive(Debug, Clone, Copy)]
pub struct Record<'r> {
    /// The file it stands in.
    pub file: &'r str,
    /// Where it begins in the file's text.
    pub offset: u64,
    /// Its line, counted from 1, where the file was read from its beginning.
    pub line: Option<u64>,
    /// Its time; that of the record before where it has none; none in a file without times.
    pub time: Option<Timestamp>,
    /// Its level.
    pub level: Level,
    /// What it says, without time; of a structured record the message and the error.
    pub message: &'r str,
    /// Its text with line breaks, as much as is kept of one.
    pub text: &'r [u8],
    /// Bytes of it that are not in `text`.
    pub more: u64,
    /// The line that matched, where it is not in `text`.
    pub hit: Option<&'r [u8]>,
}

/// Which files of a log are read first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The newest: what a budget cuts is the oldest.
    NewestFirst,
    /// The oldest: a visitor may end the log once it has enough.
    OldestFirst,
}

/// What a scan read, and what it did not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Files that were read.
    pub files: Vec<String>,
    /// Bytes of text that were read, bisection included.
    pub bytes: u64,
    /// The offset that times without a zone were taken to have, where it is not UTC.
    pub offset: Option<Offset>,
    /// What was not read, and why; one sentence each.
    pub notes: Vec<String>,
}

/// A scan under way.
pub struct Scan<'s> {
    window: Window,
    matcher: Option<&'s RegexMatcher>,
    limits: Limits,
    cancel: &'s CancellationToken,
    searcher: Searcher,
    unpacked: u64,
    report: Report,
}

/// A file and what of it is read.
struct Part<'l> {
    file: &'l LogFile,
    nature: Nature,
}

impl<'s> Scan<'s> {
    /// A scan of `window` for records of which a line matches; for all of them without a matcher.
    #[must_use]
    pub fn new(
        window: Window,
        matcher: Option<&'s RegexMatcher>,
        limits: Limits,
        cancel: &'s CancellationToken,
    ) -> Self {
        let searcher = SearcherBuilder::new()
            .line_number(false)
            .bom_sniffing(false)
            .binary_detection(BinaryDetection::none())
            .build();
        Self { window, matcher, limits, cancel, searcher, unpacked: 0, report: Report::default() }
    }

    /// What was read.
    #[must_use]
    pub fn report(self) -> Report {
        self.report
    }

    /// Shows the records of one log to `visit`. `Break` ends this log.
    ///
    /// # Errors
    /// [`ReadError::Cancelled`] only.
    pub fn log(
        &mut self,
        log: &Log,
        order: Order,
        visit: &mut dyn FnMut(&Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        let mut parts = self.parts(log);
        if order == Order::OldestFirst {
            parts.reverse();
        }
        for part in &parts {
            if self.part(part, visit)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The files that may hold records of the window, newest first.
    fn parts<'l>(&mut self, log: &'l Log) -> Vec<Part<'l>> {
        let mut parts = Vec::new();
        let earliest = self.window.from.checked_sub(self.limits.disorder).unwrap_or(Timestamp::MIN);
        let latest = self.window.to.checked_add(self.limits.disorder).unwrap_or(Timestamp::MAX);
        let mut zone = None;
        for file in log.files.iter().rev() {
            zone = zone.or_else(|| content::offset_of(file));
            let nature = match content::nature(file, zone) {
                Ok(nature) => nature,
                Err(error) => {
                    self.note(file, &error);
                    continue;
                }
            };
            if nature.zone.offset != Offset::UTC {
                self.report.offset = Some(nature.zone.offset);
            }
            if nature.first.is_none_or(|first| first <= latest) {
                parts.push(Part { file, nature });
            }
            // What was rotated away before this file began is older than its first record.
            if log.has_live && nature.first.is_some_and(|first| first < earliest) {
                break;
            }
        }
        parts
    }

    fn part(
        &mut self,
        part: &Part<'_>,
        visit: &mut dyn FnMut(&Record<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, ReadError> {
        let file = part.file;
        self.report.files.push(file.name.clone());
        if self.report.bytes >= self.limits.read {
            self.report
                .notes
                .push(format!("`{}` was not read: the call has read its share; narrow the window", file.name));
            return Ok(ControlFlow::Continue(()));
        }
        let unpacked = match content::unpack(file) {
            Ok(unpacked) => unpacked,
            Err(error) => {
                self.note(file, &error);
                return Ok(ControlFlow::Continue(()));
            }
        };
        if let Some(text) = unpacked {
            let left = self.limits.decompressed.saturating_sub(self.unpacked);
            // One byte more than is left tells a text that just fits from one that does not.
            let mut capped = text.take(left.saturating_add(1));
            let flow = self.text(part, &mut capped, 0, visit)?;
            let read = left.saturating_add(1) - capped.limit();
            self.unpacked += read;
            if read > left {
                self.report.notes.push(format!(
                    "`{}` was read up to {left} bytes of its text only: the budget for decompression of {} bytes is spent; \
                     narrow the time window",
                    file.name, self.limits.decompressed
                ));
            }
            return Ok(flow);
        }
        match self.range(part).and_then(|range| Ok((range.start, content::plain(file, range.start, range.end)?))) {
            Ok((offset, mut text)) => self.text(part, &mut text, offset, visit),
            Err(error) => {
                self.note(file, &error);
                Ok(ControlFlow::Continue(()))
            }
        }
    }

    fn range(&mut self, part: &Part<'_>) -> io::Result<std::ops::Range<u64>> {
        if part.nature.heads == Heads::Untimed {
            return Ok(0..part.file.size);
        }
        let mut bisection = Bisection::new(&part.file.file, part.file.size, part.nature);
        let range = bisection.range(self.window, self.limits.disorder, self.limits.fine);
        self.report.bytes += bisection.bytes_read();
        range
    }

    fn text(
        &mut self,
        part: &Part<'_>,
        text: &mut dyn Read,
        offset: u64,
        visit: &mut dyn FnMut(&Record<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, ReadError> {
        let file = part.file;
        let mut blocks = Blocks::new(text, part.nature.heads, offset, self.limits.block);
        let context = Context {
            file: &file.name,
            nature: part.nature,
            window: self.window,
            limits: self.limits,
            numbered: offset == 0,
        };
        let mut records = Records::new(context);
        let mut flow = ControlFlow::Continue(());
        while let Some(block) = blocks.next_block() {
            if self.cancel.is_cancelled() {
                return Err(ReadError::Cancelled);
            }
            flow = match self.matcher {
                Some(matcher) => records.matching(block, &mut self.searcher, matcher, visit),
                None => records.all(block, visit),
            };
            records.pass(block);
            if flow.is_break() {
                break;
            }
            if self.report.bytes + blocks.bytes_read() >= self.limits.read {
                self.report.notes.push(format!(
                    "`{}` was read in part: the call has read its share of {} bytes; narrow the window",
                    file.name, self.limits.read
                ));
                break;
            }
        }
        self.report.bytes += blocks.bytes_read();
        if let Some(error) = blocks.broke() {
            let read = blocks.bytes_read();
            self.report.notes.push(format!(
                "`{}` broke off after {read} bytes of text: {error}; what came before was used",
                file.name
            ));
        }
        if blocks.long_lines() > 0 {
            self.report.notes.push(format!(
                "`{}`: {} lines are longer than {} bytes; only their beginning was looked at",
                file.name,
                blocks.long_lines(),
                self.limits.block
            ));
        }
        Ok(flow)
    }

    fn note(&mut self, file: &LogFile, error: &io::Error) {
        self.report.notes.push(format!("`{}` was not read: {error}", file.name));
    }
}

/// The slack of time with which files are chosen by their time of modification.
#[must_use]
pub fn chosen_since(window: Window, disorder: SignedDuration) -> Timestamp {
    window.from.checked_sub(disorder).unwrap_or(Timestamp::MIN)
}

#[cfg(test)]
mod tests;
