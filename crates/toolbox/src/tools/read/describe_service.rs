//! `describe_service`: everything the catalog says of one service.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use warrant_kernel::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::name::ServiceName;
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::{Target, TargetKind};

use super::list_services::catalog_source;
use crate::catalog::Catalog;
use crate::catalog::service::Service;

/// Most services named as dependants; a summary is never cut, so it must stay small.
const MAX_NAMES: usize = 50;

struct DescribeService {
    catalog: Arc<Catalog>,
}

/// The tool.
#[must_use]
pub fn describe_service(catalog: Arc<Catalog>) -> Arc<dyn ReadTool> {
    Arc::new(DescribeService { catalog })
}

/// The service that the argument `service` names, with its entry in the catalog.
///
/// # Errors
/// A problem where there is no such service; the schema stage has said so before, with near names.
pub(super) fn service_of<'a>(catalog: &'a Catalog, args: &Arguments) -> Result<(ServiceName, &'a Service), Problem> {
    let name = args.service("service").ok_or_else(|| Problem::of("service", "name a service of `list_services`"))?;
    match catalog.service(&name) {
        Some(service) => Ok((name, service)),
        None => Err(Problem::of("service", format!("there is no service `{name}`; `list_services` names them"))),
    }
}

/// A service as the target of a call on `source`.
pub(super) fn service_target(
    name: ServiceName,
    service: &Service,
    source: warrant_kernel::domain::name::SourceName,
) -> Target {
    Target {
        kind: TargetKind::Service,
        name: name.to_string(),
        environment: service.environment.clone(),
        owner: service.owner.clone(),
        service: Some(name),
        source,
    }
}

fn description(catalog: &Catalog, name: &ServiceName, service: &Service) -> Map<String, Value> {
    let dependants: Vec<&ServiceName> = catalog
        .services()
        .iter()
        .filter(|(_, other)| other.depends_on.contains(name))
        .map(|(other, _)| other)
        .take(MAX_NAMES)
        .collect();
    let facts = [
        ("service", json!(name)),
        ("description", json!(service.description)),
        ("environment", json!(service.environment)),
        ("owner", json!(service.owner)),
        ("team", json!(service.team)),
        ("links", json!(service.links)),
        ("depends_on", json!(service.depends_on)),
        ("depended_on_by", json!(dependants)),
        ("logs", json!(service.logs)),
        ("metrics", json!(service.metrics)),
        ("metrics_url", json!(service.metrics_url)),
        ("health", json!(service.health)),
        ("files", json!(service.files)),
        ("changes", json!(service.changes)),
        ("deploys", json!(service.deploys)),
    ];
    let stated = facts.into_iter().filter(|(_, fact)| match fact {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => true,
    });
    stated.map(|(key, fact)| (key.to_owned(), fact)).collect()
}

#[async_trait]
impl ReadTool for DescribeService {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        let (name, service) = service_of(&self.catalog, args).map_err(|problem| vec![problem])?;
        Ok(service_target(name, service, catalog_source()?))
    }

    async fn read(&self, args: &Arguments, _reading: Reading<'_>) -> Result<Output, ReadError> {
        let (name, service) = service_of(&self.catalog, args)
            .map_err(|problem| ReadError::Invalid { reason: "NO_SUCH_SERVICE", message: problem.message })?;
        let summary = description(&self.catalog, &name, service);
        Ok(Output::items(Origin::Catalog, summary, "notes", Vec::new()))
    }
}
