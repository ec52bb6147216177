//! The processes beneath this one, as the kernel tells, and their end.

use std::collections::HashMap;
use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

/// Ends all processes beneath this one. It may miss one that is being born: call it again whenever one has ended, until there
/// is none.
pub fn kill() {
    for pid in beneath(getpid()) {
        // The handle is of that process and no later one; one that has ended needs no signal.
        if let Ok(handle) = pidfd_open(pid, PidfdFlags::empty())
            && parent(pid).is_some()
        {
            let _ = pidfd_send_signal(handle, Signal::KILL);
        }
    }
}

/// Every process beneath one, however deep.
fn beneath(top: Pid) -> Vec<Pid> {
    let mut children: HashMap<Pid, Vec<Pid>> = HashMap::new();
    for pid in running() {
        if let Some(parent) = parent(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let (mut found, mut waiting) = (Vec::new(), vec![top]);
    while let Some(next) = waiting.pop() {
        let here = children.remove(&next).unwrap_or_default();
        found.extend_from_slice(&here);
        waiting.extend(here);
    }
    found
}

fn running() -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    entries.filter_map(Result::ok).filter_map(number).filter_map(Pid::from_raw).collect()
}

/// Whose child a process is; none once it is gone.
fn parent(pid: Pid) -> Option<Pid> {
    let stat = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name stands in parentheses and may hold any character, these too.
    let (_, fields) = stat.rsplit_once(") ")?;
    Pid::from_raw(fields.split(' ').nth(1)?.parse().ok()?)
}
