//! Amazon SNS: alarms of `CloudWatch`, or any other text, in an envelope.

use std::collections::BTreeMap;

use serde_json::Value;

use super::field::{text, time};
use super::pagerduty::set;
use super::{ParseError, Said};
use crate::alert::content::{Draft, State, Words, fingerprint};

pub(super) fn parse(body: &Value) -> Result<Said, ParseError> {
    let shape = |pointer| ParseError::Shape { pointer, kind: "sns" };
    if text(body, "/Type").as_deref() != Some("Notification") {
        return Ok(Said::Aside("a message about a subscription"));
    }
    let message = text(body, "/Message").ok_or(shape("/Message"))?;
    let topic = text(body, "/TopicArn").ok_or(shape("/TopicArn"))?;
    let alarm: Value = serde_json::from_str(&message).unwrap_or(Value::Null);
    let draft = match text(&alarm, "/AlarmName") {
        Some(name) => cloudwatch(body, &alarm, name, &topic),
        None => Some(plain(body, message, &topic).ok_or(shape("/MessageId"))?),
    };
    Ok(match draft {
        Some(draft) => Said::Alerts(vec![draft]),
        None => Said::Aside("an alarm that does not know how it stands"),
    })
}

fn cloudwatch(body: &Value, alarm: &Value, name: String, topic: &str) -> Option<Draft> {
    let said = |field: &str| text(alarm, &format!("/{field}"));
    let state = match said("NewStateValue").as_deref() {
        Some("ALARM") => State::Firing,
        Some("OK") => State::Resolved,
        _ => return None,
    };
    let arn = said("AlarmArn").unwrap_or_else(|| name.clone());
    let dimensions = alarm.pointer("/Trigger/Dimensions").and_then(Value::as_array);
    let dimensions =
        dimensions.into_iter().flatten().filter_map(|one| Some((text(one, "/name")?, text(one, "/value")?)));
    let mut labels: BTreeMap<String, String> = dimensions.collect();
    labels.extend(set([
        ("region", said("Region")),
        ("account", said("AWSAccountId")),
        ("metric", said("Trigger/MetricName")),
        ("namespace_of_metric", said("Trigger/Namespace")),
    ]));
    let described = said("AlarmDescription").map(|text| ("description".to_owned(), text));
    let words = Words {
        severity: "alarm".to_owned(),
        summary: said("NewStateReason").or_else(|| text(body, "/Subject")).unwrap_or_default(),
        name,
        link: None,
        labels,
        annotations: BTreeMap::from_iter(described),
    };
    let starts_at = time(alarm, "/StateChangeTime").or_else(|| time(body, "/Timestamp"));
    Some(Draft { fingerprint: fingerprint(&["sns", topic, &arn]), starts_at, state, words, unsent: None })
}

/// Something else that was published: an alert of its own each time.
fn plain(body: &Value, message: String, topic: &str) -> Option<Draft> {
    let id = text(body, "/MessageId")?;
    let name = text(body, "/Subject").unwrap_or_else(|| "a message of SNS".to_owned());
    let words = Words {
        summary: name.clone(),
        name,
        annotations: BTreeMap::from([("description".to_owned(), message)]),
        ..Words::default()
    };
    let starts_at = time(body, "/Timestamp");
    let fingerprint = fingerprint(&["sns", topic, &id]);
    Some(Draft { fingerprint, starts_at, state: State::Firing, words, unsent: None })
}
