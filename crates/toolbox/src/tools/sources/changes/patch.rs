//! Reads what `git log -p -U0` and `git diff -U0` print.
//!
//! A hunk's own line counts say which lines are its content, so content that imitates a header stays content. Names and
//! lines may be anything: what does not fit is passed over, nothing is trusted and all is bounded.

use jiff::Timestamp;
use warrant_kernel::redact::guard::{first_chars, lone_line};

/// Most lines of one side of a hunk that are kept.
pub const MAX_LINES: usize = 20;
/// Most characters of a line that are kept.
pub const MAX_CHARS: usize = 300;

/// Begins a commit's header line; no line of a patch begins with it.
pub const COMMIT_FORMAT: &str = "--format=%x00%H%x00%ct%x00%an%x00%s";

/// A commit, as far as a row tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its whole id.
    pub id: String,
    /// When it was committed.
    pub at: Timestamp,
    /// Its author's name.
    pub author: String,
    /// The first line of its message.
    pub subject: String,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// It was there before and after.
    Edited,
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
}

/// One place where a file changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The file, from the top of the repository.
    pub file: String,
    /// What happened to it.
    pub change: FileChange,
    /// First line concerned in the old file; for a pure addition the line after which it stands.
    pub old_line: u64,
    /// First line concerned in the new file; for a pure removal the line after which it stood.
    pub new_line: u64,
    /// The lines that went.
    pub before: Vec<String>,
    /// The lines that came.
    pub after: Vec<String>,
    /// Lines that went or came and are not kept here.
    pub more: u64,
    /// Whether a line was cut.
    pub cut: bool,
    /// Whether Git takes the file for binary; there are no lines then.
    pub binary: bool,
}

/// A commit with its hunks in the order of the patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// None for changes that are not committed.
    pub commit: Option<Commit>,
    /// Its hunks.
    pub hunks: Vec<Hunk>,
    /// Hunks beyond the limit.
    pub more: u64,
}

/// Reads a patch, at most `limit` hunks of each commit.
#[must_use]
pub fn parse(patch: &[u8], limit: usize) -> Vec<Section> {
    let mut parser = Parser { sections: Vec::new(), limit, file: None, hunk: None, left: (0, 0), mentioned: false };
    for line in patch.split(|byte| *byte == b'\n') {
        parser.line(line);
    }
    parser.end_file();
    parser.sections
}

struct Parser {
    sections: Vec<Section>,
    limit: usize,
    file: Option<(String, FileChange)>,
    hunk: Option<Hunk>,
    left: (u64, u64),
    /// Whether the file has a hunk; one without is told by its name alone.
    mentioned: bool,
}

impl Parser {
    fn line(&mut self, line: &[u8]) {
        if self.left != (0, 0) && self.content(line) {
            return;
        }
        let text = String::from_utf8_lossy(line);
        if let Some(header) = text.strip_prefix('\0') {
            self.end_file();
            self.sections.push(Section { commit: commit(header), hunks: Vec::new(), more: 0 });
        } else if let Some(names) = text.strip_prefix("diff --git ") {
            self.end_file();
            self.file = name(names).map(|name| (name, FileChange::Edited));
        } else if text.starts_with("new file mode") {
            self.set_change(FileChange::Added);
        } else if text.starts_with("deleted file mode") {
            self.set_change(FileChange::Deleted);
        } else if text.starts_with("Binary files ") {
            self.begin((0, 0, 0, 0), true);
        } else if let Some(range) = text.strip_prefix("@@ ").and_then(range) {
            self.begin(range, false);
        }
    }

    fn content(&mut self, line: &[u8]) -> bool {
        let Some(hunk) = &mut self.hunk else { return false };
        let side = match line.split_first() {
            Some((b'-', rest)) if self.left.0 > 0 => {
                self.left.0 -= 1;
                Some((&mut hunk.before, rest))
            }
            Some((b'+', rest)) if self.left.1 > 0 => {
                self.left.1 -= 1;
                Some((&mut hunk.after, rest))
            }
            Some((b'\\', _)) => None,
            _ => {
                self.left = (0, 0);
                return false;
            }
        };
        if let Some((lines, rest)) = side {
            if lines.len() >= MAX_LINES {
                hunk.more += 1;
            } else {
                let (text, cut) = kept(rest);
                hunk.cut |= cut;
                lines.push(text);
            }
        }
        true
    }

