//! `create_silence`: a silence for one alert of one service, for a while.
//!
//! It always matches the alert's name and the labels that select the service; further matchers can only narrow it. Its
//! comment names the approval and the investigation, and by that comment a lost outcome is told.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use warrant_kernel::call::gate::warrant::Warrant;
use warrant_kernel::call::tool::{Arguments, Problem};
use warrant_kernel::call::write::{Effect, Held, Looking, Probed, Verdict, WriteError, WriteTool};
use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::name::ServiceName;
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::plan::{Facts, Plan, Preview, Proposal};
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::{Target, TargetKind};
use warrant_kernel::domain::time;

use crate::catalog::Catalog;
use crate::catalog::service::Service;
use crate::tools::sources::alertmanager::{Alertmanager, HeldAlert, Matcher, NewSilence};
use crate::tools::sources::http::HttpClient;
use crate::tools::sources::http::clients::HttpClients;
use crate::tools::sources::http::send::backend;
use crate::tools::write::file::{cant_look, proposal, refused, unfit};
use crate::tools::write::matchers::{parse, takes, written};

const LONGEST: SignedDuration = SignedDuration::from_hours(24);
/// An Alertmanager forgets expired silences after five days; before, one that is not listed was never there.
const REMEMBERED: SignedDuration = SignedDuration::from_hours(4 * 24);
/// Alerts that are named to people.
const NAMED: usize = 10;

pub(super) struct CreateSilence {
    catalog: Arc<Catalog>,
    clients: Arc<HttpClients>,
}

/// The tool.
#[must_use]
pub fn create_silence(catalog: Arc<Catalog>, clients: Arc<HttpClients>) -> Arc<dyn WriteTool> {
    Arc::new(CreateSilence { catalog, clients })
}

/// A call, understood.
struct Wanted<'t> {
    client: &'t HttpClient,
    name: &'t ServiceName,
    service: &'t Service,
    matchers: Vec<Matcher>,
    duration: SignedDuration,
}

