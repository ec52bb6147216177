//! When a read runs: a limit for each source, identical reads served once, and a short cache.
//!
//! Tools know nothing of this. One scheduler belongs to one investigation, so no result crosses from one to another; the
//! limits of the sources belong to all investigations of a process together.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::Instant;
use warrant_kernel::call::execute::{Conduct, Done, Flight, Landed};
use warrant_kernel::domain::name::{EvidenceId, SourceName};

use super::held;

/// Reads of one source at once, where the config sets no other limit.
const DEFAULT_LIMIT: usize = 4;

/// Answers kept for identical reads; more than an investigation's budget of calls makes in the cache's short time.
const MOST_ENTRIES: usize = 256;

/// Most bytes of answers that are kept for identical reads.
const MOST_BYTES: usize = 32 << 20;

struct Answered {
    done: Arc<Done>,
    evidence: EvidenceId,
    at: Instant,
    cache: Duration,
    bytes: usize,
}

impl Answered {
    /// Whether it may still serve an identical read.
    fn serves(&self) -> bool {
        is_ok(&self.done) && self.at.elapsed() <= self.cache
    }
}

type Entry = Arc<OnceCell<Answered>>;

/// How many reads of each source may run at once, over all investigations.
#[derive(Debug, Default)]
pub struct SourceLimits {
    limits: HashMap<SourceName, usize>,
    permits: Mutex<HashMap<SourceName, Arc<Semaphore>>>,
}

impl SourceLimits {
    /// These; other sources have the default one.
    #[must_use]
    pub fn new(limits: HashMap<SourceName, usize>) -> Self {
        Self { limits, permits: Mutex::default() }
    }

    fn of(&self, source: &SourceName) -> Arc<Semaphore> {
        let limit = self.limits.get(source).copied().unwrap_or(DEFAULT_LIMIT).max(1);
        let mut permits = self.permits.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(permits.entry(source.clone()).or_insert_with(|| Arc::new(Semaphore::new(limit))))
    }
}

/// The scheduler of one investigation.
#[derive(Default)]
pub struct Scheduler {
    limits: Arc<SourceLimits>,
    flights: Mutex<HashMap<String, Entry>>,
}

impl Scheduler {
    /// A scheduler under these limits.
    #[must_use]
    pub fn new(limits: Arc<SourceLimits>) -> Self {
        Self { limits, flights: Mutex::default() }
    }

    /// Forgets what earlier reads brought: a write may have changed it.
    pub fn forget(&self) {
        self.flights.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    async fn fly(&self, source: &SourceName, work: warrant_kernel::call::execute::Work<'_>) -> Done {
        let permits = self.limits.of(source);
        // Nobody closes the semaphore; were it closed, running without a permit is the harmless way out.
        let _permit = permits.acquire().await.ok();
        work.await
    }

    /// The entry for a key: a fresh one where there is none, or where the answer in it has grown old or failed.
    fn entry(&self, flight: &Flight<'_>) -> Entry {
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        // Whole outputs are large: what serves no more goes at once, not when there are many.
        flights.retain(|_, entry| entry.get().is_none_or(Answered::serves));
        if let Some(entry) = flights.get(flight.key) {
            return Arc::clone(entry);
        }
        let bytes: usize = flights.values().filter_map(|entry| entry.get()).map(|answered| answered.bytes).sum();
        if flights.len() >= MOST_ENTRIES || bytes >= MOST_BYTES {
            flights.retain(|_, entry| entry.get().is_none());
        }
        let entry = Entry::default();
        flights.insert(flight.key.to_owned(), Arc::clone(&entry));
        entry
    }
}

/// What an answer takes, roughly.
fn size(done: &Done) -> usize {
    match done {
        Done::Read(Ok(output)) => held::output(output),
        Done::Read(Err(_)) | Done::TimedOut | Done::Panicked => 0,
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
                let bytes = size(&done);
                Answered { done, evidence: flight.evidence, at: Instant::now(), cache: flight.cache, bytes }
            })
            .await;
        Landed { done: Arc::clone(&answered.done), cached: (!flew).then_some(answered.evidence) }
    }
}

#[cfg(test)]
mod tests;
