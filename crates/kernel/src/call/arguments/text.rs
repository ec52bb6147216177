//! The text of a call's arguments becomes one JSON object, or a problem that quotes where it broke.
//!
//! Bounded before it is read: size, depth. Fields that stand twice are refused, since two readers could then see two
//! different calls.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::call::tool::Problem;

const MAX_BYTES: usize = 256 * 1024;
const MAX_DEPTH: usize = 32;
const AROUND: usize = 40;

/// Reads one JSON object.
pub(super) fn object(raw: &str) -> Result<Map<String, Value>, Problem> {
    if raw.len() > MAX_BYTES {
        return Err(whole(format!("the arguments have {} bytes; at most {MAX_BYTES}", raw.len())));
    }
    if raw.trim().is_empty() {
        return Err(whole("the arguments are empty; send a JSON object, `{}` where the tool needs none".to_owned()));
    }
    let mut reader = serde_json::Deserializer::from_str(raw);
    let value = Strict { depth: 0 }.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    match value {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => {
            let what = super::shape::type_of(&other);
            Err(whole(format!("the arguments are {what}; send a JSON object such as `{{\"service\": \"checkout\"}}`")))
        }
        Err(error) => Err(whole(broken(raw, &error))),
    }
}

fn whole(message: String) -> Problem {
    Problem { pointer: String::new(), message }
}

fn broken(raw: &str, error: &serde_json::Error) -> String {
    let told = error.to_string();
    let what = told.rsplit_once(" at line ").map_or(told.as_str(), |(what, _)| what);
    let (line, column) = (error.line(), error.column());
    let at = if error.is_eof() { raw.len() } else { offset(raw, line, column) };
    let before = raw.get(..at).unwrap_or(raw);
    let after = raw.get(at..).unwrap_or("");
    let skipped = before.chars().count().saturating_sub(AROUND);
    let head: String = before.chars().skip(skipped).collect();
    let tail: String = after.chars().take(AROUND).collect();
    let place = match (head.is_empty(), tail.is_empty()) {
        (_, true) => format!("after `{}`, where the text ends", visible(&head)),
        (true, false) => format!("before `{}`", visible(&tail)),
        (false, false) => format!("between `{}` and `{}`", visible(&head), visible(&tail)),
    };
    let what: String = visible(what).chars().take(160).collect();
    format!("the arguments are not JSON: {what}, line {line} column {column}, {place}; send one complete JSON object")
}

/// The byte offset of a line and a column (in bytes) as the JSON reader counts them, moved back to a character's start.
fn offset(raw: &str, line: usize, column: usize) -> usize {
    let start: usize = raw.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let mut at = (start + column.saturating_sub(1)).min(raw.len());
    while !raw.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Text with control and invisible characters written out.
pub(super) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || super::rules::misleading(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// A JSON value with a bounded depth and no field twice.
#[derive(Clone, Copy)]
struct Strict {
    depth: usize,
}

impl Strict {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            return Err(E::custom(format!("nested deeper than {MAX_DEPTH} levels")));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut object = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if object.contains_key(&name) {
                let shown: String = name.chars().take(40).collect();
                return Err(A::Error::custom(format!("the field `{shown}` stands twice")));
            }
            let value = fields.next_value_seed(inner)?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}
