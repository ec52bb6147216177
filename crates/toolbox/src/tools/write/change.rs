//! One replacement in the bytes of a file, whatever its encoding and its line ends.
//!
//! The text to replace must stand in the file exactly once. A line end in it stands for `\n` and for `\r\n` alike, and the
//! line ends of the new text become those of the file. No byte outside the match changes.

use std::ops::Range;

use memchr::memmem::Finder;

/// Lines of matches that are told where there is more than one.
const TOLD: usize = 8;

/// Why nothing is replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// Nothing to look for, or nothing to change.
    #[error("{0}")]
    Noop(&'static str),
    /// The text stands in the file never.
    #[error("`old_string` does not occur in the file; copy it as `read_file` shows it, without the line numbers")]
    Absent,
    /// The text stands in the file more than once.
    #[error("`old_string` occurs {} times, at lines {}; take more of the text around it", count(*.more, .lines), listed(.lines))]
    Many {
        /// The first lines at which it begins.
        lines: Vec<usize>,
        /// Whether there are more.
        more: bool,
    },
}

impl ChangeError {
    /// The finer reason.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Noop(_) => "NOOP",
            Self::Absent | Self::Many { .. } => "NOT_UNIQUE",
        }
    }
}

fn count(more: bool, lines: &[usize]) -> String {
    if more { format!("more than {}", lines.len()) } else { lines.len().to_string() }
}

fn listed(lines: &[usize]) -> String {
    lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// A change that can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The bytes that go.
    pub bytes: Range<usize>,
    /// The lines that they lie on, from 1 on.
    pub lines: Range<usize>,
    /// The file as it will be.
    pub after: Vec<u8>,
}

/// The content with each `\r\n` as `\n`, and where each of its bytes stands in the file.
struct Plain {
    bytes: Vec<u8>,
    places: Vec<usize>,
}

impl Plain {
    fn of(content: &[u8]) -> Self {
        let mut plain = Self { bytes: Vec::with_capacity(content.len()), places: Vec::with_capacity(content.len()) };
        let mut rest = content.iter().copied().enumerate().peekable();
        while let Some((at, byte)) = rest.next() {
            // The place of a line end is where its `\r` stands, so that both go or both stay.
            let byte = match (byte, rest.peek()) {
                (b'\r', Some((_, b'\n'))) => rest.next().map_or(byte, |(_, end)| end),
                _ => byte,
            };
            plain.bytes.push(byte);
            plain.places.push(at);
        }
        plain.places.push(content.len());
        plain
    }

    fn place(&self, at: usize) -> usize {
        self.places.get(at).copied().unwrap_or_default()
    }

    fn line(&self, at: usize) -> usize {
        1 + self.bytes.iter().take(at).filter(|byte| **byte == b'\n').count()
    }
}

/// Finds the one place of `old` and puts `new` there.
///
/// # Errors
/// [`ChangeError`].
pub fn change(content: &[u8], old: &str, new: &str) -> Result<Change, ChangeError> {
    let (old, new) = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
    if old.is_empty() {
        return Err(ChangeError::Noop("`old_string` is empty; name the text to replace"));
    }
    if old == new {
        return Err(ChangeError::Noop("`old_string` and `new_string` are the same"));
    }
    let plain = Plain::of(content);
    let at = only(&plain, &old)?;
    let end = at + old.len();
    let bytes = plain.place(at)..plain.place(end);
    let after = spliced(content, &bytes, &with_line_ends(&new, line_end(content, &bytes)));
    // A match that ends with a line end lies on the line that it ends.
    let lines = plain.line(at)..plain.line(end.saturating_sub(1)) + 1;
    Ok(Change { bytes, lines, after })
}

fn only(plain: &Plain, old: &str) -> Result<usize, ChangeError> {
    let finder = Finder::new(old.as_bytes());
    let mut found = Vec::new();
    let mut from = 0;
    // Matches that overlap count as well: each of them could be meant.
    while let Some(at) = plain.bytes.get(from..).and_then(|rest| finder.find(rest)) {
        found.push(from + at);
        from += at + 1;
        if found.len() > TOLD {
            break;
        }
    }
    match found.as_slice() {
        [] => Err(ChangeError::Absent),
        [at] => Ok(*at),
        _ => {
            let lines = found.iter().take(TOLD).map(|at| plain.line(*at)).collect();
            Err(ChangeError::Many { lines, more: found.len() > TOLD })
        }
    }
}

fn spliced(content: &[u8], bytes: &Range<usize>, new: &[u8]) -> Vec<u8> {
    let mut after = content.get(..bytes.start).unwrap_or_default().to_vec();
    after.extend_from_slice(new);
    after.extend_from_slice(content.get(bytes.end..).unwrap_or_default());
    after
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    Lf,
    CrLf,
}

/// The line end that new lines get: the first in the match, else the next one after it, else the last one before it.
fn line_end(content: &[u8], bytes: &Range<usize>) -> LineEnd {
    let ends = |at: usize| match at.checked_sub(1).and_then(|before| content.get(before)) {
        Some(b'\r') => LineEnd::CrLf,
        _ => LineEnd::Lf,
    };
    let next = content.get(bytes.start..).and_then(|rest| memchr::memchr(b'\n', rest)).map(|at| bytes.start + at);
    let last = || content.get(..bytes.start).and_then(|head| memchr::memrchr(b'\n', head));
    next.or_else(last).map_or(LineEnd::Lf, ends)
}

fn with_line_ends(text: &str, end: LineEnd) -> Vec<u8> {
    match end {
        LineEnd::Lf => text.as_bytes().to_vec(),
        LineEnd::CrLf => text.replace('\n', "\r\n").into_bytes(),
    }
}

#[cfg(test)]
mod tests;
