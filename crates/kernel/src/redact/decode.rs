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
}

impl View {
    /// What a field of the original decodes to.
    pub(super) fn field(origin: Range<usize>, text: Vec<u8>) -> Result<Self, RedactError> {
        Self::new(text, Origin::Field(origin))
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
        [0x1b, ..] => Some((None, 1)),
        [0xc2, 0xad, ..] => Some((None, 2)),
        // Zero-width characters, joiners, marks of direction, the byte order mark, variation selectors.
        [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xae, ..]
        | [0xe2, 0x81, 0xa0..=0xaf, ..]
        | [0xef, 0xbb, 0xbf, ..]
        | [0xef, 0xb8, 0x80..=0x8f, ..] => Some((None, 3)),
        // Tag characters, U+E0000 to U+E007F.
        [0xf3, 0xa0, 0x80 | 0x81, _, ..] => Some((None, 4)),
        // Full-width forms of ASCII, U+FF01 to U+FF5E.
        [0xef, 0xbc, low @ 0x81..=0xbf, ..] => Some((Some(Unit::Byte(low - 0x60)), 3)),
        [0xef, 0xbd, low @ 0x80..=0x9e, ..] => Some((Some(Unit::Byte(low - 0x20)), 3)),
        _ => None,
    }
}
