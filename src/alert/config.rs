//! The sections of the config that alerts own: `[alerts.NAME]`, one a sender, and `[alerting]`, the limits.
//!
//! [`check`] is the only way from what is written to what is used. A route without authentication is off: [`Checked`] has a
//! warning in its place. Secrets are named by environment variables, never written here.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::http::HeaderName;
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use warrant_kernel::domain::name::RoleName;
use warrant_kernel::domain::time::parse_duration;

use super::authentic::{Authentication, Form, Proof, Secret, Signature};
use super::sns::{Subscriptions, Topic};

#[cfg(test)]
mod tests;

/// Who sends: the shape of the body, and how such a sender can prove itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Prometheus Alertmanager, webhook version 4.
    Alertmanager,
    /// Grafana's webhook contact point.
    Grafana,
    /// `PagerDuty` webhooks, version 3.
    Pagerduty,
    /// Opsgenie's webhook integration.
    Opsgenie,
    /// Sentry's internal integrations.
    Sentry,
    /// Amazon SNS with alarms of `CloudWatch`, or with any other messages.
    Sns,
    /// Datadog's webhook integration, with the body of `docs/ALERTS.md`.
    Datadog,
    /// Zabbix's webhook media type, with the body of `docs/ALERTS.md`.
    Zabbix,
    /// Anything that posts JSON; the config says where in it things stand.
    Generic,
}

impl Kind {
    const ALL: [Self; 9] = [
        Self::Alertmanager,
        Self::Grafana,
        Self::Pagerduty,
        Self::Opsgenie,
        Self::Sentry,
        Self::Sns,
        Self::Datadog,
        Self::Zabbix,
        Self::Generic,
    ];

    /// The word for it in the config.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Alertmanager => "alertmanager",
            Self::Grafana => "grafana",
            Self::Pagerduty => "pagerduty",
            Self::Opsgenie => "opsgenie",
            Self::Sentry => "sentry",
            Self::Sns => "sns",
            Self::Datadog => "datadog",
            Self::Zabbix => "zabbix",
            Self::Generic => "generic",
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The header such a sender signs in, where it signs at all and has one of its own.
    fn signature(self) -> Option<(Option<&'static str>, Form)> {
        match self {
            Self::Grafana => Some((Some("x-grafana-alerting-signature"), Form::Hex)),
            Self::Pagerduty => Some((Some("x-pagerduty-signature"), Form::List)),
            Self::Sentry => Some((Some("sentry-hook-signature"), Form::Hex)),
            Self::Generic => Some((None, Form::Hex)),
            Self::Alertmanager | Self::Opsgenie | Self::Sns | Self::Datadog | Self::Zabbix => None,
        }
    }
}

/// What an alert asks for, by its severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    /// Nothing: it is kept.
    Record,
    /// An investigation as soon as there is room for one.
    WhenFree,
    /// An investigation before all others.
    AtOnce,
}

/// Where in a body of the kind `generic` things stand: JSON pointers, as in `/alert/name`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pointers {
    /// The list of alerts; the body itself is the alert where it is not set. The others begin at one alert then.
    pub each: Option<String>,
    /// The alert's name.
    pub name: String,
    /// What stays the same from one firing to the next; else a hash of the labels.
    pub fingerprint: Option<String>,
    /// When it began.
    pub starts_at: Option<String>,
    /// Whether it fires; see `resolved`.
    pub state: Option<String>,
    /// The values of `state` that mean it does not; `resolved`, `ok` and `closed` where it is not set.
    #[serde(default)]
    pub resolved: Vec<String>,
    /// The severity.
    pub severity: Option<String>,
    /// The service; becomes the label `service`.
    pub service: Option<String>,
    /// One sentence for people.
    pub summary: Option<String>,
    /// More text.
    pub description: Option<String>,
    /// A page about it.
    pub link: Option<String>,
    /// An object of labels.
    pub labels: Option<String>,
}

