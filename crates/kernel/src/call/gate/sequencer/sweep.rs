//! What an earlier process left: intents without an outcome, approvals whose time is up, approvals that nobody carried out.
//!
//! A look may settle what became of a write; doing it again never does. What can't be told is told to people, and until
//! one of them has found out, nothing more is written on that target.

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::call::execute::unbroken;
use crate::call::gate::approval::{Approval, State, said};
use crate::call::gate::deed::Aftermath;
use crate::call::gate::objection::Objection;
use crate::call::gate::vote::Claimant;
use crate::call::write::{Looking, Probed};
use crate::db::storage::Row;
use crate::domain::plan::{ApprovalId, Proposal};
use crate::ledger::record::{Entry, RecordKind};
use crate::people::directory::Freshness;
use crate::policy::standing::Verb;

use super::kept::{Kept, unread};
use super::shown::{Did, Swept};
use super::{Sequencer, lock, records, told};

impl Sequencer {
    /// Looks after what an earlier process left. To be called once, before anything else.
    ///
    /// # Errors
    /// [`Objection::Ledger`] where that can't be read or written down; nothing may be written then.
    pub async fn sweep(&self) -> Result<Swept, Objection> {
        let mut swept = Swept::default();
        let open = self.ledger.open_intents().await.map_err(unread)?;
        for row in &open {
            let Some(id) = approval_of(row) else {
                tracing::warn!(intent = row.seq, "an intent without an outcome names no approval");
                continue;
            };
            let _turn = self.turn.lock().await;
            let mut kept = match Kept::load(&self.ledger, id).await {
                Ok(kept) => kept,
                Err(Objection::NoSuch(_)) => {
                    tracing::warn!(intent = row.seq, approval = %id, "an intent without an outcome has no approval");
                    continue;
                }
                Err(error) => return Err(error),
            };
            if let State::Consumed { .. } = kept.approval.state {
                self.settle(&mut kept, row.seq).await?;
            }
            swept.orphans.push((id, kept.approval.state.clone()));
        }
        let open: Vec<ApprovalId> = open.iter().filter_map(approval_of).collect();
        let begun = self.index().begun();
        for id in begun {
            if !open.contains(&id) {
                self.closed_late(id).await?;
            }
        }
        swept.expired = self.expire().await?;
        swept.approved = self.index().approved();
        Ok(swept)
    }

    /// Asks the tool whether a write took effect whose outcome was lost.
    async fn settle(&self, kept: &mut Kept, intent: u64) -> Result<(), Objection> {
        let now = self.watch.now();
        match self.probe(&kept.approval, now).await {
            Probed::Took { after, because } => {
                kept.approval.state = State::Executed { at: now, verified: None };
                let entry = records::outcome(&kept.approval, "executed", &because)
                    .with("after", records::facts(&after))
                    .with("found_by", "probe");
                let undone = self.index().undone_by(&kept.approval.plan);
                let also = undone.map(|undone| records::undo(&kept.approval, undone, intent));
                let follow_ups = self.follow_ups(&kept.approval);
                kept.approval.aftermath = Some(Aftermath { intent, because, undo: None, follow_ups });
                self.close(entry, also, kept, intent).await
            }
            Probed::DidNot { because } => {
                kept.approval.state = State::NotExecuted { at: now, because: because.clone() };
                let entry = records::outcome(&kept.approval, "not_executed", &because).with("found_by", "probe");
                self.close(entry, None, kept, intent).await
            }
            Probed::CantTell { because } => {
                kept.approval.state = State::Unknown { at: now, because: because.clone() };
                let entry = records::about(RecordKind::Unknown, &kept.approval.plan)
                    .with("about", intent)
                    .with("status", "unknown")
                    .with("message", because);
                self.put(vec![entry], kept, Vec::new()).await
            }
        }
    }

    async fn probe(&self, approval: &Approval, now: Timestamp) -> Probed {
        let cant_tell = |because: &str| Probed::CantTell { because: because.to_owned() };
        let rules = self.rules();
        let tool = rules.registry.get(approval.plan.tool.as_str());
        let Some((tool, code)) = tool.and_then(|tool| Some((tool.about(), tool.write_code()?))) else {
            return cant_tell("the tool that would know is not there any more");
        };
        let cancel = CancellationToken::new();
        let _ends_with_its_time = cancel.clone().drop_guard();
        let looking = Looking { now, run: &approval.plan.run, seen: &[], cancel: &cancel };
        match tokio::time::timeout(tool.timeout, unbroken(code.probe(&approval.plan, looking))).await {
            Ok(Some(probed)) => probed,
            Ok(None) => cant_tell("the tool broke down while it looked"),
            Err(_elapsed) => cant_tell("the look took too long"),
        }
    }

