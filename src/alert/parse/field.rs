//! Reading one field of a stranger's JSON: what does not fit is absent.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

/// A text, a number or a yes-or-no at a pointer, as text; none where it is blank or a template's variable.
pub(super) fn text(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer).and_then(plain).filter(|text| is_said(text))
}

/// The texts of an object, whatever they are; nested ones as JSON.
pub(super) fn texts(value: &Value, pointer: &str) -> BTreeMap<String, String> {
    let Some(Value::Object(map)) = value.pointer(pointer) else { return BTreeMap::new() };
    let said = map.iter().filter_map(|(name, value)| {
        let text = plain(value).or_else(|| match value {
            Value::Array(_) | Value::Object(_) => Some(value.to_string()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        })?;
        Some((name.clone(), text))
    });
    said.collect()
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(yes) => Some(yes.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Whether a text says something: `$ALERT_ID` and `{EVENT.ID}` are variables that nobody replaced.
fn is_said(text: &str) -> bool {
    let variable = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte == b'.')
    };
    let text = text.trim();
    let dollar = text.strip_prefix('$').is_some_and(variable);
    let braces = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).is_some_and(variable);
    !(text.is_empty() || dollar || braces)
}

/// A time at a pointer.
pub(super) fn time(value: &Value, pointer: &str) -> Option<Timestamp> {
    time_of(&text(value, pointer)?)
}

/// A time: RFC 3339 or nearly so, UTC where no zone stands, or a number since 1970 in seconds down to nanoseconds. The
/// zero time of Go is none.
pub(super) fn time_of(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let utc = |civil: DateTime| TimeZone::UTC.to_timestamp(civil).ok();
    let zabbix = || DateTime::strptime("%Y.%m.%d %H:%M:%S", text).ok().and_then(utc);
    let found =
        number(text).or_else(|| text.parse().ok()).or_else(|| text.parse().ok().and_then(utc)).or_else(zabbix)?;
    (found > Timestamp::UNIX_EPOCH).then_some(found)
}

/// A count since 1970, its unit guessed by its size: what is a time of our century in one unit is none in another.
fn number(text: &str) -> Option<Timestamp> {
    let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
    let digits = (9..=19).contains(&whole.len()) && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let count: i64 = if digits { whole.parse().ok()? } else { return None };
    match whole.len() {
        ..=11 => Timestamp::from_second(count).ok(),
        12..=14 => Timestamp::from_millisecond(count).ok(),
        15..=17 => Timestamp::from_microsecond(count).ok(),
        _ => Timestamp::from_nanosecond(i128::from(count)).ok(),
    }
}
