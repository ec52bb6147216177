//! The JSON Schema (2020-12) of a tool's arguments, generated from their types.
//!
//! It stands in every prompt, so it says what a model needs and no more. Rules that a schema can't say well (a service
//! exists, a time parses) are checked after it by [`crate::call::arguments`].

use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};

use crate::call::case;
use crate::domain::tool::{ArgSpec, ArgType, ToolDefinition};

/// The schema of the tool's arguments: an object that knows no other fields.
pub(super) fn schema_for(tool: &ToolDefinition) -> Value {
    let mut properties: Map<String, Value> =
        tool.args.iter().map(|(name, spec)| (name.clone(), Value::Object(property(spec)))).collect();
    let mut required: Vec<&str> =
        tool.args.iter().filter(|(_, spec)| spec.required).map(|(name, _)| name.as_str()).collect();
    if !tool.risk.only_looks() {
        properties.extend(case::properties());
        required.extend(case::REQUIRED);
    }
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    Value::Object(schema)
}

fn property(spec: &ArgSpec) -> Map<String, Value> {
    let mut property = Map::new();
    let mut put = |key: &str, value: Value| property.insert(key.to_owned(), value);
    put("type", json!(json_type(spec.kind)));
    put("description", json!(spec.description));
    match spec.kind {
        ArgType::Int => {
            spec.min.map(|min| put("minimum", json!(min)));
            spec.max.map(|max| put("maximum", json!(max)));
        }
        ArgType::Enum => {
            put("enum", json!(spec.values));
        }
        ArgType::Text | ArgType::Regex | ArgType::Query | ArgType::Path | ArgType::Label => {
            spec.max.map(|max| put("maxLength", json!(max)));
        }
        ArgType::Words => {
            put("items", json!({ "type": "string" }));
        }
        ArgType::Service | ArgType::Time | ArgType::Duration | ArgType::Bool | ArgType::Evidence => {}
    }
    if let Some(default) = &spec.default {
        put("default", default.clone());
    }
    property
}

/// The JSON type that an argument's values have.
pub(super) fn json_type(kind: ArgType) -> &'static str {
    match kind {
        ArgType::Int => "integer",
        ArgType::Bool => "boolean",
        ArgType::Words => "array",
        ArgType::Service
        | ArgType::Time
        | ArgType::Duration
        | ArgType::Path
        | ArgType::Label
        | ArgType::Regex
        | ArgType::Enum
        | ArgType::Text
        | ArgType::Query
        | ArgType::Evidence => "string",
    }
}

/// Compiles a schema for checking. References can't be resolved: the crate is built without retrievers.
pub(super) fn compile(schema: &Value) -> Option<Validator> {
    jsonschema::options().with_draft(Draft::Draft202012).build(schema).ok()
}
