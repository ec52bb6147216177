//! All clients of the config, made once at start. No connection is opened and no TLS is set up before the first read.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use reqwest::{Certificate, Url};
use warrant_kernel::domain::name::{ServiceName, SourceName};

use super::place::{Place, Query, SourceProblem, checked};
use super::wire::{Scheme, Wire};
use super::{Credentials, HttpClient};
use crate::catalog::Catalog;
use crate::catalog::reach::Reach;
use crate::catalog::service::Service;
use crate::catalog::source::HttpSource;
use crate::tools::sources::prometheus::Window;
use crate::tools::sources::prometheus::query;

/// The URLs of one service.
#[derive(Default)]
struct Pages {
    metrics: Option<Arc<HttpClient>>,
    health: Vec<Arc<HttpClient>>,
}

/// The clients of all HTTP sources and of the services' own pages.
#[derive(Default)]
pub struct HttpClients {
    metrics: BTreeMap<SourceName, Arc<HttpClient>>,
    alertmanagers: BTreeMap<SourceName, Arc<HttpClient>>,
    http: BTreeMap<SourceName, Arc<HttpClient>>,
    pages: BTreeMap<ServiceName, Pages>,
}

impl HttpClients {
    /// Makes them; `env` gives the value of an environment variable.
    ///
    /// # Errors
    /// Every URL, credential and CA that can't be used.
    pub fn new(catalog: &Catalog, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, Vec<SourceProblem>> {
        let mut made = Self::default();
        let mut problems = Vec::new();
        let sources = catalog.sources();
        for (kind, from, to) in [
            ("metrics", &sources.metrics, &mut made.metrics),
            ("alertmanagers", &sources.alertmanagers, &mut made.alertmanagers),
            ("http", &sources.http, &mut made.http),
        ] {
            for (name, source) in from {
                match of_source(&Place::Source { kind, name: name.clone() }, name, source, env) {
                    Ok(client) => drop(to.insert(name.clone(), Arc::new(client))),
                    Err(problem) => problems.push(problem),
                }
            }
        }
        for (name, service) in catalog.services() {
            let mut page = |field: &'static str, url: &String| {
                let place = Place::Service { service: name.clone(), field };
                of_page(&place, name, url, service).map_err(|error| problems.push(error)).ok()
            };
            let metrics = service.metrics_url.as_ref().and_then(|url| page("metrics_url", url)).map(Arc::new);
            let health = service.health.iter().filter_map(|url| page("health", url)).map(Arc::new).collect();
            problems.extend(unfit_signals(name, service));
            made.pages.insert(name.clone(), Pages { metrics, health });
        }
        if problems.is_empty() { Ok(made) } else { Err(problems) }
    }

    /// The servers with the Prometheus API, by name.
    #[must_use]
    pub fn metrics(&self) -> &BTreeMap<SourceName, Arc<HttpClient>> {
        &self.metrics
    }

    /// The Alertmanagers, by name.
    #[must_use]
    pub fn alertmanagers(&self) -> &BTreeMap<SourceName, Arc<HttpClient>> {
        &self.alertmanagers
    }

    /// The servers that `run = http` tools read, by name.
    #[must_use]
    pub fn http(&self) -> &BTreeMap<SourceName, Arc<HttpClient>> {
        &self.http
    }

    /// The `metrics_url` of a service.
    #[must_use]
    pub fn metrics_page(&self, service: &ServiceName) -> Option<&Arc<HttpClient>> {
        self.pages.get(service)?.metrics.as_ref()
    }

    /// The health URLs of a service.
    #[must_use]
    pub fn health(&self, service: &ServiceName) -> &[Arc<HttpClient>] {
        self.pages.get(service).map(|pages| pages.health.as_slice()).unwrap_or_default()
    }

    /// Every secret that a client sends: for the redactor, which masks them wherever they turn up.
    #[must_use]
    pub fn secrets(&self) -> Vec<&str> {
        let all = self.metrics.values().chain(self.alertmanagers.values()).chain(self.http.values());
        all.filter_map(|client| match &client.credentials {
            Credentials::None => None,
            Credentials::Bearer(secret) | Credentials::Basic { password: secret, .. } => Some(secret.as_str()),
        })
        .collect()
    }
}