impl Pointers {
    fn all(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let optional = [
            ("each", &self.each),
            ("fingerprint", &self.fingerprint),
            ("starts_at", &self.starts_at),
            ("state", &self.state),
            ("severity", &self.severity),
            ("service", &self.service),
            ("summary", &self.summary),
            ("description", &self.description),
            ("link", &self.link),
            ("labels", &self.labels),
        ];
        let set = optional.into_iter().filter_map(|(name, pointer)| Some((name, pointer.as_deref()?)));
        std::iter::once(("name", self.name.as_str())).chain(set)
    }
}

/// One sender: `[alerts.NAME]`, posted to as `/v1/alerts/NAME`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RouteSection {
    /// What it sends; the name where that is a kind.
    pub kind: Option<Kind>,
    /// Environment variable with the token of `Authorization: Bearer`.
    pub bearer_env: Option<String>,
    /// The user of `Authorization: Basic`.
    pub basic_user: Option<String>,
    /// Environment variable with that user's password.
    pub basic_password_env: Option<String>,
    /// Environment variable with the secret that bodies are signed with.
    pub secret_env: Option<String>,
    /// The header that the signature comes in, where the sender has none of its own or was told another.
    pub signature_header: Option<String>,
    /// The header with the time that was signed along (`grafana`, `generic`): unix seconds, at most five minutes off.
    pub timestamp_header: Option<String>,
    /// For `sns`: the ARNs of the topics whose messages are taken.
    pub topics: Vec<String>,
    /// For `sns`: whether subscriptions to these topics are confirmed; else they are only told. A topic has to sign with
    /// `SignatureVersion` 2.
    pub confirm_subscriptions: bool,
    /// What investigations of its alerts may see; `general-purpose` where it is not set.
    pub role: Option<RoleName>,
    /// The groups that investigations of its alerts are in, for policy to decide what they may read; in none where it is not
    /// set.
    pub groups: Vec<String>,
    /// Which word of a severity asks for what. The usual words have a meaning already; others mean `when_free`.
    pub severities: BTreeMap<String, Urgency>,
    /// The label with the severity, where the sender has no field for it; `severity`.
    pub severity_label: Option<String>,
    /// The labels that name the service, the best first.
    pub service_labels: Option<Vec<String>>,
    /// For `generic`.
    pub pointers: Option<Pointers>,
    /// Most bytes of a body; 1 MiB.
    pub body_limit: Option<usize>,
}

/// Limits for all alerts: `[alerting]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsSection {
    /// How long after its last change an incident takes in more; `10m`.
    pub window: Option<String>,
    /// Most incidents open at once; 1,000. What is beyond is counted in the message of the storm.
    pub open_incidents: Option<usize>,
    /// So many new incidents in a window have a message each; those beyond share one. 10.
    pub storm: Option<usize>,
    /// Most alerts that wait to be taken up; senders are told to come again when there are more. 20,000.
    pub queue: Option<u64>,
}

/// A sender as it is used.
#[derive(Debug, Clone)]
pub struct Route {
    /// Its name, the last piece of the path.
    pub name: String,
    /// What it sends.
    pub kind: Kind,
    /// How it proves itself.
    pub authentication: Authentication,
    /// For `sns`: the topics whose messages are taken.
    pub topics: Vec<Topic>,
    /// For `sns`: what becomes of subscriptions.
    pub subscriptions: Subscriptions,
    /// What investigations may see.
    pub role: Option<RoleName>,
    /// The groups that investigations are in.
    pub groups: Vec<String>,
    /// The label with the severity.
    pub severity_label: String,
    /// The labels that name the service.
    pub service_labels: Vec<String>,
    /// For `generic`.
    pub pointers: Pointers,
    /// Most bytes of a body.
    pub body_limit: usize,
    severities: BTreeMap<String, Urgency>,
}

impl Route {
    /// Whether nothing could prove where a body comes from.
    fn is_off(&self) -> bool {
        self.authentication.is_none() && self.topics.is_empty()
    }

    /// What a word for a severity asks for. What nobody gave a meaning is not passed over.
    #[must_use]
    pub fn urgency(&self, word: &str) -> Urgency {
        let word = word.trim().to_lowercase();
        self.severities.get(&word).copied().unwrap_or_else(|| usual(&word))
    }
}

