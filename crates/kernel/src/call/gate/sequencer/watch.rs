//! Time that never goes back: an approval that is over stays over, whatever is done to the clock.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::call::tool::Clock;

/// The wall clock, held to the monotonic one: set forward it goes forward, set back it does not go back.
pub(super) struct Watch {
    clock: Arc<dyn Clock>,
    /// The latest time that was told, and where the monotonic clock stood then.
    latest: Mutex<(Timestamp, Duration)>,
}

impl Watch {
    /// Goes on from `last`, the latest time that the store knows.
    pub(super) fn new(clock: Arc<dyn Clock>, last: Option<Timestamp>) -> Self {
        let now = clock.now();
        let latest = last.map_or(now, |last| last.max(now));
        let monotonic = clock.monotonic();
        Self { clock, latest: Mutex::new((latest, monotonic)) }
    }

    pub(super) fn now(&self) -> Timestamp {
        let (wall, monotonic) = (self.clock.now(), self.clock.monotonic());
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = SignedDuration::try_from(monotonic.saturating_sub(latest.1)).unwrap_or(SignedDuration::MAX);
        let least = latest.0.saturating_add(passed).unwrap_or(latest.0);
        let now = wall.max(least);
        *latest = (now, latest.1.max(monotonic));
        now
    }
}
