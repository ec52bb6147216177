//! Bodies of senders of alerts, as each of the nine kinds takes them: whatever comes, the same comes of it twice, no more
//! alerts than may be, each with a fingerprint of ours; and what is kept is bounded, of one line where it should be, and reads
//! back as itself.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use serde_json::{Value, json};
use warrant::alert::config::{self, LimitsSection, Route, RouteSection};
use warrant::alert::content::{Alert, keep};
use warrant::alert::parse::{Said, parse};
use warrant_kernel::redact::{RedactionKey, Redactor};

/// Most alerts of one body.
const MOST_ALERTS: usize = 4_096;

/// Alerts that are masked and kept; the rest of a body fares the same.
const KEPT: usize = 64;

/// A character that is not to be seen is written out in as many at most, as in `\u{10FFFF}`.
const WRITTEN_OUT: usize = 10;

const KINDS: [&str; 9] =
    ["alertmanager", "grafana", "pagerduty", "opsgenie", "sentry", "sns", "datadog", "zabbix", "generic"];

static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    let section = |kind: &str| -> Value {
        match kind {
            "pagerduty" | "sentry" => json!({ "secret_env": "S" }),
            "sns" => json!({ "topics": ["arn:aws:sns:us-west-2:123456789012:alarms"] }),
            "generic" => json!({ "bearer_env": "S", "pointers": {
                "each": "/alerts", "name": "/labels/alertname", "fingerprint": "/fingerprint", "starts_at": "/startsAt",
                "state": "/status", "severity": "/labels/severity", "service": "/labels/service",
                "summary": "/annotations/summary", "description": "/annotations/description", "link": "/generatorURL",
                "labels": "/labels",
            } }),
            _ => json!({ "bearer_env": "S" }),
        }
    };
    let read = |kind: &str| -> RouteSection { serde_json::from_value(section(kind)).unwrap() };
    let sections: BTreeMap<String, RouteSection> = KINDS.iter().map(|kind| ((*kind).to_owned(), read(kind))).collect();
    let env = |_: &str| Some("a-secret-of-the-fuzzer".to_owned());
    let checked = config::check(&sections, &LimitsSection::default(), &env).unwrap();
    let routes: Vec<Route> = checked.routes.into_values().collect();
    assert_eq!(routes.len(), KINDS.len());
    routes
});

static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(RedactionKey::from_bytes([7; 32]), []).unwrap());

/// Tries the laws.
pub fn run(data: &[u8]) {
    for route in ROUTES.iter() {
        let said = parse(route, data);
        assert_eq!(said, parse(route, data), "{}", route.name);
        let Ok(Said::Alerts(mut drafts)) = said else { continue };
        assert!(drafts.len() <= MOST_ALERTS, "{} alerts", drafts.len());
        drafts.truncate(KEPT);
        let fingerprints: Vec<String> = drafts.iter().map(|draft| draft.fingerprint.clone()).collect();
        let Ok(kept) = keep(drafts, &REDACTOR, Timestamp::UNIX_EPOCH) else { continue };
        assert_eq!(kept.iter().map(|alert| alert.fingerprint.clone()).collect::<Vec<_>>(), fingerprints);
        kept.iter().for_each(bounded);
    }
}

fn bounded(alert: &Alert) {
    let hexadecimal = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let print = &alert.fingerprint;
    assert!(matches!(print.len(), 16 | 32) && print.bytes().all(hexadecimal), "{print:?}");
    let words = &alert.words;
    one_line(&words.name, 200);
    one_line(&words.severity, 64);
    one_line(&words.summary, 500);
    assert!(!words.name.is_empty());
    assert!(words.link.as_ref().is_none_or(|link| link.len() <= 2_048 && link.is_ascii()), "{:?}", words.link);
    assert!(words.labels.len() <= 64 && words.annotations.len() <= 32);
    assert!(words.labels.keys().chain(words.annotations.keys()).all(|name| name.len() <= 128 && name.is_ascii()));
    words.labels.values().for_each(|value| one_line(value, 1_024));
    for text in words.annotations.values() {
        assert!(text.chars().count() <= 4_096 * WRITTEN_OUT, "{} characters", text.chars().count());
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    }
    // Eight cuts are named, the rest are counted; and what the sender left out.
    assert!(alert.left_out.len() <= 10, "{:?}", alert.left_out);
    let written = serde_json::to_value(alert).unwrap();
    assert_eq!(serde_json::from_value::<Alert>(written).unwrap(), *alert);
}

/// So many characters, and the one that says that there were more.
fn one_line(text: &str, most: usize) {
    assert!(text.chars().count() <= most * WRITTEN_OUT + 1, "{} characters", text.chars().count());
    assert!(!text.chars().any(char::is_control), "{text:?}");
}
