//! Text as it would be without the line break in a secret.
//!
//! A writer that wraps, a transport with a largest record, a stream in chunks: each may divide a secret, whose rest then
//! begins the next line, or stands there behind what all lines of that log begin with. A [`Seam`] is the run of
//! characters up to a break and the run behind it as one text. Breaks between records, as most are, cost a glance.

use std::ops::Range;

use super::placeholder::BLANK;
use super::value;

/// How much before the run at a break is looked at with it: the name, and what may stand between.
const BEFORE: usize = 96;
/// The longest run on either side, and the longest text put together.
const LONGEST: usize = 4 * 1024;
/// How much of a run, and of a name, tells whether to look.
const NEAR: usize = 512;
const NAME: usize = 24;
/// The same of what stands before a run.
const NEAR_BEFORE: usize = 48;
/// Runs that are shorter together are no token.
const SHORTEST: usize = 16;
/// Before the rest of a line that Docker wrote in parts.
const DOCKER: &[u8] = b"{\"log\":\"";

/// The characters around one or more breaks, without them.
pub(super) struct Seam {
    pub(super) text: Vec<u8>,
    /// Where each byte stood, and where the last one ended.
    pub(super) map: Vec<usize>,
    /// What was left out: breaks, with what the next line begins with.
    pub(super) gaps: Vec<Range<usize>>,
}

/// What tells at a glance whether a break is worth a look.
pub(super) struct Glance<'t> {
    /// Where the run before the break ends.
    pub(super) end: usize,
    /// What stands before that run, with its first characters.
    pub(super) before: &'t [u8],
    /// Both runs as one, as far as they are near.
    pub(super) joined: &'t [u8],
    /// Whether the next line begins with a field: then only the name of it may be divided.
    pub(super) is_field: bool,
}

/// Calls `look` with each seam of `text` that is `wanted`.
pub(super) fn each<E>(
    text: &[u8],
    mut wanted: impl FnMut(&Glance<'_>) -> Result<bool, E>,
    mut look: impl FnMut(&Seam) -> Result<(), E>,
) -> Result<(), E> {
    let (mut start, mut done, mut joined) = (0, 0, Vec::new());
    for at in memchr::memchr_iter(b'\n', text) {
        let line_start = std::mem::replace(&mut start, at + 1).max(at.saturating_sub(LONGEST));
        let next = text.get(at + 1..).unwrap_or_default();
        let record = matches!(next.first(), None | Some(&BLANK | b'\n' | b'[' | b'(' | b'<' | b'#'))
            || next.starts_with(b"{") && !next.starts_with(DOCKER);
        if at < done || record {
            continue;
        }
        // A time or an address begins a record, unless all lines of this log begin so.
        if begins_stamp(next) && !text.get(line_start..).is_some_and(begins_stamp) {
            continue;
        }
        let Some(line) = Line::before(text, line_start, at) else { continue };
        let rest = run_at(text, line.rest(text, at));
        let Some((looked, is_field)) = line.goes_on(text, &rest) else { continue };
        let near = if is_field { NAME } else { NEAR };
        joined.clear();
        let run = line.run.start.max(looked).max(line.run.end.saturating_sub(near));
        joined.extend_from_slice(text.get(run..line.run.end).unwrap_or_default());
        joined.extend_from_slice(text.get(rest.start..rest.end.min(rest.start + near)).unwrap_or_default());
        let before = looked.max(line.run.start.saturating_sub(NEAR_BEFORE))..line.run.end.min(line.run.start + 8);
        let before = text.get(before).unwrap_or_default();
        if !wanted(&Glance { end: line.run.end, before, joined: &joined, is_field })? {
            continue;
        }
        let (seam, next) = Seam::at(text, &line, at, looked, rest);
        done = next;
        look(&seam)?;
        if let Some(spaced) = seam.spaced() {
            look(&spaced)?;
        }
    }
    Ok(())
}

impl Seam {
    /// The line from `looked` on and the `rest`, which is behind the break `at`; and up to where breaks need no look of
    /// their own.
    fn at(text: &[u8], line: &Line, at: usize, looked: usize, mut rest: Range<usize>) -> (Self, usize) {
        let mut seam = Self { text: Vec::new(), map: Vec::new(), gaps: Vec::new() };
        seam.push(text, looked..line.run.end);
        let mut part = line.with_value(text, rest.clone());
        let mut from = line.run.end;
        let mut next = at + 1;
        loop {
            let is_run = part == rest;
            part.end = without_backslash(text, part.clone());
            seam.gaps.push(from..part.start);
            seam.push(text, part.clone());
            from = part.end;
            // A run that is all of its line may go on in the next.
            let Some(behind) = end_of_line(text, rest.end).filter(|_| is_run && seam.text.len() < LONGEST) else {
                break;
            };
            let more = run_at(text, behind);
            // What is a word is the next line's, not the rest of a rest.
            if begins_record(text, &more) || !is_rest(text.get(more.clone()).unwrap_or_default()) {
                break;
            }
            // What is behind half of the limit is looked at again, with more behind it.
            if seam.text.len() < LONGEST / 2 {
                next = behind;
            }
            (rest, part) = (more.clone(), more);
        }
        seam.map.push(from);
        (seam, next)
    }

    /// The same with a space for the first break, where it may have stood for one: between a name and its value.
    fn spaced(&self) -> Option<Self> {
        let gap = self.gaps.first()?;
        let at = self.map.iter().position(|&place| place >= gap.end)?;
        let (head, rest) = (self.text.get(..at)?, self.text.get(at..)?);
        let blank = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == b' ');
        if blank(head.last()) || blank(rest.first()) || !is_rest(rest.split(|byte| *byte == b' ').next()?) {
            return None;
        }
        let text = [head, b" ", rest].concat();
        let map = [self.map.get(..at)?, &[gap.end], self.map.get(at..)?].concat();
        Some(Self { text, map, gaps: self.gaps.clone() })
    }

    fn push(&mut self, text: &[u8], part: Range<usize>) {
        self.text.extend_from_slice(text.get(part.clone()).unwrap_or_default());
        self.map.extend(part);
    }

    /// What is left of a stretch of the original without the gaps.
    pub(super) fn pieces(&self, span: &Range<usize>) -> Vec<Range<usize>> {
        let mut pieces = Vec::new();
        let mut from = span.start;
        for gap in self.gaps.iter().filter(|gap| gap.start < span.end && gap.end > span.start) {
            pieces.push(from..gap.start.max(from));
            from = gap.end.max(from);
        }
        pieces.push(from..span.end.max(from));
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }
}

