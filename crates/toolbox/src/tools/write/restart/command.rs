//! A command of the catalog, and the file in which the service writes its process id.

use std::path::{Path, PathBuf};

use warrant_kernel::call::write::WriteError;

use super::{Asked, RESTART, Seen, Standing, Unit, ask, digest_of, process, unreachable};
use crate::tools::process::{End, Program};
use crate::tools::workspace::held::sha256;

pub(super) fn unit(argv: &[String]) -> Result<Unit, WriteError> {
    let program = argv.first().and_then(|name| Program::named(name));
    let program = program.ok_or_else(|| unreachable("the `argv` of the catalog names no program that is there"))?;
    let words: Vec<String> = argv.iter().map(|word| format!("{word:?}")).collect();
    let name = words.join(" ");
    let files: Vec<PathBuf> = std::iter::once(program.path().to_owned())
        // A script that an interpreter is given defines what happens as much.
        .chain(argv.iter().skip(1).map(PathBuf::from).filter(|path| path.is_absolute() && path.is_file()))
        .collect();
    let definition = sha256(format!("{}{name}", digest_of(files.iter().map(PathBuf::as_path))?).as_bytes());
    Ok(Unit { manager: "command", name, definition })
}

pub(super) fn look(pid_file: &Path) -> Result<Seen, WriteError> {
    let text = match std::fs::read_to_string(pid_file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(unreachable(format!("reading `{}` failed: {error}", pid_file.display()))),
    };
    let running = process(text.trim().parse().ok());
    let (standing, words) = match running {
        Some(_) => (Standing::Running, "runs"),
        None => (Standing::Down, "does not run: no process with the id in its `pid_file`"),
    };
    Ok(Seen { standing, state: words.to_owned(), process: running, restarts: None })
}

pub(super) async fn restart(argv: &[String]) -> Asked {
    let Some((program, words)) = argv.split_first() else {
        return Asked::Refused("the `argv` of the catalog is empty".to_owned());
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match ask(program, &words, &[], RESTART).await {
        Ok(answer) if answer.end == End::Exited(0) => Asked::Done,
        Ok(answer) => Asked::Failed(answer.complaint()),
        Err(failure) => failure.asked(),
    }
}
