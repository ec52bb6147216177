//! One alert, wherever it was heard of.
//!
//! A Prometheus adds its external labels on the way to an Alertmanager, so the two know an alert by different labels: what
//! an Alertmanager holds is the same alert if it bears all labels of the rule's.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use warrant_kernel::domain::name::{ServiceName, SourceName};

use crate::catalog::service::Service;
use crate::tools::sources::alertmanager::HeldAlert;
use crate::tools::sources::prometheus::answer::RuleAlert;

/// Whether an alert's time has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// It fires.
    Firing,
    /// Its expression holds, not yet for long enough.
    Pending,
}

impl State {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Firing => "firing",
            Self::Pending => "pending",
        }
    }
}

/// An alert.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Alert {
    pub(super) labels: BTreeMap<String, String>,
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) state: State,
    pub(super) since: Option<Timestamp>,
    pub(super) silenced: bool,
    pub(super) inhibited: bool,
    pub(super) sources: Vec<String>,
}

impl Alert {
    /// As a rule of `source` holds it.
    pub(super) fn of_rule(alert: RuleAlert, source: &SourceName) -> Self {
        Self {
            labels: alert.labels,
            annotations: alert.annotations,
            state: if alert.state == "pending" { State::Pending } else { State::Firing },
            since: alert.active_at,
            silenced: false,
            inhibited: false,
            sources: vec![source.to_string()],
        }
    }

    /// As the Alertmanager `source` holds it.
    pub(super) fn held(alert: HeldAlert, source: &SourceName) -> Self {
        Self {
            labels: alert.labels,
            annotations: alert.annotations,
            state: State::Firing,
            since: alert.starts_at,
            silenced: !alert.status.silenced_by.is_empty(),
            inhibited: !alert.status.inhibited_by.is_empty(),
            sources: vec![source.to_string()],
        }
    }

    pub(super) fn label(&self, name: &str) -> Option<&str> {
        self.labels.get(name).map(String::as_str)
    }

    /// Whether the alert is the service's: by the labels of its series, or by a label `service`.
    pub(super) fn concerns(&self, name: &ServiceName, service: &Service) -> bool {
        let of_series = service.metrics.as_ref().is_some_and(|series| {
            let mut labels = series.labels.iter();
            !series.labels.is_empty() && labels.all(|(label, value)| self.label(label) == Some(value))
        });
        of_series || self.label("service") == Some(name.as_str())
    }

    /// Firing before pending, heard before silenced, severe before mild, new before old.
    pub(super) fn more_urgent(&self, other: &Self) -> Ordering {
        let key = |alert: &Self| {
            (alert.state, alert.silenced || alert.inhibited, severity(alert.label("severity")), Reverse(alert.since))
        };
        key(self).cmp(&key(other)).then_with(|| self.labels.cmp(&other.labels))
    }

    /// Takes in what another source knows of the same alert.
    fn join(&mut self, other: Self) {
        self.silenced |= other.silenced;
        self.inhibited |= other.inhibited;
        self.state = self.state.min(other.state);
        // The rule's time is when the trouble began; an Alertmanager's, when the rule first fired.
        self.since = match (self.since, other.since) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        for (name, text) in other.annotations {
            self.annotations.entry(name).or_insert(text);
        }
        self.sources.extend(other.sources);
        self.sources.sort_unstable();
        self.sources.dedup();
    }
}

fn severity(word: Option<&str>) -> u8 {
    match word.map(str::to_ascii_lowercase).as_deref() {
        Some("critical" | "page" | "emergency" | "fatal" | "disaster") => 0,
        Some("error" | "high" | "major") => 1,
        Some("warning" | "warn" | "medium") => 2,
        Some("info" | "minor" | "low") => 4,
        Some("none") => 5,
        // A word we do not know may be a grave one.
        Some(_) | None => 3,
    }
}

/// Each alert once. Of alerts that Alertmanagers hold, equal labels are the same; a rule's alert joins the held one with
/// the fewest labels beside its own, and a held one takes in one alert of each Prometheus only.
pub(super) fn merged(rules: Vec<Alert>, held: Vec<Alert>) -> Vec<Alert> {
    let mut alerts: Vec<Alert> = Vec::new();
    let mut by_labels: HashMap<BTreeMap<String, String>, usize> = HashMap::new();
    for alert in held {
        if let Some(same) = by_labels.get(&alert.labels).and_then(|at| alerts.get_mut(*at)) {
            same.join(alert);
        } else {
            by_labels.insert(alert.labels.clone(), alerts.len());
            alerts.push(alert);
        }
    }
    let mut by_name: HashMap<Option<String>, Vec<usize>> = HashMap::new();
    for (at, alert) in alerts.iter().enumerate() {
        by_name.entry(alert.label("alertname").map(str::to_owned)).or_default().push(at);
    }
    for alert in rules {
        let namesakes = by_name.get(&alert.label("alertname").map(str::to_owned));
        let same = namesakes
            .into_iter()
            .flatten()
            .filter_map(|at| Some((*at, alerts.get(*at)?)))
            .filter(|(_, held)| alert.labels.iter().all(|(name, value)| held.label(name) == Some(value)))
            .filter(|(_, held)| !alert.sources.iter().any(|source| held.sources.contains(source)))
            .min_by_key(|(_, held)| held.labels.len())
            .map(|(at, _)| at);
        match same.and_then(|at| alerts.get_mut(at)) {
            Some(held) => held.join(alert),
            None => alerts.push(alert),
        }
    }
    alerts
}
