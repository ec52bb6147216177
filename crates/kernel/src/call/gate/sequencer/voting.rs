//! What people do: vote, deny, take back, ask again, break the glass, review, stop and let go on.
//!
//! Each is one commit: the changed document and the record that tells of it. What did not count is recorded as well, once
//! the person is known.

use jiff::Timestamp;
use serde_json::Value;

use crate::call::gate::approval::{Tally, said};
use crate::call::gate::objection::Objection;
use crate::call::gate::vote::{Claim, Claimant};
use crate::db::storage::{DocumentKind, DocumentWrite};
use crate::domain::plan::ApprovalId;
use crate::ledger::record::{Entry, RecordKind};
use crate::people::directory::Freshness;
use crate::policy::standing::Verb;

use super::kept::{Kept, Switch, unread};
use super::shown::{Debt, Reviewed, Stopped};
use super::{Sequencer, records};

impl Sequencer {
    /// Hands in a yes.
    ///
    /// # Errors
    /// Why it does not count.
    pub async fn vote(&self, id: ApprovalId, claim: &Claim) -> Result<Tally, Objection> {
        let _turn = self.turn.lock().await;
        let (mut kept, now) = self.current(id).await?;
        let ended = self.count(&mut kept, claim, now).await;
        let (tally, groups) = self.heard(&kept, &claim.by, "approve", ended).await?;
        let entry = records::by(RecordKind::Vote, &kept.approval, &claim.by, &groups)
            .with("vote", "approve")
            .with("whole", serde_json::json!(claim.whole));
        self.put(vec![entry], &mut kept, Vec::new()).await?;
        Ok(tally)
    }

    async fn count(&self, kept: &mut Kept, claim: &Claim, now: Timestamp) -> Result<(Tally, Vec<String>), Objection> {
        kept.approval.admits(claim, now)?;
        let found = self.eligible(&claim.by, Verb::Approve, Some(&kept.approval), Freshness::Cached, now).await?;
        let tally = kept.approval.vote(claim, found.groups.clone(), now)?;
        Ok((tally, found.groups))
    }

    /// Hands in a no, which wins over every yes until the write has begun.
    ///
    /// # Errors
    /// Why it does not count.
    pub async fn deny(&self, id: ApprovalId, claim: &Claim, reason: &str) -> Result<(), Objection> {
        let reason = self.mask(reason)?;
        let _turn = self.turn.lock().await;
        let (mut kept, now) = self.current(id).await?;
        let ended = async {
            kept.approval.admits(claim, now)?;
            let found = self.eligible(&claim.by, Verb::Deny, Some(&kept.approval), Freshness::Cached, now).await?;
            kept.approval.deny(claim, &reason, now)?;
            Ok(found.groups)
        };
        let ended = ended.await;
        let groups = self.heard(&kept, &claim.by, "deny", ended).await?;
        let vote = records::by(RecordKind::Vote, &kept.approval, &claim.by, &groups)
            .with("vote", "deny")
            .with("reason", reason.as_str());
        let decision = records::about(RecordKind::Decision, &kept.approval.plan)
            .with("status", "denied")
            .with("person", claim.by.person.as_str())
            .with("reason", reason);
        self.put(vec![vote, decision], &mut kept, Vec::new()).await?;
        Ok(())
    }

