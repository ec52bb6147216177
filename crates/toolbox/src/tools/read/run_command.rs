//! `run_command`: runs a program that only looks, in the sandbox, and shows what it wrote.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::Deserialize;
use warrant_kernel::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::target::{Target, TargetKind};

use super::list_files::invalid;
use crate::tools::command::accepted::Accepted;
use crate::tools::command::run::{above, installed, prepare, run};
use crate::tools::command::{Commands, told};
use crate::tools::process::sandbox::Sandbox;
use crate::tools::workspace::{Place, Workspaces, blocking};

/// The source that commands about this machine count against.
const HOST: &str = "host";

struct RunCommand {
    commands: Arc<Commands>,
    workspaces: Arc<Workspaces>,
    sandbox: Sandbox,
}

/// The tool.
#[must_use]
pub fn run_command(commands: Arc<Commands>, workspaces: Arc<Workspaces>, sandbox: Sandbox) -> Arc<dyn ReadTool> {
    Arc::new(RunCommand { commands, workspaces, sandbox })
}

#[derive(Deserialize)]
struct Args {
    argv: Vec<String>,
    path: Option<String>,
}

impl RunCommand {
    /// Where it runs: the directory that is named, or the only root.
    fn place(&self, path: Option<&str>, accepted: &Accepted<'_>) -> Result<Option<Place>, Problem> {
        let roots = self.workspaces.roots();
        match path.filter(|path| !path.is_empty()) {
            Some(path) => self.workspaces.place("path", path).map(Some),
            None if roots.len() == 1 => self.workspaces.place("path", "").map(Some),
            None if roots.len() > 1 && accepted.paths().next().is_some() => self.workspaces.place("path", "").map(Some),
            None => Ok(None),
        }
    }

    /// What policy decides on: the place above all paths that are named, or this machine.
    fn target(&self, args: &Args) -> Result<Target, Problem> {
        // What is refused looks at nothing; the refusal has a reason of its own and is told when it would run.
        let Ok(accepted) = self.commands.classify(&args.argv) else { return host() };
        match self.place(args.path.as_deref(), &accepted)? {
            Some(place) if accepted.paths().next().is_some() => self.workspaces.target(Some(&above(&accepted, &place))),
            Some(_) | None => host(),
        }
    }
}

fn host() -> Result<Target, Problem> {
    let source = HOST.parse().map_err(|error| Problem::of("argv", format!("{error}")))?;
    let name = HOST.to_owned();
    Ok(Target { kind: TargetKind::Source, name, service: None, environment: None, owner: None, source })
}

#[async_trait]
impl ReadTool for RunCommand {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        let args: Args = args.parse().map_err(|problem| vec![problem])?;
        self.target(&args).map_err(|problem| vec![problem])
    }

    async fn read(&self, arguments: &Arguments, _reading: Reading<'_>) -> Result<Output, ReadError> {
        let asked: Args = arguments.parse().map_err(invalid)?;
        let accepted = self.commands.classify(&asked.argv)?;
        let place = self.place(asked.path.as_deref(), &accepted).map_err(invalid)?;
        let name = accepted.grammar().program.clone();
        let shown: Vec<String> = std::iter::once(name.clone()).chain(accepted.argv()).collect();
        // Going through directories takes its time.
        let commands = Arc::clone(&self.commands);
        let prepared = blocking(move || {
            let accepted = commands.classify(&asked.argv)?;
            let program = commands.get(&name).and_then(|known| known.program.as_ref());
            prepare(installed(accepted.grammar(), program)?, &accepted, place.as_ref())
        })
        .await?;
        Ok(told::output(&shown, run(&self.sandbox, prepared).await?))
    }
}
