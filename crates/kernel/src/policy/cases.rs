//! Policy tests as data: what the policies in force must allow, ask for and deny.
//!
//! [`load`] reads a `tests.toml`, [`run`] asks the policies. A case whose policies can't be evaluated fails whatever it
//! expects, so that a broken policy never passes for a denial.

mod call;

mod standing;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use toml::Spanned;

use crate::domain::name::{Environment, PersonId, ServiceName, SourceName, ToolName};
use crate::domain::target::{Target, TargetKind};
use crate::domain::tool::ToolDefinition;

use super::{Basis, Policy, PolicyError, PolicyText, Ruling};

/// One case, with the place it stands.
#[derive(Debug, Clone)]
pub struct Case {
    file: String,
    line: usize,
    spec: Spec,
}

#[derive(Debug, Clone)]
enum Spec {
    Call(Box<call::Call>),
    Standing(Box<standing::Standing>),
}

impl Case {
    /// What it shows.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.spec {
            Spec::Call(call) => &call.name,
            Spec::Standing(standing) => &standing.name,
        }
    }

    fn fault(&self, message: &str) -> PolicyError {
        PolicyError { file: self.file.clone(), line: self.line, message: format!("case `{}`: {message}", self.name()) }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    case: Vec<Spanned<call::Call>>,
    #[serde(default)]
    standing: Vec<Spanned<standing::Standing>>,
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

impl Resource {
    fn resolved(&self) -> Result<Target, String> {
        let service = match (self.kind, &self.service) {
            (TargetKind::Service, None) => Some(self.name.parse().map_err(|error| format!("{error}"))?),
            (_, service) => service.clone(),
        };
        let source = || "case".parse().map_err(|error| format!("{error}"));
        Ok(Target {
            kind: self.kind,
            name: self.name.clone(),
            service,
            environment: self.environment.clone(),
            owner: self.owner.clone(),
            source: self.source.clone().map_or_else(source, Ok)?,
        })
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
    let placed = |at: usize, spec: Spec| Case { file: file.name.to_owned(), line: line(at), spec };
    let calls = read.case.into_iter().map(|it| placed(it.span().start, Spec::Call(Box::new(it.into_inner()))));
    let standing =
        read.standing.into_iter().map(|it| placed(it.span().start, Spec::Standing(Box::new(it.into_inner()))));
    let mut cases: Vec<Case> = calls.chain(standing).collect();
    cases.sort_by_key(|case| case.line);
    Ok(cases)
}

/// Asks the policies, and tells each case that came out otherwise.
#[must_use]
pub fn run<'t>(
    policy: &Policy,
    tools: impl IntoIterator<Item = &'t ToolDefinition>,
    cases: &[Case],
) -> Vec<PolicyError> {
    let tools: BTreeMap<&ToolName, &ToolDefinition> = tools.into_iter().map(|tool| (&tool.name, tool)).collect();
    let ask = |case: &Case| match &case.spec {
        Spec::Call(call) => match tools.get(&call.tool) {
            Some(tool) => call.ask(policy, tool),
            None => Err(format!("there is no tool `{}`", call.tool)),
        },
        Spec::Standing(standing) => standing.ask(policy),
    };
    cases.iter().filter_map(|case| ask(case).err().map(|message| case.fault(&message))).collect()
}

/// A fixed time stands for now, so that a case always has the same answer.
fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_hours(500_000)
}

fn judge(expected: &str, came: &str, by: Option<&[String]>, ruling: &Ruling) -> Result<(), String> {
    match ruling.basis {
        Basis::Failed => return Err(ruling.reason.clone()),
        Basis::Policies | Basis::NoPolicy => {}
    }
    let deciding = ruling.policy_ids.join("`, `");
    if came != expected {
        return Err(format!("expected {expected}, and it is {came} by `{deciding}`: {}", ruling.reason));
    }
    let mut wanted = by.map_or_else(|| ruling.policy_ids.clone(), <[String]>::to_vec);
    wanted.sort();
    if wanted != ruling.policy_ids {
        return Err(format!("expected `{}` to decide, and it was `{deciding}`", wanted.join("`, `")));
    }
    Ok(())
}
