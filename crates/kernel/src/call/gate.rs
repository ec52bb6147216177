//! Stage 4: the gate. The only place that lets a call through to execution.
//!
//! An allowed read passes. Everything else stops here: a denial, and whatever would need people's approval, because
//! this version grants no warrants.

pub mod warrant;

pub mod vote;

pub mod objection;

pub mod plan;

pub mod exhibit;

pub mod grounds;

pub mod approval;

pub mod card;

pub mod approver;

pub mod deed;

pub mod sequencer;

use crate::domain::decision::{Action, Risk};
use crate::domain::name::PersonId;
use crate::domain::result::ToolResult;
use crate::policy::Basis;

use super::refusal::Refusal;
use super::ruling::Ruling;
use super::schema::Checked;

use approver::Approver;
use exhibit::SoFar;
use grounds::Grounds;
use sequencer::Sequencer;

/// Whether writes can be asked for at all from this desk.
#[derive(Clone, Copy)]
pub enum Gate<'a> {
    /// They can't: this process holds no lease of the ledger, or was not asked to write.
    ReadsOnly,
    /// They can.
    Open(Writes<'a>),
}

/// What a write needs beside what a read does.
#[derive(Clone, Copy)]
pub struct Writes<'a> {
    /// Holds approvals and the ledger.
    pub sequencer: &'a Sequencer,
    /// People at hand.
    pub approver: &'a dyn Approver,
    /// Results of this investigation as the model still sees them: whole where whole, cut where cut, masked where masked.
    pub seen: &'a [&'a ToolResult],
    /// Whose word there is for targets.
    pub grounds: &'a Grounds,
    /// Who else had a part in the investigation, beside its requester.
    pub contributors: &'a [PersonId],
    /// The investigation up to here.
    pub so_far: &'a SoFar,
}

/// A call that may be carried out, once: the executor takes it by value.
#[must_use]
pub struct Cleared<'a> {
    checked: Checked<'a>,
}

impl<'a> Cleared<'a> {
    pub(super) fn into_checked(self) -> Checked<'a> {
        self.checked
    }
}

/// Lets allowed reads through and refuses the rest.
pub(super) fn clear(ruling: Ruling<'_>) -> Result<Cleared<'_>, Refusal> {
    let decision = ruling.decision();
    match (decision.action, decision.risk) {
        (Action::Allow, Risk::Read) => Ok(Cleared { checked: ruling.into_checked() }),
        (Action::Allow | Action::Ask(_), _) => Err(Refusal::policy_denied(
            None,
            "this version of Warrant only reads; no approval can be asked for",
            &decision.policy_ids,
        )),
        (Action::Deny, _) => {
            let reason = match ruling.basis() {
                Basis::Failed => Some("POLICY_ERROR"),
                Basis::Policies | Basis::NoPolicy => None,
            };
            Err(Refusal::policy_denied(reason, &decision.reason, &decision.policy_ids))
        }
    }
}
