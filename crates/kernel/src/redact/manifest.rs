//! Kubernetes `Secret`s as text: every value beneath `data` and `stringData` is one, whatever its name.

use std::ops::Range;

use super::value;

/// How far from `kind: Secret` its values may stand, on either side.
const REACH: usize = 32 * 1024;

/// The values of the manifest whose `kind: Secret` stands at `at`, and where the next manifest may begin.
pub(super) fn values(text: &[u8], at: usize) -> (Vec<Range<usize>>, usize) {
    let kind = text.get(at..(at + 20).min(text.len())).unwrap_or_default();
    let word = kind.windows(6).position(|word| word.eq_ignore_ascii_case(b"secret")).map_or(0, |word| word + 6);
    if kind.get(word).is_some_and(u8::is_ascii_alphanumeric) {
        return (Vec::new(), at + 1);
    }
    let from = at.saturating_sub(REACH);
    let head = text.get(from..at).unwrap_or_default();
    let start = from + last(head, b"\n---").unwrap_or(0);
    let tail = text.get(at..(at + REACH).min(text.len())).unwrap_or_default();
    let end = at + first(tail, b"\n---").unwrap_or(tail.len());
    let manifest = text.get(start..end).unwrap_or_default();
    let mut found = Vec::new();
    if text.get(at..).is_some_and(|kind| kind.starts_with(b"kind:")) {
        yaml(manifest, start, &mut found);
    } else {
        json(manifest, start, &mut found);
    }
    (found, end)
}

/// The lines that stand deeper than `data:`.
fn yaml(manifest: &[u8], start: usize, found: &mut Vec<Range<usize>>) {
    let (mut at, mut block) = (start, None);
    for line in manifest.split(|&byte| byte == b'\n') {
        let indent = line.iter().take_while(|byte| **byte == b' ').count();
        let field = line.get(indent..).unwrap_or_default();
        match block {
            Some(outer) if indent > outer => {
                let colon = field.iter().position(|&byte| byte == b':');
                let begin = colon.map_or(0, |colon| colon + 1);
                let rest = field.get(begin..).unwrap_or_default();
                // Lines of a block scalar have no name.
                let named = colon.is_none_or(|colon| matches!(field.get(colon + 1), None | Some(b' ')));
                let (begin, rest) = if named { (begin, rest) } else { (0, field) };
                found.extend(inner(rest, at + indent + begin));
            }
            Some(_) | None if field.is_empty() => {}
            Some(_) | None => {
                block = matches!(field.trim_ascii_end(), b"data:" | b"stringData:").then_some(indent);
            }
        }
        at += line.len() + 1;
    }
}

/// The strings of the object behind `"data":`.
fn json(manifest: &[u8], start: usize, found: &mut Vec<Range<usize>>) {
    for name in [&b"\"data\""[..], b"\"stringData\""] {
        let Some(at) = first(manifest, name) else { continue };
        let behind = manifest.get(at + name.len()..).unwrap_or_default();
        let open = behind.iter().take_while(|byte| matches!(byte, b':' | b' ' | b'\n')).count();
        let Some(object) = behind.get(open..).and_then(|rest| rest.strip_prefix(b"{")) else { continue };
        let end = object.iter().position(|&byte| byte == b'}').unwrap_or(object.len());
        let mut place = start + at + name.len() + open + 1;
        for (index, part) in object.get(..end).unwrap_or_default().split(|&byte| byte == b'"').enumerate() {
            // `"name":"value",`: of each four parts the fourth stands within the second quotes.
            if index % 4 == 3 {
                found.extend(inner(part, place));
            }
            place += part.len() + 1;
        }
    }
}

/// A value without blanks and quotes; none where it is none.
fn inner(value: &[u8], at: usize) -> Option<Range<usize>> {
    let outer = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'');
    let before = value.iter().take_while(|byte| outer(byte)).count();
    let behind = value.iter().rev().take_while(|byte| outer(byte)).count();
    let found = value.get(before..value.len().saturating_sub(behind)).unwrap_or_default();
    let sign = matches!(found.first(), Some(b'|' | b'>' | b'{' | b'&' | b'*'));
    (!sign && !value::is_blank(found)).then(|| at + before..at + before + found.len())
}

fn first(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

fn last(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).rposition(|window| window == part)
}
