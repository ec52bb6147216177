//! What waits for people, as cards in Slack, each edited in place until it shows how it ended.
//!
//! What was shown last is noted by the approval, so that a start shows what was decided while nobody looked, and nobody is
//! called twice.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::gate::approval::State;
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::sequencer::shown::{Debt, Listed, Mark, Since};
use warrant_kernel::call::tool::Clock;
use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::plan::ApprovalId;
use warrant_kernel::domain::report::{WriteOutcome, Written};
use warrant_kernel::store::StoreError;
use warrant_kernel::store::desk::{Note, NoteWrite};

use super::Slack;
use super::click::glass;
use super::home::Home;
use super::talk::Later;
use crate::app::SystemClock;
use crate::app::serve::tidy::KEPT;
use crate::chat::slack::blocks::{GroupId, Message, Text, UserId};
use crate::chat::slack::card::{Around, Beside, Broken, Ping, escalated, render};
use crate::chat::slack::config::Place;
use crate::chat::slack::escape::Shown;
use crate::chat::slack::outbox::{Class, Thread};

/// Notes of what a card showed last.
pub(in crate::app::serve) const SHOWN: &str = "slack-card";

/// How often it is looked whether approvals have changed; a click looks at once.
const LOOK: Duration = Duration::from_secs(2);

/// The group of the shipped policies whose members decide; they are named where no user group is on call.
const DECIDERS: &str = "oncall";

/// Most people who are named on one card.
const MOST_NAMED: usize = 10;

/// How many approvals before one are looked through for earlier changes of its target.
const EARLIER: usize = 200;

/// How often a note is written anew that somebody else wrote meanwhile.
const TRIES: usize = 8;

/// What people were told of an approval.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Told {
    /// What the card says.
    says: Value,
    /// Whether it was brought to mind.
    #[serde(default)]
    reminded: bool,
    /// How many groups beyond the first were asked.
    #[serde(default)]
    escalated: usize,
    /// What came of the write, as its investigation has it.
    #[serde(default)]
    written: Option<Written>,
}

impl Told {
    fn of(note: Option<&Note>) -> Self {
        note.and_then(|note| Self::deserialize(&note.body).ok()).unwrap_or_default()
    }

    fn write(&self, approval: ApprovalId, expect_revision: u64) -> Result<NoteWrite, StoreError> {
        let body = serde_json::to_value(self).map_err(StoreError::Json)?;
        Ok(NoteWrite { kind: SHOWN, id: approval.to_string(), expect_revision, body })
    }
}

/// Approvals that are looked at, and all debts.
struct Standing {
    listed: Vec<Listed>,
    debts: Vec<Debt>,
}

impl Standing {
    fn debt(&self, approval: ApprovalId) -> Option<&Debt> {
        self.debts.iter().find(|debt| debt.approval == approval && debt.reviewed.is_none())
    }
}

/// Whether something was done, or may have been.
fn took_effect(state: &State) -> bool {
    match state {
        State::Executed { .. } | State::Unknown { .. } => true,
        State::Open
        | State::Approved { .. }
        | State::Consumed { .. }
        | State::Denied { .. }
        | State::Expired { .. }
        | State::Revoked { .. }
        | State::Superseded { .. }
        | State::NotExecuted { .. } => false,
    }
}

/// How much of its time an open approval has waited, in percent; none where it does not wait.
fn waited(listed: &Listed) -> Option<f64> {
    if listed.state != State::Open {
        return None;
    }
    let whole = listed.expires_at.duration_since(listed.requested_at).as_secs_f64();
    let waited = SystemClock.now().duration_since(listed.requested_at).as_secs_f64();
    (waited < whole).then(|| waited / whole * 100.0)
}

/// How many of the groups beyond the first are due: the rest of the time is shared among them.
fn due_groups(waited: f64, from: u8, beyond: usize) -> usize {
    let from = f64::from(from);
    let step = |nth: usize| {
        let share = u32::try_from(nth).map_or(1.0, f64::from) / u32::try_from(beyond).map_or(1.0, f64::from);
        from + (100.0 - from) * share
    };
    (0..beyond).take_while(|nth| waited >= step(*nth)).count()
}

/// Our id of the message of a card.
pub(super) fn message_id(approval: ApprovalId) -> String {
    format!("card-{approval}")
}

