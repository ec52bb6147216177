use std::path::Path;

use proptest::prelude::*;
use serde_json::json;
use warrant_kernel::redact::{RedactionKey, Redactor};

use super::*;
use crate::alert::config::{LimitsSection, RouteSection, check};
use crate::alert::content::{Alert, State, keep};

fn data(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/alerts").join(name)).unwrap()
}

fn route(kind: &str) -> Route {
    let pointers = if kind == "generic" {
        "pointers = { name = \"/title\", each = \"/items\", fingerprint = \"/id\", starts_at = \"/at\", state = \"/is\", \
         severity = \"/sev\", service = \"/svc\", summary = \"/text\", link = \"/url\", labels = \"/tags\" }"
    } else {
        ""
    };
    let proof = match kind {
        "sentry" | "pagerduty" => "secret_env = \"T\"",
        "sns" => "topics = [\"arn:aws:sns:us-west-2:123456789012:alarms\"]",
        _ => "bearer_env = \"T\"",
    };
    let text = format!("[{kind}]\n{proof}\n{pointers}");
    let routes: std::collections::BTreeMap<String, RouteSection> = toml::from_str(&text).unwrap();
    let env = |_: &str| Some("a-token-of-the-tests".to_owned());
    check(&routes, &LimitsSection::default(), &env).unwrap().routes.remove(kind).unwrap()
}

fn said(kind: &str, body: &[u8]) -> Result<Said, ParseError> {
    parse(&route(kind), body)
}

fn alerts(kind: &str, body: &[u8]) -> Vec<Alert> {
    let Said::Alerts(drafts) = said(kind, body).unwrap() else { panic!("an aside") };
    let redactor = Redactor::new(RedactionKey::from_bytes([7; 32]), []).unwrap();
    keep(drafts, &redactor, "2026-11-30T12:00:00Z".parse().unwrap()).unwrap()
}

