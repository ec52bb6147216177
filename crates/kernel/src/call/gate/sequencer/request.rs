//! A checked call becomes a frozen plan, and people are asked about it; or it is refused before anybody is.

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::call::gate::Writes;
use crate::call::gate::approval::{Approval, State};
use crate::call::gate::card::needs_whole;
use crate::call::gate::deed::Halt;
use crate::call::gate::exhibit::Exhibit;
use crate::call::gate::grounds;
use crate::call::gate::objection::Objection;
use crate::call::gate::plan::{self, PlanKey};
use crate::call::registry::Tool;
use crate::call::tool::Arguments;
use crate::call::write::Looking;
use crate::domain::decision::Tier;
use crate::domain::event::Call;
use crate::domain::name::EvidenceId;
use crate::domain::plan::{ApprovalId, AskKey, Case, Plan, Preview};
use crate::domain::result::{ErrorCode, Status};
use crate::domain::run::Run;
use crate::domain::target::Target;
use crate::ledger::record::{Entry, RecordKind};
use crate::policy::{Basis, Ruling};
use crate::redact::Redactor;

use super::kept::{Kept, Switch};
use super::voting::{after, stopped};
use super::{Sequencer, perform, records};

/// How many variants of a write on one target people are asked about in vain before it is left to them.
const VARIANTS: usize = 2;

/// A checked call that policy would have asked about.
#[derive(Clone, Copy)]
pub(in crate::call::gate) struct Request<'a> {
    pub(in crate::call::gate) run: &'a Run,
    pub(in crate::call::gate) call: &'a Call,
    pub(in crate::call::gate) tool: Tool<'a>,
    pub(in crate::call::gate) arguments: &'a Arguments,
    pub(in crate::call::gate) target: &'a Target,
    pub(in crate::call::gate) case: &'a Case,
    pub(in crate::call::gate) tier: Tier,
    pub(in crate::call::gate) policy_ids: &'a [String],
    pub(in crate::call::gate) policy_reason: &'a str,
    pub(in crate::call::gate) redactor: &'a Redactor,
    pub(in crate::call::gate) writes: Writes<'a>,
    pub(in crate::call::gate) now: Timestamp,
    pub(in crate::call::gate) cancel: &'a CancellationToken,
}

/// The tier of a plan and all that set it.
struct Raised {
    tier: Tier,
    reasons: Vec<String>,
    grounds: grounds::Found,
}

impl Sequencer {
    /// Freezes the plan of a call and writes down that people are asked.
    ///
    /// # Errors
    /// Why nobody is; a refusal is recorded.
    pub(in crate::call::gate) async fn request(&self, request: Request<'_>) -> Result<ApprovalId, Halt> {
        let ended = self.ask(request).await;
        if let Err(halt) = &ended {
            self.refused(request, halt).await;
        }
        ended
    }

    async fn ask(&self, request: Request<'_>) -> Result<ApprovalId, Halt> {
        self.settle_late().await.map_err(unavailable)?;
        let arguments = request.arguments.as_map();
        plan::fit(request.redactor, arguments, request.target).map_err(|unfit| invalid(&unfit))?;
        let tool = request.tool.about();
        let key = plan::ask_key(&tool.name, request.target, arguments).map_err(|error| {
            Halt::new(Status::Error, ErrorCode::InvalidArguments, "NOT_CANONICAL", error.to_string())
        })?;
        if let Some(id) = self.may_ask(request, &key).await? {
            return Ok(id);
        }
        let looking = Looking { now: request.now, run: request.run, seen: request.writes.seen, cancel: request.cancel };
        let Some(code) = request.tool.write_code() else {
            return Err(denied("NO_SUCH_TOOL", format!("`{}` is no write tool", tool.name)));
        };
        let work = code.preview(request.arguments, request.target, looking);
        let preview = perform::bounded(tool.timeout, work).await?;
        let preview = plan::masked(request.redactor, preview).map_err(|unfit| invalid(&unfit))?;

        let _turn = self.turn.lock().await;
        // Another call of the same turn may have asked meanwhile.
        if let Some(id) = self.may_ask(request, &key).await? {
            return Ok(id);
        }
        let rules = self.rules();
        let (ruling, tier) = rules.rule(request)?;
        let request = Request { tier, policy_ids: &ruling.policy_ids, policy_reason: &ruling.reason, ..request };
        let raised = self.raise(request, &preview);
        let quorum = rules.quorum(request, raised.tier)?;
        if raised.tier > Tier::Low {
            self.within_budget(request, &key)?;
        }
        self.freeze(request, key, preview, raised, quorum).await
    }

