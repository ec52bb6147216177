//! `active_alerts`: what fires now, asked of every Prometheus and Alertmanager of the config and told once each.

mod merge;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::{join, join_all};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use warrant_kernel::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::name::{ServiceName, SourceName};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::Target;
use warrant_kernel::domain::time;

use super::metrics_source::{Servers, target, unless_cancelled};
use crate::catalog::Catalog;
use crate::catalog::service::Service;
use crate::tools::sources::alertmanager::Alertmanager;
use crate::tools::sources::http::clients::HttpClients;
use crate::tools::sources::prometheus::Prometheus;
use merge::{Alert, State, merged};

/// Most alerts of one answer.
const MAX_ALERTS: usize = 500;

/// The tool over all configured sources of alerts.
#[must_use]
pub fn active_alerts(catalog: Arc<Catalog>, clients: Arc<HttpClients>) -> Arc<dyn ReadTool> {
    Arc::new(ActiveAlerts(Servers { catalog, clients }))
}

struct ActiveAlerts(Servers);

/// What the sources said.
struct Heard {
    asked: usize,
    rules: Vec<Alert>,
    held: Vec<Alert>,
    down: Vec<(SourceName, ReadError)>,
}

impl ActiveAlerts {
    /// The source against whose limit a call counts: the first one asked.
    fn first_source(&self) -> Option<SourceName> {
        let clients = &self.0.clients;
        let mut names = clients.alertmanagers().keys().chain(clients.metrics().keys());
        names.next().cloned().or_else(|| "alerts".parse().ok())
    }

    async fn hear(&self) -> Heard {
        let clients = &self.0.clients;
        let rules = clients.metrics().iter().map(|(name, client)| async move {
            let told = Prometheus(client).alerts().await;
            (name, told.map(|told| told.data.alerts.into_iter().map(|alert| Alert::of_rule(alert, name)).collect()))
        });
        let held = clients.alertmanagers().iter().map(|(name, client)| async move {
            let told = Alertmanager(client).alerts().await;
            (name, told.map(|alerts| alerts.into_iter().map(|alert| Alert::held(alert, name)).collect()))
        });
        let (rules, held) = join(join_all(rules), join_all(held)).await;
        let mut heard =
            Heard { asked: rules.len() + held.len(), rules: Vec::new(), held: Vec::new(), down: Vec::new() };
        for (answers, into) in [(rules, &mut heard.rules), (held, &mut heard.held)] {
            for (name, answer) in answers {
                match answer {
                    Ok::<Vec<Alert>, ReadError>(alerts) => into.extend(alerts),
                    Err(error) => heard.down.push((name.clone(), error)),
                }
            }
        }
        heard
    }
}

#[async_trait]
impl ReadTool for ActiveAlerts {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        let service = self.0.service(args).map_err(|problem| vec![problem])?;
        let source = self.first_source().ok_or_else(|| vec![Problem::of("service", "there is no source to ask")])?;
        Ok(target(service, &source))
    }

    async fn read(&self, args: &Arguments, reading: Reading<'_>) -> Result<Output, ReadError> {
        let service = self.0.service(args).map_err(super::metrics_source::unfit)?;
        let heard = unless_cancelled(reading.cancel, async { Ok(self.hear().await) }).await?;
        if heard.asked > 0 && heard.down.len() == heard.asked {
            return Err(ReadError::Backend {
                reason: "UNREACHABLE",
                message: format!("no source of alerts answered: {}", reasons(&heard.down)),
                retryable: true,
            });
        }
        Ok(output(service.as_ref(), args.text("state").unwrap_or("firing"), heard))
    }
}

fn reasons(down: &[(SourceName, ReadError)]) -> String {
    let told: Vec<String> = down.iter().map(|(_, error)| error.to_string()).collect();
    told.join("; ")
}

/// What the tool itself counts and says.
const OWN: &[(&str, Origin)] = &[
    ("sources", Origin::Warrant),
    ("firing", Origin::Warrant),
    ("of_other_services", Origin::Warrant),
    ("note", Origin::Warrant),
];

fn output(service: Option<&(ServiceName, &Service)>, state: &str, heard: Heard) -> Output {
    let mut alerts = merged(heard.rules, heard.held);
    alerts.retain(|alert| match alert.state {
        State::Firing => state != "pending",
        State::Pending => state != "firing",
    });
    let everywhere = alerts.len();
    if let Some((name, service)) = service {
        alerts.retain(|alert| alert.concerns(name, service));
    }
    let matched = alerts.len();
    alerts.sort_by(Alert::more_urgent);
    alerts.truncate(MAX_ALERTS);

    let mut summary = Map::new();
    summary.insert("sources".to_owned(), Value::from(heard.asked));
    summary.insert("alerts".to_owned(), Value::from(matched));
    let firing = alerts.iter().filter(|alert| alert.state == State::Firing).count();
    summary.insert("firing".to_owned(), Value::from(firing));
    if service.is_some() {
        summary.insert("of_other_services".to_owned(), Value::from(everywhere - matched));
    }
    if heard.asked == 0 {
        let note = "no source of alerts is configured: add `[metrics.NAME]` or `[alertmanagers.NAME]`";
        summary.insert("note".to_owned(), Value::from(note));
    }
    let mut left_out = Vec::new();
    if !heard.down.is_empty() {
        left_out.push(format!("sources that did not answer: {}", reasons(&heard.down)));
    }
    if matched > MAX_ALERTS {
        left_out.push(format!("{matched} alerts matched, the {MAX_ALERTS} most urgent are here; name a `service`"));
    }
    let mut output = Output::items(Origin::Alert, summary, "alerts", alerts.iter().map(row).collect()).with_fields(OWN);
    output.matched = Some(u64::try_from(matched).unwrap_or(u64::MAX));
    output.left_out = (!left_out.is_empty()).then(|| left_out.join("; "));
    output
}

fn row(alert: &Alert) -> Value {
    let mut row = json!({
        "name": alert.label("alertname"),
        "state": alert.state.as_str(),
        "severity": alert.label("severity"),
        "since": alert.since.map(time::rfc3339),
        "labels": alert.labels,
        "annotations": alert.annotations,
        "silenced": alert.silenced,
        "source": alert.sources.join(", "),
    });
    if alert.inhibited
        && let Some(row) = row.as_object_mut()
    {
        row.insert("inhibited".to_owned(), Value::Bool(true));
    }
    row
}
