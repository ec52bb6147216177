//! Takes the lease of the store and everything that goes with it, for as long as this process decides on writes.
//!
//! What an earlier process left is looked after first. Then others may ask at the socket, approvals expire when their time
//! is up, and checkpoints leave.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use warrant_kernel::call::gate::sequencer::rules::Rules;
use warrant_kernel::call::gate::sequencer::shown::{Limits, Swept};
use warrant_kernel::call::gate::sequencer::{self, Sequencer};
use warrant_kernel::db::Database;
use warrant_kernel::db::lease::Lease;
use warrant_kernel::ledger::Ledger;
use warrant_kernel::ledger::error::LedgerError;
use warrant_kernel::ledger::publish::Publisher;
use warrant_kernel::ledger::record::RecordKind;
use warrant_kernel::people::User;
use warrant_kernel::people::directory::Directory;
use warrant_toolbox::tools::process::users;

use super::office::{self, Office, Users};
use super::socket::{Socket, SocketError, path_beside};
use crate::app::audit::{self, publish::publishers};
use crate::app::fault::Fault;
use crate::app::{App, SystemClock};
use crate::chat::terminal::approver::Attended;
use crate::config::people::ConfigPeople;

/// How often it is looked whether the time of an approval is up.
const EXPIRY: Duration = Duration::from_secs(15);

/// The one process that decides, from taking the lease to letting go of it.
pub struct Hold {
    office: Arc<Office>,
    ledger: Ledger,
    database: Database,
    publishers: Vec<Arc<dyn Publisher>>,
    /// Texts in force that stay as long as it holds.
    at_start: BTreeMap<String, String>,
    cancel: CancellationToken,
    /// Whoever drops it without [`Self::end`] leaves no work behind that would keep the lease.
    _ends: DropGuard,
    work: Vec<JoinHandle<()>>,
    /// What an earlier process left.
    pub swept: Swept,
}

impl Hold {
    /// Takes the lease, or says who has it.
    ///
    /// # Errors
    /// [`Fault::Ledger`] where another process has the lease, or the ledger can't be opened; nothing is decided then.
    pub async fn take(app: &App, attended: Attended) -> Result<Self, Fault> {
        Self::take_with(app, attended, Arc::new(ConfigPeople::new(app.config.path.clone()))).await
    }

