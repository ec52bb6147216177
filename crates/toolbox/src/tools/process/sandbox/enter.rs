//! The second start: confines itself, then becomes the program. What it can't do as ordered it says, and does nothing.

use std::fs::File;
use std::io::{self, Write};
use std::net::UdpSocket;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use rustix::process::{Signal, set_parent_process_death_signal};

use super::confine::confine;
use super::launch::standard_input;
use super::order::{Order, Report, Task};

pub(super) fn enter() -> ExitCode {
    // As a file: writing to a socket as a socket takes a call of the system that is not there once confined.
    let Ok(mut channel) = standard_input().map(|socket| File::from(OwnedFd::from(socket))) else {
        return ExitCode::FAILURE;
    };
    let report = entered(&channel);
    // Whoever can't be told sees a program that ended with a failure and without a word.
    let told = serde_json::to_vec(&report).map(|line| channel.write_all(&line));
    match (told, report) {
        (Ok(Ok(())), Report::Contained) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Does not come back where the program begins.
fn entered(channel: &File) -> Report {
    let refused = |what: &str, error: io::Error| Report::Refused(format!("{what}: {error}"));
    // Should the launcher be killed, nobody could sweep.
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return refused("asking for a death signal", error.into());
    }
    let order = match channel.try_clone().and_then(Order::read) {
        Ok(order) => order,
        Err(error) => return refused("reading the order", error),
    };
    let nothing = match File::open("/dev/null") {
        Ok(file) => file,
        Err(error) => return refused("opening /dev/null", error),
    };
    if let Err(error) = std::env::set_current_dir(&order.directory) {
        return refused("going to the directory", error);
    }
    if let Err(why) = confine(&order) {
        return Report::Refused(why);
    }
    let (program, name, args, env) = match order.task {
        Task::Trial => return trial(),
        Task::Run { program, name, args, env } => (program, name, args, env),
    };
    #[expect(clippy::disallowed_methods, reason = "becomes the program that was ordered")]
    let mut command = Command::new(program);
    command.arg0(name).args(args).env_clear().envs(env).stdin(Stdio::from(nothing));
    refused("starting the program", command.exec())
}

/// Tries what must not be possible any more.
fn trial() -> Report {
    let tries: [(&str, bool); 5] = [
        ("a file that was not granted can be read", File::open("/proc/self/status").is_ok()),
        ("a directory that was not granted can be listed", std::fs::read_dir("/").is_ok()),
        ("a file can be made", File::create(std::env::temp_dir().join(".warrant-trial")).is_ok()),
        ("the network can be reached", UdpSocket::bind("127.0.0.1:0").is_ok()),
        ("a process can be started", std::thread::Builder::new().spawn(|| {}).is_ok()),
    ];
    match tries.iter().find(|(_, possible)| *possible) {
        None => Report::Contained,
        Some((what, _)) => Report::Refused(format!("the kernel took the rules and does not keep them: {what}")),
    }
}
