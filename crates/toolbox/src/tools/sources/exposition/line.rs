//! One line of the text format. Every function here takes any text and either understands it whole or gives none.

use super::{Labels, MAX_LABELS, Sample};

/// Reads `name{label="value",...} value [timestamp] [# exemplar]`.
pub(super) fn sample(line: &str) -> Option<Sample> {
    let end = line.find(|c: char| !is_name_char(c, Colon::Allowed)).unwrap_or(line.len());
    let (name, rest) = line.split_at_checked(end)?;
    if !is_metric_name(name) {
        return None;
    }
    let rest = rest.trim_start_matches([' ', '\t']);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(inner) => labels(inner)?,
        None => (Vec::new(), rest),
    };
    // OpenMetrics puts an exemplar behind a `#`.
    let (numbers, _) = rest.split_once('#').unwrap_or((rest, ""));
    let mut words = numbers.split_ascii_whitespace();
    let value = number(words.next()?)?;
    if let Some(timestamp) = words.next() {
        number(timestamp)?;
    }
    if words.next().is_some() {
        return None;
    }
    Some(Sample { name: name.to_owned(), labels, value })
}

/// Reads labels up to and with the closing brace.
fn labels(text: &str) -> Option<(Labels, &str)> {
    let mut found: Labels = Vec::new();
    let mut rest = text.trim_start_matches([' ', '\t']);
    loop {
        if let Some(after) = rest.strip_prefix('}') {
            found.sort_unstable();
            let unique = found.windows(2).all(|pair| matches!(pair, [(one, _), (two, _)] if one != two));
            return unique.then_some((found, after));
        }
        let (name, after) = rest.split_once('=')?;
        let name = name.trim_matches([' ', '\t']);
        if !is_label_name(name) || found.len() >= MAX_LABELS {
            return None;
        }
        let (value, after) = quoted(after.trim_start_matches([' ', '\t']).strip_prefix('"')?)?;
        found.push((name.to_owned(), value));
        rest = after.trim_start_matches([' ', '\t']);
        if let Some(after) = rest.strip_prefix(',') {
            rest = after.trim_start_matches([' ', '\t']);
        } else if !rest.starts_with('}') {
            return None;
        }
    }
}

/// Reads up to the closing quote.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, text.get(at + 1..)?)),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                escaped @ ('\\' | '"') => value.push(escaped),
                other => value.extend(['\\', other]),
            },
            _ => value.push(c),
        }
    }
    None
}

/// A help text without its escapes.
pub(super) fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => plain.push('\n'),
            ('\\', Some('\\')) => plain.push('\\'),
            ('\\', Some(other)) => plain.extend(['\\', other]),
            (c, _) => plain.push(c),
        }
    }
    plain
}

/// The first word, and what follows it.
pub(super) fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches([' ', '\t']);
    let end = text.find([' ', '\t']).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn number(text: &str) -> Option<f64> {
    // Rust reads `inf`, `nan` and signs in any case, as the format asks; `infinity` too, which does no harm.
    text.parse().ok()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Colon {
    Allowed,
    Refused,
}

fn is_name_char(c: char, colon: Colon) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || (colon == Colon::Allowed && c == ':')
}

fn is_name(text: &str, colon: Colon) -> bool {
    !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(|c| is_name_char(c, colon))
}

/// Whether this may name a metric.
pub(super) fn is_metric_name(text: &str) -> bool {
    is_name(text, Colon::Allowed)
}

/// Whether this may name a label.
pub(super) fn is_label_name(text: &str) -> bool {
    is_name(text, Colon::Refused)
}
