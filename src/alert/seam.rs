//! What the worker needs from above: investigations, and a chat that shows incidents.
//!
//! Everything may be asked twice: after a crash the worker asks again for what it can't know. So [`Investigations::open`]
//! goes by the id, [`News`] have numbers, and what is shown has a number of changes; whoever implements this does nothing
//! the second time.

use async_trait::async_trait;
use jiff::Timestamp;
use warrant_kernel::domain::name::{InvestigationId, RoleName, ServiceName};
use warrant_kernel::domain::run::Trigger;

use super::config::Urgency;
use super::incident::Incident;
use super::incident::storm::Storm;

/// An investigation to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// Its id; asked for again, it is the same investigation.
    pub investigation: InvestigationId,
    /// The incident it looks into.
    pub incident: String,
    /// The alert.
    pub trigger: Trigger,
    /// The service in question.
    pub service: Option<ServiceName>,
    /// The route by which the first of the alerts came.
    pub route: Option<String>,
    /// What it may see; the role of all alerts where the route says nothing.
    pub role: Option<RoleName>,
    /// When the first of the alerts began.
    pub since: Timestamp,
    /// Whether it goes before others.
    pub urgency: Urgency,
}

/// What came of asking for an investigation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// It runs, since now or since before.
    Running,
    /// There is no room for one; it is asked for again when one has ended, and now and then.
    NoSlot,
    /// It ran before and has ended.
    Ended(Ending),
}

/// How an investigation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The outcome: `confirmed`, `likely`, ...
    pub outcome: String,
    /// The cause in one line, masked, where one was found.
    pub cause: Option<String>,
}

/// Something that an investigation should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// Counts up within an investigation; what has a number that was told before is the same news.
    pub number: u64,
    /// What happened. Names and summaries in it are a stranger's.
    pub text: String,
}

/// Why something could not be done now. It is tried again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// Investigations and the chat, as alerts see them.
#[async_trait]
pub trait Investigations: Send + Sync {
    /// Opens an investigation, or says how far the one with this id is.
    async fn open(&self, opening: Opening) -> Result<Opened, Unavailable>;

    /// Tells a running investigation something; one that has ended meanwhile needs to know nothing.
    async fn news(&self, investigation: &InvestigationId, news: News) -> Result<(), Unavailable>;

    /// Shows how an incident stands, in a message of its own that is edited.
    async fn show(&self, incident: &Incident) -> Result<(), Unavailable>;

    /// Shows how a storm stands, in one message for all its incidents.
    async fn show_storm(&self, storm: &Storm) -> Result<(), Unavailable>;
}
