//! Numbers and times in claims and in evidence.
//!
//! A number of a claim agrees with one of the evidence if that, rounded to the digits given, is the same; a percentage
//! also agrees with a hundredth of itself. Signs do not count: what fell by 3 stands as -3 in the evidence. Digits within
//! names (`E7`, `p99`, `v1.2`) are not numbers.

use jiff::Timestamp;

/// A number as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Written {
    /// Its value.
    pub value: f64,
    /// Digits after the point.
    pub decimals: u32,
    /// Whether `%` or `percent` follows.
    pub percent: bool,
}

/// What a text states in digits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stated {
    /// Plain numbers.
    pub numbers: Vec<Written>,
    /// Clock times and dates, to the letter: `12:30`, `2026-11-30`, `2026-11-30T12:30:05.123Z`.
    pub times: Vec<String>,
}

/// Finds the numbers and times of a text.
#[must_use]
pub fn stated(text: &str) -> Stated {
    let mut found = Stated::default();
    for token in tokens(text) {
        let Token { word, after } = token;
        if !word.bytes().any(|byte| byte.is_ascii_digit()) {
            continue;
        }
        if is_time(word) {
            found.times.push(word.to_owned());
        } else if let Some((value, decimals, rest)) = leading_number(word) {
            let percent = rest.starts_with('%') || (rest.is_empty() && after.trim_start().starts_with("percent"));
            if rest.is_empty() || rest.starts_with('%') || is_unit(rest) {
                found.numbers.push(Written { value, decimals, percent });
            }
        }
    }
    found
}

struct Token<'a> {
    word: &'a str,
    after: &'a str,
}

/// Runs of characters that may belong to a number, a time or a name.
fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let belongs = |c: char| c.is_alphanumeric() || matches!(c, '.' | ',' | ':' | '-' | '+' | '_' | '%');
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(belongs)?;
        let (_, from) = rest.split_at(start);
        let end = from.find(|c: char| !belongs(c)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        rest = after;
        Some(Token { word: word.trim_matches(|c| matches!(c, '.' | ',' | ':')), after })
    })
}

fn is_time(word: &str) -> bool {
    // `20260228` may be a date and is a number all the same: what counts things must not pass for a day.
    let is_date = || word.trim_start_matches('-').contains('-') && word.parse::<jiff::civil::Date>().is_ok();
    if word.parse::<Timestamp>().is_ok() || is_date() {
        return true;
    }
    let clock = word.split('.').next().unwrap_or(word);
    let parts: Vec<&str> = clock.trim_end_matches('Z').split(':').collect();
    (2..=3).contains(&parts.len())
        && parts.iter().all(|part| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The number that a word begins with, its decimals, and what follows it.
fn leading_number(word: &str) -> Option<(f64, u32, &str)> {
    let body = word.strip_prefix(['-', '+']).unwrap_or(word);
    let end = body.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(body.len());
    let (digits, rest) = body.split_at(end);
    let plain: String = digits.chars().filter(|c| *c != ',').collect();
    let value: f64 = plain.parse().ok()?;
    let decimals = plain.split_once('.').map_or(0, |(_, after)| after.len());
    Some((value, u32::try_from(decimals).unwrap_or(0), rest))
}

fn is_unit(rest: &str) -> bool {
    const UNITS: &[&str] = &[
        "ns", "us", "µs", "ms", "s", "m", "min", "h", "d", "x", "k", "M", "G", "B", "kB", "KB", "MB", "GB", "TB",
        "KiB", "MiB", "GiB", "rps", "qps", "st", "nd", "rd", "th", "times",
    ];
    UNITS.contains(&rest)
}

/// Whether `claimed` agrees with some number of the evidence.
#[must_use]
pub fn agrees(claimed: Written, evidence: &[Written]) -> bool {
    let scale = 10_f64.powi(i32::try_from(claimed.decimals.min(12)).unwrap_or(0));
    // Half a unit in the last place, to either side of a tie, and the noise of binary fractions.
    let same = |value: f64| {
        let noise = 1e-6 + (value * scale).abs() * 1e-14;
        (value - claimed.value).abs() * scale <= 0.5 + noise
    };
    evidence.iter().any(|known| same(known.value) || (claimed.percent && same(known.value * 100.0)))
}

#[cfg(test)]
mod tests;
