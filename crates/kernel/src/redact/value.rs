//! Tells a secret value from a word, a name, a number or a mask. Only asked about values that stand beside a name.

use std::ops::Range;

use super::placeholder::BLANK;

/// How far into a value the questions look, so that a long one costs no more than a short one.
const LOOK: usize = 96;
/// The same for what only short values are.
const SHORT_LOOK: usize = 40;

/// Values that say "there is something, not shown" or "there is nothing".
const EMPTY: &[&str] = &[
    "null",
    "nil",
    "none",
    "true",
    "false",
    "undefined",
    "redacted",
    "filtered",
    "masked",
    "hidden",
    "removed",
    "empty",
    "unset",
    "missing",
    "yes",
    "no",
    "n/a",
    "na",
    "string",
    "omitted",
    "secret",
    "password",
    "token",
    "env",
    "required",
    "invalid",
    "expired",
    "default",
    "str",
    "bool",
    "int",
    "optional",
    "rejected",
    "denied",
    "provided",
    "not",
    "is",
];

/// How sentences go on after the word "password".
const PROSE: &[&str] = &[
    "is",
    "are",
    "was",
    "must",
    "cannot",
    "can't",
    "should",
    "shall",
    "has",
    "have",
    "had",
    "not",
    "too",
    "does",
    "do",
    "field",
    "the",
    "for",
    "of",
    "in",
    "on",
    "to",
    "from",
    "and",
    "or",
    "a",
    "an",
    "may",
    "will",
    "please",
    "enter",
    "mismatch",
    "incorrect",
    "wrong",
    "change",
    "reset",
    "authentication",
    "failed",
    "no",
    "only",
    "contains",
    "length",
];

/// Whether the value is no value: empty, masked, a variable, a placeholder.
pub(super) fn is_blank(value: &[u8]) -> bool {
    let value = value.get(..SHORT_LOOK).unwrap_or(value).trim_ascii();
    let Some(&first) = value.first() else { return true };
    if value.iter().all(|&byte| byte == BLANK) || value.len() < 3 {
        return true;
    }
    if value.iter().all(|&byte| byte == first) && !first.is_ascii_alphanumeric() || is_masked(value) {
        return true;
    }
    let lower = value.to_ascii_lowercase();
    let has = |part: &[u8]| lower.windows(part.len()).any(|window| window == part);
    EMPTY.iter().any(|word| lower == word.as_bytes())
        || has(b"redacted")
        || has(b"[filtered]")
        || has(b"<hidden>")
        || is_reference(value, &lower)
}

fn is_masked(value: &[u8]) -> bool {
    let stars = value.split(|&byte| byte == b'*').count() - 1;
    let crosses = value.iter().all(|byte| matches!(byte, b'x' | b'X' | b'-' | b'.'));
    let bullets = value.starts_with("•••".as_bytes()) || value.starts_with("…".as_bytes());
    stars >= 3 && stars * 2 >= value.len() || crosses || bullets || value == b"..."
}

fn is_reference(value: &[u8], lower: &[u8]) -> bool {
    let enclosed = |open: &[u8], close: &[u8]| value.starts_with(open) && value.ends_with(close);
    let upper_name = |rest: &[u8]| {
        !rest.is_empty() && rest.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
    };
    let word = |rest: &[u8]| rest.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b' '));
    value.starts_with(b"${")
        || value.starts_with(b"$(")
        || value.starts_with(b"{{")
        || value.starts_with(b"%(")
        || value.strip_prefix(b"$").is_some_and(upper_name)
        || matches!(value, b"%s" | b"%v" | b"%d" | b"%q" | b"{}")
        || enclosed(b"<", b">")
        || enclosed(b"%", b"%")
        || (enclosed(b"[", b"]") || enclosed(b"(", b")") || enclosed(b"{", b"}"))
            && value.get(1..value.len() - 1).is_some_and(word)
        || [
            &b"process.env"[..],
            b"os.environ",
            b"os.getenv",
            b"getenv(",
            b"env(",
            b"vault:",
            b"arn:aws:",
            b"file:",
            b"secretkeyref",
        ]
        .iter()
        .any(|prefix| lower.starts_with(prefix))
}

/// Whether it reads as the next words of a sentence.
pub(super) fn is_prose(value: &[u8]) -> bool {
    let value = value.get(..LOOK).unwrap_or(value);
    let mut words = value.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default().to_ascii_lowercase();
    words.next().is_some() && PROSE.iter().any(|word| first == word.as_bytes())
}

/// Whether it is letters only, as a word is.
pub(super) fn is_word(value: &[u8]) -> bool {
    value.iter().enumerate().all(|(at, byte)| byte.is_ascii_lowercase() || at == 0 && byte.is_ascii_uppercase())
}

