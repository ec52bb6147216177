//! Everything is checked again, then the approval is consumed and a warrant is issued.
//!
//! Between the card and this moment hours may lie: the target is resolved again, the bound facts are read again, policy is
//! asked with the texts now in force, and every person whose word counts is looked up now. Decision, consumption and intent
//! are one commit, over the revision that was checked and the switch that was read.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::call::gate::approval::Approval;
use crate::call::gate::deed::Halt;
use crate::call::gate::objection::Objection;
use crate::call::gate::vote::Claimant;
use crate::call::gate::warrant::Warrant;
use crate::call::tool::Arguments;
use crate::call::write::{Looking, WriteTool};
#[cfg(test)]
use crate::db::storage::DocumentWrite;
use crate::domain::decision::{Action, Tier};
use crate::domain::plan::{ApprovalId, Facts};
use crate::domain::result::{ErrorCode, Status, ToolResult};
use crate::domain::target::Target;
use crate::domain::tool::ToolDefinition;
use crate::ledger::error::LedgerError;
use crate::people::directory::Freshness;
use crate::policy::Question;
use crate::policy::standing::Verb;

use super::kept::{Kept, Switch};
use super::request::{denied, denied_by, ruled_out, unavailable};
use super::rules::Rules;
use super::voting::stopped;
use super::{Sequencer, lock, perform, records, told};

/// How often it is tried again when the approval changes while it is checked.
const TRIES: usize = 4;

/// A write that may be done now, once.
#[must_use]
pub(in crate::call) struct Granted {
    pub(super) warrant: Warrant,
    pub(super) code: Arc<dyn WriteTool>,
    pub(super) kept: Kept,
    pub(super) timeout: Duration,
    pub(super) now: Timestamp,
}

/// What a second look found.
enum Again {
    /// All is as it was approved.
    Same,
    /// Something else would happen now.
    Changed(Box<Changed>),
    /// Words that no longer count, and why.
    Fallen(Vec<(Claimant, Objection)>),
    /// More persons are needed now.
    MoreNeeded(u32),
}

pub(super) struct Changed {
    pub(super) what: String,
    pub(super) target: Target,
    pub(super) tier: Tier,
    pub(super) policy_ids: Vec<String>,
}

impl Sequencer {
    /// Checks an approval again and uses it up.
    ///
    /// # Errors
    /// Why nothing may be done. Where what would happen has changed, [`Halt::asks_anew`] is the approval in its place.
    pub(in crate::call::gate) async fn grant(&self, id: ApprovalId, seen: &[&ToolResult]) -> Result<Granted, Halt> {
        for _ in 0..TRIES {
            let (kept, now) = {
                let _turn = self.turn.lock().await;
                self.current(id).await.map_err(|objection| halt_of(&objection))?
            };
            usable(&kept.approval, now)?;
            let rules = self.rules();
            let tool = rules.registry.get(kept.approval.plan.tool.as_str());
            let Some((tool, code)) = tool.and_then(|tool| Some((tool.about(), tool.write_code()?))) else {
                let message = format!("there is no write tool `{}` any more", kept.approval.plan.tool);
                return Err(denied("NO_SUCH_TOOL", message));
            };
            let again = self.look_again(&rules, &kept.approval, tool, code.as_ref(), seen, now).await?;

            let _turn = self.turn.lock().await;
            let (mut fresh, now) = self.current(id).await.map_err(|objection| halt_of(&objection))?;
            // What was found holds for the approval and the rules by which it was looked at, and for no others.
            if fresh.revision != kept.revision || !Arc::ptr_eq(&rules, &self.rules()) {
                continue;
            }
            match again {
                Again::Same => return self.consume(fresh, tool, code, now).await,
                Again::Changed(changed) => {
                    return Err(self.supersede(fresh, *changed, tool, code.as_ref(), seen, now).await);
                }
                Again::Fallen(fallen) => return Err(self.strike(&mut fresh, fallen).await),
                Again::MoreNeeded(persons) => return Err(self.need_more(&mut fresh, persons).await),
            }
        }
        Err(unavailable(Objection::Ledger(format!("{id} changed again and again while it was checked"))))
    }

