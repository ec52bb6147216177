//! One definition file becomes a [`ToolDefinition`].
//!
//! Every field is checked here or in the modules beside; a definition with any fault is not returned.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::call::{arguments, case};
use crate::domain::decision::{Risk, Tier};
use crate::domain::name::{RoleName, ToolName};
use crate::domain::target::TargetKind;
use crate::domain::time;
use crate::domain::tool::{ArgSpec, ArgType, Example, OutputPolicy, TargetSpec, ToolDefinition, ToolRun};

use super::document::{Document, Faults, Placed};
use super::{Definition, LoadContext, Standing, args, command, http};
use super::{did_you_mean, nearest};

const FIELDS: [&str; 17] = [
    "name",
    "version",
    "description",
    "args",
    "risk",
    "tier_floor",
    "roles",
    "parallel_safe",
    "timeout",
    "output",
    "cache",
    "target",
    "side_effects",
    "source",
    "run",
    "examples",
    "tighten",
];

/// Names that policies use for groups of actions and for the questions about tiers.
const RESERVED: [&str; 7] = ["read", "write", "shell", "network", "dangerous", "medium_suffices", "low_suffices"];

const MAX_DESCRIPTION: usize = 800;
const MAX_CHARS: std::ops::RangeInclusive<usize> = 500..=100_000;
const MAX_TIMEOUT: Duration = Duration::from_mins(5);
const MAX_CACHE: Duration = Duration::from_mins(10);

/// Reads a definition, and the line on which it names itself.
pub(super) fn read(
    mut document: Document<'_>,
    standing: Standing,
    context: &LoadContext<'_>,
    faults: &mut Faults<'_>,
) -> Option<(ToolDefinition, usize)> {
    let name = document.require::<ToolName>("name", "what the model calls", faults);
    if let Some(name) = &name
        && RESERVED.contains(&name.value.as_str())
    {
        faults.at(name.at, format!("`{}` is a word of the policies; choose another name", name.value));
    }
    let version = document.require::<u32>("version", "raise it when arguments or output change shape", faults);
    if let Some(version) = version.as_ref().filter(|version| version.value == 0) {
        faults.at(version.at, "`version` begins with 1");
    }
    let description = text(&mut document, faults);
    let risk = risk(&mut document, faults);
    let floor = document.take::<Tier>("tier_floor", faults);
    if let Some(floor) = floor.as_ref().filter(|_| risk.is_some_and(Risk::only_looks)) {
        faults.at(floor.at, NO_FLOOR);
    }
    let roles = roles(&mut document, context, faults);
    let parallel_safe = document.require::<bool>("parallel_safe", "whether calls of one turn may run together", faults);
    let timeout = timeout(&mut document, faults);
    let cache = cache(&mut document, faults);
    let output = document.require::<OutputPolicy>("output", "`{ max_chars = 12000, keep = \"head_tail\" }`", faults);
    if let Some(output) = output.as_ref() {
        check_max_chars(output.value.max_chars, output.at, faults);
    }
    let side_effects = side_effects(&mut document, risk, faults);
    local_only(&mut document, faults);
    let args = args::read(&mut document, faults);
    let target = target(&mut document, &args, faults);
    let run_at = document.place("run");
    let run = run(&mut document, standing, &args, context, faults);
    let examples = document.items::<Example>("examples", faults);
    document.finish(&FIELDS, faults);

    let name = name?;
    let line = faults.line(name.at);
    let tool = ToolDefinition {
        name: name.value,
        version: version?.value,
        description: description?,
        args: args.into_iter().map(|(name, arg)| (name, arg.value)).collect(),
        risk: risk?,
        tier_floor: floor.map(|floor| floor.value),
        roles: roles?,
        parallel_safe: parallel_safe?.value,
        timeout: timeout?,
        output: output?.value,
        cache: cache?,
        target: target?,
        side_effects,
        run: run?,
        examples: examples.iter().map(|example| example.value.clone()).collect(),
    };
    if tool.risk == Risk::Write {
        check_write(&tool, line, faults);
    }
    match &tool.run {
        ToolRun::Http(_) if tool.risk == Risk::Shell => {
            faults.at(run_at, "`risk = \"shell\"` is of tools that run a command; over HTTP it is `read` or `write`");
        }
        ToolRun::Http(http) => http::fits_risk(http, tool.risk, run_at, faults),
        ToolRun::Command(_) if tool.risk != Risk::Shell => {
            faults.at(run_at, "a tool that runs a command says `risk = \"shell\"`; it can only look");
        }
        ToolRun::Builtin | ToolRun::Command(_) => {}
    }
    if tool.risk == Risk::Shell && tool.roles.iter().any(|role| role.as_str() == EXPLORE) {
        faults.at_line(line, "the role `explore` runs no commands: take it out of `roles`");
    }
    if !faults.none() {
        return None;
    }
    try_examples(&tool, &examples, faults);
    faults.none().then_some((tool, line))
}

