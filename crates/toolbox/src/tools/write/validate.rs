//! Asks a program of the catalog whether a changed file is good, on a copy, before anybody is asked for approval.
//!
//! A program that can't be started or does not end in time has not said that the file is good.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::timeout;
use warrant_kernel::call::write::WriteError;
use warrant_kernel::redact::guard::first_chars;

use crate::catalog::service::{Service, Validator};
use crate::tools::process::{End, Invocation, Program, run};
use crate::tools::workspace::Place;
use crate::tools::workspace::path::RelPath;
use crate::tools::write::kept::Kept;

/// A program that takes longer has not answered.
const PATIENCE: Duration = Duration::from_secs(20);
/// Characters of a program's complaint that are told.
const TOLD: usize = 400;
const MAX_STDOUT: usize = 64 * 1024;

/// What a validator said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// The file is good.
    Good,
    /// It is not, and why.
    Bad(String),
}

/// The validator of a file, if the catalog has one; the closest where there are several.
#[must_use]
pub fn validator<'s>(service: &'s Service, place: &Place) -> Option<&'s Validator> {
    let covers = |validator: &&Validator| {
        validator.workspace == *place.root.name()
            && RelPath::parse(&validator.path).is_ok_and(|path| path.covers(place.path.as_str()))
    };
    service.validate.iter().filter(covers).max_by_key(|validator| validator.path.len())
}

/// Asks about a content.
///
/// # Errors
/// [`WriteError::Backend`] where it could not be asked.
pub async fn ask(validator: &Validator, kept: &Kept, place: &Place, content: &[u8]) -> Result<Said, WriteError> {
    let failed = |message: String| WriteError::Backend { reason: "VALIDATOR", message };
    let Some((name, args)) = validator.argv.split_first() else {
        return Err(failed("`validate` names no program; an operator must correct the catalog".to_owned()));
    };
    let Some(program) = Program::named(name) else {
        return Err(failed(format!("there is no program `{name}` to validate the file with")));
    };
    let (copy, path) =
        copy(kept, place, content).map_err(|error| failed(format!("copying the file to validate failed: {error}")))?;
    let args = args.iter().map(|arg| OsString::from(arg.replace("{file}", &path))).collect();
    let invocation =
        Invocation { program: &program, args, env: Vec::new(), directory: copy.path(), max_stdout: MAX_STDOUT };
    let finished = timeout(PATIENCE, run(invocation))
        .await
        .map_err(|_| failed(format!("`{name}` did not say within {} s whether the file is good", PATIENCE.as_secs())))?
        .map_err(|error| failed(error.to_string()))?;
    let complaint = if finished.stderr.trim().is_empty() {
        String::from_utf8_lossy(&finished.stdout).into_owned()
    } else {
        finished.stderr
    };
    Ok(match finished.end {
        End::Exited(0) => Said::Good,
        // The copy's path means nothing to a reader.
        End::Exited(_) | End::Killed | End::Cut => {
            Said::Bad(first_chars(complaint.replace(&path, place.path.as_str()).trim(), TOLD).to_owned())
        }
    })
}

/// The content under the file's own name in a directory for this alone.
fn copy(kept: &Kept, place: &Place, content: &[u8]) -> io::Result<(TempDir, String)> {
    kept.open()?;
    let dir = tempfile::Builder::new().prefix("validate-").tempdir_in(kept.dir())?;
    let name = place.path.as_str().rsplit('/').next().unwrap_or("file");
    let path = dir.path().join(name);
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?.write_all(content)?;
    let shown = path.to_str().ok_or_else(|| io::Error::other("the path of the copy is no text"))?.to_owned();
    Ok((dir, shown))
}
