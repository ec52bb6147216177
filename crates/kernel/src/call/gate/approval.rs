//! The durable request for people's votes on one plan, as a state machine without I/O.
//!
//! Each function takes the approval as it was read and changes it only where the change is lawful; whoever calls writes
//! the result over the revision that was read, or not at all. Who is eligible is asked outside; what is refused here is
//! refused whoever asks: a vote on another card, a second vote of one person or one account, anything after the end.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::decision::Tier;
use crate::domain::name::PersonId;
use crate::domain::plan::{ApprovalId, Plan};

use crate::call::write::Held;

use super::deed::Aftermath;
use super::exhibit::Exhibit;
use super::objection::Objection;
use super::plan::PlanKey;
use super::vote::{Claim, Claimant, Proof, Vote, Whole};

/// Where an approval stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum State {
    /// It waits for people.
    Open,
    /// Enough people said yes, or policy asks nobody. It can be revoked until it is consumed.
    Approved {
        /// Since when.
        at: Timestamp,
    },
    /// A person said no.
    Denied {
        /// Who.
        by: PersonId,
        /// Why.
        reason: String,
        /// When.
        at: Timestamp,
    },
    /// Nobody decided, or nobody used it, in time.
    Expired {
        /// Since when.
        at: Timestamp,
    },
    /// It was taken back before it was used.
    Revoked {
        /// By whom.
        by: PersonId,
        /// Why.
        reason: String,
        /// When.
        at: Timestamp,
    },
    /// What would happen has changed, so people are asked anew.
    Superseded {
        /// The approval in its place.
        by: ApprovalId,
        /// When.
        at: Timestamp,
    },
    /// It is used: the intent is in the ledger, the outcome is not yet.
    Consumed {
        /// When.
        at: Timestamp,
    },
    /// The write was done.
    Executed {
        /// When.
        at: Timestamp,
        /// Whether it brought about what it was for; none where nobody looked.
        verified: Option<Held>,
    },
    /// The write was not done.
    NotExecuted {
        /// When that was clear.
        at: Timestamp,
        /// Why.
        because: String,
    },
    /// Whether the write took effect is not known.
    Unknown {
        /// Since when.
        at: Timestamp,
        /// Why.
        because: String,
    },
}

impl State {
    /// The word for it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved { .. } => "approved",
            Self::Denied { .. } => "denied",
            Self::Expired { .. } => "expired",
            Self::Revoked { .. } => "revoked",
            Self::Superseded { .. } => "superseded",
            Self::Consumed { .. } => "consumed",
            Self::Executed { .. } => "executed",
            Self::NotExecuted { .. } => "not_executed",
            Self::Unknown { .. } => "unknown",
        }
    }
}

/// One person instead of two, against a debt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenGlass {
    /// Who broke it.
    pub by: Claimant,
    /// Why.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

/// A request for votes on one plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Approval {
    pub(crate) plan: Plan,
    /// The key of the plan's digest. It never leaves the store.
    pub(crate) key: PlanKey,
    /// What people are shown beside the plan.
    pub(crate) exhibit: Exhibit,
    /// How many persons it takes.
    pub(crate) quorum: u32,
    /// Whether a vote needs the whole opened.
    pub(crate) needs_whole: bool,
    pub(crate) requested_at: Timestamp,
    pub(crate) expires_at: Timestamp,
    /// The revision of the card: raised when people are asked anew about the same plan.
    pub(crate) revision: u32,
    pub(crate) votes: Vec<Vote>,
    pub(crate) glass: Option<BrokenGlass>,
    pub(crate) state: State,
    /// Once it was done.
    #[serde(default)]
    pub(crate) aftermath: Option<Aftermath>,
}

/// What a vote came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tally {
    /// It counted; more persons are needed.
    Counted {
        /// How many there are.
        have: u32,
        /// How many it takes.
        need: u32,
    },
    /// It was the last one needed.
    Approved,
}

impl Approval {
    pub(crate) fn id(&self) -> ApprovalId {
        self.plan.id
    }