    fn follow_ups(&self, approval: &Approval) -> Vec<Proposal> {
        let rules = self.rules();
        let code = rules.registry.get(approval.plan.tool.as_str()).and_then(|tool| tool.write_code());
        code.map(|code| code.follow_ups(&approval.plan)).unwrap_or_default()
    }

    async fn close(&self, entry: Entry, also: Option<Entry>, kept: &mut Kept, intent: u64) -> Result<(), Objection> {
        let mask = |entry| records::masked(&self.redactor, entry).map_err(|error| Objection::Ledger(error.to_string()));
        let (entry, also) = (mask(entry)?, also.into_iter().map(mask).collect::<Result<Vec<_>, _>>()?);
        let documents = vec![kept.write()?];
        self.ledger
            .close_with(intent, entry, also, documents)
            .await
            .map_err(|error| Objection::Ledger(told(&error)))?;
        kept.revision += 1;
        self.index().note(&kept.approval);
        Ok(())
    }

    /// An approval that was used for an intent which landed too late: the ledger closed it, and nothing was done.
    async fn closed_late(&self, id: ApprovalId) -> Result<(), Objection> {
        let _turn = self.turn.lock().await;
        let mut kept = Kept::load(&self.ledger, id).await?;
        let State::Consumed { .. } = kept.approval.state else { return Ok(()) };
        let because = "its intent was recorded too late, so nothing was done; it may be asked for anew".to_owned();
        kept.approval.state = State::NotExecuted { at: self.watch.now(), because: because.clone() };
        let entry = records::about(RecordKind::Decision, &kept.approval.plan)
            .with("status", "not_executed")
            .with("reason", because);
        self.put(vec![entry], &mut kept, Vec::new()).await
    }

    /// Looks after intents of this process that landed too late.
    pub(super) async fn settle_late(&self) -> Result<(), Objection> {
        let late: Vec<ApprovalId> = lock(&self.late).iter().copied().collect();
        if late.is_empty() {
            return Ok(());
        }
        let open: Vec<ApprovalId> =
            self.ledger.open_intents().await.map_err(unread)?.iter().filter_map(approval_of).collect();
        for id in late.into_iter().filter(|id| !open.contains(id)) {
            self.closed_late(id).await?;
            let kept = Kept::load(&self.ledger, id).await?;
            if !kept.approval.is_waiting() {
                lock(&self.late).remove(&id);
            }
        }
        Ok(())
    }

    /// Says what became of a write whose outcome was lost. Only then is that target written on again.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn resolve(&self, id: ApprovalId, by: &Claimant, did: Did, reason: &str) -> Result<(), Objection> {
        let reason = self.mask(reason)?;
        let _turn = self.turn.lock().await;
        let now = self.watch.now();
        let mut kept = Kept::load(&self.ledger, id).await?;
        let State::Unknown { .. } = kept.approval.state else { return Err(Objection::NotUnknown(id)) };
        kept.approval.admits_person(by)?;
        let found = self.eligible(by, Verb::Resolve, Some(&kept.approval), Freshness::Now, now).await?;
        said(&reason)?;
        let open = self.ledger.open_intents().await.map_err(unread)?;
        let intent = open.iter().find(|row| approval_of(row) == Some(id)).ok_or(Objection::NotUnknown(id))?;
        let status = match did {
            Did::Did => "executed",
            Did::DidNot => "not_executed",
        };
        let entry = records::by(RecordKind::Resolved, &kept.approval, by, &found.groups)
            .with("about", intent.seq)
            .with("status", status)
            .with("reason", reason.as_str());
        kept.approval.state = match did {
            Did::Did => State::Executed { at: now, verified: None },
            Did::DidNot => State::NotExecuted { at: now, because: format!("{} found out: {reason}", by.person) },
        };
        self.put(vec![entry], &mut kept, Vec::new()).await
    }
}

/// The approval that an intent is for.
fn approval_of(row: &Row) -> Option<ApprovalId> {
    let opening = row.openings.iter().find(|opening| opening.field == "approval")?;
    serde_json::from_str::<String>(&opening.value).ok()?.parse().ok()
}
