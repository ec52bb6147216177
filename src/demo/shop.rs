//! The whole shop: starts it, lets customers in, breaks it, and says what the outside world then knows.
//!
//! [`Shop::config_toml`] and [`Shop::trigger`] are for an investigation; [`Shop::injected`] is for whoever judges it.

mod catalog;

mod child;

mod customers;

mod files;

mod furnish;

mod processor;

mod report;

mod staff;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::{Instant, sleep, sleep_until};
use warrant_kernel::domain::name::{NameError, ServiceName};

use crate::demo::certificate::{Authority, CertificateError};
use crate::demo::fault::{Fault, Reach, Source};
use crate::demo::part::spec::Role;
use crate::demo::plan::{Change, Commit, DecoyTime, Plan};
use crate::demo::repository::{Repository, RepositoryError};

use catalog::{Git, Places, Restarting};
use child::Part;
use customers::Customers;
use files::{make_dir, replace, write};
use furnish::{base, furnish, spec};
use processor::Processor;
use staff::{Parts, Staff};

pub use catalog::DescribeError;
pub use customers::Tally;
pub use report::{Injected, InjectedDecoy, Observed, Symptom, Trigger};
pub use staff::{RestartError, RestartOptions, ask_for_restart};

/// The quota of the store's data directory.
const QUOTA_BYTES: u64 = 16 * 1024 * 1024;
/// What is in it from the beginning.
const DATA_BYTES: usize = 6 * 1024 * 1024;
/// How long the first order may take, on a machine that is busy with other things.
const FIRST_ORDER: Duration = Duration::from_secs(20);
/// How long the first seconds of a busy machine are waited out.
const SETTLE: Duration = Duration::from_secs(5);
/// How long customers may take to notice.
const NOTICE: Duration = Duration::from_secs(20);
/// How long the shop goes on broken, so that there is something to compare.
const BROKEN: SignedDuration = SignedDuration::from_millis(3_000);
/// How long it goes on after the onset where nobody notices anything.
const UNNOTICED: Duration = Duration::from_millis(4_200);
/// How often the customers are asked.
const ASK: Duration = Duration::from_millis(100);
/// The certificate that payments has at first.
const CERTIFICATE_LEFT: Duration = Duration::from_hours(83 * 24);

/// What shop is started.
#[derive(Debug, Clone)]
pub struct ShopOptions {
    /// Settles where everything stands and when it happens.
    pub seed: u64,
    /// What is to break.
    pub fault: Fault,
    /// An empty directory of its own, as an absolute path.
    pub dir: PathBuf,
    /// The program that runs a part when told `shop-part`.
    pub exe: PathBuf,
}

