//! Policy files become one checked set. Every fault is told with its file and line; with any fault nothing is loaded.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use cedar_policy::ffi::DetailedError;
use cedar_policy::{ActionConstraint, Authorizer, Effect, PolicyId, PolicySet, Schema, ValidationMode, Validator};
use serde_json::{Value, json};

use crate::domain::in_force::InForce;
use crate::domain::name::RoleName;
use crate::domain::tool::ToolDefinition;

use super::{DEFAULT_DENY, Policy, PolicyError, PolicySource, PolicyText, schema};

const MAX_FILE: usize = 256 * 1024;
const MAX_ID: usize = 80;

pub(super) fn load<'t>(
    texts: &[PolicyText<'_>],
    tools: impl IntoIterator<Item = &'t ToolDefinition>,
    roles: &BTreeSet<RoleName>,
) -> Result<Policy, Vec<PolicyError>> {
    let tools: Vec<&ToolDefinition> = tools.into_iter().collect();
    let schema = schema::make(&tools, roles)
        .map_err(|message| vec![PolicyError { file: "(schema of the tools)".to_owned(), line: 1, message }])?;
    let mut loading = Loading::default();
    for text in texts {
        loading.file(text);
    }
    loading.validate(&schema, texts);
    if !loading.errors.is_empty() {
        loading.errors.sort();
        loading.errors.dedup();
        return Err(loading.errors);
    }
    Ok(Policy {
        schema,
        roles: roles.clone(),
        set: loading.set,
        sources: loading.sources,
        authorizer: Authorizer::new(),
        in_force: in_force(texts),
    })
}

fn in_force(texts: &[PolicyText<'_>]) -> InForce {
    let mut files: Vec<(&str, &str)> = texts.iter().map(|file| (file.name, file.text)).collect();
    files.sort_unstable();
    let files: Vec<Value> = files.into_iter().map(|(file, text)| json!({ "file": file, "text": text })).collect();
    InForce::of(json!({ "policies": files }))
}

#[derive(Default)]
struct Loading {
    set: PolicySet,
    sources: BTreeMap<String, PolicySource>,
    errors: Vec<PolicyError>,
}

impl Loading {
    fn fault(&mut self, file: &str, line: usize, message: impl Into<String>) {
        self.errors.push(PolicyError { file: file.to_owned(), line, message: message.into() });
    }

    fn file(&mut self, file: &PolicyText<'_>) {
        if file.text.len() > MAX_FILE {
            self.fault(file.name, 1, format!("the file is larger than {} KiB", MAX_FILE / 1024));
            return;
        }
        let set: PolicySet = match file.text.parse() {
            Ok(set) => set,
            Err(errors) => {
                let errors: cedar_policy::ParseErrors = errors;
                for error in errors.iter() {
                    let told = DetailedError::from(error);
                    self.fault(file.name, place(file.text, &told), sentence(&told));
                }
                return;
            }
        };
        for template in set.templates() {
            let line = line_of(file.text, template.to_cedar().as_str(), 0).map_or(1, |found| found.start);
            self.fault(file.name, line, "has a slot (`?principal`, `?resource`): templates are not supported");
        }
        // Cedar names them `policy0`, `policy1`, ... in the order of the text.
        let mut policies: Vec<&cedar_policy::Policy> = set.policies().collect();
        policies.sort_by_key(|policy| {
            let id: &str = policy.id().as_ref();
            id.strip_prefix("policy").and_then(|number| number.parse::<usize>().ok())
        });
        let mut from = 0;
        for policy in policies {
            let text = policy.to_cedar().unwrap_or_default();
            let found = line_of(file.text, &text, from);
            let line = found.as_ref().map_or(1, |found| found.start);
            from = found.map_or(from, |found| found.end);
            self.policy(policy, &text, file.name, line);
        }
    }

    fn policy(&mut self, policy: &cedar_policy::Policy, text: &str, file: &str, line: usize) {
        let Some(id) = policy.annotation("id").filter(|id| !id.is_empty()) else {
            self.fault(file, line, "a policy needs an id: write `@id(\"...\")` before it; it is what is recorded");
            return;
        };
        let plain = id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        if id == DEFAULT_DENY || id.len() > MAX_ID || !plain {
            let rule = "letters, digits, `-`, `_` and `.`, at most 80, and not `default-deny`";
            self.fault(file, line, format!("`{}` is no id for a policy: {rule}", id.escape_debug()));
            return;
        }
        if let Some(first) = self.sources.get(id) {
            let message = format!("the id `{id}` is already taken in {}:{}", first.file, first.line);
            self.fault(file, line, message);
            return;
        }
        if policy.effect() == Effect::Permit && policy.action_constraint() == ActionConstraint::Any {
            // It would say that reads are permitted, that low suffices and that anybody may approve, all in one.
            let message = format!("policy `{id}` permits every action: say which, as in `action in Action::\"read\"`");
            self.fault(file, line, message);
            return;
        }
        if let Err(error) = self.set.add(policy.new_id(PolicyId::new(id))) {
            self.fault(file, line, error.to_string());
            return;
        }
        let source = PolicySource {
            id: id.to_owned(),
            file: file.to_owned(),
            line,
            text: text.to_owned(),
            reason: policy.annotation("reason").filter(|reason| !reason.is_empty()).map(str::to_owned),
        };
        self.sources.insert(id.to_owned(), source);
    }

    fn validate(&mut self, schema: &Schema, texts: &[PolicyText<'_>]) {
        let result = Validator::new(schema.clone()).validate(&self.set, ValidationMode::Strict);
        let mut found: Vec<(String, DetailedError)> =
            result.validation_errors().map(|error| (id_of(error.policy_id()), error.into())).collect();
        // A policy that can never apply, or that reads otherwise than it looks, is a mistake too. Where a policy has
        // errors, that it can never apply follows from them.
        let mistaken: BTreeSet<String> = found.iter().map(|(id, _)| id.clone()).collect();
        let warned = result.validation_warnings().map(|warning| (id_of(warning.policy_id()), warning.into()));
        found.extend(warned.filter(|(id, _)| !mistaken.contains(id)));
        for (id, told) in found {
            let Some(source) = self.sources.get(&id) else { continue };
            let (file, begins) = (source.file.clone(), source.line);
            let text = texts.iter().find(|text| text.name == file).map_or("", |text| text.text);
            let line = if told.source_locations.is_empty() { begins } else { place(text, &told) };
            self.fault(&file, line, sentence(&told));
        }
    }
}

fn id_of(id: &PolicyId) -> String {
    let id: &str = id.as_ref();
    id.to_owned()
}

fn place(text: &str, told: &DetailedError) -> usize {
    let at = told.source_locations.first().map_or(0, |label| label.loc.start);
    line(text, at)
}

fn line(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

fn sentence(told: &DetailedError) -> String {
    let message = visible(&told.message.split_whitespace().collect::<Vec<_>>().join(" "));
    match &told.help {
        Some(help) => format!("{message}; {help}"),
        None => message,
    }
}

/// Characters that turn the text around, or show as nothing, written out.
fn visible(text: &str) -> String {
    let hidden =
        |c: char| c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{206f}' | '\u{feff}');
    text.chars().map(|c| if hidden(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

/// The line on which `part` begins at or after byte `from`, and the byte where it ends.
fn line_of(text: &str, part: &str, from: usize) -> Option<Range<usize>> {
    let start = from + text.get(from..)?.find(part)?;
    Some(line(text, start)..start + part.len())
}
