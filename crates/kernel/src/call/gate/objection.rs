//! Why what a person did about a write does not count, or why a write may not go on.

use crate::domain::name::PersonId;
use crate::domain::plan::ApprovalId;

use super::sequencer::tokens::Scope;

/// Why it does not count. The text is for the person; [`Objection::code`] is what scripts and the ledger go by.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Objection {
    /// There is no such approval.
    #[error("there is no approval {0}; `warrant approvals list` shows those there are")]
    NoSuch(ApprovalId),
    /// It was used: an approval is good for one write.
    #[error("{0} has been used: an approval is good for one write")]
    AlreadyConsumed(ApprovalId),
    /// Too late.
    #[error("{0} has expired; nothing was written, and the write would have to be asked for anew")]
    Expired(ApprovalId),
    /// Somebody said no.
    #[error("{approval} was denied by `{by}`; reopen it first, if it shall be asked again")]
    Denied {
        /// Which.
        approval: ApprovalId,
        /// Who.
        by: PersonId,
    },
    /// It was taken back.
    #[error("{approval} was revoked by `{by}`")]
    Revoked {
        /// Which.
        approval: ApprovalId,
        /// Who.
        by: PersonId,
    },
    /// What would happen has changed, and another approval stands in its place.
    #[error("{approval} was superseded by {by}, since what would happen has changed; look at that one")]
    Superseded {
        /// Which.
        approval: ApprovalId,
        /// By which.
        by: ApprovalId,
    },
    /// It waits for people still.
    #[error("{0} is not approved yet")]
    NotApproved(ApprovalId),
    /// Only what was denied can be reopened.
    #[error("{0} was not denied, so there is nothing to reopen")]
    NotDenied(ApprovalId),
    /// It has been approved already.
    #[error("{0} is approved already")]
    AlreadyApproved(ApprovalId),
    /// The card was of another plan.
    #[error("the digest is not that of {0}: another plan was shown, so the answer does not count")]
    PlanHashMismatch(ApprovalId),
    /// The card was of an older revision.
    #[error("{approval} is at revision {now}, and the card was at {shown}; look at it again")]
    StaleCard {
        /// Which.
        approval: ApprovalId,
        /// Its revision.
        now: u32,
        /// The revision of the card.
        shown: u32,
    },
    /// The whole was not opened.
    #[error("{0} is approved on the last page of the whole only: look through all of it first")]
    WholeNotOpened(ApprovalId),
    /// One's own request.
    #[error("`{0}` had a part in this write, so somebody else has to approve it")]
    SelfApproval(PersonId),
    /// Policy says no.
    #[error("`{person}` may not do this: {why}")]
    NotEligible {
        /// Who.
        person: PersonId,
        /// What policy said.
        why: String,
    },
    /// No such person.
    #[error("`{0}` is no person of the config")]
    NoSuchPerson(PersonId),
    /// A bot or an app.
    #[error("`{0}` is not a human being, and only people decide about writes")]
    NotHuman(PersonId),
    /// Someone who left.
    #[error("`{0}` is no longer active")]
    NotActive(PersonId),
    /// Two persons, one account.
    #[error("`{first}` answered from the same account ({proof}); one account gives one vote")]
    SameAccount {
        /// Who answered before.
        first: PersonId,
        /// The account.
        proof: String,
    },
    /// The same person again.
    #[error("`{0}` has voted already; one person gives one vote")]
    AlreadyVoted(PersonId),
    /// Nobody can say who is who.
    #[error("who may decide could not be found out, so nobody may: {0}")]
    DirectoryFailed(String),
    /// A token that proves nobody.
    #[error("that token proves nobody: it was never made here, or it was revoked")]
    NoToken,
    /// A token that is not good for this.
    #[error("the token {token} is not good for `{scope}`; have one made that is: `warrant token new --scope {scope}`")]
    OutOfScope {
        /// Its id.
        token: String,
        /// For what.
        scope: Scope,
    },
    /// The proof is not good for this.
    #[error("a person of the demo decides in the demo only")]
    DemoOnly,
    /// Words are missing.
    #[error("say why: a reason is needed for this")]
    NoReason,
    /// Writes are stopped.
    #[error("writes are stopped (by `{by}`: {reason}); `warrant stop-writes --lift` lets them go on")]
    WritesStopped {
        /// Who stopped them.
        by: String,
        /// Why.
        reason: String,
    },
    /// They were not stopped, or have been already.
    #[error("writes are {0} already")]
    SwitchedAlready(&'static str),
    /// There is no debt of this kind.
    #[error("{0} owes no review")]
    NoDebt(ApprovalId),
    /// The one who broke the glass can't review it.
    #[error("`{0}` broke the glass, so somebody else has to review it")]
    OwnDebt(PersonId),
    /// The outcome is known.
    #[error("what became of {0} is known, so there is nothing to resolve")]
    NotUnknown(ApprovalId),
    /// The ledger can't take the record.
    #[error("the ledger could not take the record, so nothing has happened: {0}")]
    Ledger(String),
}

impl Objection {
    /// The stable word for it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSuch(_) => "NO_SUCH_APPROVAL",
            Self::AlreadyConsumed(_) => "ALREADY_CONSUMED",
            Self::Expired(_) => "EXPIRED",
            Self::Denied { .. } => "DENIED",
            Self::Revoked { .. } => "REVOKED",
            Self::Superseded { .. } => "SUPERSEDED",
            Self::NotApproved(_) => "NOT_APPROVED",
            Self::NotDenied(_) => "NOT_DENIED",
            Self::AlreadyApproved(_) => "ALREADY_APPROVED",
            Self::PlanHashMismatch(_) => "PLAN_HASH_MISMATCH",
            Self::StaleCard { .. } => "STALE_CARD",
            Self::WholeNotOpened(_) => "WHOLE_NOT_OPENED",
            Self::SelfApproval(_) => "SELF_APPROVAL",
            Self::NotEligible { .. } => "NOT_ELIGIBLE",
            Self::NoSuchPerson(_) => "NO_SUCH_PERSON",
            Self::NotHuman(_) => "NOT_HUMAN",
            Self::NotActive(_) => "NOT_ACTIVE",
            Self::SameAccount { .. } => "SAME_ACCOUNT",
            Self::AlreadyVoted(_) => "ALREADY_VOTED",
            Self::DirectoryFailed(_) => "DIRECTORY_FAILED",
            Self::NoToken => "NO_TOKEN",
            Self::OutOfScope { .. } => "OUT_OF_SCOPE",
            Self::DemoOnly => "DEMO_ONLY",
            Self::NoReason => "NO_REASON",
            Self::WritesStopped { .. } => "WRITES_STOPPED",
            Self::SwitchedAlready(_) => "SWITCHED_ALREADY",
            Self::NoDebt(_) => "NO_DEBT",
            Self::OwnDebt(_) => "OWN_DEBT",
            Self::NotUnknown(_) => "NOT_UNKNOWN",
            Self::Ledger(_) => "LEDGER_UNAVAILABLE",
        }
    }
}
