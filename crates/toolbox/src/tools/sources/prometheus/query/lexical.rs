//! What is looked for in the bytes of a query before it is parsed.
//!
//! The parser compiles regular expressions on its way, turns plain numbers into times and follows any nesting: here the
//! sizes of all that are bounded. Strings are walked over with the escapes that every reader of `PromQL` agrees on.

use promql_parser::util::unquote_string;
use warrant_kernel::redact::guard::first_chars;

use super::{MAX_OPEN, MAX_PATTERNS, Unfit};
use crate::tools::sources::prometheus::selector::{self, Quoted};

/// Most digits of a number, and of a part of a duration.
const DIGITS: usize = 15;
const DURATION_DIGITS: usize = 9;
/// Most signs in a row.
const SIGNS: usize = 8;

/// What stood before, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Other,
    /// `=~` or `!~`.
    Match,
    /// The word `offset`.
    Offset,
}

/// A text that may be parsed: without comments, raw strings (which the parser reads wrong) as quoted ones.
///
/// # Errors
/// What would harm the parser, or be read differently by another one.
pub(super) fn plain(text: &str) -> Result<String, Unfit> {
    let refuse = |why: &str| Err(Unfit::Text(why.to_owned()));
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    let (mut open, mut signs, mut patterns) = (0_usize, 0_usize, 0_usize);
    let mut before = Before::Other;
    while let Some(first) = rest.chars().next() {
        let (token, after) = next(rest, first)?;
        rest = after;
        match first {
            '#' => plain.push(' '),
            '`' => plain.push_str(&Quoted(token.trim_matches('`')).to_string()),
            _ => plain.push_str(token),
        }
        if token.trim().is_empty() || first == '#' {
            continue;
        }
        signs = if matches!(first, '+' | '-') { signs + 1 } else { 0 };
        let was = std::mem::replace(&mut before, Before::Other);
        match first {
            '"' | '\'' | '`' if was == Before::Match => {
                patterns += 1;
                pattern(token)?;
            }
            '(' | '{' => open += 1,
            ')' | '}' => open = open.saturating_sub(1),
            '[' => range(token)?,
            '=' | '!' if matches!(token, "=~" | "!~") => before = Before::Match,
            // A sign of the offset.
            '+' | '-' if was == Before::Offset => before = was,
            '0'..='9' | '.' if was == Before::Offset => duration(token)?,
            '0'..='9' | '.' => number(token)?,
            'o' | 'O' if token.eq_ignore_ascii_case("offset") => before = Before::Offset,
            _ => {}
        }
        if open > MAX_OPEN {
            return Err(Unfit::Many { what: "parentheses open at once", most: MAX_OPEN });
        }
        if signs > SIGNS {
            return refuse("the query holds a long row of signs; one is enough");
        }
        if patterns > MAX_PATTERNS {
            return Err(Unfit::Many { what: "regular expressions", most: MAX_PATTERNS });
        }
    }
    Ok(plain)
}

/// The token at the beginning, and what follows it.
fn next(rest: &str, first: char) -> Result<(&str, &str), Unfit> {
    let refuse = |why: &str| Err(Unfit::Text(why.to_owned()));
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let length = match first {
        '"' | '\'' | '`' => return string(rest, first),
        '#' => rest.find('\n').unwrap_or(rest.len()),
        // Nothing but a duration or two stands between brackets.
        '[' => match rest.find(']') {
            Some(end) => end + 1,
            None => return refuse("a `[` is not closed"),
        },
        '=' | '!' if rest.chars().nth(1).is_some_and(|second| matches!(second, '=' | '~')) => 2,
        '0'..='9' | '.' => rest.find(|c: char| !(word(c) || c == '.')).unwrap_or(rest.len()),
        c if word(c) => rest.find(|c: char| !word(c)).unwrap_or(rest.len()),
        ' ' | '\t' | '\n' | '\r' => 1,
        c if c.is_ascii() && !c.is_ascii_control() => 1,
        other => {
            let shown = other.escape_debug();
            return refuse(&format!("the character `{shown}` can stand in a string only"));
        }
    };
    rest.split_at_checked(length).ok_or_else(|| Unfit::Text("the query can't be read".to_owned()))
}

/// A string with its quotes. Unusual escapes are refused: readers differ in them.
fn string(rest: &str, quote: char) -> Result<(&str, &str), Unfit> {
    let refuse = |why: &str| Err(Unfit::Text(why.to_owned()));
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            _ if c == quote => {
                let (token, after) = rest.split_at_checked(at + 1).unwrap_or((rest, ""));
                return Ok((token, after));
            }
            '\0' => return refuse("a string holds a NUL character"),
            '\n' | '\r' if quote != '`' => return refuse("a string runs over the end of its line; write `\\n`"),
            '\\' if quote != '`' => match chars.next() {
                Some((_, 'n' | 'r' | 't' | '\\' | '"' | '\'' | 'u')) => {}
                Some((_, other)) => {
                    let shown: String = other.escape_debug().collect();
                    return refuse(&format!(
                        "a string holds the escape `\\{shown}`; write `\\\\{shown}` for a backslash"
                    ));
                }
                None => break,
            },
            _ => {}
        }
    }
    refuse("a string is not closed")
}

/// A regular expression, before the parser compiles it.
fn pattern(token: &str) -> Result<(), Unfit> {
    let text =
        unquote_string(token).map_err(|_| Unfit::Text("a string can't be read; check its escapes".to_owned()))?;
    selector::pattern(&text).map_err(|why| Unfit::Pattern { pattern: first_chars(&text, 60).to_owned(), why })
}

/// `[5m]` or `[1h:1m]`. Plain numbers are refused: older servers do not read them as times.
fn range(token: &str) -> Result<(), Unfit> {
    let inner = token.trim_start_matches('[').trim_end_matches(']');
    match inner.split_once(':') {
        Some((range, step)) if step.trim().is_empty() => duration(range.trim()),
        Some((range, step)) => duration(range.trim()).and_then(|()| duration(step.trim())),
        None => duration(inner.trim()),
    }
}

fn duration(text: &str) -> Result<(), Unfit> {
    let refused = || {
        let shown = first_chars(text, 40);
        Unfit::Text(format!("`{shown}` is no duration; write a whole number and a unit, `5m`, `1h30m`, `7d`"))
    };
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.chars().take_while(char::is_ascii_digit).count();
        let behind = rest.get(digits..).unwrap_or_default();
        let unit = behind.chars().take_while(char::is_ascii_alphabetic).count();
        let known = matches!(behind.get(..unit), Some("ms" | "s" | "m" | "h" | "d" | "w" | "y"));
        if digits == 0 || digits > DURATION_DIGITS || !known {
            return Err(refused());
        }
        rest = behind.get(unit..).unwrap_or_default();
    }
    if text.is_empty() { Err(refused()) } else { Ok(()) }
}

fn number(token: &str) -> Result<(), Unfit> {
    let mut longest = 0;
    let mut run = 0;
    for c in token.chars() {
        run = if c.is_ascii_alphanumeric() { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    if longest > DIGITS + 2 {
        let shown = first_chars(token, 40);
        return Err(Unfit::Text(format!("the number `{shown}` has more than {DIGITS} digits")));
    }
    Ok(())
}
