//! Secrets that are found by the name beside them: `password=...`, `"token": "..."`, `--api-key ...`, `<secret>...`.
//!
//! Parsed by hand, for the text from a name to the end of its value decides together whether it is one.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::extent::{Reach, after_scheme, is_quote, is_space, skip, value_at};
use super::value;

/// How sure a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strength {
    /// Any value of it is a secret unless it reads as a word of a sentence.
    Strong,
    /// A short name that is part of other words.
    Short,
    /// Its value is a secret if it looks generated.
    Weak,
}

/// One family of names. Found in any case, within longer names (`DB_PASSWORD`, `clientSecret`).
pub(super) struct Family {
    pub(super) kind: &'static str,
    pub(super) strength: Strength,
    pub(super) names: &'static [&'static str],
}

/// All of them.
pub(super) const FAMILIES: &[Family] = &[
    Family {
        kind: "password_kv",
        strength: Strength::Strong,
        names: &["password", "passwd", "passphrase", "passcode", "pass_word", "passwort", "kennwort", "密码", "密碼"],
    },
    Family { kind: "password_kv", strength: Strength::Short, names: &["pwd", "pass", "psw"] },
    Family {
        kind: "api_key",
        strength: Strength::Weak,
        names: &[
            "api_key",
            "api-key",
            "apikey",
            "api key",
            "access_key",
            "access-key",
            "accesskey",
            "private_key",
            "private-key",
            "privatekey",
            "signing_key",
            "signing-key",
            "signingkey",
            "encryption_key",
            "encryption-key",
            "encryptionkey",
            "account_key",
            "account-key",
            "auth_key",
            "auth-key",
            "authkey",
            "master_key",
            "master-key",
            "masterkey",
            "secret_key",
            "secret-key",
            "secretkey",
            "shared_key",
            "consumer_key",
            "app_key",
            "appkey",
            "license_key",
            "ssh_key",
            "session_key",
            "routing_key",
            "integration_key",
            "service_key",
        ],
    },
    Family {
        kind: "token",
        strength: Strength::Weak,
        names: &[
            "token",
            "secret",
            "credential",
            "creds",
            "sessionid",
            "session_id",
            "session-id",
            "x-amz-signature",
            "jsessionid",
            "_auth",
            "auth\"",
        ],
    },
];

/// What is found by the name beside it, in [`Finding::rank`](super::edit::Finding::rank).
pub(super) const NAMED: usize = 1_000;

/// Words before `token` that make it a place in a list, not a permission.
const PLACES: &[&str] =
    &["next", "page", "continuation", "continue", "sync", "cancel", "cancellation", "resume", "pagination"];

/// What may follow within the name.
const ENDINGS: &[&str] = &[
    "",
    "s",
    "old",
    "new",
    "prod",
    "dev",
    "test",
    "staging",
    "value",
    "val",
    "raw",
    "b64",
    "base64",
    "enc",
    "encoded",
    "text",
    "str",
    "string",
    "hash",
    "env",
    "key",
    "header",
    "plain",
    "plaintext",
    "default",
    "admin",
    "root",
    "user",
    "db",
    "id_token",
];

/// How the value stands beside the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// `=`, or quoted, or a flag's.
    Tight,
    /// `name: value` without quotes, as prose has it too.
    Loose,
    /// `token value`, a space and nothing else between them.
    Spaced,
}

/// The value of the name that was found at `hit`, if it is a secret.
pub(super) fn secret_beside(
    text: &[u8],
    hit: &Range<usize>,
    family: &Family,
    reach: &mut Reach,
) -> Option<Range<usize>> {
    let start = name_start(text, hit.start);
    let end = name_end(text, hit.end)?;
    if !fits(text, start, hit, end, family.strength) {
        return None;
    }
    let flag = text.get(start..hit.start).is_some_and(|before| before.starts_with(b"--"));
    let (at, joint) = joint(text, end, if flag { Joint::Tight } else { Joint::Loose })?;
    let (range, joint) = value_at(text, at, joint, reach);
    let range = after_scheme(text, range, reach);
    let found = text.get(range.clone())?;
    let name = text.get(start..end)?;
    let alone = matches!(text.get(range.end), None | Some(b'\n' | b'\r' | b',' | b';' | b'}')) && opens(text, start);
    let yes = match joint {
        Joint::Tight => is_secret(name, found, family.strength),
        Joint::Spaced => value::is_dense(found),
        Joint::Loose => is_secret(name, found, family.strength) && (!value::is_word(found) || alone),
    };
    yes.then_some(range)
}

/// Whether any name of a family stands in a text. None where it could not be built: then every name is looked at.
static ANY_NAME: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let names = FAMILIES.iter().flat_map(|family| family.names);
    AhoCorasick::builder().ascii_case_insensitive(true).build(names).ok()
});

