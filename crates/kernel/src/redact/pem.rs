//! Private keys in PEM: over lines, in one line with `\n`, and with the head or the tail lost.

use std::ops::Range;

/// How long a key may be, from its first dash to its last.
const REACH: usize = 16 * 1024;

const PRIVATE: &[u8] = b"PRIVATE KEY";
const DASHES: &[u8] = b"-----";

/// The block whose `-----BEGIN` stands at `at`, with its kind.
pub(super) fn block_from(text: &[u8], at: usize) -> Option<(&'static str, Range<usize>)> {
    let rest = text.get(at..(at + REACH).min(text.len()))?;
    let label = label(rest)?;
    let head = DASHES.len() + label.len();
    // The next head ends this block at the latest, so that heads alone are not read over and over.
    let reach = head + find(rest.get(head..)?, b"-----BEGIN").unwrap_or(rest.len() - head);
    let end = find(rest.get(..reach)?, b"-----END").and_then(|end| {
        let tail = rest.get(end + DASHES.len()..)?;
        Some(end + DASHES.len() + find(tail.get(..64).unwrap_or(tail), DASHES)? + DASHES.len())
    });
    let end = end.unwrap_or_else(|| head + rest.get(head..).map_or(0, body_length));
    Some((kind(text, at, label), at..at + end))
}

/// What is left of a block of which only the end is there; `at` is where `-----END` stands.
pub(super) fn block_before(text: &[u8], at: usize) -> Option<(&'static str, Range<usize>)> {
    let rest = text.get(at..(at + 80).min(text.len()))?;
    let label = label(rest)?;
    let end = at
        + DASHES.len()
        + label.len()
        + find(rest.get(DASHES.len() + label.len()..)?, DASHES).unwrap_or(0)
        + DASHES.len();
    let before = text.get(at.saturating_sub(REACH)..at)?;
    let mut start = before.len();
    loop {
        let trimmed = trim_break(before.get(..start)?);
        // Line ends may have become spaces.
        let joined = trimmed.strip_suffix(b" ").filter(|line| start == before.len() || ends_key_line(line));
        let trimmed = joined.unwrap_or(trimmed);
        let line = trimmed.iter().rev().take_while(|byte| in_body(**byte)).count();
        let line = line.min(trimmed.len());
        // The letter of an escaped line end is no part of the line behind it.
        let mut begin = trimmed.len() - line;
        if trimmed.get(begin.wrapping_sub(1)) == Some(&b'\\') && matches!(trimmed.get(begin), Some(b'n' | b'r')) {
            begin += 1;
        }
        if trimmed.len() - begin < 8 && start != before.len() || begin == trimmed.len() {
            break;
        }
        start = begin;
    }
    Some((kind(text, at, label), at - (before.len() - start)..end.min(text.len())))
}

/// The key alone, so that one key is one placeholder however its lines are broken.
pub(super) fn body(block: &[u8]) -> Vec<u8> {
    let begin = find(block, PRIVATE).map_or(0, |at| at + PRIVATE.len());
    let inner = block.get(begin..).unwrap_or_default();
    let end = find(inner, b"-----END").unwrap_or(inner.len());
    let inner = inner.get(..end).unwrap_or_default();
    let mut body = Vec::with_capacity(inner.len());
    let mut escaped = false;
    for &byte in inner {
        if !(escaped && matches!(byte, b'n' | b'r' | b't')) && in_body(byte) {
            body.push(byte);
        }
        escaped = byte == b'\\';
    }
    if body.is_empty() { block.to_vec() } else { body }
}

fn label(rest: &[u8]) -> Option<&[u8]> {
    let line = rest.get(DASHES.len()..)?;
    let end = find(line.get(..64).unwrap_or(line), DASHES).unwrap_or(line.len().min(40));
    let label = line.get(..end)?;
    let at = find(label, PRIVATE)?;
    let long = if label.get(at + PRIVATE.len()..)?.starts_with(b" BLOCK") { 6 } else { 0 };
    label.get(..at + PRIVATE.len() + long)
}

fn kind(text: &[u8], at: usize, label: &[u8]) -> &'static str {
    let before = text.get(at.saturating_sub(32)..at).unwrap_or_default();
    if find(label, b"OPENSSH").is_some() {
        "openssh_pem"
    } else if find(label, b"RSA").is_some() {
        "rsa_pem"
    } else if find(before, b"private_key").is_some() {
        "gcp_sa_json"
    } else {
        "private_key"
    }
}

const fn in_body(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// How far lines of base64 go on behind a head whose tail is lost. A line with a space in it is none.
fn body_length(rest: &[u8]) -> usize {
    let mut length = 0;
    loop {
        let rest = rest.get(length..).unwrap_or_default();
        let gap = rest.iter().take(8).take_while(|byte| matches!(byte, b'-' | b'\n' | b'\r' | b'\\')).count();
        // Line ends may have become spaces; then only a line as long as a key's is one.
        let spaced = usize::from(rest.get(gap) == Some(&b' ') && is_key_line(rest.get(gap + 1..).unwrap_or_default()));
        let gap = gap + spaced;
        let letter =
            usize::from(gap > 0 && rest.get(gap - 1) == Some(&b'\\') && matches!(rest.get(gap), Some(b'n' | b'r')));
        let line = rest.get(gap + letter..).unwrap_or_default().iter().take_while(|byte| in_body(**byte)).count();
        if line == 0 || length > 0 && gap == 0 || spaced == 0 && ends_as_words(rest, gap + letter + line) {
            return length;
        }
        length += gap + letter + line;
    }
}

/// Whether what ends at `end` is followed by more words: a line with a space in it is none of a key, unless a line of one
/// follows.
fn ends_as_words(rest: &[u8], end: usize) -> bool {
    match rest.get(end) {
        Some(b':') => true,
        Some(b' ') => !is_key_line(rest.get(end + 1..).unwrap_or_default()),
        Some(_) | None => false,
    }
}

/// Whether a line of 40 letters of base64 or more begins here.
fn is_key_line(rest: &[u8]) -> bool {
    rest.iter().take(40).take_while(|byte| in_body(**byte)).count() == 40
}

/// Whether a line of 40 letters of base64 or more ends here.
fn ends_key_line(text: &[u8]) -> bool {
    text.iter().rev().take(40).take_while(|byte| in_body(**byte)).count() == 40
}

fn trim_break(text: &[u8]) -> &[u8] {
    let mut text = text;
    loop {
        let shorter = text
            .strip_suffix(b"\n")
            .or(text.strip_suffix(b"\r"))
            .or(text.strip_suffix(b"\\n"))
            .or(text.strip_suffix(b"\\r"))
            .or(text.strip_suffix(b"\\"));
        match shorter {
            Some(shorter) => text = shorter,
            None => return text,
        }
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
