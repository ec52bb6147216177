//! Reads text as those read it who decode it: without control sequences, URL-decoded, unescaped.
//!
//! Decoding is for finding only. A [`View`] knows for every byte where it came from, so that the mask goes onto the
//! original.

use std::ops::Range;

use super::RedactError;
use super::placeholder::{blank, marks};

/// Where the bytes of a view came from.
#[derive(Debug)]
enum Origin {
    /// For each byte, and for the end, the offset in the original.
    Bytes(Vec<usize>),
    /// All of them from one field, which is masked whole.
    Field(Range<usize>),
}

/// Decoded text.
#[derive(Debug)]
pub(super) struct View {
    /// The decoded bytes; may be no UTF-8.
    pub(super) text: Vec<u8>,
    origin: Origin,
}

/// A way to decode a stretch of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decoding {
    /// Control sequences and invisible characters dropped, full-width characters made narrow.
    Plain,
    /// `%41`.
    Url,
    /// `\u0041`, `\x41`, `\"`, `\n`.
    Escapes,
    /// `&quot;`, `&#65;`, `&#x41;`.
    Entities,
}

impl View {
    /// What a field of the original decodes to.
    pub(super) fn field(origin: Range<usize>, text: Vec<u8>) -> Result<Self, RedactError> {
        Self::new(text, Origin::Field(origin))
    }

    /// A text of which it is known where each byte stood, and where the last one ended.
    pub(super) fn joined(text: Vec<u8>, map: Vec<usize>) -> Result<Self, RedactError> {
        Self::new(text, Origin::Bytes(map))
    }

    fn new(mut text: Vec<u8>, origin: Origin) -> Result<Self, RedactError> {
        let placeholders = marks(&text)?;
        blank(&mut text, &placeholders);
        Ok(Self { text, origin })
    }

    /// Where in the original the bytes `span` came from.
    pub(super) fn origin(&self, span: &Range<usize>) -> Range<usize> {
        match &self.origin {
            Origin::Bytes(map) => {
                let last = map.last().copied().unwrap_or_default();
                let at = |place: usize| map.get(place).copied().unwrap_or(last);
                at(span.start)..at(span.end)
            }
            Origin::Field(field) => field.clone(),
        }
    }

    /// The stretch `within` of `text` decoded; none where nothing in it is encoded so. `text` is that of `view`, or
    /// the original itself.
    pub(super) fn decoded(
        text: &[u8],
        view: Option<&Self>,
        within: &Range<usize>,
        decoding: Decoding,
    ) -> Result<Option<Self>, RedactError> {
        let source = text.get(within.clone()).unwrap_or_default();
        let mut text = Vec::with_capacity(source.len());
        let mut starts = Vec::with_capacity(source.len() + 1);
        let (mut at, mut changed) = (0, false);
        while let Some(&byte) = source.get(at) {
            let rest = source.get(at..).unwrap_or_default();
            let step = match decoding {
                Decoding::Plain => plain(rest),
                Decoding::Url => url(rest),
                Decoding::Escapes => escape(rest),
                Decoding::Entities => entity(rest),
            };
            let Some((unit, length)) = step else {
                text.push(byte);
                starts.push(at);
                at += 1;
                continue;
            };
            changed = true;
            let before = text.len();
            match unit {
                Some(Unit::Byte(byte)) => text.push(byte),
                Some(Unit::Char(character)) => text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
                None => {}
            }
            starts.extend(std::iter::repeat_n(at, text.len() - before));
            at += length;
        }
        if !changed {
            return Ok(None);
        }
        starts.push(source.len());
        let origin = match view {
            Some(Self { origin: Origin::Field(field), .. }) => Origin::Field(field.clone()),
            Some(Self { origin: Origin::Bytes(map), .. }) => {
                let last = map.last().copied().unwrap_or_default();
                Origin::Bytes(starts.iter().map(|at| map.get(within.start + at).copied().unwrap_or(last)).collect())
            }
            None => Origin::Bytes(starts.iter().map(|at| within.start + at).collect()),
        };
        Self::new(text, origin).map(Some)
    }
}

/// What an encoded unit stands for.
enum Unit {
    Byte(u8),
    Char(char),
}

type Step = Option<(Option<Unit>, usize)>;

fn url(rest: &[u8]) -> Step {
    let [b'%', high, low, ..] = rest else { return None };
    Some((Some(Unit::Byte(byte(&[*high, *low])?)), 3))
}

