//! The sequencer: the one place in a process where approvals change and warrants are granted.
//!
//! One per process, and one process at a time: whoever holds the lease of the ledger. Everything a person does comes in as
//! a claim and is checked here; every change is one commit with the record that tells of it.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::domain::decision::Tier;
use crate::domain::name::{InvestigationId, PersonId, ToolName};
use crate::domain::plan::ApprovalId;

use super::approval::{State, Tally};
use super::card::Card;
use super::deed::{Deed, Halt};
use super::objection::Objection;
use super::vote::{Claim, Claimant};

/// How long approvals hold and how often may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long a medium approval waits.
    pub medium: SignedDuration,
    /// How long a high one waits.
    pub high: SignedDuration,
    /// How long a broken glass holds.
    pub break_glass: SignedDuration,
    /// How often one investigation may ask people.
    pub asks: usize,
    /// How many low writes may be done within `low_window`; more become medium.
    pub low_writes: usize,
    /// The window of `low_writes`.
    pub low_window: SignedDuration,
}

impl Limits {
    /// 30 and 60 minutes, 10 for a broken glass; 5 asks; 20 low writes in 10 minutes.
    #[must_use]
    pub fn standard() -> Self {
        Self {
            medium: SignedDuration::from_mins(30),
            high: SignedDuration::from_mins(60),
            break_glass: SignedDuration::from_mins(10),
            asks: 5,
            low_writes: 20,
            low_window: SignedDuration::from_mins(10),
        }
    }
}

/// One line of `approvals list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Which.
    pub approval: ApprovalId,
    /// Where it stands.
    pub state: State,
    /// The tier.
    pub tier: Tier,
    /// The tool.
    pub tool: ToolName,
    /// What it changes; made visible.
    pub target: String,
    /// What it would do; made visible.
    pub effect: String,
    /// For whom.
    pub requester: PersonId,
    /// Which investigation.
    pub investigation: InvestigationId,
    /// Since when.
    pub requested_at: Timestamp,
    /// Until when.
    pub expires_at: Timestamp,
    /// How many persons it takes.
    pub quorum: u32,
    /// Who approved so far.
    pub approved: Vec<PersonId>,
}

/// Writes are stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// By whom.
    pub by: PersonId,
    /// Why.
    pub reason: String,
    /// Since when.
    pub at: Timestamp,
}

/// A review that is still owed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Debt {
    /// For which approval.
    pub approval: ApprovalId,
    /// Who broke the glass.
    pub by: PersonId,
    /// Why.
    pub reason: String,
    /// When.
    pub at: Timestamp,
    /// Who reviewed it, once somebody has, and what they found.
    pub reviewed: Option<Reviewed>,
}

/// A review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reviewed {
    /// By whom.
    pub by: PersonId,
    /// What they found.
    pub finding: String,
    /// When.
    pub at: Timestamp,
}

/// What a person found out about a write whose outcome was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Did {
    /// It took effect.
    Did,
    /// It did not.
    DidNot,
}

/// What was found when the sequencer was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swept {
    /// Writes whose outcome was lost, with where they stand now: settled by a look, or unknown.
    pub orphans: Vec<(ApprovalId, State)>,
    /// Approvals whose time was up.
    pub expired: Vec<ApprovalId>,
}

/// How people decide, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Decisions of people.
    pub decisions: u64,
    /// Of these, within three seconds of the card.
    pub hasty: u64,
    /// Seconds that people took in all.
    pub seconds: u64,
    /// Approvals asked for.
    pub asked: u64,
    /// Writes carried out.
    pub executed: u64,
}

/// The one writer of approvals.
pub struct Sequencer {
    limits: Limits,
}

impl Sequencer {
    /// What people are shown of one approval.
    ///
    /// # Errors
    /// [`Objection::NoSuch`]; [`Objection::Ledger`] where it can't be read.
    pub async fn card(&self, id: ApprovalId) -> Result<Card, Objection> {
        Err(Objection::NoSuch(id))
    }

