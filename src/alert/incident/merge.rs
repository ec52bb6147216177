//! Two incidents that turn out to be one: the older goes on for both.

use super::fold::Incidents;
use super::{MOST_MEMBERS, Phase, Progress};
use crate::alert::content::State;

impl Incidents {
    /// Puts all of `younger` into `older`. An investigation that runs is kept: by the older incident where it has none,
    /// else beside it, and told.
    pub(super) fn merge(&mut self, younger: &str, older: &str) {
        self.unindex(younger);
        let Some(incident) = self.change(younger) else { return };
        let (members, beyond, scopes) = (incident.members.clone(), incident.beyond, incident.scopes.clone());
        let (alerts, urgency, changed_at) = (incident.alerts, incident.urgency, incident.changed_at);
        let (name, text, service) = (incident.name.clone(), incident.text.clone(), incident.service.clone());
        let (assigned, investigations) = (incident.investigation.take(), incident.investigations);
        incident.phase = Phase::Merged { into: older.to_owned() };
        incident.changed();
        let Some(into) = self.change(older) else { return };
        into.alerts += alerts;
        into.changed_at = into.changed_at.max(changed_at);
        into.beyond.fired += beyond.fired;
        into.beyond.resolved += beyond.resolved;
        into.investigations += investigations;
        if urgency > into.urgency {
            (into.urgency, into.name, into.text, into.service) = (urgency, name, text, service);
        }
        for (fingerprint, member) in members {
            if into.members.len() < MOST_MEMBERS {
                into.members.insert(fingerprint, member);
            } else {
                into.beyond.fired += member.fired;
                let resolved = member.episodes.values().filter(|state| **state == State::Resolved).count();
                into.beyond.resolved += u64::try_from(resolved).unwrap_or(u64::MAX).min(member.fired);
            }
        }
        into.scopes.extend(scopes);
        into.tell(format!("the incident `{younger}` turned out to be part of this one, with {alerts} alerts"));
        into.changed();
        let keep_beside = match assigned {
            None => None,
            Some(assigned) if !into.is_running() && assigned.progress != Progress::Asked => {
                // The older one's may only be asked for; nobody waits for it.
                into.investigation = Some(assigned);
                None
            }
            Some(assigned) if into.investigation.is_none() => {
                into.investigation = Some(assigned);
                None
            }
            Some(assigned) => (assigned.progress == Progress::Running).then_some(assigned),
        };
        let whole = into.clone();
        self.put(whole);
        if let Some(assigned) = keep_beside
            && let Some(incident) = self.change(younger)
        {
            incident.investigation = Some(assigned);
            incident.tell(format!(
                "this incident is part of the incident `{older}`, which has an investigation of its own"
            ));
        }
    }
}