fn usual(word: &str) -> Urgency {
    match word {
        "critical" | "page" | "emergency" | "fatal" | "disaster" | "high" | "p1" | "p2" | "sev1" | "sev2" | "alarm" => {
            Urgency::AtOnce
        }
        "info" | "information" | "informational" | "none" | "notice" | "debug" | "low" | "p5" | "not classified" => {
            Urgency::Record
        }
        _ => Urgency::WhenFree,
    }
}

/// Limits as they are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long after its last change an incident takes in more.
    pub window: SignedDuration,
    /// Most incidents open at once.
    pub open_incidents: usize,
    /// So many new incidents in a window have a message each.
    pub storm: usize,
    /// Most alerts that wait.
    pub queue: u64,
}

/// Both sections, checked.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The routes that are on, by name.
    pub routes: BTreeMap<String, Route>,
    /// The limits.
    pub limits: Limits,
    /// What the operator should know at start.
    pub warnings: Vec<String>,
}

/// The environment variables that hold secrets, for the redactor to know them.
#[must_use]
pub fn secrets_env(routes: &BTreeMap<String, RouteSection>) -> Vec<&str> {
    let all = routes.values().flat_map(|route| [&route.bearer_env, &route.basic_password_env, &route.secret_env]);
    all.filter_map(|name| name.as_deref()).collect()
}

/// Checks both sections; `env` gives the value of an environment variable.
///
/// # Errors
/// Every problem found, each with its key and what to write.
pub fn check(
    routes: &BTreeMap<String, RouteSection>,
    limits: &LimitsSection,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Checked, Vec<String>> {
    let (mut problems, mut warnings, mut checked) = (Vec::new(), Vec::new(), BTreeMap::new());
    for (name, section) in routes {
        let mut checking = Checking { name, section, env, problems: &mut problems };
        let Some(route) = checking.route() else { continue };
        if route.is_off() {
            warnings.push(format!(
                "`[alerts.{name}]` has no authentication and is off: requests to /v1/alerts/{name} are answered with 404; {}",
                means(route.kind)
            ));
        } else {
            checked.insert(name.clone(), route);
        }
    }
    let limits = check_limits(limits, &mut problems);
    if problems.is_empty() { Ok(Checked { routes: checked, limits, warnings }) } else { Err(problems) }
}

fn means(kind: Kind) -> &'static str {
    match kind {
        Kind::Pagerduty | Kind::Sentry => "set `secret_env` to the variable that holds the sender's signing secret",
        Kind::Sns => "set `topics` to the ARNs of the topics whose messages are taken",
        Kind::Grafana | Kind::Generic => "set `bearer_env`, `basic_user` with `basic_password_env`, or `secret_env`",
        Kind::Alertmanager | Kind::Opsgenie | Kind::Datadog | Kind::Zabbix => {
            "set `bearer_env`, or `basic_user` with `basic_password_env`"
        }
    }
}

fn check_limits(section: &LimitsSection, problems: &mut Vec<String>) -> Limits {
    let mut window = SignedDuration::from_mins(10);
    if let Some(text) = &section.window {
        match parse_duration(text) {
            Ok(given) if given >= SignedDuration::from_secs(1) && given <= SignedDuration::from_hours(6) => {
                window = given;
            }
            Ok(_) => problems.push(format!("`alerting.window` is `{text}`; write 1s to 6h, as in `10m`")),
            Err(error) => problems.push(format!("`alerting.window`: {error}")),
        }
    }
    let mut number = |key: &str, given: Option<usize>, usual: usize, most: usize| {
        let value = given.unwrap_or(usual);
        if !(1..=most).contains(&value) {
            problems.push(format!("`alerting.{key}` is {value}; write 1 to {most}"));
        }
        value
    };
    let open_incidents = number("open_incidents", section.open_incidents, 1_000, 2_000);
    let storm = number("storm", section.storm, 10, 1_000);
    let queue = section.queue.and_then(|queue| usize::try_from(queue).ok());
    let queue = number("queue", queue, 20_000, 1_000_000);
    Limits { window, open_incidents, storm, queue: u64::try_from(queue).unwrap_or(u64::MAX) }
}

mod checking;

use checking::Checking;
