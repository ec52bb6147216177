//! The one module that starts programs.
//!
//! A program is pinned by an absolute path when Warrant starts, gets its arguments as a vector, an environment with
//! nothing in it but what the caller lists, no standard input, and a process group of its own that dies with the call:
//! dropping the future kills all of it.

pub mod users;

pub mod sandbox;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use warrant_kernel::redact::guard::Piece;

const MAX_STDERR: usize = 4096;

/// Directories that a program is looked for in. `PATH` is not asked: whoever sets it would choose the program.
const DIRECTORIES: [&str; 8] = [
    "/usr/bin",
    "/usr/local/bin",
    "/bin",
    "/usr/sbin",
    "/usr/local/sbin",
    "/sbin",
    "/run/current-system/sw/bin",
    "/opt/homebrew/bin",
];

/// Why a program brought nothing.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// It could not be started.
    #[error("starting `{}` failed: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Its output could not be read.
    #[error("reading the output of `{}` failed: {source}", program.display())]
    Read {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A program at a fixed place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program(PathBuf);

impl Program {
    /// The first program of this name in the directories of the system, if there is one.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        DIRECTORIES.iter().map(|directory| Path::new(directory).join(name)).find(|path| path.is_file()).map(Self)
    }

    /// A program by its absolute path, or by its name in the directories of the system.
    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        if text.contains('/') { Self::at(PathBuf::from(text)) } else { Self::find(text) }
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A program by its absolute path.
    #[must_use]
    pub fn at(path: PathBuf) -> Option<Self> {
        path.is_absolute().then_some(Self(path))
    }
}

/// What is run.
#[derive(Debug, Clone)]
pub struct Invocation<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its arguments, without its name.
    pub args: Vec<OsString>,
    /// All of its environment.
    pub env: Vec<(OsString, OsString)>,
    /// Where it runs.
    pub directory: &'a Path,
    /// Most bytes of standard output; at the limit the program is ended.
    pub max_stdout: usize,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// By itself, with this status.
    Exited(i32),
    /// By a signal.
    Killed,
    /// By us, because it wrote more than was asked for.
    Cut,
}

/// What it wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// Standard output, at most the limit; where it was cut, without what may be half a secret.
    pub stdout: Vec<u8>,
    /// The beginning of standard error, cut likewise.
    pub stderr: String,
}

/// Kills the group when dropped before the leader was waited for; until then its number can't belong to another.
struct Group(Option<Pid>);

impl Group {
    fn kill(&mut self) {
        if let Some(leader) = self.0.take() {
            // It fails when all of the group has ended, which is what is wanted.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Runs a program to its end. Dropping the future ends the program and its children.
///
/// # Errors
/// [`ProcessError`]; a program that fails is no error here.
pub async fn run(invocation: Invocation<'_>) -> Result<Finished, ProcessError> {
    let program = &invocation.program.0;
    #[expect(clippy::disallowed_methods, reason = "the one place that starts programs")]
    let mut command = Command::new(program);
    let mut child = command
        .args(&invocation.args)
        .env_clear()
        .envs(invocation.env)
        .current_dir(invocation.directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|source| ProcessError::Start { program: program.clone(), source })?;
    let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    // Declared after `child`, so that it is dropped first: the group dies while its leader is still unwaited for.
    let mut group = Group(leader);
    let failed = |source| ProcessError::Read { program: program.clone(), source };
    let (stdout, stderr) = outputs(&mut child, invocation.max_stdout).await.map_err(failed)?;
    let cut = stdout.is_cut();
    if cut {
        group.kill();
    }
    let status = child.wait().await.map_err(failed)?;
    group.0 = None;
    let end = match status.code() {
        _ if cut => End::Cut,
        Some(code) => End::Exited(code),
        None => End::Killed,
    };
    Ok(Finished { end, stdout: stdout.into_bytes(), stderr: stderr.text().into_owned() })
}

async fn outputs(child: &mut Child, max_stdout: usize) -> io::Result<(Piece, Piece)> {
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    // Standard error is read to its end, so that a program that complains a lot is not blocked by a full pipe.
    let complaints = async {
        let Some(mut pipe) = stderr else { return Ok(Piece::whole(Vec::new())) };
        let first = capture(&mut pipe, MAX_STDERR).await?;
        tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await?;
        Ok(first)
    };
    let output = async {
        match stdout {
            Some(mut pipe) => capture(&mut pipe, max_stdout).await,
            None => Ok(Piece::whole(Vec::new())),
        }
    };
    tokio::pin!(complaints);
    tokio::pin!(output);
    let mut said: Option<io::Result<Piece>> = None;
    let captured = loop {
        tokio::select! {
            captured = &mut output => break captured?,
            text = &mut complaints, if said.is_none() => said = Some(text),
        }
    };
    if captured.is_cut() {
        return Ok((captured, Piece::beginning(Vec::new())));
    }
    let said = match said {
        Some(said) => said?,
        None => complaints.await?,
    };
    Ok((captured, said))
}

async fn capture(pipe: &mut (impl AsyncRead + Unpin), limit: usize) -> io::Result<Piece> {
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX);
    pipe.take(most.saturating_add(1)).read_to_end(&mut bytes).await?;
    Ok(Piece::up_to(bytes, limit))
}

#[cfg(test)]
mod tests;
