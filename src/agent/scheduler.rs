//! When a read runs: a limit for each source, identical reads served once, and a short cache.
//!
//! Tools know nothing of this. One scheduler belongs to one investigation, so no result crosses from one to another.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::Instant;
use warrant_kernel::call::execute::{Conduct, Done, Flight, Landed};
use warrant_kernel::domain::name::{EvidenceId, SourceName};

/// Reads of one source at once, where the config sets no other limit.
const DEFAULT_LIMIT: usize = 4;

/// Answers kept for identical reads; more than an investigation's budget of calls makes in the cache's short time.
const MOST_ENTRIES: usize = 256;

struct Answered {
    done: Arc<Done>,
    evidence: EvidenceId,
    at: Instant,
}

type Entry = Arc<OnceCell<Answered>>;

/// The scheduler of one investigation.
#[derive(Default)]
pub struct Scheduler {
    limits: HashMap<SourceName, usize>,
    permits: Mutex<HashMap<SourceName, Arc<Semaphore>>>,
    flights: Mutex<HashMap<String, Entry>>,
}

impl Scheduler {
    /// A scheduler with these limits; other sources have the default one.
    #[must_use]
    pub fn new(limits: HashMap<SourceName, usize>) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Forgets what earlier reads brought: a write may have changed it.
    pub fn forget(&self) {
        self.flights.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn permits(&self, source: &SourceName) -> Arc<Semaphore> {
        let limit = self.limits.get(source).copied().unwrap_or(DEFAULT_LIMIT).max(1);
        let mut permits = self.permits.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(permits.entry(source.clone()).or_insert_with(|| Arc::new(Semaphore::new(limit))))
    }

    async fn fly(&self, source: &SourceName, work: warrant_kernel::call::execute::Work<'_>) -> Done {
        let permits = self.permits(source);
        // Nobody closes the semaphore; were it closed, running without a permit is the harmless way out.
        let _permit = permits.acquire().await.ok();
        work.await
    }

    /// The entry for a key: a fresh one where there is none, or where the answer in it has grown old or failed.
    fn entry(&self, flight: &Flight<'_>) -> Entry {
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        let serves = |entry: &Entry| match entry.get() {
            None => true,
            Some(answered) => is_ok(&answered.done) && answered.at.elapsed() <= flight.cache,
        };
        if let Some(entry) = flights.get(flight.key).filter(|entry| serves(entry)) {
            return Arc::clone(entry);
        }
        if flights.len() >= MOST_ENTRIES {
            flights.retain(|_, entry| entry.get().is_none());
        }
        let entry = Entry::default();
        flights.insert(flight.key.to_owned(), Arc::clone(&entry));
        entry
    }
}

fn is_ok(done: &Done) -> bool {
    matches!(done, Done::Read(Ok(_)))
}

#[async_trait]
impl Conduct for Scheduler {
    async fn conduct(&self, flight: Flight<'_>) -> Landed {
        if flight.cache.is_zero() {
            return Landed { done: Arc::new(self.fly(flight.source, flight.work).await), cached: None };
        }
        let entry = self.entry(&flight);
        let mut flew = false;
        // If the one who flies is cancelled, a waiting one flies in its place.
        let answered = entry
            .get_or_init(|| async {
                flew = true;
                let done = Arc::new(self.fly(flight.source, flight.work).await);
                Answered { done, evidence: flight.evidence, at: Instant::now() }
            })
            .await;
        Landed { done: Arc::clone(&answered.done), cached: (!flew).then_some(answered.evidence) }
    }
}

#[cfg(test)]
mod tests;
