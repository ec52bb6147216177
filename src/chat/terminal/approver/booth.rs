//! Where a person's answers to one card are handed in: to the sequencer of this process, or to another one's socket.
//!
//! Whoever implements it says who the person is; what they say of themselves counts for nothing.

use async_trait::async_trait;
use warrant_kernel::call::gate::approval::Tally;
use warrant_kernel::call::gate::approver::Ballot;
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::objection::Objection;
use warrant_kernel::call::gate::vote::{Claim, Claimant, Whole};
use warrant_kernel::domain::name::PersonId;

/// Why an answer does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct Uncounted {
    /// For programs.
    pub code: String,
    /// For people.
    pub message: String,
}

impl From<Objection> for Uncounted {
    fn from(objection: Objection) -> Self {
        Self { code: objection.code().to_owned(), message: objection.to_string() }
    }
}

/// Where answers go.
#[async_trait]
pub trait Booth: Send + Sync {
    /// Who answers here.
    fn person(&self) -> &PersonId;

    /// The card as it is now.
    async fn card(&self) -> Result<Card, Uncounted>;

    /// Hands in a yes to the card that was shown.
    async fn approve(&self, shown: &Card, whole: Whole) -> Result<Tally, Uncounted>;

    /// Hands in a no.
    async fn deny(&self, shown: &Card, whole: Whole, reason: &str) -> Result<(), Uncounted>;

    /// Takes the second person's place.
    async fn break_glass(&self, shown: &Card, whole: Whole, reason: &str) -> Result<(), Uncounted>;
}

/// The sequencer of this process, and a person who is known.
pub struct AtHand<'a> {
    /// Where to.
    pub ballot: Ballot<'a>,
    /// Who.
    pub by: Claimant,
}

impl AtHand<'_> {
    fn claim(&self, shown: &Card, whole: Whole) -> Claim {
        Claim { by: self.by.clone(), revision: shown.revision, digest_prefix: shown.digest_prefix.clone(), whole }
    }
}

#[async_trait]
impl Booth for AtHand<'_> {
    fn person(&self) -> &PersonId {
        &self.by.person
    }

    async fn card(&self) -> Result<Card, Uncounted> {
        Ok(self.ballot.card().await?)
    }

    async fn approve(&self, shown: &Card, whole: Whole) -> Result<Tally, Uncounted> {
        Ok(self.ballot.vote(&self.claim(shown, whole)).await?)
    }

    async fn deny(&self, shown: &Card, whole: Whole, reason: &str) -> Result<(), Uncounted> {
        Ok(self.ballot.deny(&self.claim(shown, whole), reason).await?)
    }

    async fn break_glass(&self, shown: &Card, whole: Whole, reason: &str) -> Result<(), Uncounted> {
        Ok(self.ballot.break_glass(&self.claim(shown, whole), reason).await?)
    }
}
