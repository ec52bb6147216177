//! `tighten = "NAME"`: an operator's file that narrows a built-in tool.
//!
//! Only fields that can narrow are known, and each must narrow: what loosens is refused with its line.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::domain::decision::Tier;
use crate::domain::name::{RoleName, ToolName};
use crate::domain::tool::{ArgSpec, ToolDefinition};

use super::document::{Document, Faults, Placed, Places};
use super::{Standing, args, did_you_mean, nearest, tool};

const FIELDS: [&str; 8] = ["tighten", "tier_floor", "roles", "parallel_safe", "timeout", "cache", "output", "args"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Output {
    max_chars: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bounds {
    min: Option<i64>,
    max: Option<i64>,
    values: Option<Vec<String>>,
    required: Option<bool>,
    default: Option<Value>,
}

/// The tool that the file means to narrow, and the line on which it says so.
pub(super) fn named(document: &Document<'_>, standing: Standing, faults: &mut Faults<'_>) -> Option<(ToolName, usize)> {
    let line = faults.line(document.place("tighten"));
    if standing == Standing::BuiltIn {
        faults.at_line(line, "a built-in definition can't tighten another; change it");
        return None;
    }
    match document.text("tighten").map(str::parse) {
        Some(Ok(name)) => Some((name, line)),
        Some(Err(error)) => {
            faults.at_line(line, format!("`tighten`: {error}"));
            None
        }
        None => {
            faults.at_line(line, "`tighten` must name a built-in tool, as in `tighten = \"some_tool\"`");
            None
        }
    }
}

/// Narrows `tool` as the file says. With any fault the start stops, so a tool narrowed in part is never used.
pub(super) fn apply(mut document: Document<'_>, tool: &mut ToolDefinition, faults: &mut Faults<'_>) {
    if document.has("name") {
        faults.at(document.place("name"), "a file that tightens names the tool in `tighten` alone");
    }
    raise_floor(&mut document, tool, faults);
    if let Some(roles) = document.take::<Vec<RoleName>>("roles", faults) {
        narrow_roles(&roles, tool, faults);
    }
    if let Some(parallel) = document.take::<bool>("parallel_safe", faults) {
        if parallel.value && !tool.parallel_safe {
            faults.at(parallel.at, "`parallel_safe` is false and can't become true");
        }
        tool.parallel_safe &= parallel.value;
    }
    if let Some(timeout) = shorter(&mut document, "timeout", tool.timeout, faults) {
        if timeout.value.is_zero() {
            faults.at(timeout.at, "`timeout` is zero: no call could ever end in time");
        }
        tool.timeout = timeout.value;
    }
    if let Some(cache) = shorter(&mut document, "cache", tool.cache, faults) {
        tool.cache = cache.value;
    }
    if let Some(output) = document.take::<Output>("output", faults) {
        let (now, wanted) = (tool.output.max_chars, output.value.max_chars);
        tool::check_max_chars(wanted, output.at, faults);
        if wanted > now {
            faults.at(output.at, format!("`max_chars` is {wanted}, above the {now} of the built-in tool"));
        }
        tool.output.max_chars = wanted.min(now);
    }
    narrow_args(&mut document, tool, faults);
    for name in document.names() {
        let at = document.place(&name);
        match name.as_str() {
            "tighten" | "name" | "tier_floor" => {}
            known
                if ["description", "risk", "target", "run", "examples", "version", "source", "side_effects"]
                    .contains(&known) =>
            {
                faults.at(at, format!("`{known}` of a built-in tool can't be changed"));
            }
            _ => {
                let near = nearest(&name, FIELDS);
                faults.at(at, format!("unknown field `{name}`{}", did_you_mean(&near)));
            }
        }
    }
}

/// The floor of a write may rise; a read has none.
fn raise_floor(document: &mut Document<'_>, tool: &mut ToolDefinition, faults: &mut Faults<'_>) {
    let Some(floor) = document.take::<Tier>("tier_floor", faults) else { return };
    if tool.risk.only_looks() {
        faults.at(floor.at, tool::NO_FLOOR);
        return;
    }
    if let Some(now) = tool.tier_floor.filter(|now| floor.value < *now) {
        faults.at(
            floor.at,
            format!("`tier_floor` is {}, below the {} of the built-in tool", floor.value.as_str(), now.as_str()),
        );
        return;
    }
    tool.tier_floor = Some(floor.value);
}

fn narrow_roles(roles: &Placed<Vec<RoleName>>, tool: &mut ToolDefinition, faults: &mut Faults<'_>) {
    tool::check_roles(roles, faults);
    for role in roles.value.iter().filter(|role| !tool.roles.contains(role)) {
        faults.at(roles.at, format!("role `{role}` does not see the built-in tool, and tightening can't show it"));
    }
    tool.roles.retain(|role| roles.value.contains(role));
}

fn shorter(
    document: &mut Document<'_>,
    name: &str,
    now: Duration,
    faults: &mut Faults<'_>,
) -> Option<Placed<Duration>> {
    let wanted = tool::duration(document, name, Duration::MAX, faults)?;
    if wanted.value > now {
        faults.at(wanted.at, format!("`{name}` is longer than the {}s of the built-in tool", now.as_secs_f64()));
        return None;
    }
    Some(wanted)
}

fn narrow_args(document: &mut Document<'_>, tool: &mut ToolDefinition, faults: &mut Faults<'_>) {
    let Some(mut tables) = document.table("args", faults) else { return };
    for name in tables.value.names() {
        let at = tables.value.place(&name);
        let places = tables.value.places_within(&name);
        let Some(bounds) = tables.value.take::<Bounds>(&name, faults) else { continue };
        let Some(spec) = tool.args.get_mut(&name) else {
            let near = nearest(&name, tool.args.keys().map(String::as_str));
            faults.at(at, format!("the tool has no argument `{name}`{}", did_you_mean(&near)));
            continue;
        };
        narrow(&name, bounds.value, spec, &places, faults);
        args::check(&name, spec, &places, faults);
    }
}

fn narrow(name: &str, bounds: Bounds, spec: &mut ArgSpec, places: &Places, faults: &mut Faults<'_>) {
    if let Some(min) = bounds.min {
        if let Some(now) = spec.min.filter(|now| min < *now) {
            faults.at(places.at("min"), format!("argument `{name}`: `min` is {min}, below {now}"));
        }
        spec.min = Some(min);
    }
    if let Some(max) = bounds.max {
        if let Some(now) = spec.max.filter(|now| max > *now) {
            faults.at(places.at("max"), format!("argument `{name}`: `max` is {max}, above {now}"));
        }
        spec.max = Some(max);
    }
    if let Some(values) = bounds.values {
        for value in values.iter().filter(|value| !spec.values.contains(value)) {
            faults.at(places.at("values"), format!("argument `{name}`: `{value}` is none of the built-in `values`"));
        }
        spec.values = values;
    }
    match bounds.required {
        Some(true) => {
            spec.required = true;
            spec.default = None;
        }
        Some(false) if spec.required => {
            faults.at(places.at("required"), format!("argument `{name}` is required and can't become optional"));
        }
        Some(false) | None => {}
    }
    if let Some(default) = bounds.default {
        spec.default = Some(default);
    }
}

/// What each tightened tool must be beside the built-in one. For tests of the law.
#[cfg(test)]
pub(super) fn is_narrower(narrow: &ToolDefinition, wide: &ToolDefinition) -> bool {
    let bounds = |specs: &std::collections::BTreeMap<String, ArgSpec>, name: &str| {
        specs
            .get(name)
            .map_or((i64::MIN, i64::MAX), |spec| (spec.min.unwrap_or(i64::MIN), spec.max.unwrap_or(i64::MAX)))
    };
    narrow.roles.iter().all(|role| wide.roles.contains(role))
        && narrow.timeout <= wide.timeout
        && narrow.cache <= wide.cache
        && narrow.output.max_chars <= wide.output.max_chars
        && narrow.tier_floor >= wide.tier_floor
        && (wide.parallel_safe || !narrow.parallel_safe)
        && wide.args.keys().all(|name| {
            let ((low, high), (least, most)) = (bounds(&narrow.args, name), bounds(&wide.args, name));
            low >= least && high <= most
        })
}