/// A line up to a break.
struct Line {
    whole: Range<usize>,
    /// The run of characters that ends it, but for what closes it.
    run: Range<usize>,
}

impl Line {
    /// None where it ends as what is divided does not.
    fn before(text: &[u8], start: usize, at: usize) -> Option<Self> {
        let end = if text.get(..at)?.ends_with(b"\r") { at - 1 } else { at };
        let blank = usize::from(text.get(..end)?.ends_with(b" "));
        let last = *text.get(end.checked_sub(1 + blank)?)?;
        if last.is_ascii_whitespace() || matches!(last, BLANK | b']' | b')' | b'>') {
            return None;
        }
        let mut run = run_before(text, start, end - blank).start..end;
        if last == b'}' {
            // Docker's part of a line: not its end where no line break stands before the closing quote.
            let line = text.get(start..end)?;
            let close = line.starts_with(DOCKER).then(|| find(line, b"\",\"stream\":\""))??;
            if line.get(..close)?.ends_with(b"\\n") {
                return None;
            }
            run = run_before(text, start + DOCKER.len(), start + close);
        }
        run.end = without_backslash(text, run.clone());
        (!run.is_empty()).then_some(Self { whole: start..end, run })
    }

    /// Where the rest begins behind the break: behind what both lines begin with.
    fn rest(&self, text: &[u8], at: usize) -> usize {
        let next = text.get(at + 1..(at + 1 + LONGEST).min(text.len())).unwrap_or_default();
        let next = next.get(..memchr::memchr(b'\n', next).unwrap_or(next.len())).unwrap_or_default();
        let line = text.get(self.whole.clone()).unwrap_or_default();
        let same = if next.starts_with(DOCKER) && line.starts_with(DOCKER) { DOCKER.len() } else { alike(line, next) };
        at + 1 + same
    }

    /// From where this line is of interest, and whether a field begins the next one, if `rest` may be the rest of what it ends with.
    fn goes_on(&self, text: &[u8], rest: &Range<usize>) -> Option<(usize, bool)> {
        let run = text.get(self.run.clone()).unwrap_or_default();
        let more = text.get(rest.clone()).unwrap_or_default();
        let first = *more.first()?;
        if matches!(first, BLANK | b'[' | b'(' | b'<' | b'{' | b'#') || begins_stamp(more) {
            return None;
        }
        // Of a name with its value a part of the name may stand before.
        let is_field = begins_field(more) && !run.ends_with(b"//");
        let quote = |byte: Option<&u8>| matches!(byte, Some(b'"' | b'\''));
        let opened = matches!(run.last(), Some(b'=' | b':' | b' ')) || quote(run.last()) || quote(run.first());
        let opened = opened && !is_field;
        let one = run.last().is_some_and(|byte| in_name(*byte)) && in_name(first);
        let looked = self.run.start.saturating_sub(BEFORE).max(self.whole.start);
        (opened || if is_field { one } else { run.len() + more.len() >= SHORTEST }).then_some((looked, is_field))
    }

