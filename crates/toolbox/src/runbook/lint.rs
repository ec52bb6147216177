//! Whether the checks of all runbooks can be carried out and their remedies proposed: each names a tool there is, with
//! arguments that fit; checks only read, and remedies only write.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value};
use warrant_kernel::domain::decision::Risk;
use warrant_kernel::domain::name::ToolName;
use warrant_kernel::domain::time::{parse_duration, parse_time};
use warrant_kernel::domain::tool::{ArgSpec, ArgType};

use crate::runbook::document::{Problem, Remedy, Runbook};
use crate::runbook::fill;
use crate::runbook::library::Library;

/// The arguments of a tool by name.
pub type ToolArgs = BTreeMap<String, ArgSpec>;

/// What lint wants to know of a tool.
#[derive(Debug, Clone)]
pub struct ToolForm {
    /// Its arguments.
    pub args: ToolArgs,
    /// What it could do.
    pub risk: Risk,
}

/// Finds a tool that exists.
pub type Tools<'a> = &'a dyn Fn(&ToolName) -> Option<ToolForm>;

impl Library {
    /// Everything wrong with the runbooks, what did not load included.
    #[must_use]
    pub fn lint(&self, tools: Tools<'_>) -> Vec<Problem> {
        let mut problems = self.problems().to_vec();
        for runbook in self.runbooks() {
            lint_runbook(runbook, tools, &mut problems);
        }
        problems.sort();
        problems
    }
}

fn lint_runbook(runbook: &Runbook, tools: Tools<'_>, problems: &mut Vec<Problem>) {
    let mut complain =
        |line: usize, message: String| problems.push(Problem { file: runbook.file.clone(), line: Some(line), message });
    for remedy in &runbook.remedies {
        lint_remedy(remedy, tools, &mut |message| complain(remedy.line, message));
    }
    for check in &runbook.checks {
        let mut wrong = |message: String| complain(check.line, format!("check `{}`: {message}", check.id));
        if check.id.trim().is_empty() {
            wrong("`id` is empty; name it".to_owned());
        }
        if check.means.trim().is_empty() {
            wrong("`means` is empty; say what it means when the check holds".to_owned());
        }
        for told in [Some(&check.means), check.rules_out.as_ref()].into_iter().flatten() {
            if told.chars().any(|c| c.is_ascii_digit()) {
                wrong(format!(
                    "`{told}` holds a number; reports add what was measured, and a limit stands in no evidence"
                ));
            }
        }
        for name in fill::placeholders_of(&check.args) {
            if !fill::CHECK_PLACEHOLDERS.contains(&name) {
                wrong(fill::FillError::Unknown(name.to_owned()).to_string());
            }
        }
        if check.expect.needs_previous()
            && !check.args.values().flat_map(fill::texts).any(|text| text.contains("{since}"))
        {
            wrong("it compares with the window before, so an argument must hold `{since}`".to_owned());
        }
        match tools(&check.tool) {
            None => wrong(format!("there is no tool `{}`; `warrant tools list` names them", check.tool)),
            Some(tool) if tool.risk != Risk::Read => {
                wrong(format!("`{}` does not only read; a check must", check.tool));
            }
            Some(tool) => lint_args(&check.tool, &check.args, &tool.args, &mut wrong),
        }
    }
}

fn lint_remedy(remedy: &Remedy, tools: Tools<'_>, wrong: &mut dyn FnMut(String)) {
    let texts_of = [&remedy.text].into_iter().chain(remedy.deeds().map(|deed| &deed.text));
    if texts_of.into_iter().any(|text| text.trim().is_empty()) {
        wrong("a remedy's `do` is empty; say what to do".to_owned());
    }
    for deed in remedy.deeds() {
        let mut wrong = |message: String| wrong(format!("remedy `{}`: {message}", deed.text));
        for name in fill::placeholders_of(&deed.args) {
            if !fill::REMEDY_PLACEHOLDERS.contains(&name) {
                let known = fill::REMEDY_PLACEHOLDERS.map(|name| format!("`{{{name}}}`")).join(", ");
                wrong(format!("`{{{name}}}` is no placeholder of a remedy; there are {known}"));
            }
        }
        match tools(&deed.tool) {
            None => wrong(format!("there is no tool `{}`; `warrant tools list` names them", deed.tool)),
            Some(tool) if tool.risk != Risk::Write => wrong(format!("`{}` changes nothing; a remedy must", deed.tool)),
            Some(tool) => lint_args(&deed.tool, &deed.args, &tool.args, &mut wrong),
        }
    }
}

