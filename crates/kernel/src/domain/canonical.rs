//! RFC 8785: one text for one JSON value, so that a digest over it can be made again by anybody.
//!
//! Numbers are whole and at most 2^53-1 either way, since others are not the same in every reader; anything else is no
//! value of ours and is refused.

use serde_json::Value;

const MOST: u64 = (1 << 53) - 1;

/// A value that has no canonical text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a number that is no whole number of at most 2^53-1 has no canonical form")]
pub struct NotCanonical;

/// The canonical text of a value.
///
/// # Errors
/// [`NotCanonical`] where it holds a number that not every reader reads alike.
pub fn canonical(value: &Value) -> Result<String, NotCanonical> {
    let mut text = String::new();
    write(value, &mut text)?;
    Ok(text)
}

fn write(value: &Value, text: &mut String) -> Result<(), NotCanonical> {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Number(number) => {
            let whole = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
            if whole.is_none_or(|whole| whole > MOST) {
                return Err(NotCanonical);
            }
            text.push_str(&number.to_string());
        }
        // Escapes exactly what RFC 8785 has escaped, in the same way.
        Value::String(string) => text.push_str(&Value::String(string.clone()).to_string()),
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(item, text)?;
            }
            text.push(']');
        }
        Value::Object(fields) => {
            let mut sorted: Vec<(&String, &Value)> = fields.iter().collect();
            sorted.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
            text.push('{');
            for (index, (name, field)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&Value::String(name.clone()).to_string());
                text.push(':');
                write(field, text)?;
            }
            text.push('}');
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// RFC 8785, section 3.2.3, the names of which sort differently as UTF-8.
    #[test]
    fn names_are_sorted_as_utf_16() {
        let value = json!({ "€": "Euro", "\r": "CR", "\u{fb33}": "Hebrew", "1": "One", "\u{1f600}": "Emoji", "\u{80}": "C", "ö": "o" });
        let text = canonical(&value).unwrap();
        assert_eq!(
            text,
            "{\"\\r\":\"CR\",\"1\":\"One\",\"\u{80}\":\"C\",\"ö\":\"o\",\"€\":\"Euro\",\"\u{1f600}\":\"Emoji\",\"\u{fb33}\":\"Hebrew\"}"
        );
    }

    #[test]
    fn numbers_that_readers_read_differently_are_refused() {
        assert_eq!(canonical(&json!([1, -1, 9_007_199_254_740_991_i64])).unwrap(), "[1,-1,9007199254740991]");
        for value in [json!(1.5), json!(1.0), json!(9_007_199_254_740_992_i64), json!(u64::MAX), json!(i64::MIN)] {
            assert_eq!(canonical(&json!({ "a": [value] })), Err(NotCanonical));
        }
    }
}
