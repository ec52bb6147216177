//! How far people have read the wholes of cards.
//!
//! On the way through the pages that is remembered here only, and read again after a restart. That somebody has read all of
//! one is kept, since an approval that they gave right before a crash counts after it.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use serde_json::json;
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::vote::Whole;
use warrant_kernel::domain::plan::ApprovalId;
use warrant_kernel::store::desk::NoteWrite;

use super::Slack;
use crate::chat::slack::action::CardRef;
use crate::chat::slack::modal::Reading;

/// Notes of who has read all of which card.
pub(in crate::app::serve) const READ: &str = "slack-read";

/// Readings that are remembered; the oldest cards go first.
const MOST_READINGS: usize = 1_024;

/// How far each person has read each card.
#[derive(Default)]
pub(super) struct Readings(BTreeMap<(ApprovalId, String), Reading>);

impl Readings {
    pub(super) fn of(&mut self, user: &str, card: &Card) -> &mut Reading {
        if self.0.len() >= MOST_READINGS {
            self.0.pop_first();
        }
        self.0.entry((card.approval, user.to_owned())).or_insert_with(|| Reading::begin(card))
    }

    /// Whether somebody has read all of just this card.
    fn whole(&self, user: &str, card: &CardRef) -> Whole {
        match self.0.get(&(card.approval, user.to_owned())) {
            Some(reading) if reading.card() == card => reading.whole(),
            Some(_) | None => Whole::NotOpened,
        }
    }
}

fn id_of(user: &str, card: &CardRef) -> String {
    format!("{card}:{user}")
}

/// The approval that a note of a reading is about.
pub(in crate::app::serve) fn card_of(id: &str) -> Option<ApprovalId> {
    let (card, _) = id.split_once(':')?;
    Some(card.parse::<CardRef>().ok()?.approval)
}

impl Slack {
    /// Keeps that somebody has read all of a card. Where that fails it is remembered for as long as the process runs.
    pub(super) async fn keep_reading(&self, user: &str, card: &CardRef) {
        let id = id_of(user, card);
        let kept = match self.store.note(READ, &id).await {
            Ok(Some(_)) => return,
            Ok(None) => {
                let note = NoteWrite { kind: READ, id, expect_revision: 0, body: json!({ "user": user }) };
                self.store.settle(&[], &[note]).await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = kept {
            tracing::warn!(approval = %card.approval, %error, "that a card was read can't be kept");
        }
    }

    /// Whether somebody has read all of just this card, in this process or an earlier one.
    pub(super) async fn read_whole(&self, user: &str, card: &CardRef) -> Whole {
        let remembered = self.readings.lock().unwrap_or_else(PoisonError::into_inner).whole(user, card);
        if remembered == Whole::Opened {
            return remembered;
        }
        match self.store.note(READ, &id_of(user, card)).await {
            Ok(Some(_)) => Whole::Opened,
            Ok(None) => Whole::NotOpened,
            Err(error) => {
                tracing::warn!(approval = %card.approval, %error, "whether a card was read can't be told");
                Whole::NotOpened
            }
        }
    }
}
