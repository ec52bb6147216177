//! Takes out of a text what a reader can't see and a model would read, and makes the rest safe to stand in a prompt.
//!
//! Zero-width characters, marks of direction, variation selectors but for the one that an emoji needs, tag characters and
//! all other format characters go, and are counted. Control characters are written out. So are the beginnings of what chat
//! templates take for roles: servers that look for these in the whole prompt would find them in a log line as well.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A text without what can't be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripped {
    /// What is left.
    pub text: String,
    /// How many characters were taken out.
    pub removed: usize,
}

/// JSON text: what is written out is written as JSON has it, so it stays the same value.
pub(super) fn json(text: &str) -> Stripped {
    shown(text, |into, c| {
        // Writing to a text never fails.
        let _ = write!(into, "\\u{:04x}", u32::from(c));
    })
}

/// Plain text: what is written out is written as Rust has it.
pub(super) fn plain(text: &str) -> Stripped {
    shown(text, |into, c| {
        // Writing to a text never fails.
        let _ = write!(into, "\\u{{{:x}}}", u32::from(c));
    })
}

/// The text without what can't be seen, and otherwise as it is.
pub(super) fn only(text: &str) -> String {
    let mut before = None;
    let kept = text.char_indices().filter(|(at, c)| {
        let next = || text.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
        let stays = !is_invisible(*c) || (*c == '\u{FE0F}' && is_pictured(before, next()));
        if stays {
            before = Some(*c);
        }
        stays
    });
    kept.map(|(_, c)| c).collect()
}

fn shown(text: &str, write_out: impl Fn(&mut String, char)) -> Stripped {
    if is_plain(text) {
        return Stripped { text: text.to_owned(), removed: 0 };
    }
    // First this: what can't be seen must not stand between the parts of what is looked for.
    let kept = if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(only(text)) };
    let mut into = String::with_capacity(kept.len() + 16);
    for (at, c) in kept.char_indices() {
        let rest = kept.get(at + c.len_utf8()..).unwrap_or_default();
        if (c.is_control() && c != '\n' && c != '\t') || begins_a_role(c, rest) {
            write_out(&mut into, c);
        } else {
            into.push(c);
        }
    }
    Stripped { text: into, removed: text.chars().count() - kept.chars().count() }
}

/// Whether nothing can have to be done, as far as a quick look tells: most of what is read is such.
fn is_plain(text: &str) -> bool {
    let mut before = 0;
    text.bytes().all(|byte| {
        let role = before == b'[' && (byte.is_ascii_uppercase() || byte == b'/');
        before = byte;
        !role && matches!(byte, b'\n' | b'\t' | b' '..=b'~') && byte != b'<'
    })
}

/// Whether the selector makes a picture of what stands before it: an emoji, or a key cap.
fn is_pictured(before: Option<char>, next: Option<char>) -> bool {
    match before {
        Some('#' | '*' | '0'..='9') => next == Some('\u{20E3}'),
        Some(c) => matches!(c,
            '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21FF}'
            | '\u{2300}'..='\u{23FF}' | '\u{24C2}' | '\u{25A0}'..='\u{27BF}' | '\u{2900}'..='\u{297F}'
            | '\u{2B00}'..='\u{2BFF}' | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}' | '\u{1F000}'..='\u{1FAFF}'),
        None => false,
    }
}

/// Format characters (Unicode's category Cf), variation selectors, fillers and whatever else takes no room.
fn is_invisible(c: char) -> bool {
    if c.is_ascii() {
        return false;
    }
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{600}'..='\u{605}' | '\u{61C}' | '\u{6DD}' | '\u{70F}' | '\u{890}'..='\u{891}' | '\u{8E2}'
        | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}'
        | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{110BD}' | '\u{110CD}' | '\u{13430}'..='\u{1343F}'
        | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Whether a tag or a token of a chat template may begin here: `<|im_start|>`, `</s>`, `<start_of_turn>`, `[INST]`.
fn begins_a_role(c: char, rest: &str) -> bool {
    match c {
        '<' => rest.starts_with(|next: char| matches!(next, '|' | '/' | '<' | '｜') || next.is_ascii_alphabetic()),
        '[' => {
            let word = rest.strip_prefix('/').unwrap_or(rest);
            let end = word.find(|next: char| !(next.is_ascii_uppercase() || next == '_'));
            end.is_some_and(|end| end > 1 && word.get(end..).is_some_and(|rest| rest.starts_with(']')))
        }
        _ => false,
    }
}
