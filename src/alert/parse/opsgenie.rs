//! Opsgenie's webhook: one action on one alert.

use std::collections::BTreeMap;

use serde_json::Value;

use super::field::{text, texts, time};
use super::pagerduty::set;
use super::{ParseError, Said};
use crate::alert::content::{Draft, State, Words, fingerprint};

pub(super) fn parse(body: &Value) -> Result<Said, ParseError> {
    let shape = |pointer| ParseError::Shape { pointer, kind: "opsgenie" };
    let action = body.pointer("/action").and_then(Value::as_str).ok_or(shape("/action"))?;
    let state = match action {
        "Create" | "Escalate" | "EscalateNext" | "UpdatePriority" => State::Firing,
        "Close" | "Delete" => State::Resolved,
        _ => return Ok(Said::Aside("an action that neither begins nor ends an alert")),
    };
    let said = |field: &str| text(body, &format!("/alert/{field}"));
    let id = said("alias").or_else(|| said("alertId")).ok_or(shape("/alert/alertId"))?;
    let message = said("message").unwrap_or_default();
    let mut labels = texts(body, "/alert/details");
    labels.extend(set([("entity", said("entity")), ("source", said("source")), ("tags", tags(body))]));
    let priority = said("priority").or_else(|| labels.get("severity").cloned());
    // The entity is what the alert is about; it may well be a service.
    if let Some(entity) = said("entity") {
        labels.entry("service".to_owned()).or_insert(entity);
    }
    let described = said("description").map(|text| ("description".to_owned(), text));
    let words = Words {
        severity: priority.unwrap_or_default(),
        summary: message.clone(),
        name: message,
        link: None,
        labels,
        annotations: BTreeMap::from_iter(described),
    };
    let starts_at = time(body, "/alert/createdAt");
    Ok(Said::Alerts(vec![Draft {
        fingerprint: fingerprint(&["opsgenie", &id]),
        starts_at,
        state,
        words,
        unsent: None,
    }]))
}

fn tags(body: &Value) -> Option<String> {
    let Some(Value::Array(tags)) = body.pointer("/alert/tags") else { return None };
    let tags: Vec<&str> = tags.iter().filter_map(Value::as_str).collect();
    (!tags.is_empty()).then(|| tags.join(","))
}
