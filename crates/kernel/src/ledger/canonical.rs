//! JSON in one form only (RFC 8785), within what every reader of JSON holds exactly.
//!
//! No floats and no whole numbers beyond 2^53-1: two programs that disagree on a number would disagree on a hash.

use serde_json::Value;

use crate::domain::hex::hex;

/// The largest whole number that a double holds exactly, as every smaller one.
const EXACT: u64 = (1 << 53) - 1;

/// How deep a value may be nested.
const DEPTH: usize = 64;

/// Why a value has no canonical form here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// A number with a fraction or an exponent.
    #[error("numbers are whole; write others as text")]
    Fraction,
    /// A whole number that not every reader holds exactly.
    #[error("whole numbers are at most 2^53-1; write others as text")]
    Large,
    /// Arrays in arrays without end.
    #[error("it is nested deeper than {DEPTH}")]
    Deep,
}

/// The canonical text of a value.
///
/// # Errors
/// [`CanonicalError`].
pub fn canonical(value: &Value) -> Result<String, CanonicalError> {
    let mut text = String::new();
    write(&mut text, value, DEPTH)?;
    Ok(text)
}

fn write(to: &mut String, value: &Value, depth: usize) -> Result<(), CanonicalError> {
    let deeper = || depth.checked_sub(1).ok_or(CanonicalError::Deep);
    match value {
        Value::Null => to.push_str("null"),
        Value::Bool(true) => to.push_str("true"),
        Value::Bool(false) => to.push_str("false"),
        Value::Number(number) => {
            let size = number.as_i64().map(i64::unsigned_abs).or_else(|| number.as_u64());
            let size = size.ok_or(CanonicalError::Fraction)?;
            if size > EXACT {
                return Err(CanonicalError::Large);
            }
            to.push_str(&number.to_string());
        }
        Value::String(text) => quote(to, text),
        Value::Array(values) => {
            let mut before = '[';
            for value in values {
                to.push(before);
                write(to, value, deeper()?)?;
                before = ',';
            }
            to.push_str(if values.is_empty() { "[]" } else { "]" });
        }
        Value::Object(map) => {
            let mut keys: Vec<(&String, &Value)> = map.iter().collect();
            keys.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            let mut before = '{';
            for (key, value) in keys {
                to.push(before);
                quote(to, key);
                to.push(':');
                write(to, value, deeper()?)?;
                before = ',';
            }
            to.push_str(if map.is_empty() { "{}" } else { "}" });
        }
    }
    Ok(())
}

/// A text in quotes, escaped where JSON must and nowhere else.
pub(super) fn quote(to: &mut String, text: &str) {
    to.push('"');
    for c in text.chars() {
        match c {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            '\u{8}' => to.push_str("\\b"),
            '\u{c}' => to.push_str("\\f"),
            c => match u8::try_from(c) {
                Ok(byte @ 0..0x20) => {
                    to.push_str("\\u00");
                    to.push_str(&hex(&[byte]));
                }
                Ok(_) | Err(_) => to.push(c),
            },
        }
    }
    to.push('"');
}