    /// As [`Self::take`], where others than the config know who is who.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub async fn take_with(app: &App, attended: Attended, directory: Arc<dyn Directory>) -> Result<Self, Fault> {
        let store = &app.config.store;
        let database = Database::open(store).await.map_err(Fault::Database)?;
        let lease = Lease::take(store).map_err(LedgerError::Lease)?;
        let options = audit::options(app);
        let random = Arc::clone(&options.random);
        let ledger = Ledger::open(&database, lease, options).await?;
        let at_start = audit::texts_of_the_start(app)?;
        in_force(app, &ledger, &at_start).await?;
        let parts = sequencer::Parts {
            ledger: ledger.clone(),
            rules: rules(app),
            directory,
            redactor: app.redactor.clone(),
            clock: Arc::new(SystemClock),
            random,
            limits: Limits::standard(),
        };
        let unopened =
            |objection: warrant_kernel::call::gate::objection::Objection| Fault::Failed(objection.to_string());
        let sequencer = Arc::new(Sequencer::open(parts).await.map_err(unopened)?);
        let swept = sequencer.sweep().await.map_err(unopened)?;
        for (approval, state) in &swept.orphans {
            tracing::warn!(%approval, state = state.as_str(), "the outcome of a write was lost with an earlier process");
        }
        let owner =
            std::fs::metadata(store).map_err(|error| Fault::Failed(format!("can't look at the store: {error}")))?;
        let office = Office::new(office::Parts {
            sequencer: Arc::clone(&sequencer),
            users: users(app),
            owner: owner.uid(),
            attended,
        });
        let cancel = CancellationToken::new();
        let mut hold = Self {
            office,
            ledger,
            database,
            publishers: publishers(app),
            at_start,
            _ends: cancel.clone().drop_guard(),
            cancel,
            work: Vec::new(),
            swept,
        };
        let socket = Socket::bind(&path_beside(store)).map_err(|error| socket_fault(&error))?;
        hold.begin(socket);
        Ok(hold)
    }

    fn begin(&mut self, socket: Socket) {
        let office = Arc::clone(&self.office);
        let answer = move |peer, token, ask| Arc::clone(&office).answer(peer, token, ask);
        self.work.push(tokio::spawn(socket.serve(answer, self.cancel.clone())));
        let (office, cancel) = (Arc::clone(&self.office), self.cancel.clone());
        self.work.push(tokio::spawn(async move {
            while cancel.run_until_cancelled(tokio::time::sleep(EXPIRY)).await.is_some() {
                if let Err(error) = office.sequencer().expire().await {
                    tracing::warn!(%error, "approvals whose time is up could not be ended");
                }
            }
        }));
        let (ledger, publishers, cancel) = (self.ledger.clone(), self.publishers.clone(), self.cancel.clone());
        self.work.push(tokio::spawn(async move {
            while cancel.run_until_cancelled(ledger.due()).await.is_some() {
                if let Err(error) = ledger.publish(&publishers).await {
                    tracing::error!(%error, "the ledger could not be published; it takes no more records");
                    return;
                }
            }
        }));
    }

    /// The one writer of approvals.
    #[must_use]
    pub fn sequencer(&self) -> &Sequencer {
        self.office.sequencer()
    }

    /// What writes are decided by from here on: tools and policies of `app`, whose tools and runbooks read `texts`.
    ///
    /// # Errors
    /// Where it can't be recorded; then what was in force still is.
    pub async fn adopt(&self, app: &App, texts: BTreeMap<String, String>) -> Result<(), Fault> {
        let texts = self.at_start.clone().into_iter().chain(texts).collect();
        self.ledger.in_force(RecordKind::ConfigChanged, &texts).await?;
        let adopted = self.sequencer().adopt(rules(app)).await;
        adopted.map_err(|objection| Fault::Failed(objection.to_string()))
    }

    /// The ledger.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// How far the ledger has come, signed: what an auditor holds a record against.
    pub async fn checkpoint(&self) -> Option<String> {
        match self.ledger.checkpoint().await {
            Ok(signed) => Some(format!("{} records, root {}", signed.size, signed.root)),
            Err(error) => {
                tracing::warn!(%error, "the ledger's checkpoint could not be signed");
                None
            }
        }
    }

    /// What answers for it.
    #[must_use]
    pub fn office(&self) -> Arc<Office> {
        Arc::clone(&self.office)
    }

    /// Lets go: nobody asks any more, what was begun ends, and how far the ledger came is published.
    pub async fn end(self) {
        self.cancel.cancel();
        for work in self.work {
            if let Err(error) = work.await {
                tracing::warn!(%error, "work for the sequencer broke off");
            }
        }
        self.office.close().await;
        if let Err(error) = self.ledger.publish(&self.publishers).await {
            tracing::error!(%error, "the last checkpoint was not published");
        }
        self.ledger.shut().await;
        self.database.close().await;
    }
}

/// What an app decides writes by.
fn rules(app: &App) -> Rules {
    Rules { registry: Arc::clone(&app.bench.registry), policy: Arc::clone(&app.bench.policy) }
}

/// What is in force from here on is kept for ever.
async fn in_force(app: &App, ledger: &Ledger, at_start: &BTreeMap<String, String>) -> Result<(), Fault> {
    let people = app.config.people.in_force();
    let policies = app.bench.policy.in_force();
    let policies = BTreeMap::from([("policies".to_owned(), policies.text().to_owned())]);
    ledger.in_force(RecordKind::PolicyLoaded, &policies).await?;
    let texts = at_start.clone().into_iter().chain(audit::texts_of_sets(app)?).collect();
    ledger.in_force(RecordKind::ConfigChanged, &texts).await?;
    let people = BTreeMap::from([("people".to_owned(), people.text().to_owned())]);
    Ok(ledger.in_force(RecordKind::PeopleChanged, &people).await?)
}

/// Whom the config takes the users of this machine for, as it says now.
fn users(app: &App) -> Users {
    let people = ConfigPeople::new(app.config.path.clone());
    Arc::new(move |uid| {
        let people = people.clone();
        Box::pin(async move {
            let name = users::name(uid).await;
            // Whom two persons claim is nobody, since it could be either; so is everybody where the config can't be read.
            people.now().await.ok()?.person(User { uid, name: name.as_deref() }).ok().cloned()
        })
    })
}

pub(super) fn socket_fault(error: &SocketError) -> Fault {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    Fault::Failed(text)
}
