//! What a value must be beyond its JSON type: the service exists, the time parses, the expression compiles.
//!
//! Each rule says what is wrong and what would do. A rule that finds nothing wrong may give the value another form: a
//! time becomes absolute, `5.0` becomes `5`.

use jiff::{SignedDuration, Timestamp};
use regex::RegexBuilder;
use serde_json::Value;

use crate::call::definition::{did_you_mean, listed, nearest};
use crate::call::tool::Services;
use crate::domain::name::{EvidenceId, ServiceName};
use crate::domain::time;
use crate::domain::tool::{ArgSpec, ArgType};

use super::text::visible;

/// A compiled expression may take this much memory; `(a{1000}){10}` does not fit.
const REGEX_SIZE: usize = 1024 * 1024;
const REGEX_NEST: u32 = 64;
const LONGEST: SignedDuration = SignedDuration::from_hours(400 * 24);
const AHEAD: SignedDuration = SignedDuration::from_hours(24);
const MAX_TIME_TEXT: usize = 64;

/// What the rules look at besides the value.
#[derive(Clone, Copy)]
pub(in crate::call) struct Sense<'a> {
    pub(super) now: Timestamp,
    /// None where definitions are loaded: whether a service exists is not known then.
    pub(super) services: Option<&'a dyn Services>,
}

/// Checks one value that has the right JSON type; gives its new form where it has one.
pub(super) fn check(spec: &ArgSpec, value: &Value, sense: &Sense<'_>) -> Result<Option<Value>, String> {
    match spec.kind {
        ArgType::Int => int(spec, value).map(Some),
        ArgType::Bool | ArgType::Enum | ArgType::Words => Ok(None),
        ArgType::Service
        | ArgType::Time
        | ArgType::Duration
        | ArgType::Path
        | ArgType::Label
        | ArgType::Regex
        | ArgType::Text
        | ArgType::Query
        | ArgType::Evidence => text(spec, value.as_str().unwrap_or_default(), sense),
    }
}

fn text(spec: &ArgSpec, text: &str, sense: &Sense<'_>) -> Result<Option<Value>, String> {
    short_enough(spec, text)?;
    if !is_free(spec.kind) {
        clean(text)?;
    }
    match spec.kind {
        ArgType::Service => service(text, sense).map(|()| None),
        ArgType::Time => at_time(text, sense).map(Some),
        ArgType::Duration => duration(spec, text).map(|()| None),
        ArgType::Path => path(text).map(|()| None),
        ArgType::Label => label(text).map(|()| None),
        ArgType::Regex => regex(text).map(|()| None),
        ArgType::Evidence => text.parse::<EvidenceId>().map(|_| None).map_err(|error| visible(&error.to_string())),
        ArgType::Query if text.trim().is_empty() => Err("is empty".to_owned()),
        ArgType::Text | ArgType::Query | ArgType::Int | ArgType::Bool | ArgType::Enum | ArgType::Words => Ok(None),
    }
}

/// A value of this type, in words.
pub(super) fn wanted(kind: ArgType) -> &'static str {
    match kind {
        ArgType::Service => "a text (the name of a service)",
        ArgType::Time => "a text (a time such as `15m ago`)",
        ArgType::Duration => "a text (a duration such as `15m`)",
        ArgType::Path => "a text (a path)",
        ArgType::Label => "a text (a metric or label name)",
        ArgType::Regex => "a text (a regular expression)",
        ArgType::Int => "a whole number",
        ArgType::Bool => "true or false",
        ArgType::Enum => "a text (one of the choices)",
        ArgType::Text => "a text",
        ArgType::Query => "a text (a query)",
        ArgType::Evidence => "a text (an evidence id such as `E7`)",
        ArgType::Words => "an array of texts, each one word",
    }
}

/// Whether any character may stand in it: it is matched or shown, never used as a name.
fn is_free(kind: ArgType) -> bool {
    match kind {
        ArgType::Text | ArgType::Regex | ArgType::Query => true,
        ArgType::Service
        | ArgType::Time
        | ArgType::Duration
        | ArgType::Path
        | ArgType::Label
        | ArgType::Int
        | ArgType::Bool
        | ArgType::Enum
        | ArgType::Evidence
        | ArgType::Words => false,
    }
}

fn short_enough(spec: &ArgSpec, text: &str) -> Result<(), String> {
    let usual: usize = match spec.kind {
        ArgType::Service | ArgType::Evidence | ArgType::Int | ArgType::Bool | ArgType::Enum => 128,
        ArgType::Time | ArgType::Duration => MAX_TIME_TEXT,
        ArgType::Label => 200,
        ArgType::Path | ArgType::Regex => 1_000,
        ArgType::Text => 2_000,
        ArgType::Query => 4_000,
        // The tool looks at each of its words.
        ArgType::Words => usize::MAX,
    };
    let most = match spec.kind {
        // For these `max` is a length of time or does not exist.
        ArgType::Duration | ArgType::Time => usual,
        _ => spec.max.and_then(|max| usize::try_from(max).ok()).unwrap_or(usual),
    };
    let length = text.chars().count();
    if length > most { Err(format!("has {length} characters; at most {most}")) } else { Ok(()) }
}

