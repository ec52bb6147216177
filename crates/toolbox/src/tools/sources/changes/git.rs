//! Asks Git what changed, without letting the repository run anything.
//!
//! A repository's own config and attributes may name programs: pagers, hooks, monitors, diff drivers, content filters,
//! signature checkers, transports. Each of these is switched off here, by argument or by environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use warrant_kernel::redact::guard::first_chars;

use super::patch::COMMIT_FORMAT;
use crate::tools::process::{self, End, Finished, Invocation, Program};

/// Most bytes of one patch.
const MAX_PATCH: usize = 8 * 1024 * 1024;
/// Most bytes of a file that is looked at for the section of a key.
const MAX_FILE: usize = 1024 * 1024;
/// Most commits of one repository.
pub const MAX_COMMITS: usize = 500;

const BEFORE_COMMAND: [&str; 15] = [
    "--no-pager",
    "--literal-pathspecs",
    "--no-replace-objects",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.pager=cat",
    "-c",
    "diff.external=",
    "-c",
    "protocol.allow=never",
    "-c",
    "safe.directory=*",
];

const PATCH: [&str; 14] = [
    "--patch",
    "--unified=0",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-renames",
    "--no-relative",
    "--submodule=short",
    "--ignore-submodules=all",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "-O/dev/null",
];

const ENVIRONMENT: [(&str, &str); 10] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // A list of what is allowed; it stands above any `protocol.*.allow` of the repository.
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_PAGER", "cat"),
    ("LC_ALL", "C"),
];

/// What Git printed, and whether there was more.
#[derive(Debug)]
pub struct Printed {
    /// The output.
    pub bytes: Vec<u8>,
    /// Whether it was cut at the limit.
    pub cut: bool,
}

/// A repository, ready to be asked. Its errors are sentences for the reader.
#[derive(Debug)]
pub struct Git<'a> {
    program: &'a Program,
    directory: PathBuf,
    metadata: PathBuf,
    bare: bool,
    filters: Vec<String>,
}

impl<'a> Git<'a> {
    /// Finds the repository at `directory` itself, not above it.
    ///
    /// # Errors
    /// When there is none, or Git can't read it.
    pub async fn open(program: &'a Program, directory: &Path) -> Result<Self, String> {
        let directory =
            directory.canonicalize().map_err(|error| format!("`{}` can't be opened: {error}", directory.display()))?;
        let inner = directory.join(".git");
        let bare = !inner.exists();
        let metadata = if bare { directory.clone() } else { inner };
        let mut repository = Self { program, directory, metadata, bare, filters: Vec::new() };
        repository.filters = repository.content_filters().await?;
        Ok(repository)
    }

    /// The top of its working tree.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether it has no working tree.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.bare
    }

    /// What landed on the checked-out branch between two times, newest first, as a patch.
    ///
    /// # Errors
    /// What Git said.
    pub async fn log(&self, since: Timestamp, until: Timestamp, paths: &[String]) -> Result<Printed, String> {
        let mut args = vec!["log".to_owned(), COMMIT_FORMAT.to_owned()];
        args.push(format!("--max-count={MAX_COMMITS}"));
        args.push(format!("--since={since:.0}"));
        args.push(format!("--until={until:.0}"));
        // A merge is told as what it brought to this branch, at the time it did.
        args.extend(["--first-parent", "-m", "--root", "--no-show-signature", "--no-notes"].map(str::to_owned));
        args.extend(PATCH.map(str::to_owned));
        args.extend(["HEAD", "--"].map(str::to_owned));
        args.extend(paths.iter().cloned());
        self.ask(args, MAX_PATCH).await
    }

    /// What in the working tree differs from the last commit, as a patch.
    ///
    /// # Errors
    /// What Git said.
    pub async fn uncommitted(&self, paths: &[String]) -> Result<Printed, String> {
        let mut args = vec!["diff".to_owned()];
        args.extend(PATCH.map(str::to_owned));
        args.extend(["HEAD", "--"].map(str::to_owned));
        args.extend(paths.iter().cloned());
        self.ask(args, MAX_PATCH).await
    }

    /// Files of the working tree that Git neither knows nor ignores.
    ///
    /// # Errors
    /// What Git said.
    pub async fn untracked(&self, paths: &[String]) -> Result<Vec<String>, String> {
        let mut args = ["ls-files", "--others", "--exclude-standard", "-z", "--"].map(str::to_owned).to_vec();
        args.extend(paths.iter().cloned());
        let printed = self.ask(args, MAX_FILE).await?;
        Ok(names(&printed.bytes))
    }

    /// A file as it was in a commit, or nothing where it is too big or not there.
    pub async fn file_at(&self, revision: &str, file: &str) -> Option<String> {
        let args = vec!["cat-file".to_owned(), "blob".to_owned(), format!("{revision}:{file}")];
        let printed = self.ask(args, MAX_FILE).await.ok()?;
        (!printed.cut).then(|| String::from_utf8_lossy(&printed.bytes).into_owned())
    }

    /// The names of settings that would run a program over file contents.
    async fn content_filters(&self) -> Result<Vec<String>, String> {
        let args = ["config", "-z", "--name-only", "--get-regexp", r"^filter\."].map(str::to_owned).to_vec();
        let finished = self.run(args, MAX_FILE).await?;
        match finished.end {
            // Git exits with 1 where there is none.
            End::Exited(0 | 1) => Ok(names(&finished.stdout)),
            End::Exited(_) | End::Killed | End::Cut => Err(self.complaint(&finished)),
        }
    }

    async fn ask(&self, args: Vec<String>, limit: usize) -> Result<Printed, String> {
        let finished = self.run(args, limit).await?;
        match finished.end {
            End::Exited(0) => Ok(Printed { bytes: finished.stdout, cut: false }),
            End::Cut => Ok(Printed { bytes: finished.stdout, cut: true }),
            End::Exited(_) | End::Killed => Err(self.complaint(&finished)),
        }
    }

    async fn run(&self, args: Vec<String>, max_stdout: usize) -> Result<Finished, String> {
        let mut env: Vec<(OsString, OsString)> =
            ENVIRONMENT.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
        env.push(("GIT_DIR".into(), self.metadata.clone().into()));
        if !self.bare {
            env.push(("GIT_WORK_TREE".into(), self.directory.clone().into()));
        }
        env.push(("GIT_CONFIG_COUNT".into(), self.filters.len().to_string().into()));
        for (at, filter) in self.filters.iter().enumerate() {
            env.push((format!("GIT_CONFIG_KEY_{at}").into(), filter.into()));
            let off = if filter.ends_with(".required") { "false" } else { "" };
            env.push((format!("GIT_CONFIG_VALUE_{at}").into(), off.into()));
        }
        let args = BEFORE_COMMAND.iter().map(OsString::from).chain(args.into_iter().map(OsString::from)).collect();
        let invocation = Invocation { program: self.program, args, env, directory: &self.directory, max_stdout };
        process::run(invocation).await.map_err(|error| error.to_string())
    }

    fn complaint(&self, finished: &Finished) -> String {
        let said = finished.stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or("git gave no reason");
        format!("`{}`: {}", self.directory.display(), first_chars(said, 300))
    }
}

fn names(bytes: &[u8]) -> Vec<String> {
    let names = bytes.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}
