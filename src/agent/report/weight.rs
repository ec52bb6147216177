//! How much a finding weighs: whether anything but text that strangers can write says it.
//!
//! Whoever sends requests writes log lines, labels and alerts, as often as they like: a thousand lines with the same advice
//! are one stranger's word. What was counted, measured, changed or configured weighs, and so does a file.

use serde_json::Value;
use warrant_kernel::domain::report::{Finding, Quote};
use warrant_kernel::domain::result::{Origin, ToolResult};

use super::numbers;
use crate::agent::envelope;
use crate::agent::state::State;

/// Whether a finding rests on more than strangers' words: it cites evidence that weighs, and where it quotes, some quote
/// stands in such evidence.
#[must_use]
pub fn weighs(state: &State, finding: &Finding) -> bool {
    let results = |id| state.evidence(id).map(|(_, result)| result);
    let cites = finding.evidence.iter().filter_map(|id| results(*id)).any(|result| bears(result, &finding.claim));
    let quotes = |quote: &Quote| results(quote.evidence).is_some_and(|result| says(result, &quote.text));
    cites && (finding.quotes.is_empty() || finding.quotes.iter().any(quotes))
}

/// What the fields of one origin are worth.
enum Worth {
    /// Somebody of ours wrote or counted it.
    Whole,
    /// Its numbers are measured; its names and labels can come from a request.
    Numbers,
    /// Whoever can send a request can write it.
    Nothing,
}

fn worth(origin: Origin) -> Worth {
    match origin {
        Origin::Warrant | Origin::Catalog | Origin::Change | Origin::File => Worth::Whole,
        Origin::Metric | Origin::Http => Worth::Numbers,
        // A command can print any file of a workspace, a log too.
        Origin::Log | Origin::Alert | Origin::Runbook | Origin::Command => Worth::Nothing,
    }
}

/// Whether a piece of evidence can bear a claim: by what it is, or by a number of it that was measured.
fn bears(result: &ToolResult, claim: &str) -> bool {
    match worth(result.meta.origin) {
        Worth::Whole => true,
        Worth::Numbers => measured(&result.data, claim),
        Worth::Nothing => false,
    }
}

/// Whether some field that weighs holds the words.
fn says(result: &ToolResult, words: &str) -> bool {
    let fields = result.data.as_object().into_iter().flatten();
    fields.map(|(name, value)| (worth(result.origin_of(name)), value)).any(|(worth, value)| match worth {
        Worth::Whole => holds(value, words),
        Worth::Numbers => measured(value, words),
        Worth::Nothing => false,
    })
}

fn holds(value: &Value, words: &str) -> bool {
    value.to_string().contains(words)
        || match value {
            Value::String(text) => envelope::seen(text).contains(words) || text.contains(words),
            Value::Array(items) => items.iter().any(|item| holds(item, words)),
            Value::Object(fields) => fields.values().any(|item| holds(item, words)),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
}

/// Whether a number of the words is one of the value's own, and not of a text in it.
fn measured(value: &Value, words: &str) -> bool {
    let claimed = numbers::stated(words).numbers;
    let mut own = String::new();
    collect(value, &mut own);
    let own = numbers::stated(&own).numbers;
    claimed.iter().any(|number| numbers::agrees(*number, &own))
}

fn collect(value: &Value, into: &mut String) {
    match value {
        Value::Number(number) => {
            into.push_str(&number.to_string());
            into.push(' ');
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
        Value::Object(fields) => fields.values().for_each(|item| collect(item, into)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}