/// Characters that show as nothing, turn the text around, or look like `/` or `.` and are not.
pub(super) fn misleading(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}'
        | '\u{2024}'..='\u{2026}' | '\u{2044}' | '\u{2215}' | '\u{29f8}' | '\u{ff0e}' | '\u{ff0f}' | '\u{ff3c}')
}

fn clean(text: &str) -> Result<(), String> {
    match text.chars().find(|c| c.is_control() || misleading(*c)) {
        Some(c) => Err(format!("holds the character U+{:04X}, which may not stand here", u32::from(c))),
        None => Ok(()),
    }
}

fn int(spec: &ArgSpec, value: &Value) -> Result<Value, String> {
    let whole = value
        .as_i64()
        .or_else(|| value.as_f64().and_then(exact))
        .ok_or_else(|| format!("{} is too large a number", super::shape::shown(value)))?;
    let (least, most) = (spec.min.unwrap_or(i64::MIN), spec.max.unwrap_or(i64::MAX));
    if whole < least || whole > most {
        return Err(format!("{whole} is not within {least} to {most}"));
    }
    Ok(whole.into())
}

/// `5.0` is a whole number to JSON Schema; beyond 2^53 a float no longer says which.
fn exact(float: f64) -> Option<i64> {
    let fits = float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_991.0;
    fits.then(|| format!("{float:.0}").parse().ok()).flatten()
}

fn service(text: &str, sense: &Sense<'_>) -> Result<(), String> {
    let name: ServiceName = text.parse().map_err(|error| format!("{error}"))?;
    let Some(services) = sense.services else { return Ok(()) };
    let names = services.names();
    if names.binary_search(&name).is_ok() || names.contains(&name) {
        return Ok(());
    }
    let near = nearest(text, names.iter().map(ServiceName::as_str));
    let rest = match (near.is_empty(), names.len()) {
        (false, _) => did_you_mean(&near),
        (true, 0) => "; the catalog has no services".to_owned(),
        (true, count @ 1..=12) => {
            let all: Vec<&str> = names.iter().take(count).map(ServiceName::as_str).collect();
            format!("; the services are {}", listed(&all, " and "))
        }
        (true, count) => format!("; the catalog has {count} services, see `list_services`"),
    };
    Err(format!("there is no service `{text}`{rest}"))
}

fn at_time(text: &str, sense: &Sense<'_>) -> Result<Value, String> {
    let time = time::parse_time(text, sense.now).map_err(|error| visible(&error.to_string()))?;
    if time.duration_since(sense.now) > AHEAD {
        let now = time::rfc3339(sense.now);
        return Err(format!("`{}` lies in the future; it is {now} now", visible(text)));
    }
    Ok(Value::String(time::rfc3339(time)))
}

fn duration(spec: &ArgSpec, text: &str) -> Result<(), String> {
    let duration = time::parse_duration(text).map_err(|error| visible(&error.to_string()))?;
    let least = SignedDuration::from_secs(spec.min.unwrap_or(0));
    let most = spec.max.map_or(LONGEST, SignedDuration::from_secs);
    if duration < least {
        return Err(format!("`{}` is shorter than the least, {}", visible(text), time::short(least)));
    }
    if duration > most {
        return Err(format!("`{}` is longer than the most, {}", visible(text), time::short(most)));
    }
    Ok(())
}

fn path(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("is empty; write `.` for the root".to_owned());
    }
    if text.starts_with('/') {
        return Err("is absolute; write it relative to the workspace root".to_owned());
    }
    if text.contains('\\') {
        return Err("holds `\\`; parts of a path are separated by `/`".to_owned());
    }
    if text.split('/').any(|part| part == "..") {
        return Err("holds `..`; write it from the root on, without going up".to_owned());
    }
    Ok(())
}

fn label(text: &str) -> Result<(), String> {
    let begins = text.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == ':');
    if begins && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':') {
        return Ok(());
    }
    let shown: String = visible(text).chars().take(80).collect();
    Err(format!("`{shown}` is no metric or label name: letters, digits, `_` and `:`, not beginning with a digit"))
}

fn regex(text: &str) -> Result<(), String> {
    match RegexBuilder::new(text).size_limit(REGEX_SIZE).nest_limit(REGEX_NEST).build() {
        Ok(_) => Ok(()),
        Err(regex::Error::CompiledTooBig(_)) => {
            Err("the expression is too large once compiled; use smaller repetitions".to_owned())
        }
        Err(error) => {
            // The last line of the crate's message says what is wrong; those before repeat the expression.
            let told = error.to_string();
            let what = told.lines().last().unwrap_or_default().trim().trim_start_matches("error: ");
            let what: String = visible(what).chars().take(200).collect();
            Err(format!("is no regular expression: {what} (Rust `regex` syntax: no look-around, no back-references)"))
        }
    }
}
