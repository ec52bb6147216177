//! Where checkpoints go: a directory, and a program of the operator's that takes them off this machine.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use warrant_kernel::ledger::publish::{Publisher, Signed};
use warrant_kernel::redact::guard::first_chars;
use warrant_toolbox::tools::process::{End, Invocation, Program, run};

use crate::app::App;
use crate::config::ledger::PLACE;

/// Most that a program may print.
const MAX_OUTPUT: usize = 64 << 10;

/// The publishers that the config names.
#[must_use]
pub fn publishers(app: &App) -> Vec<Arc<dyn Publisher>> {
    let config = &app.config.ledger;
    let mut all: Vec<Arc<dyn Publisher>> = Vec::new();
    if let Some(dir) = &config.publish_dir {
        all.push(Arc::new(Directory::new(dir.clone())));
    }
    if let Some((program, arguments)) = config.publish_command.split_first()
        && let Some(found) = Program::at(PathBuf::from(program))
    {
        all.push(Arc::new(Command {
            name: format!("program {program}"),
            program: found,
            arguments: arguments.to_vec(),
        }));
    }
    all
}

/// A directory that keeps every checkpoint, and the newest as `checkpoint`.
pub struct Directory {
    name: String,
    dir: PathBuf,
}

impl Directory {
    /// Publishes into `dir`, which is made if need be.
    #[must_use]
    pub fn new(dir: PathBuf) -> Self {
        Self { name: format!("directory {}", dir.display()), dir }
    }
}

#[async_trait]
impl Publisher for Directory {
    fn name(&self) -> &str {
        &self.name
    }

    async fn publish(&self, signed: &Signed) -> Result<(), String> {
        let (dir, signed) = (self.dir.clone(), signed.clone());
        let done = tokio::task::spawn_blocking(move || put(&dir, &signed)).await;
        done.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }
}

fn put(dir: &Path, signed: &Signed) -> std::io::Result<()> {
    std::fs::create_dir_all(dir)?;
    for name in [format!("checkpoint-{:020}", signed.size), "checkpoint".to_owned()] {
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        file.write_all(signed.note.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(dir.join(name)).map_err(|error| error.error)?;
    }
    std::fs::File::open(dir)?.sync_all()
}

/// A program that is given the file of a checkpoint.
struct Command {
    name: String,
    program: Program,
    arguments: Vec<String>,
}

#[async_trait]
impl Publisher for Command {
    fn name(&self) -> &str {
        &self.name
    }

    async fn publish(&self, signed: &Signed) -> Result<(), String> {
        let mut file = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
        file.write_all(signed.note.as_bytes()).map_err(|error| error.to_string())?;
        let place = file.path().display().to_string();
        let args: Vec<OsString> = self.arguments.iter().map(|it| it.replace(PLACE, &place).into()).collect();
        let directory = Path::new("/");
        let env = Vec::new();
        let program = &self.program;
        let ended = run(Invocation { program, args, env, directory, max_stdout: MAX_OUTPUT }).await;
        let finished = ended.map_err(|error| error.to_string())?;
        if finished.end == End::Exited(0) {
            return Ok(());
        }
        let said = first_chars(finished.stderr.lines().next().unwrap_or_default(), 200);
        Err(format!("{:?}: {said}", finished.end))
    }
}
