//! Stage 4: the gate. The only place that lets a call through to execution.
//!
//! An allowed read passes. Everything else stops here: a denial, and whatever would need people's approval, because
//! this version grants no warrants.

pub mod warrant;

use crate::domain::decision::{Action, Risk};

use crate::policy::Basis;

use super::refusal::Refusal;
use super::ruling::Ruling;
use super::schema::Checked;

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
