//! Doubles for the tests of the HTTP tools: a server on a free port of loopback, a catalog from text, one read.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::{Arguments, EvidencePage, EvidencePages, ReadError, ReadTool, Reading};
use warrant_kernel::domain::name::{EvidenceId, ServiceName};
use warrant_kernel::domain::output::{Output, Rows};
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger, Writes};

use crate::catalog::Catalog;
use crate::catalog::service::Service;
use crate::catalog::source::Sources;
use crate::tools::sources::http::clients::HttpClients;

/// The time at which all tests read.
pub const NOW: &str = "2026-03-01T12:00:00Z";

/// Serves `router` on a free port and gives its base URL. It ends with the test's runtime.
pub async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

/// A base URL at which nothing listens.
pub async fn nobody() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    #[serde(default)]
    sources: Sources,
    #[serde(default)]
    services: BTreeMap<ServiceName, Service>,
}

/// A catalog and its clients, from the sections `sources` and `services` in TOML.
pub fn setup(toml: &str) -> (Arc<Catalog>, Arc<HttpClients>) {
    let config: Config = toml::from_str(toml).unwrap();
    let catalog = Catalog::new(config.services, config.sources).unwrap();
    let clients = HttpClients::new(&catalog, &|_| None).unwrap();
    (Arc::new(catalog), Arc::new(clients))
}

/// What is wrong with a catalog whose clients can't be made.
pub fn refusals(toml: &str) -> Vec<String> {
    let config: Config = toml::from_str(toml).unwrap();
    let catalog = Catalog::new(config.services, config.sources).unwrap();
    let problems = HttpClients::new(&catalog, &|_| None).err().unwrap();
    problems.iter().map(ToString::to_string).collect()
}

/// Arguments as the schema stage hands them on.
pub fn args(json: Value) -> Arguments {
    let Value::Object(map) = json else { panic!("arguments are an object") };
    Arguments::checked(map)
}

/// Resolves and reads.
pub async fn read(tool: &dyn ReadTool, json: Value) -> Result<Output, ReadError> {
    read_until(tool, json, &CancellationToken::new()).await
}

/// Resolves and reads until cancelled.
pub async fn read_until(tool: &dyn ReadTool, json: Value, cancel: &CancellationToken) -> Result<Output, ReadError> {
    let (args, now) = (args(json), NOW.parse().unwrap());
    tool.resolve(&args, now).unwrap();
    tool.read(&args, Reading { now, run: &run(now), cancel, evidence: &NoEvidence }).await
}

/// What a tool says against arguments.
pub fn problems(tool: &dyn ReadTool, json: Value) -> Vec<String> {
    let refused = tool.resolve(&args(json), NOW.parse().unwrap()).unwrap_err();
    refused.into_iter().map(|problem| format!("{}: {}", problem.pointer, problem.message)).collect()
}

/// The structured rows of an output.
pub fn items(output: Output) -> Vec<Value> {
    match output.rows {
        Rows::Items(items) => items,
        Rows::Lines(lines) => panic!("lines: {lines:?}"),
    }
}

fn run(now: Timestamp) -> Run {
    Run {
        investigation: "i1".parse().unwrap(),
        trigger: Trigger::Question { text: "why".to_owned() },
        requester: Requester { person: "ada".parse().unwrap(), groups: Vec::new() },
        role: "general-purpose".parse().unwrap(),
        channel: Channel::Terminal,
        writes: Writes::Off,
        service: None,
        since: now,
        opened_at: now,
    }
}

struct NoEvidence;

#[async_trait]
impl EvidencePages for NoEvidence {
    async fn page(&self, _: EvidenceId, _: u64, _: u64) -> Result<Option<EvidencePage>, ReadError> {
        Ok(None)
    }
}