    /// `rest` up to the quote that closes what this line left open, and with the value where it is a name.
    fn with_value(&self, text: &[u8], rest: Range<usize>) -> Range<usize> {
        let line = text.get(self.whole.clone()).unwrap_or_default();
        let more = text.get(rest.clone()).unwrap_or_default();
        let encoded = |run: &[u8]| run.iter().any(|byte| matches!(byte, b'\\' | b'%'));
        let is_name = matches!(more.last(), Some(b'=' | b':' | b'>' | b'"' | b'\'' | b','));
        if is_name || encoded(more) || encoded(text.get(self.run.clone()).unwrap_or_default()) {
            let blanks =
                text.get(rest.end..).unwrap_or_default().iter().take(4).take_while(|byte| **byte == b' ').count();
            let value = run_at(text, rest.end + blanks);
            return rest.start..if blanks > 0 { value.end } else { rest.end };
        }
        let open = memchr::memchr_iter(b'"', line).count() % 2 == 1;
        let reach = text.get(rest.start..(rest.start + LONGEST / 4).min(text.len())).unwrap_or_default();
        match reach.iter().position(|byte| matches!(byte, b'"' | b'\n')) {
            Some(close) if open && reach.get(close) == Some(&b'"') => {
                rest.start..(rest.start + close + 1).max(rest.end)
            }
            Some(_) | None => rest,
        }
    }
}

/// Where a run ends but for the backslash which says that the line goes on; not one of an escape that was divided.
fn without_backslash(text: &[u8], run: Range<usize>) -> usize {
    match text.get(run.clone()).and_then(|run| run.split_last()) {
        Some((b'\\', rest)) if !rest.contains(&b'\\') => run.end - 1,
        _ => run.end,
    }
}

fn run_before(text: &[u8], start: usize, end: usize) -> Range<usize> {
    let line = text.get(start..end).unwrap_or_default();
    end - line.iter().rev().take_while(|byte| !byte.is_ascii_whitespace()).count()..end
}

fn run_at(text: &[u8], start: usize) -> Range<usize> {
    let line = text.get(start..(start + LONGEST).min(text.len())).unwrap_or_default();
    start..start + line.iter().take_while(|byte| !byte.is_ascii_whitespace()).count()
}

/// Where the next line begins, if this one ends at `at`.
fn end_of_line(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at..)? {
        [b'\n', ..] => Some(at + 1),
        [b'\r', b'\n', ..] => Some(at + 2),
        _ => None,
    }
}

fn begins_record(text: &[u8], run: &Range<usize>) -> bool {
    let run = text.get(run.clone()).unwrap_or_default();
    matches!(run.first(), Some(&BLANK | b'[' | b'(' | b'<' | b'{' | b'#')) || begins_stamp(run) || begins_field(run)
}

/// `2026-05-04...`, `10.2.3.4`, `10:11:12`.
fn begins_stamp(run: &[u8]) -> bool {
    let digits =
        |from: usize| run.get(from..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count();
    let first = digits(0);
    let sign = run.get(first).copied().unwrap_or_default();
    let second = digits(first + 1);
    match sign {
        b'-' | b'/' => first == 4 && second == 2 && run.get(7) == Some(&sign),
        b'.' => (1..=3).contains(&first) && (1..=3).contains(&second) && run.get(first + 1 + second) == Some(&b'.'),
        b':' => (1..=2).contains(&first) && second == 2,
        _ => false,
    }
}

const fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// `name=...`, `name: ...`, `"name": ...`
fn begins_field(run: &[u8]) -> bool {
    let quoted = |from: usize| {
        let rest = run.get(from..).unwrap_or_default();
        rest.iter().take(4).take_while(|byte| matches!(byte, b'"' | b'\'' | b'\\')).count()
    };
    let open = quoted(0);
    let name = run.get(open..).unwrap_or_default().iter().take(48).take_while(|byte| in_name(**byte)).count();
    let close = open + name + quoted(open + name);
    // A sign at the end of a run may be the padding of base64.
    match run.get(close..) {
        Some([b':', ..]) => name > 0,
        Some([b'=', next, ..]) => name > 0 && *next != b'=',
        _ => false,
    }
}

/// Whether a run may be the rest of a token that began in the line before, or the value of a name that stands there, and
/// not the first word of the next line.
pub(super) fn is_rest(run: &[u8]) -> bool {
    value::is_mixed(run) && !begins_field(run) && !begins_stamp(run)
}

/// How long the words are with which both lines begin, digits and capital letters taken for one another: the time, the
/// host, the level, the stream.
fn alike(line: &[u8], next: &[u8]) -> usize {
    let same = line.iter().zip(next).take(256).take_while(|(left, right)| {
        left == right
            || left.is_ascii_digit() && right.is_ascii_digit()
            || left.is_ascii_uppercase() && right.is_ascii_uppercase()
    });
    let same = same.count();
    let words = next.get(..same).unwrap_or_default().iter().rposition(|&byte| byte == b' ').map_or(0, |at| at + 1);
    // Where the line is indented, what follows is.
    words + next.get(words..).unwrap_or_default().iter().take(8).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).rposition(|window| window == part)
}