    /// Whether anything stands against asking, or it has been asked already.
    async fn may_ask(&self, request: Request<'_>, key: &AskKey) -> Result<Option<ApprovalId>, Halt> {
        let switch = Switch::load(&self.ledger).await.map_err(unavailable)?;
        if let Some(stop) = stopped(&switch).map_err(unavailable)? {
            let objection = Objection::WritesStopped { by: stop.by.to_string(), reason: stop.reason };
            return Err(denied(objection.code(), objection.to_string()));
        }
        let now = self.watch.now();
        let (unknown, begun, before, waiting) = {
            let index = self.index();
            let investigation = &request.run.investigation;
            (
                index.unknown_on(request.target),
                index.begun_on(request.target, None),
                index.denied(key),
                index.waiting(key, investigation, now),
            )
        };
        if let Some(id) = unknown {
            let message = format!(
                "whether {id} took effect on `{}` is not known; until a person has found out (`warrant audit resolve`), \
                 nothing more is written there",
                request.target.name
            );
            return Err(denied("UNRESOLVED_OUTCOME", message));
        }
        if let Some(id) = begun {
            let message = format!("{id} is being carried out on `{}`; wait for what comes of it", request.target.name);
            return Err(denied("TARGET_BUSY", message));
        }
        if let Some(id) = before {
            let kept = Kept::load(&self.ledger, id).await.map_err(unavailable)?;
            return Err(denied_by(&kept.approval));
        }
        Ok(waiting)
    }

    fn raise(&self, request: Request<'_>, preview: &Preview) -> Raised {
        let tool = request.tool.about();
        let mut tier = request.tier;
        let mut reasons = vec![format!("policy asks for {}: {}", request.tier.as_str(), request.policy_reason)];
        let mut at_least = |floor: Option<Tier>, why: &str, reasons: &mut Vec<String>| {
            if let Some(floor) = floor.filter(|floor| *floor > tier) {
                tier = floor;
                reasons.push(format!("{} by {why}", floor.as_str()));
            }
        };
        at_least(tool.tier_floor, "the tool's own floor", &mut reasons);
        at_least(preview.floor, "what it would do", &mut reasons);
        let grounds = grounds::find(
            request.run,
            request.writes.grounds,
            request.writes.seen,
            &tool.name,
            request.arguments.as_map(),
            request.target,
        );
        let (raised, why) = grounds.raised(tier, request.target);
        tier = raised;
        reasons.extend(why);
        let since = self.watch.now().saturating_sub(self.limits.low_window).unwrap_or(Timestamp::MIN);
        if tier == Tier::Low && self.index().low_since(since) >= self.limits.low_writes {
            tier = Tier::Medium;
            reasons.push(format!(
                "medium, since {} writes at the low tier were done within {} minutes",
                self.limits.low_writes,
                self.limits.low_window.as_mins()
            ));
        }
        Raised { tier, reasons, grounds }
    }

    fn within_budget(&self, request: Request<'_>, key: &AskKey) -> Result<(), Halt> {
        let investigation = &request.run.investigation;
        let (variants, asks) = {
            let index = self.index();
            (index.variants(request.target, key, investigation), index.asks(investigation))
        };
        if variants >= VARIANTS {
            let message = format!(
                "people were asked about {variants} other ways to change `{}` and granted none; this one is left to \
                 them, so report what you found and propose nothing more there",
                request.target.name
            );
            return Err(denied("ESCALATED", message));
        }
        if asks >= self.limits.asks {
            let message =
                format!("people were asked {asks} times in this investigation, which is as often as they may be");
            return Err(denied("ASKS_SPENT", message));
        }
        Ok(())
    }

    async fn freeze(
        &self,
        request: Request<'_>,
        ask_key: AskKey,
        preview: Preview,
        raised: Raised,
        quorum: u32,
    ) -> Result<ApprovalId, Halt> {
        let mut bytes = [0; 32];
        (self.random)(&mut bytes)
            .map_err(|error| unavailable(Objection::Ledger(format!("no randomness for the plan: {error}"))))?;
        let key = PlanKey::of(&bytes);
        let tool = request.tool.about();
        let arguments = request.arguments.as_map().clone();
        let digest = plan::digest(&key, &tool.name, tool.version, &arguments, request.target, &preview.bound).map_err(
            |error| Halt::new(Status::Error, ErrorCode::InvalidArguments, "NOT_CANONICAL", error.to_string()),
        )?;
        let plan = Plan {
            id: self.index().next(),
            run: request.run.clone(),
            contributors: request.writes.contributors.to_vec(),
            call_id: request.call.id.clone(),
            evidence: EvidenceId::nth(request.call.number),
            tool: tool.name.clone(),
            version: tool.version,
            arguments,
            grounds: raised.grounds.arguments,
            target: request.target.clone(),
            preview,
            case: masked_case(request.redactor, request.case)?,
            tier: raised.tier,
            tier_reasons: raised.reasons,
            policy_ids: request.policy_ids.to_vec(),
            digest,
            ask_key,
            frozen_at: request.now,
        };
        let exhibit = Exhibit::of(&request.case.evidence, request.writes.seen, request.writes.so_far);
        self.publish(plan, key, exhibit, quorum).await
    }

