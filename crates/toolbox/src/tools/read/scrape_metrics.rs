//! `scrape_metrics`: two looks at a service's own `/metrics` page, and what happened between them.

mod rows;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use regex::Regex;
use tokio::time::Instant;
use warrant_kernel::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::target::Target;

use super::metrics_source::{Servers, pattern, target, unfit, unless_cancelled};
use crate::catalog::Catalog;
use crate::tools::sources::exposition::delta::compare;
use crate::tools::sources::exposition::family::{Measure, Metric, metrics};
use crate::tools::sources::exposition::{self, Page};
use crate::tools::sources::http::answer::Extent;
use crate::tools::sources::http::clients::HttpClients;
use crate::tools::sources::http::{BODY_CAP, HttpClient};
use rows::{Looks, output};

const DEFAULT_INTERVAL: SignedDuration = SignedDuration::from_secs(2);
const LONGEST: SignedDuration = SignedDuration::from_secs(30);

/// The tool over the services' pages.
#[must_use]
pub fn scrape_metrics(catalog: Arc<Catalog>, clients: Arc<HttpClients>) -> Arc<dyn ReadTool> {
    Arc::new(ScrapeMetrics(Servers { catalog, clients }))
}

struct ScrapeMetrics(Servers);

impl ScrapeMetrics {
    fn page(&self, args: &Arguments) -> Result<&HttpClient, Problem> {
        let Some((name, _)) = self.0.service(args)? else {
            return Err(Problem::of("service", "name the service whose `/metrics` page is read"));
        };
        self.0.clients.metrics_page(&name).map(AsRef::as_ref).ok_or_else(|| {
            let message = format!("service `{name}` has no `metrics_url`; try `query_metrics` or `list_metrics`");
            Problem::of("service", message)
        })
    }
}

fn interval(args: &Arguments) -> Result<SignedDuration, Problem> {
    let interval = args.duration("interval").unwrap_or(DEFAULT_INTERVAL);
    if interval > LONGEST {
        return Err(Problem::of("interval", "at most 30s between the two looks"));
    }
    Ok(interval)
}

#[async_trait]
impl ReadTool for ScrapeMetrics {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        match (self.page(args), pattern(args, "match"), interval(args)) {
            (Ok(page), Ok(_), Ok(_)) => {
                let service = self.0.service(args).map_err(|problem| vec![problem])?;
                Ok(target(service, page.name()))
            }
            (page, pattern, interval) => {
                Err(page.err().into_iter().chain(pattern.err()).chain(interval.err()).collect())
            }
        }
    }

    async fn read(&self, args: &Arguments, reading: Reading<'_>) -> Result<Output, ReadError> {
        let page = self.page(args).map_err(unfit)?;
        let pattern = pattern(args, "match").map_err(unfit)?;
        let interval = interval(args).map_err(unfit)?.unsigned_abs();
        let scraped = unless_cancelled(reading.cancel, scrape(page, interval)).await?;
        let service = args.text("service").unwrap_or_default();
        Ok(told(service, &page.url(), pattern.as_ref(), scraped))
    }
}

/// The pages of two looks; the first is none where no time was to pass.
struct Scraped {
    first: Option<Page>,
    second: Page,
    extent: Extent,
    apart: Duration,
}

async fn scrape(page: &HttpClient, interval: Duration) -> Result<Scraped, ReadError> {
    let (first, _, began) = look(page).await?;
    if interval.is_zero() {
        return Ok(Scraped { first: None, second: first, extent: Extent::Whole, apart: Duration::ZERO });
    }
    tokio::time::sleep(interval).await;
    let (second, extent, ended) = look(page).await?;
    // Rates are over the time that really passed between the two answers.
    Ok(Scraped { first: Some(first), second, extent, apart: ended.duration_since(began) })
}

async fn look(page: &HttpClient) -> Result<(Page, Extent, Instant), ReadError> {
    let answer = page.page(exposition::ACCEPT, BODY_CAP).await?.good()?;
    let at = Instant::now();
    let read = exposition::parse(&answer.text());
    if read.samples.is_empty() && read.malformed > 0 {
        return Err(ReadError::Backend {
            reason: "MALFORMED",
            message: format!(
                "{} did not answer in the Prometheus text format; check `metrics_url`; it said: {}",
                page.url(),
                answer.excerpt(120)
            ),
            retryable: false,
        });
    }
    Ok((read, answer.extent(), at))
}

fn told(service: &str, url: &str, pattern: Option<&Regex>, scraped: Scraped) -> Output {
    let Scraped { first, second, extent, apart } = scraped;
    let before = first.as_ref().map(metrics).unwrap_or_default();
    let mut after = metrics(&second);
    let series = after.len();
    after.retain(|metric| matches(pattern, metric));
    let moved = compare(&before, after, apart.as_secs_f64());
    output(&Looks { service, url, apart, series, page: &second, extent }, moved)
}

/// Whether a metric is meant: by its name, or by the name of one of its samples.
fn matches(pattern: Option<&Regex>, metric: &Metric) -> bool {
    let Some(pattern) = pattern else { return true };
    let suffixes: &[&str] = match metric.measure {
        Measure::Counter(_) | Measure::Gauge(_) => &[],
        Measure::Distribution(_) => &["_bucket", "_sum", "_count"],
    };
    pattern.is_match(&metric.name)
        || suffixes.iter().any(|suffix| pattern.is_match(&[metric.name.as_str(), suffix].concat()))
}
