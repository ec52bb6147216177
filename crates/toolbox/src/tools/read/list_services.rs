//! `list_services`: which services there are, and what is known of each.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use warrant_kernel::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::name::{ServiceName, SourceName};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::{Target, TargetKind};

use super::sight::{Seen, Sight, hidden};
use crate::catalog::Catalog;
use crate::catalog::service::Service;

struct ListServices {
    catalog: Arc<Catalog>,
    sight: Arc<dyn Sight>,
}

/// The tool.
#[must_use]
pub fn list_services(catalog: Arc<Catalog>, sight: Arc<dyn Sight>) -> Arc<dyn ReadTool> {
    Arc::new(ListServices { catalog, sight })
}

/// The catalog, as the source that a call counts against.
pub(super) fn catalog_source() -> Result<SourceName, Vec<Problem>> {
    "catalog".parse().map_err(|error| vec![Problem::of("", format!("{error}"))])
}

/// The kinds of signals that are configured for a service, by the names of its sections in the config.
fn signals(service: &Service) -> Vec<&'static str> {
    let kinds = [
        ("logs", !service.logs.is_empty()),
        ("metrics", service.metrics.is_some()),
        ("metrics_url", service.metrics_url.is_some()),
        ("health", !service.health.is_empty()),
        ("files", !service.files.is_empty()),
        ("changes", !service.changes.is_empty()),
        ("deploys", !service.deploys.is_empty()),
    ];
    kinds.into_iter().filter(|(_, configured)| *configured).map(|(kind, _)| kind).collect()
}

fn row(name: &ServiceName, service: &Service) -> Value {
    let mut row = json!({
        "name": name,
        "description": service.description,
        "environment": service.environment,
        "owner": service.owner,
        "depends_on": service.depends_on,
        "signals": signals(service),
    });
    if let Value::Object(facts) = &mut row {
        facts.extend(service.team.iter().map(|team| ("team".to_owned(), json!(team))));
        if !service.links.is_empty() {
            facts.insert("links".to_owned(), json!(service.links));
        }
    }
    row
}

#[async_trait]
impl ReadTool for ListServices {
    fn resolve(&self, _args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        Ok(Target {
            kind: TargetKind::Catalog,
            name: "catalog".to_owned(),
            service: None,
            environment: None,
            owner: None,
            source: catalog_source()?,
        })
    }

    async fn read(&self, _args: &Arguments, reading: Reading<'_>) -> Result<Output, ReadError> {
        let seen = Seen::of(&self.catalog, &*self.sight, reading.run, reading.now);
        let all = self.catalog.services();
        let shown = all.iter().filter(|(name, _)| seen.shows(name.as_str()));
        let rows: Vec<Value> = shown.map(|(name, service)| row(name, service)).collect();
        let left_out = hidden(all.len() - rows.len(), "rows");
        let mut summary = Map::new();
        summary.insert("services_known".to_owned(), rows.len().into());
        let mut output = Output::items(Origin::Catalog, summary, "services", rows);
        output.left_out = left_out;
        Ok(output)
    }
}

#[cfg(test)]
mod tests;
