//! The `[args.NAME]` tables: each type has its own bounds, and a bound that its type does not know is refused.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::call::arguments;
use crate::domain::tool::{ArgSpec, ArgType};

use super::document::{Document, Faults, Placed, Places};
use super::tool::check_description;

const MAX_ARGS: usize = 16;
const MAX_DESCRIPTION: usize = 300;
const MAX_VALUES: usize = 32;
const MAX_NAME: usize = 40;

/// Reads all arguments of a definition.
pub(super) fn read(document: &mut Document<'_>, faults: &mut Faults<'_>) -> BTreeMap<String, Placed<ArgSpec>> {
    let mut args = BTreeMap::new();
    let Some(mut tables) = document.table("args", faults) else { return args };
    let names = tables.value.names();
    if names.len() > MAX_ARGS {
        faults.at(tables.at, format!("{} arguments; at most {MAX_ARGS}", names.len()));
    }
    for name in names {
        let at = tables.value.place(&name);
        check_name(&name, at, faults);
        let places = tables.value.places_within(&name);
        if let Some(spec) = tables.value.take::<ArgSpec>(&name, faults) {
            check(&name, &spec.value, &places, faults);
            args.insert(name, spec);
        }
    }
    args
}

fn check_name(name: &str, at: usize, faults: &mut Faults<'_>) {
    let begins = name.bytes().next().is_some_and(|first| first.is_ascii_lowercase());
    let goes_on = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !begins || !goes_on || name.len() > MAX_NAME {
        let message = "is no name for an argument: small letters, digits and `_`, beginning with a letter, at most 40";
        faults.at(at, format!("`{}` {message}", name.escape_debug()));
    }
}

/// Checks the bounds and the default of one argument.
pub(super) fn check(name: &str, spec: &ArgSpec, places: &Places, faults: &mut Faults<'_>) {
    check_description(&spec.description, MAX_DESCRIPTION, places.at("description"), faults);
    let (min, max, values) = match spec.kind {
        ArgType::Int | ArgType::Duration => (true, true, false),
        ArgType::Text | ArgType::Regex | ArgType::Query | ArgType::Path | ArgType::Label => (false, true, false),
        ArgType::Enum => (false, false, true),
        ArgType::Service | ArgType::Time | ArgType::Bool | ArgType::Evidence | ArgType::Words => (false, false, false),
    };
    let given = [("min", spec.min.is_some(), min), ("max", spec.max.is_some(), max)];
    for (field, _, _) in given.iter().filter(|(_, is_given, may)| *is_given && !may) {
        faults.at(places.at(field), format!("argument `{name}`: its type knows no `{field}`"));
    }
    if !values && !spec.values.is_empty() {
        faults.at(places.at("values"), format!("argument `{name}`: only an `enum` has `values`"));
    }
    if values {
        check_values(name, &spec.values, places, faults);
    }
    if let (Some(min), Some(max)) = (spec.min, spec.max)
        && min > max
    {
        faults.at(places.at("min"), format!("argument `{name}`: `min` is {min}, above `max`, which is {max}"));
    }
    if spec.kind != ArgType::Int {
        let negative = [("min", spec.min, 0), ("max", spec.max, 1)];
        for (field, bound, least) in negative {
            if bound.is_some_and(|bound| bound < least) {
                faults.at(places.at(field), format!("argument `{name}`: `{field}` must be at least {least}"));
            }
        }
    }
    check_default(name, spec, places, faults);
}

fn check_values(name: &str, values: &[String], places: &Places, faults: &mut Faults<'_>) {
    let at = places.at("values");
    if values.is_empty() {
        faults.at(at, format!("argument `{name}`: an `enum` needs `values`"));
    }
    if values.len() > MAX_VALUES {
        faults.at(at, format!("argument `{name}`: {} values; at most {MAX_VALUES}", values.len()));
    }
    for (index, value) in values.iter().enumerate() {
        if value.is_empty() || value.chars().count() > 64 || value.chars().any(char::is_control) {
            faults.at(at, format!("argument `{name}`: `{}` is no good value", value.escape_debug()));
        }
        if values.iter().take(index).any(|earlier| earlier == value) {
            faults.at(at, format!("argument `{name}`: `{value}` stands twice in `values`"));
        }
    }
}

fn check_default(name: &str, spec: &ArgSpec, places: &Places, faults: &mut Faults<'_>) {
    let Some(default) = &spec.default else { return };
    let at = places.at("default");
    if spec.required {
        faults.at(at, format!("argument `{name}`: a required argument needs no `default`"));
    }
    if matches!(spec.kind, ArgType::Service | ArgType::Evidence) {
        faults.at(at, format!("argument `{name}`: a service or an evidence id can't have a `default`"));
        return;
    }
    if let Err(message) = arguments::try_value(spec, default) {
        let shown = match default {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        faults.at(
            at,
            format!("argument `{name}`: `default` is `{}`, which does not fit: {message}", shown.escape_debug()),
        );
    }
}
