//! What may be shown of a text that was cut before it could be masked.
//!
//! A secret that lay over the cut has lost its head or its tail, and half a secret has no shape to be found by. So what
//! may be such a half goes with the rest: the run of characters at the cut, a URL whose credentials are not over, and
//! lines that may be a key's; at most [`BAND`] bytes. Whoever shows less than there was takes it from here: bytes that
//! were read up to a limit are a [`Piece`], the beginning of a text is [`first_chars`].

use std::borrow::Cow;

/// Most bytes that go at a cut.
pub const BAND: usize = 4 * 1024;

/// A line of a key is at least so long, but for its last.
const KEY_LINE: usize = 40;

/// What stands for such a line.
const NOT_SHOWN: &[u8] = b"[a line of base64, perhaps of a key: not shown without the lines around it]";

/// What was read of something: all of it, or its beginning or end without what may be half a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Piece {
    /// All there was.
    #[must_use]
    pub fn whole(bytes: Vec<u8>) -> Self {
        Self { bytes, is_cut: false }
    }

    /// The beginning; more followed that was not read.
    #[must_use]
    pub fn beginning(mut bytes: Vec<u8>) -> Self {
        bytes.truncate(cut_behind(&bytes).len());
        Self { bytes, is_cut: true }
    }

    /// The end; more stood before.
    #[must_use]
    pub fn end(mut bytes: Vec<u8>) -> Self {
        let lost = bytes.len() - cut_before(&bytes).len();
        bytes.drain(..lost);
        Self { bytes, is_cut: true }
    }

    /// What was read, up to one byte more than `limit`, to see whether there is more.
    #[must_use]
    pub fn up_to(mut bytes: Vec<u8>, limit: usize) -> Self {
        if bytes.len() <= limit {
            return Self::whole(bytes);
        }
        bytes.truncate(limit);
        Self::beginning(bytes)
    }

    /// Whether there was more.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// What may be shown.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same, given away.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// What may be shown, as text; what is no UTF-8 is replaced.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// At most the first `most` characters; less where half a secret may stand at the cut.
#[must_use]
pub fn first_chars(text: &str, most: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(most) else { return text };
    let kept = cut_behind(text.as_bytes().get(..end).unwrap_or_default()).len();
    text.get(..text.floor_char_boundary(kept)).unwrap_or_default()
}

/// What is left of a text behind which more followed.
#[must_use]
pub fn cut_behind(text: &[u8]) -> &[u8] {
    let band = text.get(text.len().saturating_sub(BAND)..).unwrap_or_default();
    let mut left = last_border(band);
    left = left.min(open_url(band).unwrap_or(left));
    let mut lines = band.iter().take(left).rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    while let Some((before, line)) = last_line(band.get(..lines).unwrap_or_default())
        && is_of_key(line)
    {
        (lines, left) = (before, before);
    }
    text.get(..text.len() - band.len() + left).unwrap_or_default()
}

/// What is left of a text before which more stood.
#[must_use]
pub fn cut_before(text: &[u8]) -> &[u8] {
    let band = text.get(..text.len().min(BAND)).unwrap_or_default();
    let line = band.iter().position(|&byte| byte == b'\n').map(|at| at + 1);
    let mut from = line.unwrap_or_else(|| first_border(band));
    while let Some(rest) = band.get(from..).filter(|rest| !rest.is_empty())
        && let end = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |at| at + 1)
        && is_of_key(rest.get(..end).unwrap_or_default())
    {
        from += end;
    }
    text.get(from..).unwrap_or_default()
}

/// A line that is shown without those around it: what may be one of a key's is not.
#[must_use]
pub fn lone_line(line: &[u8]) -> &[u8] {
    let is_word = !line.trim_ascii().iter().any(u8::is_ascii_whitespace);
    if is_word && is_of_key(line) { NOT_SHOWN } else { line }
}

/// Whether a line may be one of a key's, seen without the lines around it: nothing but base64 behind what a log or a
/// listing puts before a line.
#[must_use]
pub fn is_of_key(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let start = line.iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1);
    let word = line.get(start..).unwrap_or_default();
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    word.len() >= KEY_LINE
        && word.iter().all(is_base64)
        && word.iter().any(u8::is_ascii_uppercase)
        && word.iter().any(u8::is_ascii_lowercase)
}

/// What no token, encoded text or key holds within. Invisible characters and full-width letters may stand in one.
const fn is_border(character: char) -> bool {
    match character {
        '"' | '\'' | '`' | ',' | ';' | '(' | ')' | '{' | '}' | '[' | ']' | '<' | '>' => true,
        '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'..='\u{fffd}'
        | '\u{e0000}'..='\u{e007f}' => false,
        _ => character.is_ascii_whitespace() || !character.is_ascii(),
    }
}

/// Where the last run of `text` begins.
fn last_border(text: &[u8]) -> usize {
    let whole = text.len() - text.utf8_chunks().last().map_or(0, |chunk| chunk.invalid().len());
    let chunk = text.utf8_chunks().last().map_or("", |chunk| chunk.valid());
    let run = chunk.chars().rev().take_while(|character| !is_border(*character)).map(char::len_utf8).sum::<usize>();
    whole - run
}

/// How long the run is with which `text` begins.
fn first_border(text: &[u8]) -> usize {
    let invalid = |chunk: &std::str::Utf8Chunk<'_>| chunk.valid().is_empty();
    let broken: usize = text.utf8_chunks().take_while(invalid).map(|chunk| chunk.invalid().len()).sum();
    let rest = text.get(broken..).unwrap_or_default();
    let chunk = rest.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    broken + chunk.chars().take_while(|character| !is_border(*character)).map(char::len_utf8).sum::<usize>()
}

/// Where the last URL begins, if its credentials may go on behind the text: nothing of them is found without the `@`.
fn open_url(text: &[u8]) -> Option<usize> {
    let word = text.iter().rposition(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'`'));
    let word = word.map_or(0, |at| at + 1);
    let url = text.get(word..)?;
    let sign = url.windows(3).rposition(|part| part == b"://")?;
    let rest = url.get(sign + 3..)?;
    let authority = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#'));
    let colon = rest.get(..authority.unwrap_or(rest.len()))?.iter().position(|&byte| byte == b':');
    // Behind a port or a bare host the path follows; behind anything else a password with a slash in it may.
    let over = rest.contains(&b'@')
        || authority.is_some_and(|end| {
            colon.is_none_or(|colon| rest.get(colon + 1..end).is_some_and(|port| port.iter().all(u8::is_ascii_digit)))
        });
    let scheme =
        url.get(..sign)?.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'+').count();
    (!over).then_some(word + sign - scheme)
}

/// The last line of a text that ends between lines, and where it begins.
fn last_line(text: &[u8]) -> Option<(usize, &[u8])> {
    let inner = text.strip_suffix(b"\n")?;
    let begin = inner.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    Some((begin, inner.get(begin..)?))
}