fn shown(alerts: &[Alert]) -> String {
    let one = |alert: &Alert| {
        let words = &alert.words;
        let labels: Vec<String> = words.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!(
            "{} {:?} {} [{}] {}: {} <{}> {}",
            alert.fingerprint,
            alert.state,
            alert.starts_at,
            words.severity,
            words.name,
            words.summary,
            words.link.as_deref().unwrap_or_default(),
            labels.join(" ")
        )
    };
    alerts.iter().map(one).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_a_real_alertmanager_posts() {
    let mut all = Vec::new();
    for name in
        ["firing-group-of-2.raw", "firing-single-bearer-auth.raw", "mixed-one-resolved-one-firing.raw", "resolved.raw"]
    {
        all.extend(alerts("alertmanager", &data(&format!("real/{name}"))));
    }
    insta::assert_snapshot!(shown(&all), @r#"
    59313bc77f2e703d Firing 2026-11-30T09:14:15.519Z [critical] TargetDown: Instance 127.0.0.1:24491 of job dead is down <http://vm:24486/graph?g0.expr=up+%3D%3D+0&g0.tab=1> alertname=TargetDown cluster=dev instance=127.0.0.1:24491 job=dead region=local service=checkout severity=critical team=payments
    08eef1427083e2e0 Firing 2026-11-30T09:14:15.519Z [critical] TargetDown: Instance 127.0.0.1:24492 of job dead is down <http://vm:24486/graph?g0.expr=up+%3D%3D+0&g0.tab=1> alertname=TargetDown cluster=dev instance=127.0.0.1:24492 job=dead region=local service=checkout severity=critical team=payments
    1f46c9dfe420cee9 Firing 2026-11-30T09:14:08.519Z [none] AlwaysFiring: watchdog <http://vm:24486/graph?g0.expr=vector%281%29&g0.tab=1> alertname=AlwaysFiring cluster=dev region=local severity=none
    59313bc77f2e703d Resolved 2026-11-30T09:14:15.519Z [critical] TargetDown: Instance 127.0.0.1:24491 of job dead is down <http://vm:24486/graph?g0.expr=up+%3D%3D+0&g0.tab=1> alertname=TargetDown cluster=dev instance=127.0.0.1:24491 job=dead region=local service=checkout severity=critical team=payments
    08eef1427083e2e0 Firing 2026-11-30T09:14:15.519Z [critical] TargetDown: Instance 127.0.0.1:24492 of job dead is down <http://vm:24486/graph?g0.expr=up+%3D%3D+0&g0.tab=1> alertname=TargetDown cluster=dev instance=127.0.0.1:24492 job=dead region=local service=checkout severity=critical team=payments
    08eef1427083e2e0 Resolved 2026-11-30T09:14:15.519Z [critical] TargetDown: Instance 127.0.0.1:24492 of job dead is down <http://vm:24486/graph?g0.expr=up+%3D%3D+0&g0.tab=1> alertname=TargetDown cluster=dev instance=127.0.0.1:24492 job=dead region=local service=checkout severity=critical team=payments
    "#);
}

#[test]
fn what_the_sender_left_out_is_said_and_tokens_are_masked() {
    let cut = alerts("alertmanager", &data("real/truncated-13-alerts-max-10.json"));
    assert_eq!(cut.len(), 10);
    assert_eq!(cut[0].left_out, ["3 alerts of the same group that the sender left out"]);
    assert!(cut[1].left_out.is_empty());
    assert!(!serde_json::to_string(&cut).unwrap().contains("ghp_0123"));
}

#[test]
fn what_each_sender_documents() {
    let mut all = Vec::new();
    for (kind, name) in [
        ("alertmanager", "alertmanager_v4_firing.json"),
        ("alertmanager", "alertmanager_v4_new_fields.json"),
        ("alertmanager", "alertmanager_v4_resolved.json"),
        ("grafana", "grafana_webhook.json"),
        ("pagerduty", "pagerduty_v3_incident_triggered.json"),
        ("opsgenie", "opsgenie_create.json"),
        ("sentry", "sentry_metric_alert.json"),
    ] {
        all.extend(alerts(kind, &data(name)));
    }
    insta::assert_snapshot!(shown(&all), @r#"
    a1b2c3d4e5f60718 Firing 2026-11-30T08:00:00Z [warning] KubePodCrashLooping: Pod is crash looping. <http://prometheus.example.invalid/graph?g0.expr=x> alertname=KubePodCrashLooping cluster=prod-eu1 container=checkout namespace=shop pod=checkout-6d5f9c7b8-abcde reason=CrashLoopBackOff severity=warning
    a1b2c3d4e5f60718 Firing 2026-11-30T08:00:00Z [warning] KubePodCrashLooping: Pod is crash looping. <http://prometheus.example.invalid/graph?g0.expr=x> alertname=KubePodCrashLooping cluster=prod-eu1 container=checkout namespace=shop pod=checkout-6d5f9c7b8-abcde reason=CrashLoopBackOff severity=warning
    a1b2c3d4e5f60718 Resolved 2026-11-30T08:00:00Z [warning] KubePodCrashLooping: Pod is crash looping. <http://prometheus.example.invalid/graph?g0.expr=x> alertname=KubePodCrashLooping cluster=prod-eu1 container=checkout namespace=shop pod=checkout-6d5f9c7b8-abcde reason=CrashLoopBackOff severity=warning
    a1b2c3d4e5f60718 Firing 2026-11-30T08:00:00Z [warning] KubePodCrashLooping: Pod is crash looping. <http://prometheus.example.invalid/graph?g0.expr=x> alertname=KubePodCrashLooping cluster=prod-eu1 container=checkout namespace=shop pod=checkout-6d5f9c7b8-abcde reason=CrashLoopBackOff severity=warning
    d4b57817fb69f139dbe3fff0ae2bfd96 Firing 2026-11-30T08:00:00Z [high] checkout crash looping: checkout crash looping <https://acme.pagerduty.com/incidents/PINC001> incident=PINC001 service=checkout urgency=high
    54663e7bf9b3d654de8555172fae8083 Firing 2025-11-30T08:00:00Z [] checkout crash looping: checkout crash looping <> entity=checkout service=checkout source=alertmanager tags=prod,checkout
    761f32fff724df2b1a2c413a2520f8ca Firing 2026-11-30T07:50:00Z [critical] Too many errors: Critical: Too many errors <https://sentry.example.invalid/organizations/acme/alerts/1/> aggregate=count() project=backend query=level:error service=backend
    "#);
}

#[test]
fn an_alarm_in_the_envelope_of_sns_and_any_other_message() {
    let envelope: Value = serde_json::from_slice(&data("sns_cloudwatch_alarm.json")).unwrap();
    let mut plain = envelope.clone();
    plain["Message"] = json!("the disk of db1 is full");
    let all = [envelope.to_string(), plain.to_string()].map(|body| alerts("sns", body.as_bytes()).remove(0));
    insta::assert_snapshot!(shown(&all), @r#"
    5d8d5ddda30be67e2bbfecca423ed636 Firing 2026-11-30T08:00:00Z [alarm] HighCPUUsage: Threshold Crossed: 1 datapoint (95.0) was greater than the threshold (90.0). <> InstanceId=i-0000000000000000 account=123456789012 metric=CPUUtilization namespace_of_metric=AWS/EC2 region=US West (Oregon)
    e973724469305ea5087428d2fec601ca Firing 2026-11-30T08:00:00Z [] ALARM: "HighCPUUsage" in US West (Oregon): ALARM: "HighCPUUsage" in US West (Oregon) <>
    "#);
    let confirmation = json!({"Type": "SubscriptionConfirmation", "Message": "m"}).to_string();
    assert!(matches!(said("sns", confirmation.as_bytes()), Ok(Said::Aside(_))));
}

#[test]
fn templates_with_their_variables_replaced() {
    let datadog = json!({
        "alert_id": "7", "transition": "Triggered", "title": "[Triggered on {host:a}] CPU high", "priority": "P1",
        "aggreg_key": "k", "tags": "env:prod,service:checkout,lonely", "date": "1764489600000", "link": "https://x.example/1",
        "query": "$ALERT_QUERY",
    });
    let mut over = datadog.clone();
    over["transition"] = json!("Recovered");
    over["title"] = json!("[Recovered] CPU high");
    let zabbix = json!({
        "event_id": "1", "event_value": "1", "severity": "5", "name": "disk full", "host": "db1", "trigger_id": "9",
        "tags": "[{\"tag\":\"service\",\"value\":\"orders\"}]", "time": "2026.11.30 08:00:00", "opdata": "99 %",
    });
    let mut all = Vec::new();
    for (kind, body) in [("datadog", datadog), ("datadog", over), ("zabbix", zabbix)] {
        all.extend(alerts(kind, body.to_string().as_bytes()));
    }
    insta::assert_snapshot!(shown(&all), @r#"
    dcc475185cae70aac3d92743c90b30c9 Firing 2025-11-30T08:00:00Z [P1] CPU high: [Triggered on {host:a}] CPU high <https://x.example/1> env=prod lonely=true service=checkout
    dcc475185cae70aac3d92743c90b30c9 Resolved 2025-11-30T08:00:00Z [P1] CPU high: [Recovered] CPU high <https://x.example/1> env=prod lonely=true service=checkout
    b37237b6f436c3417ef2cfa8f0b04980 Firing 2026-11-30T08:00:00Z [disaster] disk full: disk full <> host=db1 service=orders
    "#);
}

#[test]
fn templates_that_nobody_filled_in_are_refused() {
    assert_eq!(said("datadog", &data("datadog_template_caller_defined.json")), Err(ParseError::Template));
    assert_eq!(said("zabbix", &data("zabbix_caller_defined.json")), Err(ParseError::Template));
}

#[test]
fn any_json_by_pointers() {
    let body = json!({"items": [
        {"title": "slow", "id": "a", "at": 1_764_489_600, "is": "OK", "sev": 1, "svc": "api", "tags": {"n": 1, "deep": [1]}},
        {"title": "slower", "at": "2026-11-30 08:00:00", "url": "https://x.example"},
    ]});
    insta::assert_snapshot!(shown(&alerts("generic", body.to_string().as_bytes())), @r#"
    3bb372451f30c12faf628861fa69b594 Resolved 2025-11-30T08:00:00Z [1] slow:  <> deep=[1] n=1 service=api
    f6f942b521239026cabb34180d4098f3 Firing 2026-11-30T08:00:00Z [] slower:  <https://x.example>
    "#);
    assert_eq!(said("generic", b"{\"items\": [{}]}"), Err(ParseError::Pointers));
    assert_eq!(said("generic", b"{}"), Err(ParseError::Pointers));
}

#[test]
fn what_nothing_follows_from_is_taken_and_let_go() {
    for (kind, body) in [
        ("pagerduty", json!({"event": {"event_type": "pagey.ping"}})),
        ("pagerduty", json!({"event": {"event_type": "incident.acknowledged", "data": {"id": "P1"}}})),
        ("opsgenie", json!({"action": "AddNote", "alert": {"alertId": "1"}})),
        ("zabbix", json!({"event_update_status": "1", "trigger_id": "1"})),
        ("alertmanager", json!({"alerts": []})),
    ] {
        assert!(matches!(said(kind, body.to_string().as_bytes()), Ok(Said::Aside(_))), "{body}");
    }
}

#[test]
fn a_pagerduty_incident_that_is_reopened_begins_anew() {
    let body = |what: &str, at: &str| {
        json!({"event": {"event_type": what, "occurred_at": at, "data": {"id": "P1", "title": "t", "created_at": "2026-11-30T08:00:00Z"}}})
            .to_string()
    };
    let one = |what, at| alerts("pagerduty", body(what, at).as_bytes()).remove(0);
    let triggered = one("incident.triggered", "2026-11-30T08:00:01Z");
    let resolved = one("incident.resolved", "2026-11-30T09:00:00Z");
    let reopened = one("incident.reopened", "2026-11-30T10:00:00Z");
    assert_eq!((resolved.starts_at, resolved.state), (triggered.starts_at, State::Resolved));
    assert!(reopened.starts_at > triggered.starts_at);
    assert_eq!(triggered.fingerprint, reopened.fingerprint);
}

#[test]
fn bodies_without_an_alert_are_refused_with_why() {
    let mut told = Vec::new();
    for kind in ["alertmanager", "pagerduty", "opsgenie", "sentry", "datadog", "generic"] {
        told.push(said(kind, b"{\"a\": 1}").unwrap_err().to_string());
    }
    told.push(said("grafana", b"{\"alerts\": [}").unwrap_err().to_string());
    insta::assert_snapshot!(told.join("\n"), @r#"
    the body has no `/alerts`, so it is no alert of kind `alertmanager`; check `kind` in the config of this route
    the body has no `/event/event_type`, so it is no alert of kind `pagerduty`; check `kind` in the config of this route
    the body has no `/action`, so it is no alert of kind `opsgenie`; check `kind` in the config of this route
    the body has no `/action`, so it is no alert of kind `sentry`; check `kind` in the config of this route
    the body holds the template's variables as they are; nothing in it tells one alert from another
    `pointers.name` and `pointers.each` of this route lead nowhere in the body
    the body is not JSON (line 1, column 13); check what the sender is configured to send
    "#);
    let deep = format!("{{\"alerts\": {}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    assert!(matches!(said("alertmanager", deep.as_bytes()), Err(ParseError::Json { .. })));
    let many = format!("{{\"alerts\": [{}1]}}", "1,".repeat(MOST_ALERTS));
    assert_eq!(said("alertmanager", many.as_bytes()), Err(ParseError::TooMany));
}

#[test]
fn times_in_every_unit_and_without_a_zone() {
    let read = |text: &str| field::time_of(text).map(|at| at.to_string());
    let eight = Some("2026-11-30T08:00:00Z".to_owned());
    for text in [
        "2026-11-30T08:00:00Z",
        "2026-11-30T09:00:00+01:00",
        "2026-11-30T08:00:00.000+0000",
        "2026-11-30T08:00:00",
        "2026-11-30 08:00:00",
        "2026.11.30 08:00:00",
        "1796025600",
        "1796025600000",
        "1796025600000000",
        "1796025600000000000",
        "1796025600.0",
    ] {
        assert_eq!(read(text), eight, "{text}");
    }
    for text in ["", "0001-01-01T00:00:00Z", "yesterday", "-5", "1", "99999999999999999999999", "2026-13-01T00:00:00Z"]
    {
        assert_eq!(read(text), None, "{text}");
    }
}

const KINDS: [&str; 9] =
    ["alertmanager", "grafana", "pagerduty", "opsgenie", "sentry", "sns", "datadog", "zabbix", "generic"];

fn any_json() -> impl Strategy<Value = Value> {
    let names = "alerts|labels|status|startsAt|fingerprint|event|data|id|action|alert|alias|metric_alert|items|title|tags|.{0,4}";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        "(resolved|incident.triggered|Create|\\PC{0,12}|\\pC{0,4})".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map(names, inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_body_panics(value in any_json(), kind in proptest::sample::select(&KINDS[..]), at in any::<u16>(), to in any::<u8>()) {
        let mut bytes = value.to_string().into_bytes();
        if let Ok(Said::Alerts(drafts)) = said(kind, &bytes) {
            prop_assert!(!drafts.is_empty());
            prop_assert!(drafts.iter().all(|draft| draft.fingerprint.len() == 16 || draft.fingerprint.len() == 32));
        }
        let at = usize::from(at) % bytes.len();
        bytes[at] = to;
        // Refused or not: it does not matter, as long as it ends.
        drop(said(kind, &bytes));
    }
}
