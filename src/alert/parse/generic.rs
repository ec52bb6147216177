//! Any JSON, by the pointers of the config.

use std::collections::BTreeMap;

use serde_json::Value;

use super::field::{text, texts, time};
use super::{ParseError, Said};
use crate::alert::config::Pointers;
use crate::alert::content::{Draft, State, Words, fingerprint, fingerprint_of};

pub(super) fn parse(pointers: &Pointers, body: &Value) -> Result<Said, ParseError> {
    let one = std::slice::from_ref(body);
    let alerts = match &pointers.each {
        None => one,
        Some(each) => body.pointer(each).and_then(Value::as_array).map(Vec::as_slice).ok_or(ParseError::Pointers)?,
    };
    let drafts: Option<Vec<Draft>> = alerts.iter().map(|alert| draft(pointers, alert)).collect();
    match drafts {
        None => Err(ParseError::Pointers),
        Some(drafts) if drafts.is_empty() => Ok(Said::Aside("a list without alerts")),
        Some(drafts) => Ok(Said::Alerts(drafts)),
    }
}

fn draft(pointers: &Pointers, alert: &Value) -> Option<Draft> {
    let at = |pointer: &Option<String>| pointer.as_deref().and_then(|pointer| text(alert, pointer));
    let name = text(alert, &pointers.name)?;
    let mut labels = pointers.labels.as_deref().map(|pointer| texts(alert, pointer)).unwrap_or_default();
    if let Some(service) = at(&pointers.service) {
        labels.insert("service".to_owned(), service);
    }
    let own = at(&pointers.fingerprint);
    let fingerprint = own.map_or_else(|| fingerprint_of(&name, &labels), |own| fingerprint(&["generic", &own]));
    let described = at(&pointers.description).map(|text| ("description".to_owned(), text));
    let words = Words {
        severity: at(&pointers.severity).unwrap_or_default(),
        summary: at(&pointers.summary).unwrap_or_default(),
        name,
        link: at(&pointers.link),
        labels,
        annotations: BTreeMap::from_iter(described),
    };
    let state = at(&pointers.state).map_or(State::Firing, |word| state(pointers, &word));
    let starts_at = pointers.starts_at.as_deref().and_then(|pointer| time(alert, pointer));
    Some(Draft { fingerprint, starts_at, state, words, unsent: None })
}

fn state(pointers: &Pointers, word: &str) -> State {
    let over = if pointers.resolved.is_empty() {
        ["resolved", "ok", "closed"].iter().any(|over| over.eq_ignore_ascii_case(word))
    } else {
        pointers.resolved.iter().any(|over| over == word)
    };
    if over { State::Resolved } else { State::Firing }
}
