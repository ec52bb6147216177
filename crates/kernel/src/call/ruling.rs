//! Stage 3: what does policy say? Reads are ruled on too, and every decision is recorded.

use crate::domain::decision::{Action, Decision, Risk, Tier};
use crate::policy::{Basis, Question};

use super::Desk;
use super::normalise;
use super::schema::Checked;

/// Longest reason, in characters.
const REASON: usize = 400;

/// A checked call and what policy decided on it.
#[must_use]
pub struct Ruling<'a> {
    checked: Checked<'a>,
    decision: Decision,
    basis: Basis,
}

impl<'a> Ruling<'a> {
    pub(super) fn decision(&self) -> &Decision {
        &self.decision
    }

    pub(super) fn basis(&self) -> Basis {
        self.basis
    }

    pub(super) fn checked(&self) -> &Checked<'a> {
        &self.checked
    }

    pub(super) fn into_checked(self) -> Checked<'a> {
        self.checked
    }
}

/// Asks policy and records the decision.
pub(super) async fn rule<'a>(desk: Desk<'a>, checked: Checked<'a>) -> Ruling<'a> {
    let definition = checked.tool().about();
    let ruled = desk.policy.decide(&Question {
        run: desk.run,
        tool: definition,
        now: desk.now,
        target: checked.target(),
        args: checked.arguments().as_map(),
    });
    let decision = Decision {
        call_id: checked.call().id.clone(),
        tool: definition.name.clone(),
        action: ruled.action,
        // Where policy could not be asked, the reason quotes arguments; and a decision goes to the trace as it is.
        reason: normalise::masked(desk.redactor, &ruled.reason, REASON),
        risk: definition.risk,
        tier: tier_of(definition.risk, ruled.action, definition.tier_floor),
        policy_ids: ruled.policy_ids,
        decided_at: desk.now,
    };
    desk.recorder.decided(&decision).await;
    Ruling { checked, decision, basis: ruled.basis }
}

/// The tier of a call: what policy asks for, raised by the tool's own floor. What only looks has none.
fn tier_of(risk: Risk, action: Action, floor: Option<Tier>) -> Option<Tier> {
    let asked = match action {
        Action::Ask(tier) => Some(tier),
        Action::Allow | Action::Deny => None,
    };
    if risk.only_looks() { None } else { asked.max(floor).or(Some(Tier::High)) }
}

#[cfg(test)]
mod tests;
