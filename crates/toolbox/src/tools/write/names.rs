//! Names of users, groups and this host, for people; numbers where there is no name.

use std::fs;

/// A user, `root (0)`.
#[must_use]
pub fn user_name(uid: u32) -> String {
    named("/etc/passwd", uid)
}

/// A group, `adm (4)`.
#[must_use]
pub fn group_name(gid: u32) -> String {
    named("/etc/group", gid)
}

/// The name of this host; empty where the system has none.
#[must_use]
pub fn host_name() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
}

fn named(table: &str, id: u32) -> String {
    let text = fs::read_to_string(table).unwrap_or_default();
    let of = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?.to_owned();
        (fields.nth(1)?.parse() == Ok(id)).then_some(name)
    };
    text.lines().find_map(of).map_or_else(|| id.to_string(), |name| format!("{name} ({id})"))
}
