//! Which runbooks to try on which services.

use std::collections::BTreeSet;

use serde_json::Value;
use warrant_kernel::domain::name::ServiceName;
use warrant_kernel::domain::run::Trigger;
use warrant_toolbox::runbook::document::Runbook;
use warrant_toolbox::runbook::library::Library;
use warrant_toolbox::runbook::search::Question;

use super::scene::{Scene, Trouble};

/// Services whose runbooks are tried.
const MOST_SUSPECTS: usize = 4;

/// Runbooks tried on one service.
const MOST_RUNBOOKS: usize = 6;

/// Messages of a service's log that runbooks are searched by.
const MOST_MESSAGES: usize = 4;

/// A runbook to be tried on a service.
#[derive(Debug, Clone)]
pub(super) struct Candidate<'a> {
    pub(super) service: ServiceName,
    pub(super) runbook: &'a Runbook,
}

/// The candidates: for each suspect the runbooks that its own messages and the trigger point to.
pub(super) fn candidates<'a>(scene: &Scene<'a>, library: &'a Library) -> Vec<Candidate<'a>> {
    let mut found = Vec::new();
    for service in suspects(scene) {
        let mut ids = BTreeSet::new();
        for (alert, text) in questions(scene, &service) {
            // Ranked without the floor of a search: trying a runbook costs a few reads, missing the right one a cause.
            let hits = library.ranked(Question { text: &text, alert: alert.as_deref(), service: Some(&service) });
            for hit in hits.into_iter().filter(|hit| !hit.runbook.checks.is_empty()).take(3) {
                if ids.len() < MOST_RUNBOOKS && ids.insert(&hit.runbook.id) {
                    found.push(Candidate { service: service.clone(), runbook: hit.runbook });
                }
            }
        }
        if scene.logs(&service).is_none() {
            // Its log says nothing, so nothing tells the mechanisms apart but their own checks.
            let all = library.runbooks().iter().filter(|runbook| !runbook.checks.is_empty());
            let untold = all.filter(|runbook| ids.insert(&runbook.id));
            found.extend(untold.map(|runbook| Candidate { service: service.clone(), runbook }));
        }
    }
    found
}

/// Services that look unwell, the deepest first; where none does, all of them.
fn suspects(scene: &Scene<'_>) -> Vec<ServiceName> {
    let of = |least: Trouble| -> Vec<_> {
        scene.places.iter().filter(|place| scene.trouble(&place.service) >= least).collect()
    };
    let unwell = of(Trouble::Warnings);
    let mut suspects = if unwell.is_empty() { of(Trouble::Calm) } else { unwell };
    suspects.sort_by_key(|place| std::cmp::Reverse((scene.trouble(&place.service), place.depth)));
    suspects.into_iter().take(MOST_SUSPECTS).map(|place| place.service.clone()).collect()
}

/// What runbooks are searched by: an alert's name, and texts.
fn questions(scene: &Scene<'_>, service: &ServiceName) -> Vec<(Option<String>, String)> {
    let mut questions: Vec<(Option<String>, String)> = Vec::new();
    if let Some((_, data)) = scene.logs(service) {
        let patterns = data.pointer("/patterns").and_then(Value::as_array);
        let messages = patterns
            .into_iter()
            .flatten()
            .filter(|pattern| matches!(level(pattern), "error" | "warn") && grew(pattern))
            .filter_map(|pattern| pattern.get("pattern").and_then(Value::as_str));
        questions.extend(messages.take(MOST_MESSAGES).map(|message| (None, message.to_owned())));
    }
    if scene.needs_certificate(service) {
        questions.push((None, "TLS certificate expires soon".to_owned()));
    }
    if scene.is_unhealthy(service) {
        questions.push((None, "health check fails, service down or crash looping".to_owned()));
    }
    questions.push(match &scene.run.trigger {
        Trigger::Question { text } => (None, text.clone()),
        Trigger::Alert { name, text } => (Some(name.clone()), text.clone()),
    });
    questions
}

fn level(pattern: &Value) -> &str {
    pattern.get("level").and_then(Value::as_str).unwrap_or("")
}

fn grew(pattern: &Value) -> bool {
    let count = |when: &str| pattern.get(when).and_then(Value::as_f64).unwrap_or(0.0);
    count("now") > count("before")
}

/// The titles of all candidates, each once.
pub(super) fn titles(candidates: &[Candidate<'_>]) -> String {
    let titles: BTreeSet<&str> = candidates.iter().map(|candidate| candidate.runbook.title.as_str()).collect();
    titles.into_iter().collect::<Vec<_>>().join(", ")
}
