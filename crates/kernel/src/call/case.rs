//! The case for a write: the four arguments that every write tool takes beside its own.
//!
//! They are the model's words. They are split off at stage 2, are never part of what is done, and stand on the card marked
//! as what they are.

use serde_json::{Map, Value, json};

use crate::domain::name::EvidenceId;
use crate::domain::plan::Case;

/// Longest text, in characters.
const TEXT: usize = 1_500;

/// Most evidence that is cited.
const CITED: usize = 20;

const BECAUSE: &str = "because";
const EVIDENCE: &str = "evidence";
const ALTERNATIVES: &str = "alternatives";
const OTHERWISE: &str = "otherwise";

/// Their names, which no argument of a write tool bears.
pub(super) const NAMES: [&str; 4] = [BECAUSE, EVIDENCE, ALTERNATIVES, OTHERWISE];

/// Those without which a write is not asked for.
pub(super) const REQUIRED: [&str; 2] = [BECAUSE, EVIDENCE];

/// What each is for, for the model.
pub(super) fn description(name: &str) -> Option<&'static str> {
    Some(match name {
        BECAUSE => "Why: the cause you take it for; people read it.",
        EVIDENCE => "Evidence it rests on, as in [\"E3\"]; may be [].",
        ALTERNATIVES => "What else could be done.",
        OTHERWISE => "If nothing is done.",
        _ => return None,
    })
}

/// What a value of each must be, in words.
pub(super) fn wanted(name: &str) -> Option<&'static str> {
    Some(match name {
        BECAUSE | ALTERNATIVES | OTHERWISE => "a text of at most 1500 characters",
        EVIDENCE => "an array of at most 20 evidence ids, as in `[\"E3\", \"E7\"]`",
        _ => return None,
    })
}

/// Their schemas.
pub(super) fn properties() -> impl Iterator<Item = (String, Value)> {
    NAMES.into_iter().map(|name| {
        let description = description(name).unwrap_or_default();
        let schema = if name == EVIDENCE {
            json!({ "type": "array", "items": { "type": "string" }, "maxItems": CITED, "description": description })
        } else {
            json!({ "type": "string", "maxLength": TEXT, "description": description })
        };
        (name.to_owned(), schema)
    })
}

/// Takes the case out of arguments that fit the schema; tells what is no evidence id, and a `because` that says nothing.
pub(super) fn split(given: &mut Map<String, Value>) -> Result<Case, Vec<(&'static str, String)>> {
    let mut problems = Vec::new();
    let mut text = |name: &str| match given.remove(name) {
        Some(Value::String(text)) if !text.trim().is_empty() => Some(text),
        Some(_) | None => None,
    };
    let (because, alternatives, otherwise) = (text(BECAUSE), text(ALTERNATIVES), text(OTHERWISE));
    if because.is_none() {
        problems.push((BECAUSE, "must say why".to_owned()));
    }
    let mut evidence: Vec<EvidenceId> = Vec::new();
    for id in given.remove(EVIDENCE).iter().filter_map(Value::as_array).flatten().filter_map(Value::as_str) {
        match id.parse() {
            Ok(id) if evidence.contains(&id) => {}
            Ok(id) => evidence.push(id),
            Err(error) => problems.push((EVIDENCE, format!("{error}"))),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Case { because: because.unwrap_or_default(), evidence, alternatives, otherwise })
}

/// Fills a case in where there is none, for examples of a definition.
pub(super) fn fill(given: &mut Map<String, Value>) {
    given.entry(BECAUSE).or_insert_with(|| json!("an example"));
    given.entry(EVIDENCE).or_insert_with(|| json!([]));
}
