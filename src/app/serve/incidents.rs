//! What alerts ask for: an investigation for each incident, and that it hears what becomes of its alerts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::domain::name::{InvestigationId, PersonId};
use warrant_kernel::domain::report::Report;
use warrant_kernel::domain::run::{Channel, Requester, Writes};

use super::runs::{Begun, Ends, Runs, Seat};
use super::slack::Slack;
use crate::agent::news::Unheard;
use crate::alert::config::Urgency;
use crate::alert::incident::Incident;
use crate::alert::incident::storm::Storm;
use crate::alert::seam::{Ending, Investigations, News, Opened, Opening, Unavailable};
use crate::alert::worker::Handle;
use crate::app::ask::{Asking, Question};
use crate::app::fault::{Fault, told};
use crate::app::{App, SystemClock};

/// On whose behalf alerts are looked into. No person of the config may bear the name.
pub const REQUESTER: &str = "alerts";

/// How long before the first alert it is looked at: what made it fire came before it.
const BEFORE: SignedDuration = SignedDuration::from_mins(15);

/// How far back at most: an alert may have fired for weeks.
const FARTHEST: SignedDuration = SignedDuration::from_hours(24);

/// What an investigation of an alert may see, where its route does not say.
const ROLE: &str = "general-purpose";

/// The incidents' way to investigations.
pub struct Incidents {
    app: Arc<App>,
    /// The groups that investigations are in, by the routes of their alerts.
    groups: BTreeMap<String, Vec<String>>,
    runs: Mutex<Option<Runs>>,
    /// The number of the last news that each running investigation was told.
    told: Mutex<BTreeMap<InvestigationId, u64>>,
    worker: Mutex<Option<Handle>>,
    slack: Option<Arc<Slack>>,
    cancel: CancellationToken,
}

impl Incidents {
    /// Nothing can be opened before [`Self::join`].
    #[must_use]
    pub fn new(
        app: Arc<App>,
        groups: BTreeMap<String, Vec<String>>,
        slack: Option<Arc<Slack>>,
        cancel: CancellationToken,
    ) -> Arc<Self> {
        let (runs, told, worker) = (Mutex::default(), Mutex::default(), Mutex::default());
        Arc::new(Self { app, groups, runs, told, worker, slack, cancel })
    }

    /// Joins both ends.
    pub fn join(&self, runs: Runs, worker: Handle) {
        *self.runs.lock().unwrap_or_else(PoisonError::into_inner) = Some(runs);
        *self.worker.lock().unwrap_or_else(PoisonError::into_inner) = Some(worker);
    }

    /// Parts them again: they hold each other, and whatever they stand on.
    pub fn part(&self) {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn runs(&self) -> Result<Runs, Unavailable> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        runs.ok_or_else(|| Unavailable("investigations can't be opened at the moment".to_owned()))
    }

    fn asking(&self, opening: Opening) -> Result<Asking, Fault> {
        let now = SystemClock.now();
        let back = |span: SignedDuration| now.checked_sub(span).unwrap_or(Timestamp::MIN);
        let before = opening.since.checked_sub(BEFORE).unwrap_or(Timestamp::MIN);
        let since = before.min(back(self.app.config.window)).max(back(FARTHEST));
        let role = opening.role.map_or_else(|| ROLE.to_owned(), |role| role.to_string());
        let person: PersonId = REQUESTER.parse().map_err(|error| Fault::Failed(format!("{error}")))?;
        // Of a route that is not in the config any more nobody said that it may read more.
        let groups = self.groups.get(&opening.route).cloned().unwrap_or_default();
        Ok(Asking {
            id: opening.investigation,
            question: Question {
                trigger: opening.trigger,
                service: opening.service.map(|service| service.to_string()),
                since: Some(since.to_string()),
                role,
                channel: Channel::Alert,
                writes: Writes::Off,
            },
            requester: Requester { person, groups },
        })
    }
}

fn unavailable(fault: &Fault) -> Unavailable {
    Unavailable(told(fault))
}

#[async_trait]
impl Investigations for Incidents {
    async fn open(&self, opening: Opening) -> Result<Opened, Unavailable> {
        let runs = self.runs()?;
        let seat = match opening.urgency {
            Urgency::AtOnce => Seat::Any,
            Urgency::WhenFree | Urgency::Record => Seat::Spare,
        };
        if let Some(slack) = &self.slack
            && let Some(channel) = slack.channel(opening.service.as_ref(), Some(&opening.route))
        {
            let housed = slack.house(&opening.investigation, &opening.incident, &channel, &self.cancel).await;
            housed.map_err(|later| Unavailable(later.to_string()))?;
        }
        let asking = self.asking(opening).map_err(|fault| unavailable(&fault))?;
        match runs.open(asking, seat).await.map_err(|fault| unavailable(&fault))? {
            Begun::Running => Ok(Opened::Running),
            Begun::NoSeat => Ok(Opened::NoSlot),
            Begun::Reported(report) => Ok(Opened::Ended(ending(&report))),
        }
    }

    async fn news(&self, investigation: &InvestigationId, news: News) -> Result<(), Unavailable> {
        let known = self.told.lock().unwrap_or_else(PoisonError::into_inner).get(investigation).copied();
        let runs = self.runs()?;
        let Some(running) = runs.news(investigation) else { return Ok(()) };
        if known.is_some_and(|last| last >= news.number) {
            return Ok(());
        }
        match running.alerts(news.text).await {
            Ok(()) => {
                self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(investigation.clone(), news.number);
                Ok(())
            }
            Err(Unheard::Ended) => Ok(()),
            Err(full @ Unheard::Full) => Err(Unavailable(full.to_string())),
        }
    }

    async fn show(&self, incident: &Incident) -> Result<(), Unavailable> {
        let Some(slack) = &self.slack else { return Ok(()) };
        slack.show_incident(incident, &self.cancel).await.map_err(|later| Unavailable(later.to_string()))
    }

    async fn show_storm(&self, storm: &Storm) -> Result<(), Unavailable> {
        let Some(slack) = &self.slack else { return Ok(()) };
        slack.show_storm(storm).await.map_err(|later| Unavailable(later.to_string()))
    }
}

#[async_trait]
impl Ends for Incidents {
    async fn reported(&self, id: &InvestigationId, report: &Report) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(worker) = worker {
            worker.ended(id.clone(), ending(report)).await;
        }
    }
}

fn ending(report: &Report) -> Ending {
    Ending { outcome: report.outcome.as_str().to_owned(), cause: report.root_cause.clone() }
}
