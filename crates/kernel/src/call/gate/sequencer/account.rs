//! What became of one call that asked for a write: for the investigation that made it, also after a break.

use crate::call::gate::approval::{Approval, State};
use crate::call::gate::card::Card;
use crate::call::gate::deed::Aftermath;
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
    /// What it left behind, once it was done.
    pub aftermath: Option<Aftermath>,
    /// Whether it was done a moment ago and whoever did it still looks whether it holds.
    pub is_looked_at: bool,
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
            let now = self.watch.now();
            approval.expire(now);
            let tool = self.rules().registry.get(approval.plan.tool.as_str()).map(|tool| tool.about().timeout);
            let is_looked_at = if let State::Executed { at, verified: None } = approval.state {
                tool.is_some_and(|timeout| now.duration_since(at).unsigned_abs() < timeout)
            } else {
                false
            };
            Account {
                card: Card::of(&approval),
                evidence: approval.plan.evidence,
                aftermath: approval.aftermath,
                is_looked_at,
            }
        }))
    }
}