    /// Takes an approval back before it is used.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn revoke(&self, id: ApprovalId, by: &Claimant, reason: &str) -> Result<(), Objection> {
        let reason = self.mask(reason)?;
        let _turn = self.turn.lock().await;
        let (mut kept, now) = self.current(id).await?;
        let ended = async {
            kept.approval.admits_person(by)?;
            let found = self.eligible(by, Verb::Revoke, Some(&kept.approval), Freshness::Cached, now).await?;
            kept.approval.revoke(by, &reason, now)?;
            Ok(found.groups)
        };
        let ended = ended.await;
        let groups = self.heard(&kept, by, "revoke", ended).await?;
        let entry = records::by(RecordKind::Revoked, &kept.approval, by, &groups).with("reason", reason);
        self.put(vec![entry], &mut kept, Vec::new()).await
    }

    /// Lets a denied write be asked for again, with a card of a new revision.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn reopen(&self, id: ApprovalId, by: &Claimant, reason: &str) -> Result<(), Objection> {
        let reason = self.mask(reason)?;
        let _turn = self.turn.lock().await;
        let (mut kept, now) = self.current(id).await?;
        let ended = async {
            kept.approval.admits_person(by)?;
            let found = self.eligible(by, Verb::Reopen, Some(&kept.approval), Freshness::Cached, now).await?;
            let until = after(now, self.limits.waits(kept.approval.plan.tier));
            kept.approval.reopen(&reason, until, now)?;
            Ok(found.groups)
        };
        let ended = ended.await;
        let groups = self.heard(&kept, by, "reopen", ended).await?;
        let reopened = records::by(RecordKind::Reopened, &kept.approval, by, &groups).with("reason", reason);
        let requested = records::requested(&kept.approval);
        self.put(vec![reopened, requested], &mut kept, Vec::new()).await
    }

    /// Takes the second person's place, against a debt: a review by somebody else, which stays open until it is done.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn break_glass(&self, id: ApprovalId, claim: &Claim, reason: &str) -> Result<(), Objection> {
        let reason = self.mask(reason)?;
        let _turn = self.turn.lock().await;
        let (mut kept, now) = self.current(id).await?;
        let ended = async {
            kept.approval.admits(claim, now)?;
            let found = self.eligible(&claim.by, Verb::BreakGlass, Some(&kept.approval), Freshness::Now, now).await?;
            kept.approval.break_glass(claim, &reason, after(now, self.limits.break_glass), now)?;
            Ok(found.groups)
        };
        let ended = ended.await;
        let groups = self.heard(&kept, &claim.by, "break_glass", ended).await?;
        let broken =
            records::by(RecordKind::BreakGlass, &kept.approval, &claim.by, &groups).with("reason", reason.as_str());
        let due = records::about(RecordKind::ReviewDue, &kept.approval.plan)
            .with("person", claim.by.person.as_str())
            .with("reason", reason.as_str());
        let debt = Debt { approval: id, by: claim.by.person.clone(), reason, at: now, reviewed: None };
        let (_, revision) = self.debt(id).await?;
        self.put(vec![broken, due], &mut kept, vec![debt_document(&debt, revision)?]).await?;
        tracing::warn!(approval = %id, person = %debt.by, "the glass was broken: a review is due");
        Ok(())
    }

    /// Settles the debt of a broken glass; by somebody else than who broke it.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn review(&self, id: ApprovalId, by: &Claimant, finding: &str) -> Result<(), Objection> {
        let finding = self.mask(finding)?;
        let _turn = self.turn.lock().await;
        let now = self.watch.now();
        let mut kept = Kept::load(&self.ledger, id).await?;
        let (debt, revision) = self.debt(id).await?;
        let mut debt = debt.filter(|debt| debt.reviewed.is_none()).ok_or(Objection::NoDebt(id))?;
        kept.approval.admits_person(by)?;
        let ended = async {
            if debt.by == by.person {
                return Err(Objection::OwnDebt(by.person.clone()));
            }
            said(&finding)?;
            Ok(self.eligible(by, Verb::Review, Some(&kept.approval), Freshness::Cached, now).await?.groups)
        };
        let ended = ended.await;
        let groups = self.heard(&kept, by, "review", ended).await?;
        let entry = records::by(RecordKind::ReviewDone, &kept.approval, by, &groups).with("reason", finding.as_str());
        debt.reviewed = Some(Reviewed { by: by.person.clone(), finding, at: now });
        self.put(vec![entry], &mut kept, vec![debt_document(&debt, revision)?]).await
    }

    /// The debt of an approval, and the revision of its document.
    async fn debt(&self, id: ApprovalId) -> Result<(Option<Debt>, u64), Objection> {
        let document = self.ledger.document(DocumentKind::Debt, &id.to_string()).await.map_err(unread)?;
        let Some(document) = document else { return Ok((None, 0)) };
        let debt = serde_json::from_value(document.body).map_err(|error| Objection::Ledger(error.to_string()))?;
        Ok((Some(debt), document.revision))
    }

    /// Reviews that are owed, and those that were done.
    ///
    /// # Errors
    /// [`Objection::Ledger`] where they can't be read.
    pub async fn debts(&self) -> Result<Vec<Debt>, Objection> {
        let documents = self.ledger.documents(DocumentKind::Debt).await.map_err(unread)?;
        let debts = documents.into_iter().map(|document| serde_json::from_value(document.body));
        debts.collect::<Result<_, _>>().map_err(|error| Objection::Ledger(error.to_string()))
    }

    /// Stops all writes, durably.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn stop_writes(&self, by: &Claimant, reason: &str) -> Result<(), Objection> {
        // No words are asked for: whoever sees harm done must not have to find some first.
        let reason = self.mask(reason)?;
        let now = self.watch.now();
        let stop = Stopped { by: by.person.clone(), reason: reason.clone(), at: now };
        let body = serde_json::to_value(&stop).map_err(|error| Objection::Ledger(error.to_string()))?;
        self.throw(by, Verb::StopWrites, RecordKind::WritesStopped, body, &reason, now).await
    }

    /// Lets writes go on.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn lift_stop(&self, by: &Claimant, reason: &str) -> Result<(), Objection> {
        let reason = self.mask(reason)?;
        let now = self.watch.now();
        self.throw(by, Verb::LiftStop, RecordKind::WritesAllowed, Value::Null, &reason, now).await
    }

    async fn throw(
        &self,
        by: &Claimant,
        verb: Verb,
        kind: RecordKind,
        body: Value,
        reason: &str,
        now: Timestamp,
    ) -> Result<(), Objection> {
        let found = self.eligible(by, verb, None, Freshness::Cached, now).await?;
        let _turn = self.turn.lock().await;
        let switch = Switch::load(&self.ledger).await?;
        if switch.body.is_null() == body.is_null() {
            return Err(Objection::SwitchedAlready(if body.is_null() { "allowed" } else { "stopped" }));
        }
        let entry = Entry::new(kind)
            .with("person", by.person.as_str())
            .with("proof", by.proof.to_string())
            .with("groups", found.groups)
            .with("reason", reason);
        self.write(vec![entry], vec![switch.write(body)]).await
    }

    /// Who stopped writes, if they are stopped.
    ///
    /// # Errors
    /// [`Objection::Ledger`] where it can't be read; writes count as stopped then.
    pub async fn stopped(&self) -> Result<Option<Stopped>, Objection> {
        stopped(&Switch::load(&self.ledger).await?)
    }

    /// Ends the approvals whose time is up.
    ///
    /// # Errors
    /// [`Objection::Ledger`].
    pub async fn expire(&self) -> Result<Vec<ApprovalId>, Objection> {
        let _turn = self.turn.lock().await;
        let now = self.watch.now();
        let over = self.index().over(now);
        for id in &over {
            let mut kept = Kept::load(&self.ledger, *id).await?;
            self.expire_one(&mut kept, now).await?;
        }
        Ok(over)
    }

    /// Ends one approval, if its time is up.
    async fn expire_one(&self, kept: &mut Kept, now: Timestamp) -> Result<(), Objection> {
        if kept.approval.expire(now) {
            let entry = records::about(RecordKind::Expired, &kept.approval.plan)
                .with("expires_at", records::at(kept.approval.expires_at));
            self.put(vec![entry], kept, Vec::new()).await?;
        }
        Ok(())
    }

    /// An approval as it is at this moment: one whose time is up is ended first.
    pub(super) async fn current(&self, id: ApprovalId) -> Result<(Kept, Timestamp), Objection> {
        let now = self.watch.now();
        let mut kept = Kept::load(&self.ledger, id).await?;
        self.expire_one(&mut kept, now).await?;
        Ok((kept, now))
    }

    /// Passes on what counted, and records what did not.
    async fn heard<T>(
        &self,
        kept: &Kept,
        by: &Claimant,
        what: &'static str,
        ended: Result<T, Objection>,
    ) -> Result<T, Objection> {
        let objection = match ended {
            Ok(done) => return Ok(done),
            Err(objection) => objection,
        };
        match objection {
            // Whoever it was: nobody knows them, and their words have no place in the ledger.
            Objection::NoSuchPerson(_) | Objection::Ledger(_) => {}
            _ => {
                let entry = records::by(RecordKind::Refused, &kept.approval, by, &[])
                    .with("vote", what)
                    .with("reason_code", objection.code())
                    .with("reason", objection.to_string());
                if let Err(error) = self.write(vec![entry], Vec::new()).await {
                    tracing::warn!(approval = %kept.approval.id(), "a vote that did not count is not recorded: {error}");
                }
            }
        }
        Err(objection)
    }
}

/// What the switch says.
pub(super) fn stopped(switch: &Switch) -> Result<Option<Stopped>, Objection> {
    serde_json::from_value(switch.body.clone()).map_err(|error| Objection::Ledger(error.to_string()))
}

/// The end of a time that begins now.
pub(super) fn after(now: Timestamp, length: jiff::SignedDuration) -> Timestamp {
    now.saturating_add(length).unwrap_or(now)
}

fn debt_document(debt: &Debt, revision: u64) -> Result<DocumentWrite, Objection> {
    let body = serde_json::to_value(debt).map_err(|error| Objection::Ledger(error.to_string()))?;
    Ok(DocumentWrite { kind: DocumentKind::Debt, id: debt.approval.to_string(), expect_revision: revision, body })
}
