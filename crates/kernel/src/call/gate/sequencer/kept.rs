//! Approvals as they are kept: one document each, written over the revision that was read.
//!
//! An index of what is asked about all of them is held in memory: a few hundred bytes each, whatever the plans say. It is
//! read once, when the sequencer is opened; from then on this process alone writes, which the ledger's lease and epoch see
//! to.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::call::gate::approval::{Approval, State};
use crate::call::gate::objection::Objection;
use crate::call::gate::plan::{ask_key, is_whole, target_key};
use crate::db::storage::{Document, DocumentKind, DocumentWrite};
use crate::domain::decision::Tier;
use crate::domain::name::{CallId, InvestigationId};
use crate::domain::plan::{ApprovalId, AskKey, Plan};
use crate::domain::run::Channel;
use crate::domain::target::Target;
use crate::ledger::Ledger;

use super::shown::{Counted, Decision, Figures, Mark, Since};

/// The word for what expired, written down or not.
const EXPIRED: &str = "expired";

/// Documents read at once.
const PAGE: u32 = 100;

/// An approval and the revision of its document.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) approval: Approval,
    pub(super) revision: u64,
}

impl Kept {
    /// Reads one.
    pub(super) async fn load(ledger: &Ledger, id: ApprovalId) -> Result<Self, Objection> {
        let document = ledger.document(DocumentKind::Approval, &id.to_string()).await.map_err(unread)?;
        Self::of(&document.ok_or(Objection::NoSuch(id))?)
    }

    /// Reads all of them, a page at a time: what stays is the index and no more.
    pub(super) async fn index(ledger: &Ledger) -> Result<Index, Objection> {
        let (mut index, mut after) = (Index::default(), String::new());
        loop {
            let page = ledger.documents_after(DocumentKind::Approval, &after, PAGE).await.map_err(unread)?;
            for document in &page {
                index.note(&Self::of(document)?.approval);
            }
            match page.last() {
                Some(last) if u32::try_from(page.len()).is_ok_and(|count| count >= PAGE) => after.clone_from(&last.id),
                Some(_) | None => return Ok(index),
            }
        }
    }

    /// A document that somebody changed is no approval: its plan no longer is what its digest says.
    fn of(document: &Document) -> Result<Self, Objection> {
        let damaged = |why: &str| Objection::Ledger(format!("approval {} is damaged: {why}", document.id));
        let approval: Approval =
            serde_json::from_value(document.body.clone()).map_err(|error| damaged(&error.to_string()))?;
        if approval.id().to_string() != document.id || !is_whole(&approval.key, &approval.plan) {
            return Err(damaged("its plan is not the one that was frozen"));
        }
        Ok(Self { approval, revision: document.revision })
    }

    /// As it shall be kept.
    pub(super) fn write(&self) -> Result<DocumentWrite, Objection> {
        let body = serde_json::to_value(&self.approval).map_err(|error| Objection::Ledger(error.to_string()))?;
        Ok(DocumentWrite {
            kind: DocumentKind::Approval,
            id: self.approval.id().to_string(),
            expect_revision: self.revision,
            body,
        })
    }
}

pub(super) fn unread(error: impl std::error::Error) -> Objection {
    Objection::Ledger(crate::call::gate::sequencer::told(&error))
}

/// What is asked about approvals beyond a single one.
#[derive(Debug, Clone)]
struct Brief {
    investigation: InvestigationId,
    call: CallId,
    channel: Channel,
    ask_key: AskKey,
    target: String,
    tier: Tier,
    requested_at: Timestamp,
    expires_at: Timestamp,
    stands: Stands,
    /// The word for where it stands.
    word: &'static str,
    decision: Decision,
    /// When it last changed.
    changed_at: Timestamp,
    /// The number of that change in this process.
    change: u64,
    figures: Figures,
    /// The call that would take it back, and the intent that it was done under.
    undo: Option<(AskKey, u64)>,
}

impl Brief {
    fn is_waiting(&self) -> bool {
        matches!(self.stands, Stands::Open | Stands::Approved)
    }

    fn is_over(&self, now: Timestamp) -> bool {
        self.is_waiting() && now >= self.expires_at
    }

    /// Whether somebody, or the program, still has something to do about it.
    fn is_unsettled(&self) -> bool {
        match self.stands {
            Stands::Open | Stands::Approved | Stands::Begun | Stands::Unknown => true,
            Stands::Denied | Stands::Lapsed | Stands::Settled | Stands::Superseded => false,
        }
    }
}

/// A write that another one took back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Undone {
    pub(super) approval: ApprovalId,
    pub(super) intent: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Open,
    Approved,
    Denied,
    /// Expired or taken back: people were asked in vain.
    Lapsed,
    Begun,
    Unknown,
    /// Done, or known not to be.
    Settled,
    Superseded,
}

/// All approvals, in brief.
#[derive(Debug, Default)]
pub(super) struct Index {
    briefs: BTreeMap<ApprovalId, Brief>,
    /// How many changes were noted.
    changes: u64,
}

