//! Runs one program so that it can look and do nothing else.
//!
//! A child can only be confined between its birth and its program, and code there may not be ours to write safely. So
//! Warrant starts itself twice: the launcher ([`launch`]), which stays to end the whole tree of processes, starts the
//! second ([`enter`]), which confines itself ([`confine`]) and then becomes the program. What is to be done is an
//! [`order::Order`]; whatever can't be done as ordered is not done at all.
//!
//! ```text
//! Warrant ──socket──> launcher (subreaper) ──socket──> confined self ──exec──> program
//!    ^ stdout, stderr ────────────────────────────────────────────────────────────┘
//! ```
//!
//! The socket is a lifeline too: when Warrant closes its end, or dies by whatever cause, the launcher sweeps the tree until
//! no process is left, and ends. A death signal could not do that: the launcher itself must live to sweep.

pub mod order;

pub mod capture;

pub mod tree;

pub mod launch;

pub mod enter;

pub mod confine;

mod syscalls;

pub mod needs;

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::time::{Instant, timeout, timeout_at};

use capture::{Captured, capture};
use order::{Order, Report, Task};

/// The hidden words with which Warrant is started as one of the two.
const LAUNCH: &str = "sandbox-launch";
const ENTER: &str = "sandbox-enter";

/// This program as the kernel holds it, whatever lies at its path by now.
const OURSELVES: &str = "/proc/self/exe";

/// How long the launcher may take to sweep, and the sandbox to be tried.
const GRACE: Duration = Duration::from_secs(10);

/// Most bytes of a report.
const MAX_REPORT: u64 = 64 * 1024;

/// Does the work of a launcher or of what it starts, where this process was started as one of them.
///
/// To be called first of all: neither takes flags, and both must be alone in their process.
#[must_use]
pub fn entered(mut args: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let word = args.nth(1)?;
    if word == LAUNCH {
        return Some(launch::launch());
    }
    (word == ENTER).then(enter::enter)
}

/// Why a program was not run, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The launcher could not be started or spoken with.
    #[error("the sandbox could not be started: {0}")]
    Start(#[source] io::Error),
    /// The order is too long to be handed over.
    #[error("the order could not be written: {0}")]
    Order(#[source] serde_json::Error),
    /// It could not be set up as ordered; nothing was run.
    #[error("the sandbox refuses to run it: {0}")]
    Refused(String),
    /// The launcher ended without a word.
    #[error("the launcher of the sandbox gave no report")]
    NoReport,
}

/// How the program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal, which was not ours.
    Killed(i32),
    /// By us: its time was up.
    TimedOut,
    /// By us: it wrote more than anybody would read.
    TooMuch,
}

/// What came of a run.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub ended: Ended,
    /// What it wrote to standard output.
    pub stdout: Captured,
    /// And to standard error.
    pub stderr: Captured,
}

/// How much is listened to, and how long.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// After this the tree is ended.
    pub time: Duration,
    /// After this many bytes the tree is ended.
    pub bytes: u64,
}

/// Starts confined programs. There is one only where the sandbox has been tried and holds.
#[derive(Debug, Clone)]
pub struct Sandbox {
    launcher: PathBuf,
}

impl Sandbox {
    /// Tries the sandbox with this program's own launcher.
    ///
    /// # Errors
    /// Why it does not hold here.
    pub fn tried() -> Result<Self, String> {
        Self::tried_with(PathBuf::from(OURSELVES))
    }