pub(super) const NO_FLOOR: &str = "what only looks is never asked for; `tier_floor` belongs to write tools";

/// The role that only looks.
const EXPLORE: &str = "explore";

/// A write is asked for one by one, never answered from a cache, and seen by no role that only looks. Its code says what it
/// would do and can tell afterwards whether it did.
fn check_write(tool: &ToolDefinition, line: usize, faults: &mut Faults<'_>) {
    if tool.parallel_safe {
        faults.at_line(line, "a write is never `parallel_safe`: set it to false");
    }
    if !tool.cache.is_zero() {
        faults.at_line(line, "a write is done, not remembered: leave `cache` out");
    }
    if tool.roles.iter().any(|role| role.as_str() == EXPLORE) {
        faults.at_line(line, "the role `explore` only looks: take it out of `roles`");
    }
    if let Some(name) = tool.args.keys().find(|name| case::NAMES.contains(&name.as_str())) {
        faults.at_line(line, format!("every write takes `{name}` as part of its case: choose another name"));
    }
    match tool.target.kind {
        TargetKind::Service | TargetKind::Path | TargetKind::Source | TargetKind::Catalog => {}
        TargetKind::Runbooks | TargetKind::Evidence => {
            faults.at_line(line, format!("nothing is written to {}", tool.target.kind.as_str()));
        }
    }
}

/// What it changes, in words: needed of a write, and none of a read.
fn side_effects(document: &mut Document<'_>, risk: Option<Risk>, faults: &mut Faults<'_>) -> Vec<String> {
    let start = document.start();
    let effects = document.take::<Vec<String>>("side_effects", faults);
    match (risk, effects) {
        (Some(Risk::Write), Some(effects)) if !effects.value.is_empty() => effects.value,
        (Some(Risk::Write), effects) => {
            let at = effects.map_or(start, |effects| effects.at);
            faults.at(at, "`side_effects` is missing: what the write changes, in a sentence each");
            Vec::new()
        }
        (_, Some(effects)) if !effects.value.is_empty() => {
            faults.at(effects.at, "a read has no side effects");
            Vec::new()
        }
        (_, _) => Vec::new(),
    }
}

fn text(document: &mut Document<'_>, faults: &mut Faults<'_>) -> Option<String> {
    let description = document.require::<String>("description", "what the tool is for, for the model", faults)?;
    check_description(&description.value, MAX_DESCRIPTION, description.at, faults);
    Some(description.value)
}

/// A text for the model: there, in bounds, and without control characters.
pub(super) fn check_description(text: &str, most: usize, at: usize, faults: &mut Faults<'_>) {
    let length = text.chars().count();
    if text.trim().is_empty() {
        faults.at(at, "`description` is empty");
    } else if length > most {
        faults.at(at, format!("`description` has {length} characters; at most {most}, as it stands in every prompt"));
    }
    if text.chars().any(|c| c.is_control() && c != '\n') {
        faults.at(at, "`description` holds control characters");
    }
}

