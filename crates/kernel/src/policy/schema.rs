//! The Cedar schema, made from the tool definitions, so that a policy that names what isn't there does not load.
//!
//! Roles, channels and kinds of trigger are enumerated types: a mistyped one is found when policies are loaded. All six
//! kinds of resource have the same attributes and parents, so one policy can speak of all of them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

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

const KINDS: [TargetKind; 6] = [
    TargetKind::Service,
    TargetKind::Source,
    TargetKind::Path,
    TargetKind::Catalog,
    TargetKind::Runbooks,
    TargetKind::Evidence,
];
const RISKS: [Risk; 5] = [Risk::Read, Risk::Write, Risk::Shell, Risk::Network, Risk::Dangerous];
const CHANNELS: [Channel; 3] = [Channel::Terminal, Channel::Command, Channel::Demo];

/// What began a run, as policies call it.
pub(super) const TRIGGERS: [&str; 2] = ["question", "alert"];

/// The schema in Cedar's own form.
pub(super) fn text<'t>(tools: impl IntoIterator<Item = &'t ToolDefinition>, roles: &BTreeSet<RoleName>) -> String {
    let mut schema = String::new();
    enumerated(&mut schema, "Role", roles.iter().map(RoleName::as_str));
    enumerated(&mut schema, "Channel", CHANNELS.into_iter().map(Channel::as_str));
    enumerated(&mut schema, "Trigger", TRIGGERS);
    schema.push_str("entity Group;\nentity Person in [Group];\nentity Environment;\n");
    schema.push_str("entity Run in [Role] = { requester: Person, trigger: Trigger, service?: Service };\n");
    for kind in KINDS {
        let name = resource_type(kind);
        line(
            &mut schema,
            format_args!("entity {name} in [Path, Source, Service, Environment] = {{ name: String, owner?: Person }};"),
        );
    }
    for risk in RISKS {
        line(&mut schema, format_args!("action \"{}\";", risk.as_str()));
    }
    let resources = KINDS.map(resource_type).join(", ");
    for tool in tools {
        let args: Vec<String> = tool
            .args
            .iter()
            .map(|(name, spec)| {
                let optional = if spec.required || spec.default.is_some() { "" } else { "?" };
                format!("\"{name}\"{optional}: {}", cedar_type(spec.kind))
            })
            .collect();
        line(
            &mut schema,
            format_args!(
                "action \"{}\" in [Action::\"{}\"] appliesTo {{ principal: [Run], resource: [{resources}], \
             context: {{ channel: Channel, now: Long, args: {{ {} }} }} }};",
                tool.name,
                tool.risk.as_str(),
                args.join(", ")
            ),
        );
    }
    schema
}

fn enumerated<'n>(schema: &mut String, name: &str, values: impl IntoIterator<Item = &'n str>) {
    let values: Vec<String> = values.into_iter().map(|value| format!("\"{value}\"")).collect();
    line(schema, format_args!("entity {name} enum [{}];", values.join(", ")));
}

fn line(schema: &mut String, text: std::fmt::Arguments<'_>) {
    if writeln!(schema, "{text}").is_err() {
        // Writing into a String can't fail; were it to, the schema would lack a line and not load.
        schema.push('!');
    }
}

/// Times are seconds since 1970 and durations are seconds, so that a policy can compare them.
pub(super) fn cedar_type(kind: ArgType) -> &'static str {
    match kind {
        ArgType::Int | ArgType::Time | ArgType::Duration => "Long",
        ArgType::Bool => "Bool",
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
