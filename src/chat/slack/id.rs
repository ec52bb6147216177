//! What an id of Slack looks like: short, and nothing in it that means something elsewhere.

/// The most characters of an id. Slack's own have eleven or so; those of triggers and envelopes have several parts.
const MOST: usize = 120;

/// Whether the text is an id of a user, channel, team, app or file: letters and digits.
#[must_use]
pub fn is_id(text: &str) -> bool {
    (1..=40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Whether the text is one of Slack's other handles: a message's `ts`, an event, an envelope, a trigger, an action.
#[must_use]
pub fn is_handle(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':');
    (1..=MOST).contains(&text.len()) && text.bytes().all(fits)
}

/// Whether the text is a message's `ts`: seconds, a point, and six digits or so.
#[must_use]
pub fn is_ts(text: &str) -> bool {
    let digits = |part: &str| (1..=12).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('.').is_some_and(|(seconds, fraction)| digits(seconds) && digits(fraction))
}
