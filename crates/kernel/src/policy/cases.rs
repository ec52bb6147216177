//! Policy tests as data: what the policies in force must allow and must deny.
//!
//! [`load`] reads a `tests.toml`, [`run`] asks the policies. A case whose policies can't be evaluated fails whatever it
//! expects, so that a broken policy never passes for a denial.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value};
use toml::Spanned;

use crate::domain::decision::Action;
use crate::domain::name::{Environment, PersonId, RoleName, ServiceName, SourceName, ToolName};
use crate::domain::run::{Channel, Requester, Run, Trigger};
use crate::domain::target::{Target, TargetKind};
use crate::domain::time;
use crate::domain::tool::{ArgSpec, ArgType, ToolDefinition};

use super::{Basis, Policy, PolicyError, PolicyText, Question, Ruling};

/// One case, with the place it stands.
#[derive(Debug, Clone)]
pub struct Case {
    file: String,
    line: usize,
    spec: Spec,
}

impl Case {
    /// What it shows.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    fn fault(&self, message: &str) -> PolicyError {
        PolicyError {
            file: self.file.clone(),
            line: self.line,
            message: format!("case `{}`: {message}", self.spec.name),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    case: Vec<Spanned<Spec>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spec {
    name: String,
    role: RoleName,
    #[serde(default)]
    requester: Option<PersonId>,
    #[serde(default)]
    groups: Vec<String>,
    #[serde(default)]
    trigger: Began,
    #[serde(default)]
    channel: Option<Channel>,
    tool: ToolName,
    target: Resource,
    #[serde(default)]
    args: Map<String, Value>,
    expect: Expect,
    #[serde(default)]
    by: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Began {
    #[default]
    Question,
    Alert,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Resource {
    kind: TargetKind,
    name: String,
    #[serde(default)]
    service: Option<ServiceName>,
    #[serde(default)]
    environment: Option<Environment>,
    #[serde(default)]
    owner: Option<PersonId>,
    #[serde(default)]
    source: Option<SourceName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Expect {
    Allow,
    Deny,
    Ask,
}

impl Expect {
    fn of(action: Action) -> Self {
        match action {
            Action::Allow => Self::Allow,
            Action::Deny => Self::Deny,
            Action::Ask(_) => Self::Ask,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Ask => "ask",
        }
    }
}

/// Reads the cases of one file.
///
/// # Errors
/// What the TOML reader stumbled over, with its line.
pub fn load(file: &PolicyText<'_>) -> Result<Vec<Case>, PolicyError> {
    let line = |at: usize| 1 + file.text.bytes().take(at).filter(|byte| *byte == b'\n').count();
    let read: File = toml::from_str(file.text).map_err(|error| PolicyError {
        file: file.name.to_owned(),
        line: line(error.span().map_or(0, |span| span.start)),
        message: error.message().split_whitespace().collect::<Vec<_>>().join(" "),
    })?;
    let cases = read.case.into_iter().map(|spec| Case {
        file: file.name.to_owned(),
        line: line(spec.span().start),
        spec: spec.into_inner(),
    });
    Ok(cases.collect())
}

/// Asks the policies, and tells each case that came out otherwise.
#[must_use]
pub fn run<'t>(
    policy: &Policy,
    tools: impl IntoIterator<Item = &'t ToolDefinition>,
    cases: &[Case],
) -> Vec<PolicyError> {
    let tools: BTreeMap<&ToolName, &ToolDefinition> = tools.into_iter().map(|tool| (&tool.name, tool)).collect();
    let told = cases.iter().filter_map(|case| {
        let Some(tool) = tools.get(&case.spec.tool) else {
            return Some(case.fault(&format!("there is no tool `{}`", case.spec.tool)));
        };
        ask(policy, tool, case).err().map(|message| case.fault(&message))
    });
    told.collect()
}

/// A fixed time stands for now, so that a case always has the same answer.
fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_hours(500_000)
}

fn ask(policy: &Policy, tool: &ToolDefinition, case: &Case) -> Result<(), String> {
    let spec = &case.spec;
    let run = run_of(spec)?;
    let target = target_of(spec)?;
    let args = arguments(tool, spec)?;
    let ruling = policy.decide(&Question { run: &run, tool, target: &target, args: &args, now: now() });
    judge(spec, &ruling)
}

fn judge(spec: &Spec, ruling: &Ruling) -> Result<(), String> {
    match ruling.basis {
        Basis::Failed => return Err(ruling.reason.clone()),
        Basis::Policies | Basis::NoPolicy => {}
    }
    let came = Expect::of(ruling.action);
    let by = ruling.policy_ids.join("`, `");
    if came != spec.expect {
        let (wanted, came) = (spec.expect.as_str(), came.as_str());
        return Err(format!("expected {wanted}, and it is {came} by `{by}`: {}", ruling.reason));
    }
    let mut wanted = spec.by.clone().unwrap_or_else(|| ruling.policy_ids.clone());
    wanted.sort();
    if wanted != ruling.policy_ids {
        return Err(format!("expected `{}` to decide, and it was `{by}`", wanted.join("`, `")));
    }
    Ok(())
}

fn run_of(spec: &Spec) -> Result<Run, String> {
    let text = spec.name.clone();
    let trigger = match spec.trigger {
        Began::Question => Trigger::Question { text },
        Began::Alert => Trigger::Alert { name: "Case".to_owned(), text },
    };
    let someone = || "someone".parse().map_err(|error| format!("{error}"));
    Ok(Run {
        investigation: "case".parse().map_err(|error| format!("{error}"))?,
        trigger,
        requester: Requester { person: spec.requester.clone().map_or_else(someone, Ok)?, groups: spec.groups.clone() },
        role: spec.role.clone(),
        channel: spec.channel.unwrap_or(Channel::Terminal),
        service: None,
        since: now(),
        opened_at: now(),
    })
}

fn target_of(spec: &Spec) -> Result<Target, String> {
    let target = &spec.target;
    let service = match (target.kind, &target.service) {
        (TargetKind::Service, None) => Some(target.name.parse().map_err(|error| format!("{error}"))?),
        (_, service) => service.clone(),
    };
    let source = || "case".parse().map_err(|error| format!("{error}"));
    Ok(Target {
        kind: target.kind,
        name: target.name.clone(),
        service,
        environment: target.environment.clone(),
        owner: target.owner.clone(),
        source: target.source.clone().map_or_else(source, Ok)?,
    })
}

fn arguments(tool: &ToolDefinition, spec: &Spec) -> Result<Map<String, Value>, String> {
    if let Some(unknown) = spec.args.keys().find(|name| !tool.args.contains_key(*name)) {
        return Err(format!("`{}` has no argument `{unknown}`", tool.name));
    }
    let mut args = Map::new();
    for (name, arg) in &tool.args {
        let given = spec.args.get(name).or(arg.default.as_ref()).cloned();
        let Some(value) = given.or_else(|| arg.required.then(|| harmless(arg, spec))) else { continue };
        let value = match (arg.kind, value.as_str()) {
            (ArgType::Time, Some(text)) => {
                let time = time::parse_time(text, now()).map_err(|error| format!("argument `{name}`: {error}"))?;
                Value::String(time::rfc3339(time))
            }
            _ => value,
        };
        args.insert(name.clone(), value);
    }
    Ok(args)
}

fn harmless(arg: &ArgSpec, spec: &Spec) -> Value {
    let text = match arg.kind {
        ArgType::Int => return arg.min.unwrap_or(0).into(),
        ArgType::Bool => return false.into(),
        ArgType::Time => "now",
        ArgType::Duration => return format!("{}s", arg.min.unwrap_or(60)).into(),
        ArgType::Evidence => "E1",
        ArgType::Enum => arg.values.first().map_or("", String::as_str),
        ArgType::Service | ArgType::Path => &spec.target.name,
        ArgType::Label | ArgType::Regex | ArgType::Text | ArgType::Query => "x",
    };
    text.into()
}