    async fn look_again(
        &self,
        rules: &Rules,
        approval: &Approval,
        tool: &ToolDefinition,
        code: &dyn WriteTool,
        seen: &[&ToolResult],
        now: Timestamp,
    ) -> Result<Again, Halt> {
        let plan = &approval.plan;
        let args = Arguments::checked(plan.arguments.clone());
        let resolved = catch_unwind(AssertUnwindSafe(|| code.resolve(&args, now)));
        let Ok(Ok(target)) = resolved else {
            return Err(changed_for_good("what it names can't be resolved any more"));
        };
        let question = Question { run: &plan.run, tool, target: &target, args: &plan.arguments, now };
        let ruling = rules.policy.decide(&question);
        let Action::Ask(asked) = ruling.action else { return Err(ruled_out(&ruling)) };
        let tier = asked.max(tool.tier_floor.unwrap_or(Tier::Low)).max(plan.tier);
        let what = if target != plan.target {
            Some("the target".to_owned())
        } else if tool.version != plan.version {
            Some("the tool".to_owned())
        } else if tier > plan.tier {
            Some(format!("the tier, which is {} now", tier.as_str()))
        } else {
            let cancel = CancellationToken::new();
            let looking = Looking { now, run: &plan.run, seen, cancel: &cancel };
            let bound = perform::bounded(tool.timeout, code.bound(plan, looking)).await?;
            differs(&plan.preview.bound, &bound)
        };
        if let Some(what) = what {
            return Ok(Again::Changed(Box::new(Changed { what, target, tier, policy_ids: ruling.policy_ids })));
        }
        self.people_again(rules, approval, &question, now).await
    }

    /// Every word that counts, asked for anew and uncached.
    async fn people_again(
        &self,
        rules: &Rules,
        approval: &Approval,
        question: &Question<'_>,
        now: Timestamp,
    ) -> Result<Again, Halt> {
        if approval.plan.tier == Tier::Low {
            return Ok(Again::Same);
        }
        let mut fallen = Vec::new();
        let votes = approval.votes.iter().map(|vote| (&vote.by, Verb::Approve));
        for (by, verb) in votes.chain(approval.glass.iter().map(|glass| (&glass.by, Verb::BreakGlass))) {
            match self.eligible(by, verb, Some(approval), Freshness::Now, now).await {
                Ok(_) => {}
                // Nobody lost their standing because a directory is down; but nothing is written either.
                Err(objection @ Objection::DirectoryFailed(_)) => {
                    return Err(denied(objection.code(), objection.to_string()));
                }
                Err(objection) => fallen.push((by.clone(), objection)),
            }
        }
        if !fallen.is_empty() {
            return Ok(Again::Fallen(fallen));
        }
        let quorum = rules.policy.quorum(question, approval.plan.tier).map_err(|ruling| ruled_out(&ruling))?;
        let have = u32::try_from(approval.votes.len()).unwrap_or(u32::MAX);
        if approval.glass.is_none() && have < quorum.persons {
            return Ok(Again::MoreNeeded(quorum.persons));
        }
        Ok(Again::Same)
    }

