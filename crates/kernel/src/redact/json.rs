//! Masks JSON: every string, the keys too, and whole values whose key says that they are secret.
//!
//! The strings are looked at as one text, so that what lies over several of them (a key's lines in log rows) is found.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde_json::{Map, Value};

use super::names::kind_of_field;
use super::{RedactError, Redactor, value};

/// Deeper values are refused rather than walked.
const DEPTH: usize = 256;

/// What the place of a value says about it.
#[derive(Debug, Clone, Copy)]
enum Place<'v> {
    Plain,
    Named(&'v str),
    /// Beneath `data` of a Kubernetes `Secret`.
    Secret,
}

/// A scalar that is looked at.
enum Leaf<'v> {
    Text(&'v str),
    Secret(&'static str, String),
}

/// The masked value and how many placeholders were put in.
pub(super) fn redact(redactor: &Redactor, value: &Value) -> Result<(Value, u64), RedactError> {
    let (mut masked, count) = redact_all(redactor, std::slice::from_ref(value))?;
    Ok((masked.pop().ok_or(RedactError::Depth)?, count))
}

/// As [`redact`], for values that stand one behind the other.
pub(super) fn redact_all(redactor: &Redactor, values: &[Value]) -> Result<(Vec<Value>, u64), RedactError> {
    let mut leaves = Vec::new();
    items(values, Place::Plain).try_for_each(|(value, place)| collect(value, place, DEPTH, &mut leaves))?;
    let texts: Vec<&str> = leaves
        .iter()
        .map(|leaf| match leaf {
            Leaf::Text(text) => text,
            Leaf::Secret(..) => "",
        })
        .collect();
    let (mut texts, mut count) = redactor.redact_each(&texts)?;
    for (leaf, text) in leaves.iter().zip(&mut texts) {
        if let Leaf::Secret(kind, secret) = leaf {
            *text = redactor.placeholder(kind, secret)?;
            count += 1;
        }
    }
    let mut rebuilding = Rebuilding { redactor, texts: texts.into_iter(), names: HashMap::new(), count };
    let masked =
        items(values, Place::Plain).map(|(value, place)| rebuilding.value(value, place)).collect::<Result<_, _>>()?;
    Ok((masked, rebuilding.count))
}

fn leaf<'v>(value: &'v Value, place: Place<'_>) -> Option<Leaf<'v>> {
    let kind = |text: &str| match place {
        Place::Plain => None,
        Place::Named(name) => kind_of_field(name, text),
        Place::Secret => (!value::is_blank(text.as_bytes())).then_some("k8s_secret"),
    };
    match value {
        Value::String(text) => Some(match kind(text) {
            Some(kind) if !super::is_masked(text) => Leaf::Secret(kind, text.clone()),
            Some(_) | None => Leaf::Text(text),
        }),
        Value::Number(number) => {
            let text = number.to_string();
            kind(&text).map(|kind| Leaf::Secret(kind, text))
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The places of an array's items: an item behind `--password` is a password.
fn items<'v>(items: &'v [Value], place: Place<'v>) -> impl Iterator<Item = (&'v Value, Place<'v>)> {
    let before = std::iter::once(None).chain(items.iter().map(Some));
    items.iter().zip(before).map(move |(item, before)| {
        let flag = before.and_then(Value::as_str).and_then(|text| text.strip_prefix("--"));
        (item, flag.map_or(place, Place::Named))
    })
}

/// The places of an object's fields.
fn fields<'v>(
    object: &'v Map<String, Value>,
    place: Place<'v>,
) -> impl Iterator<Item = (&'v str, &'v Value, Place<'v>)> {
    let is_secret = object.get("kind").and_then(Value::as_str) == Some("Secret");
    let called = object.get("name").or_else(|| object.get("key")).and_then(Value::as_str);
    object.iter().map(move |(key, value)| {
        let inner = match (place, called) {
            (Place::Secret, _) => Place::Secret,
            _ if is_secret && matches!(key.as_str(), "data" | "stringData") => Place::Secret,
            (Place::Plain | Place::Named(_), Some(called)) if key.eq_ignore_ascii_case("value") => Place::Named(called),
            (Place::Plain | Place::Named(_), _) => Place::Named(key),
        };
        (key.as_str(), value, inner)
    })
}

fn collect<'v>(
    value: &'v Value,
    place: Place<'v>,
    depth: usize,
    leaves: &mut Vec<Leaf<'v>>,
) -> Result<(), RedactError> {
    let deeper = depth.checked_sub(1).ok_or(RedactError::Depth)?;
    match value {
        Value::Array(array) => items(array, place).try_for_each(|(item, place)| collect(item, place, deeper, leaves)),
        Value::Object(object) => {
            fields(object, place).try_for_each(|(_, value, place)| collect(value, place, deeper, leaves))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            leaves.extend(leaf(value, place));
            Ok(())
        }
    }
}

/// The way back from masked texts to the value.
struct Rebuilding<'v> {
    redactor: &'v Redactor,
    /// In the order of [`collect`].
    texts: std::vec::IntoIter<String>,
    /// Rows have the same fields over and over; each name is looked at once.
    names: HashMap<&'v str, (String, u64)>,
    count: u64,
}

impl<'v> Rebuilding<'v> {
    fn value(&mut self, value: &'v Value, place: Place<'v>) -> Result<Value, RedactError> {
        Ok(match value {
            Value::Array(array) => Value::Array(
                items(array, place).map(|(item, place)| self.value(item, place)).collect::<Result<_, _>>()?,
            ),
            Value::Object(object) => {
                let mut masked = Map::with_capacity(object.len());
                for (key, value, place) in fields(object, place) {
                    let name = self.name(key)?;
                    masked.insert(name, self.value(value, place)?);
                }
                Value::Object(masked)
            }
            // Every string was looked at, and of the rest only what is secret.
            Value::String(_) => self.text()?,
            Value::Null | Value::Bool(_) | Value::Number(_) => match leaf(value, place) {
                Some(_) => self.text()?,
                None => value.clone(),
            },
        })
    }

    fn text(&mut self) -> Result<Value, RedactError> {
        self.texts.next().map(Value::String).ok_or(RedactError::Depth)
    }

    fn name(&mut self, key: &'v str) -> Result<String, RedactError> {
        let (name, count) = match self.names.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let masked = self.redactor.redact_text(key)?;
                new.insert((masked.text.into_owned(), masked.count))
            }
        };
        self.count += *count;
        Ok(name.clone())
    }
}
