//! What the API asks of the parts above it: who somebody is, what they may see, and that something be done.
//!
//! The API decides nothing. It hands on who asks, proved, and what is asked; the kernel decides about votes, policy about
//! reads. Every text that comes back has been masked.

use async_trait::async_trait;
use jiff::Timestamp;
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::objection::Objection;
use warrant_kernel::call::gate::sequencer::shown::{Counted, Listed};
use warrant_kernel::call::gate::sequencer::tokens::Scope;
use warrant_kernel::call::gate::vote::{Claimant, Whole};
use warrant_kernel::domain::name::{InvestigationId, PersonId, RoleName, ServiceName};
use warrant_kernel::domain::plan::ApprovalId;
use warrant_kernel::domain::run::Requester;

use super::health::Check;

/// An investigation that somebody wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// For whom.
    pub requester: Requester,
    /// What is asked; not empty, at most 4,000 characters.
    pub question: String,
    /// The service in question; the requester may read it.
    pub service: Option<ServiceName>,
    /// The beginning of the window to be looked at, as it was written.
    pub since: Option<String>,
    /// What it shall be able to see.
    pub role: Option<RoleName>,
}

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Something of it makes no sense; the text is for whoever asked.
    #[error("{0}")]
    Invalid(String),
    /// It does not run here, or not any more.
    #[error("it does not run here: it has ended, waits to be resumed, or another process has it")]
    NotRunning,
    /// As many run as may.
    #[error("as many investigations run as may; try again in {retry_after_s} s")]
    Busy {
        /// When it is worth another try.
        retry_after_s: u32,
    },
    /// The process is about to end.
    #[error("this process is about to end")]
    Closing,
    /// Something broke; the text is for our own log only.
    #[error("it can't be done: {0}")]
    Broken(String),
}

/// What a person decides about an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deciding {
    /// A vote for it.
    Approve(Seen),
    /// A vote against it, with the reason.
    Deny(Seen, String),
    /// It is taken back, with the reason.
    Revoke(String),
    /// It may be asked again, with the reason.
    Reopen(String),
}

/// Which card a person saw, and how much of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The revision of the card.
    pub revision: u32,
    /// The beginning of the plan's digest on it.
    pub digest_prefix: String,
    /// Whether they saw all of it.
    pub whole: Whole,
}

/// How alerts fare, since the start of this process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Alerts {
    /// Alerts that came for the first time.
    pub received: u64,
    /// Alerts that were delivered before.
    pub known: u64,
    /// Requests that did not prove where they come from.
    pub unauthenticated: u64,
    /// Bodies with no alert in them that could be read.
    pub unreadable: u64,
    /// Bodies over the limit.
    pub too_large: u64,
    /// Requests that were told to come again.
    pub unavailable: u64,
    /// Incidents opened.
    pub opened: u64,
    /// Alerts that only the message of a storm counts.
    pub shed: u64,
}

/// What is counted elsewhere and told when metrics are asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Standing {
    /// How much waits, by the name of the queue.
    pub queues: Vec<(&'static str, u64)>,
    /// How many seconds the oldest record has been waiting to be published in a checkpoint.
    pub ledger_lag_s: Option<f64>,
    /// Free bytes, by what lies there.
    pub disks: Vec<(&'static str, u64)>,
    /// How alerts fare; none where there are none.
    pub alerts: Option<Alerts>,
    /// All approvals in numbers; none where nobody counts them.
    pub approvals: Option<Counted>,
}

/// The parts above.
#[async_trait]
pub trait Backend: Send + Sync + 'static {
    /// Whom a token proves, where it is good for this: [`Sequencer::bearer`].
    ///
    /// [`Sequencer::bearer`]: warrant_kernel::call::gate::sequencer::Sequencer::bearer
    async fn bearer(&self, token: &str, scope: Scope) -> Result<Claimant, Objection>;

    /// Whether there is a token that proves anybody.
    async fn has_tokens(&self) -> Result<bool, Objection>;

    /// A person with the groups they are in now; none where they are nobody, or not here any more.
    async fn requester(&self, person: &PersonId) -> Result<Option<Requester>, Objection>;

    /// Whom requests of this machine run for while there are no tokens: somebody who is no person of the config, in no group.
    /// None where there shall be no such requests.
    fn nobody(&self) -> Option<Requester>;

    /// Whether policy lets somebody read a service. False too for a service that there is not.
    fn may_read(&self, who: &Requester, service: &ServiceName) -> bool;

    /// Begins an investigation. On return it is in the store.
    async fn begin(&self, wanted: Wanted) -> Result<InvestigationId, Failure>;

    /// Tells a running investigation something; whoever does has a part in it from then on.
    async fn steer(&self, id: &InvestigationId, by: &Requester, text: &str) -> Result<(), Failure>;

    /// Ends a running investigation; it reports what it has.
    async fn stop(&self, id: &InvestigationId, by: &Requester) -> Result<(), Failure>;

    /// Approvals before one, where they stand at `state`; the newest first, `most` at most.
    async fn approvals(
        &self,
        before: Option<ApprovalId>,
        state: Option<&str>,
        most: usize,
    ) -> Result<Vec<Listed>, Objection>;

    /// What people are shown of one.
    async fn card(&self, id: ApprovalId) -> Result<Card, Objection>;

    /// Hands a decision to the gate, and sees to it that what was approved is carried out. How the person was proved stands
    /// in the claimant: by a token of their own.
    async fn decide(&self, id: ApprovalId, by: Claimant, deciding: Deciding) -> Result<(), Objection>;

    /// Looks at everything this process depends on.
    async fn checks(&self) -> Vec<Check>;

    /// What is counted elsewhere.
    async fn standing(&self) -> Standing;

    /// The time.
    fn now(&self) -> Timestamp;
}
