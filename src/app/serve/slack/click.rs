//! What people press and fill in: votes, each proved anew, and the pages that they read before.
//!

use std::collections::BTreeMap;
use std::sync::PoisonError;

use async_trait::async_trait;
use serde_json::json;
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::objection::Objection;
use warrant_kernel::call::gate::vote::{Claim, Claimant, Whole};
use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::plan::ApprovalId;
use warrant_kernel::store::desk::NoteWrite;

use super::Slack;
use super::talk::{Later, key_of};
use crate::chat::slack::action::{Action, CardRef, Form, Kept, REASON, investigation};
use crate::chat::slack::blocks::Message as Blocks;
use crate::chat::slack::card::Glass;
use crate::chat::slack::inbox::{Answer, Desk, Modal};
use crate::chat::slack::incoming::{By, Incoming, Spot, View, Words};
use crate::chat::slack::modal::{self, Question};
use crate::chat::slack::outbox::{Class, Thread};

/// Notes of what people said of reports.
const FEEDBACK: &str = "feedback";

/// One person may take another's place only where two are asked for.
pub(super) fn glass(card: &Card) -> Glass {
    match card.tier {
        Tier::High => Glass::Offered,
        Tier::Medium | Tier::Low => Glass::NotOffered,
    }
}

impl Slack {
    async fn card(&self, approval: ApprovalId) -> Option<Card> {
        match self.hold.sequencer().card(approval).await {
            Ok(card) => Some(card),
            Err(error) => {
                tracing::warn!(%approval, %error, "a card can't be shown in slack");
                None
            }
        }
    }

    /// A page of the whole. That somebody has come to the last one is kept before they see Approve there.
    async fn page(&self, user: &str, card: &Card, page: usize) -> serde_json::Value {
        let (view, whole) = {
            let mut readings = self.readings.lock().unwrap_or_else(PoisonError::into_inner);
            let reading = readings.of(user, card);
            (modal::whole(card, reading, page, glass(card)).value(), reading.whole())
        };
        if whole == Whole::Opened {
            self.keep_reading(user, &CardRef::of(card)).await;
        }
        view
    }

    /// A button that needs no form.
    pub(super) async fn clicked(&self, by: &By, action: &str, value: &str, spot: Option<&Spot>) -> Result<(), Later> {
        let Ok(action) = action.parse::<Action>() else { return Ok(()) };
        match action {
            Action::Approve => {
                let Ok(card) = value.parse::<CardRef>() else { return Ok(()) };
                let whole = self.read_whole(&by.user, &card).await;
                self.vote(by, &card, whole, spot.map(|spot| spot.channel.as_str())).await;
                Ok(())
            }
            Action::Helpful => match investigation(value) {
                Ok(id) => self.feedback(by, id.as_str(), "helpful", "", spot).await,
                Err(_) => Ok(()),
            },
            // They open something, which was done when they were clicked.
            Action::SeeWhole
            | Action::Evidence
            | Action::Next
            | Action::Before
            | Action::Deny
            | Action::BreakGlass
            | Action::Reopen
            | Action::Revoke
            | Action::Wrong => Ok(()),
        }
    }

    /// A form that was sent off.
    pub(super) async fn submitted(&self, by: &By, view: &View, values: &BTreeMap<String, Words>) -> Result<(), Later> {
        let Ok(form) = view.callback_id.parse::<Form>() else { return Ok(()) };
        let reason = written(values);
        if form == Form::Feedback {
            return match investigation(&view.private_metadata) {
                Ok(id) => self.feedback(by, id.as_str(), "wrong", reason, None).await,
                Err(_) => Ok(()),
            };
        }
        let Ok(kept) = view.private_metadata.parse::<Kept>() else { return Ok(()) };
        match form {
            Form::Whole => {
                let whole = self.read_whole(&by.user, &kept.card).await;
                self.vote(by, &kept.card, whole, None).await;
            }
            Form::Deny | Form::BreakGlass | Form::Reopen | Form::Revoke => {
                self.say_why(by, form, &kept.card, reason).await;
            }
            Form::Evidence | Form::Feedback => {}
        }
        Ok(())
    }

    /// Who is behind a click, proved now; they are told where they are nobody.
    async fn claimant(&self, by: &By, approval: ApprovalId, channel: Option<&str>) -> Option<Claimant> {
        let home = self.channel_of(approval).await;
        let known = self.person(by, channel.or(home.as_deref()), None).await?;
        Some(Claimant { person: known.person, proof: known.proof })
    }

    /// The channel in which a card stands.
    async fn channel_of(&self, approval: ApprovalId) -> Option<String> {
        let card = self.card(approval).await?;
        Some(self.card_home(&card.investigation, None).await?.0)
    }

    async fn vote(&self, by: &By, card: &CardRef, whole: Whole, channel: Option<&str>) {
        let Some(claimant) = self.claimant(by, card.approval, channel).await else { return };
        let claim = claim(claimant, card, whole);
        let voted = self.hold.office().vote(card.approval, &claim).await;
        self.voted(by, card.approval, channel, voted).await;
    }

    async fn say_why(&self, by: &By, form: Form, card: &CardRef, reason: &str) {
        let Some(claimant) = self.claimant(by, card.approval, None).await else { return };
        let (approval, sequencer) = (card.approval, self.hold.sequencer());
        let whole = self.read_whole(&by.user, card).await;
        let done = match form {
            Form::Deny => sequencer.deny(approval, &claim(claimant, card, whole), reason).await.map(drop),
            Form::BreakGlass => self.hold.office().break_glass(approval, &claim(claimant, card, whole), reason).await,
            Form::Reopen => sequencer.reopen(approval, &claimant, reason).await.map(drop),
            Form::Revoke => sequencer.revoke(approval, &claimant, reason).await.map(drop),
            Form::Whole | Form::Evidence | Form::Feedback => Ok(()),
        };
        self.voted(by, approval, None, done).await;
    }

