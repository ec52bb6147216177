//! The records of one block: those of which a line matches, or all.

use std::ops::ControlFlow;

use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkMatch};
use jiff::Timestamp;
use warrant_kernel::redact::guard::{cut_behind, lone_line};

use super::Record;
use crate::analysis::level::Level;
use crate::tools::sources::logs::block::Block;
use crate::tools::sources::logs::content::Nature;
use crate::tools::sources::logs::record::{Heads, parse};
use crate::tools::sources::logs::{Limits, Window};

/// Heads without a time take that of a head before them; further back than this none is looked for.
const HEADS_BACK: usize = 64;

/// What stays the same for all blocks of a file.
#[derive(Clone, Copy)]
pub(super) struct Context<'c> {
    pub(super) file: &'c str,
    pub(super) nature: Nature,
    pub(super) window: Window,
    pub(super) limits: Limits,
    /// Whether the first block begins the file, so that lines can be counted.
    pub(super) numbered: bool,
}

/// Goes through the records of a file, block by block.
pub(super) struct Records<'c> {
    context: Context<'c>,
    /// Lines before the block.
    lines: u64,
    /// Time and level of the record that the next block may go on with.
    last: Option<(Option<Timestamp>, Level)>,
}

type Visit<'v> = &'v mut dyn FnMut(&Record<'_>) -> ControlFlow<()>;

impl<'c> Records<'c> {
    pub(super) fn new(context: Context<'c>) -> Self {
        Self { context, lines: 0, last: None }
    }

    /// Leaves a block behind.
    pub(super) fn pass(&mut self, block: Block<'_>) {
        if self.context.numbered {
            self.lines += count_lines(block.text);
        }
        let view = View { text: block.text, heads: self.context.nature.heads };
        let last = view.head_at_or_before(block.text.len().saturating_sub(1));
        if view.is_head_at(last) {
            let head = parse(view.line_at(last));
            let time = head.stamp.and_then(|stamp| self.context.nature.zone.settle(stamp));
            self.last = Some((time.or_else(|| self.time_before(view, last)), head.level));
        }
    }

    /// Shows all records that begin in the block.
    pub(super) fn all(&mut self, block: Block<'_>, visit: Visit<'_>) -> ControlFlow<()> {
        let view = View { text: block.text, heads: self.context.nature.heads };
        let mut start = if block.continued { view.next_head(view.line_end(0)) } else { 0 };
        let mut time = self.last.and_then(|(time, _)| time).or(self.context.nature.first);
        let (mut counted, mut line) = (0, self.lines);
        while start < block.text.len() {
            let head = parse(view.line_at(start));
            let end = view.next_head(view.line_end(start));
            time = head.stamp.and_then(|stamp| self.context.nature.zone.settle(stamp)).or(time);
            if self.wants(time) {
                if self.context.numbered {
                    line += count_lines(block.text.get(counted..start).unwrap_or_default());
                    counted = start;
                }
                let record = self.record(block, view, start, end, start, (time, head.level, &head.message), line);
                visit(&record)?;
            }
            start = end;
        }
        ControlFlow::Continue(())
    }

    /// Shows the records of the block of which a line matches.
    pub(super) fn matching(
        &mut self,
        block: Block<'_>,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        visit: Visit<'_>,
    ) -> ControlFlow<()> {
        let mut hits =
            Hits { records: self, block, done: 0, counted: 0, line: None, visit, flow: ControlFlow::Continue(()) };
        let outcome = searcher.search_slice(matcher, block.text, &mut hits);
        debug_assert!(outcome.is_ok(), "a slice in memory can be searched");
        hits.flow
    }

    /// Whether a record of this time lies in the window; a file without times lies in every window it was written in.
    fn wants(&self, time: Option<Timestamp>) -> bool {
        time.map_or(self.context.nature.heads == Heads::Untimed || self.context.nature.first.is_none(), |time| {
            self.context.window.holds(time)
        })
    }

    fn time_before(&self, view: View<'_>, head: usize) -> Option<Timestamp> {
        let mut at = head;
        for _ in 0..HEADS_BACK {
            let Some(before) = at.checked_sub(1) else { break };
            at = view.head_at_or_before(before);
            let stamp = parse(view.line_at(at)).stamp;
            if let Some(time) = stamp.and_then(|stamp| self.context.nature.zone.settle(stamp)) {
                return Some(time);
            }
        }
        self.last.and_then(|(time, _)| time).or(self.context.nature.first)
    }

    /// The record that lies at `start..end` of the block; `hit` is where the matching line begins.
    #[expect(clippy::too_many_arguments, reason = "a record is made in two places, from what each knows anyway")]
    fn record<'r>(
        &self,
        block: Block<'r>,
        view: View<'r>,
        start: usize,
        end: usize,
        hit: usize,
        (time, level, message): (Option<Timestamp>, Level, &'r str),
        line: u64,
    ) -> Record<'r>
    where
        'c: 'r,
    {
        let (shown, more) = self.bounded(block.text.get(start..end).unwrap_or_default());
        Record {
            file: self.context.file,
            offset: block.offset + start as u64,
            line: self.context.numbered.then_some(line + 1),
            time,
            level,
            message,
            text: shown,
            more,
            hit: (hit >= start + shown.len()).then(|| head_of(view.line_at(hit), self.context.limits.record_bytes)),
        }
    }

    /// What is kept of a record's text, and how many bytes are not.
    fn bounded<'t>(&self, text: &'t [u8]) -> (&'t [u8], u64) {
        let trimmed = text.trim_ascii_end();
        let by_lines = memchr::memchr_iter(b'\n', trimmed).nth(self.context.limits.record_lines.saturating_sub(1));
        let end = by_lines.unwrap_or(trimmed.len()).min(self.context.limits.record_bytes);
        let kept = trimmed.get(..end).unwrap_or(trimmed);
        let kept = match trimmed.get(end) {
            None => kept,
            // Cut between lines: only lines may be missing.
            Some(b'\n') => cut_behind(trimmed.get(..=end).unwrap_or(kept)).trim_ascii_end(),
            Some(_) => cut_behind(kept),
        };
        (kept, (trimmed.len() - kept.len()) as u64)
    }
}

