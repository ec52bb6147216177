//! Text that is shown to the letter: nothing joined, nothing dropped, and what an eye would miss written out.
//!
//! For what people approve and for what strangers wrote. It passes through the kernel's [`visible`], line by line; runs of
//! empty lines are counted in place of shown, because padding pushes what matters out of sight.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};
use warrant_kernel::domain::visible::visible;

/// Empty lines in a row that are shown as they are.
const EMPTY_LINES: usize = 2;

/// The lines of a text, each of at most `width` columns. A line that goes on is marked with `↪`.
#[must_use]
pub fn exact(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut empty = 0;
    for line in text.split('\n') {
        if line.trim().is_empty() {
            empty += 1;
            continue;
        }
        push_empty(&mut lines, std::mem::take(&mut empty));
        lines.extend(line_of(line, width));
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

/// One line, in as many as it takes. Blanks at its end are seen by nobody and change a file, so they are told.
#[must_use]
pub fn line_of(line: &str, width: usize) -> Vec<String> {
    let body = line.trim_end_matches(' ');
    let mut shown = visible(body);
    match line.len() - body.len() {
        0 => {}
        1 => shown.push_str("⟨1 blank at the end⟩"),
        count => shown = format!("{shown}⟨{count} blanks at the end⟩"),
    }
    folded(&shown, width)
}

/// Breaks a line at columns, wide characters measured: behind a blank where there is one in the second half.
fn folded(line: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    let (mut part, mut used) = (String::new(), 0);
    for c in line.chars() {
        let columns = c.width().unwrap_or(0);
        // One column stays free for the mark.
        if used + columns > width - 1 && columns > 0 {
            let blank = part
                .rfind(' ')
                .map(|at| at + 1)
                .filter(|at| part.get(..*at).is_some_and(|head| head.width() > width / 2));
            let rest = part.split_off(blank.unwrap_or(part.len()));
            part.push('↪');
            lines.push(std::mem::replace(&mut part, rest));
            used = part.width();
        }
        part.push(c);
        used += columns;
    }
    lines.push(part);
    lines
}

#[cfg(test)]
mod tests;
