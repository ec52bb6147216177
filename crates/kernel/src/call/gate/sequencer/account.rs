//! What became of one call that asked for a write: for the investigation that made it, also after a break.

use crate::call::gate::card::Card;
use crate::call::gate::deed::Aftermath;
use crate::call::gate::objection::Objection;
use crate::domain::name::{CallId, EvidenceId, InvestigationId};

use super::Sequencer;

/// A call's approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// As people are shown it, with where it stands.
    pub card: Card,
    /// The evidence that the call's result is.
    pub evidence: EvidenceId,
    /// What it left behind, once it was done.
    pub aftermath: Option<Aftermath>,
    /// Whether it is being done at this moment, or was and whoever did it still looks whether it holds.
    pub is_under_way: bool,
}

impl Sequencer {
    /// The last approval that a call asked for; none where nobody was asked.
    ///
    /// # Errors
    /// [`Objection::Ledger`] where it can't be read.
    pub async fn account(&self, of: &InvestigationId, call: &CallId) -> Result<Option<Account>, Objection> {
        let asked = self.index().of_call(of, call);
        let Some(id) = asked else { return Ok(None) };
        let approval = self.seen(id).await?;
        // After a crash nobody is at it any more.
        let is_under_way = self.under_way.has(id);
        Ok(Some(Account {
            card: Card::of(&approval),
            evidence: approval.plan.evidence,
            aftermath: approval.aftermath,
            is_under_way,
        }))
    }
}
