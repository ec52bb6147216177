//! Which file names belong to one log, and in which order they were written. Pure: names only.

use std::cmp::Reverse;

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Plain text.
    Plain,
    /// Gzip.
    Gzip,
    /// Zstandard.
    Zstd,
    /// Something that is not read here.
    Other,
}

/// The place of a file in its log, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Rotated, named by a date: its digits, then a number within that date.
    Dated(String, u32),
    /// Rotated, numbered: the higher the older.
    Numbered(Reverse<u32>),
    /// The file that is written to.
    Live,
}

/// A file name, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The name of the live file it belongs to.
    pub base: String,
    /// How it is packed.
    pub packing: Packing,
    /// Its place in the log.
    pub place: Place,
}

const PACKINGS: [(&str, Packing); 8] = [
    (".gz", Packing::Gzip),
    (".zst", Packing::Zstd),
    (".zstd", Packing::Zstd),
    (".bz2", Packing::Other),
    (".xz", Packing::Other),
    (".lz4", Packing::Other),
    (".zip", Packing::Other),
    (".Z", Packing::Other),
];

/// Takes `name` apart if it belongs to a log whose live file is named by `pattern`, in which `*` stands for any part.
#[must_use]
pub fn member(name: &str, pattern: &str) -> Option<Member> {
    let (core, packing) = PACKINGS
        .iter()
        .find_map(|(ending, packing)| name.strip_suffix(ending).map(|core| (core, *packing)))
        .unwrap_or((name, Packing::Plain));
    if let Some((base, place)) = rotated(core)
        && (fits(&base, pattern) || fits(name, pattern))
    {
        return Some(Member { base, packing, place });
    }
    let place = if packing == Packing::Plain { Place::Live } else { Place::Numbered(Reverse(0)) };
    (fits(core, pattern) || fits(name, pattern)).then(|| Member { base: core.to_owned(), packing, place })
}

/// `app.log.1`, `app.log-20261130`, `app-2026-11-30.log`, `app.1.log`: the live file's name and the place.
fn rotated(core: &str) -> Option<(String, Place)> {
    if let Some((base, place)) = without_tail(core) {
        return Some((base.to_owned(), place));
    }
    let (stem, extension) = core.rsplit_once('.')?;
    if extension.is_empty() || extension.len() > 8 || !extension.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    let (base, place) = without_tail(stem)?;
    Some((format!("{base}.{extension}"), place))
}

/// Takes a date or number off the end.
fn without_tail(text: &str) -> Option<(&str, Place)> {
    let is_tail = |tail: &str| {
        tail.starts_with(|c: char| c.is_ascii_digit())
            && tail.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '_' | '.' | ':' | 'T' | 'Z'))
    };
    let (at, separator) = text
        .char_indices()
        .filter(|(at, c)| *at > 0 && matches!(c, '.' | '-' | '_'))
        .find(|(at, _)| text.get(at + 1..).is_some_and(is_tail))?;
    let (base, tail) = (text.get(..at)?, text.get(at + 1..)?);
    if tail.len() <= 4 && tail.bytes().all(|byte| byte.is_ascii_digit()) {
        return (separator == '.').then(|| Some((base, Place::Numbered(Reverse(tail.parse().ok()?)))))?;
    }
    let (date, number) = match tail.rsplit_once('.') {
        Some((date, number)) if number.len() <= 4 => (date, number.parse().unwrap_or(0)),
        _ => (tail, 0),
    };
    let digits: String = date.chars().filter(char::is_ascii_digit).collect();
    (digits.len() >= 6).then_some((base, Place::Dated(digits, number)))
}

/// Whether `name` is `pattern`, in which `*` stands for any part, also an empty one.
#[must_use]
pub fn fits(name: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests;
