//! The managers that restart services, each asked through its own program.
//!
//! What is asked is the same of all: what a plan is bound to ([`Manager::unit`]), how the service is ([`Manager::look`]), and
//! the restart itself. A process is known by its id and the moment it was started, so a number that is used again is not
//! taken for the same process.

pub mod procfs;

mod systemd;

mod runit;

mod supervisor;

mod command;

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use tokio::time::timeout;
use warrant_kernel::call::write::WriteError;
use warrant_kernel::redact::guard::first_chars;

use crate::catalog::restart::Restart;
use crate::tools::process::{End, Invocation, Program, run};
use crate::tools::workspace::held::sha256;
use procfs::Process;

/// A question is answered within this time, or not at all.
const ASK: Duration = Duration::from_secs(10);
/// A restart that takes longer is not waited for.
const RESTART: Duration = Duration::from_mins(1);
const MAX_OUTPUT: usize = 64 * 1024;
/// Characters of a program's complaint that are told.
const TOLD: usize = 300;

/// What a plan is bound to, beside the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// The manager's name.
    pub manager: &'static str,
    /// The unit, directory, program or command.
    pub name: String,
    /// SHA-256 over the files that define it.
    pub definition: String,
}

/// How a service stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It runs.
    Running,
    /// It does not run.
    Down,
    /// It is being started or stopped.
    Moving,
    /// It fails, and its manager starts it again and again.
    Failing,
}

/// How a service is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// How it stands.
    pub standing: Standing,
    /// In the manager's own words.
    pub state: String,
    /// Its main process.
    pub process: Option<Process>,
    /// How often the manager has started it again by itself, where it counts that.
    pub restarts: Option<u64>,
}

/// How a restart that was asked for ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// The manager says that it is done.
    Done,
    /// The manager refused, before it did anything.
    Refused(String),
    /// The manager says that it failed; something may have happened.
    Failed(String),
    /// No answer in time.
    Late,
}

/// A manager that can be asked.
#[derive(Debug, Clone, Copy)]
pub struct Manager<'c>(pub &'c Restart);

/// A failure to ask.
fn unreachable(message: impl Into<String>) -> WriteError {
    WriteError::Backend { reason: "MANAGER", message: message.into() }
}

impl Manager<'_> {
    /// What a plan is bound to.
    ///
    /// # Errors
    /// Where there is no such unit, or its definition can't be read.
    pub async fn unit(self) -> Result<Unit, WriteError> {
        match self.0 {
            Restart::Systemd { unit, scope, runtime_dir } => {
                systemd::Systemctl { unit, scope: *scope, runtime_dir: runtime_dir.as_deref() }.unit().await
            }
            Restart::Runit { dir } => runit::unit(dir),
            Restart::Supervisor { program, config } => supervisor::unit(program, config).await,
            Restart::Command { argv, .. } => command::unit(argv),
        }
    }

    /// How the service is.
    ///
    /// # Errors
    /// Where the manager can't be asked.
    pub async fn look(self) -> Result<Seen, WriteError> {
        match self.0 {
            Restart::Systemd { unit, scope, runtime_dir } => {
                systemd::Systemctl { unit, scope: *scope, runtime_dir: runtime_dir.as_deref() }.look().await
            }
            Restart::Runit { dir } => runit::look(dir).await,
            Restart::Supervisor { program, config } => supervisor::look(program, config).await,
            Restart::Command { pid_file, .. } => command::look(pid_file),
        }
    }

    /// Restarts it.
    pub async fn restart(self) -> Asked {
        match self.0 {
            Restart::Systemd { unit, scope, runtime_dir } => {
                systemd::Systemctl { unit, scope: *scope, runtime_dir: runtime_dir.as_deref() }.restart().await
            }
            Restart::Runit { dir } => runit::restart(dir).await,
            Restart::Supervisor { program, config } => supervisor::restart(program, config).await,
            Restart::Command { argv, .. } => command::restart(argv).await,
        }
    }
}

/// What a program of a manager answered.
struct Answer {
    end: End,
    stdout: String,
    stderr: String,
}

impl Answer {
    /// What it complains of, in one line.
    fn complaint(&self) -> String {
        let said = if self.stderr.trim().is_empty() { &self.stdout } else { &self.stderr };
        first_chars(&said.split_whitespace().collect::<Vec<_>>().join(" "), TOLD).to_owned()
    }
}

enum Failure {
    /// It was not even started.
    NotStarted(String),
    /// It was started, and its answer was lost.
    Lost(String),
    /// It did not answer in time.
    Late,
}

impl Failure {
    fn told(self, name: &str) -> WriteError {
        unreachable(match self {
            Self::NotStarted(why) | Self::Lost(why) => why,
            Self::Late => format!("`{name}` did not answer within {} s", ASK.as_secs()),
        })
    }

    fn asked(self) -> Asked {
        match self {
            Self::NotStarted(why) => Asked::Refused(why),
            Self::Lost(why) => Asked::Failed(why),
            Self::Late => Asked::Late,
        }
    }
}

/// Runs a program of a manager.
async fn ask(name: &str, args: &[&str], env: &[(&str, &str)], patience: Duration) -> Result<Answer, Failure> {
    let program = Program::named(name).ok_or_else(|| Failure::NotStarted(format!("there is no program `{name}`")))?;
    let invocation = Invocation {
        program: &program,
        args: args.iter().map(OsString::from).collect(),
        env: env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        directory: Path::new("/"),
        max_stdout: MAX_OUTPUT,
    };
    let finished = match timeout(patience, run(invocation)).await {
        Ok(Ok(finished)) => finished,
        Ok(Err(error @ crate::tools::process::ProcessError::Start { .. })) => {
            return Err(Failure::NotStarted(error.to_string()));
        }
        Ok(Err(error @ crate::tools::process::ProcessError::Read { .. })) => {
            return Err(Failure::Lost(error.to_string()));
        }
        Err(_) => return Err(Failure::Late),
    };
    let stdout = String::from_utf8_lossy(&finished.stdout).into_owned();
    Ok(Answer { end: finished.end, stdout, stderr: finished.stderr })
}

/// The digest over some files, each with its path.
fn digest_of<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<String, WriteError> {
    let mut all = Vec::new();
    for path in paths {
        let content = std::fs::read(path)
            .map_err(|error| unreachable(format!("reading `{}` failed: {error}", path.display())))?;
        all.extend_from_slice(path.as_os_str().as_encoded_bytes());
        all.push(0);
        all.extend_from_slice(sha256(&content).as_bytes());
    }
    Ok(sha256(&all))
}

/// The process with this id, where there is one.
fn process(id: Option<u32>) -> Option<Process> {
    procfs::process(id.filter(|id| *id != 0)?)
}

#[cfg(test)]
mod tests;
