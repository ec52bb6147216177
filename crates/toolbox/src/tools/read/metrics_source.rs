//! What the metric tools share: which server a call means, which window, and how numbers are written.

#[cfg(test)]
pub(in crate::tools) mod double;

#[cfg(test)]
mod tests;

use std::future::Future;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use regex::{Regex, RegexBuilder};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::{Arguments, Problem, ReadError};
use warrant_kernel::domain::name::{ServiceName, SourceName};
use warrant_kernel::domain::target::{Target, TargetKind};
use warrant_kernel::redact::guard::first_chars;

use crate::catalog::Catalog;
use crate::catalog::service::Service;
use crate::tools::sources::http::HttpClient;
use crate::tools::sources::http::clients::HttpClients;

const LONGEST: SignedDuration = SignedDuration::from_hours(31 * 24);
/// Bytes that a compiled regular expression may take.
const REGEX_SIZE: usize = 1024 * 1024;

/// The catalog and the clients that a metric tool reads with.
#[derive(Clone)]
pub(super) struct Servers {
    pub(super) catalog: Arc<Catalog>,
    pub(super) clients: Arc<HttpClients>,
}

/// The server that a call means.
pub(super) struct Picked<'a> {
    pub(super) client: &'a HttpClient,
    pub(super) service: Option<(ServiceName, &'a Service)>,
}

impl Servers {
    /// The server by `source`, else by `service`, else the only one there is.
    pub(super) fn pick(&self, args: &Arguments) -> Result<Picked<'_>, Problem> {
        let service = self.service(args)?;
        let servers = self.clients.metrics();
        let all = || servers.keys().map(SourceName::as_str);
        let of_service =
            service.as_ref().and_then(|(_, service)| service.metrics.as_ref()).map(|series| &series.source);
        let client = match (args.text("source"), of_service) {
            (Some(wanted), _) => servers
                .iter()
                .find(|(name, _)| name.as_str() == wanted)
                .map(|(_, client)| client)
                .ok_or_else(|| Problem::of("source", unknown("metrics source", wanted, all())))?,
            (None, Some(name)) => servers
                .get(name)
                .ok_or_else(|| Problem::of("service", format!("its metrics source `{name}` is not configured")))?,
            (None, None) => match (servers.len(), servers.values().next()) {
                (1, Some(only)) => only,
                (0, _) | (_, None) => return Err(Problem::of("source", NO_SERVER)),
                (_, Some(_)) => {
                    let names: Vec<&str> = all().take(10).collect();
                    let message = format!("there are several metrics servers; name one: `{}`", names.join("`, `"));
                    return Err(Problem::of("source", message));
                }
            },
        };
        Ok(Picked { client, service })
    }

    /// The service that `service` names, if it was given.
    pub(super) fn service(&self, args: &Arguments) -> Result<Option<(ServiceName, &Service)>, Problem> {
        let Some(wanted) = args.text("service") else { return Ok(None) };
        let found = args.service("service").and_then(|name| Some((self.catalog.service(&name)?, name)));
        let names = self.catalog.services().keys().map(ServiceName::as_str);
        found
            .map(|(service, name)| Some((name, service)))
            .ok_or_else(|| Problem::of("service", unknown("service", wanted, names)))
    }
}

const NO_SERVER: &str = "no `[metrics.NAME]` server is configured; `scrape_metrics` reads a service's own page";

/// The target of a read from `source`: the service where one was named, else the source.
pub(super) fn target(service: Option<(ServiceName, &Service)>, source: &SourceName) -> Target {
    match service {
        Some((name, service)) => Target {
            kind: TargetKind::Service,
            name: name.to_string(),
            environment: service.environment.clone(),
            owner: service.owner.clone(),
            service: Some(name),
            source: source.clone(),
        },
        None => Target {
            kind: TargetKind::Source,
            name: source.to_string(),
            service: None,
            environment: None,
            owner: None,
            source: source.clone(),
        },
    }
}

/// The window from `since` (an hour ago) to `until` (now).
pub(super) fn window(args: &Arguments, now: Timestamp) -> Result<(Timestamp, Timestamp), Problem> {
    let until = args.time("until").unwrap_or(now);
    let since = args.time("since").or_else(|| until.checked_sub(SignedDuration::from_hours(1)).ok()).unwrap_or(until);
    if since >= until {
        return Err(Problem::of("since", format!("`since` ({since}) must be before `until` ({until})")));
    }
    if until.duration_since(since) > LONGEST {
        return Err(Problem::of("since", "the window is longer than 31 days; ask for less"));
    }
    Ok((since, until))
}

/// The regular expression that `name` holds, if it was given.
pub(super) fn pattern(args: &Arguments, name: &str) -> Result<Option<Regex>, Problem> {
    let Some(text) = args.text(name) else { return Ok(None) };
    RegexBuilder::new(text)
        .size_limit(REGEX_SIZE)
        .build()
        .map(Some)
        .map_err(|error| Problem::of(name, format!("not a regular expression that can be used: {error}")))
}

/// A name that isn't there, and the one that was probably meant.
pub(super) fn unknown<'a>(kind: &str, wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    let shown = first_chars(wanted, 80);
    let near = names
        .map(|name| (strsim::jaro_winkler(name, shown), name))
        .filter(|(nearness, _)| *nearness > 0.75)
        .max_by(|(one, _), (two, _)| one.total_cmp(two));
    match near {
        Some((_, name)) => format!("there is no {kind} `{shown}`; did you mean `{name}`?"),
        None => format!("there is no {kind} `{shown}`"),
    }
}

/// Does `work` until the call is cancelled.
pub(super) async fn unless_cancelled<T>(
    cancel: &CancellationToken,
    work: impl Future<Output = Result<T, ReadError>>,
) -> Result<T, ReadError> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(ReadError::Cancelled),
        done = work => done,
    }
}

/// The disagreement between a check that passed and a read that finds otherwise.
pub(super) fn unfit(problem: Problem) -> ReadError {
    ReadError::Invalid { reason: "ARGUMENTS", message: problem.message }
}

/// A number as it is shown: whole ones without a point, others to six decimals, `NaN` and infinities as words.
pub(super) fn number(value: f64) -> Value {
    if value.is_nan() {
        return Value::from("NaN");
    }
    if value.is_infinite() {
        return Value::from(if value > 0.0 { "+Inf" } else { "-Inf" });
    }
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return value.to_string().parse::<i64>().map_or(Value::Null, Value::from);
    }
    let size = value.abs();
    let rounded = if (1.0..1e9).contains(&size) { (value * 1e6).round() / 1e6 } else { value };
    // Below one, six significant digits.
    Value::from(if size < 1.0 { format!("{value:.5e}").parse().unwrap_or(value) } else { rounded })
}

/// As [`number`], null where there is none.
pub(super) fn maybe(value: Option<f64>) -> Value {
    value.map_or(Value::Null, number)
}
