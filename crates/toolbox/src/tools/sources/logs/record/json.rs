//! JSON lines, read without building a tree: only the fields that make a head are kept.
//!
//! A line that was cut or is broken gives what stood before the break.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::analysis::level::Level;
use crate::tools::sources::logs::record::Head;
use crate::tools::sources::logs::stamp::{self, Stamp};

/// Reads an object; none where not even one field of it can be read.
pub(super) fn parse(line: &[u8]) -> Option<Head<'_>> {
    let mut found = Found::default();
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    let whole = deserializer.deserialize_map(&mut found).is_ok();
    if !whole && found.fields == 0 {
        return None;
    }
    let message = match (found.message, found.error) {
        (Some(message), Some(error)) if !message.contains(&*error) => Cow::Owned(format!("{message}: {error}")),
        (Some(one), _) | (None, Some(one)) => one,
        (None, None) => String::from_utf8_lossy(line),
    };
    Some(Head { stamp: found.stamp, level: found.level.unwrap_or_default(), message })
}

#[derive(Default)]
struct Found<'l> {
    fields: usize,
    stamp: Option<Stamp>,
    level: Option<Level>,
    message: Option<Cow<'l, str>>,
    error: Option<Cow<'l, str>>,
}

impl<'l> Found<'l> {
    fn take(&mut self, key: &str, value: Value<'l>) {
        match key {
            "time" | "ts" | "timestamp" | "@timestamp" | "t" | "eventTime" | "datetime" => {
                self.stamp = self.stamp.or_else(|| value.stamp());
            }
            "level" | "severity" | "lvl" | "log.level" | "levelname" | "loglevel" | "severity_text" => {
                self.level = self.level.or_else(|| value.level());
            }
            "msg" | "message" | "log" | "body" | "event" | "@message" => {
                self.message = self.message.take().or(value.text());
            }
            "err" | "error" | "exception" | "error.message" => self.error = self.error.take().or(value.text()),
            _ => {}
        }
    }
}

impl<'de> Visitor<'de> for &mut Found<'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Text(key)) = map.next_key()? {
            if is_known(&key) {
                let value = map.next_value()?;
                self.take(&key, value);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
            self.fields += 1;
        }
        Ok(())
    }
}

fn is_known(key: &str) -> bool {
    key.len() <= 16
}

struct Text<'l>(Cow<'l, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Text(text) => Ok(Self(text)),
            Value::Number(_) | Value::Object(_) | Value::Other => Err(D::Error::custom("no text")),
        }
    }
}

/// A value as far as a head needs it.
enum Value<'l> {
    Text(Cow<'l, str>),
    Number(f64),
    /// What an error object says.
    Object(Option<Cow<'l, str>>),
    Other,
}

impl<'l> Value<'l> {
    fn stamp(&self) -> Option<Stamp> {
        match self {
            Self::Text(text) => stamp::from_text(text),
            Self::Number(number) => stamp::from_number(*number),
            Self::Object(_) | Self::Other => None,
        }
    }

    fn level(&self) -> Option<Level> {
        match self {
            Self::Text(text) => Level::from_word(text.trim().as_bytes()),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "levels are small whole numbers; what is not is no level"
            )]
            Self::Number(number) => Level::from_number(*number as i64),
            Self::Object(_) | Self::Other => None,
        }
    }

    fn text(self) -> Option<Cow<'l, str>> {
        match self {
            Self::Text(text) | Self::Object(Some(text)) => Some(text),
            Self::Number(_) | Self::Object(None) | Self::Other => None,
        }
    }
}

impl<'de> Deserialize<'de> for Value<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Owned(text.to_owned())))
    }

    #[expect(clippy::cast_precision_loss, reason = "levels and times in milliseconds stay below 2^53")]
    fn visit_u64<E: Error>(self, number: u64) -> Result<Value<'de>, E> {
        Ok(Value::Number(number as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "levels and times in milliseconds stay below 2^53")]
    fn visit_i64<E: Error>(self, number: i64) -> Result<Value<'de>, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value<'de>, E> {
        Ok(Value::Number(number))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Value<'de>, E> {
        Ok(Value::Other)
    }

    fn visit_unit<E: Error>(self) -> Result<Value<'de>, E> {
        Ok(Value::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value<'de>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value<'de>, A::Error> {
        let mut said = None;
        while let Some(Text(key)) = map.next_key()? {
            if matches!(&*key, "message" | "msg" | "reason") {
                said = map.next_value::<Value<'de>>()?.text().or(said);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Value::Object(said))
    }
}
