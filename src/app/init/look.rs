//! What there is on this machine that a first config could name: servers that answer, services, their units and log files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::time::timeout;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::domain::name::{ServiceName, SourceName};
use warrant_toolbox::catalog::Catalog;
use warrant_toolbox::catalog::source::{HttpSource, Sources};
use warrant_toolbox::tools::sources::alertmanager::Alertmanager;
use warrant_toolbox::tools::sources::http::clients::HttpClients;
use warrant_toolbox::tools::sources::prometheus::Prometheus;

use super::Wanted;
use crate::app::fault::{Fault, told};
use crate::app::{SystemClock, environment};

/// Where a Prometheus listens unless it is told otherwise.
const PROMETHEUS: &str = "http://127.0.0.1:9090";

/// Where an Alertmanager does.
const ALERTMANAGER: &str = "http://127.0.0.1:9093";

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// How far back services are looked for.
const BACK: SignedDuration = SignedDuration::from_hours(1);

/// Labels whose values are services; the first counts.
const LABELS: [&str; 2] = ["service", "job"];

/// Most services that are offered.
const MOST: usize = 200;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Look {
    /// The Prometheus that answers.
    pub prometheus: Option<String>,
    /// The Alertmanager that answers.
    pub alertmanager: Option<String>,
    /// The services that the Prometheus knows, with the label that selects them.
    pub services: BTreeMap<ServiceName, &'static str>,
    /// How services of these names are restarted here.
    restarts: BTreeMap<ServiceName, Value>,
    /// What there is to say: a server that was named and does not answer, and why.
    pub notes: Vec<String>,
}

impl Look {
    pub(super) fn label_of(&self, service: &ServiceName) -> Option<&'static str> {
        self.services.get(service).copied()
    }

    pub(super) fn restart_of(&self, service: &ServiceName) -> Option<&Value> {
        self.restarts.get(service)
    }

    /// Looks how services are restarted here, below the root of a file system.
    pub fn units(&mut self, services: &[ServiceName], root: &Path) {
        for service in services {
            if let Some(restart) = unit(service, root) {
                self.restarts.insert(service.clone(), restart);
            }
        }
    }
}

/// Looks at the servers that are named, and where none is, at where they usually listen.
///
/// # Errors
/// [`Fault::Usage`] for a URL that can't be used.
pub async fn look(wanted: &Wanted) -> Result<Look, Fault> {
    let mut look = Look::default();
    let clients = clients(wanted)?;
    for server in clients.metrics().values() {
        let asked = async {
            let mut found = BTreeMap::new();
            for label in LABELS {
                for value in Prometheus(server).values(label, SystemClock.now(), BACK).await?.data {
                    if let (Ok(service), true) = (value.parse::<ServiceName>(), found.len() < MOST) {
                        found.entry(service).or_insert(label);
                    }
                }
            }
            Ok::<_, warrant_kernel::call::tool::ReadError>(found)
        };
        match (timeout(PATIENCE, asked).await, &wanted.prometheus) {
            (Ok(Ok(found)), named) => {
                look.services = found;
                look.prometheus = Some(named.clone().unwrap_or_else(|| PROMETHEUS.to_owned()));
            }
            (Ok(Err(error)), Some(url)) => look.notes.push(format!("{url}: {}", told(&error))),
            (Err(_), Some(url)) => look.notes.push(format!("{url}: no answer within {} s", PATIENCE.as_secs())),
            (Ok(Err(_)) | Err(_), None) => {}
        }
    }
    for server in clients.alertmanagers().values() {
        match (timeout(PATIENCE, Alertmanager(server).alerts()).await, &wanted.alertmanager) {
            (Ok(Ok(_)), named) => {
                look.alertmanager = Some(named.clone().unwrap_or_else(|| ALERTMANAGER.to_owned()));
            }
            (Ok(Err(error)), Some(url)) => look.notes.push(format!("{url}: {}", told(&error))),
            (Err(_), Some(url)) => look.notes.push(format!("{url}: no answer within {} s", PATIENCE.as_secs())),
            (Ok(Err(_)) | Err(_), None) => {}
        }
    }
    Ok(look)
}

fn clients(wanted: &Wanted) -> Result<HttpClients, Fault> {
    let name = || "main".parse::<SourceName>().map_err(|error| Fault::Failed(error.to_string()));
    let source = |url: &Option<String>, usual: &str| -> Result<BTreeMap<SourceName, HttpSource>, Fault> {
        let written = json!({ "url": url.as_deref().unwrap_or(usual) });
        let source = serde_json::from_value(written).map_err(|error| Fault::Failed(error.to_string()))?;
        Ok(BTreeMap::from([(name()?, source)]))
    };
    let sources = Sources {
        metrics: source(&wanted.prometheus, PROMETHEUS)?,
        alertmanagers: source(&wanted.alertmanager, ALERTMANAGER)?,
        ..Sources::default()
    };
    let listed = |errors: Vec<String>| Fault::Usage(errors.join("\n  "));
    let catalog = Catalog::new(BTreeMap::new(), sources)
        .map_err(|errors| listed(errors.iter().map(ToString::to_string).collect()))?;
    HttpClients::new(&catalog, &environment).map_err(|errors| listed(errors.iter().map(ToString::to_string).collect()))
}

/// How a service is restarted, by the directory or the unit file that bears its name.
fn unit(service: &ServiceName, root: &Path) -> Option<Value> {
    // A name with a slash in it is no name of a file.
    let name = Some(service.as_str()).filter(|name| !name.contains('/'))?;
    for dir in ["etc/service", "service", "var/service"] {
        if root.join(dir).join(name).join("run").is_file() {
            return Some(json!({ "manager": "runit", "dir": PathBuf::from("/").join(dir).join(name) }));
        }
    }
    let unit = format!("{name}.service");
    let dirs = ["etc/systemd/system", "usr/local/lib/systemd/system", "usr/lib/systemd/system", "lib/systemd/system"];
    let is_there = dirs.iter().any(|dir| root.join(dir).join(&unit).is_file());
    is_there.then(|| json!({ "manager": "systemd", "unit": unit }))
}

/// The usual place of a service's log files, where some are there.
#[must_use]
pub fn usual_logs(service: &ServiceName, root: &Path) -> Option<PathBuf> {
    let name = Some(service.as_str()).filter(|name| !name.contains('/'))?;
    let logs = Path::new("var/log");
    if root.join(logs).join(format!("{name}.log")).is_file() {
        return Some(Path::new("/").join(logs).join(format!("{name}.log")));
    }
    let entries = std::fs::read_dir(root.join(logs).join(name)).ok()?;
    let is_log = |path: &Path| path.is_file() && path.extension().is_some_and(|it| it == "log");
    let has_some = entries.flatten().take(1_000).any(|entry| is_log(&entry.path()));
    has_some.then(|| Path::new("/").join(logs).join(name).join("*.log"))
}