impl Index {
    pub(super) fn note(&mut self, approval: &Approval) {
        self.changes += 1;
        let stands = match approval.state {
            State::Open => Stands::Open,
            State::Approved { .. } => Stands::Approved,
            State::Denied { .. } => Stands::Denied,
            State::Expired { .. } | State::Revoked { .. } => Stands::Lapsed,
            State::Superseded { .. } => Stands::Superseded,
            State::Consumed { .. } => Stands::Begun,
            State::Executed { .. } | State::NotExecuted { .. } => Stands::Settled,
            State::Unknown { .. } => Stands::Unknown,
        };
        let brief = Brief {
            investigation: approval.plan.run.investigation.clone(),
            call: approval.plan.call_id.clone(),
            channel: approval.plan.run.channel,
            ask_key: approval.plan.ask_key.clone(),
            target: target_key(&approval.plan.target),
            tier: approval.plan.tier,
            requested_at: approval.requested_at,
            expires_at: approval.expires_at,
            stands,
            word: approval.state.as_str(),
            decision: Decision::of(&approval.state),
            changed_at: changed_at(approval),
            change: self.changes,
            figures: Figures::of(approval),
            undo: approval.aftermath.as_ref().and_then(|it| {
                let undo = it.undo.as_ref()?;
                // What can't be brought into one form was never asked for either.
                let key = ask_key(&undo.tool, &approval.plan.target, &undo.arguments).ok()?;
                Some((key, it.intent))
            }),
        };
        self.briefs.insert(approval.id(), brief);
    }

    pub(super) fn next(&self) -> ApprovalId {
        ApprovalId::nth(self.briefs.last_key_value().map_or(1, |(id, _)| id.number().saturating_add(1)))
    }

    /// The latest time that is known.
    pub(super) fn latest(&self) -> Option<Timestamp> {
        self.briefs.values().map(|brief| brief.requested_at).max()
    }

    fn find(&self, is: impl Fn(&Brief) -> bool) -> Option<ApprovalId> {
        self.briefs.iter().rev().find(|(_, brief)| is(brief)).map(|(id, _)| *id)
    }

    /// The denial that stands against asking this.
    pub(super) fn denied(&self, key: &AskKey) -> Option<ApprovalId> {
        self.find(|brief| brief.ask_key == *key && brief.stands == Stands::Denied)
    }

    /// The same, asked in this investigation and not over.
    pub(super) fn waiting(&self, key: &AskKey, investigation: &InvestigationId, now: Timestamp) -> Option<ApprovalId> {
        self.find(|brief| {
            brief.ask_key == *key
                && brief.investigation == *investigation
                && brief.is_waiting()
                && now < brief.expires_at
        })
    }

    /// A write on this target of which nobody knows whether it took effect.
    pub(super) fn unknown_on(&self, target: &Target) -> Option<ApprovalId> {
        let target = target_key(target);
        self.find(|brief| brief.target == target && brief.stands == Stands::Unknown)
    }

    /// A write on this target that is under way.
    pub(super) fn begun_on(&self, target: &Target, besides: Option<ApprovalId>) -> Option<ApprovalId> {
        let target = target_key(target);
        let mut begun = self.briefs.iter().filter(|(_, brief)| brief.target == target && brief.stands == Stands::Begun);
        begun.find(|(id, _)| Some(**id) != besides).map(|(id, _)| *id)
    }

    /// The last write on the same target that doing this takes back: it is what that one said would.
    pub(super) fn undone_by(&self, plan: &Plan) -> Option<Undone> {
        let key = ask_key(&plan.tool, &plan.target, &plan.arguments).ok()?;
        self.briefs.range(..plan.id).rev().find_map(|(id, brief)| {
            let (undo, intent) = brief.undo.as_ref()?;
            (*undo == key).then_some(Undone { approval: *id, intent: *intent })
        })
    }

    /// Those that are begun.
    pub(super) fn begun(&self) -> Vec<ApprovalId> {
        self.briefs.iter().filter(|(_, brief)| brief.stands == Stands::Begun).map(|(id, _)| *id).collect()
    }

    /// Those that are complete and not used yet, oldest first, with where they were asked for.
    pub(super) fn approved(&self) -> Vec<(ApprovalId, Channel)> {
        let approved = self.briefs.iter().filter(|(_, brief)| brief.stands == Stands::Approved);
        approved.map(|(id, brief)| (*id, brief.channel)).collect()
    }

    /// How many other variants people were asked about this target in this investigation, and did not grant.
    pub(super) fn variants(&self, target: &Target, key: &AskKey, investigation: &InvestigationId) -> usize {
        let target = target_key(target);
        let mut keys: Vec<&AskKey> = self
            .briefs
            .values()
            .filter(|brief| brief.target == target && brief.investigation == *investigation)
            .filter(|brief| brief.tier > Tier::Low && brief.ask_key != *key)
            .filter(|brief| match brief.stands {
                Stands::Open | Stands::Approved | Stands::Denied | Stands::Lapsed => true,
                Stands::Begun | Stands::Unknown | Stands::Settled | Stands::Superseded => false,
            })
            .map(|brief| &brief.ask_key)
            .collect();
        keys.sort();
        keys.dedup();
        keys.len()
    }

