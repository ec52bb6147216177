//! Users of this machine: who runs this process, and what a user is called.
//!
//! A name comes from `/etc/passwd`; only where it isn't there, the system's own look-up is asked, which knows directories of
//! users elsewhere. The environment is not asked: whoever sets it would choose who they are.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::{End, Invocation, Program, run};

/// Whoever takes longer to name a user is not waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// Longest entry of a user.
const MAX_ENTRY: usize = 4096;

/// The user who runs this process.
#[must_use]
pub fn current() -> u32 {
    rustix::process::getuid().as_raw()
}

/// What a user is called, if anybody knows.
pub async fn name(uid: u32) -> Option<String> {
    let passwd = tokio::fs::read_to_string("/etc/passwd").await.unwrap_or_default();
    match name_in(&passwd, uid) {
        Some(name) => Some(name),
        None => looked_up(uid).await,
    }
}

/// The name in a text of the form of `/etc/passwd`.
fn name_in(passwd: &str, uid: u32) -> Option<String> {
    let of_line = |line: &str| {
        let mut fields = line.split(':');
        let (name, number) = (fields.next()?, fields.nth(1)?);
        (!name.is_empty() && number.parse() == Ok(uid)).then(|| name.to_owned())
    };
    passwd.lines().find_map(of_line)
}

async fn looked_up(uid: u32) -> Option<String> {
    let program = Program::find("getent")?;
    let invocation = Invocation {
        program: &program,
        args: vec![OsString::from("passwd"), OsString::from(uid.to_string())],
        env: Vec::new(),
        directory: Path::new("/"),
        max_stdout: MAX_ENTRY,
    };
    // Without an answer the user has no name, and is nobody that a name would make them.
    let finished = tokio::time::timeout(PATIENCE, run(invocation)).await.ok()?.ok()?;
    let found = finished.end == End::Exited(0);
    found.then(|| name_in(&String::from_utf8_lossy(&finished.stdout), uid)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_belongs_to_its_number() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\n# note\nbroken\n:x:7:7::/:\nann:x:1000:1000:Ann:/home/ann:/bin/sh\nold:x:1000:5::/:\n";
        let found = |uid| name_in(passwd, uid);
        assert_eq!(found(0).as_deref(), Some("root"));
        assert_eq!(found(1000).as_deref(), Some("ann"));
        assert_eq!((found(7), found(1), found(5)), (None, None, None));
    }

    #[tokio::test]
    async fn whoever_runs_this_has_the_name_that_the_system_knows() {
        let known = name(current()).await;
        assert_eq!(known, looked_up(current()).await.or(known.clone()));
        assert_eq!(name(u32::MAX - 7).await, None);
    }
}
