//! The opening sweep: a fixed, cheap list of calls before the model's first turn.
//!
//! Its results stand in the first request, so that the model needs fewer turns and there is something to say even if
//! no model ever answers. The calls pass all seven stages like any other.

use jiff::SignedDuration;
use serde_json::{Value, json};
use warrant_kernel::call::registry::Registry;
use warrant_kernel::domain::event::{Call, Caller};
use warrant_kernel::domain::name::CallId;
use warrant_kernel::domain::run::{Run, Trigger};
use warrant_kernel::domain::time::rfc3339;
use warrant_toolbox::catalog::Catalog;

/// Main signals of a service that the sweep looks at.
const MOST_SIGNALS: usize = 4;

/// A cause may have been planted this long before the window.
const CHANGES_BEFORE: SignedDuration = SignedDuration::from_hours(6);

/// The words of a trigger that runbooks are searched by.
const QUERY_CHARS: usize = 500;

/// The sweep's calls for a run, only of tools that the role sees and of signals that the catalog knows.
#[must_use]
pub fn calls(run: &Run, catalog: &Catalog, registry: &Registry) -> Vec<Call> {
    let mut wanted: Vec<(&str, Value)> = Vec::new();
    let since = rfc3339(run.since);
    let service = run.service.as_ref().and_then(|name| catalog.service(name).map(|service| (name, service)));
    match service {
        Some((name, _)) => wanted.push(("describe_service", json!({ "service": name }))),
        None => wanted.push(("list_services", json!({}))),
    }
    let sources = catalog.sources();
    if !(sources.alertmanagers.is_empty() && sources.metrics.is_empty()) {
        wanted.push(("active_alerts", service.map_or_else(|| json!({}), |(name, _)| json!({ "service": name }))));
    }
    wanted.push(("search_runbooks", runbook_query(run)));
    if let Some((name, service)) = service {
        if !service.logs.is_empty() {
            wanted.push(("compare_logs", json!({ "service": name, "since": since })));
        }
        if let Some(series) = &service.metrics {
            for query in series.signals.values().take(MOST_SIGNALS) {
                wanted.push(("query_metrics", json!({ "service": name, "query": query, "since": since })));
            }
        }
        if service.metrics_url.is_some() {
            wanted.push(("scrape_metrics", json!({ "service": name, "interval": "1s" })));
        }
        if !service.health.is_empty() {
            wanted.push(("http_check", json!({ "service": name })));
        }
    }
    let earlier = run.since.checked_sub(CHANGES_BEFORE).unwrap_or(run.since);
    wanted.push(("recent_changes", json!({ "since": rfc3339(earlier) })));
    let seen = |tool: &str| registry.for_role(&run.role).any(|known| known.about().name.as_str() == tool);
    // A role that sees none of them is told so by the first, for the investigation must begin with something.
    if wanted.iter().any(|(tool, _)| seen(tool)) {
        wanted.retain(|(tool, _)| seen(tool));
    } else {
        wanted.truncate(1);
    }
    (1..)
        .zip(wanted)
        .map(|(number, (tool, arguments))| Call {
            id: CallId::nth(number),
            number,
            tool: tool.to_owned(),
            arguments: arguments.to_string(),
            by: Caller::Sweep,
        })
        .collect()
}

fn runbook_query(run: &Run) -> Value {
    let text: String = run.trigger.text().chars().take(QUERY_CHARS).collect();
    let mut query = json!({ "query": text, "limit": 3 });
    if let Value::Object(map) = &mut query {
        if let Trigger::Alert { name, .. } = &run.trigger {
            map.insert("alert".to_owned(), json!(name));
        }
        if let Some(service) = &run.service {
            map.insert("service".to_owned(), json!(service));
        }
    }
    query
}