impl Slack {
    /// Shows every change of every approval until it is cancelled.
    pub(super) async fn show_cards(self: Arc<Self>, cancel: CancellationToken) {
        // A start shows what was decided while nobody looked, as far back as it is noted what cards show.
        let mut since = Since::Time(SystemClock.now().checked_sub(KEPT).unwrap_or(Timestamp::MIN));
        let mut owed = BTreeSet::new();
        loop {
            match self.standing(since, &mut owed).await {
                Ok((standing, mark)) => {
                    for listed in &standing.listed {
                        let approval = listed.approval;
                        if let Err(later) = self.show_card(listed, &standing).await {
                            tracing::warn!(%approval, %later, "a card waits to be shown in slack");
                            self.again().insert(approval);
                        }
                    }
                    since = Since::Mark(mark);
                }
                Err(later) => tracing::warn!(%later, "approvals can't be listed for slack"),
            }
            let next = tokio::time::timeout(LOOK, self.decided.notified());
            if cancel.run_until_cancelled(next).await.is_none() {
                return;
            }
        }
    }

    fn again(&self) -> std::sync::MutexGuard<'_, BTreeSet<ApprovalId>> {
        self.again.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is to be looked at: what waits, what has changed, what could not be shown, and where a review came to be owed or
    /// was done.
    async fn standing(&self, since: Since, owed: &mut BTreeSet<ApprovalId>) -> Result<(Standing, Mark), Later> {
        let broken = |error: &dyn std::fmt::Display| Later::Broken(error.to_string());
        let sequencer = self.hold.sequencer();
        let debts = sequencer.debts().await.map_err(|error| broken(&error))?;
        let (mut listed, mark) = sequencer.changed(since).await.map_err(|error| broken(&error))?;
        let owed_now: BTreeSet<ApprovalId> =
            debts.iter().filter(|debt| debt.reviewed.is_none()).map(|debt| debt.approval).collect();
        let mut again = std::mem::take(&mut *self.again());
        again.extend(owed.symmetric_difference(&owed_now));
        for approval in again {
            if !listed.iter().any(|known| known.approval == approval) {
                listed.push(sequencer.line(approval).await.map_err(|error| broken(&error))?);
            }
        }
        *owed = owed_now;
        Ok((Standing { listed, debts }, mark))
    }

    /// What else there is to know of the target of an approval.
    async fn beside(&self, of: &Listed, standing: &Standing) -> Result<Beside, Later> {
        let before = self.hold.sequencer().page(Some(of.approval), None, EARLIER).await;
        let before = before.map_err(|error| Later::Broken(error.to_string()))?;
        let earlier = before.into_iter().filter(|other| other.target == of.target && took_effect(&other.state));
        let owed = standing.debts.iter().filter(|debt| debt.reviewed.is_none() && debt.approval != of.approval);
        Ok(Beside {
            earlier: earlier.map(|other| (other.approval, other.state, other.effect)).collect(),
            owed: owed.map(|debt| (debt.approval, debt.by.clone())).collect(),
        })
    }

    async fn show_card(&self, listed: &Listed, standing: &Standing) -> Result<(), Later> {
        let approval = listed.approval;
        // Approvals that policy gave by itself are nobody's to answer.
        if listed.tier == Tier::Low {
            return Ok(());
        }
        let note = self.store.note(SHOWN, &approval.to_string()).await?;
        let told = Told::of(note.as_ref());
        let place = self.place_of(listed).await;
        let beyond = place.map_or(&[][..], |place| place.oncall.get(1..).unwrap_or_default());
        let waited = waited(listed);
        let due = waited.is_some_and(|share| share >= f64::from(self.settings.remind)) && !told.reminded;
        let asked = waited.map_or(0, |share| due_groups(share, self.settings.escalate, beyond.len()));
        let card = self.hold.sequencer().card(approval).await.map_err(|error| Later::Broken(error.to_string()))?;
        let debt = standing.debt(approval);
        let says = json!({
            "state": card.state, "revision": card.revision, "approved": card.electorate.approved,
            "owed": debt.is_some(), "written": told.written,
        });
        let is_shown = note.is_some() && told.says == says;
        if is_shown && !due && asked <= told.escalated {
            return Ok(());
        }
        let Some((channel, thread)) = self.card_home(&listed.investigation, place).await else { return Ok(()) };
        let may = self.may_show(&channel, listed).await;
        if !is_shown {
            // Once: who is named in an edit would be called again.
            let pings = if note.is_none() { self.pings(&card, place).await } else { Vec::new() };
            let broken = debt.map(|debt| Broken { by: debt.by.clone(), reason: debt.reason.clone() });
            let beside = self.beside(listed, standing).await?;
            let around = Around {
                glass: glass(&card),
                pings: &pings,
                broken: broken.as_ref(),
                written: told.written.as_ref(),
                beside: Some(&beside),
            };
            let face = if may { render(&card, &around).message } else { elsewhere(&card) };
            self.put(message_id(approval), &channel, thread, Class::Card, &face).await?;
        }
        if due {
            let text = Shown::line(&approval.to_string()).then(" still waits for an answer, until ");
            let text = text.then_line(&card.expires_at.to_string());
            self.beneath(format!("remind-{approval}"), approval, &Message::words(Text::fit(text))).await?;
        }
        for (nth, group) in beyond.iter().enumerate().take(asked).skip(told.escalated) {
            let Some(group) = GroupId::read(group) else { continue };
            let message = escalated(approval, group, card.expires_at);
            self.beneath(format!("escalate-{approval}-{nth}"), approval, &message).await?;
        }
        let told = Told { says, reminded: told.reminded || due, escalated: told.escalated.max(asked), ..told };
        let write = told.write(approval, note.map_or(0, |note| note.revision))?;
        Ok(self.store.settle(&[], &[write]).await?)
    }

