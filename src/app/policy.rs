//! `warrant policy check|explain`.

pub(super) mod load;

use jiff::Timestamp;
use warrant_kernel::call::arguments;
use warrant_kernel::call::tool::{Arguments, Clock, Problem};
use warrant_kernel::domain::decision::{Action, Risk, Tier};
use warrant_kernel::domain::name::PersonId;
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger, Writes};
use warrant_kernel::domain::target::Target;
use warrant_kernel::domain::tool::ToolDefinition;
pub use warrant_kernel::policy::standing::Contributor;
use warrant_kernel::policy::standing::{About, Quorum, StandingQuestion, Verb};
use warrant_kernel::policy::{Explanation, Question};

use super::fault::Fault;
use super::{App, SystemClock, roles};

/// What `policy check` found: how many policies and cases there are, and the cases that came out otherwise.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Checked {
    /// Policies in force.
    pub policies: usize,
    /// Cases run.
    pub cases: usize,
    /// What is wrong, a line each.
    pub problems: Vec<String>,
}

/// Runs the shipped policy tests against the shipped policies, and those of the configured directories against all.
#[must_use]
pub fn check(app: &App) -> Checked {
    let mut problems = Vec::new();
    let tools: Vec<&ToolDefinition> = app.bench.registry.iter().map(|tool| tool.about()).collect();
    let (shipped, own) = (load::shipped_cases(&mut problems), load::operators_cases(&app.config, &mut problems));
    // Where no command can be run there is no tool that the policies about commands could speak of.
    let has_shell = app.bench.registry.iter().any(|tool| tool.about().risk == Risk::Shell);
    let builtin = app.policies.iter().filter(|file| file.is_builtin && (has_shell || file.name != load::OF_SHELL));
    let builtin = load::load(builtin, &tools, &roles(&app.config));
    match builtin {
        Ok(builtin) => problems.extend(load::run(&builtin, &tools, &shipped).iter().map(ToString::to_string)),
        Err(errors) => problems.extend(errors.iter().map(ToString::to_string)),
    }
    problems.extend(load::run(&app.bench.policy, &tools, &own).iter().map(ToString::to_string));
    let policies = app.bench.policy.sources().count();
    Checked { policies, cases: shipped.len() + own.len(), problems }
}

/// What is asked, for `policy explain`.
#[derive(Debug, Clone)]
pub struct Asked {
    /// A tool, or what a person wants to do: one of the words of [`Verb`].
    pub what: String,
    /// For what a person wants to do: the tool of the write that it is about.
    pub tool: Option<String>,
    /// The tool's arguments as JSON.
    pub arguments: String,
    /// The role that calls the tool.
    pub role: String,
    /// The person who wants to do something, or on whose behalf the tool is called; the one at this terminal where none is
    /// named.
    pub person: Option<String>,
    /// Their groups, where a person is named.
    pub groups: Vec<String>,
    /// Whether writes are allowed; where the config allows them, they are anyway.
    pub writes: Writes,
    /// The tier that is asked for; high where none is named.
    pub tier: Option<String>,
    /// On whose behalf the write is asked for, where a person wants to do something about it.
    pub requester: Option<String>,
    /// Whether the person had a part in it.
    pub contributor: Contributor,
}

/// What policy says, and of what.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// The target; none for what is about Warrant as a whole.
    pub target: Option<Target>,
    /// How many persons must approve, where people are asked; or why that can't be said.
    pub quorum: Option<Result<Quorum, String>>,
    /// The ruling, and what it was made from.
    pub explanation: Explanation,
}

/// Explains what policy says of one call, without carrying it out, or of what a person wants to do.
///
/// # Errors
/// [`Fault::Usage`] where it is no call: an unknown tool, arguments that do not fit.
pub async fn explain(app: &App, asked: &Asked) -> Result<Explained, Fault> {
    match Verb::ALL.into_iter().find(|verb| verb.as_str() == asked.what) {
        Some(verb) => explain_standing(app, asked, verb).await,
        None => explain_call(app, asked).await,
    }
}

