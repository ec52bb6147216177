//! Runs an accepted command: its paths become open files, and what is open is all that the sandbox lets it read.
//!
//! Each path goes through the guard of the workspace, which opens it beneath the held root and looks at what it opened. The
//! sandbox is then granted that file or directory itself, not its name: whatever is put in its place afterwards is another
//! file, and stays shut.

mod cover;

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use warrant_kernel::call::tool::ReadError;

use super::accepted::{Accepted, Recursive};
use super::grammar::{Grammar, Needs};
use super::refusal::{Reason, Refusal};
use super::value::Use;
use crate::tools::process::Program;
use crate::tools::process::sandbox::order::{Grant, Order, Right, Task};
use crate::tools::process::sandbox::{Patience, Ran, Sandbox, needs};
use crate::tools::workspace::Place;
use crate::tools::workspace::path::RelPath;
use crate::tools::workspace::walk::Kind;

use cover::cover;

/// How long a command may take; what it wrote until then is shown.
const TIME: Duration = Duration::from_secs(15);
/// After this many bytes nobody listens any more.
const BYTES: u64 = 2 << 30;

/// All of a command's environment: names and values are fixed, whatever Warrant's own are.
const ENVIRONMENT: [(&str, &str); 3] = [("LC_ALL", "C.UTF-8"), ("TZ", "UTC"), ("COLUMNS", "200")];

