//! Waiting for people: a report is not closed while a write that it speaks of may still be decided.
//!
//! The trace stands still meanwhile. Whoever takes it up after a break comes to the same place and waits again.

use warrant_kernel::domain::event::Body;

use super::Investigation;
use crate::agent::state::State;
use crate::agent::step::HandedIn;
use crate::agent::writes::{Lobby, Settling};

impl Investigation<'_> {
    /// Waits, where people decide later, for what becomes of writes before their report is closed; whether anything came
    /// that its writer has to see.
    pub(super) async fn park(&self, state: &State, handed_in: &HandedIn) -> bool {
        let goes_back = handed_in.draft.is_err() || handed_in.beside_others || handed_in.beside_news;
        if goes_back || state.ending.is_some() || state.waiting().next().is_none() {
            return false;
        }
        let Some(lobby) = self.writes.lobby() else { return false };
        lobby.leave();
        let came = self.came(state, lobby).await;
        if self.cancel.run_until_cancelled(lobby.enter()).await.is_none() {
            return true;
        }
        if let Some(bodies) = &came {
            // Time in the lobby is people's.
            self.trace.append([&[Body::Resumed], bodies.as_slice()].concat()).await;
        }
        came.is_some()
    }

    /// What was decided, or nothing but that somebody said something or that all ends; none where no decision can come.
    async fn came(&self, state: &State, lobby: &dyn Lobby) -> Option<Vec<Body>> {
        loop {
            let Settling { bodies, waits } = self.settling(state).await;
            if !bodies.is_empty() {
                self.scheduler.forget();
                return Some(bodies);
            }
            if !waits {
                return None;
            }
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Some(Vec::new()),
                () = self.news.came() => return Some(Vec::new()),
                () = lobby.moved() => {}
            }
        }
    }
}
