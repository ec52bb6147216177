//! The launcher: starts one confined program, reports how it ended, and leaves no process behind.
//!
//! It is a subreaper: whatever the program starts and abandons becomes the launcher's child, so the tree is gone exactly
//! when the launcher has no child left. It sweeps when the program has ended, and when the lifeline to Warrant ends.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustix::io::Errno;
use rustix::process::{
    Pid, WaitId, WaitIdOptions, WaitOptions, WaitStatus, getpid, set_child_subreaper, setsid, wait, waitid,
};

use super::order::{Order, Report};
use super::{ENTER, MAX_REPORT, OURSELVES, tree};

/// Whether the tree is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sweep {
    NotYet,
    Now,
}

/// Held while processes are reaped or ended, so that no number is signalled after it was given to another.
type Broom = Arc<Mutex<Sweep>>;

pub(super) fn launch() -> ExitCode {
    match launched() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("warrant: the launcher of the sandbox failed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn launched() -> io::Result<()> {
    // No terminal, and no signals meant for somebody else's group.
    setsid()?;
    set_child_subreaper(Some(getpid()))?;
    let channel = standard_input()?;
    let order = Order::read(channel.try_clone()?)?;
    let (mut ours, theirs) = UnixStream::pair()?;
    #[expect(clippy::disallowed_methods, reason = "the launcher starts what it launches")]
    let mut command = Command::new(OURSELVES);
    command.arg(ENTER).env_clear().stdin(Stdio::from(OwnedFd::from(theirs)));
    let child = command.spawn()?;
    // Holds the other end of the socket.
    drop(command);
    let main = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let broom: Broom = Arc::new(Mutex::new(Sweep::NotYet));
    hold_the_lifeline(channel.try_clone()?, Arc::clone(&broom));
    ours.write_all(&order.line()?)?;
    // It says nothing and is closed when the program begins.
    let mut said = String::new();
    ours.take(MAX_REPORT).read_to_string(&mut said)?;
    let status = reap(main, &broom)?;
    let report = match serde_json::from_str(&said) {
        Ok(said) => said,
        Err(_) if !said.is_empty() => Report::Refused(said),
        Err(_) => ended(status),
    };
    let mut line = serde_json::to_vec(&report)?;
    line.push(b'\n');
    match (&channel).write_all(&line) {
        // Nobody is there to be told, and the tree is gone.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        told => told,
    }
}

/// The socket that standard input is.
pub(super) fn standard_input() -> io::Result<UnixStream> {
    let socket = rustix::stdio::stdin().as_fd().try_clone_to_owned()?;
    Ok(UnixStream::from(socket))
}

/// Sweeps as soon as the other end is closed, which the kernel does for a Warrant that was killed.
fn hold_the_lifeline(mut channel: UnixStream, broom: Broom) {
    thread::spawn(move || {
        let mut byte = [0; 1];
        // Nothing more is ever sent; an error is as good as an end.
        while matches!(channel.read(&mut byte), Ok(count) if count > 0) {}
        let mut sweep = broom.lock().unwrap_or_else(PoisonError::into_inner);
        *sweep = Sweep::Now;
        tree::kill();
    });
}

/// Waits until no process is left, and gives the status of the first one.
fn reap(main: Option<Pid>, broom: &Broom) -> io::Result<Option<WaitStatus>> {
    let mut status = None;
    loop {
        // Waits without reaping: that is done with the broom in hand.
        match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::CHILD) => return Ok(status),
            Err(error) => return Err(error.into()),
        }
        let mut sweep = broom.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, ended))) if Some(pid) == main => {
                    status = Some(ended);
                    *sweep = Sweep::Now;
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(Errno::CHILD) => return Ok(status),
                Err(error) => return Err(error.into()),
            }
        }
        if *sweep == Sweep::Now {
            tree::kill();
        }
    }
}

fn ended(status: Option<WaitStatus>) -> Report {
    let Some(status) = status else { return Report::Refused("the program was lost".to_owned()) };
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Report::Exited(code),
        (None, Some(signal)) => Report::Killed(signal),
        (None, None) => Report::Refused("the program neither exited nor was killed".to_owned()),
    }
}
