//! Proves the write tools dry: whether what they need is there and may be used, without changing anything of a service.
//!
//! What can't be proven without doing it is said: whether a service manager would let this process restart a unit.

use std::io;

use crate::catalog::restart::{Restart, Scope};
use crate::catalog::service::{Service, WorkspaceFiles};
use crate::tools::process::Program;
use crate::tools::sources::alertmanager::Alertmanager;
use crate::tools::workspace::held::Keep;
use crate::tools::workspace::path::RelPath;
use crate::tools::write::Hands;
use crate::tools::write::kept::Kept;
use crate::tools::write::names::{group_name, user_name};
use crate::tools::write::restart::Manager;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What, `services.checkout: restart`.
    pub what: String,
    /// What was found, or what is wrong and what to do.
    pub outcome: Result<String, String>,
}

/// Looks at everything that the write tools would need.
pub async fn check(hands: &Hands) -> Vec<Finding> {
    let mut found = vec![Finding { what: "writes: undo directory".to_owned(), outcome: kept(hands) }];
    for (name, service) in hands.catalog.services() {
        let mut add = |what: &str, outcome| found.push(Finding { what: format!("services.{name}: {what}"), outcome });
        for (field, files) in [("files", &service.files), ("temp_files", &service.temp_files)] {
            for entry in files {
                add(&format!("{field} {}:{}", entry.workspace, entry.path), writable(hands, entry));
            }
        }
        for validator in &service.validate {
            add("validate", program(validator.argv.first().map(String::as_str).unwrap_or_default()));
        }
        if let Some(restart) = &service.restart {
            add("restart", restartable(restart, service).await);
        }
    }
    for (name, client) in hands.clients.alertmanagers() {
        let silences = Alertmanager(client).silences().await;
        let outcome =
            silences.map(|silences| format!("{} silences", silences.len())).map_err(|error| error.to_string());
        found.push(Finding { what: format!("alertmanagers.{name}: silences"), outcome });
    }
    found
}

fn kept(hands: &Hands) -> Result<String, String> {
    let kept = Kept::at(hands.kept.clone());
    let proven: io::Result<()> = (|| {
        kept.open()?;
        tempfile::tempfile_in(kept.dir())?;
        Ok(())
    })();
    let at = kept.dir().display();
    proven.map(|()| at.to_string()).map_err(|error| {
        format!(
            "`{at}` can't be written ({error}): nothing could be taken back, so nothing is edited; give it to this user"
        )
    })
}

fn writable(hands: &Hands, entry: &WorkspaceFiles) -> Result<String, String> {
    let root = hands.workspaces.root(&entry.workspace).ok_or_else(|| "its workspace can't be opened".to_owned())?;
    let path = RelPath::parse(&entry.path).map_err(|error| error.to_string())?;
    let user = user_name(rustix::process::geteuid().as_raw());
    let directory = root.may_replace(&path).map_err(|error| {
        format!(
            "user {user} can't replace files there ({error}): give it the directory (group, ACL) and name it in \
             `ReadWritePaths` of its unit; without it the file can be read and not edited"
        )
    })?;
    // Only a file has an owner to keep; of a directory that is listed each edit finds out.
    match root.hold(&path).map(|held| held.keep().clone()) {
        Ok(keep) if !keeps_owner(&keep) => Err(format!(
            "belongs to {} and {}, which user {user} can't give to a new file: run as them, or with \
             `AmbientCapabilities=CAP_CHOWN`",
            user_name(keep.uid),
            group_name(keep.gid)
        )),
        Ok(_) | Err(_) => Ok(format!("may be replaced in {directory}")),
    }
}

/// Whether this process can give a file it makes this owner and this group.
fn keeps_owner(keep: &Keep) -> bool {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let groups = rustix::process::getgroups().unwrap_or_default();
    let ours = keep.uid == user && (keep.gid == group || groups.iter().any(|group| group.as_raw() == keep.gid));
    ours || may_chown()
}

/// `CAP_CHOWN` is the lowest bit of the capabilities in force.
fn may_chown() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).is_some_and(|bits| bits & 1 == 1)
}

fn program(name: &str) -> Result<String, String> {
    match Program::named(name).filter(|program| program.path().is_file()) {
        Some(program) => Ok(program.path().display().to_string()),
        None => Err(format!("there is no program `{name}`: install it, or name it by its absolute path")),
    }
}

async fn restartable(restart: &Restart, service: &Service) -> Result<String, String> {
    let unit = Manager(restart).unit().await.map_err(|error| error.to_string())?;
    let seen = Manager(restart).look().await.map_err(|error| error.to_string())?;
    let mut told = format!("{} through {}: {}", unit.name, unit.manager, seen.state);
    let asks_polkit = matches!(restart, Restart::Systemd { scope: Scope::System, .. });
    if asks_polkit && !rustix::process::geteuid().is_root() {
        told.push_str("; whether a restart is allowed shows only then: it takes a polkit rule for this user and unit");
    }
    if service.health.is_empty() {
        told.push_str("; it has no `health` URL, so only its process shows that it came back");
    }
    Ok(told)
}

#[cfg(test)]
mod tests;
