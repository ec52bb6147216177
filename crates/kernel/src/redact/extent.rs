//! Where the value of a name begins and ends, as those write it who write it: quoted, escaped, or up to what divides
//! fields.

use std::ops::Range;

use super::names::{Joint, in_name};

/// The unquoted value that was read last: names within it have the same end, so that `token:token:...` stays linear.
#[derive(Debug, Default)]
pub(super) struct Reach(Range<usize>);

pub(super) fn skip(text: &[u8], at: usize, most: usize, wanted: impl Fn(u8) -> bool) -> usize {
    let rest = text.get(at..(at + most).min(text.len())).unwrap_or_default();
    at + rest.iter().take_while(|&&byte| wanted(byte)).count()
}

pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(super) const fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`' | b'\\')
}

/// The value that begins at `at`: to its closing quote, or to where an unquoted one ends.
pub(super) fn value_at(text: &[u8], at: usize, joint: Joint, reach: &mut Reach) -> (Range<usize>, Joint) {
    let at = match text.get(at..at + 2) {
        Some([b'b' | b'u' | b'r', b'"' | b'\'']) => at + 1,
        _ => at,
    };
    let slashes = skip(text, at, 8, |byte| byte == b'\\');
    match text.get(slashes) {
        Some(&quote @ (b'"' | b'\'' | b'`')) => {
            let begin = slashes + 1;
            let end = closing(text, begin, quote, slashes - at);
            let joint = if joint == Joint::Spaced { joint } else { Joint::Tight };
            // One that does not close was cut off, or goes on in the next line: all of this one is its value.
            let end =
                end.unwrap_or_else(|| if slashes > at { unquoted(text, begin, reach) } else { line_end(text, begin) });
            (begin..end, joint)
        }
        _ => (at..unquoted(text, at, reach), joint),
    }
}

fn line_end(text: &[u8], begin: usize) -> usize {
    let rest = text.get(begin..(begin + 8192).min(text.len())).unwrap_or_default();
    begin + rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
}

/// Where the quote that was opened behind `slashes` backslashes closes.
fn closing(text: &[u8], begin: usize, quote: u8, slashes: usize) -> Option<usize> {
    let rest = text.get(begin..(begin + 8192).min(text.len()))?;
    let mut run = 0;
    for (at, &byte) in rest.iter().enumerate() {
        match byte {
            b'\n' => return None,
            b'\\' => run += 1,
            byte if byte == quote && run <= slashes => return Some(begin + at - run),
            _ => run = 0,
        }
    }
    None
}

/// Where an unquoted value ends. Closing brackets that it did not open are not its own.
fn unquoted(text: &[u8], begin: usize, reach: &mut Reach) -> usize {
    if !reach.0.contains(&begin) {
        reach.0 = begin..begin + unquoted_length(text.get(begin..(begin + 8192).min(text.len())).unwrap_or_default());
    }
    let mut end = reach.0.end.max(begin);
    while let Some(&close @ (b'}' | b']' | b')')) = text.get(end.wrapping_sub(1)).filter(|_| end > begin) {
        let open = match close {
            b'}' => b'{',
            b']' => b'[',
            _ => b'(',
        };
        if text.get(begin.max(end.saturating_sub(256))..end).is_none_or(|value| value.contains(&open)) {
            break;
        }
        end -= 1;
    }
    end
}

/// A comma, semicolon or ampersand ends a value only where something else begins behind it.
fn unquoted_length(rest: &[u8]) -> usize {
    let ends = |(at, &byte): (usize, &u8)| match byte {
        b'<' | b'>' | b'"' | b'`' | b'\'' | b'|' => true,
        b'\\' => rest.get(at + 1).is_none_or(|next| matches!(next, b'"' | b'n' | b'r' | b't' | b'u' | b'\'')),
        b',' | b';' | b'&' => begins_field(rest.get(at + 1..).unwrap_or_default()),
        _ => byte.is_ascii_whitespace(),
    };
    rest.iter().enumerate().position(ends).unwrap_or(rest.len())
}

/// Whether `rest`, behind a separator, is the end, a space, a quote or the next `name=`.
fn begins_field(rest: &[u8]) -> bool {
    let Some(first) = rest.first() else { return true };
    if first.is_ascii_whitespace() || matches!(first, b'"' | b'\'' | b'{' | b'}' | b']' | b'\\') {
        return true;
    }
    let name = rest.iter().take(48).take_while(|&&byte| in_name(byte)).count();
    name > 0 && matches!(rest.get(name), Some(b'=' | b':'))
}

/// Steps over `Bearer ` and the like.
pub(super) fn after_scheme(text: &[u8], range: Range<usize>, reach: &mut Reach) -> Range<usize> {
    let schemes = [&b"bearer"[..], b"basic", b"token", b"apikey", b"digest"];
    let found = text.get(range.clone()).unwrap_or_default();
    let first = found.iter().position(u8::is_ascii_whitespace).unwrap_or(found.len());
    let word = found.get(..first).unwrap_or_default();
    if !schemes.iter().any(|scheme| word.eq_ignore_ascii_case(scheme)) {
        return range;
    }
    let begin = skip(text, range.start + first, 4, is_space);
    if begin < range.end { begin..range.end } else { begin..unquoted(text, begin, reach) }
}