    /// The card shows what was decided; why something did not count is told to whoever said it.
    async fn voted(&self, by: &By, approval: ApprovalId, channel: Option<&str>, voted: Result<(), Objection>) {
        self.decided.notify_one();
        let Err(objection) = voted else { return };
        tracing::info!(%approval, code = objection.code(), user = by.user, "a vote in slack did not count");
        let home = self.channel_of(approval).await;
        let text = format!("{approval}: {objection}");
        self.whisper(&by.user, channel.or(home.as_deref()), None, &text).await;
    }

    /// Keeps what somebody thought of a report: one opinion a person and investigation, the last one.
    async fn feedback(
        &self,
        by: &By,
        investigation: &str,
        opinion: &str,
        text: &str,
        spot: Option<&Spot>,
    ) -> Result<(), Later> {
        let channel = spot.map(|spot| spot.channel.as_str());
        let Some(known) = self.person(by, channel, None).await else { return Ok(()) };
        let id = format!("{investigation}:{}", known.person);
        let known_before = self.store.note(FEEDBACK, &id).await?;
        let expect_revision = known_before.map_or(0, |note| note.revision);
        let body = json!({ "investigation": investigation, "person": known.person, "opinion": opinion, "text": text });
        self.store.settle(&[], &[NoteWrite { kind: FEEDBACK, id, expect_revision, body }]).await?;
        let thanks = "Thank you; it is kept with the investigation.";
        self.whisper(&by.user, channel, spot.and_then(|spot| spot.thread.as_deref()), thanks).await;
        Ok(())
    }

    /// Says something in the thread of an investigation's card.
    pub(super) async fn beneath(&self, id: String, approval: ApprovalId, message: &Blocks) -> Result<(), Later> {
        let Some(card) = self.card(approval).await else { return Ok(()) };
        let Some((channel, thread)) = self.card_home(&card.investigation, None).await else { return Ok(()) };
        let under = match thread {
            Thread::None => Thread::Under(super::cards::message_id(approval)),
            other => other,
        };
        self.put(key_of(&id), &channel, under, Class::Card, message).await
    }
}

fn claim(by: Claimant, card: &CardRef, whole: Whole) -> Claim {
    Claim { by, revision: card.revision, digest_prefix: card.digest_prefix.clone(), whole }
}

/// What somebody wrote into the one field of a form.
fn written(values: &BTreeMap<String, Words>) -> &str {
    values.get(&format!("{REASON}.{REASON}")).map_or("", |words| words.text.trim())
}

#[async_trait]
impl Desk for Slack {
    async fn modal(&self, incoming: &Incoming) -> Option<Modal> {
        let Incoming::Click { by, action, value, view, .. } = incoming else { return None };
        let action: Action = action.parse().ok()?;
        if action == Action::Wrong {
            return Some(Modal::Open(modal::feedback(&investigation(value).ok()?).value()));
        }
        // Whoever is nobody is shown nothing.
        self.who.person(by, warrant_kernel::people::directory::Freshness::Cached).await.ok()?;
        let shown: CardRef = value.parse().ok()?;
        let card = self.card(shown.approval).await?;
        let at = || view.as_ref().and_then(|view| view.private_metadata.parse::<Kept>().ok()?.page);
        let turned = |by: i64| {
            let page = i64::from(at().unwrap_or(0)) + by;
            usize::try_from(page).unwrap_or(0)
        };
        let asked = |question| {
            let form = modal::why(&card, question).value();
            if view.is_some() { Modal::Push(form) } else { Modal::Open(form) }
        };
        match action {
            Action::SeeWhole => Some(Modal::Open(self.page(&by.user, &card, 0).await)),
            Action::Next => Some(Modal::Update(self.page(&by.user, &card, turned(1)).await)),
            Action::Before => Some(Modal::Update(self.page(&by.user, &card, turned(-1)).await)),
            Action::Evidence => Some(Modal::Open(modal::evidence(&card).value())),
            Action::Deny => Some(asked(Question::Deny)),
            Action::BreakGlass => Some(asked(Question::BreakGlass)),
            Action::Reopen => Some(asked(Question::Reopen)),
            Action::Revoke => Some(asked(Question::Revoke)),
            Action::Approve | Action::Helpful | Action::Wrong => None,
        }
    }

    fn answer(&self, submission: &Incoming) -> Answer {
        let Incoming::Submission { view, values, .. } = submission else { return Answer::Close };
        let Ok(form) = view.callback_id.parse::<Form>() else { return Answer::Close };
        match form {
            Form::Deny | Form::BreakGlass | Form::Reopen | Form::Revoke | Form::Feedback
                if written(values).is_empty() =>
            {
                Answer::Wrong(vec![(REASON.to_owned(), "Write a reason.".to_owned())])
            }
            // The card shows the verdict.
            Form::Whole | Form::Deny | Form::BreakGlass | Form::Reopen | Form::Revoke => {
                Answer::Show(modal::recorded().value())
            }
            Form::Evidence | Form::Feedback => Answer::Close,
        }
    }

    async fn follows(&self, channel: &str, thread: &str) -> bool {
        // What can't be found out is kept, and looked at later.
        self.of_thread(channel, thread).await.map_or(true, |known| known.is_some())
    }
}
