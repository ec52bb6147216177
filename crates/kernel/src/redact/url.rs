//! Credentials in URLs: `scheme://user:password@host`, and the key of a Sentry DSN.

use std::ops::Range;

use super::value;

/// How far behind `://` the `@` may stand.
const REACH: usize = 512;

/// The secret of the URL whose `://` ends at `at`, with its kind.
pub(super) fn secret_in(text: &[u8], sign: &Range<usize>) -> Option<(&'static str, Range<usize>)> {
    let at = sign.end;
    let rest = text.get(at..(at + REACH).min(text.len()))?;
    let stop =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b'|');
    let reach = rest.iter().position(stop).unwrap_or(rest.len());
    let rest = rest.get(..reach)?;
    let path = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(reach);
    let authority = rest.get(..path)?;
    let sentry = |user: &[u8], host: &[u8]| {
        user.len() == 32
            && user.iter().all(u8::is_ascii_hexdigit)
            && host.first().is_some_and(u8::is_ascii_alphanumeric)
    };
    if let Some(end) = authority.iter().rposition(|&byte| byte == b'@') {
        let user = authority.get(..end)?;
        let colon = user.iter().position(|&byte| byte == b':');
        let begin = colon.map_or(0, |colon| colon + 1);
        let name = user.get(..colon.unwrap_or(end))?;
        if sentry(name, rest.get(end + 1..)?) {
            return Some(("sentry_dsn", at..at + end));
        }
        let found = user.get(begin..)?;
        return (colon.is_some() && !is_example(found)).then(|| (kind(text, sign.start), at + begin..at + end));
    }
    // A password with a slash in it. What is a port before the slash is a host's, and the `@` belongs to a path.
    let colon = authority.iter().position(|&byte| byte == b':')?;
    let before = authority.get(colon + 1..)?;
    let end = colon + 1 + rest.get(colon + 1..)?.iter().position(|&byte| byte == b'@')?;
    let port = before.iter().all(u8::is_ascii_digit);
    (!port).then(|| (kind(text, sign.start), at + colon + 1..at + end))
}

fn is_example(found: &[u8]) -> bool {
    found.is_empty() || found.len() >= 3 && value::is_blank(found) && !found.eq_ignore_ascii_case(b"password")
}

fn kind(text: &[u8], end: usize) -> &'static str {
    let scheme = text.get(end.saturating_sub(16)..end).unwrap_or_default().to_ascii_lowercase();
    let is = |names: &[&[u8]]| names.iter().any(|name| scheme.ends_with(name));
    if is(&[b"postgres", b"postgresql"]) {
        "postgres_dsn"
    } else if is(&[b"mongodb", b"mongodb+srv"]) {
        "mongo_dsn"
    } else if is(&[b"redis", b"rediss"]) {
        "redis_dsn"
    } else {
        "basic_url"
    }
}
