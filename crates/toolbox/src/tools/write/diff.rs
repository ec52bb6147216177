//! What changes in a file, line by line, as people are shown it.
//!
//! Every changed line stands whole; bytes that are no UTF-8 stand as `\xNN`, so that two lines that differ look different.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};
use warrant_kernel::domain::plan::DiffLine;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// After this the difference need not be the shortest; it is never wrong.
const PATIENCE: Duration = Duration::from_secs(1);

/// The difference between two contents.
#[must_use]
pub fn diff(before: &[u8], after: &[u8]) -> Vec<DiffLine> {
    let (before, after) = (lines(before), lines(after));
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.iter().map(String::as_str).collect(), after.iter().map(String::as_str).collect());
    let found = TextDiff::configure().timeout(PATIENCE).diff_slices(&old, &new);
    let mut shown = Vec::new();
    for hunk in found.unified_diff().context_radius(CONTEXT).iter_hunks() {
        let place = hunk.header().to_string();
        shown.push(DiffLine::Hunk(place.trim_matches(['@', ' ']).to_owned()));
        for change in hunk.iter_changes() {
            let text = change.value().to_owned();
            shown.push(match change.tag() {
                ChangeTag::Equal => DiffLine::Context(text.trim_end_matches('\r').to_owned()),
                ChangeTag::Delete => DiffLine::Removed(text),
                ChangeTag::Insert => DiffLine::Added(text),
            });
        }
    }
    shown
}

/// The lines as text. A carriage return before the line end stays in it, and a last line without a line end says so:
/// they are differences too.
fn lines(content: &[u8]) -> Vec<String> {
    let mut lines: Vec<String> = content.split(|byte| *byte == b'\n').map(text).collect();
    match lines.pop() {
        Some(rest) if !rest.is_empty() => lines.push(format!("{rest} [no line end]")),
        Some(_) | None => {}
    }
    lines
}

fn text(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02X}")));
    }
    text
}

/// How many lines go and how many come.
#[must_use]
pub fn counts(diff: &[DiffLine]) -> (usize, usize) {
    let of = |wanted: fn(&DiffLine) -> bool| diff.iter().filter(|line| wanted(line)).count();
    (of(|line| matches!(line, DiffLine::Removed(_))), of(|line| matches!(line, DiffLine::Added(_))))
}

#[cfg(test)]
mod tests;