fn escape(rest: &[u8]) -> Step {
    let [b'\\', letter, ..] = rest else { return None };
    let byte = match letter {
        b'"' | b'\\' | b'/' | b'\'' => *letter,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' | b'f' => b' ',
        b'x' => return Some((Some(Unit::Byte(byte(rest.get(2..4)?)?)), 4)),
        b'u' => {
            let unit = hex(rest.get(2..6)?)?;
            let pair = rest.get(6..8).filter(|_| (0xd800..0xdc00).contains(&unit)) == Some(b"\\u");
            let low = if pair { hex(rest.get(8..12)?)? } else { 0 };
            if pair && (0xdc00..0xe000).contains(&low) {
                let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                return Some((Some(Unit::Char(char::from_u32(code)?)), 12));
            }
            return Some((Some(Unit::Char(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER))), 6));
        }
        _ => return None,
    };
    Some((Some(Unit::Byte(byte)), 2))
}

fn entity(rest: &[u8]) -> Step {
    let end = rest.get(..12.min(rest.len()))?.iter().position(|&byte| byte == b';')?;
    let name = std::str::from_utf8(rest.get(1..end)?).ok().filter(|_| rest.starts_with(b"&"))?;
    let character = match (name, name.strip_prefix('#')) {
        ("quot", _) => '"',
        ("apos", _) => '\'',
        ("amp", _) => '&',
        ("lt", _) => '<',
        ("gt", _) => '>',
        (_, Some(code)) => {
            let hex = code.strip_prefix(['x', 'X']).map(|code| u32::from_str_radix(code, 16));
            char::from_u32(hex.unwrap_or_else(|| code.parse()).ok()?)?
        }
        (_, None) => return None,
    };
    Some((Some(Unit::Char(character)), end + 1))
}

/// The number that hex digits write.
fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |number, &digit| Some(number * 16 + char::from(digit).to_digit(16)?))
}

fn byte(digits: &[u8]) -> Option<u8> {
    u8::try_from(hex(digits)?).ok()
}

fn plain(rest: &[u8]) -> Step {
    match rest {
        [0x1b, b'[', tail @ ..] => {
            let length = tail.iter().take(64).take_while(|byte| matches!(byte, 0x20..=0x3f)).count();
            Some((None, (2 + length + 1).min(rest.len())))
        }
        [0x1b, b']', tail @ ..] => {
            let length = tail.iter().take(512).take_while(|byte| !matches!(byte, 0x07 | 0x1b | b'\n')).count();
            let close = match tail.get(length..) {
                Some([0x07, ..]) => 1,
                Some([0x1b, b'\\', ..]) => 2,
                _ => 0,
            };
            Some((None, 2 + length + close))
        }
        // Device control and other strings, up to their end.
        [0x1b, b'P' | b'X' | b'^' | b'_', tail @ ..] => {
            let length = tail.iter().take(512).take_while(|byte| !matches!(byte, 0x1b | b'\n')).count();
            Some((
                None,
                2 + length + if tail.get(length..).is_some_and(|rest| rest.starts_with(b"\x1b\\")) { 2 } else { 0 },
            ))
        }
        // The control sequence introducer as one character.
        [0xc2, 0x9b, tail @ ..] => {
            let length = tail.iter().take(64).take_while(|byte| matches!(byte, 0x20..=0x3f)).count();
            Some((None, (2 + length + 1).min(rest.len())))
        }
        // Escapes of one letter; the soft hyphen, marks of direction, the grapheme joiner.
        [0x1b, b'7' | b'8' | b'=' | b'>' | b'c' | b'D' | b'E' | b'H' | b'M', ..]
        | [0xc2, 0xad, ..]
        | [0xd8, 0x9c, ..]
        | [0xcd, 0x8f, ..] => Some((None, 2)),
        // Character sets; fillers, zero-width characters, joiners, marks of direction, variation selectors.
        [0x1b, b'(' | b')' | b'*' | b'+' | b'#' | b'%', _, ..]
        | [0xe1, 0xa0, 0x8e, ..]
        | [0xe1, 0x85, 0x9f | 0xa0, ..]
        | [0xe3, 0x85, 0xa4, ..]
        | [0xef, 0xbe, 0xa0, ..]
        | [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xae, ..]
        | [0xe2, 0x81, 0xa0..=0xaf, ..]
        | [0xef, 0xbb, 0xbf, ..]
        | [0xef, 0xb8, 0x80..=0x8f, ..] => Some((None, 3)),
        // Tag characters and more variation selectors, U+E0000 to U+E01FF.
        [0xf3, 0xa0, 0x80..=0x87, _, ..] => Some((None, 4)),
        // Full-width forms of ASCII, U+FF01 to U+FF5E.
        [0xef, 0xbc, low @ 0x81..=0xbf, ..] => Some((Some(Unit::Byte(low - 0x60)), 3)),
        [0xef, 0xbd, low @ 0x80..=0x9e, ..] => Some((Some(Unit::Byte(low - 0x20)), 3)),
        [0x1b | 0x00 | 0x08 | 0x7f, ..] => Some((None, 1)),
        _ => None,
    }
}
