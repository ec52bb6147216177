//! The level of a free-text line: a word in capitals, in brackets or before a colon; a priority; an access log's status.

use crate::analysis::level::Level;

/// A level stands early in the line or nowhere.
const WITHIN: usize = 160;
const WORDS: usize = 8;

/// The level of `line`; `rest` is what follows its time.
pub(super) fn of_line(line: &[u8], rest: &[u8]) -> Level {
    glog(line)
        .or_else(|| word(rest))
        .or_else(|| word(line))
        .or_else(|| priority(line))
        .or_else(|| status(line))
        .or_else(|| line.starts_with(b"Traceback (").then_some(Level::Error))
        .unwrap_or_default()
}

fn glog(line: &[u8]) -> Option<Level> {
    let (letter, rest) = line.split_first()?;
    let digits = rest.get(..4)?.iter().all(u8::is_ascii_digit);
    let level = match letter {
        b'E' | b'F' => Level::Error,
        b'W' => Level::Warn,
        b'I' => Level::Info,
        b'D' => Level::Debug,
        _ => return None,
    };
    (digits && rest.get(4) == Some(&b' ')).then_some(level)
}

/// A level word that is marked as one: `ERROR`, `[error]`, `error:`, `<Warning>`.
fn word(text: &[u8]) -> Option<Level> {
    let early = text.get(..text.len().min(WITHIN))?;
    early.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).take(WORDS).find_map(|word| {
        let marked = word.first().is_some_and(|byte| b"[<(".contains(byte))
            || word.last().is_some_and(|byte| b":]>)|".contains(byte));
        word.split(|byte| b"[]<>():|,;\"".contains(byte)).filter(|part| !part.is_empty()).find_map(|part| {
            let part = part.rsplit(|byte| *byte == b'.').next().unwrap_or(part);
            let capitals = part.len() > 1 && part.iter().all(u8::is_ascii_uppercase);
            (marked || capitals).then(|| Level::from_word(part)).flatten()
        })
    })
}

/// The severity in a syslog priority, `<34>`.
fn priority(line: &[u8]) -> Option<Level> {
    let digits = line.strip_prefix(b"<")?.split(|byte| *byte == b'>').next()?;
    let number: i64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (0..192).contains(&number).then(|| Level::from_number(number % 8)).flatten()
}

/// The status in an access log: 5xx is the server's error, 4xx a warning.
fn status(line: &[u8]) -> Option<Level> {
    let request = line.windows(6).take(1_024).find(|window| window.starts_with(b"\" ") && window.ends_with(b" "))?;
    let digits = request.get(2..5)?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    match digits.first()? {
        b'5' => Some(Level::Error),
        b'4' => Some(Level::Warn),
        b'1'..=b'3' => Some(Level::Info),
        _ => None,
    }
}