fn count_lines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// Lines and heads in a block.
#[derive(Clone, Copy)]
struct View<'b> {
    text: &'b [u8],
    heads: Heads,
}

impl<'b> View<'b> {
    /// Where the line that holds `at` ends, its line break included.
    fn line_end(self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        memchr::memchr(b'\n', rest).map_or(self.text.len(), |newline| at + newline + 1)
    }

    fn line_start(self, at: usize) -> usize {
        memchr::memrchr(b'\n', self.text.get(..at).unwrap_or_default()).map_or(0, |newline| newline + 1)
    }

    fn line_at(self, start: usize) -> &'b [u8] {
        self.text.get(start..self.line_end(start)).unwrap_or_default().trim_ascii_end()
    }

    fn is_head_at(self, start: usize) -> bool {
        self.heads.is_head(self.line_at(start))
    }

    /// The first head at or after the line that begins at `start`; the end of the block where there is none.
    fn next_head(self, mut start: usize) -> usize {
        while start < self.text.len() && !self.is_head_at(start) {
            start = self.line_end(start);
        }
        start
    }

    /// The head of the record that holds `at`; the beginning of the block where its head is not in it.
    fn head_at_or_before(self, at: usize) -> usize {
        let mut start = self.line_start(at);
        while start > 0 && !self.is_head_at(start) {
            start = self.line_start(start - 1);
        }
        start
    }
}

/// Receives the lines that match.
struct Hits<'h, 'c, 'v> {
    records: &'h Records<'c>,
    block: Block<'h>,
    /// The end of the record shown last: further hits in it are the same record.
    done: usize,
    counted: usize,
    line: Option<u64>,
    visit: Visit<'v>,
    flow: ControlFlow<()>,
}

impl Sink for &mut Hits<'_, '_, '_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, std::io::Error> {
        let Ok(hit) = usize::try_from(found.absolute_byte_offset()) else { return Ok(true) };
        if hit < self.done {
            return Ok(true);
        }
        let view = View { text: self.block.text, heads: self.records.context.nature.heads };
        let start = view.head_at_or_before(hit);
        let end = view.next_head(view.line_end(hit));
        self.done = end;
        let head = parse(view.line_at(start));
        let stamp = head.stamp.and_then(|stamp| self.records.context.nature.zone.settle(stamp));
        let (time, level) = match self.records.last {
            Some((time, level)) if start == 0 && self.block.continued => (time, level),
            Some(_) | None => (stamp.or_else(|| self.records.time_before(view, start)), head.level),
        };
        if !self.records.wants(time) {
            return Ok(true);
        }
        let mut line = self.line.unwrap_or(self.records.lines);
        if self.records.context.numbered {
            line += count_lines(self.block.text.get(self.counted..start).unwrap_or_default());
            self.counted = start;
            self.line = Some(line);
        }
        let facts = (time, level, &*head.message);
        let record = self.records.record(self.block, view, start, end, hit, facts, line);
        self.flow = (self.visit)(&record);
        Ok(self.flow.is_continue())
    }
}

/// A line out of its record, up to a limit.
fn head_of(text: &[u8], most: usize) -> &[u8] {
    lone_line(text.get(..most).map_or(text, cut_behind))
}
