//! A Git repository, made for a test, whose times are fixed.

#![expect(clippy::disallowed_methods, reason = "a fixture starts git as a person would")]

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use jiff::Timestamp;
use tempfile::TempDir;

/// A repository in a directory that goes away with it.
pub(in crate::tools) struct Repo {
    pub(in crate::tools) dir: TempDir,
}

/// Sets when a file was last written.
pub(in crate::tools) fn set_time(path: &Path, time: &str) {
    let time: Timestamp = time.parse().unwrap();
    File::options().append(true).open(path).unwrap().set_modified(time.try_into().unwrap()).unwrap();
}

impl Repo {
    pub(in crate::tools) fn new() -> Self {
        let repo = Self { dir: tempfile::tempdir().unwrap() };
        repo.git(&["init", "--quiet", "--initial-branch=main"], "2026-01-01T00:00:00Z");
        repo
    }

    pub(in crate::tools) fn git(&self, args: &[&str], date: &str) {
        let output = Command::new("git")
            .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"])
            .args(args)
            .current_dir(self.dir.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs([("GIT_AUTHOR_DATE", date), ("GIT_COMMITTER_DATE", date)])
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    pub(in crate::tools) fn write(&self, file: &str, content: &str) {
        let path = self.dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(in crate::tools) fn commit(&self, subject: &str, date: &str) {
        self.git(&["add", "--all"], date);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", subject], date);
    }
}
