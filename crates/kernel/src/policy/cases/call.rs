//! A case of a call: what policy must say when an investigation calls a tool.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::domain::decision::{Action, Tier};
use crate::domain::name::{PersonId, RoleName, ToolName};
use crate::domain::run::{Channel, Requester, Run, Trigger, Writes};
use crate::domain::time;
use crate::domain::tool::{ArgSpec, ArgType, ToolDefinition};
use crate::policy::{Policy, Question, Ruling};

use super::{Resource, judge, now};

/// `[[case]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) name: String,
    role: RoleName,
    #[serde(default)]
    requester: Option<PersonId>,
    #[serde(default)]
    groups: Vec<String>,
    #[serde(default)]
    trigger: Began,
    #[serde(default)]
    channel: Option<Channel>,
    #[serde(default)]
    allow_writes: bool,
    pub(super) tool: ToolName,
    target: Resource,
    #[serde(default)]
    args: Map<String, Value>,
    expect: Expect,
    #[serde(default)]
    quorum: Option<u32>,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Expect {
    Allow,
    Low,
    AskMedium,
    AskHigh,
    Deny,
}

impl Expect {
    fn of(action: Action) -> Self {
        match action {
            Action::Allow => Self::Allow,
            Action::Ask(Tier::Low) => Self::Low,
            Action::Ask(Tier::Medium) => Self::AskMedium,
            Action::Ask(Tier::High) => Self::AskHigh,
            Action::Deny => Self::Deny,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Low => "low",
            Self::AskMedium => "ask-medium",
            Self::AskHigh => "ask-high",
            Self::Deny => "deny",
        }
    }
}

impl Call {
    /// Asks, and tells what came out otherwise.
    pub(super) fn ask(&self, policy: &Policy, tool: &ToolDefinition) -> Result<(), String> {
        let run = self.run()?;
        let target = self.target.resolved()?;
        let args = self.arguments(tool)?;
        let question = Question { run: &run, tool, target: &target, args: &args, now: now() };
        let ruling = policy.decide(&question);
        let came = Expect::of(ruling.action).as_str();
        judge(self.expect.as_str(), came, self.by.as_deref(), &ruling)?;
        match self.quorum {
            Some(wanted) => persons(policy, &question, &ruling, wanted),
            None => Ok(()),
        }
    }

    fn run(&self) -> Result<Run, String> {
        let text = self.name.clone();
        let trigger = match self.trigger {
            Began::Question => Trigger::Question { text },
            Began::Alert => Trigger::Alert { name: "Case".to_owned(), text },
        };
        let someone = || "someone".parse().map_err(|error| format!("{error}"));
        Ok(Run {
            investigation: "case".parse().map_err(|error| format!("{error}"))?,
            trigger,
            requester: Requester {
                person: self.requester.clone().map_or_else(someone, Ok)?,
                groups: self.groups.clone(),
            },
            role: self.role.clone(),
            channel: self.channel.unwrap_or(Channel::Terminal),
            writes: if self.allow_writes { Writes::Allowed } else { Writes::Off },
            service: None,
            since: now(),
            opened_at: now(),
        })
    }

    fn arguments(&self, tool: &ToolDefinition) -> Result<Map<String, Value>, String> {
        if let Some(unknown) = self.args.keys().find(|name| !tool.args.contains_key(*name)) {
            return Err(format!("`{}` has no argument `{unknown}`", tool.name));
        }
        let mut args = Map::new();
        for (name, arg) in &tool.args {
            let given = self.args.get(name).or(arg.default.as_ref()).cloned();
            let Some(value) = given.or_else(|| arg.required.then(|| harmless(arg, &self.target.name))) else {
                continue;
            };
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
}

fn persons(policy: &Policy, question: &Question<'_>, ruling: &Ruling, wanted: u32) -> Result<(), String> {
    let Action::Ask(tier) = ruling.action else { return Err("nobody is asked, so there is no `quorum`".to_owned()) };
    let came = policy.quorum(question, tier).map_err(|failed| failed.reason)?;
    if came.persons == wanted {
        return Ok(());
    }
    let by = came.policy_ids.join("`, `");
    Err(format!("expected a quorum of {wanted}, and it is {} by `{by}`", came.persons))
}

fn harmless(arg: &ArgSpec, target: &str) -> Value {
    let text = match arg.kind {
        ArgType::Int => return arg.min.unwrap_or(0).into(),
        ArgType::Bool => return false.into(),
        ArgType::Time => "now",
        ArgType::Duration => return format!("{}s", arg.min.unwrap_or(60)).into(),
        ArgType::Evidence => "E1",
        ArgType::Enum => arg.values.first().map_or("", String::as_str),
        ArgType::Service | ArgType::Path => target,
        ArgType::Words => return vec!["x"].into(),
        ArgType::Label | ArgType::Regex | ArgType::Text | ArgType::Query => "x",
    };
    text.into()
}
