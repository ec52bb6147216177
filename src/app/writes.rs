//! The write side of one investigation: this process takes the lease of the ledger when a write is asked for, and not
//! before. A run that only reads pays nothing for it.

pub mod people;

use async_trait::async_trait;
use tokio::sync::OnceCell;
use warrant_kernel::call::gate::approver::Approver;
use warrant_kernel::call::gate::sequencer::Sequencer;
use warrant_kernel::domain::plan::ApprovalId;
use warrant_kernel::domain::run::Channel;

use super::App;
use super::fault::told;
use super::sequencer::hold::Hold;
use crate::agent::writes::{Lobby, WriteSide};
use people::Present;

/// What is opened when it is needed.
pub struct Lazy<'a> {
    app: &'a App,
    present: Present,
    hold: OnceCell<Hold>,
}

impl<'a> Lazy<'a> {
    /// Nothing is opened yet.
    #[must_use]
    pub fn new(app: &'a App, present: Present) -> Self {
        Self { app, present, hold: OnceCell::new() }
    }

    async fn take(&self) -> Result<Hold, super::fault::Fault> {
        let hold = Hold::take(self.app, self.present.attended.clone()).await?;
        for (approval, state) in &hold.swept.orphans {
            tracing::warn!(
                "the outcome of {approval} was lost with an earlier process; it stands at: {}",
                state.as_str()
            );
        }
        let left = hold.swept.approved.iter().filter(|(_, channel)| match channel {
            Channel::Terminal | Channel::Command | Channel::Demo => true,
            // Who approved these may be known to the process alone that serves them.
            Channel::Slack | Channel::Alert | Channel::Api => false,
        });
        let left: Vec<ApprovalId> = left.map(|(approval, _)| *approval).collect();
        if !left.is_empty() {
            // Waited for: a run that is taken up reads next what became of its own.
            drop(hold.office().take_up(left).await);
        }
        Ok(hold)
    }

    /// Lets go of what was opened, if anything was.
    pub async fn close(self) {
        if let Some(hold) = self.hold.into_inner() {
            hold.end().await;
        }
    }
}

#[async_trait]
impl WriteSide for Lazy<'_> {
    async fn sequencer(&self) -> Result<&Sequencer, String> {
        let hold = self.hold.get_or_try_init(|| self.take()).await;
        hold.map(Hold::sequencer).map_err(|fault| told(&fault))
    }

    fn approver(&self) -> &dyn Approver {
        self.present.approver.as_ref()
    }

    async fn checkpoint(&self) -> Option<String> {
        self.hold.get()?.checkpoint().await
    }

    /// Who sits at a terminal is asked there and then; what waits for others, the report says.
    fn lobby(&self) -> Option<&dyn Lobby> {
        None
    }
}
