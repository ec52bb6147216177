//! The Cedar schema, made from the tool definitions, so that a policy that names what isn't there does not load.
//!
//! Roles, channels and kinds of trigger are enumerated types: a mistyped one is found when policies are loaded. All six
//! kinds of resource have the same attributes and parents, so one policy can speak of all of them. The schema is made as
//! JSON, which Cedar reads several times faster than its own form.

use std::collections::BTreeSet;

use cedar_policy::Schema;
use serde_json::{Map, Value, json};

use crate::domain::decision::Risk;
use crate::domain::name::RoleName;
use crate::domain::run::Channel;
use crate::domain::target::TargetKind;
use crate::domain::tool::{ArgType, ToolDefinition};

/// The Cedar entity type of a resource.
pub(super) fn resource_type(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Service => "Service",
        TargetKind::Source => "Source",
        TargetKind::Path => "Path",
        TargetKind::Catalog => "Catalog",
        TargetKind::Runbooks => "Runbooks",
        TargetKind::Evidence => "Evidence",
    }
}

/// The kinds of resource.
pub(super) const KINDS: [TargetKind; 6] = [
    TargetKind::Service,
    TargetKind::Source,
    TargetKind::Path,
    TargetKind::Catalog,
    TargetKind::Runbooks,
    TargetKind::Evidence,
];
const RISKS: [Risk; 5] = [Risk::Read, Risk::Write, Risk::Shell, Risk::Network, Risk::Dangerous];
const CHANNELS: [Channel; 3] = [Channel::Terminal, Channel::Command, Channel::Demo];

/// The entity types beside those of resources.
pub(super) const ENTITY_TYPES: [&str; 8] =
    ["Action", "Channel", "Environment", "Group", "Person", "Role", "Run", "Trigger"];

/// What began a run, as policies call it.
pub(super) const TRIGGERS: [&str; 2] = ["question", "alert"];

pub(super) fn make<'t>(
    tools: impl IntoIterator<Item = &'t ToolDefinition>,
    roles: &BTreeSet<RoleName>,
) -> Result<Schema, String> {
    Schema::from_json_value(json(tools, roles)).map_err(|error| error.to_string())
}

/// The schema in Cedar's JSON form.
pub(super) fn json<'t>(tools: impl IntoIterator<Item = &'t ToolDefinition>, roles: &BTreeSet<RoleName>) -> Value {
    json!({ "": { "entityTypes": entity_types(roles), "actions": actions(tools) } })
}

fn entity_types(roles: &BTreeSet<RoleName>) -> Map<String, Value> {
    let mut types = Map::new();
    let mut put = |name: &str, shape: Value| types.insert(name.to_owned(), shape);
    put("Role", json!({ "enum": roles.iter().map(RoleName::as_str).collect::<Vec<_>>() }));
    put("Channel", json!({ "enum": CHANNELS.map(Channel::as_str) }));
    put("Trigger", json!({ "enum": TRIGGERS }));
    put("Group", json!({}));
    put("Environment", json!({}));
    put("Person", json!({ "memberOfTypes": ["Group"] }));
    let run = json!({
        "requester": entity("Person"),
        "trigger": entity("Trigger"),
        "service": { "type": "Entity", "name": "Service", "required": false },
    });
    put("Run", json!({ "memberOfTypes": ["Role"], "shape": record(&run) }));
    for kind in KINDS {
        let looked_at = json!({
            "name": { "type": "String" },
            "owner": { "type": "Entity", "name": "Person", "required": false },
        });
        let parents = json!(["Path", "Source", "Service", "Environment"]);
        put(resource_type(kind), json!({ "memberOfTypes": parents, "shape": record(&looked_at) }));
    }
    types
}

fn actions<'t>(tools: impl IntoIterator<Item = &'t ToolDefinition>) -> Map<String, Value> {
    let mut actions: Map<String, Value> = RISKS.into_iter().map(|risk| (risk.as_str().to_owned(), json!({}))).collect();
    for tool in tools {
        let args: Map<String, Value> = tool
            .args
            .iter()
            .map(|(name, spec)| {
                let always = spec.required || spec.default.is_some();
                (name.clone(), json!({ "type": cedar_type(spec.kind), "required": always }))
            })
            .collect();
        let context =
            json!({ "channel": entity("Channel"), "now": { "type": "Long" }, "args": record(&Value::Object(args)) });
        let action = json!({
            "memberOf": [{ "id": tool.risk.as_str() }],
            "appliesTo": { "principalTypes": ["Run"], "resourceTypes": resources(tool), "context": record(&context) },
        });
        actions.insert(tool.name.to_string(), action);
    }
    actions
}

/// The kinds of resource a call of the tool may look at: the one that its required argument names; where the argument
/// may be left out, what stands for "all" too. Fewer kinds are fewer cases for Cedar to check each policy in.
fn resources(tool: &ToolDefinition) -> BTreeSet<&'static str> {
    let mut kinds = BTreeSet::from([resource_type(tool.target.kind)]);
    let named = tool.target.arg.as_ref().and_then(|name| tool.args.get(name));
    if !named.is_some_and(|arg| arg.required) {
        kinds.extend([TargetKind::Service, TargetKind::Source, TargetKind::Catalog].map(resource_type));
    }
    kinds
}

fn entity(name: &str) -> Value {
    json!({ "type": "Entity", "name": name })
}

fn record(attributes: &Value) -> Value {
    json!({ "type": "Record", "attributes": attributes })
}

/// Times are seconds since 1970 and durations are seconds, so that a policy can compare them.
fn cedar_type(kind: ArgType) -> &'static str {
    match kind {
        ArgType::Int | ArgType::Time | ArgType::Duration => "Long",
        ArgType::Bool => "Boolean",
        ArgType::Service
        | ArgType::Path
        | ArgType::Label
        | ArgType::Regex
        | ArgType::Enum
        | ArgType::Text
        | ArgType::Query
        | ArgType::Evidence => "String",
    }
}
