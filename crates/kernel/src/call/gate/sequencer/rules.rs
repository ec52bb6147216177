//! What is in force: the tools that write, and the policies that rule on them. Both change together, between two changes of
//! approvals, and never without the record that says so.
//!
//! Investigations keep the tools and policies that they began with. So whatever one of them asks for is ruled on again here:
//! of two policies the stricter counts.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use crate::call::gate::deed::Halt;
use crate::call::gate::objection::Objection;
use crate::call::registry::Registry;
use crate::domain::decision::{Action, Tier};
use crate::ledger::record::RecordKind;
use crate::policy::{Policy, Question, Ruling};

use super::request::{Request, denied, ruled_out};
use super::{Sequencer, told};

/// The tools, and the policies that were checked against them.
#[derive(Clone)]
pub struct Rules {
    /// The tools.
    pub registry: Arc<Registry>,
    /// Who may do what.
    pub policy: Arc<Policy>,
}

impl Sequencer {
    /// From here on these are in force. Nothing changes where that can't be recorded.
    ///
    /// # Errors
    /// [`Objection::Ledger`]; then what was in force still is.
    pub async fn adopt(&self, rules: Rules) -> Result<(), Objection> {
        let _turn = self.turn.lock().await;
        let texts = BTreeMap::from([("policies".to_owned(), rules.policy.in_force().text().to_owned())]);
        let recorded = self.ledger.in_force(RecordKind::PolicyLoaded, &texts).await;
        recorded.map_err(|error| Objection::Ledger(told(&error)))?;
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
        Ok(())
    }

    /// What is in force now. Whoever decides by it and acts later looks whether it is the same then.
    pub(super) fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Rules {
    /// What policy in force says to a request that was ruled on by the policies with which its investigation began.
    pub(super) fn rule(&self, request: Request<'_>) -> Result<(Ruling, Tier), Halt> {
        let tool = request.tool.about();
        if self.registry.get(tool.name.as_str()).is_none() {
            return Err(denied("NO_SUCH_TOOL", format!("there is no tool `{}` any more", tool.name)));
        }
        let ruling = self.policy.decide(&question(request));
        match ruling.action {
            Action::Ask(asked) => Ok((ruling, asked.max(request.tier))),
            Action::Allow | Action::Deny => Err(ruled_out(&ruling)),
        }
    }

    /// How many persons it takes; nobody at the low tier.
    pub(super) fn quorum(&self, request: Request<'_>, tier: Tier) -> Result<u32, Halt> {
        if tier == Tier::Low {
            return Ok(0);
        }
        let quorum = self.policy.quorum(&question(request), tier).map_err(|ruling| ruled_out(&ruling))?;
        Ok(quorum.persons.max(1))
    }
}

fn question(request: Request<'_>) -> Question<'_> {
    Question {
        run: request.run,
        tool: request.tool.about(),
        target: request.target,
        args: request.arguments.as_map(),
        now: request.now,
    }
}
