//! Who waits for the next event of an investigation that runs here: told that there is one, never what it is.
//!
//! Whoever is told reads the store. So a reader that is slow holds nothing here, and one that was away misses nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch::{Receiver, Sender};
use warrant_kernel::domain::event::Event;
use warrant_kernel::domain::name::InvestigationId;

use crate::agent::state::State;
use crate::agent::trace::Watcher;

/// What runs here.
#[derive(Debug, Default)]
pub struct Feed {
    running: Mutex<BTreeMap<InvestigationId, Sender<u64>>>,
}

impl Feed {
    /// Nothing runs yet.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Watches one investigation for those who wait, and hands everything on. It runs for as long as this is held.
    #[must_use]
    pub fn watch(self: &Arc<Self>, id: InvestigationId, then: Arc<dyn Watcher>) -> Arc<dyn Watcher> {
        let sender = Sender::new(0);
        self.running().insert(id.clone(), sender.clone());
        Arc::new(Feeding { feed: Arc::clone(self), id, sender, then })
    }

    /// The number of the last event as it grows; none where it does not run here.
    #[must_use]
    pub fn follow(&self, id: &InvestigationId) -> Option<Receiver<u64>> {
        self.running().get(id).map(Sender::subscribe)
    }

    /// Whether it runs here.
    #[must_use]
    pub fn runs(&self, id: &InvestigationId) -> bool {
        self.running().contains_key(id)
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<InvestigationId, Sender<u64>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Feeding {
    feed: Arc<Feed>,
    id: InvestigationId,
    sender: Sender<u64>,
    then: Arc<dyn Watcher>,
}

impl Watcher for Feeding {
    fn event(&self, event: &Event, state: &State) {
        self.sender.send_replace(event.seq);
        self.then.event(event, state);
    }

    fn delta(&self, text: &str) {
        self.then.delta(text);
    }
}

impl Drop for Feeding {
    fn drop(&mut self) {
        let mut running = self.feed.running();
        // A run that was taken up again has a sender of its own.
        if running.get(&self.id).is_some_and(|sender| sender.same_channel(&self.sender)) {
            running.remove(&self.id);
        }
    }
}
