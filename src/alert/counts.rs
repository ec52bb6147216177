//! What is counted of alerts: for metrics, and so that no more wait than the config allows.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

/// Counts since the start of the process, and the bell that wakes the worker.
#[derive(Debug, Default)]
pub struct Counts {
    received: AtomicU64,
    known: AtomicU64,
    unauthenticated: AtomicU64,
    unreadable: AtomicU64,
    too_large: AtomicU64,
    unavailable: AtomicU64,
    opened: AtomicU64,
    shed: AtomicU64,
    waiting: AtomicU64,
    bell: Notify,
}

/// A look at the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Counted {
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
    /// Requests that were told to come again: the queue was full, or the store or the redactor failed.
    pub unavailable: u64,
    /// Incidents opened.
    pub opened: u64,
    /// Alerts that only the message of a storm has.
    pub shed: u64,
    /// Alerts that wait to be taken up, since the start.
    pub waiting: u64,
}

/// What became of a request or an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A request did not prove where it comes from.
    Unauthenticated,
    /// No alert in the body.
    Unreadable,
    /// A body over the limit.
    TooLarge,
    /// Told to come again.
    Unavailable,
    /// An incident was opened.
    Opened,
    /// Too many incidents.
    Shed,
}

impl Counts {
    /// Counts one.
    pub fn count(&self, event: Event) {
        let counter = match event {
            Event::Unauthenticated => &self.unauthenticated,
            Event::Unreadable => &self.unreadable,
            Event::TooLarge => &self.too_large,
            Event::Unavailable => &self.unavailable,
            Event::Opened => &self.opened,
            Event::Shed => &self.shed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Alerts were kept: so many new, so many known.
    pub(super) fn kept(&self, new: u64, known: u64) {
        self.received.fetch_add(new, Ordering::Relaxed);
        self.known.fetch_add(known, Ordering::Relaxed);
        self.waiting.fetch_add(new, Ordering::Relaxed);
        if new > 0 {
            self.ring();
        }
    }

    /// Alerts were taken up.
    pub(super) fn taken(&self, count: u64) {
        // What waited already at the start was never counted in.
        let less = |waiting: u64| Some(waiting.saturating_sub(count));
        // Never fails: the closure always gives a number.
        let _ = self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// How many wait.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Wakes the worker.
    pub fn ring(&self) {
        self.bell.notify_one();
    }

    /// Waits for the bell.
    pub(super) async fn rung(&self) {
        self.bell.notified().await;
    }

    /// All of them.
    #[must_use]
    pub fn look(&self) -> Counted {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counted {
            received: read(&self.received),
            known: read(&self.known),
            unauthenticated: read(&self.unauthenticated),
            unreadable: read(&self.unreadable),
            too_large: read(&self.too_large),
            unavailable: read(&self.unavailable),
            opened: read(&self.opened),
            shed: read(&self.shed),
            waiting: read(&self.waiting),
        }
    }
}
