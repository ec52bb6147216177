//! Alertmanager's webhook (version 4), and Grafana's, which has the same list of alerts.

use serde_json::Value;

use super::field::{text, texts, time};
use super::{ParseError, Said};
use crate::alert::config::Route;
use crate::alert::content::{Draft, State, Words, fingerprint, fingerprint_of};

pub(super) fn parse(route: &Route, body: &Value) -> Result<Said, ParseError> {
    let Some(Value::Array(alerts)) = body.pointer("/alerts") else {
        return Err(ParseError::Shape { pointer: "/alerts", kind: route.kind.as_str() });
    };
    let unsent = body.pointer("/truncatedAlerts").and_then(Value::as_u64).filter(|count| *count > 0);
    let unsent = unsent.map(|count| format!("{count} alerts of the same group that the sender left out"));
    let mut drafts: Vec<Draft> = alerts.iter().map(|alert| draft(route, alert)).collect();
    if let Some(first) = drafts.first_mut() {
        first.unsent = unsent;
    }
    Ok(if drafts.is_empty() { Said::Aside("a notification without alerts") } else { Said::Alerts(drafts) })
}

fn draft(route: &Route, alert: &Value) -> Draft {
    let labels = texts(alert, "/labels");
    let mut annotations = texts(alert, "/annotations");
    let name = labels.get("alertname").cloned().unwrap_or_default();
    let state = if alert.pointer("/status").and_then(Value::as_str) == Some("resolved") {
        State::Resolved
    } else {
        State::Firing
    };
    let own = text(alert, "/fingerprint");
    let fingerprint = own.map_or_else(|| fingerprint_of(&name, &labels), |own| fingerprint(&[&own]));
    if let Some(values) = text(alert, "/valueString") {
        annotations.entry("values".to_owned()).or_insert(values);
    }
    let link = ["/panelURL", "/dashboardURL", "/generatorURL"].into_iter().find_map(|pointer| text(alert, pointer));
    let words = Words {
        severity: labels.get(&route.severity_label).cloned().unwrap_or_default(),
        summary: annotations.get("summary").or_else(|| annotations.get("message")).cloned().unwrap_or_default(),
        name,
        link,
        labels,
        annotations,
    };
    Draft { fingerprint, starts_at: time(alert, "/startsAt"), state, words, unsent: None }
}
