//! The seam to people at hand: whoever can be asked while a call waits.

use async_trait::async_trait;

use crate::domain::plan::ApprovalId;

use super::approval::Tally;
use super::card::Card;
use super::objection::Objection;
use super::sequencer::Sequencer;
use super::vote::Claim;

/// Shows a card to people at hand and hands their answers in. It decides nothing: the gate looks at the approval after it.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Returns when people have answered, or when nobody is at hand; the approval stays open then and can be answered
    /// elsewhere.
    async fn attend(&self, card: &Card, ballot: &Ballot<'_>);
}

/// Nobody is at hand: what needs people waits for them.
pub struct Nobody;

#[async_trait]
impl Approver for Nobody {
    async fn attend(&self, _card: &Card, _ballot: &Ballot<'_>) {}
}

/// Where answers to one card are handed in.
#[derive(Clone, Copy)]
pub struct Ballot<'a> {
    sequencer: &'a Sequencer,
    approval: ApprovalId,
}

impl<'a> Ballot<'a> {
    /// For one approval.
    #[must_use]
    pub fn of(sequencer: &'a Sequencer, approval: ApprovalId) -> Self {
        Self { sequencer, approval }
    }

    /// The card as it is now.
    ///
    /// # Errors
    /// Where it can't be read.
    pub async fn card(&self) -> Result<Card, Objection> {
        self.sequencer.card(self.approval).await
    }

    /// Hands in a yes.
    ///
    /// # Errors
    /// Why it does not count.
    pub async fn vote(&self, claim: &Claim) -> Result<Tally, Objection> {
        self.sequencer.vote(self.approval, claim).await
    }

    /// Hands in a no.
    ///
    /// # Errors
    /// Why it does not count.
    pub async fn deny(&self, claim: &Claim, reason: &str) -> Result<(), Objection> {
        self.sequencer.deny(self.approval, claim, reason).await
    }

    /// Takes the second person's place, against a debt.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn break_glass(&self, claim: &Claim, reason: &str) -> Result<(), Objection> {
        self.sequencer.break_glass(self.approval, claim, reason).await
    }
}
