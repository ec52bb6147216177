//! The calls of an investigation with their results, found by what they asked.

use serde_json::{Map, Value};

use crate::agent::model::Seen;

/// Arguments by which a model argues for a write; they say nothing of what is done.
const CASE: [&str; 4] = ["because", "evidence", "alternatives", "otherwise"];

/// A call that is wanted, before it has an id.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: Value,
}

/// All calls that were answered, in their order.
pub struct Calls<'a> {
    seen: Vec<(Seen<'a>, Value)>,
}

impl<'a> Calls<'a> {
    /// Of these.
    #[must_use]
    pub fn new(seen: impl IntoIterator<Item = Seen<'a>>) -> Self {
        let parsed = |seen: Seen<'a>| (seen, serde_json::from_str(&seen.call.arguments).unwrap_or(Value::Null));
        Self { seen: seen.into_iter().map(parsed).collect() }
    }

    /// All of them, with their arguments.
    pub fn iter(&self) -> impl Iterator<Item = (Seen<'a>, &Value)> {
        self.seen.iter().map(|(seen, args)| (*seen, args))
    }

    /// The first call that asked this.
    #[must_use]
    pub fn of(&self, wanted: &Wanted) -> Option<Seen<'a>> {
        self.after(wanted, 0)
    }

    /// The first call that asked this after the one with this number.
    #[must_use]
    pub fn after(&self, wanted: &Wanted, number: u64) -> Option<Seen<'a>> {
        let same = |seen: &Seen<'_>, args: &Value| seen.call.tool == wanted.tool && *args == wanted.args;
        self.iter().find(|(seen, args)| seen.call.number > number && same(seen, args)).map(|(seen, _)| seen)
    }

    /// The first call that asked for this write, whatever was argued for it.
    #[must_use]
    pub fn of_write(&self, wanted: &Wanted) -> Option<Seen<'a>> {
        let args = without_case(&wanted.args);
        let same = |seen: &Seen<'_>, given: &Value| seen.call.tool == wanted.tool && without_case(given) == args;
        self.iter().find(|(seen, given)| same(seen, given)).map(|(seen, _)| seen)
    }
}

/// Arguments without those by which a model argues for a write.
#[must_use]
pub fn without_case(args: &Value) -> Map<String, Value> {
    let args = args.as_object().cloned().unwrap_or_default();
    args.into_iter().filter(|(name, _)| !CASE.contains(&name.as_str())).collect()
}