    /// Decision, consumption and intent, in one commit over the switch that was read.
    async fn consume(
        &self,
        mut kept: Kept,
        tool: &ToolDefinition,
        code: Arc<dyn WriteTool>,
        now: Timestamp,
    ) -> Result<Granted, Halt> {
        let id = kept.approval.id();
        let switch = Switch::load(&self.ledger).await.map_err(unavailable)?;
        if let Some(stop) = stopped(&switch).map_err(unavailable)? {
            let objection = Objection::WritesStopped { by: stop.by.to_string(), reason: stop.reason };
            return Err(denied(objection.code(), objection.to_string()));
        }
        let target = &kept.approval.plan.target;
        let (unknown, begun) = {
            let index = self.index();
            (index.unknown_on(target), index.begun_on(target, Some(id)))
        };
        if let Some(other) = unknown.or(begun) {
            let message = format!("{other} on the same target is not settled, so {id} has to wait");
            return Err(denied("TARGET_BUSY", message));
        }
        kept.approval.consume(now).map_err(|objection| halt_of(&objection))?;
        let entries = self
            .masked(vec![
                records::decision(&kept.approval, self.rules().policy.in_force().digest()),
                records::intent(&kept.approval),
            ])
            .map_err(unavailable)?;
        let Ok([decision, intent]) = <[_; 2]>::try_from(entries) else {
            return Err(unavailable(Objection::Ledger("a record is missing".to_owned())));
        };
        let documents = vec![kept.write().map_err(unavailable)?, switch.write(switch.body.clone())];
        #[cfg(test)]
        let documents = self.planted(documents).await.map_err(unavailable)?;
        let receipt = self.ledger.intend(vec![decision], intent, documents).await.map_err(|error| {
            if let LedgerError::Late(_) = error {
                lock(&self.late).insert(id);
            }
            unavailable(Objection::Ledger(told(&error)))
        })?;
        kept.revision += 1;
        self.index().note(&kept.approval);
        let warrant = Warrant::issue(kept.approval.plan.clone(), receipt)
            .ok_or_else(|| unavailable(Objection::Ledger("the receipt is for another plan".to_owned())))?;
        Ok(Granted { warrant, code, timeout: tool.timeout, kept, now })
    }

    /// Uses the approval up before the intent is recorded, where a test planted that fault.
    #[cfg(test)]
    async fn planted(&self, documents: Vec<DocumentWrite>) -> Result<Vec<DocumentWrite>, Objection> {
        match self.order {
            super::Order::Together => Ok(documents),
            super::Order::ConsumedBeforeIntent => {
                self.ledger.append(Vec::new(), documents).await.map_err(|error| Objection::Ledger(told(&error)))?;
                Ok(Vec::new())
            }
        }
    }
}

/// Refuses what may not be used now, in the words of a result.
pub(in crate::call::gate) fn usable(approval: &Approval, now: Timestamp) -> Result<(), Halt> {
    match approval.is_usable(now) {
        Ok(()) => Ok(()),
        Err(Objection::NotApproved(_)) => Err(pending(approval, "not executed")),
        Err(Objection::Denied { .. }) => Err(denied_by(approval)),
        Err(objection) => Err(halt_of(&objection)),
    }
}

/// It waits for people.
pub(super) fn pending(approval: &Approval, why: &str) -> Halt {
    let id = approval.id();
    let message = format!(
        "{why}; waits for approval {id} until {:.0}. It may be carried out later, after everything has been checked again; \
         go on reading, and do not ask for it again",
        approval.expires_at
    );
    Halt::new(Status::Pending, ErrorCode::ApprovalPending, "PENDING", message)
}

pub(super) fn changed_for_good(why: &str) -> Halt {
    Halt::new(Status::Denied, ErrorCode::PlanChanged, "PLAN_CHANGED", format!("{why}; nothing was written"))
}

pub(in crate::call::gate) fn halt_of(objection: &Objection) -> Halt {
    let (status, code) = match objection {
        Objection::Expired(_) => (Status::Denied, ErrorCode::ApprovalExpired),
        Objection::Revoked { .. } => (Status::Denied, ErrorCode::ApprovalRevoked),
        Objection::Denied { .. } => (Status::Denied, ErrorCode::ApprovalDenied),
        Objection::Superseded { .. } => (Status::Denied, ErrorCode::PlanChanged),
        Objection::NotApproved(_) => (Status::Pending, ErrorCode::ApprovalPending),
        Objection::Ledger(_) => (Status::Error, ErrorCode::LedgerUnavailable),
        Objection::NoSuch(_) => (Status::Error, ErrorCode::InvalidArguments),
        _ => (Status::Denied, ErrorCode::PolicyDenied),
    };
    Halt::new(status, code, objection.code(), objection.to_string())
}

/// The first bound fact that is another now.
fn differs(before: &Facts, now: &Facts) -> Option<String> {
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let name = names.into_iter().find(|name| before.get(*name) != now.get(*name))?;
    Some(format!("`{name}`"))
}