/// Whether it is no word and no number: letters and digits, or letters of both cases, or long.
pub(super) fn is_mixed(value: &[u8]) -> bool {
    let value = value.get(..LOOK).unwrap_or(value);
    let has = |class: fn(&u8) -> bool| value.iter().any(class);
    let letters = has(u8::is_ascii_alphabetic);
    let mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && !is_word(value);
    letters && has(u8::is_ascii_digit) || mixed || value.len() >= 20
}

/// Whether it is digits only, a sign and a point allowed.
pub(super) fn is_number(value: &[u8]) -> bool {
    !value.is_empty() && value.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+'))
}

/// Whether it looks generated: no number, word, path, URL or name of a thing. "Entropy only beside a name."
pub(super) fn is_random(value: &[u8]) -> bool {
    let value = value.get(..LOOK).unwrap_or(value);
    if value.len() < 8 || is_blank(value) || is_number(value) || value.iter().any(u8::is_ascii_whitespace) {
        return false;
    }
    let digest = [
        &b"sha256:"[..],
        b"sha512:",
        b"sha1:",
        b"sha384:",
        b"AWS4-",
        b"sha256-",
        b"sha512-",
        b"md5:",
        b"http://",
        b"https://",
    ];
    if matches!(value.first(), Some(b'/' | b'.' | b'~')) || digest.iter().any(|prefix| value.starts_with(prefix)) {
        return false;
    }
    let words = value
        .split(|byte| matches!(byte, b'-' | b'_' | b'.' | b'/' | b':'))
        .filter(|part| part.len() >= 3 && part.iter().all(u8::is_ascii_lowercase))
        .map(<[u8]>::len)
        .sum::<usize>();
    if words * 2 >= value.len() {
        return false;
    }
    let digits = value.iter().any(u8::is_ascii_digit);
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    let both = value.iter().any(u8::is_ascii_lowercase) && value.iter().any(u8::is_ascii_uppercase);
    digits && letters || both && value.len() >= 20 && turns(value) * 4 >= value.len() || is_noise(value)
}

/// Random, long, and of the letters of tokens only: what is a secret even where only a space is between it and a name.
pub(super) fn is_dense(value: &[u8]) -> bool {
    let looked = value.get(..LOOK).unwrap_or(value);
    let digits = looked.iter().filter(|byte| byte.is_ascii_digit()).count();
    let token = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'~');
    looked.len() >= 16 && digits >= 2 && digits + 4 <= looked.len() && looked.iter().all(token) && is_random(looked)
}

/// Letters of one case without a digit: generated only if long and poor in vowels.
fn is_noise(value: &[u8]) -> bool {
    let vowels =
        value.iter().filter(|byte| matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u')).count();
    value.len() >= 20 && value.iter().all(u8::is_ascii_alphabetic) && vowels * 4 < value.len()
}

/// How often the case changes: `AbCdeF` five times, `DefaultCredential` three.
fn turns(value: &[u8]) -> usize {
    value
        .iter()
        .zip(value.iter().skip(1))
        .filter(|(left, right)| left.is_ascii_uppercase() != right.is_ascii_uppercase())
        .count()
}

/// Forty characters of base64 with all three classes, not the hex of a digest.
pub(super) fn is_aws_secret(value: &[u8]) -> bool {
    value.len() == 40
        && value.iter().any(u8::is_ascii_uppercase)
        && value.iter().any(u8::is_ascii_lowercase)
        && (value.iter().any(u8::is_ascii_digit) || turns(value) >= 10)
}

/// What follows `-p` without a space: a password has letters and another class, a port mapping or an option has not.
pub(super) fn is_glued(value: &[u8]) -> bool {
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    let others = value.iter().any(|byte| byte.is_ascii_digit() || b"!@#$%^&*?".contains(byte));
    letters
        && others
        && !value.contains(&b'=')
        && !value.contains(&b'/')
        && !value.first().is_some_and(u8::is_ascii_digit)
}

/// The values of a `Cookie` or `Set-Cookie` header, without its attributes.
pub(super) fn cookies(header: &[u8]) -> Vec<Range<usize>> {
    const ATTRIBUTES: &[&[u8]] = &[b"path", b"domain", b"expires", b"max-age", b"samesite", b"priority"];
    let mut start = 0;
    let mut values = Vec::new();
    for part in header.split(|&byte| byte == b';') {
        let end = start + part.len();
        if let Some(at) = part.iter().position(|&byte| byte == b'=') {
            let name = part.get(..at).unwrap_or_default().trim_ascii().to_ascii_lowercase();
            let found = part.get(at + 1..).unwrap_or_default();
            let length = found
                .iter()
                .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'\\' | b','))
                .unwrap_or(found.len());
            let attribute = ATTRIBUTES.contains(&name.as_slice()) || name.contains(&b' ');
            if length >= 6 && !attribute && !is_blank(found) {
                values.push(start + at + 1..start + at + 1 + length);
            }
        }
        start = end + 1;
    }
    values
}
