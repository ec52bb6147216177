//! `http_check`: asks the health URLs that the catalog has for a service, and looks at their certificates.

mod certificate;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout};
use warrant_kernel::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::Target;

use super::metrics_source::{Servers, target, unfit, unless_cancelled};
use crate::catalog::Catalog;
use crate::tools::sources::http::HttpClient;
use crate::tools::sources::http::clients::HttpClients;
use certificate::Certificate;

/// An endpoint that takes longer than this is not well.
const PATIENCE: Duration = Duration::from_secs(5);
/// Characters of an answer that are shown.
const SHOWN: usize = 500;
/// Endpoints asked at once.
const AT_ONCE: usize = 4;

/// The tool over the services' health URLs.
#[must_use]
pub fn http_check(catalog: Arc<Catalog>, clients: Arc<HttpClients>) -> Arc<dyn ReadTool> {
    Arc::new(HttpCheck(Servers { catalog, clients }))
}

struct HttpCheck(Servers);

/// How one endpoint is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    Well,
    Unwell,
}

struct Check {
    health: Health,
    row: Value,
    days_left: Option<i64>,
}

impl HttpCheck {
    fn urls(&self, args: &Arguments) -> Result<&[Arc<HttpClient>], Problem> {
        let Some((name, _)) = self.0.service(args)? else {
            return Err(Problem::of("service", "name the service whose health URLs are asked"));
        };
        match self.0.clients.health(&name) {
            [] => Err(Problem::of("service", format!("service `{name}` has no `health` URL in the config"))),
            urls => Ok(urls),
        }
    }
}

/// What the tool itself counts and says.
const OWN: &[(&str, Origin)] = &[
    ("service", Origin::Catalog),
    ("healthy", Origin::Warrant),
    ("unhealthy", Origin::Warrant),
    ("certificate_days_left", Origin::Warrant),
];

#[async_trait]
impl ReadTool for HttpCheck {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        let urls = self.urls(args).map_err(|problem| vec![problem])?;
        let service = self.0.service(args).map_err(|problem| vec![problem])?;
        let first = urls.first().ok_or_else(|| vec![Problem::of("service", "it has no `health` URL")])?;
        Ok(target(service, first.name()))
    }

    async fn read(&self, args: &Arguments, reading: Reading<'_>) -> Result<Output, ReadError> {
        let urls = self.urls(args).map_err(unfit)?;
        let now = reading.now;
        let asked = urls.iter().cloned().map(move |url| async move { check(&url, now).await });
        let all = async { Ok(stream::iter(asked).buffered(AT_ONCE).collect::<Vec<Check>>().await) };
        let checks = unless_cancelled(reading.cancel, all).await?;

        let healthy = checks.iter().filter(|check| check.health == Health::Well).count();
        let days_left = checks.iter().filter_map(|check| check.days_left).min();
        let mut summary = Map::new();
        summary.insert("service".to_owned(), Value::from(args.text("service")));
        summary.insert("healthy".to_owned(), Value::from(healthy));
        summary.insert("unhealthy".to_owned(), Value::from(checks.len() - healthy));
        summary.insert("certificate_days_left".to_owned(), Value::from(days_left));
        let rows = checks.into_iter().map(|check| check.row).collect();
        Ok(Output::items(Origin::Http, summary, "checks", rows).with_fields(OWN))
    }
}

async fn check(client: &HttpClient, now: Timestamp) -> Check {
    let began = Instant::now();
    // Characters of UTF-8 take up to four bytes.
    let answer = timeout(PATIENCE, client.page("*/*", SHOWN * 4)).await;
    let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);

    let (status, error, body, certificate) = match &answer {
        Err(_) => (None, Some(format!("no answer within {} s", PATIENCE.as_secs())), None, None),
        Ok(Err(error)) => (None, Some(error.to_string()), None, certificate_of_refused(client, error).await),
        Ok(Ok(answer)) => {
            let refusal = (!(200..300).contains(&answer.status())).then(|| answer.bad_status().to_string());
            let certificate = answer.certificate().map(<[u8]>::to_vec);
            (Some(answer.status()), refusal, Some(answer.excerpt(SHOWN)), certificate)
        }
    };
    let certificate = certificate.and_then(|der| Certificate::read(&der, now));
    let expired = certificate.as_ref().is_some_and(|certificate| certificate.days_left < 0);
    let health = if error.is_none() && !expired { Health::Well } else { Health::Unwell };
    Check {
        health,
        days_left: certificate.as_ref().map(|certificate| certificate.days_left),
        row: json!({
            "url": client.url(),
            "status": status,
            "ok": health == Health::Well,
            "duration_ms": duration_ms,
            "error": error,
            "body": body,
            "certificate": certificate.map(Certificate::into_row),
        }),
    }
}

/// The certificate that was not accepted, so that its dates can be told: an expired one is the usual reason.
async fn certificate_of_refused(client: &HttpClient, error: &ReadError) -> Option<Vec<u8>> {
    let ReadError::Backend { reason: "TLS", .. } = error else { return None };
    let hello = timeout(PATIENCE, client.unverified_hello()).await;
    hello.ok()?.ok()?.certificate().map(<[u8]>::to_vec)
}
