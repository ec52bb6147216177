//! The write side of one investigation. Opened when a write is asked for, and not before: a run that only reads pays
//! nothing for it.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::OnceCell;
use warrant_kernel::call::gate::approver::Approver;
use warrant_kernel::call::gate::sequencer::Sequencer;

use super::App;
use super::sequencer::hold::Hold;
use crate::agent::writes::WriteSide;
use crate::chat::terminal::approver::Attended;

/// Takes the lease at the first write.
pub struct Lazy<'a> {
    app: &'a App,
    approver: Arc<dyn Approver>,
    attended: Attended,
    hold: OnceCell<Hold>,
}

impl<'a> Lazy<'a> {
    /// Nothing is opened yet. `attended` are the approvals that `approver` waits for, which nobody else carries out.
    #[must_use]
    pub fn new(app: &'a App, approver: Arc<dyn Approver>, attended: Attended) -> Self {
        Self { app, approver, attended, hold: OnceCell::new() }
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
        let hold = self.hold.get_or_try_init(|| Hold::take(self.app, self.attended.clone())).await;
        hold.map(Hold::sequencer).map_err(|fault| fault.to_string())
    }

    fn approver(&self) -> &dyn Approver {
        self.approver.as_ref()
    }

    async fn checkpoint(&self) -> Option<String> {
        let signed = self.hold.get()?.ledger().checkpoint().await;
        match signed {
            Ok(signed) => Some(format!("{} records, root {}", signed.size, signed.root)),
            Err(error) => {
                tracing::warn!(%error, "the ledger's checkpoint could not be signed");
                None
            }
        }
    }
}
