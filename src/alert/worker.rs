//! The worker: takes arrivals out of the store in batches, folds them, settles, and tells those above.
//!
//! A batch and all that came of it is one settling. What is to be told is in the incidents' notes and leaves them only after
//! it was told, so that a crash between any two steps costs nothing but a second telling. There is one worker a store.

mod books;

mod telling;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::store::desk::Arrived;
use warrant_kernel::store::{Store, StoreError};

use super::config::Limits;
use super::counts::{Counts, Event};
use super::incident::fold::{Fate, Incidents};
use super::incident::{Delivery, Neighbourhood};
use super::seam::{Ending, Investigations};

use books::Books;
pub use books::{INCIDENT, STORM, UNREADABLE};

/// Where alerts arrive in the store.
pub const CHANNEL: &str = "alert";

/// Arrivals of one settling.
const BATCH: u32 = 256;

/// How long the worker sleeps at most: windows end and slots become free without anybody ringing.
const NAP: Duration = Duration::from_secs(5);

/// How often old records are cleaned away.
const CLEANING: SignedDuration = SignedDuration::from_hours(1);

/// Endings that wait: no more than investigations run at once, so that nobody who ends one waits for the worker.
const ENDINGS: usize = 1_024;

/// What a worker works with.
#[derive(Clone)]
pub struct Parts {
    /// Where arrivals and incidents are.
    pub store: Store,
    /// The limits of the config.
    pub limits: Limits,
    /// Which services stand beside which.
    pub around: Arc<dyn Neighbourhood>,
    /// Investigations and the chat.
    pub seam: Arc<dyn Investigations>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The counts, the same as the front's.
    pub counts: Arc<Counts>,
}

/// An investigation has ended.
#[derive(Debug, Clone)]
struct Ended {
    investigation: InvestigationId,
    ending: Ending,
}

/// Tells the worker what it can't see.
#[derive(Clone)]
pub struct Handle {
    ended: mpsc::Sender<Ended>,
    counts: Arc<Counts>,
}

impl Handle {
    /// An investigation has ended. If this gets lost, the worker learns of it when it asks for that investigation again at
    /// the next start.
    pub async fn ended(&self, investigation: InvestigationId, ending: Ending) {
        if self.ended.send(Ended { investigation, ending }).await.is_err() {
            tracing::debug!("the worker of alerts has ended before an investigation");
        }
        self.counts.ring();
    }
}

/// What a round came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// There is more to take up.
    More,
    /// Nothing waits.
    Done,
}

/// The worker.
pub struct Worker {
    parts: Parts,
    books: Books,
    incidents: Incidents,
    endings: mpsc::Receiver<Ended>,
    /// Taken from the channel and not settled yet.
    pending: Vec<Ended>,
    /// Investigations that those above have said are running, to this worker.
    confirmed: BTreeSet<InvestigationId>,
    cleaned_at: Timestamp,
}

impl Worker {
    /// A worker that has read how things stand.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn start(parts: Parts) -> Result<(Self, Handle), StoreError> {
        let (sender, endings) = mpsc::channel(ENDINGS);
        let (books, incidents) = Books::read(&parts.store, parts.limits).await?;
        let handle = Handle { ended: sender, counts: Arc::clone(&parts.counts) };
        let cleaned_at = parts.clock.now();
        let (pending, confirmed) = (Vec::new(), BTreeSet::new());
        Ok((Self { parts, books, incidents, endings, pending, confirmed, cleaned_at }, handle))
    }

    /// Works until `cancel` fires. Errors are logged and tried again, ever more slowly up to a nap.
    pub async fn run(mut self, cancel: CancellationToken) {
        let mut failures: u32 = 0;
        while !cancel.is_cancelled() {
            let nap = match self.round().await {
                Ok(Round::More) => continue,
                Ok(Round::Done) => {
                    failures = 0;
                    NAP
                }
                Err(error) => {
                    failures = failures.saturating_add(1);
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        "alerts could not be taken up; trying again"
                    );
                    NAP.min(Duration::from_millis(100).saturating_mul(1 << failures.min(6)))
                }
            };
            tokio::select! {
                () = cancel.cancelled() => break,
                () = self.parts.counts.rung(), if failures == 0 => {}
                () = tokio::time::sleep(nap) => {}
            }
        }
    }

    /// Takes up a batch, settles it, and tells what there is to tell.
    ///
    /// # Errors
    /// [`StoreError`]; what was not settled is taken up again by the next round.
    pub async fn round(&mut self) -> Result<Round, StoreError> {
        while let Ok(ended) = self.endings.try_recv() {
            self.pending.push(ended);
        }
        let arrived = self.parts.store.arrived(CHANNEL, BATCH).await?;
        let worked = match self.take_up(&arrived).await {
            Ok(()) => {
                self.pending.clear();
                self.tell().await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = worked {
            // What is in memory may be ahead of the store, or behind: the store says how things stand.
            (self.books, self.incidents) = Books::read(&self.parts.store, self.parts.limits).await?;
            return Err(error);
        }
        self.clean().await?;
        let is_full = u32::try_from(arrived.len()).is_ok_and(|count| count >= BATCH);
        Ok(if is_full { Round::More } else { Round::Done })
    }

    async fn take_up(&mut self, arrived: &[Arrived]) -> Result<(), StoreError> {
        for Ended { investigation, ending } in self.pending.clone() {
            self.end(&investigation, ending).await?;
        }
        let mut shed = 0;
        for arrival in arrived {
            let Some(delivery) = delivery(arrival) else {
                self.books.unreadable(arrival);
                continue;
            };
            match self.incidents.take(&delivery, arrival.at, &*self.parts.around) {
                Fate::Opened(id) => self.opened(&id).await?,
                Fate::Shed => shed += 1,
                Fate::Joined(_) | Fate::FiredAgain(_) | Fate::Resolved(_) | Fate::Known(_) | Fate::Counted(_) => {}
            }
        }
        self.incidents.tick(self.parts.clock.now());
        let handled: Vec<u64> = arrived.iter().map(|arrival| arrival.number).collect();
        self.books.settle(&self.parts.store, &mut self.incidents, &handled).await?;
        self.parts.counts.taken(u64::try_from(handled.len()).unwrap_or(u64::MAX));
        (0..shed).for_each(|_| self.parts.counts.count(Event::Shed));
        Ok(())
    }

    async fn opened(&mut self, id: &str) -> Result<(), StoreError> {
        self.parts.counts.count(Event::Opened);
        let Some(incident) = self.incidents.get(id).filter(|incident| incident.firing() > 0).cloned() else {
            return Ok(());
        };
        let recurrence = self.books.recurrence(&self.parts.store, &incident).await?;
        let earlier = recurrence.earlier(&incident);
        recurrence.add(&incident);
        if let Some(incident) = self.incidents.change(id) {
            incident.earlier = earlier;
        }
        Ok(())
    }

    async fn clean(&mut self) -> Result<(), StoreError> {
        let now = self.parts.clock.now();
        if now.duration_since(self.cleaned_at) >= CLEANING {
            self.cleaned_at = now;
            // One that broke off without a word would keep its incident for ever: all are asked for again.
            self.confirmed.clear();
            self.books.clean(&self.parts.store, now).await?;
        }
        Ok(())
    }
}

fn delivery(arrival: &Arrived) -> Option<Delivery> {
    let body: &Value = &arrival.body;
    serde_json::from_value(body.clone()).ok()
}
