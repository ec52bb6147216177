//! Datadog and Zabbix: senders whose bodies the operator writes, from the templates of `docs/ALERTS.md`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::field::{text, time};
use super::pagerduty::set;
use super::{ParseError, Said};
use crate::alert::content::{Draft, State, Words, fingerprint};

pub(super) fn datadog(body: &Value) -> Result<Said, ParseError> {
    let said = |field: &str| text(body, &format!("/{field}"));
    let title = said("title");
    // One monitor watches many groups; the aggregation key, or the scope, tells them apart.
    let group = said("aggreg_key").or_else(|| said("scope"));
    let parts: Vec<String> = [said("alert_id"), group].into_iter().flatten().collect();
    let parts = if parts.is_empty() { title.iter().cloned().collect() } else { parts };
    if parts.is_empty() {
        return Err(ParseError::Template);
    }
    let named: Vec<&str> = std::iter::once("datadog").chain(parts.iter().map(String::as_str)).collect();
    let state = match said("transition").as_deref() {
        Some("Recovered" | "Warn Recovered" | "No Data Recovered") => State::Resolved,
        _ => State::Firing,
    };
    let mut labels = tags(&said("tags").unwrap_or_default());
    labels.extend(set([
        ("scope", said("scope")),
        ("metric", said("metric")),
        ("host", said("hostname")),
        ("query", said("query")),
    ]));
    let described = said("body").map(|text| ("description".to_owned(), text));
    let words = Words {
        severity: said("priority").or_else(|| labels.get("severity").cloned()).unwrap_or_default(),
        summary: title.clone().unwrap_or_default(),
        name: title.map(|title| without_status(&title).to_owned()).unwrap_or_default(),
        link: said("link"),
        labels,
        annotations: BTreeMap::from_iter(described),
    };
    let starts_at = time(body, "/date").or_else(|| time(body, "/last_updated"));
    Ok(Said::Alerts(vec![Draft { fingerprint: fingerprint(&named), starts_at, state, words, unsent: None }]))
}

/// Datadog puts the state before the title, as in `[Recovered on {host:a}] CPU high`, so that the same alert would have two
/// names.
fn without_status(title: &str) -> &str {
    const STATES: [&str; 8] =
        ["Triggered", "Re-Triggered", "Recovered", "Warn", "Re-Warn", "No Data", "Re-No Data", "Renotify"];
    match title.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((status, rest)) if STATES.iter().any(|state| status.starts_with(state)) => rest.trim(),
        Some(_) | None => title,
    }
}

/// `env:prod,service:checkout`, with a tag that has no value as `tag=true`.
fn tags(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split(',').map(str::trim).filter(|tag| !tag.is_empty());
    pairs
        .map(|tag| tag.split_once(':').unwrap_or((tag, "true")))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

pub(super) fn zabbix(body: &Value) -> Result<Said, ParseError> {
    let said = |field: &str| text(body, &format!("/{field}"));
    if said("event_update_status").as_deref() == Some("1") {
        return Ok(Said::Aside("a note on a problem, not a problem"));
    }
    let host = said("host").unwrap_or_default();
    let Some(id) = said("trigger_id").or_else(|| said("event_id")).or_else(|| said("name")) else {
        return Err(ParseError::Template);
    };
    let state = if said("event_value").as_deref() == Some("0") { State::Resolved } else { State::Firing };
    let mut labels = match said("tags").and_then(|text| serde_json::from_str(&text).ok()) {
        Some(Value::Array(tags)) => pairs(&tags),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) | None => {
            BTreeMap::new()
        }
    };
    labels.extend(set([("host", said("host")), ("ip", said("ip"))]));
    let name = said("name").unwrap_or_default();
    let told = said("opdata").map(|text| ("description".to_owned(), text));
    let words = Words {
        severity: said("severity").map(|word| severity(&word).to_owned()).unwrap_or_default(),
        summary: name.clone(),
        name,
        link: said("link"),
        labels,
        annotations: BTreeMap::from_iter(told),
    };
    let starts_at = time(body, "/time");
    let fingerprint = fingerprint(&["zabbix", &id, &host]);
    Ok(Said::Alerts(vec![Draft { fingerprint, starts_at, state, words, unsent: None }]))
}

fn pairs(tags: &[Value]) -> BTreeMap<String, String> {
    tags.iter().filter_map(|tag| Some((text(tag, "/tag")?, text(tag, "/value").unwrap_or_default()))).collect()
}

/// Zabbix numbers its severities.
fn severity(word: &str) -> &str {
    match word {
        "0" => "not classified",
        "1" => "information",
        "2" => "warning",
        "3" => "average",
        "4" => "high",
        "5" => "disaster",
        other => other,
    }
}