fn risk(document: &mut Document<'_>, faults: &mut Faults<'_>) -> Option<Risk> {
    let risk = document.require::<Risk>("risk", "`read` for a tool that only looks", faults)?;
    let refused = match risk.value {
        Risk::Read | Risk::Write | Risk::Shell => return Some(risk.value),
        Risk::Network | Risk::Dangerous => "tools of this risk are not supported in this version",
    };
    faults.at(risk.at, format!("`risk = \"{}\"`: {refused}", risk.value.as_str()));
    None
}

/// The roles of a definition or of a tightening: known, each once, at least one.
pub(super) fn check_roles(roles: &Placed<Vec<RoleName>>, faults: &mut Faults<'_>) {
    if roles.value.is_empty() {
        faults.at(roles.at, "`roles` is empty: nobody would see the tool");
    }
    for (index, role) in roles.value.iter().enumerate() {
        if roles.value.iter().take(index).any(|earlier| earlier == role) {
            faults.at(roles.at, format!("`roles` names `{role}` twice"));
        }
    }
}

fn roles(document: &mut Document<'_>, context: &LoadContext<'_>, faults: &mut Faults<'_>) -> Option<Vec<RoleName>> {
    let roles = document.require::<Vec<RoleName>>("roles", "the roles that see the tool", faults)?;
    check_roles(&roles, faults);
    for role in roles.value.iter().filter(|role| !context.roles.contains(role)) {
        let near = nearest(role.as_str(), context.roles.iter().map(RoleName::as_str));
        faults.at(roles.at, format!("there is no role `{role}`{}", did_you_mean(&near)));
    }
    Some(roles.value)
}

/// A duration field, `"20s"`.
pub(super) fn duration(
    document: &mut Document<'_>,
    name: &str,
    most: Duration,
    faults: &mut Faults<'_>,
) -> Option<Placed<Duration>> {
    let text = document.take::<String>(name, faults)?;
    let parsed = time::parse_duration(&text.value).map_err(|error| error.to_string());
    match parsed.and_then(|duration| Duration::try_from(duration).map_err(|error| error.to_string())) {
        Ok(duration) if duration <= most => Some(Placed { value: duration, at: text.at }),
        Ok(_) => {
            faults.at(text.at, format!("`{name}` is `{}`; at most {}s", text.value, most.as_secs()));
            None
        }
        Err(message) => {
            faults.at(text.at, format!("`{name}`: {message}"));
            None
        }
    }
}

fn timeout(document: &mut Document<'_>, faults: &mut Faults<'_>) -> Option<Duration> {
    if !document.has("timeout") {
        faults.at(document.start(), "`timeout` is missing: after how long the work is ended, as in `\"20s\"`");
    }
    let timeout = duration(document, "timeout", MAX_TIMEOUT, faults)?;
    if timeout.value.is_zero() {
        faults.at(timeout.at, "`timeout` is zero: no call could ever end in time");
    }
    Some(timeout.value)
}

fn cache(document: &mut Document<'_>, faults: &mut Faults<'_>) -> Option<Duration> {
    if !document.has("cache") {
        return Some(Duration::ZERO);
    }
    duration(document, "cache", MAX_CACHE, faults).map(|cache| cache.value)
}

/// `max_chars` has bounds: below, not even the envelope makes sense; above, one result fills a context.
pub(super) fn check_max_chars(max_chars: usize, at: usize, faults: &mut Faults<'_>) {
    if !MAX_CHARS.contains(&max_chars) {
        let (least, most) = (MAX_CHARS.start(), MAX_CHARS.end());
        faults.at(at, format!("`max_chars` is {max_chars}; from {least} to {most}"));
    }
}

fn local_only(document: &mut Document<'_>, faults: &mut Faults<'_>) {
    let Some(source) = document.take::<String>("source", faults) else { return };
    match source.value.as_str() {
        "local" => {}
        "mcp" => faults.at(source.at, "tools over MCP are not supported in this version"),
        other => faults.at(source.at, format!("`source` is `{other}`; only `local` is known")),
    }
}

