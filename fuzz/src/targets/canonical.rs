//! Canonical JSON, over which records and plans are hashed: it reads as the value that it was made of, it is its own
//! canonical form, and a second implementation writes the same.

use std::collections::BTreeMap;

use serde_json::Value;
use warrant_kernel::ledger::canonical::canonical;

/// How deep a value may be nested, and the largest whole number, as the contract says.
const DEPTH: usize = 64;
const EXACT: f64 = 9_007_199_254_740_991.0;

/// Tries the laws.
pub fn run(data: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(data) else { return };
    let text = match canonical(&value) {
        Ok(text) => text,
        Err(error) => return assert!(second(&value, DEPTH).is_none(), "refused ({error}), and the second takes it"),
    };
    assert_eq!(second(&value, DEPTH).as_deref(), Some(text.as_str()));
    let again: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(again, value);
    assert_eq!(canonical(&again).as_deref(), Ok(text.as_str()));
}

/// RFC 8785 once more, by other means: keys by their UTF-16 units in a sorted map, texts by the writer of `serde_json`.
fn second(value: &Value, deeper: usize) -> Option<String> {
    Some(match value {
        Value::Null | Value::Bool(_) => value.to_string(),
        Value::String(text) => serde_json::to_string(text).ok()?,
        Value::Number(number) => {
            let text = number.to_string();
            let whole = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            if !whole || number.as_f64()?.abs() > EXACT {
                return None;
            }
            text
        }
        Value::Array(values) => {
            let inner = values.iter().map(|value| second(value, deeper.checked_sub(1)?));
            format!("[{}]", inner.collect::<Option<Vec<_>>>()?.join(","))
        }
        Value::Object(map) => {
            let mut sorted = BTreeMap::new();
            for (key, value) in map {
                let units: Vec<u16> = key.encode_utf16().collect();
                let value = second(value, deeper.checked_sub(1)?)?;
                sorted.insert(units, format!("{}:{value}", serde_json::to_string(key).ok()?));
            }
            format!("{{{}}}", sorted.into_values().collect::<Vec<_>>().join(","))
        }
    })
}
