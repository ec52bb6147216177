//! `PagerDuty`'s webhooks, version 3: one event of one incident.

use std::collections::BTreeMap;

use serde_json::Value;

use super::field::{text, time};
use super::{ParseError, Said};
use crate::alert::content::{Draft, State, Words, fingerprint};

pub(super) fn parse(body: &Value) -> Result<Said, ParseError> {
    let Some(what) = body.pointer("/event/event_type").and_then(Value::as_str) else {
        return Err(ParseError::Shape { pointer: "/event/event_type", kind: "pagerduty" });
    };
    let Some(what) = what.strip_prefix("incident.") else { return Ok(Said::Aside("an event of no incident")) };
    // An incident that was reopened keeps the time at which it was made.
    let (state, began) = match what {
        "resolved" => (State::Resolved, "/event/data/created_at"),
        "reopened" => (State::Firing, "/event/occurred_at"),
        "triggered" | "escalated" | "priority_updated" | "service_updated" | "unacknowledged" => {
            (State::Firing, "/event/data/created_at")
        }
        _ => return Ok(Said::Aside("an event that neither begins nor ends an incident")),
    };
    let Some(id) = text(body, "/event/data/id") else {
        return Err(ParseError::Shape { pointer: "/event/data/id", kind: "pagerduty" });
    };
    let data = |field: &str| text(body, &format!("/event/data/{field}"));
    let title = data("title").unwrap_or_default();
    let labels = [
        ("service", data("service/summary")),
        ("incident", Some(id.clone())),
        ("urgency", data("urgency")),
        ("priority", data("priority/summary")),
    ];
    let words = Words {
        severity: data("priority/summary").or_else(|| data("urgency")).unwrap_or_default(),
        summary: title.clone(),
        name: title,
        link: data("html_url"),
        labels: set(labels),
        annotations: BTreeMap::new(),
    };
    let starts_at = time(body, began).or_else(|| time(body, "/event/occurred_at"));
    Ok(Said::Alerts(vec![Draft {
        fingerprint: fingerprint(&["pagerduty", &id]),
        starts_at,
        state,
        words,
        unsent: None,
    }]))
}

/// The labels that were given.
pub(super) fn set<const N: usize>(labels: [(&str, Option<String>); N]) -> BTreeMap<String, String> {
    labels.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
