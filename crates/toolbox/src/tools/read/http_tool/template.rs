//! The path and the query of an HTTP tool, with places for arguments.

use std::collections::BTreeMap;

use serde_json::Value;
use warrant_kernel::call::tool::{Arguments, Problem};
use warrant_kernel::domain::tool::{ArgSpec, ArgType};

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Arg(String),
}

/// A path and a query whose places are known to fit the tool's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tools) struct Template {
    path: Vec<Vec<Part>>,
    query: Vec<(String, Vec<Part>)>,
}

/// A path and a query ready for the encoder.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::tools) struct Filled {
    pub(in crate::tools) path: Vec<String>,
    pub(in crate::tools) query: Vec<(String, String)>,
}

impl Template {
    /// Reads the path and query of a definition.
    pub(in crate::tools) fn of(
        path_text: &str,
        query_texts: &BTreeMap<String, String>,
        args: &BTreeMap<String, ArgSpec>,
    ) -> Result<Self, Vec<String>> {
        let mut problems = Vec::new();
        let Some(below) = path_text.strip_prefix('/') else {
            return Err(vec![format!("`run.http.path`: `{path_text}` must begin with `/`")]);
        };
        let mut path = Vec::new();
        for segment in below.split('/') {
            let parts = parts(segment);
            problems.extend(path_problems(segment, &parts, args));
            path.push(parts);
        }
        let mut query = Vec::new();
        for (name, text) in query_texts {
            let parts = parts(text);
            problems.extend(query_problems(name, &parts, args));
            query.push((name.clone(), parts));
        }
        if problems.is_empty() { Ok(Self { path, query }) } else { Err(problems) }
    }

    /// Puts a call's arguments in.
    pub(in crate::tools) fn fill(&self, args: &Arguments) -> Result<Filled, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut path = Vec::new();
        for parts in &self.path {
            for part in parts {
                if let Part::Arg(name) = part {
                    problems.extend(value(args, name).and_then(|value| climbing(name, &value)));
                }
            }
            match joined(parts, args) {
                // `.` before an argument `.` would climb too.
                Some(segment) if !segment.is_empty() && segment.chars().all(|c| c == '.') => {
                    problems.push(Problem { pointer: String::new(), message: "the path would climb".to_owned() });
                }
                Some(segment) => path.push(segment),
                None => problems
                    .push(Problem { pointer: String::new(), message: "an argument of the path is missing".to_owned() }),
            }
        }
        let query = self.query.iter().filter_map(|(name, parts)| Some((name.clone(), joined(parts, args)?))).collect();
        if problems.is_empty() { Ok(Filled { path, query }) } else { Err(problems) }
    }
}

/// Finds `{arg}` in a text. Other braces are text: `PromQL` is full of them.
fn parts(text: &str) -> Vec<Part> {
    let mut found = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        plain.push_str(before);
        let place = after.split_once('}').filter(|(name, _)| is_arg_name(name));
        if let Some((name, behind)) = place {
            if !plain.is_empty() {
                found.push(Part::Text(std::mem::take(&mut plain)));
            }
            found.push(Part::Arg(name.to_owned()));
            rest = behind;
        } else {
            plain.push('{');
            rest = after;
        }
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        found.push(Part::Text(plain));
    }
    found
}

fn is_arg_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn path_problems(segment: &str, parts: &[Part], args: &BTreeMap<String, ArgSpec>) -> Vec<String> {
    let mut problems = Vec::new();
    let literal = segment.contains(['?', '#', '\\', '%']) || segment.chars().any(|c| c.is_control() || c == ' ');
    if segment == "." || segment == ".." || literal {
        problems
            .push(format!("`run.http.path`: the segment `{segment}` may not hold `.`, `..`, `?`, `#`, `%` or `\\`"));
    }
    for part in parts {
        let Part::Arg(name) = part else { continue };
        match args.get(name) {
            None => problems.push(format!("`run.http.path`: `{{{name}}}` names no argument of the tool")),
            Some(spec) if !spec.required && spec.default.is_none() => {
                problems.push(format!("`run.http.path`: the argument `{name}` must be required or have a default"));
            }
            Some(_) => {}
        }
    }
    problems
}

fn query_problems(parameter: &str, parts: &[Part], args: &BTreeMap<String, ArgSpec>) -> Vec<String> {
    let mut problems = Vec::new();
    for part in parts {
        let Part::Arg(name) = part else { continue };
        match args.get(name) {
            None => problems.push(format!("`run.http.query.{parameter}`: `{{{name}}}` names no argument of the tool")),
            Some(spec) if parts.len() > 1 && !closed(spec.kind) => problems.push(format!(
                "`run.http.query.{parameter}`: `{name}` is free text and could break out of the text around it; give it a \
                 parameter of its own, or a type such as `service`, `int` or `enum`"
            )),
            Some(_) => {}
        }
    }
    problems
}

/// Whether values of the type are made of letters, digits and a few marks that end no quotes in any query language.
fn closed(kind: ArgType) -> bool {
    match kind {
        ArgType::Service
        | ArgType::Time
        | ArgType::Duration
        | ArgType::Label
        | ArgType::Int
        | ArgType::Bool
        | ArgType::Enum
        | ArgType::Evidence => true,
        ArgType::Path | ArgType::Regex | ArgType::Text | ArgType::Query | ArgType::Words => false,
    }
}

fn value(args: &Arguments, name: &str) -> Option<String> {
    match args.as_map().get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A text with its arguments; none where one is absent.
fn joined(parts: &[Part], args: &Arguments) -> Option<String> {
    let texts = parts.iter().map(|part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::Arg(name) => value(args, name),
    });
    texts.collect()
}

/// What is wrong with a value that is to be one segment of a path. Encoded or not: servers differ in how often they decode.
fn climbing(name: &str, value: &str) -> Option<Problem> {
    let lower = value.to_ascii_lowercase();
    let plain = lower.replace("%2e", ".").replace("%2f", "/").replace("%5c", "\\");
    let climbs = plain.is_empty()
        || plain.chars().all(|c| c == '.')
        || plain.contains(['/', '\\'])
        || plain.contains("%25")
        || plain.chars().any(char::is_control);
    climbs.then(|| Problem::of(name, "must be one segment of a path: not empty, no `/`, no `\\`, not `.` or `..`"))
}