fn target(
    document: &mut Document<'_>,
    args: &BTreeMap<String, Placed<ArgSpec>>,
    faults: &mut Faults<'_>,
) -> Option<TargetSpec> {
    let target = document.require::<TargetSpec>(
        "target",
        "what the tool looks at, as in `{ kind = \"service\", arg = \"service\" }`",
        faults,
    )?;
    let Some(name) = &target.value.arg else { return Some(target.value) };
    let Some(arg) = args.get(name) else {
        let near = nearest(name, args.keys().map(String::as_str));
        faults.at(target.at, format!("`target.arg` names `{name}`, which is no argument{}", did_you_mean(&near)));
        return None;
    };
    let wanted = match target.value.kind {
        TargetKind::Service => Some((ArgType::Service, "service")),
        TargetKind::Path => Some((ArgType::Path, "path")),
        TargetKind::Evidence => Some((ArgType::Evidence, "evidence")),
        TargetKind::Source | TargetKind::Catalog | TargetKind::Runbooks => None,
    };
    if let Some((_, word)) = wanted.filter(|(kind, _)| *kind != arg.value.kind) {
        faults.at(target.at, format!("`target.arg` names `{name}`, which is not of type `{word}`"));
    }
    Some(target.value)
}

fn run(
    document: &mut Document<'_>,
    standing: Standing,
    args: &BTreeMap<String, Placed<ArgSpec>>,
    context: &LoadContext<'_>,
    faults: &mut Faults<'_>,
) -> Option<ToolRun> {
    let at = document.place("run");
    if !document.has("run") {
        faults.at(
            at,
            "`run` is missing: what carries the tool out, `\"builtin\"`, a `[run.http]` or a `[run.command]` table",
        );
        return None;
    }
    if document.text("run").is_some() {
        let run = document.take::<String>("run", faults)?;
        return match (run.value.as_str(), standing) {
            ("builtin", Standing::BuiltIn) => Some(ToolRun::Builtin),
            ("builtin", Standing::Operator) => {
                faults.at(at, "only the tools of the program itself are `builtin`; write a `[run.http]` or a `[run.command]` table");
                None
            }
            ("http", _) => {
                faults.at(at, "`run = \"http\"` needs its source and path: write a `[run.http]` table");
                None
            }
            ("command", _) => {
                faults.at(at, "`run = \"command\"` needs its words: write a `[run.command]` table with `argv`");
                None
            }
            (other, _) => {
                faults.at(at, not_supported(other));
                None
            }
        };
    }
    let mut table = document.table("run", faults)?.value;
    let made = if table.has("command") {
        command::read(&mut table, args, faults).map(|command| ToolRun::Command(Box::new(command)))
    } else {
        http::read(&mut table, args, context, faults).map(|http| ToolRun::Http(Box::new(http)))
    };
    for other in table.names() {
        faults.at(table.place(&other), not_supported(&other));
    }
    made
}

fn not_supported(run: &str) -> String {
    match run {
        "command" | "http" => "a tool has one `run`: an `http` table or a `command` table".to_owned(),
        "mcp" => "tools over MCP are not supported in this version".to_owned(),
        other => {
            format!(
                "`run` is `{}`; `builtin`, `http` and `command` are known",
                other.chars().take(40).collect::<String>()
            )
        }
    }
}

fn try_examples(tool: &ToolDefinition, examples: &[Placed<Example>], faults: &mut Faults<'_>) {
    if examples.is_empty() {
        return;
    }
    let definition = Definition::new(tool.clone());
    for example in examples {
        match (arguments::try_example(&definition, &example.value.args), example.value.fits) {
            (Ok(()), true) | (Err(_), false) => {}
            (Ok(()), false) => faults.at(example.at, "the example says `fits = false`, and it fits"),
            (Err(problems), true) => {
                let told: Vec<String> =
                    problems.iter().map(|problem| format!("{}: {}", problem.pointer, problem.message)).collect();
                faults.at(example.at, format!("the example says `fits = true`, and does not fit: {}", told.join("; ")));
            }
        }
    }
}
