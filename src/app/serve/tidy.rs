//! Lets go of notes that nobody asks for any more, so that nothing grows for as long as this runs.
//!
//! A note goes 30 days after it was last written, and then only where what it is about has ended: a home in Slack after its
//! report stands, a card after its approval is settled, a message with what it shows. What still waits is kept however old it
//! is, and so is feedback: it stays with its investigation. Few go at a time, with a pause in between.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::plan::ApprovalId;
use warrant_kernel::store::desk::Note;
use warrant_kernel::store::{Store, StoreError};

use super::slack::notes::{CARD, CHART, HOME, Home, READ, THREAD, Threaded, card_of};
use crate::alert::worker::{INCIDENT, STORM, UNREADABLE};
use crate::app::SystemClock;
use crate::app::sequencer::hold::Hold;
use crate::chat::slack::outbox;

/// How long a note is kept after it was last written.
pub(super) const KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);

/// How often it is looked what may go.
const EVERY: Duration = Duration::from_hours(1);

/// How many notes are looked at and let go at once.
const BATCH: u32 = 50;

/// The pause between two batches: others write, too.
const PAUSE: Duration = Duration::from_millis(50);

/// The length of the id of an investigation or incident of ours.
const ID: usize = 36;

/// Whether nothing more comes of an approval, unless a person takes it up again.
pub(super) type Settled = Box<dyn Fn(ApprovalId) -> bool + Send + Sync>;

/// Whoever tidies up.
pub(super) struct Tidy {
    store: Store,
    is_settled: Settled,
    pause: Duration,
}

impl Tidy {
    pub(super) fn new(store: Store, hold: Arc<Hold>) -> Self {
        Self { store, is_settled: Box::new(move |id| hold.sequencer().is_settled(id)), pause: PAUSE }
    }

    /// Tidies up now and then until it is cancelled.
    pub(super) async fn run(self, cancel: CancellationToken) {
        loop {
            let before = SystemClock.now().checked_sub(KEPT).unwrap_or(Timestamp::MIN);
            match cancel.run_until_cancelled(self.pass(before)).await {
                None => return,
                Some(Ok(0)) => {}
                Some(Ok(gone)) => tracing::info!(gone, "notes of what is long over were let go"),
                Some(Err(error)) => tracing::warn!(%error, "notes of what is long over could not be let go"),
            }
            if cancel.run_until_cancelled(tokio::time::sleep(EVERY)).await.is_none() {
                return;
            }
        }
    }

    /// Lets go of what was last written before a time and has ended. How many notes went.
    async fn pass(&self, before: Timestamp) -> Result<u64, StoreError> {
        let mut gone = 0;
        // In this order: a thread goes after its home, a message after the card that it shows.
        for kind in [HOME, THREAD, CHART, CARD, READ, outbox::KIND, UNREADABLE] {
            let mut after = None;
            loop {
                let (notes, last) = self.store.untouched(kind, before, after.as_ref(), BATCH).await?;
                if last.is_none() {
                    break;
                }
                after = last;
                let mut over = Vec::new();
                for note in notes {
                    if self.is_over(kind, &note).await? {
                        over.push(note);
                    }
                }
                if !over.is_empty() {
                    gone += self.store.let_go(kind, &over).await?;
                }
                tokio::time::sleep(self.pause).await;
            }
        }
        Ok(gone)
    }

    /// Whether what a note is about has ended. What can't be read is not known to have.
    async fn is_over(&self, kind: &'static str, note: &Note) -> Result<bool, StoreError> {
        match kind {
            HOME => self.home_is_over(note).await,
            THREAD => match Threaded::of(note) {
                Some(threaded) => Ok(self.store.note(HOME, threaded.investigation.as_str()).await?.is_none()),
                None => Ok(false),
            },
            CHART => Ok(self.store.note(HOME, note.id.get(..ID).unwrap_or(&note.id)).await?.is_none()),
            READ => Ok(card_of(&note.id).is_none_or(|approval| (self.is_settled)(approval))),
            CARD => Ok(note.id.parse().is_ok_and(|approval| (self.is_settled)(approval))),
            outbox::KIND => {
                if outbox::waits(note) {
                    return Ok(false);
                }
                match subject(&note.id) {
                    Some((kind, id)) => Ok(self.store.note(kind, id).await?.is_none()),
                    None => Ok(true),
                }
            }
            _ => Ok(true),
        }
    }

    /// An investigation whose report stands, or that was never begun.
    async fn home_is_over(&self, note: &Note) -> Result<bool, StoreError> {
        let Some(home) = Home::of(note) else { return Ok(false) };
        if home.reported {
            return Ok(true);
        }
        let Ok(id) = note.id.parse::<InvestigationId>() else { return Ok(false) };
        Ok(self.store.line(&id).await?.is_none())
    }
}

/// The note that a message shows, by our id of the message: while that is there, the message may be edited or stood under.
/// None for what is said once.
fn subject(message: &str) -> Option<(&'static str, &str)> {
    let (what, of) = message.split_once('-')?;
    match what {
        "card" | "remind" | "escalate" => Some((CARD, of.split_once('-').map_or(of, |(approval, _)| approval))),
        "status" | "report" | "chart" => Some((HOME, of.get(..ID).unwrap_or(of))),
        "incident" => Some((INCIDENT, of)),
        "storm" => Some((STORM, of)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
