//! Commands: whether they may be run, whether this machine can confine them, and what each program may be told.
//!
//! The sandbox is tried before any tool is offered. Where it does not hold there are no such tools, whatever the config says.

use std::sync::Arc;

use warrant_kernel::call::definition::Definitions;
use warrant_kernel::domain::decision::Risk;
use warrant_toolbox::tools::command::Commands;
use warrant_toolbox::tools::command::load::{GrammarFile, Standing};
use warrant_toolbox::tools::process::sandbox::Sandbox;

use super::{builtin, files};
use crate::config::{self, Config};

/// What runs commands.
#[derive(Debug, Clone)]
pub(super) struct Shell {
    /// The programs and what each may be told; none where no command is run.
    pub(super) ready: Option<(Sandbox, Arc<Commands>)>,
    /// Why none is, although the config lets them.
    pub(super) why_not: Option<String>,
}

impl Shell {
    /// Tries the sandbox and reads the grammars, where the config lets commands be run.
    pub(super) fn open(config: &Config, problems: &mut Vec<String>) -> Self {
        match config.shell {
            config::commands::Shell::Off => Self { ready: None, why_not: None },
            config::commands::Shell::ReadOnly => Self::with(Sandbox::tried(), config, problems),
        }
    }

    fn with(sandbox: Result<Sandbox, String>, config: &Config, problems: &mut Vec<String>) -> Self {
        // Read whether or not they can be run: what is wrong with a file is told on every machine.
        let commands = commands(config, problems);
        match (sandbox, commands) {
            (Ok(sandbox), Some(commands)) => Self { ready: Some((sandbox, commands)), why_not: None },
            (Ok(_), None) => Self { ready: None, why_not: None },
            (Err(why), _) => Self {
                ready: None,
                why_not: Some(format!("`[commands]`: no command is run, since the sandbox does not hold here: {why}")),
            },
        }
    }

    /// Takes out the tools that can't be carried out here. Policies may name them all the same.
    pub(super) fn leave_out(&self, definitions: &mut Definitions) {
        if self.ready.is_none() {
            definitions.without(|tool| tool.risk == Risk::Shell);
        }
    }

    /// What `check` says of the sandbox; nothing where the config runs no commands.
    pub(super) fn says(&self) -> Option<Result<String, String>> {
        match (&self.ready, &self.why_not) {
            (Some((_, commands)), _) => {
                let missing: Vec<&str> = commands
                    .known()
                    .filter(|known| known.program.is_none())
                    .map(|known| known.grammar.program.as_str())
                    .collect();
                let there = commands.known().count() - missing.len();
                let without =
                    if missing.is_empty() { String::new() } else { format!("; not installed: {}", missing.join(", ")) };
                Some(Ok(format!("the sandbox holds (Landlock, seccomp, limits); {there} programs{without}")))
            }
            (None, Some(why)) => Some(Err(why.clone())),
            (None, None) => None,
        }
    }
}

fn commands(config: &Config, problems: &mut Vec<String>) -> Option<Arc<Commands>> {
    let found = files::read(&config.command_dirs, "toml", builtin::GRAMMARS, problems);
    let files = found.iter().map(|file| GrammarFile {
        name: &file.name,
        text: &file.text,
        standing: if file.is_builtin { Standing::BuiltIn } else { Standing::Operator },
    });
    Commands::load(files).map_err(|errors| problems.extend(errors.iter().map(ToString::to_string))).ok()
}

#[cfg(test)]
mod tests;
