//! Fields that are base64 or hex of text: long runs of their letters that decode to something readable.
//!
//! A run of at least [`SHORTEST`] covers a probe of that stride, so ordinary text costs one look in sixteen bytes.

use std::io::Read;
use std::ops::Range;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// The shortest field that is decoded.
const SHORTEST: usize = 16;
/// A field longer than this is decoded in pieces, which overlap by [`OVERLAP`]; both are multiples of four.
const PIECE: usize = 64 * 1024;
const OVERLAP: usize = 8 * 1024;

/// How a gzip begins.
const GZIP: &[u8] = &[0x1f, 0x8b, 0x08];
/// How many times longer than itself what it says may be.
const UNPACKED: u64 = 16;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

static IN_RUN: [bool; 256] = table();

const fn table() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    #[expect(clippy::indexing_slicing, reason = "a constant; the index is below the length")]
    #[expect(clippy::cast_possible_truncation, reason = "below 256")]
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'+' | b'/' | b'-' | b'_');
        byte += 1;
    }
    table
}

fn in_run(byte: u8) -> bool {
    IN_RUN.get(usize::from(byte)).copied().unwrap_or_default()
}

/// Calls `found` with each field of `text` and what it decodes to.
pub(super) fn each<E>(text: &[u8], mut found: impl FnMut(Range<usize>, Vec<u8>) -> Result<(), E>) -> Result<(), E> {
    let (mut probe, mut done) = (SHORTEST - 1, 0);
    while let Some(&byte) = text.get(probe) {
        if !in_run(byte) {
            probe += SHORTEST;
            continue;
        }
        let before = text.get(done..probe).unwrap_or_default().iter().rev().take_while(|&&byte| in_run(byte)).count();
        let after = text.get(probe..).unwrap_or_default().iter().take_while(|&&byte| in_run(byte)).count();
        let run = probe - before..probe + after;
        if run.len() >= SHORTEST {
            run_of(text, &run, &mut found)?;
        }
        done = run.end;
        probe = run.end + SHORTEST;
    }
    Ok(())
}

fn run_of<E>(
    text: &[u8],
    run: &Range<usize>,
    found: &mut impl FnMut(Range<usize>, Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    if decode_run(text, run, found)? {
        return Ok(());
    }
    let bytes = text.get(run.clone()).unwrap_or_default();
    // Other letters may stand before a field of hex: `x4142`, `id-4142`.
    let digits = bytes.iter().rev().take_while(|byte| byte.is_ascii_hexdigit()).count();
    if digits >= SHORTEST && digits < bytes.len() && decode_run(text, &(run.end - digits..run.end), found)? {
        return Ok(());
    }
    // A path or a list may hold a field of base64 without slashes.
    if bytes.contains(&b'/') {
        let mut start = run.start;
        for part in bytes.split(|&byte| byte == b'/') {
            if part.len() >= SHORTEST {
                decode_run(text, &(start..start + part.len()), found)?;
            }
            start += part.len() + 1;
        }
    }
    Ok(())
}

fn decode_run<E>(
    text: &[u8],
    run: &Range<usize>,
    found: &mut impl FnMut(Range<usize>, Vec<u8>) -> Result<(), E>,
) -> Result<bool, E> {
    let mut start = run.start;
    let mut any = false;
    loop {
        let end = run.end.min(start + PIECE);
        let piece = text.get(start..end).unwrap_or_default();
        if let Some(decoded) = decode(piece) {
            any = true;
            let padding = text.get(end..end + 2).unwrap_or(text.get(end..).unwrap_or_default());
            let padding = padding.iter().take_while(|&&byte| byte == b'=').count();
            found(start..if end == run.end { end + padding } else { end }, decoded)?;
        }
        if end == run.end {
            return Ok(any);
        }
        start = end - OVERLAP;
    }
}

/// What the field says, if it is base64 or hex of text.
pub(super) fn decode(field: &[u8]) -> Option<Vec<u8>> {
    let head = field.get(..SHORTEST.min(field.len()))?;
    if field.len().is_multiple_of(2)
        && head.iter().all(u8::is_ascii_hexdigit)
        && let Some(text) = unhex(field)
    {
        return Some(text);
    }
    if head.starts_with(b"1f8b08") {
        return unpacked(&bytes_of_hex(field)?);
    }
    let engine = if field.iter().any(|byte| matches!(byte, b'-' | b'_')) { URL_SAFE } else { STANDARD };
    let mut start = [0; 12];
    let probe = head.get(..head.len() / 4 * 4)?;
    let length = engine.decode_slice(probe, &mut start).ok()?;
    let packed = start.starts_with(GZIP);
    if !packed && !is_text(start.get(..length)?) {
        return None;
    }
    let whole = if field.len() % 4 == 1 { field.get(..field.len() - 1)? } else { field };
    if packed {
        return unpacked(&engine.decode(whole).ok()?);
    }
    engine.decode(whole).ok().filter(|text| is_text(text))
}

/// What a gzip says, as far as it goes: no more of it than a packed secret takes, so that a bomb costs what it is long.
fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let most = u64::try_from(packed.len()).unwrap_or(u64::MAX).saturating_mul(UNPACKED);
    // A gzip that breaks off says what it says up to there.
    let _ended = flate2::read::GzDecoder::new(packed).take(most).read_to_end(&mut text);
    (!text.is_empty() && is_text(&text)).then_some(text)
}

fn unhex(field: &[u8]) -> Option<Vec<u8>> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
    pairs(field).map(|byte| byte.filter(|byte| is_plain(*byte))).collect()
}

fn bytes_of_hex(field: &[u8]) -> Option<Vec<u8>> {
    pairs(field).collect()
}

fn pairs(field: &[u8]) -> impl Iterator<Item = Option<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    field.chunks_exact(2).map(move |pair| {
        let [high, low] = pair else { return None };
        u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
    })
}

/// UTF-8 (its last character may be cut off) without control characters.
fn is_text(bytes: &[u8]) -> bool {
    let whole = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    whole && bytes.iter().all(|&byte| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t' | 0x80..))
}
