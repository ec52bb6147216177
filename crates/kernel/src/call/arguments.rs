//! Stage 2: what the model wrote becomes arguments that fit, or the list of all that does not.
//!
//! Three steps, each of which tells everything it finds: the text is JSON and an object (`text`); the object fits the
//! tool's schema (`shape`); each value makes sense for its type (`rules`). Nothing is guessed or dropped: text that
//! does not parse is refused and never becomes an empty object.

mod text;

mod shape;

mod rules;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::call::case;
use crate::call::definition::Definition;
use crate::call::tool::{Arguments, Problem, Services};
use crate::domain::name::ToolName;
use crate::domain::plan::Case;
use crate::domain::tool::{ArgSpec, ArgType};

use rules::Sense;

/// Arguments that passed stage 2, except for the tool's own rules.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedArguments {
    /// For the tool: defaults filled in, times absolute.
    pub arguments: Arguments,
    /// As given, defaults filled in, times as they were written: what makes two calls the same call.
    pub given: Map<String, Value>,
    /// The case for a write, split off; none for a read.
    pub case: Option<Case>,
}

/// Checks the raw text of a call's arguments.
///
/// # Errors
/// Every problem found, with its JSON pointer.
pub fn check(
    definition: &Definition,
    raw: &str,
    now: Timestamp,
    services: &dyn Services,
) -> Result<CheckedArguments, Vec<Problem>> {
    let given = text::object(raw).map_err(|problem| vec![problem])?;
    check_object(definition, given, &Sense { now, services: Some(services) })
}

/// Checks arguments that have been read from JSON or TOML.
fn check_object(
    definition: &Definition,
    mut given: Map<String, Value>,
    sense: &Sense<'_>,
) -> Result<CheckedArguments, Vec<Problem>> {
    let mut problems = shape::problems(definition, &given);
    let tool = definition.tool();
    let case = if tool.risk.only_looks() { None } else { split(&mut given, &mut problems) };
    for (name, spec) in &tool.args {
        if let (None, Some(default)) = (given.get(name), &spec.default) {
            given.insert(name.clone(), default.clone());
        }
    }
    let mut absolute = Map::new();
    for (name, spec) in &tool.args {
        let Some(value) = given.get_mut(name) else { continue };
        let pointer = shape::pointer(name);
        if problems.iter().any(|problem| problem.pointer == pointer) {
            continue;
        }
        match rules::check(spec, value, sense) {
            Ok(made) => {
                let made = made.unwrap_or_else(|| value.clone());
                if spec.kind != ArgType::Time {
                    *value = made.clone();
                }
                absolute.insert(name.clone(), made);
            }
            Err(message) => problems.push(Problem { pointer, message }),
        }
    }
    if problems.is_empty() {
        return Ok(CheckedArguments { arguments: Arguments::checked(absolute), given, case });
    }
    problems.sort_by(|a, b| a.pointer.cmp(&b.pointer));
    Err(problems)
}

/// Takes the case for a write out of its arguments.
fn split(given: &mut Map<String, Value>, problems: &mut Vec<Problem>) -> Option<Case> {
    match case::split(given) {
        Ok(case) => Some(case),
        Err(found) => {
            // Of what does not fit the schema that is told already.
            let told = |name: &str| problems.iter().any(|problem| problem.pointer.starts_with(&shape::pointer(name)));
            let new: Vec<Problem> = found
                .into_iter()
                .filter(|(name, _)| !told(name))
                .map(|(name, message)| Problem { pointer: shape::pointer(name), message })
                .collect();
            problems.extend(new);
            None
        }
    }
}

/// A fixed time stands for now where definitions are loaded, so that the same file always has the same answer.
fn at_load() -> Sense<'static> {
    Sense { now: Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_hours(500_000), services: None }
}

/// Whether an example of a definition fits; whether a service exists is not asked.
pub(in crate::call) fn try_example(definition: &Definition, args: &Value) -> Result<(), Vec<Problem>> {
    let Value::Object(given) = args else {
        return Err(vec![Problem { pointer: String::new(), message: "`args` must be a table".to_owned() }]);
    };
    let mut given = given.clone();
    if !definition.tool().risk.only_looks() {
        case::fill(&mut given);
    }
    check_object(definition, given, &at_load()).map(|_| ())
}

/// Whether a default fits its argument.
pub(in crate::call) fn try_value(spec: &ArgSpec, value: &Value) -> Result<(), String> {
    shape::fits_type(spec, value)?;
    rules::check(spec, value, &at_load()).map(|_| ())
}

/// One text for all calls that ask the same: the tool and its arguments, keys sorted.
#[must_use]
pub fn flight_key(tool: &ToolName, given: &Map<String, Value>) -> String {
    let sorted: BTreeMap<&String, &Value> = given.iter().collect();
    // No argument is an object, so sorting the top is sorting all.
    format!("{tool}{}", serde_json::to_string(&sorted).unwrap_or_default())
}
