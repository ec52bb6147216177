//! The Cedar schema, made from the tool definitions, so that a policy that names what isn't there does not load.
//!
//! Roles, tools, tiers, channels and kinds of trigger are enumerated types: a mistyped one is found when policies are
//! loaded. All six kinds of resource have the same attributes and parents, so one policy can speak of all of them.
//!
//! Each tool is an action, in the group of its risk: may it be called. Three more actions are asked of a call that does more
//! than read: `medium_suffices`, `low_suffices`, `one_suffices`. They are the same for all tools, and `context.tool` says
//! which it is; its arguments stand under its name, `context.args.edit_config.path`, so that a mistyped one is found there
//! too. What persons do ([`Verb`]) are actions with a `Person` as principal. The schema is made as JSON, which Cedar reads
//! several times faster than its own form.

use std::collections::BTreeSet;

use cedar_policy::Schema;
use serde_json::{Map, Value, json};

use crate::domain::decision::{Risk, Tier};
use crate::domain::name::RoleName;
use crate::domain::run::Channel;
use crate::domain::target::TargetKind;
use crate::domain::tool::{ArgType, ToolDefinition};

use super::standing::Verb;

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
const TIERS: [Tier; 3] = [Tier::Low, Tier::Medium, Tier::High];
const CHANNELS: [Channel; 6] =
    [Channel::Terminal, Channel::Command, Channel::Demo, Channel::Slack, Channel::Alert, Channel::Api];

/// The entity types beside those of resources.
pub(super) const ENTITY_TYPES: [&str; 12] =
    ["Action", "Channel", "Environment", "Group", "Person", "Risk", "Role", "Run", "System", "Tier", "Tool", "Trigger"];

/// What began a run, as policies call it.
pub(super) const TRIGGERS: [&str; 2] = ["question", "alert"];

/// The resource of what is about Warrant as a whole.
pub(super) const SYSTEM: &str = "warrant";

/// What is asked of a call that does more than read, once it is permitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suffices {
    /// Does one confirmation suffice?
    Medium,
    /// Does a record suffice?
    Low,
    /// Does one person suffice, at the tier that the gate asks for?
    One(Tier),
}

impl Suffices {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Medium => "medium_suffices",
            Self::Low => "low_suffices",
            Self::One(_) => "one_suffices",
        }
    }
}

/// The kinds of resource that more than a read can be about. Fewer kinds are fewer cases for Cedar to check each policy in.
const WRITABLE: [TargetKind; 4] = [TargetKind::Service, TargetKind::Source, TargetKind::Path, TargetKind::Catalog];

/// The schema, or what is wrong with the tools it is made from.
pub(super) fn make(tools: &[&ToolDefinition], roles: &BTreeSet<RoleName>) -> Result<Schema, String> {
    let taken: BTreeSet<&str> = names_taken().collect();
    if let Some(tool) = tools.iter().find(|tool| taken.contains(tool.name.as_str())) {
        return Err(format!("a tool can't be called `{}`: policies know that word as another action", tool.name));
    }
    Schema::from_json_value(json(tools, roles)).map_err(|error| error.to_string())
}

/// The actions that are no tools.
fn names_taken() -> impl Iterator<Item = &'static str> {
    let suffices = [Suffices::Medium, Suffices::Low, Suffices::One(Tier::High)].map(Suffices::as_str);
    RISKS.map(Risk::as_str).into_iter().chain(suffices).chain(Verb::ALL.map(Verb::as_str))
}

/// The schema in Cedar's JSON form.
pub(super) fn json(tools: &[&ToolDefinition], roles: &BTreeSet<RoleName>) -> Value {
    let mut all = entity_types(roles);
    all.insert("Tool".to_owned(), json!({ "enum": tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>() }));
    let mut actions = actions(tools);
    actions.extend(questions_of_tier(tools));
    actions.extend(Verb::ALL.map(standing));
    json!({ "": { "entityTypes": all, "actions": actions } })
}

fn entity_types(roles: &BTreeSet<RoleName>) -> Map<String, Value> {
    let mut types = Map::new();
    let mut put = |name: &str, shape: Value| types.insert(name.to_owned(), shape);
    put("Role", json!({ "enum": roles.iter().map(RoleName::as_str).collect::<Vec<_>>() }));
    put("Channel", json!({ "enum": CHANNELS.map(Channel::as_str) }));
    put("Trigger", json!({ "enum": TRIGGERS }));
    put("Risk", json!({ "enum": RISKS.map(Risk::as_str) }));
    put("Tier", json!({ "enum": TIERS.map(Tier::as_str) }));
    put("System", json!({ "enum": [SYSTEM] }));
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
            "environment": { "type": "Entity", "name": "Environment", "required": false },
        });
        let parents = json!(["Path", "Source", "Service", "Environment"]);
        put(resource_type(kind), json!({ "memberOfTypes": parents, "shape": record(&looked_at) }));
    }
    types
}

