//! What changed lately: commits, uncommitted edits, files written, deploys, as one list.
//!
//! [`Changes::gather`] reads every source that the services in question name. A source that fails is named in
//! [`Found::failed`], and the others are still read.

pub mod patch;

pub mod keys;

pub mod git;

mod repository;

mod modified;

pub mod deploys;

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::ReadError;
use warrant_kernel::domain::name::{ServiceName, SourceName};
use warrant_kernel::domain::time;

use crate::catalog::Catalog;
use crate::tools::process::Program;
use crate::tools::workspace::{Workspaces, blocking};

/// What kind of change a row tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// In a file that differs from the last commit.
    Uncommitted,
    /// In a commit.
    Commit,
    /// A file was written, and no commit or edit tells how.
    Modified,
    /// An entry of a deploy log.
    Deploy,
}

/// One change, as a reader sees it. A side without lines is empty; what does not apply is absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the field names are the words of the row; each is told in the tool's description")]
pub struct Change {
    pub kind: Kind,
    #[serde(serialize_with = "as_rfc3339")]
    pub at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_lines: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

fn as_rfc3339<S: serde::Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&time::rfc3339(*at))
}

impl Change {
    fn new(kind: Kind, at: Timestamp) -> Self {
        Self {
            kind,
            at,
            service: None,
            also: Vec::new(),
            repository: None,
            file: None,
            line: None,
            key: None,
            before: None,
            after: None,
            more_lines: None,
            note: None,
            author: None,
            commit: None,
            subject: None,
            version: None,
            by: None,
            message: None,
        }
    }
}

/// A source that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failed {
    /// Its section in the config.
    pub source: String,
    /// What happened.
    pub why: String,
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    /// One service, or all.
    pub service: Option<ServiceName>,
    /// The beginning of the window.
    pub since: Timestamp,
    /// Its end.
    pub until: Timestamp,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// The changes, newest first.
    pub changes: Vec<Change>,
    /// Sources that were read, by their section in the config.
    pub read: Vec<String>,
    /// Sources that were not.
    pub failed: Vec<Failed>,
    /// What a source or a limit left out, in sentences.
    pub left_out: Vec<String>,
    /// Uncommitted files that were last written before the window.
    pub older_uncommitted: u64,
    /// Real paths of the files that a commit or an edit tells of.
    explained: Vec<std::path::PathBuf>,
}

impl Found {
    fn fail(&mut self, source: String, why: String) {
        self.failed.push(Failed { source, why });
    }

    fn add(&mut self, other: Self) {
        self.changes.extend(other.changes);
        self.read.extend(other.read);
        self.failed.extend(other.failed);
        self.left_out.extend(other.left_out);
        self.older_uncommitted += other.older_uncommitted;
        self.explained.extend(other.explained);
    }
}

/// The sources of changes.
#[derive(Debug)]
pub struct Changes {
    catalog: Arc<Catalog>,
    workspaces: Arc<Workspaces>,
    git: Option<Program>,
}

impl Changes {
    /// Reads through `git`, where there is one.
    #[must_use]
    pub fn new(catalog: Arc<Catalog>, workspaces: Arc<Workspaces>, git: Option<Program>) -> Self {
        Self { catalog, workspaces, git }
    }

    /// All changes asked for, newest first.
    ///
    /// # Errors
    /// When cancelled, or when every source failed.
    pub async fn gather(&self, asked: &Asked, cancel: &CancellationToken) -> Result<Found, ReadError> {
        let mut found = Found::default();
        let repositories = self.catalog.sources().repositories.keys().filter(|name| self.concerns(asked, name));
        let reads = repositories.map(|name| repository::read(self, asked, name));
        for part in futures_util::future::join_all(reads).await {
            found.add(part);
        }
        for name in self.deploy_logs(asked) {
            found.add(self.deploys(asked, name, cancel).await?);
        }
        let explained = std::mem::take(&mut found.explained);
        found.add(modified::read(self, asked, explained, cancel).await?);
        if cancel.is_cancelled() {
            return Err(ReadError::Cancelled);
        }
        if found.read.is_empty() && !found.failed.is_empty() {
            let failed: Vec<String> = found.failed.iter().map(|f| format!("{}: {}", f.source, f.why)).collect();
            return Err(ReadError::Backend {
                reason: "ALL_SOURCES_FAILED",
                message: format!("no source of changes could be read: {}", failed.join("; ")),
                retryable: true,
            });
        }
        found.changes.sort_by(|a, b| {
            (b.at, a.kind, &a.repository, &a.file, a.line).cmp(&(a.at, b.kind, &b.repository, &b.file, b.line))
        });
        Ok(found)
    }

    /// Whether a repository is asked for: named by the service, or any where none is given.
    fn concerns(&self, asked: &Asked, repository: &SourceName) -> bool {
        match asked.service.as_ref() {
            None => true,
            Some(name) => self
                .catalog
                .service(name)
                .is_some_and(|service| service.changes.iter().any(|paths| paths.repository == *repository)),
        }
    }

    fn deploy_logs(&self, asked: &Asked) -> Vec<SourceName> {
        match asked.service.as_ref() {
            None => self.catalog.sources().deploys.keys().cloned().collect(),
            Some(name) => self.catalog.service(name).map(|service| service.deploys.clone()).unwrap_or_default(),
        }
    }

    async fn deploys(&self, asked: &Asked, name: SourceName, cancel: &CancellationToken) -> Result<Found, ReadError> {
        let mut found = Found::default();
        let section = format!("deploys.{name}");
        let Some(source) = self.catalog.sources().deploys.get(&name) else { return Ok(found) };
        let (file, since, until, token) = (source.file.clone(), asked.since, asked.until, cancel.clone());
        let log = match blocking(move || Ok(deploys::read(&file, since, until, &token))).await? {
            Ok(log) => log,
            Err(why) => {
                found.fail(section, why);
                return Ok(found);
            }
        };
        if log.bad_lines > 0 {
            found
                .left_out
                .push(format!("{} lines of `{section}` are no deploys (no JSON object with a time)", log.bad_lines));
        }
        if log.begins_later {
            found
                .left_out
                .push(format!("`{section}` is long: its beginning, which may reach into the window, was not read"));
        }
        found.read.push(section);
        let asked_for = asked.service.as_ref().map(ServiceName::as_str);
        // An entry without a service concerns them all.
        let entries = log
            .deploys
            .into_iter()
            .filter(|entry| asked_for.is_none() || entry.service.is_none() || entry.service.as_deref() == asked_for);
        found.changes.extend(entries.map(|entry| Change {
            service: entry.service,
            version: entry.version,
            by: entry.by,
            message: entry.message,
            ..Change::new(Kind::Deploy, entry.at)
        }));
        Ok(found)
    }
}

#[cfg(test)]
pub(in crate::tools) mod fixture;

#[cfg(test)]
mod tests;
