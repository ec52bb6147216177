//! `warrant audit verify`: a store or an exported folder, against checkpoints kept elsewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use warrant_kernel::db::storage::{Log, StorageError};
use warrant_kernel::ledger::error::LedgerError;
use warrant_kernel::ledger::note::{Checkpoint, PublicKey};
use warrant_kernel::ledger::verify::{Finding, Verified, Verifier};

use super::{Reading, folder};
use crate::app::App;
use crate::app::fault::{Fault, counted};

/// How many records are read at a time.
const PAGE: u32 = 256;

/// What to verify, and against what.
#[derive(Debug, Clone, Default)]
pub struct Question {
    /// An exported folder; none for the store.
    pub folder: Option<PathBuf>,
    /// Files with checkpoints that were kept elsewhere, or directories of such files.
    pub against: Vec<PathBuf>,
    /// The public key, known from elsewhere.
    pub key: Option<String>,
}

/// What was found, by log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// `writes` or `looks`.
    pub log: &'static str,
    /// How many kept checkpoints it was compared with.
    pub kept: usize,
    /// What was found.
    #[serde(flatten)]
    pub verified: Verified,
}

impl Answer {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.verified.findings.is_empty()
    }
}

/// Verifies an exported folder, which needs no config.
///
/// # Errors
/// [`Fault::Usage`] where what was named can't be read.
pub fn verify_folder(question: &Question, folder: &Path) -> Result<Vec<Answer>, Fault> {
    let unread = |error: std::io::Error| Fault::Usage(format!("can't read `{}`: {error}", folder.display()));
    let files = folder::all_files(folder).map_err(unread)?;
    verify_files(&files, kept(&question.against)?, key(question)?).map(|answer| vec![answer]).map_err(Fault::Usage)
}

/// Verifies the files of an export, by their paths below its folder.
///
/// # Errors
/// What is missing for it to be an export.
pub fn verify_files(
    files: &BTreeMap<PathBuf, Vec<u8>>,
    mut kept: Vec<String>,
    key: Option<PublicKey>,
) -> Result<Answer, String> {
    let count = kept.len();
    let read = folder::read(files)?;
    // Its own checkpoint must cover it exactly.
    kept.push(read.checkpoint.clone());
    let mut verifier = Verifier::new(kept, key);
    for row in &read.rows {
        verifier.step(row);
    }
    let mut said = verifier.finish();
    let mut found = |from: u64, what: String| said.findings.push(Finding { from, to: from + 1, what });
    for (from, what) in read.wrong {
        found(from, what);
    }
    if said.key.as_ref().is_none_or(|key| read.key != format!("{key}\n")) {
        found(0, "the file `key` does not hold the key that signs the log".to_owned());
    }
    if Checkpoint::unproved(&read.checkpoint).is_none_or(|says| says.size != said.size) {
        found(said.size, "the folder does not hold what its checkpoint covers".to_owned());
    }
    said.findings.sort_by_key(|finding| finding.from);
    Ok(Answer { log: Log::Writes.as_str(), kept: count, verified: said })
}

