//! The write side of this process: the lease, the ledger, the sequencer. Opened when a write is asked for, and not before:
//! a run that only reads pays nothing for it.

pub mod directory;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::OnceCell;
use warrant_kernel::call::gate::approver::Approver;
use warrant_kernel::call::gate::sequencer::shown::{Limits, Swept};
use warrant_kernel::call::gate::sequencer::{Parts, Sequencer};
use warrant_kernel::call::tool::Clock;
use warrant_kernel::db::Database;
use warrant_kernel::db::lease::Lease;
use warrant_kernel::ledger::{Ledger, Options};

use super::fault::Fault;
use super::{App, SystemClock};
use crate::agent::writes::WriteSide;
use directory::ConfigDirectory;

/// An open write side. While it lives no other process writes to the same ledger.
pub struct Opened {
    /// The one writer of approvals.
    pub sequencer: Arc<Sequencer>,
    /// What an earlier process left.
    pub swept: Swept,
    ledger: Ledger,
    database: Database,
}

impl Opened {
    /// Takes the lease, opens the ledger, and looks after what an earlier process left.
    ///
    /// # Errors
    /// [`Fault::Database`], and [`Fault::Failed`] where another process has the lease or the ledger does not prove itself.
    pub async fn open(app: &App) -> Result<Self, Fault> {
        let failed = |error: &dyn std::error::Error| Fault::Failed(with_source(error));
        let database = Database::open(&app.config.store).await.map_err(Fault::Database)?;
        let lease = Lease::take(&app.config.store).map_err(|error| failed(&error))?;
        let ledger = Ledger::open(&database, lease, options(app)).await.map_err(|error| failed(&error))?;
        let parts = Parts {
            ledger: ledger.clone(),
            registry: Arc::clone(&app.bench.registry),
            policy: Arc::clone(&app.bench.policy),
            directory: Arc::new(ConfigDirectory::of(app)?),
            redactor: app.redactor.clone(),
            clock: Arc::new(SystemClock),
            random: Arc::new(getrandom::fill),
            limits: Limits::standard(),
        };
        let sequencer = Sequencer::open(parts).await.map_err(|error| failed(&error))?;
        let swept = sequencer.sweep().await.map_err(|error| failed(&error))?;
        for (approval, state) in &swept.orphans {
            tracing::warn!(
                "the outcome of {approval} was lost with an earlier process; it stands at: {}",
                state.as_str()
            );
        }
        Ok(Self { sequencer: Arc::new(sequencer), swept, ledger, database })
    }

    /// The ledger, for reading what is in it.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Signs how far the ledger has come, and lets go of it.
    pub async fn close(self) {
        if let Err(error) = self.ledger.publish(&[]).await {
            tracing::warn!(%error, "the ledger's checkpoint could not be signed");
        }
        drop(self.sequencer);
        self.ledger.shut().await;
        self.database.close().await;
    }
}

/// What the ledger of this config is opened with.
fn options(app: &App) -> Options {
    let instance = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let instance = if instance.trim().is_empty() { "unknown" } else { instance.trim() };
    let mut key = app.config.store.as_os_str().to_owned();
    key.push(".key");
    Options::new(key.into(), Arc::new(|| SystemClock.now()), instance.to_owned(), env!("CARGO_PKG_VERSION").to_owned())
}

/// The write side of one investigation.
pub struct Lazy<'a> {
    app: &'a App,
    approver: Arc<dyn Approver>,
    opened: OnceCell<Opened>,
}

impl<'a> Lazy<'a> {
    /// Nothing is opened yet.
    #[must_use]
    pub fn new(app: &'a App, approver: Arc<dyn Approver>) -> Self {
        Self { app, approver, opened: OnceCell::new() }
    }

    /// Lets go of what was opened, if anything was.
    pub async fn close(self) {
        if let Some(opened) = self.opened.into_inner() {
            opened.close().await;
        }
    }
}

#[async_trait]
impl WriteSide for Lazy<'_> {
    async fn sequencer(&self) -> Result<&Sequencer, String> {
        let opened = self.opened.get_or_try_init(|| Opened::open(self.app)).await;
        opened.map(|opened| opened.sequencer.as_ref()).map_err(|fault| fault.to_string())
    }

    fn approver(&self) -> &dyn Approver {
        self.approver.as_ref()
    }

    async fn checkpoint(&self) -> Option<String> {
        let signed = self.opened.get()?.ledger.checkpoint().await;
        match signed {
            Ok(signed) => Some(format!("{} records, root {}", signed.size, signed.root)),
            Err(error) => {
                tracing::warn!(%error, "the ledger's checkpoint could not be signed");
                None
            }
        }
    }
}

fn with_source(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
