//! What Warrant orders of its launcher, and what the launcher reports: one line of JSON each, over a socket.

use std::io::{self, BufRead, Read};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Longest order.
const MAX_ORDER: u64 = 256 * 1024;

/// All that a program is and may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// What to do.
    pub task: Task,
    /// Where it runs.
    pub directory: PathBuf,
    /// What may be opened, for reading only; nothing else.
    pub grants: Vec<Grant>,
    /// Which sockets may be made.
    pub sockets: Sockets,
    /// Which processes may be made.
    pub processes: Processes,
    /// What may be used up.
    pub limits: Limits,
}

impl Order {
    /// An order that grants nothing.
    #[must_use]
    pub fn of(task: Task, directory: PathBuf) -> Self {
        Self {
            task,
            directory,
            grants: Vec::new(),
            sockets: Sockets::None,
            processes: Processes::One,
            limits: Limits::USUAL,
        }
    }

    /// Reads one.
    pub(super) fn read(from: impl Read) -> io::Result<Self> {
        let mut line = String::new();
        io::BufReader::new(from.take(MAX_ORDER)).read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }

    /// As one line.
    pub(super) fn line(&self) -> io::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(line)
    }
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Find out whether the sandbox holds.
    Trial,
    /// Become this program.
    Run {
        /// Its absolute path.
        program: PathBuf,
        /// What it is told its name is.
        name: String,
        /// Its arguments.
        args: Vec<String>,
        /// All of its environment.
        env: Vec<(String, String)>,
    },
}

/// What may be opened for reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// A file, or a directory and all beneath it.
    pub path: PathBuf,
    /// What of it.
    pub right: Right,
}

/// What of a file or a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// A directory: the names in it and beneath, and no content.
    Names,
    /// One file: its content.
    Content,
    /// A directory: names and content, of it and beneath.
    Tree,
    /// One file: its content, and it may be run.
    Run,
}

/// Which sockets may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sockets {
    /// None.
    None,
    /// Local ones, through which the C library asks what users and groups are called.
    Names,
    /// Local ones, and those to the kernel that `ss` and `ip` ask.
    Netlink,
}

/// Which processes may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Processes {
    /// None.
    One,
    /// Threads of its own.
    Threads,
    /// Children, which are confined as it is.
    Children,
}

/// What may be used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Seconds of a processor.
    pub cpu_s: u64,
    /// Bytes of address space.
    pub memory: u64,
    /// Open files.
    pub files: u64,
}

impl Limits {
    /// What suffices for looking.
    pub const USUAL: Self = Self { cpu_s: 30, memory: 1 << 30, files: 256 };
}

/// What came of an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// The sandbox holds.
    Contained,
    /// It could not be set up, so nothing was run.
    Refused(String),
    /// The program ended with this status.
    Exited(i32),
    /// The program was ended by this signal.
    Killed(i32),
}