/// Verifies both logs of the store.
///
/// # Errors
/// [`Fault::Usage`] where what was named can't be read, [`Fault::Ledger`] where the store can't.
pub async fn verify_store(app: &App, question: &Question) -> Result<Vec<Answer>, Fault> {
    let (of_looks, of_writes): (Vec<String>, Vec<String>) = kept(&question.against)?
        .into_iter()
        .partition(|note| Checkpoint::unproved(note).is_some_and(|says| says.origin.ends_with("/looks")));
    let key = key(question)?;
    let reading = Reading::open(app).await?;
    let mut answers: Vec<Answer> = Vec::new();
    for (log, kept) in [(Log::Writes, of_writes), (Log::Looks, of_looks)] {
        // No look is made before the first write; a log that is gone shows against what was kept of it.
        if reading.archive.tail(log).await?.is_none() && kept.is_empty() {
            continue;
        }
        let count = kept.len();
        let keys = answers.first().map(|writes| writes.verified.keys.clone()).unwrap_or_default();
        let mut verifier = Verifier::new(kept, key.clone().filter(|_| log == Log::Writes)).under(&keys);
        let (mut seen, mut unread) = (0, None);
        loop {
            let rows = match reading.archive.records(log, seen, PAGE).await {
                Ok(rows) => rows,
                // What was altered so that it is no record any more is a finding, not a reason to stop looking.
                Err(LedgerError::Storage(StorageError::Damaged(what))) => {
                    unread = Some(what);
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            let Some(last) = rows.last() else { break };
            // A number that went back would be read for ever.
            seen = last.seq.saturating_add(1).max(seen + 1);
            for row in &rows {
                verifier.step(row);
            }
        }
        let mut said = verifier.finish();
        said.findings.extend(unread.map(|what| Finding {
            from: seen,
            to: seen + u64::from(PAGE),
            what: format!("one of them can't be read at all: {what}"),
        }));
        answers.push(Answer { log: log.as_str(), kept: count, verified: said });
    }
    reading.close().await;
    Ok(answers)
}

fn key(question: &Question) -> Result<Option<PublicKey>, Fault> {
    let parsed = question.key.as_deref().map(str::parse::<PublicKey>).transpose();
    parsed.map_err(|error| Fault::Usage(format!("--key: {error}")))
}

/// The notes in files and directories of files.
fn kept(paths: &[PathBuf]) -> Result<Vec<String>, Fault> {
    let fail = |path: &Path, error: std::io::Error| Fault::Usage(format!("can't read `{}`: {error}", path.display()));
    let mut notes = Vec::new();
    for path in paths {
        if !path.is_dir() {
            notes.push(std::fs::read_to_string(path).map_err(|error| fail(path, error))?);
            continue;
        }
        for entry in std::fs::read_dir(path).map_err(|error| fail(path, error))? {
            let file = entry.map_err(|error| fail(path, error))?.path();
            let text = std::fs::read_to_string(&file).map_err(|error| fail(&file, error))?;
            if !notes.contains(&text) {
                notes.push(text);
            }
        }
    }
    Ok(notes)
}

/// An answer for people, a line each.
#[must_use]
pub fn lines(answer: &Answer) -> Vec<String> {
    let found = &answer.verified;
    let mut lines = vec![format!("{}: {}, root {}", answer.log, counted(whole(found.size), "record"), found.root)];
    lines.push(format!("  log {}", found.origin));
    if let Some(key) = &found.key {
        lines.push(format!("  key {key}"));
    }
    if found.checkpoints > 0 {
        lines.push(format!("  {} in it as signed", counted(whole(found.checkpoints), "checkpoint")));
    }
    if found.sealed > 0 {
        lines.push(format!("  {} sealed by two persons", counted(whole(found.sealed), "value")));
    }
    for finding in &found.findings {
        let place = match finding.to.saturating_sub(finding.from) {
            0 => String::new(),
            1 => format!("record {}: ", finding.from),
            _ => format!("records {} to {}: ", finding.from, finding.to - 1),
        };
        lines.push(format!("  WRONG: {place}{}", finding.what));
    }
    if found.more > 0 {
        lines.push(format!("  and {} more", found.more));
    }
    if !found.findings.is_empty() {
        return lines;
    }
    if answer.kept == 0 {
        lines.push("  sound in itself; a cut end or a history written anew shows only against a".to_owned());
        lines.push("  checkpoint kept elsewhere: --against FILE".to_owned());
    } else {
        let sizes: Vec<String> = found.agrees_with.iter().map(ToString::to_string).collect();
        lines.push(format!("  sound, and as the kept checkpoints say (records: {})", sizes.join(", ")));
    }
    lines
}

fn whole(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
