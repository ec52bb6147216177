//! Masks JSON: every string, the keys too, and whole values whose key says that they are secret.
//!
//! The strings are looked at as one text, so that what lies over several of them (a key's lines in log rows) is found:
//! first the names, then field by field, for the next part of a text stands in the same field of the next row.

use std::collections::{BTreeMap, BTreeSet};

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

impl<'v> Leaf<'v> {
    /// What secrets are looked for in.
    fn text(&self) -> &'v str {
        match self {
            Self::Text(text) => text,
            Self::Secret(..) => "",
        }
    }
}

/// The masked value and how many placeholders were put in.
pub(super) fn redact(redactor: &Redactor, value: &Value) -> Result<(Value, u64), RedactError> {
    let (mut masked, count) = redact_all(redactor, std::slice::from_ref(value))?;
    Ok((masked.pop().ok_or(RedactError::Depth)?, count))
}

/// As [`redact`], for values that stand one behind the other. The strings of one field of all of them are neighbours.
pub(super) fn redact_all(redactor: &Redactor, values: &[Value]) -> Result<(Vec<Value>, u64), RedactError> {
    let mut seen = Seen { leaves: Vec::new(), names: BTreeSet::new() };
    items(values, Place::Plain).try_for_each(|(value, place)| seen.collect(value, place, 0, DEPTH))?;
    // Stable: within a column the order of the rows.
    let mut columns: Vec<(usize, &(u64, Leaf<'_>))> = seen.leaves.iter().enumerate().collect();
    columns.sort_by_key(|(_, (column, _))| *column);
    let texts = columns.iter().map(|(_, (_, leaf))| leaf.text());
    // No name goes on in the next one: an empty line keeps them apart.
    let texts: Vec<&str> = seen.names.iter().flat_map(|name| [name, ""]).chain(texts).collect();
    let found = redactor.redact_each(&texts)?;
    if found.is_none() && !seen.leaves.iter().any(|(_, leaf)| matches!(leaf, Leaf::Secret(..))) {
        return Ok((values.to_vec(), 0));
    }
    let (masked, mut count) = match found {
        Some(found) => found,
        None => (texts.iter().map(|text| (*text).to_owned()).collect(), 0),
    };
    let mut masked = masked.into_iter();
    let texts_of_names: Vec<String> = masked.by_ref().take(seen.names.len() * 2).collect();
    let names = seen.names.iter().copied().zip(texts_of_names.into_iter().step_by(2)).collect();
    let mut leaves = vec![String::new(); columns.len()];
    for ((at, (_, leaf)), text) in columns.iter().zip(masked) {
        let place = leaves.get_mut(*at).ok_or(RedactError::Depth)?;
        *place = match leaf {
            Leaf::Text(_) => text,
            Leaf::Secret(kind, secret) => {
                count += 1;
                redactor.placeholder(kind, secret)?
            }
        };
    }
    let mut rebuilding = Rebuilding { leaves: leaves.into_iter(), names };
    let masked =
        items(values, Place::Plain).map(|(value, place)| rebuilding.value(value, place)).collect::<Result<_, _>>()?;
    Ok((masked, count))
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

/// What is looked at.
struct Seen<'v> {
    /// With the column of each: the names on the way to it.
    leaves: Vec<(u64, Leaf<'v>)>,
    /// Rows have the same fields over and over; each name is looked at once.
    names: BTreeSet<&'v str>,
}

impl<'v> Seen<'v> {
    fn collect(&mut self, value: &'v Value, place: Place<'v>, column: u64, depth: usize) -> Result<(), RedactError> {
        let deeper = depth.checked_sub(1).ok_or(RedactError::Depth)?;
        match value {
            Value::Array(array) => {
                items(array, place).try_for_each(|(item, place)| self.collect(item, place, column, deeper))
            }
            Value::Object(object) => fields(object, place).try_for_each(|(name, value, place)| {
                self.names.insert(name);
                self.collect(value, place, beneath(column, name), deeper)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.leaves.extend(leaf(value, place).map(|leaf| (column, leaf)));
                Ok(())
            }
        }
    }
}

/// The column of a field (FNV-1a). Two that share one by chance are neighbours, which harms nothing.
fn beneath(column: u64, name: &str) -> u64 {
    let offset = column ^ 0xcbf2_9ce4_8422_2325;
    name.bytes().fold(offset, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The way back from masked texts to the value.
struct Rebuilding<'v> {
    /// In the order of [`Seen::collect`].
    leaves: std::vec::IntoIter<String>,
    names: BTreeMap<&'v str, String>,
}

impl<'v> Rebuilding<'v> {
    fn value(&mut self, value: &'v Value, place: Place<'v>) -> Result<Value, RedactError> {
        Ok(match value {
            Value::Array(array) => Value::Array(
                items(array, place).map(|(item, place)| self.value(item, place)).collect::<Result<_, _>>()?,
            ),
            Value::Object(object) => {
                let mut masked = Map::new();
                for (key, value, place) in fields(object, place) {
                    let name = self.names.get(key).ok_or(RedactError::Depth)?.clone();
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
        self.leaves.next().map(Value::String).ok_or(RedactError::Depth)
    }
}
