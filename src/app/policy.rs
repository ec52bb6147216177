//! `warrant policy check|explain`.

use warrant_kernel::call::arguments;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger};
use warrant_kernel::domain::target::Target;
use warrant_kernel::policy::cases;
use warrant_kernel::policy::{Explanation, PolicyError, PolicyText, Question};

use super::fault::Fault;
use super::{App, SystemClock, builtin, named};

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

/// Runs the shipped policy tests and those of the configured directories.
///
/// # Errors
/// [`Fault::Config`] where a file of tests can't be read.
pub fn check(app: &App) -> Result<Checked, Fault> {
    let mut problems = Vec::new();
    let (name, text) = builtin::POLICY_CASES;
    let mut files = vec![(format!("policies/{name}"), text.to_owned())];
    for dir in &app.config.policy_dirs {
        let path = dir.join(name);
        if path.is_file() {
            let text = std::fs::read_to_string(&path);
            let text = text.map_err(|error| problems.push(format!("can't read `{}`: {error}", path.display())));
            files.extend(text.ok().map(|text| (path.display().to_string(), text)));
        }
    }
    let mut count = 0;
    for (name, text) in &files {
        match cases::load(&PolicyText { name, text }) {
            Ok(loaded) => {
                count += loaded.len();
                let tools = app.bench.registry.iter().map(|tool| tool.about());
                let missing = named::missing(app.bench.registry.iter().map(|tool| tool.about()));
                let failed = cases::run(&app.bench.policy, tools.chain(&missing), &loaded);
                problems.extend(failed.iter().map(ToString::to_string));
            }
            Err(error) => problems.push(PolicyError::to_string(&error)),
        }
    }
    Ok(Checked { policies: app.bench.policy.sources().count(), cases: count, problems })
}

/// Who asks, for `policy explain`.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The tool.
    pub tool: String,
    /// Its arguments as JSON.
    pub arguments: String,
    /// The role.
    pub role: String,
    /// The person; the one at this terminal where none is named.
    pub person: Option<String>,
    /// Their groups, where a person is named.
    pub groups: Vec<String>,
}

/// Explains what policy says of one call, without carrying it out.
///
/// # Errors
/// [`Fault::Usage`] where the call itself is not one: an unknown tool, arguments that do not fit.
pub fn explain(app: &App, asked: &Asked) -> Result<(Target, Explanation), Fault> {
    let now = SystemClock.now();
    let tool =
        app.bench.registry.get(&asked.tool).ok_or_else(|| {
            Fault::Usage(format!("there is no tool `{}`; `warrant tools list` names them", asked.tool))
        })?;
    let services = app.bench.catalog.as_ref();
    let lines = |problems: Vec<warrant_kernel::call::tool::Problem>| {
        let lines: Vec<String> = problems.iter().map(|it| format!("{}: {}", it.pointer, it.message)).collect();
        Fault::Usage(format!("the arguments do not fit:\n  {}", lines.join("\n  ")))
    };
    let checked = arguments::check(tool.definition, &asked.arguments, now, services).map_err(lines)?;
    let target = tool.resolve(&checked.arguments, now).map_err(lines)?;
    let requester = match &asked.person {
        Some(person) => Requester {
            person: person.parse().map_err(|error| Fault::Usage(format!("{error}")))?,
            groups: asked.groups.clone(),
        },
        None => app.requester()?,
    };
    let run = Run {
        investigation: "command-line".parse().map_err(|error| Fault::Failed(format!("{error}")))?,
        trigger: Trigger::Question { text: "warrant policy explain".to_owned() },
        requester,
        role: app.role(&asked.role)?,
        channel: Channel::Terminal,
        writes: app.config.writes,
        service: target.service.clone(),
        since: now,
        opened_at: now,
    };
    let args = checked.arguments.as_map();
    let explanation = app.bench.policy.explain(&Question { run: &run, tool: tool.about(), target: &target, args, now });
    Ok((target, explanation))
}
