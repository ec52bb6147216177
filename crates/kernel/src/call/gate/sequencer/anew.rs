//! What was approved is not what would happen now, or not enough words for it count any more: people are asked anew.

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::call::gate::approval::{Approval, State};
use crate::call::gate::deed::Halt;
use crate::call::gate::objection::Objection;
use crate::call::gate::plan::{self, PlanKey};
use crate::call::gate::vote::Claimant;
use crate::call::tool::Arguments;
use crate::call::write::{Looking, WriteTool};
use crate::domain::decision::Tier;
use crate::domain::name::PersonId;
use crate::domain::plan::Plan;
use crate::domain::result::{ErrorCode, Status, ToolResult};
use crate::domain::tool::ToolDefinition;
use crate::ledger::record::RecordKind;
use crate::policy::Question;

use super::grant::{Changed, changed_for_good, halt_of, pending};
use super::kept::Kept;
use super::request::{ruled_out, unavailable};
use super::{Sequencer, perform, records};

impl Sequencer {
    /// Something else would happen: the old approval ends, and a new one asks anew about what would.
    pub(super) async fn supersede(
        &self,
        mut kept: Kept,
        changed: Changed,
        tool: &ToolDefinition,
        code: &dyn WriteTool,
        seen: &[&ToolResult],
        now: Timestamp,
    ) -> Halt {
        let old = kept.approval.id();
        let fresh = self.freeze_again(&kept.approval, &changed, tool, code, seen, now).await;
        let decision = records::about(RecordKind::Decision, &kept.approval.plan)
            .with("status", "plan_changed")
            .with("reason", changed.what.as_str());
        let message = format!("{} changed after {old} was shown, so nothing was written", changed.what);
        match fresh {
            Ok(approval) => {
                let new = approval.id();
                if let Err(objection) = kept.approval.supersede(new, now) {
                    return halt_of(&objection);
                }
                let mut entries = vec![decision.with("superseded_by", new.to_string())];
                entries.extend(self.asked(&approval));
                let mut kept_new = Kept { approval, revision: 0 };
                let document = match kept_new.write() {
                    Ok(document) => document,
                    Err(objection) => return unavailable(objection),
                };
                if let Err(objection) = self.put(entries, &mut kept, vec![document]).await {
                    return unavailable(objection);
                }
                kept_new.revision = 1;
                self.index().note(&kept_new.approval);
                let message = format!("{message}; {new} asks anew about what would happen now");
                let mut halt = Halt::new(Status::Pending, ErrorCode::PlanChanged, "PLAN_CHANGED", message);
                halt.asks_anew = Some(new);
                halt
            }
            Err(halt) => {
                let because = format!("{message}; it can't be done as it was asked: {}", halt.message);
                kept.approval.state = State::NotExecuted { at: now, because: because.clone() };
                if let Err(objection) = self.put(vec![decision], &mut kept, Vec::new()).await {
                    return unavailable(objection);
                }
                changed_for_good(&because)
            }
        }
    }

    async fn freeze_again(
        &self,
        old: &Approval,
        changed: &Changed,
        tool: &ToolDefinition,
        code: &dyn WriteTool,
        seen: &[&ToolResult],
        now: Timestamp,
    ) -> Result<Approval, Halt> {
        let args = Arguments::checked(old.plan.arguments.clone());
        let cancel = CancellationToken::new();
        let looking = Looking { now, run: &old.plan.run, seen, cancel: &cancel };
        let unfit = |unfit: plan::Unfit| changed_for_good(&unfit.to_string());
        plan::fit(&self.redactor, &old.plan.arguments, &changed.target).map_err(unfit)?;
        let preview = perform::bounded(tool.timeout, code.preview(&args, &changed.target, looking)).await?;
        let preview = plan::masked(&self.redactor, preview).map_err(unfit)?;
        let mut bytes = [0; 32];
        (self.random)(&mut bytes).map_err(|error| unavailable(Objection::Ledger(error.to_string())))?;
        let key = PlanKey::of(&bytes);
        let canonical = |error: crate::ledger::canonical::CanonicalError| changed_for_good(&error.to_string());
        let arguments = &old.plan.arguments;
        let digest = plan::digest(&key, &tool.name, tool.version, arguments, &changed.target, &preview.bound);
        let tier = changed.tier.max(preview.floor.unwrap_or(Tier::Low));
        let mut tier_reasons = old.plan.tier_reasons.clone();
        tier_reasons.push(format!("asked anew in place of {}: {} changed", old.id(), changed.what));
        let plan = Plan {
            id: self.index().next(),
            version: tool.version,
            target: changed.target.clone(),
            preview,
            tier,
            tier_reasons,
            policy_ids: changed.policy_ids.clone(),
            digest: digest.map_err(canonical)?,
            ask_key: plan::ask_key(&tool.name, &changed.target, arguments).map_err(canonical)?,
            frozen_at: now,
            ..old.plan.clone()
        };
        let question = Question { run: &plan.run, tool, target: &plan.target, args: arguments, now };
        let quorum = match tier {
            Tier::Low => 0,
            Tier::Medium | Tier::High => {
                self.rules().policy.quorum(&question, tier).map_err(|ruling| ruled_out(&ruling))?.persons.max(1)
            }
        };
        Ok(self.open_approval(plan, key, old.exhibit.clone(), quorum, now))
    }

    /// Words that no longer count are struck, and people are asked again.
    pub(super) async fn strike(&self, kept: &mut Kept, fallen: Vec<(Claimant, Objection)>) -> Halt {
        let persons: Vec<PersonId> = fallen.iter().map(|(by, _)| by.person.clone()).collect();
        let entries = fallen.iter().map(|(by, objection)| {
            records::by(RecordKind::Refused, &kept.approval, by, &[])
                .with("vote", "approve")
                .with("reason_code", objection.code())
                .with("reason", objection.to_string())
        });
        let entries = entries.collect();
        kept.approval.strike(&persons);
        if let Err(objection) = self.put(entries, kept, Vec::new()).await {
            return unavailable(objection);
        }
        let why: Vec<String> = fallen.iter().map(|(_, objection)| objection.to_string()).collect();
        pending(&kept.approval, &format!("a vote no longer counts: {}", why.join("; ")))
    }

    /// Policy asks for more persons than it did when people were asked.
    pub(super) async fn need_more(&self, kept: &mut Kept, persons: u32) -> Halt {
        kept.approval.quorum = persons;
        kept.approval.strike(&[]);
        let entry = records::requested(&kept.approval);
        if let Err(objection) = self.put(vec![entry], kept, Vec::new()).await {
            return unavailable(objection);
        }
        pending(&kept.approval, &format!("policy asks for {persons} persons now"))
    }
}
