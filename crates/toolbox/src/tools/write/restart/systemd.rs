//! systemd, through `systemctl`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use warrant_kernel::call::write::WriteError;

use super::{ASK, Answer, Asked, Failure, RESTART, Seen, Standing, Unit, ask, digest_of, process, unreachable};
use crate::catalog::restart::Scope;
use crate::tools::process::End;

const PROGRAM: &str = "systemctl";
const PROPERTIES: &str =
    "--property=LoadState,LoadError,ActiveState,SubState,MainPID,NRestarts,FragmentPath,DropInPaths";

/// One unit of one manager.
pub(super) struct Systemctl<'c> {
    pub(super) unit: &'c str,
    pub(super) scope: Scope,
    pub(super) runtime_dir: Option<&'c Path>,
}

impl Systemctl<'_> {
    async fn call(&self, args: &[&str], patience: Duration) -> Result<Answer, Failure> {
        let mut all = vec!["--no-pager", "--no-ask-password"];
        let mut env = Vec::new();
        let user = rustix::process::getuid().as_raw();
        let runtime = self.runtime_dir.map_or_else(|| PathBuf::from(format!("/run/user/{user}")), Path::to_path_buf);
        let runtime = runtime.to_string_lossy();
        match self.scope {
            Scope::System => {}
            Scope::User => {
                all.push("--user");
                env.push(("XDG_RUNTIME_DIR", runtime.as_ref()));
            }
        }
        all.extend(args);
        all.extend(["--", self.unit]);
        ask(PROGRAM, &all, &env, patience).await
    }

    async fn show(&self) -> Result<BTreeMap<String, String>, WriteError> {
        let answer = self.call(&["show", PROPERTIES], ASK).await.map_err(|failure| failure.told(PROGRAM))?;
        if answer.end != End::Exited(0) {
            return Err(unreachable(format!("`systemctl show {}` failed: {}", self.unit, answer.complaint())));
        }
        let lines = answer.stdout.lines().filter_map(|line| line.split_once('='));
        let shown: BTreeMap<String, String> = lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        match shown.get("LoadState").map(String::as_str) {
            Some("loaded") => Ok(shown),
            state => {
                let state = state.unwrap_or("not known");
                Err(unreachable(format!("unit `{}` is {state} to systemd; correct `unit` in the catalog", self.unit)))
            }
        }
    }

    pub(super) async fn unit(&self) -> Result<Unit, WriteError> {
        let shown = self.show().await?;
        let paths = ["FragmentPath", "DropInPaths"].into_iter().filter_map(|name| shown.get(name));
        let paths: Vec<&Path> = paths.flat_map(|paths| paths.split_whitespace()).map(Path::new).collect();
        if paths.is_empty() {
            return Err(unreachable(format!("unit `{}` has no file that defines it", self.unit)));
        }
        let manager = match self.scope {
            Scope::System => "systemd",
            Scope::User => "systemd --user",
        };
        Ok(Unit { manager, name: self.unit.to_owned(), definition: digest_of(paths)? })
    }

    pub(super) async fn look(&self) -> Result<Seen, WriteError> {
        let shown = self.show().await?;
        let value = |name: &str| shown.get(name).map(String::as_str).unwrap_or_default();
        let standing = match (value("ActiveState"), value("SubState")) {
            (_, "auto-restart" | "auto-restart-queued") => Standing::Failing,
            ("active", _) => Standing::Running,
            ("activating" | "deactivating" | "reloading" | "refreshing", _) => Standing::Moving,
            _ => Standing::Down,
        };
        Ok(Seen {
            standing,
            state: format!("{} ({})", value("ActiveState"), value("SubState")),
            process: process(value("MainPID").parse().ok()),
            restarts: value("NRestarts").parse().ok(),
        })
    }

    pub(super) async fn restart(&self) -> Asked {
        match self.call(&["restart"], RESTART).await {
            Ok(answer) if answer.end == End::Exited(0) => Asked::Done,
            Ok(answer) => {
                let complaint = answer.complaint();
                let refused =
                    ["Access denied", "authentication required", "not found", "Permission denied", "Failed to connect"];
                if refused.iter().any(|words| complaint.contains(words)) {
                    Asked::Refused(complaint)
                } else {
                    Asked::Failed(complaint)
                }
            }
            Err(failure) => failure.asked(),
        }
    }
}