/// The environment of every command.
#[must_use]
pub fn environment() -> Vec<(String, String)> {
    ENVIRONMENT.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// What is held open while a command runs, and what the sandbox may read of it.
#[derive(Debug, Default)]
pub struct Held {
    open: Vec<OwnedFd>,
    grants: Vec<Grant>,
}

impl Held {
    /// Holds something open and gives the name by which the launcher finds this very thing.
    pub fn hold(&mut self, open: impl Into<OwnedFd>) -> PathBuf {
        let open = open.into();
        let name = format!("/proc/{}/fd/{}", std::process::id(), open.as_fd().as_raw_fd());
        self.open.push(open);
        PathBuf::from(name)
    }

    /// Opens a path through the guard of its workspace: a file's content, or all beneath a directory that is not protected.
    ///
    /// # Errors
    /// What the guard says.
    pub fn open(&mut self, place: &Place) -> Result<(), ReadError> {
        open(self, place, &place.path, Use::Tree, Recursive::Yes)
    }

    fn grant(&mut self, open: impl Into<OwnedFd>, right: Right) {
        let path = self.hold(open);
        self.grants.push(Grant { path, right });
    }
}

/// Where a command runs and what it may read, ready for the sandbox.
#[derive(Debug)]
pub struct Prepared {
    order: Order,
    // Read by the kernel through its names in the order.
    _held: Held,
}

/// Opens what an accepted command names, beneath the place where it runs.
///
/// # Errors
/// What the guard of the workspace says.
pub fn prepare(program: &Program, accepted: &Accepted<'_>, place: Option<&Place>) -> Result<Prepared, ReadError> {
    let grammar = accepted.grammar();
    let mut held = Held::default();
    for (path, used) in accepted.paths() {
        let Some(place) = place else { return Err(no_place(path).into()) };
        let path = beneath(&place.path, path)?;
        open(&mut held, place, &path, used, accepted.recursive())?;
    }
    let directory = match place {
        Some(place) => held.hold(place.root.directory(&place.path)?),
        None => PathBuf::from("/"),
    };
    let task = Task::Run {
        program: program.path().to_owned(),
        name: grammar.program.clone(),
        args: accepted.argv(),
        env: environment(),
    };
    order(program, task, directory, &grammar.needs, held)
}

/// An order for a program with what it needs beside what is held.
///
/// # Errors
/// Where the program can't be read.
pub fn order(
    program: &Program,
    task: Task,
    directory: PathBuf,
    about: &Needs,
    held: Held,
) -> Result<Prepared, ReadError> {
    let mut order = Order::of(task, directory);
    order.grants = needs::of(program.path()).map_err(|error| {
        let message = format!("`{}` can't be read: {error}", program.path().display());
        ReadError::Backend { reason: "PROGRAM_UNREADABLE", message, retryable: false }
    })?;
    if about.asks_names {
        order.grants.extend(needs::names());
    }
    let reads = about.reads.iter().filter(|path| path.exists());
    order.grants.extend(
        reads.map(|path| Grant { path: path.clone(), right: if path.is_dir() { Right::Tree } else { Right::Content } }),
    );
    order.grants.extend(held.grants.iter().cloned());
    (order.sockets, order.processes) = (about.sockets, about.processes);
    Ok(Prepared { order, _held: held })
}

/// Runs what was prepared.
///
/// # Errors
/// Where the sandbox could not be set up, or ended without a word. Nothing ran outside of it.
pub async fn run(sandbox: &Sandbox, prepared: Prepared) -> Result<Ran, ReadError> {
    let patience = Patience { time: TIME, bytes: BYTES };
    sandbox.run(&prepared.order, patience).await.map_err(|error| ReadError::Backend {
        reason: "SANDBOX_FAILED",
        message: format!("{error}; nothing was run outside the sandbox"),
        retryable: false,
    })
}

/// A path of the command as a path of the root.
pub(super) fn beneath(place: &RelPath, path: &RelPath) -> Result<RelPath, ReadError> {
    let joined = format!("{}/{}", place.for_open(), path.for_open());
    RelPath::parse(&joined)
        .map_err(|error| ReadError::from(Refusal::new(Reason::PathOutsideWorkspace, format!("`{path}`: {error}"))))
}

fn no_place(path: &RelPath) -> Refusal {
    let message =
        format!("no workspace is configured, so there is nothing at `{path}`; an operator adds `[workspaces.NAME]`");
    Refusal::new(Reason::PathOutsideWorkspace, message)
}

/// Opens one path through the guard, for what is done with it.
fn open(held: &mut Held, place: &Place, path: &RelPath, used: Use, recursive: Recursive) -> Result<(), ReadError> {
    let root = &place.root;
    let entry = root.entry(path)?;
    match (used, entry) {
        (Use::File | Use::Tree, Some(_)) => held.grant(root.file(path)?.file, Right::Content),
        // What it is is told by the guard, which opens no directory as a file.
        (Use::File, None) => drop(root.file(path)?),
        (Use::Tree, None) if recursive == Recursive::No => {
            let message = format!(
                "`{path}` is a directory; add the flag with which the program goes through directories, as `-r`"
            );
            return Err(Refusal::new(Reason::OperandNotAllowed, message).into());
        }
        (Use::Tree, None) => cover(held, place, path)?,
        (Use::Entry, None) => held.grant(root.directory(path)?, Right::Names),
        (Use::Entry, Some(entry)) if entry.kind == Kind::File => drop(root.file(path)?),
        // A FIFO, socket or device has a size and times too.
        (Use::Entry, Some(entry)) if entry.protected => drop(root.file(path)?),
        (Use::Entry, Some(_)) => {}
    }
    Ok(())
}

/// The one place above all paths of a command; the place where it runs, where it names none.
#[must_use]
pub fn above(accepted: &Accepted<'_>, place: &Place) -> Place {
    let paths = accepted.paths().filter_map(|(path, _)| beneath(&place.path, path).ok());
    let common = paths.map(|path| path.as_str().to_owned()).reduce(|left, right| {
        let same = left.split('/').zip(right.split('/')).take_while(|(left, right)| left == right);
        same.map(|(part, _)| part).collect::<Vec<_>>().join("/")
    });
    let path = common.and_then(|path| RelPath::parse(&path).ok()).unwrap_or_else(|| place.path.clone());
    Place { root: Arc::clone(&place.root), path }
}

/// Whether the grammar's program is there.
///
/// # Errors
/// Where it is not installed.
pub fn installed<'p>(grammar: &Grammar, program: Option<&'p Program>) -> Result<&'p Program, Refusal> {
    program.ok_or_else(|| {
        let at = grammar.path.as_deref().map(Path::display);
        let at = at.map_or_else(String::new, |at| format!(" at `{at}`"));
        let message = format!("`{}` is not installed{at} on this machine; look another way", grammar.program);
        Refusal::new(Reason::NotInstalled, message)
    })
}
