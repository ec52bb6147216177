//! What the sequencer shows of itself: lines of a list, switches, debts, figures.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::call::gate::approval::{Approval, State};
use crate::domain::decision::Tier;
use crate::domain::name::{InvestigationId, PersonId, ServiceName, ToolName};
use crate::domain::plan::ApprovalId;
use crate::domain::run::Channel;
use crate::domain::visible::visible;

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

    /// How long an approval of this tier waits. A low one waits for nobody: it is used at once.
    pub(super) fn waits(&self, tier: Tier) -> SignedDuration {
        match tier {
            Tier::Low | Tier::Medium => self.medium,
            Tier::High => self.high,
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
    /// Whose that is, where it is a service's.
    #[serde(default)]
    pub service: Option<ServiceName>,
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

impl Listed {
    pub(super) fn of(approval: &Approval) -> Self {
        Self {
            approval: approval.id(),
            state: approval.state.clone(),
            tier: approval.plan.tier,
            tool: approval.plan.tool.clone(),
            target: visible(&approval.plan.target.name),
            service: approval.plan.target.service.clone(),
            effect: visible(&approval.plan.preview.effect),
            requester: approval.plan.run.requester.person.clone(),
            investigation: approval.plan.run.investigation.clone(),
            requested_at: approval.requested_at,
            expires_at: approval.expires_at,
            quorum: approval.quorum,
            approved: approval.approvers().map(|by| by.person.clone()).collect(),
        }
    }
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

/// A review that is owed, or was.
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
    /// Approvals that are complete and were not carried out, oldest first, with where they were asked for. Each may be,
    /// after everything has been checked again.
    pub approved: Vec<(ApprovalId, Channel)>,
}

/// From where on changes are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// A time; for the first look of a process.
    Time(Timestamp),
    /// The look before.
    Mark(Mark),
}

/// How far somebody has looked, in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(pub(super) u64);

/// What became of an approval, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// It waits for people.
    Open,
    /// People, or policy, said yes.
    Approved,
    /// A person said no.
    Denied,
    /// Nobody decided in time.
    Expired,
    /// It was taken back.
    Revoked,
    /// Another one stands in its place.
    Superseded,
}

impl Decision {
    pub(super) fn of(state: &State) -> Self {
        match state {
            State::Open => Self::Open,
            State::Approved { .. }
            | State::Consumed { .. }
            | State::Executed { .. }
            | State::NotExecuted { .. }
            | State::Unknown { .. } => Self::Approved,
            State::Denied { .. } => Self::Denied,
            State::Expired { .. } => Self::Expired,
            State::Revoked { .. } => Self::Revoked,
            State::Superseded { .. } => Self::Superseded,
        }
    }

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
            Self::Superseded => "superseded",
        }
    }
}

/// All approvals in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    /// How many there are, by tier and by what became of them.
    pub by: BTreeMap<(Tier, Decision), u64>,
    /// How people decide.
    pub figures: Figures,
}

/// Upper bounds of the times that decisions took, in seconds, as [`Figures::times`] counts them. Three seconds are what
/// nobody reads a card in, an hour is what the longest approval waits.
pub const DECISION_BOUNDS_S: [u32; 9] = [3, 10, 30, 60, 120, 300, 900, 1_800, 3_600];

/// How people decide, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// Approvals asked for.
    pub asked: u64,
    /// Decisions of people.
    pub decisions: u64,
    /// Of these, within three seconds of the card.
    pub hasty: u64,
    /// Seconds that people took in all.
    pub seconds: u64,
    /// Writes carried out.
    pub executed: u64,
    /// Decisions by the time that they took: each where the first of [`DECISION_BOUNDS_S`] is that it lies below or at, the
    /// last place for those beyond.
    #[serde(default)]
    pub times: [u64; DECISION_BOUNDS_S.len() + 1],
}

impl Figures {
    /// What one approval tells.
    pub(super) fn of(approval: &Approval) -> Self {
        let mut figures = Self::default();
        figures.count(approval);
        figures
    }

    /// Adds others.
    pub(super) fn add(&mut self, others: &Self) {
        self.asked += others.asked;
        self.decisions += others.decisions;
        self.hasty += others.hasty;
        self.seconds += others.seconds;
        self.executed += others.executed;
        for (mine, theirs) in self.times.iter_mut().zip(others.times) {
            *mine += theirs;
        }
    }

    fn count(&mut self, approval: &Approval) {
        self.asked += u64::from(approval.quorum > 0);
        for vote in &approval.votes {
            self.decided(vote.at.duration_since(approval.requested_at));
        }
        match approval.state {
            State::Denied { at, .. } => self.decided(at.duration_since(approval.requested_at)),
            State::Executed { .. } => self.executed += 1,
            State::Open
            | State::Approved { .. }
            | State::Expired { .. }
            | State::Revoked { .. }
            | State::Superseded { .. }
            | State::Consumed { .. }
            | State::NotExecuted { .. }
            | State::Unknown { .. } => {}
        }
    }

    fn decided(&mut self, took: SignedDuration) {
        self.decisions += 1;
        self.hasty += u64::from(took < SignedDuration::from_secs(3));
        self.seconds += u64::try_from(took.as_secs()).unwrap_or(0);
        let below = |bound: &u32| took <= SignedDuration::from_secs(i64::from(*bound));
        let place = DECISION_BOUNDS_S.iter().position(below).unwrap_or(DECISION_BOUNDS_S.len());
        if let Some(count) = self.times.get_mut(place) {
            *count += 1;
        }
    }

    /// The share of decisions within three seconds, from 0 to 1; none before there was one.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of decisions are small")]
    pub fn hasty_share(&self) -> Option<f64> {
        (self.decisions > 0).then(|| self.hasty as f64 / self.decisions as f64)
    }
}

#[cfg(test)]
mod tests;
