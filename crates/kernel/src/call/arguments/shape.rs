//! Whether an object fits the tool's JSON Schema: every error at once, in words that a model can act on.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value};

use crate::call::case;
use crate::call::definition::{Definition, did_you_mean, listed, nearest};
use crate::call::tool::Problem;
use crate::domain::tool::{ArgSpec, ArgType, ToolDefinition};

use super::text::visible;

/// More than these tell a model nothing new.
const MAX_PROBLEMS: usize = 24;

/// The problems of `given` with the schema, sorted by nothing: the caller sorts.
pub(super) fn problems(definition: &Definition, given: &Map<String, Value>) -> Vec<Problem> {
    let Some(validator) = definition.validator() else {
        let message = "the tool's schema does not compile, so no call fits it".to_owned();
        return vec![Problem { pointer: String::new(), message }];
    };
    // A look that only says yes or no is several times faster than one that collects errors.
    let value = Value::Object(given.clone());
    if validator.is_valid(&value) {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for error in validator.iter_errors(&value) {
        tell(&error, definition.tool(), given, &mut problems);
        if problems.len() >= MAX_PROBLEMS {
            break;
        }
    }
    problems.truncate(MAX_PROBLEMS);
    problems
}

/// The JSON pointer of a field.
pub(super) fn pointer(name: &str) -> String {
    let short: String = visible(name).chars().take(80).collect();
    format!("/{}", short.replace('~', "~0").replace('/', "~1"))
}

fn tell(error: &ValidationError<'_>, tool: &ToolDefinition, given: &Map<String, Value>, problems: &mut Vec<Problem>) {
    let at = error.instance_path().as_str().to_owned();
    let value = error.instance();
    if let Some(message) = of_case(&at, value, tool) {
        problems.push(Problem { pointer: at, message });
        return;
    }
    let message = match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            problems.extend(unexpected.iter().map(|name| unknown(name, tool, given)));
            return;
        }
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let spec = tool.args.get(name).map(|spec| spec.description.as_str());
            let what = spec.or_else(|| case::description(name)).unwrap_or("");
            problems.push(Problem { pointer: pointer(name), message: format!("is missing: {what}") });
            return;
        }
        ValidationErrorKind::Type { .. } => wrong_type(&at, value, tool),
        ValidationErrorKind::Enum { options } => choices(value, options),
        ValidationErrorKind::Minimum { limit } => format!("{} is below the least, {limit}", shown(value)),
        ValidationErrorKind::Maximum { limit } => format!("{} is above the most, {limit}", shown(value)),
        ValidationErrorKind::MaxLength { limit } => {
            let length = value.as_str().map_or(0, |text| text.chars().count());
            format!("has {length} characters; at most {limit}")
        }
        _ => visible(&error.masked().to_string()).chars().take(200).collect(),
    };
    problems.push(Problem { pointer: at, message });
}

/// What is wrong with an argument of the case for a write.
fn of_case(at: &str, value: &Value, tool: &ToolDefinition) -> Option<String> {
    let name = at.strip_prefix('/')?.split('/').next()?;
    if tool.args.contains_key(name) {
        return None;
    }
    Some(format!("must be {}, and is {}: {}", case::wanted(name)?, type_of(value), shown(value)))
}

fn unknown(name: &str, tool: &ToolDefinition, given: &Map<String, Value>) -> Problem {
    let free: Vec<&str> = tool.args.keys().filter(|known| !given.contains_key(*known)).map(String::as_str).collect();
    let near = nearest(name, free);
    let message = if near.is_empty() {
        let all: Vec<&str> = tool.args.keys().map(String::as_str).collect();
        match all.as_slice() {
            [] => format!("unknown field; `{}` takes no arguments", tool.name),
            all => format!("unknown field; `{}` takes {}", tool.name, listed(all, " and ")),
        }
    } else {
        format!("unknown field{}", did_you_mean(&near))
    };
    Problem { pointer: pointer(name), message }
}

fn wrong_type(at: &str, value: &Value, tool: &ToolDefinition) -> String {
    let spec = at.strip_prefix('/').and_then(|name| tool.args.get(name));
    let kind = spec.map(|spec| spec.kind);
    let wanted = spec.map_or("an object", |spec| super::rules::wanted(spec.kind));
    let came = type_of(value);
    let hint = match value {
        Value::Null => "; leave the field out where there is no value",
        Value::String(text) if text.trim().parse::<i64>().is_ok() || text == "true" || text == "false" => {
            "; write it without quotes"
        }
        Value::Number(_) if matches!(kind, Some(ArgType::Duration)) => "; say of what, as in `90s` or `15m`",
        Value::Number(_) | Value::Bool(_) if wanted.starts_with("a text") => "; write it in quotes",
        _ => "",
    };
    match value {
        Value::Null => format!("must be {wanted}, not null{hint}"),
        _ => format!("must be {wanted}, and is {came}: {}{hint}", shown(value)),
    }
}

/// Whether a single value has the JSON type of its argument and is one of its choices.
pub(super) fn fits_type(spec: &ArgSpec, value: &Value) -> Result<(), String> {
    let fits = match spec.kind {
        ArgType::Int => value.is_i64() || value.is_u64(),
        ArgType::Bool => value.is_boolean(),
        ArgType::Enum => value.as_str().is_some_and(|text| spec.values.iter().any(|choice| choice == text)),
        ArgType::Service
        | ArgType::Time
        | ArgType::Duration
        | ArgType::Path
        | ArgType::Label
        | ArgType::Regex
        | ArgType::Text
        | ArgType::Query
        | ArgType::Evidence => value.is_string(),
        ArgType::Words => value.as_array().is_some_and(|words| words.iter().all(Value::is_string)),
    };
    if fits { Ok(()) } else { Err(format!("must be {}", super::rules::wanted(spec.kind))) }
}

fn choices(value: &Value, options: &Value) -> String {
    let options: Vec<&str> = options.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let near = value.as_str().map(|text| nearest(text, options.iter().copied())).unwrap_or_default();
    format!("{} is none of {}{}", shown(value), listed(&options, " and "), did_you_mean(&near))
}

/// What kind of JSON value this is, in words.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The first characters of a value, in backticks.
pub(super) fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.chars().take(81).collect(),
        // Bounded by the size of all arguments.
        other => other.to_string(),
    };
    let mut short: String = visible(&text).chars().take(80).collect();
    if text.chars().count() > 80 {
        short.push('…');
    }
    format!("`{short}`")
}