    /// Whose on-call groups an approval asks: those of the channel that its investigation is in, where the config names it.
    async fn place_of(&self, listed: &Listed) -> Option<&Place> {
        let home = self.home(&listed.investigation).await;
        let named = |home: Home| self.settings.places.iter().find(|place| place.channel == home.channel);
        home.and_then(named).or_else(|| self.place(listed.service.as_ref(), None))
    }

    /// Who is called to a new card: the group on call, or those who may decide by the shipped policies.
    async fn pings(&self, card: &Card, place: Option<&Place>) -> Vec<Ping> {
        if let Some(group) = place.and_then(|place| GroupId::read(place.oncall.first()?)) {
            return vec![Ping::Group(group)];
        }
        match self.who.members(DECIDERS, MOST_NAMED).await {
            Ok(users) => users.iter().filter_map(|user| UserId::read(user)).map(Ping::Person).collect(),
            Err(error) => {
                tracing::warn!(approval = %card.approval, %error, "nobody could be called to a card");
                Vec::new()
            }
        }
    }

    /// Whether all who read in a channel may see what an approval is about.
    async fn may_show(&self, channel: &str, listed: &Listed) -> bool {
        if listed.service.as_ref().is_some_and(|service| self.hidden(channel).contains(service)) {
            return false;
        }
        // What can't be looked up is not shown.
        match self.state(&listed.investigation).await {
            Ok(state) => !self.is_withheld(channel, &state),
            Err(_) => false,
        }
    }

    /// Keeps what came of the writes of an investigation, so that their cards say it.
    pub(super) async fn tell_written(&self, written: &[Written]) -> Result<(), Later> {
        // What still waited when the report was written is told by the state of its approval.
        for written in written.iter().filter(|written| written.outcome != WriteOutcome::Pending) {
            let Some(approval) = written.approval else { continue };
            for left in (0..TRIES).rev() {
                let note = self.store.note(SHOWN, &approval.to_string()).await?;
                let told = Told { written: Some(written.clone()), ..Told::of(note.as_ref()) };
                // A card that does not stand yet is shown with its pings first.
                let Some(note) = note.filter(|_| told.says != Value::Null) else { break };
                match self.store.settle(&[], &[told.write(approval, note.revision)?]).await {
                    Err(StoreError::Stale(_)) if left > 0 => {}
                    settled => {
                        settled?;
                        break;
                    }
                }
            }
            self.again().insert(approval);
        }
        Ok(())
    }

    /// Where the card of an investigation's write stands: in its thread, else in the channel of the service.
    pub(super) async fn card_home(
        &self,
        investigation: &InvestigationId,
        place: Option<&Place>,
    ) -> Option<(String, Thread)> {
        if let Some(home) = self.home(investigation).await {
            return Some((home.channel, home.thread));
        }
        let place = place.or_else(|| self.place(None, None))?;
        Some((place.channel.clone(), Thread::None))
    }
}

/// In place of a card that not everybody may read who reads there.
fn elsewhere(card: &Card) -> Message {
    let text = Shown::line(&card.approval.to_string())
        .then(" waits for people, or has ended. It is not shown here, since not everybody who reads here may see what it is \
               about: warrant approvals show ")
        .then_line(&card.approval.to_string());
    Message::words(Text::fit(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_beyond_the_first_share_what_is_left_of_the_time() {
        let due = |waited| due_groups(waited, 80, 2);
        assert_eq!([79.9, 80.0, 89.9, 90.0, 99.9].map(due), [0, 1, 1, 2, 2]);
        assert_eq!((due_groups(99.0, 80, 0), due_groups(99.0, 80, 1)), (0, 1));
    }
}
