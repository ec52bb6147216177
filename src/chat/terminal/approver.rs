//! Asks the people at this terminal about a write.
//!
//! It decides nothing: it shows the card, hands in what people answer, and returns when the approval is decided or left to
//! others. Approve is offered where the card offers it, at the high tier after the last page of the whole.

pub mod booth;

pub mod talk;

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::Mutex;
use warrant_kernel::call::gate::approver::{Approver, Ballot};
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::vote::Claimant;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::plan::ApprovalId;

use super::card;
use super::keyboard::Keyboard;
use super::progress::Progress;
use super::sheet::Sheet;
use super::style::Role;
use booth::AtHand;
use talk::Talk;

/// Approvals that a call of this process waits for: it carries them out itself once they are approved.
#[derive(Debug, Clone, Default)]
pub struct Attended(Arc<StdMutex<BTreeSet<ApprovalId>>>);

impl Attended {
    /// Whether one is waited for.
    #[must_use]
    pub fn holds(&self, id: ApprovalId) -> bool {
        self.ids().contains(&id)
    }

    fn ids(&self) -> MutexGuard<'_, BTreeSet<ApprovalId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, id: ApprovalId) -> Attending<'_> {
        self.ids().insert(id);
        Attending(self, id)
    }
}

/// One that is waited for, until this is dropped.
struct Attending<'a>(&'a Attended, ApprovalId);

impl Drop for Attending<'_> {
    fn drop(&mut self) {
        self.0.ids().remove(&self.1);
    }
}

/// People at this terminal, or a script in their place.
pub struct TerminalApprover<W> {
    screen: Arc<Progress<W>>,
    keyboard: Mutex<Box<dyn Keyboard>>,
    /// Who is here: one person, or in the demo the one who asks and then the one who reviews.
    present: Vec<Claimant>,
    clock: Arc<dyn Clock>,
    rows: usize,
    attended: Attended,
}

impl<W: Write + Send> TerminalApprover<W> {
    /// With pages of so many lines. Nobody present is asked nothing.
    pub fn new(
        screen: Arc<Progress<W>>,
        keyboard: Box<dyn Keyboard>,
        present: Vec<Claimant>,
        clock: Arc<dyn Clock>,
        rows: usize,
    ) -> Self {
        Self { screen, keyboard: Mutex::new(keyboard), present, clock, rows, attended: Attended::default() }
    }

    /// What it is asking about; for whoever else would carry it out.
    #[must_use]
    pub fn attended(&self) -> Attended {
        self.attended.clone()
    }

    /// Who answers a card: at the high tier somebody without a part in it, if one is here.
    fn voter(&self, card: &Card) -> Option<&Claimant> {
        let other = self.present.iter().find(|one| !card.electorate.contributors.contains(&one.person));
        match card.tier {
            Tier::High => other.or(self.present.first()),
            Tier::Low | Tier::Medium => self.present.first(),
        }
    }
}

#[async_trait]
impl<W: Write + Send> Approver for TerminalApprover<W> {
    async fn attend(&self, card: &Card, ballot: &Ballot<'_>) {
        let Some(by) = self.voter(card) else { return };
        let _attending = self.attended.begin(card.approval);
        let mut keyboard = self.keyboard.lock().await;
        let booth = AtHand { ballot: *ballot, by: by.clone() };
        let talk = Talk {
            held: self.screen.hold(),
            keyboard: keyboard.as_mut(),
            booth: &booth,
            clock: self.clock.as_ref(),
            rows: self.rows,
        };
        if self.present.len() > 1 {
            let mut sheet = Sheet::new(talk.held.paint(), talk.held.columns());
            sheet.gap();
            sheet.say(Some(Role::Careful), &format!("This one is for {}.", by.person));
            talk.held.show(&sheet.into_text());
        }
        // Where it stands the gate reads from the approval itself.
        talk.about(card.clone()).await;
    }
}

/// Nobody is at this terminal: says that a write waits, and how it is decided.
pub struct Absent<W> {
    screen: Arc<Progress<W>>,
}

impl<W: Write + Send> Absent<W> {
    /// Says so here.
    pub fn new(screen: Arc<Progress<W>>) -> Self {
        Self { screen }
    }
}

#[async_trait]
impl<W: Write + Send> Approver for Absent<W> {
    async fn attend(&self, card: &Card, _ballot: &Ballot<'_>) {
        let held = self.screen.hold();
        let mut sheet = Sheet::new(held.paint(), held.columns());
        let (id, until) = (card.approval, card::clock(card.expires_at));
        sheet.say(Some(Role::Careful), &format!("{id} waits for a person until {until}: {}", card.effect));
        sheet.say(None, &format!("warrant approvals show {id}"));
        held.show(&sheet.into_text());
    }
}

#[cfg(test)]
mod tests;