    /// How often people were asked in this investigation.
    pub(super) fn asks(&self, investigation: &InvestigationId) -> usize {
        let asked =
            self.briefs.values().filter(|brief| brief.investigation == *investigation && brief.tier > Tier::Low);
        // Asked anew because the world moved is not asked again by the model.
        asked.filter(|brief| brief.stands != Stands::Superseded).count()
    }

    /// How many low writes there were since then.
    pub(super) fn low_since(&self, since: Timestamp) -> usize {
        self.briefs.values().filter(|brief| brief.tier == Tier::Low && brief.requested_at > since).count()
    }

    /// The last approval that a call asked for.
    pub(super) fn of_call(&self, investigation: &InvestigationId, call: &CallId) -> Option<ApprovalId> {
        self.find(|brief| brief.call == *call && brief.investigation == *investigation)
    }

    /// How many there are.
    pub(super) fn total(&self) -> usize {
        self.briefs.len()
    }

    /// All that are unsettled, and the newest, newest first.
    pub(super) fn newest(&self, most: usize) -> Vec<ApprovalId> {
        let numbered = self.briefs.iter().rev().enumerate();
        numbered.filter(|(n, (_, brief))| *n < most || brief.is_unsettled()).map(|(_, (id, _))| *id).collect()
    }

    /// Those before one, newest first, where they stand at this.
    pub(super) fn page(
        &self,
        before: Option<ApprovalId>,
        state: Option<&str>,
        most: usize,
        now: Timestamp,
    ) -> Vec<ApprovalId> {
        let stands = |brief: &Brief| if brief.is_over(now) { EXPIRED } else { brief.word };
        let earlier = self.briefs.iter().rev().filter(|(id, _)| before.is_none_or(|before| **id < before));
        let asked = earlier.filter(|(_, brief)| state.is_none_or(|state| stands(brief) == state));
        asked.map(|(id, _)| *id).take(most).collect()
    }

    /// Those that are unsettled or have changed since, newest first, and up to which change this is.
    pub(super) fn changed(&self, since: Since) -> (Vec<ApprovalId>, Mark) {
        let has = |brief: &Brief| match since {
            Since::Time(time) => brief.changed_at >= time,
            Since::Mark(Mark(change)) => brief.change > change,
        };
        let changed = self.briefs.iter().rev().filter(|(_, brief)| brief.is_unsettled() || has(brief));
        (changed.map(|(id, _)| *id).collect(), Mark(self.changes))
    }

    /// Whether nothing more comes of it, unless a person takes it up again. Of what is not there nothing does.
    pub(super) fn is_settled(&self, id: ApprovalId) -> bool {
        self.briefs.get(&id).is_none_or(|brief| !brief.is_unsettled())
    }

    /// All of them in numbers.
    pub(super) fn counted(&self, now: Timestamp) -> Counted {
        let mut counted = Counted::default();
        for brief in self.briefs.values() {
            let decision = if brief.is_over(now) { Decision::Expired } else { brief.decision };
            *counted.by.entry((brief.tier, decision)).or_default() += 1;
            counted.figures.add(&brief.figures);
        }
        counted
    }

    /// Those whose time is up.
    pub(super) fn over(&self, now: Timestamp) -> Vec<ApprovalId> {
        let over = self.briefs.iter().filter(|(_, brief)| brief.is_over(now));
        over.map(|(id, _)| *id).collect()
    }
}

/// When an approval last changed.
fn changed_at(approval: &Approval) -> Timestamp {
    let state = match approval.state {
        State::Open => approval.requested_at,
        State::Approved { at }
        | State::Denied { at, .. }
        | State::Expired { at }
        | State::Revoked { at, .. }
        | State::Superseded { at, .. }
        | State::Consumed { at }
        | State::Executed { at, .. }
        | State::NotExecuted { at, .. }
        | State::Unknown { at, .. } => at,
    };
    approval.votes.iter().map(|vote| vote.at).fold(state.max(approval.requested_at), Timestamp::max)
}

/// A document that is a switch: what it says, and its revision; 0 where it was never thrown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Switch {
    pub(super) body: Value,
    pub(super) revision: u64,
}

/// The id of the stop-writes switch.
pub(super) const STOP: &str = "stop_writes";

impl Switch {
    pub(super) async fn load(ledger: &Ledger) -> Result<Self, Objection> {
        let document = ledger.document(DocumentKind::Switch, STOP).await.map_err(unread)?;
        Ok(document.map_or(Self { body: Value::Null, revision: 0 }, |document| Self {
            body: document.body,
            revision: document.revision,
        }))
    }

    /// Written over this revision; with the same words it only proves that the switch has not been thrown meanwhile.
    pub(super) fn write(&self, body: Value) -> DocumentWrite {
        DocumentWrite { kind: DocumentKind::Switch, id: STOP.to_owned(), expect_revision: self.revision, body }
    }
}

#[cfg(test)]
mod tests;
