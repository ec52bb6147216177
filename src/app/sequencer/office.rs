//! Answers what other processes, and the commands of this one, ask of the sequencer.
//!
//! Who asks is told by the kernel (the peer's user) or by a token; whatever a request says of itself counts for nothing.
//! What was approved while nobody waited for it is carried out here, and what an earlier process left approved.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::json;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use warrant_kernel::call::gate::approval::{State, Tally};
use warrant_kernel::call::gate::objection::Objection;
use warrant_kernel::call::gate::sequencer::Sequencer;
use warrant_kernel::call::gate::sequencer::tokens::{Issuer, Scope};
use warrant_kernel::call::gate::vote::{Claim, Claimant, Proof};
use warrant_kernel::domain::name::PersonId;
use warrant_kernel::domain::plan::ApprovalId;
use warrant_kernel::ledger::seal::{Sealed, Sealing};

use super::socket::Peer;
use super::wire::{Answer, Ask, Counted, Overview, Refused, Seen, Shown, Then};
use crate::chat::terminal::approver::Attended;

/// Whom the config takes a user of this machine for.
pub type Users = Arc<dyn Fn(u32) -> BoxFuture<'static, Option<PersonId>> + Send + Sync>;

/// What an office is made of.
pub struct Parts {
    /// The one writer of approvals.
    pub sequencer: Arc<Sequencer>,
    /// Who is who on this machine.
    pub users: Users,
    /// The user whom the store belongs to.
    pub owner: u32,
    /// Approvals that a call of this process waits for.
    pub attended: Attended,
}

/// How many of the newest approvals are listed, beside those that somebody still has something to do about.
const MOST_LISTED: usize = 1_000;

/// Most approvals of which it is remembered why they were not carried out; the oldest go first.
const MOST_HALTED: usize = 1_000;

/// Why something can't be done just now and may be a moment later: who is who can't be told, or another write on the same
/// target is not settled.
const PASSING: [&str; 2] = ["DIRECTORY_FAILED", "TARGET_BUSY"];

/// The first wait before what an earlier process left is tried again, and the longest.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// See [`FIRST_WAIT`].
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What an attempt came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    /// It was done, or is up to people again.
    ToAnEnd,
    /// What stood in the way may pass.
    ToNothingYet,
}

/// The sequencer of this process, as it is asked for things.
pub struct Office {
    parts: Parts,
    /// Why what was approved was not carried out.
    halted: Mutex<BTreeMap<ApprovalId, String>>,
    /// What is being carried out here.
    flying: Mutex<BTreeSet<ApprovalId>>,
    tasks: TaskTracker,
    /// Fired when nothing more is tried again.
    closing: CancellationToken,
}

impl Office {
    /// Opens for asking.
    #[must_use]
    pub fn new(parts: Parts) -> Arc<Self> {
        Arc::new(Self {
            parts,
            halted: Mutex::default(),
            flying: Mutex::default(),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
        })
    }

    /// The one writer of approvals.
    #[must_use]
    pub fn sequencer(&self) -> &Sequencer {
        &self.parts.sequencer
    }