/// The signals of a service that would be refused when they are asked.
fn unfit_signals(name: &ServiceName, service: &Service) -> Vec<SourceProblem> {
    // They are asked over the window of an investigation; an hour is what it looks back unless it is told.
    let hour = jiff::Timestamp::from_second(3600).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let window = Window::new(jiff::Timestamp::UNIX_EPOCH, hour);
    let signals = service.metrics.iter().flat_map(|series| &series.signals);
    let unfit = signals.filter_map(|(signal, text)| {
        let refused = query::Query::read(text).and_then(|query| query.over(window)).err()?;
        Some(SourceProblem::Signal { service: name.clone(), signal: signal.clone(), unfit: refused })
    });
    unfit.collect()
}

fn of_source(
    place: &Place,
    name: &SourceName,
    source: &HttpSource,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<HttpClient, SourceProblem> {
    let (base, reach) = checked(place, &source.url, Query::Refused, &source.addresses)?;
    let credentials = credentials(place, source, env)?;
    let wire = wire(place, &base, reach, source.ca_file.as_deref())?;
    Ok(HttpClient { name: name.clone(), place: place.clone(), base, credentials, wire })
}

fn of_page(place: &Place, name: &ServiceName, url: &str, service: &Service) -> Result<HttpClient, SourceProblem> {
    let (base, reach) = checked(place, url, Query::Allowed, &service.addresses)?;
    let wire = wire(place, &base, reach, service.ca_file.as_deref())?;
    let name = name.as_str().parse().map_err(|error| setting(place, format!("{error}")))?;
    Ok(HttpClient { name, place: place.clone(), base, credentials: Credentials::None, wire })
}

fn setting(place: &Place, why: String) -> SourceProblem {
    SourceProblem::Setting { place: place.clone(), why }
}

fn wire(place: &Place, base: &Url, reach: Reach, ca_file: Option<&Path>) -> Result<Wire, SourceProblem> {
    let scheme = if base.scheme() == "https" { Scheme::Tls } else { Scheme::Plain };
    let Some(path) = ca_file else { return Ok(Wire::new(scheme, reach, Vec::new())) };
    let shown = path.display();
    let pem = std::fs::read(path)
        .map_err(|error| setting(place, format!("`ca_file` {shown} can't be read ({error}); check path and rights")))?;
    let roots = Certificate::from_pem_bundle(&pem).unwrap_or_default();
    if roots.is_empty() {
        return Err(setting(place, format!("`ca_file` {shown} holds no certificate in PEM form")));
    }
    Ok(Wire::new(scheme, reach, roots))
}

fn credentials(
    place: &Place,
    source: &HttpSource,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Credentials, SourceProblem> {
    let variable = |key: &str, name: &str| match env(name).map(|value| value.trim().to_owned()) {
        Some(value) if !value.is_empty() => header_text(place, key, value),
        Some(_) | None => Err(setting(place, format!("`{key}`: the environment variable `{name}` is not set"))),
    };
    match (&source.bearer_token_env, &source.bearer_token_file, &source.basic_user, &source.basic_password_env) {
        (None, None, None, None) => Ok(Credentials::None),
        (Some(name), None, None, None) => Ok(Credentials::Bearer(variable("bearer_token_env", name)?)),
        (None, Some(path), None, None) => {
            let shown = path.display();
            let text = std::fs::read_to_string(path).map_err(|error| {
                setting(place, format!("`bearer_token_file` {shown} can't be read ({error}); check path and rights"))
            })?;
            Ok(Credentials::Bearer(header_text(place, "bearer_token_file", text.trim().to_owned())?))
        }
        (None, None, Some(user), Some(name)) => {
            Ok(Credentials::Basic { user: user.clone(), password: variable("basic_password_env", name)? })
        }
        (None, None, Some(_), None) => Err(setting(place, "`basic_user` needs `basic_password_env`".to_owned())),
        (None, None, None, Some(_)) => Err(setting(place, "`basic_password_env` needs `basic_user`".to_owned())),
        _ => Err(setting(
            place,
            "more than one way to authenticate; keep one of `bearer_token_env`, `bearer_token_file`, `basic_user`"
                .to_owned(),
        )),
    }
}

fn header_text(place: &Place, key: &str, value: String) -> Result<String, SourceProblem> {
    if value.is_empty() || value.len() > 16 * 1024 || value.chars().any(char::is_control) {
        return Err(setting(place, format!("`{key}`: what it names is empty, longer than 16 kB or of several lines")));
    }
    Ok(value)
}
