//! Sentry's integrations: alerts on metrics, on issues, and issues themselves.

use std::collections::BTreeMap;

use serde_json::Value;

use super::field::{text, time};
use super::pagerduty::set;
use super::{ParseError, Said};
use crate::alert::content::{Draft, State, Words, fingerprint};

pub(super) fn parse(body: &Value) -> Result<Said, ParseError> {
    let shape = |pointer| ParseError::Shape { pointer, kind: "sentry" };
    let action = body.pointer("/action").and_then(Value::as_str).ok_or(shape("/action"))?;
    let has = |pointer: &str| body.pointer(pointer).is_some_and(Value::is_object);
    let draft = if has("/data/metric_alert") {
        metric(body, action).ok_or(shape("/data/metric_alert/id"))
    } else if has("/data/event") {
        event(body).ok_or(shape("/data/event/issue_id"))
    } else if has("/data/issue") {
        match action {
            "created" | "unresolved" => issue(body, State::Firing),
            "resolved" | "archived" | "ignored" => issue(body, State::Resolved),
            _ => return Ok(Said::Aside("an action that neither begins nor ends an issue")),
        }
        .ok_or(shape("/data/issue/id"))
    } else {
        Err(shape("/data/metric_alert"))
    };
    draft.map(|draft| Said::Alerts(vec![draft]))
}

fn metric(body: &Value, action: &str) -> Option<Draft> {
    let said = |field: &str| text(body, &format!("/data/{field}"));
    let id = said("metric_alert/id")?;
    let name = said("metric_alert/alert_rule/name").or_else(|| said("metric_alert/title")).unwrap_or_default();
    let state = if action == "resolved" { State::Resolved } else { State::Firing };
    let described = said("description_text").map(|text| ("description".to_owned(), text));
    let words = Words {
        severity: if state == State::Resolved { String::new() } else { action.to_owned() },
        summary: said("description_title").unwrap_or_default(),
        name,
        link: said("web_url"),
        labels: set([
            ("service", said("metric_alert/projects/0")),
            ("project", said("metric_alert/projects/0")),
            ("query", said("metric_alert/alert_rule/query")),
            ("aggregate", said("metric_alert/alert_rule/aggregate")),
        ]),
        annotations: BTreeMap::from_iter(described),
    };
    let starts_at = time(body, "/data/metric_alert/date_started");
    Some(Draft { fingerprint: fingerprint(&["sentry metric", &id]), starts_at, state, words, unsent: None })
}

/// An issue that an alert rule is about: each event is another beginning of the same.
fn event(body: &Value) -> Option<Draft> {
    let said = |field: &str| text(body, &format!("/data/event/{field}"));
    let id = said("issue_id").or_else(|| said("event_id"))?;
    let title = said("title").unwrap_or_default();
    let words = Words {
        severity: said("level").unwrap_or_default(),
        summary: title.clone(),
        name: text(body, "/data/triggered_rule").unwrap_or(title),
        link: said("web_url"),
        labels: set([
            ("service", said("project_slug")),
            ("environment", said("environment")),
            ("release", said("release")),
            ("culprit", said("culprit")),
        ]),
        annotations: BTreeMap::new(),
    };
    let starts_at = time(body, "/data/event/datetime");
    Some(Draft { fingerprint: fingerprint(&["sentry", &id]), starts_at, state: State::Firing, words, unsent: None })
}

fn issue(body: &Value, state: State) -> Option<Draft> {
    let said = |field: &str| text(body, &format!("/data/issue/{field}"));
    let id = said("id")?;
    let title = said("title").unwrap_or_default();
    let words = Words {
        severity: said("level").unwrap_or_default(),
        summary: title.clone(),
        name: title,
        link: said("web_url").or_else(|| said("permalink")),
        labels: set([("service", said("project/slug")), ("culprit", said("culprit")), ("platform", said("platform"))]),
        annotations: BTreeMap::new(),
    };
    let starts_at = time(body, "/data/issue/firstSeen");
    Some(Draft { fingerprint: fingerprint(&["sentry", &id]), starts_at, state, words, unsent: None })
}
