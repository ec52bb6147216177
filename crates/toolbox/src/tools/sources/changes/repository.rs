//! The rows of one repository: its commits and what is not committed yet.

use std::collections::HashMap;
use std::sync::Arc;

use warrant_kernel::domain::name::{ServiceName, SourceName};

use super::git::{Git, MAX_COMMITS, Printed};
use super::keys::{self, Format};
use super::patch::{self, Commit, FileChange, Hunk};
use super::{Asked, Change, Changes, Found, Kind};
use crate::catalog::Catalog;
use crate::tools::workspace::lines::Lines;
use crate::tools::workspace::path::RelPath;
use crate::tools::workspace::root::Root;

/// Most hunks of one commit that become rows; one commit that moved everything must not hide the others.
const MAX_HUNKS: usize = 60;
/// Most hunks of one commit that are looked through for those of settings files.
const MAX_PARSED: usize = 2_000;
/// Most files that are read for the sections of keys, in one call.
const MAX_LOOKUPS: usize = 64;
/// Most bytes of a settings file that is read for the section of a key.
const MAX_SETTINGS: u64 = 1024 * 1024;
/// Most new, unknown files that become rows.
const MAX_UNTRACKED: usize = 50;

/// Reads one repository. What fails is in the result.
pub(super) async fn read(changes: &Changes, asked: &Asked, name: &SourceName) -> Found {
    let mut found = Found::default();
    let section = format!("repositories.{name}");
    match rows(changes, asked, name, &mut found).await {
        Ok(()) => found.read.push(section),
        Err(why) => found.fail(section, why),
    }
    found
}

async fn rows(changes: &Changes, asked: &Asked, name: &SourceName, found: &mut Found) -> Result<(), String> {
    let program = changes.git.as_ref().ok_or("git is not installed; install it to see commits")?;
    let source = changes.catalog.sources().repositories.get(name).ok_or("it is not configured")?;
    let git = Git::open(program, &source.dir).await?;
    let root = Root::open(name.clone(), git.directory(), Arc::clone(changes.workspaces.own()))
        .map_err(|error| format!("`{}` can't be opened: {error}", source.dir.display()))?;
    let owners = Owners::new(&changes.catalog, asked, name);
    let mut rows = RepositoryRows { git, root, owners, name, asked, found, lookups: HashMap::new() };
    rows.commits().await?;
    if !rows.git.is_bare() {
        rows.uncommitted().await?;
        rows.untracked().await?;
    }
    Ok(())
}

struct RepositoryRows<'a> {
    git: Git<'a>,
    root: Root,
    owners: Owners,
    name: &'a SourceName,
    asked: &'a Asked,
    found: &'a mut Found,
    lookups: HashMap<(Option<String>, String), Option<String>>,
}

