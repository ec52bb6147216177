//! Whether the answer of a check is what the check expects: held, failed or unknown. Pure and total.
//!
//! An error is unknown, never failed; so is a missing value (but for `absent`), and whatever may stand in the part of a
//! result that was cut off.

use serde_json::Value;
use warrant_kernel::domain::result::ToolResult;

/// What must be so at one place of a result's `data`.
#[derive(Debug, Clone, PartialEq)]
pub struct Expect {
    /// JSON pointer (RFC 6901) into `data`; the whole where empty.
    pub at: String,
    /// What must be so there.
    pub test: Test,
}

/// The closed list of what can be expected.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// `eq`: the value, numbers compared as numbers.
    Equals(Value),
    /// `lt`.
    Below(f64),
    /// `gt`.
    Above(f64),
    /// `between`, both ends included.
    Between(f64, f64),
    /// `contains`: a text holds the text (case aside), a list or object holds the value.
    Contains(Value),
    /// `absent`: missing, null, or an empty text, list or object.
    Absent,
    /// `rises`: more than `factor` times what it was.
    Rises(Than, f64),
    /// `falls`: less than what it was divided by `factor`.
    Falls(Than, f64),
}

/// What `rises` and `falls` compare with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Than {
    /// The same call over the window before.
    Previous,
    /// Another place of the same result.
    At(String),
}

/// What a call brought.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Seen<'a> {
    /// Data, whole or cut.
    Data {
        /// The result's `data`.
        data: &'a Value,
        /// Whether something is missing from them.
        truncated: bool,
    },
    /// No data.
    Nothing {
        /// Why.
        why: &'a str,
    },
}

impl<'a> From<&'a ToolResult> for Seen<'a> {
    fn from(result: &'a ToolResult) -> Self {
        if result.ok {
            return Self::Data { data: &result.data, truncated: result.truncated };
        }
        Self::Nothing { why: result.error.as_ref().map_or("the call brought no data", |error| error.message.as_str()) }
    }
}

/// How a check came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// As expected.
    Held,
    /// Not as expected.
    Failed,
    /// Can't be told.
    Unknown {
        /// Why.
        why: String,
    },
}

impl Expect {
    /// Whether the call must also be made over the window before.
    #[must_use]
    pub fn needs_previous(&self) -> bool {
        matches!(&self.test, Test::Rises(Than::Previous, _) | Test::Falls(Than::Previous, _))
    }

    /// The value that is judged.
    #[must_use]
    pub fn value_in<'v>(&self, data: &'v Value) -> Option<&'v Value> {
        data.pointer(&self.at)
    }

    /// Judges what was seen; `previous` is what the same call brought over the window before.
    #[must_use]
    pub fn judge(&self, now: Seen<'_>, previous: Option<Seen<'_>>) -> Verdict {
        let (data, truncated) = match now {
            Seen::Data { data, truncated } => (data, truncated),
            Seen::Nothing { why } => return unknown(why),
        };
        let found = self.value_in(data);
        if matches!(self.test, Test::Absent) {
            return match (found.is_none_or(is_empty), truncated) {
                (false, _) => Verdict::Failed,
                (true, false) => Verdict::Held,
                (true, true) => unknown("the result was cut, so what is not in it may still be there"),
            };
        }
        let Some(value) = found.filter(|value| !value.is_null()) else {
            return unknown(&format!("the result has nothing at `{}`", self.at));
        };
        match &self.test {
            Test::Equals(wanted) => told(same(value, wanted)),
            Test::Contains(wanted) if holds(value, wanted) => Verdict::Held,
            Test::Contains(_) if truncated => unknown("the result was cut before all of it was seen"),
            Test::Contains(_) | Test::Absent => Verdict::Failed,
            Test::Below(limit) => self.number(value, |number| number < *limit),
            Test::Above(limit) => self.number(value, |number| number > *limit),
            Test::Between(low, high) => self.number(value, |number| *low <= number && number <= *high),
            Test::Rises(than, factor) => self.compare(value, data, than, previous, |new, old| new > old * factor),
            Test::Falls(than, factor) => self.compare(value, data, than, previous, |new, old| new * factor < old),
        }
    }

    fn number(&self, value: &Value, holds: impl Fn(f64) -> bool) -> Verdict {
        number(value).map_or_else(|| unknown(&format!("what stands at `{}` is no number", self.at)), |n| told(holds(n)))
    }

    fn compare(
        &self,
        value: &Value,
        data: &Value,
        than: &Than,
        previous: Option<Seen<'_>>,
        holds: impl Fn(f64, f64) -> bool,
    ) -> Verdict {
        let (before, at) = match (than, previous) {
            (Than::At(at), _) => (data, at),
            (Than::Previous, Some(Seen::Data { data, .. })) => (data, &self.at),
            (Than::Previous, Some(Seen::Nothing { why })) => {
                return unknown(&format!("of the window before nothing is known: {why}"));
            }
            (Than::Previous, None) => return unknown("the window before was not looked at"),
        };
        match before.pointer(at).and_then(number) {
            Some(old) => self.number(value, |new| holds(new, old)),
            None => unknown(&format!("there is no number at `{at}` to compare with")),
        }
    }
}

fn unknown(why: &str) -> Verdict {
    Verdict::Unknown { why: why.to_owned() }
}

fn told(holds: bool) -> Verdict {
    if holds { Verdict::Held } else { Verdict::Failed }
}

/// A finite number, also one written as text: metric servers send those.
fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    number.filter(|number| number.is_finite())
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn same(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Number(_), Value::Number(_)) => number(value) == number(wanted),
        _ => value == wanted,
    }
}

fn holds(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::String(text), Value::String(part)) => text.to_lowercase().contains(&part.to_lowercase()),
        (Value::Array(items), _) => items.iter().any(|item| match item {
            Value::String(_) => holds(item, wanted),
            _ => same(item, wanted),
        }),
        (Value::Object(fields), Value::String(key)) => fields.contains_key(key),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
