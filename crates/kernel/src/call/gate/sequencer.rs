//! The sequencer: the one place in a process where approvals change and warrants are granted.
//!
//! One per process, and one process at a time: whoever holds the lease of the ledger. Everything a person does comes in as
//! a claim and is checked here; every change is one commit with the record that tells of it.
//!
//! | module | does |
//! |---|---|
//! | [`shown`] | what it shows of itself |
//! | `listing` | many of them at once |
//! | [`account`] | what became of one call |
//! | [`rules`] | the tools and policies in force |
//! | `watch` | time that never goes back |
//! | `kept` | approvals as they are kept |
//! | `records` | what the ledger is told |
//! | `standing` | who may do what |
//! | `request` | a call becomes a frozen plan that people are asked about |
//! | `voting` | what people do |
//! | `grant` | everything is checked again, then a warrant is issued |
//! | `anew` | what changed since is asked anew |
//! | `perform` | the write, its outcome, and the look after it |
//! | `sweep` | what an earlier process left |
//! | [`tokens`] | another proof of who somebody is |

pub mod shown;

mod listing;

pub mod account;

pub mod rules;

mod watch;

mod kept;

mod records;

mod standing;

mod request;

mod voting;

mod grant;

mod anew;

mod perform;

mod sweep;

mod sealing;

pub mod tokens;

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tokio::sync::Mutex as Turn;

use crate::call::tool::Clock;
use crate::db::storage::DocumentWrite;
use crate::domain::plan::ApprovalId;
use crate::ledger::record::Entry;
use crate::ledger::{Ledger, Random};
use crate::redact::Redactor;

use super::card::Card;
use super::deed::{Deed, Halt};
use super::objection::Objection;
use crate::people::directory::Directory;
use kept::{Index, Kept};
use perform::UnderWay;
use rules::Rules;
use shown::Limits;
use watch::Watch;

pub(in crate::call) use grant::Granted;
pub(super) use grant::halt_of;
pub(super) use request::{Request, by_policy};

/// What a sequencer is made of.
pub struct Parts {
    /// The ledger, open for appending.
    pub ledger: Ledger,
    /// The tools and policies in force, which the ledger knows of.
    pub rules: Rules,
    /// Who is who.
    pub directory: Arc<dyn Directory>,
    /// Masks what goes to the ledger.
    pub redactor: Redactor,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where the keys of plans come from.
    pub random: Random,
    /// How long approvals hold and how often may be asked.
    pub limits: Limits,
}

/// The one writer of approvals.
pub struct Sequencer {
    ledger: Ledger,
    rules: RwLock<Arc<Rules>>,
    directory: Arc<dyn Directory>,
    redactor: Redactor,
    random: Random,
    limits: Limits,
    watch: Watch,
    index: Arc<Mutex<Index>>,
    /// Approvals whose intent did not become durable in time.
    late: Mutex<BTreeSet<ApprovalId>>,
    /// What is being done here, up to its verdict.
    under_way: UnderWay,
    /// One change at a time.
    turn: Arc<Turn<()>>,
    #[cfg(test)]
    pub(super) order: Order,
}

/// In which order an approval is used up and the intent recorded: a fault that a test plants, to see that it is found.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// In one commit.
    Together,
    /// First used up, then recorded.
    ConsumedBeforeIntent,
}

impl Sequencer {
    /// Reads what is kept. Call [`Self::sweep`] before anything else.
    ///
    /// # Errors
    /// [`Objection::Ledger`] where it can't be read.
    pub async fn open(parts: Parts) -> Result<Self, Objection> {
        let index = Kept::index(&parts.ledger).await?;
        Ok(Self {
            watch: Watch::new(parts.clock, index.latest()),
            ledger: parts.ledger,
            rules: RwLock::new(Arc::new(parts.rules)),
            directory: parts.directory,
            redactor: parts.redactor,
            random: parts.random,
            limits: parts.limits,
            index: Arc::new(Mutex::new(index)),
            late: Mutex::default(),
            under_way: UnderWay::default(),
            turn: Arc::default(),
            #[cfg(test)]
            order: Order::Together,
        })
    }

    /// What people are shown of one approval.
    ///
    /// # Errors
    /// [`Objection::NoSuch`]; [`Objection::Ledger`] where it can't be read.
    pub async fn card(&self, id: ApprovalId) -> Result<Card, Objection> {
        Ok(Card::of(&self.seen(id).await?))
    }

    /// An approval as it is at this moment, written down or not.
    async fn seen(&self, id: ApprovalId) -> Result<super::approval::Approval, Objection> {
        let mut approval = Kept::load(&self.ledger, id).await?.approval;
        approval.expire(self.watch.now());
        Ok(approval)
    }

    /// Carries out an approved write, after everything has been checked again. For approvals whose call is gone: whoever
    /// waits here is told what came of it.
    ///
    /// # Errors
    /// Why it was not begun.
    pub async fn execute(&self, id: ApprovalId) -> Result<Deed, Halt> {
        let granted = self.grant(id, &[]).await?;
        Ok(self.perform(granted).await)
    }

    /// The limits in force.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The newest approval.
    #[cfg(test)]
    pub(super) fn last(&self) -> ApprovalId {
        ApprovalId::nth(self.index().next().number() - 1)
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        lock(&self.index)
    }

    /// A person's words without secrets.
    fn mask(&self, text: &str) -> Result<String, Objection> {
        let masked = self.redactor.redact_text(text).map_err(|error| Objection::Ledger(error.to_string()))?;
        // Only then cut: a part of a secret is no longer found.
        Ok(masked.text.chars().take(2_000).collect())
    }

    fn masked(&self, entries: Vec<Entry>) -> Result<Vec<Entry>, Objection> {
        let masked = entries.into_iter().map(|entry| records::masked(&self.redactor, entry));
        masked.collect::<Result<_, _>>().map_err(|error| Objection::Ledger(error.to_string()))
    }

    /// One commit.
    async fn write(&self, entries: Vec<Entry>, documents: Vec<DocumentWrite>) -> Result<(), Objection> {
        let entries = self.masked(entries)?;
        self.ledger.append(entries, documents).await.map(drop).map_err(|error| Objection::Ledger(told(&error)))
    }

    /// One commit with a changed approval.
    async fn put(
        &self,
        entries: Vec<Entry>,
        kept: &mut Kept,
        mut documents: Vec<DocumentWrite>,
    ) -> Result<(), Objection> {
        documents.push(kept.write()?);
        self.write(entries, documents).await?;
        kept.revision += 1;
        self.index().note(&kept.approval);
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An error with what is behind it, as one text.
fn told(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
