//! Telling those above: investigations to be opened, news for those that run, incidents and storms to be shown.
//!
//! What was told is struck from the notes afterwards, all at once. Whatever can't be done now stays there.

use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::run::Trigger;
use warrant_kernel::store::StoreError;

use super::Worker;
use crate::alert::incident::{Assigned, Incident, Progress};
use crate::alert::seam::{Ending, News, Opened, Opening, Unavailable};

impl Worker {
    pub(super) async fn tell(&mut self) -> Result<(), StoreError> {
        self.open().await?;
        self.news().await;
        self.show().await;
        self.books.settle(&self.parts.store, &mut self.incidents, &[]).await
    }

    /// The most urgent first, the oldest first among them, until there is no slot.
    async fn open(&mut self) -> Result<(), StoreError> {
        let unsure = |assigned: &Assigned| match assigned.progress {
            Progress::Asked => true,
            Progress::Running => !self.confirmed.contains(&assigned.id),
            Progress::Ended { .. } => false,
        };
        let mut wanted: Vec<&Incident> =
            self.incidents.all().filter(|incident| incident.investigation.as_ref().is_some_and(unsure)).collect();
        wanted.sort_by_key(|incident| (std::cmp::Reverse(incident.urgency), incident.opened_at));
        let wanted: Vec<Opening> = wanted.into_iter().filter_map(opening).collect();
        for opening in wanted {
            let (incident, investigation) = (opening.incident.clone(), opening.investigation.clone());
            match self.parts.seam.open(opening).await {
                Ok(Opened::Running) => self.running(&incident, investigation),
                Ok(Opened::Ended(ending)) => self.end(&investigation, ending).await?,
                Ok(Opened::NoSlot) => break,
                Err(error) => {
                    put_off(&error, "an investigation could not be opened");
                    break;
                }
            }
        }
        Ok(())
    }

    fn running(&mut self, id: &str, investigation: InvestigationId) {
        let Some(incident) = self.incidents.change(id) else { return };
        if let Some(assigned) = &mut incident.investigation
            && assigned.progress == Progress::Asked
        {
            assigned.progress = Progress::Running;
            // What is investigated has a message of its own.
            incident.in_storm = false;
            incident.unshown = true;
            incident.changes += 1;
        }
        self.confirmed.insert(investigation);
    }

    /// Notes how an investigation ended.
    pub(super) async fn end(&mut self, investigation: &InvestigationId, ending: Ending) -> Result<(), StoreError> {
        self.confirmed.remove(investigation);
        let is_its = |incident: &&Incident| {
            incident.investigation.as_ref().is_some_and(|assigned| assigned.id == *investigation)
        };
        let Some(incident) = self.incidents.all().find(is_its).cloned() else {
            tracing::debug!(%investigation, "an investigation has ended that no open incident asked for");
            return Ok(());
        };
        if let Some(cause) = &ending.cause {
            self.books.recurrence(&self.parts.store, &incident).await?.learn(&incident.id, cause);
        }
        if let Some(incident) = self.incidents.change(&incident.id)
            && let Some(assigned) = &mut incident.investigation
        {
            assigned.progress = Progress::Ended { outcome: ending.outcome, cause: ending.cause };
            incident.news.clear();
            incident.more_news = 0;
            incident.unshown = true;
            incident.changes += 1;
        }
        Ok(())
    }

    async fn news(&mut self) {
        let waiting = self.incidents.all().filter(|incident| !incident.news.is_empty());
        let waiting: Vec<String> = waiting.map(|incident| incident.id.clone()).collect();
        for id in waiting {
            let Some(incident) = self.incidents.get(&id) else { continue };
            let Some(assigned) = incident.investigation.clone() else { continue };
            if assigned.progress != Progress::Running {
                continue;
            }
            let mut lines = incident.news.clone();
            if incident.more_news > 0 {
                lines.push(format!("and {} changes more", incident.more_news));
            }
            lines.push(format!("now {} of {} alerts of this incident fire", incident.firing(), incident.count()));
            let news = News { number: assigned.told + 1, text: lines.join("\n") };
            match self.parts.seam.news(&assigned.id, news).await {
                Ok(()) => {
                    if let Some(incident) = self.incidents.change(&id) {
                        incident.news.clear();
                        incident.more_news = 0;
                        if let Some(assigned) = &mut incident.investigation {
                            assigned.told += 1;
                        }
                    }
                }
                Err(error) => put_off(&error, "an investigation could not be told of its alerts"),
            }
        }
    }

    async fn show(&mut self) {
        let unshown = self.incidents.all().filter(|incident| incident.unshown);
        let unshown: Vec<String> = unshown.map(|incident| incident.id.clone()).collect();
        for id in unshown {
            let Some(incident) = self.incidents.get(&id) else { continue };
            // The storm's message stands for it.
            let shown = if incident.in_storm { Ok(()) } else { self.parts.seam.show(incident).await };
            match shown {
                Ok(()) => {
                    if let Some(incident) = self.incidents.change(&id) {
                        incident.unshown = false;
                    }
                }
                Err(error) => put_off(&error, "an incident could not be shown"),
            }
        }
        if let Some(storm) = self.incidents.storm.clone().filter(|storm| storm.unshown) {
            match self.parts.seam.show_storm(&storm).await {
                Ok(()) => {
                    self.incidents.storm = if storm.over { None } else { Some(storm) };
                    if let Some(storm) = &mut self.incidents.storm {
                        storm.unshown = false;
                    }
                }
                Err(error) => put_off(&error, "a storm could not be shown"),
            }
        }
    }
}

fn opening(incident: &Incident) -> Option<Opening> {
    let assigned = incident.investigation.as_ref()?;
    Some(Opening {
        investigation: assigned.id.clone(),
        incident: incident.id.clone(),
        trigger: Trigger::Alert { name: incident.name.clone(), text: incident.told() },
        service: incident.service.clone(),
        route: incident.route.clone(),
        role: incident.role.clone(),
        since: incident.since(),
        urgency: assigned.urgency,
    })
}

fn put_off(error: &Unavailable, what: &str) {
    tracing::warn!(%error, "{what}; it is tried again");
}
