//! What the API may ask of this process.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::objection::Objection;
use warrant_kernel::call::gate::sequencer::shown::Listed;
use warrant_kernel::call::gate::sequencer::tokens::Scope;
use warrant_kernel::call::gate::vote::{Claim, Claimant};
use warrant_kernel::call::tool::Clock;
use warrant_kernel::domain::name::{InvestigationId, PersonId, RoleName, ServiceName};
use warrant_kernel::domain::plan::ApprovalId;
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger, Writes};
use warrant_kernel::people::directory::{Directory, DirectoryError, Freshness};
use warrant_kernel::store::Store;
use warrant_toolbox::tools::read::sight::Sight;

use super::health;
use super::live::Live;
use super::runs::{Begun, Runs, Seat};
use super::slack::Slack;
use crate::agent::news::Unheard;
use crate::alert::counts::Counts;
use crate::app::SystemClock;
use crate::app::ask::{Asking, Question, fresh_id};
use crate::app::fault::{Fault, told};
use crate::app::sequencer::hold::Hold;
use crate::app::sight::PolicySight;
use crate::config::people::ConfigPeople;
use crate::web::backend::{Backend, Deciding, Failure, Seen, Standing, Wanted};
use crate::web::health::Check;

/// Whom requests of this machine run for while there are no tokens. No person of the config may bear the name.
pub const NOBODY: &str = "api";

/// When a full house is worth another try.
const RETRY_AFTER_S: u32 = 5;

/// What an investigation may see, where it does not say.
const ROLE: &str = "general-purpose";

/// What the desk is made of.
pub struct Parts {
    /// What is gone by at the moment.
    pub live: Arc<Live>,
    /// Where writes are decided.
    pub hold: Arc<Hold>,
    /// The investigations.
    pub runs: Runs,
    /// Where they are kept.
    pub store: Store,
    /// The chat, where there is one.
    pub slack: Option<Arc<Slack>>,
    /// What is counted of alerts.
    pub alerts: Arc<Counts>,
}

/// The process, as the API sees it.
pub struct Desk {
    live: Arc<Live>,
    hold: Arc<Hold>,
    runs: Runs,
    store: Store,
    people: ConfigPeople,
    slack: Option<Arc<Slack>>,
    alerts: Arc<Counts>,
}

impl Desk {
    /// Puts it together.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let Parts { live, hold, runs, store, slack, alerts } = parts;
        let people = ConfigPeople::new(live.now().config.path.clone());
        Self { live, hold, runs, store, people, slack, alerts }
    }

    /// A run as policy knows it, for a question about reading.
    fn run(who: &Requester) -> Option<Run> {
        let now = SystemClock.now();
        Some(Run {
            investigation: "api".parse().ok()?,
            trigger: Trigger::Question { text: String::new() },
            requester: who.clone(),
            role: ROLE.parse().ok()?,
            channel: Channel::Api,
            writes: Writes::Off,
            service: None,
            since: now,
            opened_at: now,
        })
    }
}

fn failed(fault: Fault) -> Failure {
    match fault {
        Fault::Usage(text) => Failure::Invalid(text),
        other => Failure::Broken(told(&other)),
    }
}

fn unheard(unheard: Unheard) -> Failure {
    match unheard {
        Unheard::Ended => Failure::NotRunning,
        Unheard::Full => Failure::Busy { retry_after_s: RETRY_AFTER_S },
    }
}

fn claim(by: Claimant, seen: Seen) -> Claim {
    Claim { by, revision: seen.revision, digest_prefix: seen.digest_prefix, whole: seen.whole }
}

#[async_trait]
impl Backend for Desk {
    async fn bearer(&self, token: &str, scope: Scope) -> Result<Claimant, Objection> {
        self.hold.sequencer().bearer(token, scope).await
    }

    async fn has_tokens(&self) -> Result<bool, Objection> {
        let tokens = self.hold.sequencer().tokens().await?;
        Ok(tokens.iter().any(|token| token.revoked_at.is_none()))
    }

