//! The customers: a steady stream of real orders and carts through the gateway, and what the customers make of it. This is
//! all that the outside world knows of the shop.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, sleep};

/// A request starts every so often: 40 a second. A machine that falls behind sends fewer, never a burst.
const EVERY: Duration = Duration::from_millis(25);
/// Every so manieth request reads a cart, the others are orders.
const CART_EVERY: u64 = 6;
/// More customers than this do not wait at once; others go elsewhere.
const PATIENT: usize = 160;
/// How long a customer waits for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// An order that takes longer is slow, on a machine that keeps up: four times the usual.
const SLOW: Duration = Duration::from_secs(1);

/// How an order ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Placed,
    Failed,
}

/// One order.
#[derive(Debug, Clone, Copy)]
struct Visit {
    ended: Timestamp,
    took: Duration,
    outcome: Outcome,
}

impl Visit {
    fn is_slow(&self, slow: Duration) -> bool {
        self.outcome == Outcome::Placed && self.took > slow
    }
}

/// What became of the orders of a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// How many were answered, or given up.
    pub orders: usize,
    /// How many failed.
    pub failed: usize,
    /// How many went through, but slowly.
    pub slow: usize,
    /// What 95 of 100 took at most.
    pub p95: Duration,
}

impl Tally {
    fn of(visits: &[Visit], slow: Duration) -> Self {
        let failed = visits.iter().filter(|visit| visit.outcome == Outcome::Failed).count();
        let slow = visits.iter().filter(|visit| visit.is_slow(slow)).count();
        let mut times: Vec<Duration> = visits.iter().map(|visit| visit.took).collect();
        times.sort_unstable();
        let p95 = times.get(times.len().saturating_mul(95) / 100).or(times.last()).copied().unwrap_or_default();
        Self { orders: visits.len(), failed, slow, p95 }
    }

    /// In a hundred orders, how many failed or were slow.
    #[must_use]
    pub fn bad_percent(&self) -> usize {
        (self.failed + self.slow).saturating_mul(100).checked_div(self.orders).unwrap_or(0)
    }
}

/// Running customers; they stop when this is dropped.
#[derive(Debug)]
pub(super) struct Customers {
    visits: Arc<Mutex<Vec<Visit>>>,
    slow: Duration,
    task: JoinHandle<()>,
}

impl Customers {
    /// Opens the doors. The first customer comes alone and tries until an order goes through, or `patience` is over.
    pub(super) async fn start(gateway: String, patience: Duration) -> Result<Option<Self>, reqwest::Error> {
        let http =
            reqwest::Client::builder().no_proxy().tcp_nodelay(true).timeout(PATIENCE).tls_certs_only([]).build()?;
        let visits = Arc::new(Mutex::new(Vec::new()));
        let begun = Instant::now();
        while order(&http, &gateway, 0).await.outcome == Outcome::Failed {
            if begun.elapsed() > patience {
                return Ok(None);
            }
            sleep(EVERY).await;
        }
        let task = tokio::spawn(keep_coming(http, gateway, Arc::clone(&visits)));
        Ok(Some(Self { visits, slow: SLOW, task }))
    }

    /// The orders that ended at `from` or later, and before `to`.
    pub(super) fn tally(&self, from: Timestamp, to: Timestamp) -> Tally {
        let chosen: Vec<Visit> =
            self.visits().iter().filter(|visit| visit.ended >= from && visit.ended < to).copied().collect();
        Tally::of(&chosen, self.slow)
    }

    /// From now on only what takes twice as long as most orders since `from` is slow, where that is more than a second:
    /// on a machine that is busy with other things all orders take long.
    pub(super) fn get_used_to(&mut self, from: Timestamp) {
        self.slow = SLOW.max(self.tally(from, Timestamp::now()).p95 * 2);
    }

    /// Whether orders go well: those of the last half second, and at least five.
    pub(super) fn content(&self) -> bool {
        let now = Timestamp::now();
        let lately = self.tally(now.checked_sub(SignedDuration::from_millis(500)).unwrap_or(now), now);
        lately.orders >= 5 && lately.bad_percent() == 0
    }

    /// When orders began to go wrong after `since`, if they do so now: of the orders of the last second at least five
    /// and at least a fifth failed or were slow.
    pub(super) fn trouble(&self, since: Timestamp) -> Option<Timestamp> {
        let now = Timestamp::now();
        let second_ago = now.checked_sub(SignedDuration::from_secs(1)).ok()?;
        let lately = self.tally(second_ago.max(since), now);
        let bad = lately.failed + lately.slow;
        if bad < 5 || lately.bad_percent() < 20 {
            return None;
        }
        let visits = self.visits();
        let first = visits
            .iter()
            .filter(|visit| visit.ended >= since && (visit.outcome == Outcome::Failed || visit.is_slow(self.slow)));
        first.map(|visit| visit.ended).min()
    }

    fn visits(&self) -> MutexGuard<'_, Vec<Visit>> {
        self.visits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Customers {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn keep_coming(http: reqwest::Client, gateway: String, visits: Arc<Mutex<Vec<Visit>>>) {
    let room = Arc::new(Semaphore::new(PATIENT));
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for number in 0_u64.. {
        ticks.tick().await;
        let Ok(place) = Arc::clone(&room).try_acquire_owned() else { continue };
        let (http, gateway, visits) = (http.clone(), gateway.clone(), Arc::clone(&visits));
        tokio::spawn(async move {
            if number % CART_EVERY == CART_EVERY - 1 {
                // Carts are load only: what customers report is about orders.
                drop(http.get(format!("{gateway}/carts/{}", number % 1_000)).send().await);
            } else {
                let visit = order(&http, &gateway, number).await;
                visits.lock().unwrap_or_else(PoisonError::into_inner).push(visit);
            }
            drop(place);
        });
    }
}

async fn order(http: &reqwest::Client, gateway: &str, number: u64) -> Visit {
    let begun = Instant::now();
    let order =
        json!({ "order": format!("o-{number}"), "items": number % 4 + 1, "amount_cents": 1_900 + number % 50 * 10 });
    let answer = http.post(format!("{gateway}/orders")).json(&order).send().await;
    let went_through = answer.is_ok_and(|answer| answer.status().is_success());
    let took = begun.elapsed();
    let outcome = if went_through { Outcome::Placed } else { Outcome::Failed };
    Visit { ended: Timestamp::now(), took, outcome }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;

    use super::{Outcome, Tally, Visit};

    #[test]
    fn a_tally_counts_what_failed_apart_from_what_was_slow() {
        let visit =
            |millis, outcome| Visit { ended: Timestamp::UNIX_EPOCH, took: Duration::from_millis(millis), outcome };
        let mut visits = vec![visit(200, Outcome::Placed); 17];
        visits.extend([visit(1_500, Outcome::Placed), visit(2_000, Outcome::Failed), visit(5, Outcome::Failed)]);
        let tally = Tally::of(&visits, Duration::from_secs(1));
        assert_eq!((tally.orders, tally.failed, tally.slow), (20, 2, 1));
        assert_eq!((tally.bad_percent(), tally.p95), (15, Duration::from_secs(2)));
        assert_eq!(Tally::of(&[], Duration::ZERO).bad_percent(), 0);
    }
}
