//! What varies within a message: numbers, hex, UUIDs, addresses, durations, paths with digits and quoted texts become
//! [`HOLE`], so that two messages of the same statement look the same. Call [`masked`] before comparing messages.

/// What stands for a varying part.
pub const HOLE: &str = "<*>";

/// Characters of a message that are looked at; what follows says little about which message it is.
const MOST_BYTES: usize = 2_048;
/// Words of a message that are looked at.
const MOST_WORDS: usize = 64;
/// A quoted text longer than this is no value but prose with a stray quote in it.
const LONGEST_QUOTE: usize = 256;

/// The words of `message` with everything that varies masked, joined by single spaces into `into`.
pub fn masked(message: &str, into: &mut String) {
    into.clear();
    let mut rest = head(message, MOST_BYTES);
    let mut words = 0;
    while words < MOST_WORDS {
        rest = rest.trim_start();
        if rest.is_empty() {
            return;
        }
        if words > 0 {
            into.push(' ');
        }
        rest = word(rest, into);
        words += 1;
    }
}

/// The longest beginning of `text` of at most `most` bytes that ends between characters.
fn head(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.get(..end).unwrap_or(text)
}

/// Masks one word (a quoted text within it may hold spaces) and returns what follows it.
fn word<'t>(text: &'t str, into: &mut String) -> &'t str {
    let mut rest = text;
    loop {
        let piece_end = rest.find(|c: char| c.is_whitespace() || is_divider(c)).unwrap_or(rest.len());
        let (piece, after) = rest.split_at_checked(piece_end).unwrap_or((rest, ""));
        push_piece(piece, into);
        let mut chars = after.chars();
        let Some(divider) = chars.next().filter(|c| !c.is_whitespace()) else { return after };
        rest = chars.as_str();
        let opens = piece.is_empty() || !piece.ends_with(char::is_alphanumeric);
        if matches!(divider, '"' | '\'' | '`')
            && opens
            && let Some(following) = after_quote(rest, divider)
        {
            hole(into);
            rest = following;
            continue;
        }
        into.push(divider);
    }
}

fn is_divider(c: char) -> bool {
    matches!(c, '=' | ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '"' | '\'' | '`' | '|')
}

/// What follows the quoted text at the beginning of `text`, if it is closed soon and at the end of a word.
fn after_quote(text: &str, quote: char) -> Option<&str> {
    let within = head(text, LONGEST_QUOTE);
    let close = within.char_indices().find(|(at, c)| {
        let escaped = *at > 0 && within.as_bytes().get(at - 1) == Some(&b'\\');
        *c == quote && !escaped
    });
    let after = text.get(close?.0 + 1..)?;
    after.chars().next().is_none_or(|c| !c.is_alphanumeric()).then_some(after)
}

/// One hole, also where several would stand side by side.
fn hole(into: &mut String) {
    if !into.ends_with(HOLE) {
        into.push_str(HOLE);
    }
}

fn push_piece(piece: &str, into: &mut String) {
    let core = piece.trim_end_matches(['.', ':', '!', '?']);
    if varies(core) {
        hole(into);
        into.push_str(piece.get(core.len()..).unwrap_or(""));
    } else {
        into.push_str(piece);
    }
}

/// Whether a piece is a value: it holds a digit, or it is hex of a length that no word has.
fn varies(piece: &str) -> bool {
    let bytes = piece.as_bytes();
    bytes.iter().any(u8::is_ascii_digit) || (bytes.len() >= 16 && bytes.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests;
