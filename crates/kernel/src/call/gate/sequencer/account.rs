//! What became of one call that asked for a write: for the investigation that made it, also after a break.

use crate::call::gate::approval::Approval;
use crate::call::gate::card::Card;
use crate::call::gate::objection::Objection;
use crate::domain::name::{CallId, EvidenceId, InvestigationId};

use super::Sequencer;
use super::kept::Kept;

/// A call's approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// As people are shown it, with where it stands.
    pub card: Card,
    /// The evidence that the call's result is.
    pub evidence: EvidenceId,
}

impl Sequencer {
    /// The last approval that a call asked for; none where nobody was asked.
    ///
    /// # Errors
    /// [`Objection::Ledger`] where it can't be read.
    pub async fn account(&self, of: &InvestigationId, call: &CallId) -> Result<Option<Account>, Objection> {
        let asked = Kept::all(&self.ledger).await?.into_iter().map(|kept| kept.approval);
        let asked = asked.filter(|approval| approval.plan.run.investigation == *of && approval.plan.call_id == *call);
        let last = asked.max_by_key(Approval::id);
        Ok(last.map(|mut approval| {
            approval.expire(self.watch.now());
            Account { card: Card::of(&approval), evidence: approval.plan.evidence }
        }))
    }
}