    fn set_change(&mut self, to: FileChange) {
        if let Some((_, change)) = &mut self.file {
            *change = to;
        }
    }

    fn begin(&mut self, (old_line, old, new_line, new): (u64, u64, u64, u64), binary: bool) {
        self.end_hunk();
        let Some((file, change)) = self.file.clone() else { return };
        self.left = (old, new);
        self.mentioned = true;
        let (before, after) = (Vec::new(), Vec::new());
        self.hunk = Some(Hunk { file, change, old_line, new_line, before, after, more: 0, cut: false, binary });
    }

    fn end_hunk(&mut self) {
        self.left = (0, 0);
        let Some(hunk) = self.hunk.take() else { return };
        if self.sections.is_empty() {
            self.sections.push(Section { commit: None, hunks: Vec::new(), more: 0 });
        }
        let Some(section) = self.sections.last_mut() else { return };
        if section.hunks.len() >= self.limit {
            section.more += 1;
        } else {
            section.hunks.push(hunk);
        }
    }

    fn end_file(&mut self) {
        self.end_hunk();
        if self.file.is_some() && !self.mentioned {
            self.begin((0, 0, 0, 0), false);
            self.end_hunk();
        }
        self.file = None;
        self.mentioned = false;
    }
}

fn commit(header: &str) -> Option<Commit> {
    let mut fields = header.splitn(4, '\0');
    let id = fields.next().filter(|id| !id.is_empty() && id.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let at = Timestamp::from_second(fields.next()?.parse().ok()?).ok()?;
    let (author, subject) = (fields.next()?, fields.next()?);
    let short = |text: &str| first_chars(text, MAX_CHARS).to_owned();
    Some(Commit { id: id.to_owned(), at, author: short(author), subject: short(subject) })
}

/// `-3,2 +3,2 @@ ...` as old line and count, new line and count.
fn range(text: &str) -> Option<(u64, u64, u64, u64)> {
    let mut fields = text.split(' ');
    let side = |field: &str, sign: char| {
        let numbers = field.strip_prefix(sign)?;
        let (line, count) = numbers.split_once(',').unwrap_or((numbers, "1"));
        Some((line.parse().ok()?, count.parse().ok()?))
    };
    let (old_line, old) = side(fields.next()?, '-')?;
    let (new_line, new) = side(fields.next()?, '+')?;
    Some((old_line, old, new_line, new))
}

/// The name in `a/NAME b/NAME`. Renames are not followed, so that both are the same.
fn name(names: &str) -> Option<String> {
    if let Some(quoted) = names.strip_prefix('"') {
        return unquoted(quoted)?.strip_prefix("a/").map(str::to_owned);
    }
    let half = names.len().checked_sub(1)? / 2;
    let (first, second) = (names.get(..half)?.strip_prefix("a/")?, names.get(half + 1..)?.strip_prefix("b/")?);
    (first == second).then(|| first.to_owned())
}

/// A name as C writes a string, up to its closing quote.
fn unquoted(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    loop {
        let byte = match rest.next()? {
            b'"' => return Some(String::from_utf8_lossy(&bytes).into_owned()),
            b'\\' => match rest.next()? {
                b'a' => 7,
                b'b' => 8,
                b't' => b'\t',
                b'n' => b'\n',
                b'v' => 11,
                b'f' => 12,
                b'r' => b'\r',
                digit @ b'0'..=b'3' => {
                    let (second, third) = (rest.next()?, rest.next()?);
                    let octal = |byte: u8| byte.checked_sub(b'0').filter(|digit| *digit < 8);
                    (digit - b'0') * 64 + octal(second)? * 8 + octal(third)?
                }
                other => other,
            },
            other => other,
        };
        bytes.push(byte);
    }
}

fn kept(line: &[u8]) -> (String, bool) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // A patch shows what changed only: of a key that was replaced the inner lines, without its head.
    let text = String::from_utf8_lossy(lone_line(line));
    let short = first_chars(&text, MAX_CHARS);
    (short.to_owned(), short.len() < text.len())
}

#[cfg(test)]
mod tests;
