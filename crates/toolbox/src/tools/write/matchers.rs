//! Matchers of silences, in the form in which people write them: `severity="page", instance=~"web.*"`.
//!
//! The text becomes a list of typed matchers, which the server gets as JSON: nothing is built by joining texts.

use std::iter::Peekable;
use std::str::Chars;

use regex::RegexBuilder;

use crate::tools::sources::alertmanager::Matcher;

const MAX_MATCHERS: usize = 16;
/// Bytes that a compiled regular expression may take.
const REGEX_SIZE: usize = 256 * 1024;

/// Reads a list of matchers; braces around it may be there.
///
/// # Errors
/// What is wrong and what would do.
pub fn parse(text: &str) -> Result<Vec<Matcher>, String> {
    let inner = text.trim();
    let inner = inner.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(inner);
    let mut chars = inner.chars().peekable();
    let mut found = Vec::new();
    loop {
        skip_blanks(&mut chars);
        if chars.peek().is_none() {
            break;
        }
        let matcher = one(&mut chars)?;
        check(&matcher)?;
        found.push(matcher);
        skip_blanks(&mut chars);
        match chars.next() {
            None => break,
            Some(',') => {}
            Some(other) => return Err(format!("`{other}` where a `,` belongs")),
        }
        if found.len() >= MAX_MATCHERS {
            return Err(format!("more than {MAX_MATCHERS} matchers"));
        }
    }
    Ok(found)
}

fn skip_blanks(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|c| c.is_whitespace()).is_some() {}
}

fn one(chars: &mut Peekable<Chars<'_>>) -> Result<Matcher, String> {
    let mut name = String::new();
    while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
        name.push(c);
    }
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err("a matcher begins with the name of a label, as in `severity=\"page\"`".to_owned());
    }
    skip_blanks(chars);
    let (is_equal, is_regex) = match (chars.next(), chars.peek()) {
        (Some('='), Some('~')) => (true, true),
        (Some('='), _) => (true, false),
        (Some('!'), Some('=')) => (false, false),
        (Some('!'), Some('~')) => (false, true),
        _ => return Err(format!("after `{name}` comes `=`, `!=`, `=~` or `!~`")),
    };
    if (is_equal, is_regex) != (true, false) {
        chars.next();
    }
    skip_blanks(chars);
    let value = quoted(chars).ok_or_else(|| format!("the value of `{name}` stands in double quotes"))?;
    Ok(Matcher { name, value, is_regex, is_equal })
}

fn quoted(chars: &mut Peekable<Chars<'_>>) -> Option<String> {
    chars.next_if_eq(&'"')?;
    let mut value = String::new();
    loop {
        match chars.next()? {
            '"' => return Some(value),
            '\\' => match chars.next()? {
                'n' => value.push('\n'),
                quoted @ ('"' | '\\') => value.push(quoted),
                // In a regular expression a backslash goes with what follows.
                other => value.extend(['\\', other]),
            },
            other => value.push(other),
        }
    }
}

fn check(matcher: &Matcher) -> Result<(), String> {
    let Matcher { name, value, is_regex, .. } = matcher;
    if value.chars().any(char::is_control) || value.chars().count() > 300 {
        return Err(format!("the value of `{name}` is longer than 300 characters or holds control characters"));
    }
    if *is_regex && anchored(value).is_none() {
        return Err(format!("the value of `{name}` is no regular expression"));
    }
    Ok(())
}

fn anchored(value: &str) -> Option<regex::Regex> {
    RegexBuilder::new(&format!("^(?:{value})$")).size_limit(REGEX_SIZE).build().ok()
}

/// Whether a label's value is one that a matcher takes. A label that is not there is an empty text.
#[must_use]
pub fn takes(matcher: &Matcher, value: &str) -> bool {
    let fits = if matcher.is_regex {
        anchored(&matcher.value).is_some_and(|regex| regex.is_match(value))
    } else {
        matcher.value == value
    };
    fits == matcher.is_equal
}

/// A matcher as people write it.
#[must_use]
pub fn written(matcher: &Matcher) -> String {
    let sign = match (matcher.is_equal, matcher.is_regex) {
        (true, false) => "=",
        (true, true) => "=~",
        (false, false) => "!=",
        (false, true) => "!~",
    };
    format!("{}{sign}{:?}", matcher.name, matcher.value)
}

#[cfg(test)]
mod tests;
