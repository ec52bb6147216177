//! What has been seen so far, by service.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use warrant_kernel::domain::name::{EvidenceId, ServiceName};
use warrant_kernel::domain::run::Run;
use warrant_kernel::domain::time::rfc3339;
use warrant_toolbox::catalog::Catalog;

use crate::agent::model::{Request, Seen};
use crate::agent::remedies::calls::{Calls, Wanted};
use crate::agent::state::CallKind;

/// Services looked at: the one in question and those behind it.
const MOST_SERVICES: usize = 10;

/// Errors or warnings now, over those of the window before, that are still noise.
const NOISE: f64 = 3.0;

/// Growth that is still noise.
const FACTOR: f64 = 1.5;

/// Days below which a certificate needs somebody.
const CERTIFICATE_DAYS: f64 = 14.0;

/// A service in scope.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    pub(super) service: ServiceName,
    /// How many calls away from the service in question.
    pub(super) depth: usize,
}

/// How unwell a service looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trouble {
    Calm,
    Warnings,
    Errors,
}

/// The view.
pub(super) struct Scene<'a> {
    pub(super) run: &'a Run,
    pub(super) catalog: &'a Catalog,
    pub(super) seen: &'a [Seen<'a>],
    pub(super) places: Vec<Place>,
    pub(super) calls: Calls<'a>,
}

impl<'a> Scene<'a> {
    pub(super) fn of(catalog: &'a Catalog, request: &Request<'a>) -> Self {
        let calls = Calls::new(request.seen.iter().copied());
        Self { run: request.run, catalog, seen: request.seen, places: places(catalog, request.run), calls }
    }

