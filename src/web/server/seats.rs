//! Seats: one a connection, and who gives way where all are taken.
//!
//! A seat waits (for a request, or for the rest of one) or works (on an answer). Only one that waits gives way, and the one
//! that has waited longest goes first: whoever sends its request at once is served, however many others sit there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// All seats.
pub(super) struct Seats {
    free: Arc<Semaphore>,
    waiting: Mutex<Waiting>,
    /// Told when a seat begins to wait.
    waits: Notify,
}

#[derive(Default)]
struct Waiting {
    /// In the order in which they began to wait.
    line: BTreeMap<u64, CancellationToken>,
    next: u64,
}

/// One seat; given back when the connection lets go of it.
pub(super) struct Seat {
    seats: Arc<Seats>,
    gone: CancellationToken,
    /// Its place in the line, while it waits.
    place: Mutex<Option<u64>>,
    _held: OwnedSemaphorePermit,
}

impl Seats {
    pub(super) fn new(most: usize) -> Arc<Self> {
        let free = Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)));
        Arc::new(Self { free, waiting: Mutex::default(), waits: Notify::new() })
    }

    /// A seat, once there is one: a free one, or that of whoever has waited longest.
    pub(super) async fn take(self: &Arc<Self>) -> Arc<Seat> {
        let mut given_way = false;
        loop {
            if let Ok(held) = Arc::clone(&self.free).try_acquire_owned() {
                return self.seat(held);
            }
            // One gives way for each that comes, not more.
            if !given_way && let Some((_, longest)) = self.waiting().line.pop_first() {
                longest.cancel();
                given_way = true;
            }
            tokio::select! {
                held = Arc::clone(&self.free).acquire_owned() => match held {
                    Ok(held) => return self.seat(held),
                    // It is never closed.
                    Err(_closed) => std::future::pending().await,
                },
                () = self.waits.notified(), if !given_way => {}
            }
        }
    }

    fn seat(self: &Arc<Self>, held: OwnedSemaphorePermit) -> Arc<Seat> {
        let (seats, gone) = (Arc::clone(self), CancellationToken::new());
        Arc::new(Seat { seats, gone, place: Mutex::default(), _held: held })
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// From here on it may be asked to give way.
    pub(super) fn waits(&self) {
        let mut waiting = self.seats.waiting();
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        if place.is_none() && !self.gone.is_cancelled() {
            let next = waiting.next;
            waiting.next += 1;
            waiting.line.insert(next, self.gone.clone());
            *place = Some(next);
            self.seats.waits.notify_one();
        }
    }

    /// From here on it may not.
    pub(super) fn works(&self) {
        let mut waiting = self.seats.waiting();
        if let Some(place) = self.place.lock().unwrap_or_else(PoisonError::into_inner).take() {
            waiting.line.remove(&place);
        }
    }

    /// Once it has to give way.
    pub(super) async fn gone(&self) {
        self.gone.cancelled().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.works();
    }
}
