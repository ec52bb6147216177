//! Policies as the program starts with them: those compiled in, that of the config's roles, and the operators' own.

use std::collections::BTreeSet;
use std::path::Path;

use warrant_kernel::call::definition::{Definition, Definitions};
use warrant_kernel::domain::name::RoleName;
use warrant_kernel::domain::tool::ToolDefinition;
use warrant_kernel::policy::cases::{self, Case};
use warrant_kernel::policy::{Policy, PolicyError, PolicyText};

use crate::app::files::{self, Found};
use crate::app::{builtin, roles};
use crate::config::Config;
use crate::config::commands::Shell;

/// The texts of all policies.
pub(in crate::app) fn texts(config: &Config, problems: &mut Vec<String>) -> Vec<Found> {
    let mut found = files::read(&config.policy_dirs, "cedar", builtin::POLICIES, problems);
    found.extend(of_roles(config));
    found.extend(of_shell(config));
    found
}

/// The policy under which roles of the config work: what they see is in the config, what they may not is policy's.
fn of_roles(config: &Config) -> Option<Found> {
    let names = config.roles.keys().map(|role| format!("principal in Role::\"{role}\""));
    let any = names.collect::<Vec<_>>().join(" || ");
    let text = format!(
        "@id(\"roles-of-the-config\")\n@reason(\"the config lets this role use its tools\")\n\
         permit (principal, action in [Action::\"read\", Action::\"write\"], resource)\nwhen {{ {any} }};\n"
    );
    let name = "[roles] of the config".to_owned();
    (!config.roles.is_empty()).then_some(Found { name, text, is_builtin: true })
}

/// What the policies about commands are called: there is no such file.
pub(super) const OF_SHELL: &str = "[commands] of the config";

/// The policies under which commands are run that only look, where the config lets them. Without it no policy permits them.
fn of_shell(config: &Config) -> Option<Found> {
    let own = config.roles.keys().map(|role| format!(" || principal in Role::\"{role}\""));
    let own = own.collect::<String>();
    let text = format!(
        "@id(\"readonly-shell\")\n@reason(\"the config lets this role run commands that only look\")\n\
         permit (principal, action in Action::\"shell\", resource)\n\
         when {{ principal in Role::\"general-purpose\"{own} }};\n\n\
         @id(\"explore-runs-nothing\")\n@reason(\"the role `explore` runs no commands\")\n\
         forbid (principal in Role::\"explore\", action in Action::\"shell\", resource);\n"
    );
    let name = OF_SHELL.to_owned();
    match config.shell {
        Shell::ReadOnly => Some(Found { name, text, is_builtin: true }),
        Shell::Off => None,
    }
}

/// Loads the policies and runs the tests of the configured directories. Those compiled in are held to the policies compiled
/// in when Warrant is built: an operator's policies may well decide otherwise.
pub(in crate::app) fn tested(
    config: &Config,
    found: &[Found],
    definitions: &Definitions,
    problems: &mut Vec<String>,
) -> Option<Policy> {
    let tools: Vec<&ToolDefinition> = definitions.iter().map(Definition::tool).collect();
    let policy = load(found.iter(), &tools, &roles(config));
    let policy = policy.map_err(|errors| problems.extend(errors.iter().map(ToString::to_string))).ok()?;
    let failed = run(&policy, &tools, &operators_cases(config, problems));
    problems.extend(failed.iter().map(ToString::to_string));
    Some(policy)
}

/// Loads these texts.
pub(super) fn load<'f>(
    found: impl Iterator<Item = &'f Found>,
    tools: &[&ToolDefinition],
    roles: &BTreeSet<RoleName>,
) -> Result<Policy, Vec<PolicyError>> {
    let texts: Vec<PolicyText<'_>> = found.map(|file| PolicyText { name: &file.name, text: &file.text }).collect();
    Policy::load(&texts, tools.iter().copied(), roles)
}

/// Runs cases against policies.
pub(super) fn run(policy: &Policy, tools: &[&ToolDefinition], cases: &[Case]) -> Vec<PolicyError> {
    cases::run(policy, tools.iter().copied(), cases)
}

/// The cases compiled in.
pub(super) fn shipped_cases(problems: &mut Vec<String>) -> Vec<Case> {
    let (name, text) = builtin::POLICY_CASES;
    read_cases(&format!("policies/{name}"), text, problems)
}

/// The cases of the configured directories.
pub(super) fn operators_cases(config: &Config, problems: &mut Vec<String>) -> Vec<Case> {
    let (name, _) = builtin::POLICY_CASES;
    let paths = config.policy_dirs.iter().map(|dir| dir.join(name));
    paths.filter(|path| path.is_file()).flat_map(|path| of_file(&path, problems)).collect()
}

fn of_file(path: &Path, problems: &mut Vec<String>) -> Vec<Case> {
    match files::text(path) {
        Ok(text) => read_cases(&path.display().to_string(), &text, problems),
        Err(error) => {
            problems.push(format!("can't read `{}`: {error}", path.display()));
            Vec::new()
        }
    }
}

fn read_cases(name: &str, text: &str, problems: &mut Vec<String>) -> Vec<Case> {
    cases::load(&PolicyText { name, text }).unwrap_or_else(|error| {
        problems.push(error.to_string());
        Vec::new()
    })
}