    /// Waits until everything that was begun here has ended.
    pub async fn close(&self) {
        self.closing.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Answers one request.
    pub async fn answer(self: Arc<Self>, peer: Peer, token: Option<String>, ask: Ask) -> Answer {
        match self.carry_out(peer, token.as_deref(), ask).await {
            Ok(done) => done,
            Err(refused) => Answer::Refused(refused),
        }
    }

    async fn carry_out(self: &Arc<Self>, peer: Peer, token: Option<&str>, ask: Ask) -> Result<Answer, Refused> {
        let sequencer = &self.parts.sequencer;
        // Revoking a token and making one is all that somebody may do who is no person: the operator.
        let by = match &ask {
            Ask::TokenNew { .. } | Ask::TokenList | Ask::TokenRevoke { .. } => {
                let issuer = self.issuer(peer, token).await?;
                return self.tokens(&issuer, ask).await;
            }
            Ask::List | Ask::Show { .. } if token.is_none() && self.is_operator(peer).await => None,
            Ask::List | Ask::Show { .. } => Some(self.claimant(peer, token, Some(Scope::Read)).await?),
            Ask::Who => Some(self.claimant(peer, token, None).await?),
            _ => Some(self.claimant(peer, token, Some(Scope::Approve)).await?),
        };
        let Some(by) = by else { return self.look(ask).await };
        match ask {
            Ask::List | Ask::Show { .. } | Ask::TokenNew { .. } | Ask::TokenList | Ask::TokenRevoke { .. } => {
                self.look(ask).await
            }
            Ask::Who => done(&by.person),
            Ask::Approve { seen } => {
                let voted = sequencer.vote(seen.approval, &claim(by, &seen)).await;
                done(&self.counted(seen.approval, voted).await?)
            }
            Ask::BreakGlass { seen, reason } => {
                let broken = sequencer.break_glass(seen.approval, &claim(by, &seen), &reason).await;
                done(&self.counted(seen.approval, broken.map(|()| Tally::Approved)).await?)
            }
            Ask::Deny { seen, reason } => {
                done(&sequencer.deny(seen.approval, &claim(by, &seen), &reason).await.map_err(refused)?)
            }
            Ask::Revoke { approval, reason } => done(&sequencer.revoke(approval, &by, &reason).await.map_err(refused)?),
            Ask::Reopen { approval, reason } => done(&sequencer.reopen(approval, &by, &reason).await.map_err(refused)?),
            Ask::Review { approval, note } => done(&sequencer.review(approval, &by, &note).await.map_err(refused)?),
            Ask::Stop { reason } => done(&sequencer.stop_writes(&by, &reason).await.map_err(refused)?),
            Ask::Lift { reason } => done(&sequencer.lift_stop(&by, &reason).await.map_err(refused)?),
            Ask::Seal { record, fields, reason } => {
                let sealing = Sealing { seq: record, fields, reason };
                match sequencer.seal(&by, &sealing).await.map_err(refused)? {
                    Sealed::Waits => done(&None::<u64>),
                    Sealed::Done(by) => done(&Some(by)),
                }
            }
            Ask::Resolve { approval, did, reason } => {
                done(&sequencer.resolve(approval, &by, did, &reason).await.map_err(refused)?)
            }
        }
    }

    async fn look(&self, ask: Ask) -> Result<Answer, Refused> {
        let sequencer = &self.parts.sequencer;
        let Ask::Show { approval } = ask else {
            let approvals = sequencer.list(MOST_LISTED).await.map_err(refused)?;
            let earlier = u64::try_from(sequencer.total().saturating_sub(approvals.len())).unwrap_or(u64::MAX);
            let stopped = sequencer.stopped().await.map_err(refused)?;
            let reviews = sequencer.debts().await.map_err(refused)?;
            let figures = sequencer.counted().figures;
            return done(&Overview { approvals, earlier, stopped, reviews, figures });
        };
        // In this order: what has just ended has told why before it is no longer under way.
        let under_way = self.flying.lock().unwrap_or_else(PoisonError::into_inner).contains(&approval);
        let card = sequencer.card(approval).await.map_err(refused)?;
        let halted = self.halted.lock().unwrap_or_else(PoisonError::into_inner).get(&approval).cloned();
        done(&Shown { card, under_way, halted })
    }

    async fn tokens(&self, by: &Issuer, ask: Ask) -> Result<Answer, Refused> {
        let sequencer = &self.parts.sequencer;
        match ask {
            Ask::TokenNew { person, scopes } => {
                done(&sequencer.issue_token(&person, &scopes, by).await.map_err(refused)?)
            }
            Ask::TokenRevoke { id } => done(&sequencer.revoke_token(&id, by).await.map_err(refused)?),
            _ => {
                let mut tokens = sequencer.tokens().await.map_err(refused)?;
                if let Issuer::Person(by) = by {
                    tokens.retain(|token| token.person == by.person);
                }
                // What is kept to tell a token by is nobody's business.
                let shown = tokens.iter().map(|token| {
                    json!({ "id": token.id, "person": token.person, "scopes": token.scopes, "issued_by": token.issued_by,
                        "issued_at": token.issued_at, "revoked_at": token.revoked_at })
                });
                done(&shown.collect::<Vec<_>>())
            }
        }
    }

    /// Who is at the other end: the one whom the config names for the user, else the person of the token. Root is nobody
    /// unless the config says so. A user who is somebody answers for nobody else, so no user gives two votes; persons who
    /// share one that is nobody's have a token each, which has to be good for `scope` where one is needed.
    async fn claimant(&self, peer: Peer, token: Option<&str>, scope: Option<Scope>) -> Result<Claimant, Refused> {
        let user = (self.parts.users)(peer.uid).await;
        if let Some(token) = token {
            let by = match scope {
                Some(scope) => self.parts.sequencer.bearer(token, scope).await,
                None => self.parts.sequencer.holder(token).await,
            };
            let by = by.map_err(refused)?;
            return match user {
                Some(own) if own != by.person => Err(Refused::new(
                    "OTHER_PERSON",
                    format!(
                        "that is a token of `{}`, and this user of the machine is `{own}`; use one's own user",
                        by.person
                    ),
                )),
                Some(_) | None => Ok(by),
            };
        }
        match user {
            Some(person) => Ok(Claimant { person, proof: Proof::Uid(peer.uid) }),
            None => Err(Refused::new(
                "NOBODY",
                format!(
                    "the config takes the user {} of this machine for nobody; name it under `[people]`, or prove who you \
                     are with a token in `$WARRANT_TOKEN`",
                    peer.uid
                ),
            )),
        }
    }

    async fn issuer(&self, peer: Peer, token: Option<&str>) -> Result<Issuer, Refused> {
        if token.is_none() && self.is_operator(peer).await {
            return Ok(Issuer::Operator(peer.uid));
        }
        Ok(Issuer::Person(self.claimant(peer, token, None).await?))
    }

    /// Whether the peer is the user whom the store belongs to, or root, and nobody whom the config names: who votes as a
    /// person never holds tokens of others.
    async fn is_operator(&self, peer: Peer) -> bool {
        (peer.uid == self.parts.owner || peer.uid == 0) && (self.parts.users)(peer.uid).await.is_none()
    }

    /// What a vote came to; what nobody waits for is carried out here.
    async fn counted(self: &Arc<Self>, id: ApprovalId, voted: Result<Tally, Objection>) -> Result<Counted, Refused> {
        let card = self.parts.sequencer.card(id).await.map_err(refused)?;
        let have = u32::try_from(card.electorate.approved.len()).unwrap_or(u32::MAX);
        let need = card.electorate.quorum;
        match voted {
            Ok(Tally::Counted { have, need }) => Ok(Counted { have, need, then: Then::MoreNeeded }),
            // It was approved before, and not carried out: whoever says it again wants it done.
            Ok(Tally::Approved) | Err(Objection::AlreadyApproved(_)) => {
                Ok(Counted { have, need, then: self.see_to(id, &card.state) })
            }
            Err(objection) => Err(refused(objection)),
        }
    }

    /// Hands on the vote of somebody whom another part has proved, and sees to what it completes.
    ///
    /// # Errors
    /// [`Objection`]; then it does not count.
    pub async fn vote(self: &Arc<Self>, id: ApprovalId, claim: &Claim) -> Result<(), Objection> {
        match self.parts.sequencer.vote(id, claim).await {
            Ok(Tally::Counted { .. }) => Ok(()),
            Ok(Tally::Approved) | Err(Objection::AlreadyApproved(_)) => {
                self.see_to(id, &self.parts.sequencer.card(id).await?.state);
                Ok(())
            }
            Err(objection) => Err(objection),
        }
    }

    /// Breaks the glass for somebody whom another part has proved, and sees to what it completes.
    ///
    /// # Errors
    /// [`Objection`]; then nothing was broken.
    pub async fn break_glass(self: &Arc<Self>, id: ApprovalId, claim: &Claim, reason: &str) -> Result<(), Objection> {
        self.parts.sequencer.break_glass(id, claim, reason).await?;
        self.see_to(id, &self.parts.sequencer.card(id).await?.state);
        Ok(())
    }

    fn see_to(self: &Arc<Self>, id: ApprovalId, state: &State) -> Then {
        if self.parts.attended.holds(id) {
            return Then::CallerCarriesOut;
        }
        if matches!(state, State::Approved { .. }) {
            let office = Arc::clone(self);
            if self.begin(id) {
                self.tasks.spawn(async move { office.execute(id).await });
            }
        }
        Then::CarriedOutHere
    }

    /// Carries out what an earlier process left approved, one after the other, since two on one target stand in each other's
    /// way. What can't be done just now is tried again until its time is up. The answer comes once each was tried.
    pub fn take_up(self: &Arc<Self>, left: Vec<ApprovalId>) -> oneshot::Receiver<()> {
        let (tell, tried) = oneshot::channel();
        let office = Arc::clone(self);
        self.tasks.spawn(async move {
            let (mut left, mut wait) = (office.try_each(left).await, FIRST_WAIT);
            // Nobody has to wait for it.
            let _heard = tell.send(());
            while !left.is_empty() && office.closing.run_until_cancelled(tokio::time::sleep(wait)).await.is_some() {
                left = office.try_each(left).await;
                wait = (wait * 2).min(LONGEST_WAIT);
            }
        });
        tried
    }

    /// Those that are to be tried again.
    async fn try_each(&self, left: Vec<ApprovalId>) -> Vec<ApprovalId> {
        let mut again = Vec::new();
        for id in left {
            // Whoever said it again is answered by the attempt of their own.
            if self.begin(id) && self.execute(id).await == Came::ToNothingYet {
                again.push(id);
            }
        }
        again
    }

    /// Whether it is not under way yet; from here on it is.
    fn begin(&self, id: ApprovalId) -> bool {
        self.flying.lock().unwrap_or_else(PoisonError::into_inner).insert(id)
    }

    /// Carries out what was approved and is marked as under way.
    async fn execute(&self, id: ApprovalId) -> Came {
        self.halted.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        let ended = self.parts.sequencer.execute(id).await;
        let mut halted = self.halted.lock().unwrap_or_else(PoisonError::into_inner);
        let came = match ended {
            Ok(_) => Came::ToAnEnd,
            Err(halt) => {
                tracing::warn!(approval = %id, reason = halt.reason, "an approved write was not carried out");
                let came = if PASSING.contains(&halt.reason.as_str()) { Came::ToNothingYet } else { Came::ToAnEnd };
                halted.insert(id, halt.message);
                while halted.len() > MOST_HALTED {
                    halted.pop_first();
                }
                came
            }
        };
        drop(halted);
        self.flying.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        came
    }
}

fn claim(by: Claimant, seen: &Seen) -> Claim {
    Claim { by, revision: seen.revision, digest_prefix: seen.digest.clone(), whole: seen.whole }
}

#[expect(clippy::needless_pass_by_value, reason = "stands in `map_err`")]
fn refused(objection: Objection) -> Refused {
    Refused::new(objection.code(), objection.to_string())
}

fn done(what: &impl Serialize) -> Result<Answer, Refused> {
    serde_json::to_value(what).map(Answer::Done).map_err(|error| Refused::new("FAILED", error.to_string()))
}
