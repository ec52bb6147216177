//! Times and durations as people write them.

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp, Unit};

/// A text that is no time or no duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    /// Not a duration.
    #[error("`{0}` is not a duration; write `90s`, `15m`, `1h30m` or `2d`")]
    Duration(String),
    /// Not a time.
    #[error("`{0}` is not a time; write RFC 3339 as in `2026-01-31T04:05:00Z`, or `15m ago`, or `now`")]
    Time(String),
}

fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

fn span_of(text: &str) -> Option<SignedDuration> {
    let span: Span = text.parse().ok()?;
    span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()
}

/// Reads a duration: `90s`, `15m`, `1h30m`, `2d`, `PT5M`. Never negative.
///
/// # Errors
/// [`TimeError::Duration`] for anything else.
pub fn parse_duration(text: &str) -> Result<SignedDuration, TimeError> {
    span_of(text.trim()).filter(|duration| !duration.is_negative()).ok_or_else(|| TimeError::Duration(shown(text)))
}

/// Reads a time: RFC 3339 (UTC where no offset stands), `now`, or a duration before `now`: `15m`, `15m ago`, `-15m`.
///
/// # Errors
/// [`TimeError::Time`] for anything else.
pub fn parse_time(text: &str, now: Timestamp) -> Result<Timestamp, TimeError> {
    let trimmed = text.trim();
    if trimmed.eq_ignore_ascii_case("now") {
        return Ok(now);
    }
    if let Ok(time) = trimmed.parse::<Timestamp>() {
        return Ok(time);
    }
    if let Ok(civil) = trimmed.parse::<jiff::civil::DateTime>()
        && let Ok(time) = jiff::tz::TimeZone::UTC.to_timestamp(civil)
    {
        return Ok(time);
    }
    let ago = span_of(trimmed).ok_or_else(|| TimeError::Time(shown(text)))?;
    now.checked_sub(ago.abs()).map_err(|_| TimeError::Time(shown(text)))
}

/// A time as RFC 3339 in UTC with milliseconds, the form used in results and traces.
#[must_use]
pub fn rfc3339(time: Timestamp) -> String {
    let rounded = time.round(Unit::Millisecond).unwrap_or(time);
    format!("{rounded:.3}")
}

/// A duration in the shortest usual form: `90s` becomes `1m 30s`.
#[must_use]
pub fn short(duration: SignedDuration) -> String {
    let total = duration.as_secs().abs();
    let (days, hours, minutes, seconds) = (total / 86_400, total / 3_600 % 24, total / 60 % 60, total % 60);
    let parts: Vec<String> = [(days, "d"), (hours, "h"), (minutes, "m"), (seconds, "s")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .take(2)
        .map(|(count, unit)| format!("{count}{unit}"))
        .collect();
    if parts.is_empty() {
        return format!("{}ms", duration.as_millis().abs());
    }
    parts.join(" ")
}
