//! runit, through `sv`.

use std::path::{Path, PathBuf};

use warrant_kernel::call::write::WriteError;

use super::{ASK, Asked, RESTART, Seen, Standing, Unit, ask, digest_of, process, unreachable};
use crate::tools::process::End;

const PROGRAM: &str = "sv";

pub(super) fn unit(dir: &Path) -> Result<Unit, WriteError> {
    let run = dir.join("run");
    let others = ["finish", "check", "down"].map(|name| dir.join(name));
    let files: Vec<PathBuf> = std::iter::once(run).chain(others.into_iter().filter(|path| path.is_file())).collect();
    let definition = digest_of(files.iter().map(PathBuf::as_path))?;
    Ok(Unit { manager: "runit", name: dir.display().to_string(), definition })
}

pub(super) async fn look(dir: &Path) -> Result<Seen, WriteError> {
    let path = dir.to_string_lossy();
    let answer = ask(PROGRAM, &["status", &path], &[], ASK).await.map_err(|failure| failure.told(PROGRAM))?;
    seen(&answer.stdout, &path).ok_or_else(|| unreachable(format!("`sv status {path}` failed: {}", answer.complaint())))
}

/// Reads `run: DIR: (pid 12) 5s; run: log: ...`.
pub(super) fn seen(stdout: &str, path: &str) -> Option<Seen> {
    let (word, rest) = stdout.trim().split_once(": ")?;
    let rest = rest.strip_prefix(path)?.strip_prefix(": ")?;
    let pid = rest.strip_prefix("(pid ").and_then(|rest| rest.split_once(')')?.0.parse().ok());
    let standing = match word {
        "run" => Standing::Running,
        "finish" => Standing::Moving,
        "down" => Standing::Down,
        _ => return None,
    };
    let state = format!("{word}, {}", rest.split("; ").next()?);
    Some(Seen { standing, state, process: process(pid), restarts: None })
}

pub(super) async fn restart(dir: &Path) -> Asked {
    let path = dir.to_string_lossy();
    match ask(PROGRAM, &["-w", "45", "restart", &path], &[], RESTART).await {
        Ok(answer) if answer.end == End::Exited(0) => Asked::Done,
        // It could not hand the wish to the supervisor: `fail: DIR: unable to ...`.
        Ok(answer) if answer.stdout.starts_with("fail: ") || answer.stdout.starts_with("warning: ") => {
            Asked::Refused(answer.complaint())
        }
        Ok(answer) => Asked::Failed(answer.complaint()),
        Err(failure) => failure.asked(),
    }
}
