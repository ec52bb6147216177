//! What waits for people, as cards in Slack, each edited in place until it shows how it ended.
//!
//! What was shown last is noted by the approval, so that a start shows what was decided while nobody looked.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::gate::approval::State;
use warrant_kernel::call::gate::sequencer::shown::{Listed, Since};
use warrant_kernel::call::tool::Clock;
use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::name::{InvestigationId, ServiceName};
use warrant_kernel::domain::plan::ApprovalId;
use warrant_kernel::store::desk::NoteWrite;

use super::Slack;
use super::click::glass;
use super::talk::Later;
use crate::app::SystemClock;
use crate::app::serve::tidy::KEPT;
use crate::chat::slack::blocks::GroupId;
use crate::chat::slack::card::{Around, Ping, render};
use crate::chat::slack::config::Place;
use crate::chat::slack::escape::Shown;
use crate::chat::slack::outbox::{Class, Thread};

/// Notes of what a card showed last.
pub(in crate::app::serve) const SHOWN: &str = "slack-card";

/// How often it is looked whether approvals have changed; a click looks at once.
const LOOK: Duration = Duration::from_secs(2);

/// The share of its time after which a card that nobody answered is brought to mind again.
const REMIND: f64 = 0.6;

/// Our id of the message of a card.
pub(super) fn message_id(approval: ApprovalId) -> String {
    format!("card-{approval}")
}

impl Slack {
    /// Shows every change of every approval until it is cancelled.
    pub(super) async fn show_cards(self: Arc<Self>, cancel: CancellationToken) {
        // A start shows what was decided while nobody looked, as far back as it is noted what cards show.
        let mut since = Since::Time(SystemClock.now().checked_sub(KEPT).unwrap_or(Timestamp::MIN));
        loop {
            match self.hold.sequencer().changed(since).await {
                Ok((listed, mark)) => {
                    let mut all = true;
                    for approval in &listed {
                        if let Err(later) = self.show_card(approval).await {
                            tracing::warn!(approval = %approval.approval, %later, "a card waits to be shown in slack");
                            all = false;
                        }
                    }
                    // What could not be shown is among those that have changed the next time too.
                    if all {
                        since = Since::Mark(mark);
                    }
                }
                Err(error) => tracing::warn!(%error, "approvals can't be listed for slack"),
            }
            let next = tokio::time::timeout(LOOK, self.decided.notified());
            if cancel.run_until_cancelled(next).await.is_none() {
                return;
            }
        }
    }

    async fn show_card(&self, listed: &Listed) -> Result<(), Later> {
        let approval = listed.approval;
        let note = self.store.note(SHOWN, &approval.to_string()).await?;
        // Approvals that policy gave by itself are nobody's to answer.
        if listed.tier == Tier::Low {
            return Ok(());
        }
        let reminded = note.as_ref().is_some_and(|note| note.body.get("reminded") == Some(&json!(true)));
        let due = Self::is_due(listed) && !reminded;
        let card = self.hold.sequencer().card(approval).await.map_err(|error| Later::Broken(error.to_string()))?;
        let says = json!({ "state": card.state, "revision": card.revision, "approved": card.electorate.approved });
        let is_shown = note.as_ref().is_some_and(|note| note.body.get("says") == Some(&says));
        if is_shown && !due {
            return Ok(());
        }
        let place = self.settings.place(listed.service.as_ref().map(ServiceName::as_str));
        let Some((channel, thread)) = self.card_home(&listed.investigation, place).await else { return Ok(()) };
        if !is_shown {
            // Once: who is named in an edit would be called again.
            let oncall = place.filter(|_| note.is_none()).and_then(|place| GroupId::read(place.oncall.as_deref()?));
            let pings: Vec<Ping> = oncall.map(Ping::Group).into_iter().collect();
            let around = Around { glass: glass(&card), pings: &pings, broken: None, written: None };
            let face = render(&card, &around);
            self.put(message_id(approval), &channel, thread, Class::Card, &face.message).await?;
        }
        if due {
            let text = Shown::line(&approval.to_string()).then(" still waits for an answer, until ");
            let text = text.then_line(&card.expires_at.to_string());
            self.beneath(format!("remind-{approval}"), approval, text).await?;
        }
        let body = json!({ "says": says, "reminded": reminded || due });
        let expect_revision = note.map_or(0, |note| note.revision);
        let write = NoteWrite { kind: SHOWN, id: approval.to_string(), expect_revision, body };
        Ok(self.store.settle(&[], &[write]).await?)
    }

    /// Whether an open card has waited for most of its time.
    fn is_due(listed: &Listed) -> bool {
        if listed.state != State::Open {
            return false;
        }
        let whole = listed.expires_at.duration_since(listed.requested_at).as_secs_f64();
        let waited = SystemClock.now().duration_since(listed.requested_at).as_secs_f64();
        waited >= whole * REMIND
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
        let place = place.or_else(|| self.settings.place(None))?;
        Some((place.channel.clone(), Thread::None))
    }
}