    async fn requester(&self, person: &PersonId) -> Result<Option<Requester>, Objection> {
        match self.people.standing(person, Freshness::Now).await {
            Ok(standing) if standing.active => Ok(Some(Requester { person: person.clone(), groups: standing.groups })),
            Ok(_) | Err(DirectoryError::Nobody(_)) => Ok(None),
            Err(DirectoryError::Unavailable(why)) => Err(Objection::DirectoryFailed(why)),
        }
    }

    fn nobody(&self) -> Option<Requester> {
        Some(Requester { person: NOBODY.parse().ok()?, groups: Vec::new() })
    }

    fn may_read(&self, who: &Requester, service: &ServiceName) -> bool {
        let sight = PolicySight::of(&self.live.now());
        Self::run(who).is_some_and(|run| sight.sees(&run, SystemClock.now(), service))
    }

    async fn begin(&self, wanted: Wanted) -> Result<InvestigationId, Failure> {
        let id = fresh_id().map_err(failed)?;
        let asking = Asking {
            id: id.clone(),
            question: Question {
                trigger: Trigger::Question { text: wanted.question },
                service: wanted.service.map(|service| service.to_string()),
                since: wanted.since,
                role: wanted.role.as_ref().map_or(ROLE, RoleName::as_str).to_owned(),
                channel: Channel::Api,
                writes: Writes::Off,
            },
            requester: wanted.requester,
        };
        match self.runs.open(asking, Seat::Any).await.map_err(failed)? {
            Begun::Running | Begun::Reported(_) => Ok(id),
            Begun::NoSeat if self.runs.is_closing() => Err(Failure::Closing),
            Begun::NoSeat => Err(Failure::Busy { retry_after_s: RETRY_AFTER_S }),
        }
    }

    async fn steer(&self, id: &InvestigationId, by: &Requester, text: &str) -> Result<(), Failure> {
        let running = self.runs.news(id).ok_or(Failure::NotRunning)?;
        let text = self.live.now().redactor.redact_text(text).map_err(|error| Failure::Broken(error.to_string()))?;
        running.steer(text.text.into_owned(), Some(by.person.clone())).await.map_err(unheard)
    }

    async fn stop(&self, id: &InvestigationId, by: &Requester) -> Result<(), Failure> {
        let running = self.runs.news(id).ok_or(Failure::NotRunning)?;
        running.stop(by.person.as_str()).await.map_err(unheard)
    }

    async fn approvals(
        &self,
        before: Option<ApprovalId>,
        state: Option<&str>,
        most: usize,
    ) -> Result<Vec<Listed>, Objection> {
        self.hold.sequencer().page(before, state, most).await
    }

    async fn card(&self, id: ApprovalId) -> Result<Card, Objection> {
        self.hold.sequencer().card(id).await
    }

    async fn decide(&self, id: ApprovalId, by: Claimant, deciding: Deciding) -> Result<(), Objection> {
        let sequencer = self.hold.sequencer();
        match deciding {
            Deciding::Approve(seen) => self.hold.office().vote(id, &claim(by, seen)).await,
            Deciding::Deny(seen, reason) => sequencer.deny(id, &claim(by, seen), &reason).await.map(drop),
            Deciding::Revoke(reason) => sequencer.revoke(id, &by, &reason).await.map(drop),
            Deciding::Reopen(reason) => sequencer.reopen(id, &by, &reason).await.map(drop),
        }
    }

    async fn checks(&self) -> Vec<Check> {
        let mut checks = health::checks(&self.live.now(), &self.store, &self.hold).await;
        checks.push(self.live.check());
        checks.push(health::of_slack(self.slack.as_ref().map(|slack| slack.health())));
        checks
    }

    async fn standing(&self) -> Standing {
        health::standing(&self.live.now(), &self.runs, &self.hold, &self.alerts).await
    }

    fn now(&self) -> Timestamp {
        SystemClock.now()
    }
}