    /// The result of a call, if it was made.
    pub(super) fn result_of(&self, wanted: &Wanted) -> Option<Seen<'a>> {
        self.calls.of(wanted)
    }

    /// When the call with this number was answered.
    pub(super) fn ended(&self, number: u64) -> Option<Timestamp> {
        self.seen.iter().find(|seen| seen.call.number == number).map(|seen| seen.ended_at)
    }

    pub(super) fn has_seen(&self, wanted: &Wanted) -> bool {
        self.result_of(wanted).is_some()
    }

    /// What every service in scope is looked at with, as far as the catalog knows how.
    pub(super) fn look_around(&self) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        for place in &self.places {
            let Some(service) = self.catalog.service(&place.service) else { continue };
            if !service.logs.is_empty() {
                wanted.push(self.compare_logs(&place.service));
            }
            if !service.health.is_empty() {
                wanted.push(http_check(&place.service));
            }
        }
        wanted
    }

    /// Whether the catalog knows a source in which this tool finds something of the service.
    pub(super) fn can_look(&self, service: &ServiceName, tool: &str) -> bool {
        let Some(service) = self.catalog.service(service) else { return false };
        match tool {
            "search_logs" | "compare_logs" => !service.logs.is_empty(),
            "query_metrics" | "list_metrics" => service.metrics.is_some(),
            "scrape_metrics" => service.metrics_url.is_some(),
            "http_check" => !service.health.is_empty(),
            _ => true,
        }
    }

    fn compare_logs(&self, service: &ServiceName) -> Wanted {
        compare_logs(service, self.run.since)
    }

    /// Data and evidence of a service's logs beside the window before.
    pub(super) fn logs(&self, service: &ServiceName) -> Option<(EvidenceId, &'a Value)> {
        data(self.result_of(&self.compare_logs(service))?)
    }

    /// Data and evidence of a service's health URLs.
    pub(super) fn health(&self, service: &ServiceName) -> Option<(EvidenceId, &'a Value)> {
        data(self.result_of(&http_check(service))?)
    }

    /// Changed places of all services, newest first, with their evidence.
    pub(super) fn changes(&self) -> Vec<(EvidenceId, &'a Value)> {
        let mut changes: Vec<(EvidenceId, &'a Value)> = Vec::new();
        // What was changed since by Warrant itself is no suspect.
        let written = self.seen.iter().position(|seen| seen.kind == CallKind::Write).unwrap_or(self.seen.len());
        for seen in self.seen.iter().take(written).filter(|seen| seen.call.tool == "recent_changes") {
            let Some((evidence, data)) = data(*seen) else { continue };
            let rows = data.pointer("/changes").and_then(Value::as_array);
            changes.extend(rows.into_iter().flatten().map(|row| (evidence, row)));
        }
        changes
    }

    /// Whether the health of any service in scope was seen.
    pub(super) fn saw_signals(&self) -> bool {
        self.places.iter().any(|place| self.logs(&place.service).is_some() || self.health(&place.service).is_some())
    }

    pub(super) fn trouble(&self, service: &ServiceName) -> Trouble {
        let grown = |data: &Value, what: &str| {
            let at = |when: &str| data.pointer(&format!("/{what}/{when}")).and_then(Value::as_f64).unwrap_or(0.0);
            at("now") > at("before") * FACTOR + NOISE
        };
        if self.needs_certificate(service) || self.is_unhealthy(service) {
            return Trouble::Errors;
        }
        match self.logs(service) {
            Some((_, data)) if grown(data, "errors") => Trouble::Errors,
            Some((_, data)) if grown(data, "warnings") => Trouble::Warnings,
            Some(_) | None => Trouble::Calm,
        }
    }

    pub(super) fn needs_certificate(&self, service: &ServiceName) -> bool {
        let days = self.health(service).and_then(|(_, data)| data.pointer("/certificate_days_left")?.as_f64());
        days.is_some_and(|days| days < CERTIFICATE_DAYS)
    }

    pub(super) fn is_unhealthy(&self, service: &ServiceName) -> bool {
        let count = self.health(service).and_then(|(_, data)| data.pointer("/unhealthy")?.as_f64());
        count.is_some_and(|count| count > 0.0)
    }

    /// When the trouble of a service began, as far as its logs tell.
    pub(super) fn onset(&self, service: &ServiceName) -> Option<Timestamp> {
        let (_, data) = self.logs(service)?;
        data.pointer("/onset")?.as_str()?.parse().ok()
    }

    /// The earliest onset of any service in scope.
    pub(super) fn first_onset(&self) -> Option<Timestamp> {
        self.places.iter().filter_map(|place| self.onset(&place.service)).min()
    }

    pub(super) fn depth(&self, service: &ServiceName) -> Option<usize> {
        self.places.iter().find(|place| place.service == *service).map(|place| place.depth)
    }

    /// The end of the window that checks look at: the last look so far.
    pub(super) fn until(&self) -> Timestamp {
        self.run.opened_at.checked_add(SignedDuration::from_secs(1)).unwrap_or(self.run.opened_at)
    }
}

/// The logs since a time beside those of the window before.
pub(super) fn compare_logs(service: &ServiceName, since: Timestamp) -> Wanted {
    Wanted { tool: "compare_logs".to_owned(), args: json!({ "service": service, "since": rfc3339(since) }) }
}

fn http_check(service: &ServiceName) -> Wanted {
    Wanted { tool: "http_check".to_owned(), args: json!({ "service": service }) }
}

fn data(seen: Seen<'_>) -> Option<(EvidenceId, &Value)> {
    seen.result.evidence.filter(|_| seen.result.ok).map(|evidence| (evidence, &seen.result.data))
}

/// The service in question and all behind it, nearest first; every service where none is in question.
fn places(catalog: &Catalog, run: &Run) -> Vec<Place> {
    let Some(first) = &run.service else {
        let all = catalog.services().keys().take(MOST_SERVICES);
        return all.map(|service| Place { service: service.clone(), depth: 0 }).collect();
    };
    let mut known: BTreeSet<&ServiceName> = BTreeSet::from([first]);
    let mut places = vec![Place { service: first.clone(), depth: 0 }];
    let mut next = 0;
    while let Some(Place { service, depth }) = places.get(next).cloned() {
        next += 1;
        let dependencies = catalog.service(&service).map(|service| service.depends_on.as_slice()).unwrap_or_default();
        for dependency in dependencies {
            if places.len() < MOST_SERVICES && known.insert(dependency) {
                places.push(Place { service: dependency.clone(), depth: depth + 1 });
            }
        }
    }
    places
}