fn lint_args(tool: &ToolName, given: &Map<String, Value>, args: &ToolArgs, wrong: &mut dyn FnMut(String)) {
    for (name, spec) in args {
        if spec.required && spec.default.is_none() && !given.contains_key(name) {
            wrong(format!("`{tool}` needs the argument `{name}`"));
        }
    }
    for (name, value) in given {
        match args.get(name) {
            None => {
                let names: Vec<&str> = args.keys().map(String::as_str).collect();
                wrong(format!("`{tool}` takes no argument `{name}`; it takes {}", names.join(", ")));
            }
            Some(spec) => {
                if let Err(message) = fits(value, spec) {
                    wrong(format!("argument `{name}`: {message}"));
                }
            }
        }
    }
}

/// Whether a value, its placeholders aside, is of the argument's type.
fn fits(value: &Value, spec: &ArgSpec) -> Result<(), String> {
    let outside = |amount: i64| spec.min.is_some_and(|min| amount < min) || spec.max.is_some_and(|max| amount > max);
    let bounds = || match (spec.min, spec.max) {
        (Some(min), Some(max)) => format!("from {min} to {max}"),
        (Some(min), None) => format!("from {min} on"),
        (None, Some(max)) => format!("up to {max}"),
        (None, None) => "of any size".to_owned(),
    };
    let text = match (spec.kind, value) {
        (ArgType::Int, Value::Number(number)) => {
            return match number.as_i64() {
                Some(amount) if !outside(amount) => Ok(()),
                _ => Err(format!("`{number}` is no whole number {}", bounds())),
            };
        }
        (ArgType::Bool, Value::Bool(_)) => return Ok(()),
        (ArgType::Words, _) => return Err("a runbook can't give a list of words".to_owned()),
        (ArgType::Int, _) => return Err(format!("`{value}` is no whole number")),
        (ArgType::Bool, _) => return Err(format!("`{value}` is neither true nor false")),
        (_, Value::String(text)) => text.as_str(),
        (_, _) => return Err(format!("`{value}` is no text")),
    };
    let open = !fill::placeholders(text).is_empty();
    match spec.kind {
        ArgType::Time if !open => parse_time(text, Timestamp::UNIX_EPOCH).map(drop).map_err(|error| error.to_string()),
        ArgType::Duration => {
            let length = parse_duration(text).map_err(|error| error.to_string())?;
            if outside(length.as_secs()) { Err(format!("`{text}` is no length {} seconds", bounds())) } else { Ok(()) }
        }
        ArgType::Enum if !spec.values.iter().any(|choice| choice == text) => {
            Err(format!("`{text}` is none of {}", spec.values.join(", ")))
        }
        ArgType::Regex => {
            regex::Regex::new(&fill::with_names(text))
                .map(drop)
                .map_err(|_| format!("`{text}` is no regular expression"))?;
            within(text, spec)
        }
        ArgType::Path | ArgType::Label | ArgType::Text | ArgType::Query => within(text, spec),
        ArgType::Service if text != "{service}" => {
            Err(format!("`{text}`: write `{{service}}`; a runbook that names one service fits no other"))
        }
        ArgType::Evidence => Err("a check can't cite evidence; remove it".to_owned()),
        ArgType::Time | ArgType::Service | ArgType::Enum | ArgType::Int | ArgType::Bool | ArgType::Words => Ok(()),
    }
}

fn within(text: &str, spec: &ArgSpec) -> Result<(), String> {
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    match spec.max {
        Some(max) if length > max => Err(format!("longer than {max} characters")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