/// May it be called?
fn actions(tools: &[&ToolDefinition]) -> Map<String, Value> {
    let mut actions: Map<String, Value> = RISKS.into_iter().map(|risk| (risk.as_str().to_owned(), json!({}))).collect();
    for tool in tools {
        let context = json!({
            "channel": entity("Channel"),
            "now": { "type": "Long" },
            "allow_writes": { "type": "Boolean" },
            "args": record(&arguments(tool)),
        });
        let action = json!({
            "memberOf": [{ "id": tool.risk.as_str() }],
            "appliesTo": { "principalTypes": ["Run"], "resourceTypes": resources(tool), "context": record(&context) },
        });
        actions.insert(tool.name.to_string(), action);
    }
    actions
}

fn arguments(tool: &ToolDefinition) -> Value {
    let args: Map<String, Value> = tool
        .args
        .iter()
        .map(|(name, spec)| {
            let always = spec.required || spec.default.is_some();
            let mut kind = cedar_type(spec.kind);
            if let Some(kind) = kind.as_object_mut() {
                kind.insert("required".to_owned(), always.into());
            }
            (name.clone(), kind)
        })
        .collect();
    Value::Object(args)
}

/// Which tier suffices, and does one person?
fn questions_of_tier(tools: &[&ToolDefinition]) -> Map<String, Value> {
    let of_tools: Map<String, Value> = tools
        .iter()
        .filter(|tool| !tool.risk.only_looks())
        .map(|tool| {
            let args = json!({ "type": "Record", "attributes": arguments(tool), "required": false });
            (tool.name.to_string(), args)
        })
        .collect();
    let one = |suffices: Suffices| {
        let mut context = Map::from_iter([
            ("channel".to_owned(), entity("Channel")),
            ("now".to_owned(), json!({ "type": "Long" })),
            ("tool".to_owned(), entity("Tool")),
            ("risk".to_owned(), entity("Risk")),
            ("args".to_owned(), record(&Value::Object(of_tools.clone()))),
        ]);
        if let Suffices::One(_) = suffices {
            context.insert("tier".to_owned(), entity("Tier"));
        }
        applies(suffices.as_str(), "Run", &WRITABLE.map(resource_type), context)
    };
    [Suffices::Medium, Suffices::Low, Suffices::One(Tier::High)].into_iter().map(one).collect()
}

/// May a person do this?
fn standing(verb: Verb) -> (String, Value) {
    let mut context =
        Map::from_iter([("channel".to_owned(), entity("Channel")), ("now".to_owned(), json!({ "type": "Long" }))]);
    if !verb.is_about_a_write() {
        return applies(verb.as_str(), "Person", &["System"], context);
    }
    context.insert("tool".to_owned(), entity("Tool"));
    context.insert("tier".to_owned(), entity("Tier"));
    context.insert("contributor".to_owned(), json!({ "type": "Boolean" }));
    context.insert("is_requester".to_owned(), json!({ "type": "Boolean" }));
    applies(verb.as_str(), "Person", &WRITABLE.map(resource_type), context)
}

fn applies(action: &str, principal: &str, resources: &[&str], context: Map<String, Value>) -> (String, Value) {
    let context = record(&Value::Object(context));
    let applies = json!({ "principalTypes": [principal], "resourceTypes": resources, "context": context });
    (action.to_owned(), json!({ "appliesTo": applies }))
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
fn cedar_type(kind: ArgType) -> Value {
    let name = match kind {
        ArgType::Int | ArgType::Time | ArgType::Duration => "Long",
        ArgType::Bool => "Boolean",
        // Which words there are, and not in which order.
        ArgType::Words => return json!({ "type": "Set", "element": { "type": "String" } }),
        ArgType::Service
        | ArgType::Path
        | ArgType::Label
        | ArgType::Regex
        | ArgType::Enum
        | ArgType::Text
        | ArgType::Query
        | ArgType::Evidence => "String",
    };
    json!({ "type": name })
}