/// The kind of secret that a field of this name holds, if its value is one.
pub(super) fn kind_of_field(name: &str, found: &str) -> Option<&'static str> {
    // One look for all names: rows have many fields, and hardly any is called like a secret.
    if ANY_NAME.as_ref().is_some_and(|names| !names.is_match(name)) {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    let bytes = name.as_bytes();
    FAMILIES.iter().find_map(|family| {
        family.names.iter().find_map(|part| {
            let at = lower.rfind(part)?;
            let hit = at..at + part.len();
            let end = name_end(bytes, hit.end)?;
            let whole = end == bytes.len() && fits(bytes, 0, &hit, end, family.strength);
            (whole && is_secret(bytes, found.as_bytes(), family.strength)).then_some(family.kind)
        })
    })
}

fn is_secret(name: &[u8], found: &[u8], strength: Strength) -> bool {
    if value::is_blank(found) || value::is_prose(found) {
        return false;
    }
    match strength {
        Strength::Strong => true,
        Strength::Short => !value::is_number(found) && !found.starts_with(b"/") || name.len() > 6,
        Strength::Weak => value::is_random(found),
    }
}

pub(super) const fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn name_start(text: &[u8], hit: usize) -> usize {
    let before = text.get(hit.saturating_sub(64)..hit).unwrap_or_default();
    hit - before.iter().rev().take_while(|&&byte| in_name(byte)).count()
}

/// The end of a name whose tail is one of the allowed endings.
fn name_end(text: &[u8], hit: usize) -> Option<usize> {
    let rest = text.get(hit..(hit + 24).min(text.len()))?;
    let length = rest.iter().take_while(|&&byte| in_name(byte)).count();
    let tail = rest.get(..length)?;
    let word = tail.to_ascii_lowercase();
    let word = word.strip_prefix(b"_").or(word.strip_prefix(b"-")).or(word.strip_prefix(b".")).unwrap_or(&word);
    let known = ENDINGS.iter().any(|ending| word == ending.as_bytes()) || word.iter().all(u8::is_ascii_digit);
    known.then_some(hit + length)
}

fn fits(text: &[u8], start: usize, hit: &Range<usize>, end: usize, strength: Strength) -> bool {
    let before = text.get(start..hit.start).unwrap_or_default().to_ascii_lowercase();
    let stem = before.strip_suffix(b"_").or(before.strip_suffix(b"-")).or(before.strip_suffix(b".")).unwrap_or(&before);
    match strength {
        Strength::Strong => true,
        Strength::Short => {
            let last = text.get(hit.start.wrapping_sub(1)).filter(|_| hit.start > start);
            let hump =
                text.get(hit.start).is_some_and(u8::is_ascii_uppercase) && last.is_some_and(u8::is_ascii_lowercase);
            end - hit.end <= 3 && (last.is_none_or(|byte| !byte.is_ascii_alphabetic()) || hump)
        }
        Strength::Weak => !PLACES.iter().any(|place| stem.ends_with(place.as_bytes())),
    }
}

/// Whether a field begins here, so that what is before is no sentence.
fn opens(text: &[u8], start: usize) -> bool {
    let before = text.get(start.saturating_sub(64)..start).unwrap_or_default();
    let last = before.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'\\'));
    matches!(last, None | Some(b'\n' | b'{' | b',' | b';' | b'[' | b'(' | b'|' | b'-' | b'&' | b'?'))
}

/// From the end of a name over closing quotes and `=`, `:`, `=>`, `:=`, `>` to where the value begins.
fn joint(text: &[u8], end: usize, otherwise: Joint) -> Option<(usize, Joint)> {
    let closed = skip(text, end, 8, |byte| is_quote(byte) || byte == b'[' || byte == b']' || byte.is_ascii_digit());
    let closed = named_value(text, closed).unwrap_or(closed);
    let at = skip(text, closed, 8, is_space);
    let rest = text.get(at..)?;
    for (sign, joint) in [
        (&b"=>"[..], Joint::Tight),
        (b":=", Joint::Tight),
        (b"==", Joint::Tight),
        (b"=", Joint::Tight),
        ("：".as_bytes(), Joint::Loose),
        (b":", Joint::Loose),
    ] {
        if rest.starts_with(sign) {
            let begin = at + sign.len();
            let tight = joint == Joint::Tight || text.get(begin).is_some_and(|byte| !is_space(*byte));
            return Some((skip(text, begin, 8, is_space), if tight { Joint::Tight } else { Joint::Loose }));
        }
    }
    let element = rest.starts_with(b">") && at == end;
    if element {
        return Some((at + 1, Joint::Tight));
    }
    if otherwise == Joint::Tight && rest.starts_with(b",") {
        return Some((skip(text, at + 1, 8, is_space), Joint::Tight));
    }
    let joint = if otherwise == Joint::Tight { otherwise } else { Joint::Spaced };
    (at > closed).then_some((at, joint))
}

/// `{"name": "DB_PASSWORD", "value": "..."}`, also over a line end: the value is the next field's.
fn named_value(text: &[u8], at: usize) -> Option<usize> {
    let comma = skip(text, at, 2, |byte| byte == b',');
    let gap = skip(text, comma, 40, |byte| byte.is_ascii_whitespace());
    if gap == at {
        return None;
    }
    let open = skip(text, gap, 8, is_quote);
    let word = text.get(open..open + 5)?;
    word.eq_ignore_ascii_case(b"value").then(|| skip(text, open + 5, 8, is_quote))
}
