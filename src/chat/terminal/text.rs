//! Text from outside, made safe and made to fit.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text with everything that a terminal would obey, or that an eye would miss, written out.
///
/// Line breaks stay. Control characters become their pictures (`␛`), bidirectional, zero-width and tag characters become
/// `\u{202E}`.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push('\n'),
            '\t' => shown.push(' '),
            '\u{0}'..='\u{1f}' => shown.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('?')),
            '\u{7f}' => shown.push('␡'),
            '\u{80}'..='\u{9f}' => push_escape(&mut shown, c),
            _ if hides(c) => push_escape(&mut shown, c),
            _ => shown.push(c),
        }
    }
    shown
}

/// JSON text in which nothing steers a terminal or hides: such characters are escaped as JSON has it, so it stays the same
/// value.
#[must_use]
pub fn json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        // Line ends stand between the parts of a document; within its texts they are escaped already.
        if (c.is_control() && c != '\n') || hides(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string can't fail.
                let _infallible = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

fn push_escape(into: &mut String, c: char) {
    // Writing to a string can't fail.
    let _infallible = write!(into, "\\u{{{:04X}}}", u32::from(c));
}

/// Characters that reorder, hide or carry what can't be seen.
fn hides(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e01ef}')
}

/// Breaks a text into lines of at most `width` columns, at blanks where there are any.
#[must_use]
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let needed = word.width() + usize::from(!line.is_empty());
            if line.width() + needed <= width {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(word);
                continue;
            }
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            line = broken(word, width, &mut lines);
        }
        lines.push(line);
    }
    lines
}

/// Breaks a word that is longer than a line; whole lines go to `lines`, the rest comes back.
fn broken(word: &str, width: usize, lines: &mut Vec<String>) -> String {
    let mut line = String::new();
    let mut used = 0;
    for c in word.chars() {
        let columns = c.width().unwrap_or(0);
        if used + columns > width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        line.push(c);
        used += columns;
    }
    line
}

/// The first line of a text, cut to `width` columns.
#[must_use]
pub fn one_line(text: &str, width: usize) -> String {
    let line = text.lines().next().unwrap_or("");
    if line.width() <= width && text.lines().nth(1).is_none() {
        return line.to_owned();
    }
    let mut shown = String::new();
    let mut used = 0;
    for c in line.chars() {
        let columns = c.width().unwrap_or(0);
        if used + columns + 1 > width {
            break;
        }
        shown.push(c);
        used += columns;
    }
    shown.push('…');
    shown
}