    /// All approvals, newest first.
    ///
    /// # Errors
    /// [`Objection::Ledger`] where they can't be read.
    pub async fn list(&self) -> Result<Vec<Listed>, Objection> {
        Ok(Vec::new())
    }

    /// Hands in a yes.
    ///
    /// # Errors
    /// Why it does not count.
    pub async fn vote(&self, id: ApprovalId, _claim: &Claim) -> Result<Tally, Objection> {
        Err(Objection::NoSuch(id))
    }

    /// Hands in a no, which wins.
    ///
    /// # Errors
    /// Why it does not count.
    pub async fn deny(&self, id: ApprovalId, _claim: &Claim, _reason: &str) -> Result<(), Objection> {
        Err(Objection::NoSuch(id))
    }

    /// Takes an approval back before it is used.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn revoke(&self, id: ApprovalId, _by: &Claimant, _reason: &str) -> Result<(), Objection> {
        Err(Objection::NoSuch(id))
    }

    /// Lets a denied write be asked for again, with a card of a new revision.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn reopen(&self, id: ApprovalId, _by: &Claimant, _reason: &str) -> Result<(), Objection> {
        Err(Objection::NoSuch(id))
    }

    /// Takes the second person's place, against a debt.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn break_glass(&self, id: ApprovalId, _claim: &Claim, _reason: &str) -> Result<(), Objection> {
        Err(Objection::NoSuch(id))
    }

    /// Settles the debt of a broken glass.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn review(&self, id: ApprovalId, _by: &Claimant, _finding: &str) -> Result<(), Objection> {
        Err(Objection::NoSuch(id))
    }

    /// Reviews that are owed.
    ///
    /// # Errors
    /// [`Objection::Ledger`] where they can't be read.
    pub async fn debts(&self) -> Result<Vec<Debt>, Objection> {
        Ok(Vec::new())
    }

    /// Stops all writes, durably.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn stop_writes(&self, _by: &Claimant, _reason: &str) -> Result<(), Objection> {
        Err(Objection::SwitchedAlready("stopped"))
    }

    /// Lets writes go on.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn lift_stop(&self, _by: &Claimant, _reason: &str) -> Result<(), Objection> {
        Err(Objection::SwitchedAlready("allowed"))
    }

    /// Who stopped writes, if they are stopped.
    ///
    /// # Errors
    /// [`Objection::Ledger`] where it can't be read; writes count as stopped then.
    pub async fn stopped(&self) -> Result<Option<Stopped>, Objection> {
        Ok(None)
    }

    /// Says what became of a write whose outcome was lost.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn resolve(&self, id: ApprovalId, _by: &Claimant, _did: Did, _reason: &str) -> Result<(), Objection> {
        Err(Objection::NoSuch(id))
    }

    /// Ends the approvals whose time is up.
    ///
    /// # Errors
    /// [`Objection::Ledger`].
    pub async fn expire(&self) -> Result<Vec<ApprovalId>, Objection> {
        Ok(Vec::new())
    }

    /// Carries out an approved write, after everything has been checked again. For approvals whose call is gone.
    ///
    /// # Errors
    /// Why it was not begun.
    pub async fn execute(&self, id: ApprovalId) -> Result<Deed, Halt> {
        let objection = Objection::NoSuch(id);
        let (status, code) = (crate::domain::result::Status::Error, crate::domain::result::ErrorCode::InvalidArguments);
        Err(Halt::new(status, code, objection.code(), objection.to_string()))
    }

    /// Looks after what an earlier process left: to be called once, before anything else.
    ///
    /// # Errors
    /// [`Objection::Ledger`].
    pub async fn sweep(&self) -> Result<Swept, Objection> {
        Ok(Swept::default())
    }

    /// How people decide, since this process began.
    #[must_use]
    pub fn figures(&self) -> Figures {
        Figures::default()
    }

    /// The limits in force.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }
}
