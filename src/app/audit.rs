//! `warrant audit`: reading, proving and exporting the ledger.
//!
//! Any process that may read the store reads; every look at what records say is recorded first. A sealing goes through the
//! sequencer, wherever it runs; a rotation of the key takes the lease for as long as it runs.

pub mod list;

pub mod show;

pub mod export;

pub mod folder;

pub mod verify;

pub mod publish;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::db::Database;
use warrant_kernel::db::lease::Lease;
use warrant_kernel::db::storage::Row;
use warrant_kernel::domain::digest::Digest;
use warrant_kernel::ledger::archive::Archive;
use warrant_kernel::ledger::error::LedgerError;
use warrant_kernel::ledger::record::{Record, RecordKind};
use warrant_kernel::ledger::seal::Consent;
use warrant_kernel::ledger::{Ledger, Options};
use warrant_toolbox::tools::process::users;

use super::fault::Fault;
use super::sequencer::line::Line;
use super::sequencer::wire::Ask;
use super::{App, SystemClock, builtin, files};

/// What the ledger of this config is opened with.
#[must_use]
pub fn options(app: &App) -> Options {
    let host = || std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let instance = app.config.ledger.instance.clone().unwrap_or_else(host);
    let instance = if instance.trim().is_empty() { "unknown" } else { instance.trim() };
    let key = app.config.ledger.key(&app.config.store);
    Options::new(key, Arc::new(|| SystemClock.now()), instance.to_owned(), env!("CARGO_PKG_VERSION").to_owned())
}

/// Of the texts that decide what this process does beside policies and people those that stay while it runs: config and
/// redaction rules, with secrets masked.
///
/// # Errors
/// [`Fault::Failed`] where one can't be read or masked; what is in force would not be known then.
pub fn texts_of_the_start(app: &App) -> Result<BTreeMap<String, String>, Fault> {
    let (config, mut problems) = (&app.config, Vec::new());
    let rules = files::read(&config.rule_dirs, "toml", &[], &mut problems);
    let mut texts: BTreeMap<String, String> = rules.into_iter().map(|found| (found.name, found.text)).collect();
    match files::text(&config.path) {
        Ok(text) => drop(texts.insert("config".to_owned(), text)),
        Err(error) => problems.push(format!("can't read `{}`: {error}", config.path.display())),
    }
    masked(app, texts, problems)
}

/// The others: tools and runbooks, which are read again while a process runs, with secrets masked.
///
/// # Errors
/// As [`texts_of_the_start`].
pub fn texts_of_sets(app: &App) -> Result<BTreeMap<String, String>, Fault> {
    let (config, mut problems) = (&app.config, Vec::new());
    let tools = files::read(&config.tool_dirs, "toml", builtin::TOOLS, &mut problems);
    let runbooks = files::read(&config.runbook_dirs, "md", builtin::RUNBOOKS, &mut problems);
    masked(app, tools.into_iter().chain(runbooks).map(|found| (found.name, found.text)).collect(), problems)
}

fn masked(
    app: &App,
    mut texts: BTreeMap<String, String>,
    mut problems: Vec<String>,
) -> Result<BTreeMap<String, String>, Fault> {
    for (name, text) in &mut texts {
        match app.redactor.redact_text(text) {
            Ok(masked) => *text = masked.text.into_owned(),
            Err(error) => problems.push(format!("`{name}`: {error}")),
        }
    }
    if problems.is_empty() { Ok(texts) } else { Err(Fault::Failed(problems.join("; "))) }
}

/// The ledger, open for reading.
pub struct Reading {
    database: Database,
    archive: Archive,
}

impl Reading {
    /// Opens the store of a config.
    ///
    /// # Errors
    /// [`Fault::Database`] and [`Fault::Ledger`].
    pub async fn open(app: &App) -> Result<Self, Fault> {
        let database = Database::open(&app.config.store).await.map_err(Fault::Database)?;
        let archive = Archive::open(&database).await?;
        Ok(Self { database, archive })
    }

    /// Records that the person at this terminal looks at the ledger, before anything of it is shown.
    ///
    /// # Errors
    /// [`Fault::Ledger`].
    pub async fn look(&self, app: &App, kind: RecordKind, what: &[(&'static str, Value)]) -> Result<(), Fault> {
        let person = app.requester().await?.person;
        Ok(self.archive.look(kind, &person, what, &options(app)).await?)
    }

    /// Lets go of the store.
    pub async fn close(self) {
        self.archive.shut().await;
        self.database.close().await;
    }
}

/// Opens the ledger for appending and runs `work` with it, then publishes how far it came.
async fn writing<T, W>(app: &App, work: W) -> Result<T, Fault>
where
    W: AsyncFnOnce(&Ledger) -> Result<T, LedgerError>,
{
    let database = Database::open(&app.config.store).await.map_err(Fault::Database)?;
    let lease = Lease::take(&app.config.store).map_err(LedgerError::Lease)?;
    let ledger = Ledger::open(&database, lease, options(app)).await?;
    let done = work(&ledger).await;
    let published = ledger.publish(&publish::publishers(app)).await;
    ledger.shut().await;
    database.close().await;
    let done = done?;
    published?;
    Ok(done)
}

/// Goes on under a new key; gives the public one.
///
/// # Errors
/// [`Fault::Ledger`]; another process that writes to the ledger among them.
pub async fn rotate_key(app: &App) -> Result<String, Fault> {
    let by = Consent { person: app.requester().await?.person, proved: format!("uid {}", users::current()) };
    writing(app, async |ledger| ledger.rotate_key(&by).await).await.map(|key| key.to_string())
}

/// Asks for a sealing, or does it as the second person; then gives the number of the record that says so.
///
/// # Errors
/// [`Fault::Refused`], where the person may not, or what stood in the way.
pub async fn seal(app: &App, record: u64, fields: Vec<String>, reason: String) -> Result<Option<u64>, Fault> {
    let line = Line::open(app).await?;
    let sealed = line.ask(Ask::Seal { record, fields, reason }).await;
    line.end().await;
    sealed
}

/// A record as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Told {
    /// Its number.
    pub seq: u64,
    /// When.
    pub at: String,
    /// What about.
    pub kind: String,
    /// Its hash.
    pub hash: Digest,
    /// What it says.
    pub fields: BTreeMap<String, Value>,
    /// The fields that two persons sealed.
    pub sealed: Vec<String>,
}

impl Told {
    /// A row for reading.
    #[must_use]
    pub fn of(row: &Row) -> Self {
        let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        let fields: BTreeMap<String, Value> =
            row.openings.iter().map(|it| (it.field.clone(), value(&it.value))).collect();
        let committed = Record::parse(&row.bytes).map(|record| record.commitments).unwrap_or_default();
        let sealed = committed.into_keys().filter(|field| !fields.contains_key(field)).collect();
        Self { seq: row.seq, at: row.at.clone(), kind: row.kind.clone(), hash: row.hash, fields, sealed }
    }

    /// A field that is a text, or a number as one.
    #[must_use]
    pub fn text(&self, field: &str) -> Option<String> {
        match self.fields.get(field)? {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            other => Some(other.to_string()),
        }
    }
}
