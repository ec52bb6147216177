//! The Git repository that the configuration of the shop is committed to, made anew for each run. The machine's own Git
//! settings (names, signing, hooks) have no say in it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use jiff::Timestamp;
use tokio::process::Command;
use warrant_kernel::redact::guard::first_chars;

use crate::demo::plan::Author;

/// A repository of the shop.
#[derive(Debug, Clone)]
pub struct Repository {
    dir: PathBuf,
}

/// Why there is no repository, or no commit.
#[derive(Debug, thiserror::Error)]
pub enum RepositoryError {
    /// There is no `git` on this machine.
    #[error("`git` is not installed, so the changes of the shop cannot be observed; install it (`apt install git`)")]
    NoGit,
    /// It could not be started.
    #[error("starting `git {what}`")]
    Start {
        /// The command.
        what: String,
        /// Why.
        source: std::io::Error,
    },
    /// It failed.
    #[error("`git {what}` failed: {stderr}")]
    Failed {
        /// The command.
        what: String,
        /// What it said.
        stderr: String,
    },
}

impl Repository {
    /// Makes an empty repository in a directory that exists.
    ///
    /// # Errors
    /// [`RepositoryError::NoGit`] where there is no `git`; the others where it fails.
    pub async fn create(dir: &Path) -> Result<Self, RepositoryError> {
        let repository = Self { dir: dir.to_path_buf() };
        repository.git(&["init", "--quiet", "--initial-branch=main"], &[]).await?;
        Ok(repository)
    }

    /// Commits what stands in `paths`, and nothing else.
    ///
    /// # Errors
    /// [`RepositoryError`] where `git` fails.
    pub async fn commit(
        &self,
        paths: &[&str],
        author: Author,
        message: &str,
        at: Timestamp,
    ) -> Result<(), RepositoryError> {
        let mut add = vec!["add", "--"];
        add.extend(paths);
        self.git(&add, &[]).await?;
        let date = format!("@{} +0000", at.as_second());
        let environment = [
            ("GIT_AUTHOR_NAME", author.name),
            ("GIT_AUTHOR_EMAIL", author.email),
            ("GIT_AUTHOR_DATE", &date),
            ("GIT_COMMITTER_NAME", author.name),
            ("GIT_COMMITTER_EMAIL", author.email),
            ("GIT_COMMITTER_DATE", &date),
        ];
        let mut commit = vec!["commit", "--quiet", "--no-gpg-sign", "-m", message, "--"];
        commit.extend(paths);
        self.git(&commit, &environment).await
    }

    async fn git(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Result<(), RepositoryError> {
        let what = arguments.first().copied().unwrap_or_default().to_owned();
        let output = Command::new("git")
            .args(["-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0"])
            .args(arguments.iter().map(OsStr::new))
            .current_dir(&self.dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env_remove("GIT_INDEX_FILE")
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .map_err(|source| match source.kind() {
                std::io::ErrorKind::NotFound => RepositoryError::NoGit,
                _ => RepositoryError::Start { what: what.clone(), source },
            })?;
        if output.status.success() {
            return Ok(());
        }
        let stderr = first_chars(String::from_utf8_lossy(&output.stderr).trim(), 400).to_owned();
        Err(RepositoryError::Failed { what, stderr })
    }
}