impl RepositoryRows<'_> {
    async fn commits(&mut self) -> Result<(), String> {
        let printed = self.git.log(self.asked.since, self.asked.until, &self.owners.pathspecs).await?;
        let mut sections = patch::parse(&printed.bytes, MAX_PARSED);
        if printed.cut
            && let Some(last) = sections.last_mut()
        {
            // The output ended somewhere within it.
            last.hunks.pop();
        }
        if printed.cut || sections.len() >= MAX_COMMITS {
            let oldest = sections.last().and_then(|section| section.commit.as_ref());
            let before = oldest.map_or_else(String::new, |commit| format!(" from {:.12} backwards", commit.id));
            let name = self.name;
            self.found.left_out.push(format!(
                "commits of `{name}`{before} were not all read: narrow `since` and `until`, or name a `service`"
            ));
        }
        for section in sections {
            let Some(commit) = section.commit else { continue };
            let hunks = self.chosen(section.hunks, section.more, Some(&commit));
            for hunk in hunks {
                self.row(hunk, Some(&commit)).await;
            }
        }
        Ok(())
    }

    async fn uncommitted(&mut self) -> Result<(), String> {
        let Printed { bytes, cut } = self.git.uncommitted(&self.owners.pathspecs).await?;
        if cut {
            let name = self.name;
            self.found
                .left_out
                .push(format!("the uncommitted changes of `{name}` are very long and were not all read"));
        }
        for section in patch::parse(&bytes, MAX_PARSED) {
            let hunks = self.chosen(section.hunks, section.more, None);
            for hunk in hunks {
                self.row(hunk, None).await;
            }
        }
        Ok(())
    }

    async fn untracked(&mut self) -> Result<(), String> {
        let files = self.git.untracked(&self.owners.pathspecs).await?;
        if files.len() > MAX_UNTRACKED {
            let (name, more) = (self.name, files.len() - MAX_UNTRACKED);
            self.found.left_out.push(format!("{more} more files of `{name}` that Git does not know"));
        }
        for file in files.into_iter().take(MAX_UNTRACKED) {
            let (after, more) = self.beginning(&file).unwrap_or_default();
            let hunk = Hunk {
                file,
                change: FileChange::Added,
                old_line: 0,
                new_line: 1,
                before: Vec::new(),
                after,
                more,
                cut: false,
                binary: false,
            };
            self.row(hunk, None).await;
        }
        Ok(())
    }

    /// The first lines of a text file of the working tree, and whether there are more.
    fn beginning(&self, file: &str) -> Option<(Vec<String>, u64)> {
        let opened = self.root.file(&RelPath::parse(file).ok()?).ok()?;
        let mut lines = Lines::new(opened.file, patch::MAX_CHARS);
        let mut kept = Vec::new();
        while let Some(line) = lines.next_line().ok()? {
            if line.bytes.contains(&0) {
                return None;
            }
            if kept.len() == patch::MAX_LINES {
                return Some((kept, 1));
            }
            kept.push(line.text());
        }
        Some((kept, 0))
    }

    /// As many hunks as become rows, those of settings files first where not all do.
    fn chosen(&mut self, hunks: Vec<Hunk>, more: u64, commit: Option<&Commit>) -> Vec<Hunk> {
        let mut hunks: Vec<Hunk> = hunks
            .into_iter()
            .flat_map(|hunk| if Format::of(&hunk.file).is_some() { keys::split(hunk) } else { vec![hunk] })
            .collect();
        if hunks.len() > MAX_HUNKS {
            hunks.sort_by_key(|hunk| Format::of(&hunk.file).is_none());
        }
        let more = more + u64::try_from(hunks.len().saturating_sub(MAX_HUNKS)).unwrap_or_default();
        if more > 0 {
            let of = commit.map_or_else(
                || format!("the uncommitted changes of `{}`", self.name),
                |commit| format!("commit {:.12}", commit.id),
            );
            self.found.left_out.push(format!("{more} more changed places of {of}, settings files shown first"));
        }
        hunks.truncate(MAX_HUNKS);
        hunks
    }

    async fn row(&mut self, hunk: Hunk, commit: Option<&Commit>) {
        let at = match commit {
            Some(commit) => commit.at,
            None => self.root.touched(&hunk.file).unwrap_or(self.asked.until),
        };
        if commit.is_none() && at < self.asked.since {
            self.found.older_uncommitted += 1;
            return;
        }
        if at > self.asked.until {
            return;
        }
        let explained = self.git.directory().join(&hunk.file);
        if !self.found.explained.contains(&explained) {
            self.found.explained.push(explained);
        }
        let mut services = self.owners.of(&hunk.file).into_iter();
        let mut change = Change {
            service: services.next(),
            also: services.collect(),
            repository: Some(self.name.to_string()),
            file: Some(hunk.file.clone()),
            author: commit.map(|commit| commit.author.clone()),
            commit: commit.map(|commit| commit.id.chars().take(12).collect()),
            subject: commit.map(|commit| commit.subject.clone()),
            ..Change::new(if commit.is_some() { Kind::Commit } else { Kind::Uncommitted }, at)
        };
        if self.root.protects(self.git.directory(), &hunk.file, &hunk.file) {
            change.note = Some("protected: content is never shown");
            let twice = self.found.changes.last().is_some_and(|last| *last == change);
            if !twice {
                self.found.changes.push(change);
            }
            return;
        }
        change.note = note(&hunk);
        if !hunk.before.is_empty() || !hunk.after.is_empty() {
            change.key = self.key(&hunk, commit).await;
            change.line = Some(hunk.new_line);
            change.more_lines = (hunk.more > 0).then_some(hunk.more);
            change.before = Some(hunk.before);
            change.after = Some(hunk.after);
        }
        self.found.changes.push(change);
    }

    /// The setting that the hunk changes, with its section where the file tells it.
    async fn key(&mut self, hunk: &Hunk, commit: Option<&Commit>) -> Option<String> {
        let first = |lines: &[String]| {
            let found =
                lines.iter().enumerate().find_map(|(at, line)| keys::key_of(line).map(|key| (at, key.to_owned())));
            found.map(|(at, key)| (u64::try_from(at).unwrap_or_default(), key))
        };
        let (line, key, is_new) = match (first(&hunk.after), first(&hunk.before)) {
            (Some((at, key)), _) => (hunk.new_line.saturating_add(at), Some(key), true),
            (None, Some((at, key))) => (hunk.old_line.saturating_add(at), Some(key), false),
            // An item of a list has no key of its own, and still stands under one.
            (None, None) if hunk.after.is_empty() => (hunk.old_line, None, false),
            (None, None) => (hunk.new_line, None, true),
        };
        let Some(format) = Format::of(&hunk.file) else { return key };
        let revision = match (commit, is_new) {
            (Some(commit), true) => Some(commit.id.clone()),
            (Some(commit), false) => Some(format!("{}^", commit.id)),
            (None, true) => None,
            (None, false) => Some("HEAD".to_owned()),
        };
        let content = self.content(revision, &hunk.file).await;
        content.and_then(|content| keys::path_at(&content, format, line)).or(key)
    }

    async fn content(&mut self, revision: Option<String>, file: &str) -> Option<String> {
        let at = (revision, file.to_owned());
        if let Some(content) = self.lookups.get(&at) {
            return content.clone();
        }
        if self.lookups.len() >= MAX_LOOKUPS {
            return None;
        }
        let content = match &at.0 {
            Some(revision) => self.git.file_at(revision, file).await,
            None => self.root.text(file, MAX_SETTINGS),
        };
        self.lookups.insert(at, content.clone());
        content
    }
}