impl Wanted<'_> {
    fn takes(&self, alert: &HeldAlert) -> bool {
        let value = |name: &str| alert.labels.get(name).map(String::as_str).unwrap_or_default();
        self.matchers.iter().all(|matcher| takes(matcher, value(&matcher.name)))
    }

    fn written(&self) -> String {
        self.matchers.iter().map(written).collect::<Vec<_>>().join(", ")
    }

    fn bound(&self) -> Facts {
        [
            ("alertmanager", self.client.url()),
            ("matchers", self.written()),
            ("duration", format!("{}s", self.duration.as_secs())),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}

/// Who asks, in the silence's comment; exactly this is looked for afterwards.
fn comment(plan: &Plan) -> String {
    format!("Warrant {} of investigation {} for {}", plan.id, plan.run.investigation, plan.run.requester.person)
}

impl CreateSilence {
    fn client(&self, args: &Arguments) -> Result<&HttpClient, Problem> {
        let servers = self.clients.alertmanagers();
        let names = || servers.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        match (args.text("alertmanager"), servers.len(), servers.values().next()) {
            (Some(wanted), ..) => {
                servers.iter().find(|(name, _)| name.as_str() == wanted).map(|(_, client)| client.as_ref()).ok_or_else(
                    || Problem::of("alertmanager", format!("there is none of this name; there are {}", names())),
                )
            }
            (None, 1, Some(only)) => Ok(only),
            (None, _, Some(_)) => Err(Problem::of("alertmanager", format!("there are several, name one: {}", names()))),
            (None, _, None) => {
                Err(Problem::of("service", "no Alertmanager is configured; an operator adds `[alertmanagers.NAME]`"))
            }
        }
    }

    fn wanted(&self, args: &Arguments) -> Result<Wanted<'_>, Vec<Problem>> {
        let mut problems = Vec::new();
        let service = args.service("service").and_then(|name| self.catalog.services().get_key_value(&name));
        if service.is_none() {
            problems.push(Problem::of("service", "there is no such service in the catalog"));
        }
        let client = self.client(args).map_err(|problem| problems.push(problem)).ok();
        let alert = args.text("alert").unwrap_or_default();
        if alert.trim().is_empty() || alert.chars().any(char::is_control) {
            problems.push(Problem::of(
                "alert",
                "name the alert whose notifications are to stop, as `active_alerts` shows it",
            ));
        }
        let duration = args.duration("duration").unwrap_or_default();
        if duration < SignedDuration::from_mins(1) || duration > LONGEST {
            problems.push(Problem::of("duration", "must be from 1m to 24h"));
        }
        let narrower = parse(args.text("matchers").unwrap_or_default())
            .map_err(|why| problems.push(Problem::of("matchers", why)))
            .unwrap_or_default();
        match (service, client) {
            (Some((name, service)), Some(client)) if problems.is_empty() => {
                let exact = |name: &str, value: &str| Matcher {
                    name: name.to_owned(),
                    value: value.to_owned(),
                    is_regex: false,
                    is_equal: true,
                };
                let labels = service.metrics.as_ref().map(|series| &series.labels).filter(|labels| !labels.is_empty());
                let of_service = labels.map_or_else(
                    || vec![exact("service", name.as_str())],
                    |labels| labels.iter().map(|(label, value)| exact(label, value)).collect(),
                );
                // Each once, in one order, so that the same silence is the same plan.
                let all: BTreeSet<Matcher> =
                    std::iter::once(exact("alertname", alert)).chain(of_service).chain(narrower).collect();
                Ok(Wanted { client, name, service, matchers: all.into_iter().collect(), duration })
            }
            _ => Err(problems),
        }
    }

    fn of(&self, args: &Arguments) -> Result<Wanted<'_>, WriteError> {
        self.wanted(args).map_err(|problems| {
            unfit(problems.into_iter().next().unwrap_or_else(|| Problem::of("service", "it can't be silenced")))
        })
    }

    /// Makes the silence that a plan says, from `now` on.
    pub(super) async fn apply(&self, plan: &Plan, now: Timestamp) -> Result<Effect, WriteError> {
        let wanted = self.of(&Arguments::checked(plan.arguments.clone()))?;
        if wanted.bound() != plan.preview.bound {
            return Err(refused("CHANGED", "what would be silenced is no longer what was approved"));
        }
        let ends_at = now.checked_add(wanted.duration).map_err(|error| refused("ARGUMENTS", error.to_string()))?;
        let silence = NewSilence {
            matchers: wanted.matchers.clone(),
            starts_at: now,
            ends_at,
            created_by: "warrant".to_owned(),
            comment: comment(plan),
        };
        let id = Alertmanager(wanted.client).create(&silence).await?;
        let mut after = wanted.bound();
        after.insert("silence".to_owned(), id.clone());
        let until = time::rfc3339(ends_at);
        let said = format!("silenced {} until {until} (silence {id})", wanted.written());
        let mut summary = Map::new();
        summary.insert("silence".to_owned(), id.into());
        summary.insert("matchers".to_owned(), wanted.written().into());
        summary.insert("until".to_owned(), until.into());
        let output = Output::lines(Origin::Warrant, summary, Vec::new());
        Ok(Effect { after, side_effects: vec![said], output, undo: None })
    }
}

