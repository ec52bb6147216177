//! What became of one call that asked for a write: for the investigation that made it, also after a break.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::decision::Tier;
use crate::domain::name::{CallId, EvidenceId, InvestigationId};
use crate::domain::plan::{ApprovalId, Proposal};

use super::approval::State;
use super::deed::Ended;
use super::objection::Objection;
use super::sequencer::Sequencer;

/// What is known of a write that people or policy were asked about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// Its approval.
    pub approval: ApprovalId,
    /// Where that stands.
    pub state: State,
    /// What was asked of people.
    pub tier: Tier,
    /// What it would do; made visible.
    pub effect: String,
    /// The evidence that its result is.
    pub evidence: EvidenceId,
    /// Who approved, or the policies where nobody had to be asked.
    pub approved_by: Vec<String>,
    /// Until when it can be decided on.
    pub expires_at: Timestamp,
    /// The ledger's record of the intent, once there is one.
    pub intent: Option<u64>,
    /// How the write ended, once it has.
    pub ended: Option<Ended>,
    /// Reads that show whether the trouble is over.
    pub follow_ups: Vec<Proposal>,
}

impl Sequencer {
    /// The last approval that a call asked for; none where nobody was asked.
    ///
    /// # Errors
    /// [`Objection::Ledger`] where it can't be read.
    pub async fn account(&self, _of: &InvestigationId, _call: &CallId) -> Result<Option<Account>, Objection> {
        Ok(None)
    }
}