fn note(hunk: &Hunk) -> Option<&'static str> {
    let empty = hunk.before.is_empty() && hunk.after.is_empty();
    match hunk.change {
        FileChange::Added => Some("new file"),
        FileChange::Deleted => Some("file deleted"),
        FileChange::Edited if hunk.binary => Some("binary file"),
        FileChange::Edited if empty => Some("mode changed"),
        FileChange::Edited if hunk.cut => Some("long lines cut"),
        FileChange::Edited => None,
    }
}

/// Which services' paths a file lies beneath.
pub(super) struct Owners {
    paths: Vec<(ServiceName, RelPath)>,
    /// What Git is asked for; empty for the whole.
    pathspecs: Vec<String>,
}

impl Owners {
    pub(super) fn new(catalog: &Catalog, asked: &Asked, repository: &SourceName) -> Self {
        let mut paths = Vec::new();
        for (name, service) in catalog.services() {
            if asked.service.as_ref().is_some_and(|asked| asked != name) {
                continue;
            }
            for place in service.changes.iter().filter(|place| place.repository == *repository) {
                // A path that leads out of the repository can't be meant.
                let mut beneath: Vec<RelPath> =
                    place.paths.iter().filter_map(|path| RelPath::parse(path).ok()).collect();
                if place.paths.is_empty() {
                    beneath.push(RelPath::root());
                }
                paths.extend(beneath.into_iter().map(|path| (name.clone(), path)));
            }
        }
        let whole = asked.service.is_none() || paths.iter().any(|(_, path)| path.as_str().is_empty());
        let pathspecs = if whole { Vec::new() } else { paths.iter().map(|(_, path)| path.to_string()).collect() };
        Self { paths, pathspecs }
    }

    /// The services with the nearest path above the file.
    pub(super) fn of(&self, file: &str) -> Vec<String> {
        let covering = || self.paths.iter().filter(|(_, path)| path.covers(file));
        let nearest = covering().map(|(_, path)| path.as_str().len()).max();
        let mut names: Vec<String> = covering()
            .filter(|(_, path)| Some(path.as_str().len()) == nearest)
            .map(|(name, _)| name.to_string())
            .collect();
        names.dedup();
        names
    }
}
