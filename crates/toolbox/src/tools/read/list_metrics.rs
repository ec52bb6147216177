//! `list_metrics`: the names of the metrics there are, with type and help: of a metrics server, or of a service's page.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use regex::Regex;
use serde_json::{Map, Value, json};
use warrant_kernel::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::Target;

use super::metrics_source::{Picked, Servers, pattern, target, unfit, unless_cancelled};
use crate::catalog::Catalog;
use crate::tools::sources::exposition::{self, Page, family};
use crate::tools::sources::http::clients::HttpClients;
use crate::tools::sources::http::{BODY_CAP, HttpClient};
use crate::tools::sources::prometheus::Prometheus;
use crate::tools::sources::prometheus::selector::Selector;

/// A metric counts as there if it had a sample within this time.
const BACK: SignedDuration = SignedDuration::from_hours(24);
const DEFAULT_LIMIT: usize = 200;

/// The tool over these servers and pages.
#[must_use]
pub fn list_metrics(catalog: Arc<Catalog>, clients: Arc<HttpClients>) -> Arc<dyn ReadTool> {
    Arc::new(ListMetrics(Servers { catalog, clients }))
}

struct ListMetrics(Servers);

/// Where the names come from.
enum From<'a> {
    Server(Picked<'a>),
    Page(&'a HttpClient),
}

/// What is known of a metric.
struct Known {
    kind: Option<String>,
    help: Option<String>,
}

impl ListMetrics {
    /// The page of a service that has no series in a server, else the server.
    fn from(&self, args: &Arguments) -> Result<From<'_>, Problem> {
        if args.text("source").is_none()
            && let Some((name, service)) = self.0.service(args)?
            && service.metrics.is_none()
            && let Some(page) = self.0.clients.metrics_page(&name)
        {
            return Ok(From::Page(page));
        }
        self.0.pick(args).map(From::Server)
    }
}

#[async_trait]
impl ReadTool for ListMetrics {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        match (self.from(args), pattern(args, "pattern")) {
            (Ok(From::Server(picked)), Ok(_)) => Ok(target(picked.service, picked.client.name())),
            (Ok(From::Page(page)), Ok(_)) => {
                let service = self.0.service(args).map_err(|problem| vec![problem])?;
                Ok(target(service, page.name()))
            }
            (from, pattern) => Err(from.err().into_iter().chain(pattern.err()).collect()),
        }
    }

    async fn read(&self, args: &Arguments, reading: Reading<'_>) -> Result<Output, ReadError> {
        let pattern = pattern(args, "pattern").map_err(unfit)?;
        let limit = args.int("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(DEFAULT_LIMIT);
        match self.from(args).map_err(unfit)? {
            From::Page(page) => {
                let answer = unless_cancelled(reading.cancel, page.page(exposition::ACCEPT, BODY_CAP)).await?.good()?;
                let known = of_page(&exposition::parse(&answer.text()));
                Ok(output(&page.url(), known, pattern.as_ref(), limit))
            }
            From::Server(picked) => {
                let (name, known) = unless_cancelled(reading.cancel, of_server(&picked, reading.now)).await?;
                Ok(output(name, known, pattern.as_ref(), limit))
            }
        }
    }
}

async fn of_server<'a>(picked: &Picked<'a>, now: Timestamp) -> Result<(&'a str, BTreeMap<String, Known>), ReadError> {
    let labels = picked.service.as_ref().and_then(|(_, service)| service.metrics.as_ref()).map(|series| &series.labels);
    let selector = labels.map_or(Ok(None), Selector::of).map_err(|error| ReadError::Invalid {
        reason: "LABEL_INVALID",
        message: format!("`metrics.labels` of the service: {error}"),
    })?;
    let server = Prometheus(picked.client);
    let (names, metadata) =
        futures_util::future::join(server.names(selector.as_ref(), now, BACK), server.metadata()).await;
    // Types and help are an extra that not every server has; names alone are an answer.
    let mut metadata = metadata.map(|told| told.data).unwrap_or_default();
    let known = names?.data.into_iter().map(|name| {
        let about = about(&name, &mut metadata);
        (name, about)
    });
    Ok((picked.client.name().as_str(), known.collect()))
}

fn about(
    name: &str,
    metadata: &mut BTreeMap<String, Vec<crate::tools::sources::prometheus::answer::Metadata>>,
) -> Known {
    let bases = ["", "_bucket", "_sum", "_count", "_total"].iter().filter_map(|suffix| name.strip_suffix(suffix));
    let found = bases.filter_map(|base| metadata.get(base)).find_map(|all| all.first());
    let given = |text: &String| (!text.is_empty()).then(|| text.clone());
    Known { kind: found.and_then(|about| given(&about.kind)), help: found.and_then(|about| given(&about.help)) }
}

fn of_page(page: &Page) -> BTreeMap<String, Known> {
    let metrics = family::metrics(page).into_iter();
    metrics
        .map(|metric| {
            let help = page.about.get(&metric.name).and_then(|about| about.help.clone());
            (metric.name, Known { kind: Some(metric.kind.as_str().to_owned()), help })
        })
        .collect()
}

/// What the tool itself counts and says.
const OWN: &[(&str, Origin)] = &[("source", Origin::Warrant), ("matched", Origin::Warrant), ("note", Origin::Warrant)];

fn output(source: &str, known: BTreeMap<String, Known>, pattern: Option<&Regex>, limit: usize) -> Output {
    let total = known.len();
    let fits = |name: &str| pattern.is_none_or(|pattern| pattern.is_match(name));
    let mut rows: Vec<Value> = known
        .into_iter()
        .filter(|(name, _)| fits(name))
        .map(|(name, about)| json!({"name": name, "type": about.kind, "help": about.help}))
        .collect();
    let matched = rows.len();
    rows.truncate(limit);

    let mut summary = Map::new();
    summary.insert("source".to_owned(), Value::from(source));
    summary.insert("metrics".to_owned(), Value::from(total));
    summary.insert("matched".to_owned(), Value::from(matched));
    if matched == 0 && total > 0 {
        summary.insert("note".to_owned(), Value::from("no name fits `pattern`; try a shorter part of the name"));
    }
    let mut output = Output::items(Origin::Metric, summary, "metrics", rows).with_fields(OWN);
    output.matched = Some(u64::try_from(matched).unwrap_or(u64::MAX));
    output.left_out = (matched > limit)
        .then(|| format!("{matched} names matched, the first {limit} are here; narrow `pattern` or raise `limit`"));
    output
}
