//! Text that is shown to the letter: nothing joined, nothing dropped, and what an eye would miss written out.
//!
//! For what people approve and for what strangers wrote. Runs of blanks and of empty lines are counted in place of shown,
//! because padding pushes what matters out of sight.

use unicode_width::UnicodeWidthChar;

use super::text::visible;

/// Blanks in a row that are shown as they are; indentation of files is rarely deeper.
const BLANKS: usize = 16;

/// Empty lines in a row that are shown as they are.
const EMPTY_LINES: usize = 2;

/// Marks that may stand on one letter; more of them cover the lines above and below.
const MARKS: usize = 3;

/// The lines of a text, each of at most `width` columns. A line that goes on is marked with `↪`.
#[must_use]
pub fn exact(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut empty = 0;
    for line in visible(text).lines() {
        if line.trim().is_empty() {
            empty += 1;
            continue;
        }
        push_empty(&mut lines, std::mem::take(&mut empty));
        lines.extend(folded(&dense(line), width));
    }
    push_empty(&mut lines, empty);
    lines
}

fn push_empty(lines: &mut Vec<String>, count: usize) {
    match count {
        0..=EMPTY_LINES => lines.extend(std::iter::repeat_n(String::new(), count)),
        _ => lines.push(format!("⟨{count} empty lines⟩")),
    }
}

/// One line whose long runs of blanks are counted, and whose heaped marks are written out.
#[must_use]
pub fn dense(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let (mut blanks, mut marks) = (0, 0);
    for c in line.chars() {
        if c.is_whitespace() {
            blanks += 1;
            continue;
        }
        push_blanks(&mut shown, std::mem::take(&mut blanks));
        marks = if c.width() == Some(0) { marks + 1 } else { 0 };
        if marks > MARKS {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    // Blanks at an end are seen by nobody, and change a file.
    match blanks {
        0 => {}
        1 => shown.push_str("⟨1 blank at the end⟩"),
        count => shown.push_str(&format!("⟨{count} blanks at the end⟩")),
    }
    shown
}

fn push_blanks(shown: &mut String, count: usize) {
    match count {
        0..=BLANKS => shown.extend(std::iter::repeat_n(' ', count)),
        _ => shown.push_str(&format!("⟨{count} blanks⟩")),
    }
}

/// Breaks a line at columns, wide characters measured.
#[must_use]
pub fn folded(line: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    let (mut part, mut used) = (String::new(), 0);
    for c in line.chars() {
        let columns = c.width().unwrap_or(0);
        // One column stays free for the mark.
        if used + columns > width - 1 && columns > 0 {
            part.push('↪');
            lines.push(std::mem::take(&mut part));
            used = 0;
        }
        part.push(c);
        used += columns;
    }
    lines.push(part);
    lines
}

#[cfg(test)]
mod tests;