/// Why the shop does not run.
#[derive(Debug, thiserror::Error)]
pub enum ShopError {
    /// A file or directory of the shop could not be written.
    #[error("writing `{file}`")]
    Write {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A child process could not be started.
    #[error("starting {role}")]
    Spawn {
        /// The service.
        role: Role,
        /// Why.
        source: std::io::Error,
    },
    /// A child process did not listen.
    #[error("{role} did not start: {said}")]
    Silent {
        /// The service.
        role: Role,
        /// What it wrote to its standard error.
        said: String,
    },
    /// No order went through at all.
    #[error("no order went through within {} s of the start", FIRST_ORDER.as_secs())]
    NoOrder,
    /// The card processor could not listen.
    #[error("starting the card processor")]
    Processor(#[source] std::io::Error),
    /// Nobody could be put there who restarts services.
    #[error("listening on the socket of the shop")]
    Staff(#[source] std::io::Error),
    /// A service could not be told to read its configuration again.
    #[error("telling {role} to read its configuration again")]
    Reload {
        /// The service.
        role: Role,
        /// Why.
        source: std::io::Error,
    },
    /// The customers' HTTP client could not be set up.
    #[error("sending customers to the shop")]
    Customers(#[source] reqwest::Error),
    /// No certificate.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// No commit.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// A service of the shop has a name that is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// No plan: there is nothing to change.
    #[error("there is nothing to change in this shop")]
    NoPlan,
}

/// A running shop. Dropping it ends it; [`Shop::stop`] ends it in order.
#[derive(Debug)]
pub struct Shop {
    plan: Plan,
    gateway: ServiceName,
    places: Places,
    private: PathBuf,
    data: PathBuf,
    certificate: PathBuf,
    authority: Authority,
    repository: Option<Repository>,
    parts: Parts,
    staff: Staff,
    processor: Processor,
    customers: Customers,
    began: (Instant, Timestamp),
    onset: Option<Timestamp>,
    observed: Option<Observed>,
    down: BTreeSet<Source>,
    notes: Vec<String>,
}

impl Shop {
    /// Starts the shop and waits until orders go through well.
    ///
    /// # Errors
    /// [`ShopError`] where a part of it does not start. That `git` is missing is no error but a note.
    pub async fn start(options: &ShopOptions) -> Result<Self, ShopError> {
        let plan = Plan::new(options.seed, options.fault).ok_or(ShopError::NoPlan)?;
        let at = |name: &str| options.dir.join(name);
        let (logs, config, private) = (at("logs"), at("config"), at("private"));
        let (overrides, run) = (at("overrides"), at("run"));
        let (data, tls) = (at("data"), private.join("tls"));
        for role in Role::ALL {
            make_dir(&logs.join(role.as_str()))?;
        }
        for dir in [&config, &data, &tls, &overrides, &run] {
            make_dir(dir)?;
        }
        let mut notes = Vec::new();
        let repository = furnish(&config, &private, &plan, &mut notes).await?;
        let authority = Authority::new()?;
        let (ca_file, certificate) = (at("ca.pem"), tls.join("payments.pem"));
        write(&ca_file, authority.pem().as_bytes())?;
        write(&certificate, authority.issue("payments", CERTIFICATE_LEFT)?.as_bytes())?;
        write(&data.join("catalogue.db"), &vec![b'.'; DATA_BYTES])?;

        let processor = Processor::start().await.map_err(ShopError::Processor)?;
        let git = if repository.is_some() { Git::Present } else { Git::Missing };
        let files = plan.files.iter().map(|file| (file.role, file.path.clone())).collect();
        let nowhere = at("offline");
        let restart = Restarting { exe: options.exe.clone(), socket: at("shop.sock") };
        let mut places =
            Places { logs, config, overrides, run, restart, ca_file, nowhere, ports: BTreeMap::new(), files, git };
        let mut parts = Vec::new();
        for role in Role::ALL.into_iter().rev() {
            let Some(spec) = spec(role, &plan, &places, &processor.url(), &data, &certificate) else { continue };
            let part = Part::start(&options.exe, &private, &spec).await?;
            places.ports.extend(part.port().map(|port| (role, port)));
            parts.push(part);
        }
        let parts = Parts::new(parts.into());
        let staff = Staff::start(&places.restart.socket, &options.exe, &private, &parts).map_err(ShopError::Staff)?;
        let gateway = base(&places, Role::Gateway).unwrap_or_default();
        let customers = Customers::start(gateway, FIRST_ORDER).await.map_err(ShopError::Customers)?;
        let customers = customers.ok_or(ShopError::NoOrder)?;
        let deadline = Instant::now() + SETTLE;
        while !customers.content() && Instant::now() < deadline {
            sleep(ASK).await;
        }
        Ok(Self {
            plan,
            gateway: Role::Gateway.as_str().parse()?,
            places,
            private,
            data,
            certificate,
            authority,
            repository,
            parts,
            staff,
            processor,
            customers,
            began: (Instant::now(), Timestamp::now()),
            onset: None,
            observed: None,
            down: BTreeSet::new(),
            notes,
        })
    }

    /// Lets the shop run well for a while, breaks it, and waits until customers have noticed and there is something to
    /// compare; where a fault is one that customers don't notice, waits as long.
    ///
    /// # Errors
    /// [`ShopError`] where the fault could not be put in.
    pub async fn run_until_symptom(&mut self) -> Result<Observed, ShopError> {
        let onset = self.began.0 + self.plan.onset;
        if let DecoyTime::Before(time) = self.plan.decoy_time {
            sleep_until(onset - time).await;
            self.make(&self.plan.decoy).await?;
        }
        sleep_until(onset).await;
        self.customers.get_used_to(self.began.1);
        let broke = Timestamp::now();
        self.break_it().await?;
        if self.plan.fault != Fault::None {
            self.onset = Some(broke);
        }
        if let DecoyTime::After(time) = self.plan.decoy_time {
            sleep_until(onset + time).await;
            self.make(&self.plan.decoy).await?;
        }
        let symptom = match self.plan.fault.reach() {
            Reach::Customers => self.wait_for_trouble(broke).await,
            Reach::Nobody => {
                sleep_until(onset + UNNOTICED).await;
                None
            }
        };
        let now = Timestamp::now();
        let symptom = symptom.map(|began_at| Symptom {
            began_at,
            before: self.customers.tally(self.began.1, began_at),
            since: self.customers.tally(began_at, now),
        });
        let observed = Observed { load_began: self.began.1, until: now, symptom };
        self.observed = Some(observed.clone());
        Ok(observed)
    }

    /// What was put in: the answer, which no investigation may see.
    #[must_use]
    pub fn injected(&self) -> Injected {
        Injected::of(&self.plan, self.onset)
    }

    /// What the outside world knows, as an alert or a question.
    #[must_use]
    pub fn trigger(&self) -> Trigger {
        let unseen = Observed { load_began: self.began.1, until: Timestamp::now(), symptom: None };
        Trigger::from_outside(self.observed.as_ref().unwrap_or(&unseen), self.gateway.clone())
    }

    /// The sources and services of the shop, as sections of a Warrant configuration.
    ///
    /// # Errors
    /// [`DescribeError`] where it cannot be written.
    pub fn config_toml(&self) -> Result<String, DescribeError> {
        catalog::describe(&self.places, &self.down)
    }

    /// From now on [`Shop::config_toml`] leads nowhere for this source. The shop itself goes on as before.
    pub fn take_down(&mut self, source: Source) {
        self.down.insert(source);
    }

    /// What a person should know of this run: that `git` is missing, say.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// How orders have gone since the load began, or since a time.
    #[must_use]
    pub fn tally(&self, since: Option<Timestamp>) -> Tally {
        self.customers.tally(since.unwrap_or(self.began.1), Timestamp::now())
    }

    /// Sends the customers away and ends the child processes.
    pub async fn stop(self) {
        drop(self.customers);
        drop(self.staff);
        let parts = std::mem::take(&mut *self.parts.lock().await);
        for part in parts.into_iter().rev() {
            part.stop().await;
        }
    }

    async fn wait_for_trouble(&self, since: Timestamp) -> Option<Timestamp> {
        let deadline = Instant::now() + NOTICE;
        let began_at = loop {
            if let Some(began_at) = self.customers.trouble(since) {
                break began_at;
            }
            if Instant::now() > deadline {
                return None;
            }
            sleep(ASK).await;
        };
        let left = BROKEN.checked_sub(Timestamp::now().duration_since(began_at)).unwrap_or_default();
        sleep(Duration::try_from(left).unwrap_or_default()).await;
        Some(began_at)
    }

    async fn break_it(&self) -> Result<(), ShopError> {
        match self.plan.fault {
            Fault::Pool => match &self.plan.change {
                Some(change) => self.make(change).await,
                None => Ok(()),
            },
            Fault::Upstream => {
                self.processor.slow_down(self.plan.slow_processor_ms);
                Ok(())
            }
            Fault::Disk => self.fill(),
            Fault::Certificate => {
                let pem = self.authority.issue("payments", self.plan.certificate_left)?;
                replace(&self.private, &self.certificate, pem.as_bytes())
            }
            Fault::None => Ok(()),
        }
    }

    /// Someone's export takes what is left of the store's quota.
    fn fill(&self) -> Result<(), ShopError> {
        let file = self.data.join("export.csv.part");
        let failed = |source| ShopError::Write { file: file.clone(), source };
        let mut used = 0_u64;
        for entry in std::fs::read_dir(&self.data).map_err(failed)? {
            used += entry.and_then(|entry| entry.metadata()).map_err(failed)?.len();
        }
        let left = usize::try_from(QUOTA_BYTES.saturating_sub(used)).unwrap_or(0);
        write(&file, &vec![b','; left])
    }

    async fn make(&self, change: &Change) -> Result<(), ShopError> {
        replace(&self.private, &self.places.config.join(&change.file), change.text.as_bytes())?;
        let role = change.role;
        for part in self.parts.lock().await.iter_mut().filter(|part| part.role() == role) {
            part.reload().await.map_err(|source| ShopError::Reload { role, source })?;
        }
        match (&self.repository, change.commit) {
            (Some(repository), Commit::Made) => {
                Ok(repository.commit(&[&change.file], change.author, &change.message, Timestamp::now()).await?)
            }
            (None, _) | (_, Commit::LeftOut) => Ok(()),
        }
    }
}
