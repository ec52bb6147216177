//! Stage 4: the gate. The only place that lets a call through to execution.
//!
//! An allowed read passes. A write becomes a frozen plan, people are asked about it, everything is checked again, and the
//! ledger records the intent; only then there is a warrant. Everything else stops here.
//!
//! | module | does |
//! |---|---|
//! | [`plan`] | freezes a call: digest, ask key, what can't be shown is refused |
//! | [`grounds`] | who named target and arguments |
//! | [`exhibit`] | evidence and trace as people are shown them |
//! | [`card`] | what people are shown |
//! | [`vote`], [`objection`] | what they say, and why it may not count |
//! | [`approval`] | the state of one request |
//! | [`approver`] | people at hand |
//! | [`sequencer`] | the one place where approvals change and warrants are granted |
//! | [`warrant`], [`deed`] | the permission for one write, and what came of it |

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

#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::domain::decision::{Action, Risk, Tier};
use crate::domain::name::PersonId;
use crate::domain::result::{ErrorCode, Status, ToolResult};
use crate::policy::Basis;

use super::Desk;

use super::refusal::Refusal;
use super::ruling::Ruling;
use super::schema::Checked;

use approval::State;
use approver::{Approver, Ballot};
use deed::Halt;
use exhibit::SoFar;
use grounds::Grounds;
use sequencer::{Granted, Request, Sequencer};

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
pub struct Cleared<'a>(pub(super) Pass<'a>);

/// What was cleared.
pub(super) enum Pass<'a> {
    /// An allowed look.
    Read(Box<Checked<'a>>),
    /// A write with its warrant.
    Write { sequencer: &'a Sequencer, granted: Box<Granted>, timeout: Duration },
}

/// How often people at hand are asked anew in one call because the world moved.
const ROUNDS: usize = 2;

/// Lets allowed reads through, asks people about writes, and refuses the rest.
pub(super) async fn clear<'a>(desk: Desk<'a>, ruling: Ruling<'a>) -> Result<Cleared<'a>, Refusal> {
    let decision = ruling.decision();
    match (decision.action, decision.risk, desk.gate) {
        (Action::Allow, risk, _) if risk.only_looks() => Ok(Cleared(Pass::Read(Box::new(ruling.into_checked())))),
        (Action::Ask(tier), Risk::Write, Gate::Open(writes)) => {
            ask(desk, writes, &ruling, tier).await.map_err(Refusal::halted)
        }
        (Action::Ask(_), Risk::Write, Gate::ReadsOnly) => {
            let why = "this run can't ask for approval; nothing is written";
            Err(Refusal::policy_denied(Some("READS_ONLY"), why, &decision.policy_ids))
        }
        (Action::Allow | Action::Ask(_), _, _) => {
            let why = "tools of this risk are not carried out; no approval can be asked for";
            Err(Refusal::policy_denied(None, why, &decision.policy_ids))
        }
        (Action::Deny, _, gate) => {
            let reason = match ruling.basis() {
                Basis::Failed => Some("POLICY_ERROR"),
                Basis::Policies | Basis::NoPolicy => None,
            };
            if let (Gate::Open(writes), Some(request)) = (gate, request(desk, gate, &ruling, Tier::High)) {
                let halt = sequencer::by_policy(reason.unwrap_or("POLICY"), &decision.reason, &decision.policy_ids);
                writes.sequencer.refused(request, &halt).await;
            }
            Err(Refusal::policy_denied(reason, &decision.reason, &decision.policy_ids))
        }
    }
}

/// What the sequencer is asked; none for what is no write.
fn request<'r>(desk: Desk<'r>, gate: Gate<'r>, ruling: &'r Ruling<'_>, tier: Tier) -> Option<Request<'r>> {
    let Gate::Open(writes) = gate else { return None };
    let (checked, decision) = (ruling.checked(), ruling.decision());
    Some(Request {
        run: desk.run,
        call: checked.call(),
        tool: checked.tool(),
        arguments: checked.arguments(),
        target: checked.target(),
        case: checked.case()?,
        tier,
        policy_ids: &decision.policy_ids,
        policy_reason: &decision.reason,
        redactor: desk.redactor,
        writes,
        now: desk.now,
        cancel: desk.cancel,
    })
}

/// Asks people at hand, then lets the sequencer look again and grant.
async fn ask<'a>(desk: Desk<'a>, writes: Writes<'a>, ruling: &Ruling<'a>, tier: Tier) -> Result<Cleared<'a>, Halt> {
    let sequencer = writes.sequencer;
    let Some(request) = request(desk, desk.gate, ruling, tier) else {
        return Err(sequencer::by_policy("NO_CASE", "the call makes no case for a write", &[]));
    };
    let mut id = sequencer.request(request).await?;
    let mut rounds = 0;
    loop {
        let card = sequencer.card(id).await.map_err(|objection| sequencer::halt_of(&objection))?;
        if card.state == State::Open {
            desk.recorder.asked(&card).await;
            writes.approver.attend(&card, &Ballot::of(sequencer, id)).await;
        }
        if desk.cancel.is_cancelled() {
            let why = format!("ended on request while it waited for {id}; nothing was written");
            return Err(Halt::new(Status::Cancelled, ErrorCode::Cancelled, "CANCELLED", why));
        }
        let halt = match sequencer.grant(id, writes.seen).await {
            Ok(granted) => {
                let timeout = ruling.checked().tool().about().timeout;
                return Ok(Cleared(Pass::Write { sequencer, granted: Box::new(granted), timeout }));
            }
            Err(halt) => halt,
        };
        rounds += 1;
        match halt.asks_anew {
            Some(anew) if rounds < ROUNDS => id = anew,
            Some(_) | None => return Err(halt),
        }
    }
}