    /// Whether its time is up. At the very moment of its end it is.
    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        now >= self.expires_at
    }

    /// Whether people could still decide on it or it could still be used.
    pub(crate) fn is_waiting(&self) -> bool {
        match self.state {
            State::Open | State::Approved { .. } => true,
            State::Denied { .. }
            | State::Expired { .. }
            | State::Revoked { .. }
            | State::Superseded { .. }
            | State::Consumed { .. }
            | State::Executed { .. }
            | State::NotExecuted { .. }
            | State::Unknown { .. } => false,
        }
    }

    /// Whether a person had a part in the write.
    pub(crate) fn has_part(&self, person: &PersonId) -> bool {
        self.plan.run.requester.person == *person || self.plan.contributors.contains(person)
    }

    /// Refuses what comes after the end.
    fn waiting(&self, now: Timestamp) -> Result<(), Objection> {
        let id = self.id();
        match &self.state {
            State::Open | State::Approved { .. } if self.is_over(now) => Err(Objection::Expired(id)),
            State::Open | State::Approved { .. } => Ok(()),
            State::Denied { by, .. } => Err(Objection::Denied { approval: id, by: by.clone() }),
            State::Expired { .. } => Err(Objection::Expired(id)),
            State::Revoked { by, .. } => Err(Objection::Revoked { approval: id, by: by.clone() }),
            State::Superseded { by, .. } => Err(Objection::Superseded { approval: id, by: *by }),
            State::Consumed { .. } | State::Executed { .. } | State::NotExecuted { .. } | State::Unknown { .. } => {
                Err(Objection::AlreadyConsumed(id))
            }
        }
    }

    /// Refuses what was said of another card.
    fn same_card(&self, claim: &Claim) -> Result<(), Objection> {
        if claim.digest_prefix != self.plan.digest.prefix() {
            return Err(Objection::PlanHashMismatch(self.id()));
        }
        if claim.revision != self.revision {
            return Err(Objection::StaleCard { approval: self.id(), now: self.revision, shown: claim.revision });
        }
        Ok(())
    }

    fn proof_fits(&self, by: &Claimant) -> Result<(), Objection> {
        match by.proof {
            Proof::Uid(_) | Proof::Token(_) | Proof::Slack { .. } => Ok(()),
            Proof::Demo if self.plan.run.channel == crate::domain::run::Channel::Demo => Ok(()),
            Proof::Demo => Err(Objection::DemoOnly),
        }
    }

    /// What holds for every answer to a card, whatever it says.
    pub(crate) fn admits(&self, claim: &Claim, now: Timestamp) -> Result<(), Objection> {
        self.waiting(now)?;
        self.same_card(claim)?;
        self.proof_fits(&claim.by)
    }

    /// What holds for everything a person does about it otherwise.
    pub(crate) fn admits_person(&self, by: &Claimant) -> Result<(), Objection> {
        self.proof_fits(by)
    }

    /// Adds a vote of an eligible person.
    pub(crate) fn vote(&mut self, claim: &Claim, groups: Vec<String>, now: Timestamp) -> Result<Tally, Objection> {
        self.admits(claim, now)?;
        if let State::Approved { .. } = self.state {
            return Err(Objection::AlreadyApproved(self.id()));
        }
        if self.plan.tier == Tier::High && self.has_part(&claim.by.person) {
            return Err(Objection::SelfApproval(claim.by.person.clone()));
        }
        if self.needs_whole && claim.whole == Whole::NotOpened {
            return Err(Objection::WholeNotOpened(self.id()));
        }
        self.one_each(&claim.by)?;
        self.votes.push(Vote { by: claim.by.clone(), groups, whole: claim.whole, at: now });
        Ok(self.tally(now))
    }

    /// One person, one vote; and one account, one vote, whoever is said to be behind it.
    fn one_each(&self, by: &Claimant) -> Result<(), Objection> {
        for vote in &self.votes {
            if vote.by.person == by.person {
                return Err(Objection::AlreadyVoted(by.person.clone()));
            }
            if vote.by.proof == by.proof && by.proof != Proof::Demo {
                return Err(Objection::SameAccount { first: vote.by.person.clone(), proof: by.proof.to_string() });
            }
        }
        Ok(())
    }

    /// Counts the votes, and says what that comes to.
    fn tally(&mut self, now: Timestamp) -> Tally {
        let have = u32::try_from(self.votes.len()).unwrap_or(u32::MAX);
        if have >= self.quorum.max(1) {
            self.state = State::Approved { at: now };
            return Tally::Approved;
        }
        Tally::Counted { have, need: self.quorum }
    }

    /// An eligible person takes the second person's place.
    pub(crate) fn break_glass(
        &mut self,
        claim: &Claim,
        reason: &str,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<(), Objection> {
        self.admits(claim, now)?;
        if let State::Approved { .. } = self.state {
            return Err(Objection::AlreadyApproved(self.id()));
        }
        if self.needs_whole && claim.whole == Whole::NotOpened {
            return Err(Objection::WholeNotOpened(self.id()));
        }
        said(reason)?;
        self.glass = Some(BrokenGlass { by: claim.by.clone(), reason: reason.to_owned(), at: now });
        self.expires_at = self.expires_at.min(until);
        self.state = State::Approved { at: now };
        Ok(())
    }

    /// A no. It wins over every yes, until the write has begun.
    pub(crate) fn deny(&mut self, claim: &Claim, reason: &str, now: Timestamp) -> Result<(), Objection> {
        self.admits(claim, now)?;
        said(reason)?;
        self.state = State::Denied { by: claim.by.person.clone(), reason: reason.to_owned(), at: now };
        Ok(())
    }

    /// Takes it back. Possible until it is consumed.
    pub(crate) fn revoke(&mut self, by: &Claimant, reason: &str, now: Timestamp) -> Result<(), Objection> {
        self.waiting(now)?;
        said(reason)?;
        self.state = State::Revoked { by: by.person.clone(), reason: reason.to_owned(), at: now };
        Ok(())
    }

    /// Asks the same again after a denial, with a card of its own.
    pub(crate) fn reopen(&mut self, reason: &str, until: Timestamp, now: Timestamp) -> Result<(), Objection> {
        let State::Denied { .. } = self.state else {
            self.waiting(now)?;
            return Err(Objection::NotDenied(self.id()));
        };
        said(reason)?;
        self.revision = self.revision.saturating_add(1);
        self.votes.clear();
        self.glass = None;
        self.requested_at = now;
        self.expires_at = until;
        self.state = State::Open;
        Ok(())
    }

    /// Ends it where its time is up; says whether it did.
    pub(crate) fn expire(&mut self, now: Timestamp) -> bool {
        let over = self.is_waiting() && self.is_over(now);
        if over {
            self.state = State::Expired { at: now };
        }
        over
    }

    /// Takes votes back that no longer stand; says whether people have to be asked again.
    pub(crate) fn strike(&mut self, fallen: &[PersonId]) -> bool {
        self.votes.retain(|vote| !fallen.contains(&vote.by.person));
        if self.glass.as_ref().is_some_and(|glass| fallen.contains(&glass.by.person)) {
            self.glass = None;
        }
        let have = u32::try_from(self.votes.len()).unwrap_or(u32::MAX);
        let stands = self.plan.tier == Tier::Low || self.glass.is_some() || have >= self.quorum.max(1);
        if !stands && matches!(self.state, State::Approved { .. }) {
            self.state = State::Open;
        }
        !stands
    }

    /// Another approval stands in its place.
    pub(crate) fn supersede(&mut self, by: ApprovalId, now: Timestamp) -> Result<(), Objection> {
        self.waiting(now)?;
        self.state = State::Superseded { by, at: now };
        Ok(())
    }

    /// Whether it may be used now.
    pub(crate) fn is_usable(&self, now: Timestamp) -> Result<(), Objection> {
        self.waiting(now)?;
        if let State::Approved { .. } = self.state { Ok(()) } else { Err(Objection::NotApproved(self.id())) }
    }

    /// Uses it up. From here on it can be neither revoked nor used again.
    pub(crate) fn consume(&mut self, now: Timestamp) -> Result<(), Objection> {
        self.is_usable(now)?;
        self.state = State::Consumed { at: now };
        Ok(())
    }

    /// Everybody whose word the approval rests on.
    pub(crate) fn approvers(&self) -> impl Iterator<Item = &Claimant> {
        let votes = self.votes.iter().map(|vote| &vote.by);
        votes.chain(self.glass.iter().map(|glass| &glass.by))
    }
}

/// A reason must say something.
pub(crate) fn said(reason: &str) -> Result<(), Objection> {
    if reason.chars().filter(|c| c.is_alphanumeric()).count() < 3 {
        return Err(Objection::NoReason);
    }
    Ok(())
}

#[cfg(test)]
pub(in crate::call::gate) mod tests;