    /// Tries the sandbox with a launcher that lies elsewhere.
    ///
    /// # Errors
    /// Why it does not hold here.
    pub fn tried_with(launcher: PathBuf) -> Result<Self, String> {
        let sandbox = Self { launcher };
        // The parts are opened before anything runs, so this may wait; it takes a few milliseconds.
        let tried = std::thread::scope(|scope| {
            let trial = scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.map_err(|error| error.to_string())?.block_on(sandbox.trial())
            });
            trial.join().unwrap_or_else(|_panic| Err("the trial broke down".to_owned()))
        });
        tried.map(|()| sandbox)
    }

    async fn trial(&self) -> Result<(), String> {
        let order = Order::trial();
        let patience = Patience { time: GRACE, bytes: MAX_REPORT };
        let mut started = self.start(&order).await.map_err(|error| error.to_string())?;
        let (_, _, report) = started.listen(patience).await.map_err(|error| error.to_string())?;
        match report {
            Some(Report::Contained) => Ok(()),
            Some(Report::Refused(why)) => Err(why),
            Some(Report::Exited(_) | Report::Killed(_)) | None => {
                Err("the launcher does not say that it holds".to_owned())
            }
        }
    }

    /// Runs a program to its end. Dropping the future ends it and all that it started.
    ///
    /// # Errors
    /// [`SandboxError`]; a program that fails is no error here.
    pub async fn run(&self, order: &Order, patience: Patience) -> Result<Ran, SandboxError> {
        let mut started = self.start(order).await?;
        let (outputs, cut, report) = started.listen(patience).await?;
        let ended = match (cut, report) {
            (_, Some(Report::Refused(why))) => return Err(SandboxError::Refused(why)),
            (Some(cut), _) => cut,
            (None, Some(Report::Exited(status))) => Ended::Exited(status),
            (None, Some(Report::Killed(signal))) => Ended::Killed(signal),
            (None, Some(Report::Contained) | None) => return Err(SandboxError::NoReport),
        };
        let (stdout, stderr) = outputs;
        Ok(Ran { ended, stdout, stderr })
    }

    async fn start(&self, order: &Order) -> Result<Started, SandboxError> {
        let mut line = serde_json::to_vec(order).map_err(SandboxError::Order)?;
        line.push(b'\n');
        let (ours, theirs) = StdUnixStream::pair().map_err(SandboxError::Start)?;
        ours.set_nonblocking(true).map_err(SandboxError::Start)?;
        let mut channel = UnixStream::from_std(ours).map_err(SandboxError::Start)?;
        #[expect(clippy::disallowed_methods, reason = "the one place that starts programs")]
        let mut command = Command::new(&self.launcher);
        // Not killed on drop: it has to sweep, and does so when the channel closes.
        let child = command
            .arg(LAUNCH)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(SandboxError::Start)?;
        // The command holds the launcher's end of the channel; with it open here the launcher's end would go unseen.
        drop(command);
        channel.write_all(&line).await.map_err(SandboxError::Start)?;
        Ok(Started { child, channel })
    }
}

type Outputs = (Captured, Captured);

/// A launcher at work.
struct Started {
    child: Child,
    channel: UnixStream,
}

impl Started {
    /// Reads all that is written until everybody has ended, and the report.
    async fn listen(&mut self, patience: Patience) -> Result<(Outputs, Option<Ended>, Option<Report>), SandboxError> {
        let deadline = Instant::now() + patience.time;
        let mut stdout = Captured::new();
        let mut stderr = Captured::small();
        let (out, err) = (self.child.stdout.take(), self.child.stderr.take());
        let cut = {
            let written = async {
                let (out, err) =
                    tokio::join!(capture(out, &mut stdout, patience.bytes), capture(err, &mut stderr, patience.bytes));
                out.and(err)
            };
            match timeout_at(deadline, written).await {
                Ok(Ok(())) => None,
                Ok(Err(capture::Stop::TooMuch)) => Some(Ended::TooMuch),
                Ok(Err(capture::Stop::Failed(error))) => return Err(SandboxError::Start(error)),
                Err(_elapsed) => Some(Ended::TimedOut),
            }
        };
        if cut.is_some() {
            // The launcher sees the end of the lifeline and sweeps.
            self.channel.shutdown().await.map_err(SandboxError::Start)?;
        }
        let report = timeout(GRACE, self.report()).await.ok().flatten();
        if timeout(GRACE, self.child.wait()).await.is_err() {
            tracing::warn!("the launcher of a command is still sweeping; it is left to it");
        }
        Ok(((stdout, stderr), cut, report))
    }

    async fn report(&mut self) -> Option<Report> {
        let mut line = String::new();
        BufReader::new((&mut self.channel).take(MAX_REPORT)).read_line(&mut line).await.ok()?;
        serde_json::from_str(&line).ok()
    }
}

impl Order {
    /// What is ordered to find out whether the sandbox holds.
    fn trial() -> Self {
        Self::of(Task::Trial, PathBuf::from("/"))
    }
}