async fn explain_call(app: &App, asked: &Asked) -> Result<Explained, Fault> {
    let now = SystemClock.now();
    let (tool, arguments, target) = resolved(app, &asked.what, &asked.arguments, now)?;
    let run = Run {
        investigation: "command-line".parse().map_err(|error| Fault::Failed(format!("{error}")))?,
        trigger: Trigger::Question { text: "warrant policy explain".to_owned() },
        requester: person(app, asked).await?,
        role: app.role(&asked.role)?,
        channel: Channel::Terminal,
        writes: app.config.writes.or(asked.writes),
        service: target.service.clone(),
        since: now,
        opened_at: now,
    };
    let question = Question { run: &run, tool, target: &target, args: arguments.as_map(), now };
    let explanation = app.bench.policy.explain(&question);
    let quorum = match explanation.ruling.action {
        Action::Ask(tier) if tier > Tier::Low => {
            Some(app.bench.policy.quorum(&question, tier).map_err(|ruling| ruling.reason))
        }
        Action::Ask(_) | Action::Allow | Action::Deny => None,
    };
    Ok(Explained { target: Some(target), quorum, explanation })
}

async fn explain_standing(app: &App, asked: &Asked, verb: Verb) -> Result<Explained, Fault> {
    let now = SystemClock.now();
    let by = person(app, asked).await?;
    let write = asked.tool.as_deref().map(|tool| resolved(app, tool, &asked.arguments, now)).transpose()?;
    let requester = match &asked.requester {
        Some(requester) => parsed(requester)?,
        None => app.requester().await?.person,
    };
    let tier = match asked.tier.as_deref() {
        Some("low") => Tier::Low,
        Some("medium") => Tier::Medium,
        Some("high") | None => Tier::High,
        Some(other) => return Err(Fault::Usage(format!("there is no tier `{other}`; there are: low, medium, high"))),
    };
    let about = write.as_ref().map(|(tool, _, target)| About {
        tool: &tool.name,
        target,
        tier,
        requester: &requester,
        contributor: asked.contributor,
    });
    if about.is_none() && verb.is_about_a_write() {
        return Err(Fault::Usage(format!("`{}` is about a write; name it with --tool and --args", verb.as_str())));
    }
    let channel = Channel::Terminal;
    let (person, groups) = (&by.person, by.groups.as_slice());
    let question = StandingQuestion { verb, person, groups, about, channel, now };
    let explanation = app.bench.policy.explain_standing(&question);
    Ok(Explained { target: write.map(|(_, _, target)| target), quorum: None, explanation })
}

/// A call's tool, its checked arguments and its target.
fn resolved<'a>(
    app: &'a App,
    name: &str,
    given: &str,
    now: Timestamp,
) -> Result<(&'a ToolDefinition, Arguments, Target), Fault> {
    let tool = app
        .bench
        .registry
        .get(name)
        .ok_or_else(|| Fault::Usage(format!("there is no tool `{name}`; `warrant tools list` names them")))?;
    let lines = |problems: Vec<Problem>| {
        let lines: Vec<String> = problems.iter().map(|it| format!("{}: {}", it.pointer, it.message)).collect();
        Fault::Usage(format!("the arguments do not fit:\n  {}", lines.join("\n  ")))
    };
    let checked = arguments::check(tool.definition, given, now, app.bench.catalog.as_ref()).map_err(lines)?;
    let target = tool.resolve(&checked.arguments, now).map_err(lines)?;
    Ok((tool.about(), checked.arguments, target))
}

async fn person(app: &App, asked: &Asked) -> Result<Requester, Fault> {
    match &asked.person {
        Some(person) => Ok(Requester { person: parsed(person)?, groups: asked.groups.clone() }),
        None => app.requester().await,
    }
}

fn parsed(person: &str) -> Result<PersonId, Fault> {
    person.parse().map_err(|error| Fault::Usage(format!("{error}")))
}
