//! supervisor, through `supervisorctl -c`.

use std::path::Path;

use warrant_kernel::call::write::WriteError;

use super::{ASK, Asked, RESTART, Seen, Standing, Unit, ask, digest_of, process, unreachable};
use crate::tools::process::End;

const PROGRAM: &str = "supervisorctl";

pub(super) async fn unit(program: &str, config: &Path) -> Result<Unit, WriteError> {
    look(program, config).await?;
    let name = format!("{program} of {}", config.display());
    Ok(Unit { manager: "supervisor", name, definition: digest_of([config])? })
}

pub(super) async fn look(program: &str, config: &Path) -> Result<Seen, WriteError> {
    let path = config.to_string_lossy();
    let answer =
        ask(PROGRAM, &["-c", &path, "status", program], &[], ASK).await.map_err(|failure| failure.told(PROGRAM))?;
    seen(&answer.stdout, program)
        .ok_or_else(|| unreachable(format!("`supervisorctl status {program}` failed: {}", answer.complaint())))
}

/// Reads `checkout    RUNNING   pid 12, uptime 0:00:05`.
pub(super) fn seen(stdout: &str, program: &str) -> Option<Seen> {
    let line = stdout.lines().find(|line| line.split_whitespace().next() == Some(program))?;
    let mut words = line.split_whitespace().skip(1);
    let word = words.next()?;
    let standing = match word {
        "RUNNING" => Standing::Running,
        "STARTING" | "STOPPING" => Standing::Moving,
        "BACKOFF" => Standing::Failing,
        "STOPPED" | "EXITED" | "FATAL" => Standing::Down,
        _ => return None,
    };
    let rest = words.collect::<Vec<_>>().join(" ");
    let pid = rest.strip_prefix("pid ").and_then(|rest| rest.split_once(',')?.0.parse().ok());
    Some(Seen { standing, state: format!("{word} {rest}").trim().to_owned(), process: process(pid), restarts: None })
}

pub(super) async fn restart(program: &str, config: &Path) -> Asked {
    let path = config.to_string_lossy();
    match ask(PROGRAM, &["-c", &path, "restart", program], &[], RESTART).await {
        Ok(answer) if answer.end == End::Exited(0) && !answer.stdout.contains("ERROR") => Asked::Done,
        Ok(answer) => {
            let complaint = answer.complaint();
            if ["no such process", "refused connection", "no such file", "Server requires authentication"]
                .iter()
                .any(|words| complaint.contains(words))
            {
                Asked::Refused(complaint)
            } else {
                Asked::Failed(complaint)
            }
        }
        Err(failure) => failure.asked(),
    }
}