    /// Writes down that people are asked; at the low tier, that nobody has to be.
    pub(super) async fn publish(
        &self,
        plan: Plan,
        key: PlanKey,
        exhibit: Exhibit,
        quorum: u32,
    ) -> Result<ApprovalId, Halt> {
        let now = self.watch.now();
        let approval = self.open_approval(plan, key, exhibit, quorum, now);
        let id = approval.id();
        let entries = self.asked(&approval);
        self.put(entries, &mut Kept { approval, revision: 0 }, Vec::new()).await.map_err(unavailable)?;
        Ok(id)
    }

    pub(super) fn open_approval(
        &self,
        plan: Plan,
        key: PlanKey,
        exhibit: Exhibit,
        quorum: u32,
        now: Timestamp,
    ) -> Approval {
        let state = if plan.tier == Tier::Low { State::Approved { at: now } } else { State::Open };
        Approval {
            needs_whole: needs_whole(&plan),
            expires_at: after(now, self.limits.waits(plan.tier)),
            plan,
            key,
            exhibit,
            quorum,
            requested_at: now,
            aftermath: None,
            revision: 1,
            votes: Vec::new(),
            glass: None,
            state,
        }
    }

    /// The records of a new approval.
    pub(super) fn asked(&self, approval: &Approval) -> Vec<Entry> {
        let mut entries = vec![records::proposed(approval, self.rules().policy.in_force().digest())];
        if approval.plan.tier > Tier::Low {
            entries.push(records::requested(approval));
        }
        entries
    }

    /// Records a write that was refused from policy on.
    pub(in crate::call::gate) async fn refused(&self, request: Request<'_>, halt: &Halt) {
        let entry = Entry::new(RecordKind::Refused)
            .of(&request.run.investigation)
            .with("tool", request.tool.about().name.as_str())
            .with("target", request.target.name.as_str())
            .with("target_kind", request.target.kind.as_str())
            .with("requester", request.run.requester.person.as_str())
            .with("call", request.call.id.as_str())
            .with("tier", request.tier.as_str())
            .with("policy_ids", request.policy_ids.to_vec())
            .with("reason_code", halt.reason.as_str())
            .with("reason", halt.message.as_str());
        if let Err(error) = self.write(vec![entry], Vec::new()).await {
            tracing::warn!(call = %request.call.id, "a refused write is not recorded: {error}");
        }
    }
}

/// The model's words without secrets.
fn masked_case(redactor: &Redactor, case: &Case) -> Result<Case, Halt> {
    let one = |text: &str| match redactor.redact_text(text) {
        Ok(masked) => Ok(masked.text.into_owned()),
        Err(error) => Err(invalid(&plan::Unfit::NotMasked(error))),
    };
    Ok(Case {
        because: one(&case.because)?,
        evidence: case.evidence.clone(),
        alternatives: case.alternatives.as_deref().map(one).transpose()?,
        otherwise: case.otherwise.as_deref().map(one).transpose()?,
    })
}

fn invalid(unfit: &plan::Unfit) -> Halt {
    Halt::new(Status::Error, ErrorCode::InvalidArguments, unfit.reason(), unfit.to_string())
}

pub(super) fn denied(reason: &str, message: impl Into<String>) -> Halt {
    Halt::new(Status::Denied, ErrorCode::PolicyDenied, reason, message)
}

/// Policy said no.
pub(in crate::call::gate) fn by_policy(reason: &str, why: &str, policy_ids: &[String]) -> Halt {
    denied(reason, format!("{why} (decided by {})", policy_ids.join(", ")))
}

/// Policy said no, or could not be asked.
pub(super) fn ruled_out(ruling: &Ruling) -> Halt {
    let reason = match ruling.basis {
        Basis::Failed => "POLICY_ERROR",
        Basis::Policies | Basis::NoPolicy => "POLICY",
    };
    by_policy(reason, &ruling.reason, &ruling.policy_ids)
}

/// What could not be recorded does not happen.
#[expect(clippy::needless_pass_by_value, reason = "it ends here, and `map_err` hands it over")]
pub(super) fn unavailable(objection: Objection) -> Halt {
    let message = format!("{objection}; nothing was written");
    Halt::new(Status::Error, ErrorCode::LedgerUnavailable, objection.code(), message)
}

/// A person said no, and why.
pub(super) fn denied_by(approval: &Approval) -> Halt {
    let (by, reason) = match &approval.state {
        State::Denied { by, reason, .. } => (by.to_string(), reason.as_str()),
        State::Open
        | State::Approved { .. }
        | State::Expired { .. }
        | State::Revoked { .. }
        | State::Superseded { .. }
        | State::Consumed { .. }
        | State::Executed { .. }
        | State::NotExecuted { .. }
        | State::Unknown { .. } => ("nobody".to_owned(), ""),
    };
    let id = approval.id();
    let message = format!(
        "{by} denied {id}: {reason}. The same will not be asked again until a person reopens it \
         (`warrant approvals reopen {id}`); heed the reason, and look for another way or report"
    );
    Halt::new(Status::Denied, ErrorCode::ApprovalDenied, "DENIED", message)
}