#[async_trait]
impl WriteTool for CreateSilence {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        let wanted = self.wanted(args)?;
        Ok(Target {
            kind: TargetKind::Service,
            name: wanted.name.to_string(),
            service: Some(wanted.name.clone()),
            environment: wanted.service.environment.clone(),
            owner: wanted.service.owner.clone(),
            source: wanted.client.name().clone(),
        })
    }

    async fn preview(&self, args: &Arguments, _target: &Target, _looking: Looking<'_>) -> Result<Preview, WriteError> {
        let wanted = self.of(args)?;
        let server = Alertmanager(wanted.client);
        let alerts = server.alerts().await.map_err(backend)?;
        let silences = server.silences().await.map_err(backend)?;
        let mut notes = Vec::new();
        let caught: Vec<&HeldAlert> = alerts.iter().filter(|alert| wanted.takes(alert)).collect();
        for alert in caught.iter().take(NAMED) {
            let labels: Vec<String> =
                alert.labels.iter().take(12).map(|(name, value)| format!("{name}={value:?}")).collect();
            notes.push(format!("silences an alert that is active now: {}", labels.join(", ")));
        }
        if caught.len() > NAMED {
            notes.push(format!("and {} more", caught.len() - NAMED));
        }
        if caught.is_empty() {
            notes.push("no alert that is active now would be silenced".to_owned());
        }
        let same = |matchers: &[Matcher]| matchers.iter().collect::<BTreeSet<_>>() == wanted.matchers.iter().collect();
        for silence in silences.iter().filter(|silence| silence.status.state == "active" && same(&silence.matchers)) {
            notes.push(format!("the same is already silenced until {}", time::rfc3339(silence.ends_at)));
        }
        notes.push(
            "nobody is told of these alerts meanwhile; it ends by itself, and can be ended in the Alertmanager"
                .to_owned(),
        );
        let effect = format!("silences {} for {:#}", wanted.written(), wanted.duration);
        let shown = [("active_alerts_silenced".to_owned(), caught.len().to_string())].into();
        Ok(Preview { effect, bound: wanted.bound(), shown, diff: Vec::new(), notes, floor: Some(Tier::Medium) })
    }

    async fn bound(&self, plan: &Plan, _looking: Looking<'_>) -> Result<Facts, WriteError> {
        Ok(self.of(&Arguments::checked(plan.arguments.clone()))?.bound())
    }

    async fn write(&self, warrant: Warrant, looking: Looking<'_>) -> Result<Effect, WriteError> {
        if looking.cancel.is_cancelled() {
            return Err(WriteError::Backend { reason: "CANCELLED", message: "ended before it began".to_owned() });
        }
        self.apply(&warrant.spend(), looking.now).await
    }

    async fn probe(&self, plan: &Plan, looking: Looking<'_>) -> Probed {
        let cant = |because: String| Probed::CantTell { because };
        let wanted = match self.of(&Arguments::checked(plan.arguments.clone())) {
            Ok(wanted) => wanted,
            Err(error) => return cant(error.to_string()),
        };
        let silences = match Alertmanager(wanted.client).silences().await {
            Ok(silences) => silences,
            Err(error) => return cant(error.to_string()),
        };
        let ours = comment(plan);
        match silences.into_iter().find(|silence| silence.comment == ours) {
            Some(silence) => {
                let mut after = wanted.bound();
                after.insert("silence".to_owned(), silence.id.clone());
                Probed::Took { after, because: format!("silence {} bears the approval's number", silence.id) }
            }
            None if looking.now.duration_since(plan.frozen_at) > REMEMBERED => {
                cant("an expired silence may have been forgotten by now".to_owned())
            }
            None => Probed::DidNot { because: "no silence bears the approval's number".to_owned() },
        }
    }

    async fn verify(&self, plan: &Plan, effect: &Effect, _looking: Looking<'_>) -> Verdict {
        let wanted = match self.of(&Arguments::checked(plan.arguments.clone())) {
            Ok(wanted) => wanted,
            Err(error) => return cant_look(&error),
        };
        let id = effect.after.get("silence").map(String::as_str).unwrap_or_default();
        match Alertmanager(wanted.client).silence(id).await {
            Ok(silence) => {
                let active = silence.status.state == "active";
                let state = silence.status.state;
                let facts =
                    [("silence", id.to_owned()), ("state", state.clone()), ("until", time::rfc3339(silence.ends_at))];
                Verdict {
                    held: if active { Held::Held } else { Held::Failed },
                    because: format!("the silence is {state}"),
                    facts: facts.map(|(name, value)| (name.to_owned(), value)).into(),
                }
            }
            Err(error) => cant_look(&backend(error)),
        }
    }

    fn follow_ups(&self, plan: &Plan) -> Vec<Proposal> {
        let service = plan.arguments.get("service").and_then(Value::as_str).unwrap_or_default();
        let why = "shows which alerts are silenced";
        proposal("active_alerts", json!({"service": service, "state": "firing"}), why).into_iter().collect()
    }
}

#[cfg(test)]
mod tests;
