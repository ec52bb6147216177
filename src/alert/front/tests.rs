use std::collections::BTreeMap;
use std::path::Path;

use axum::body::Body;
use jiff::Timestamp;
use reqwest::{Client, Response};
use tempfile::TempDir;
use warrant_kernel::db::Database;
use warrant_kernel::redact::RedactionKey;
use warrant_toolbox::catalog::Catalog;

use super::*;
use crate::alert::config::{LimitsSection, RouteSection, check};

struct At;

impl Clock for At {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_764_489_600).unwrap()
    }
}

fn data(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/alerts").join(name)).unwrap()
}

struct Served {
    directory: TempDir,
    store: Store,
    counts: Arc<Counts>,
    base: String,
}

const CONFIG: &str = r#"
    [alertmanager]
    bearer_env = "TOKEN"
    [second]
    kind = "alertmanager"
    basic_user = "am"
    basic_password_env = "TOKEN"
    [grafana]
    secret_env = "SIGNING"
    [pagerduty]
    secret_env = "SIGNING"
    body_limit = 2048
    [opsgenie]
"#;

impl Served {
    async fn start(redactor: Redactor, limits: LimitsSection) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(Database::open(&directory.path().join("w.db")).await.unwrap());
        let routes: BTreeMap<String, RouteSection> = toml::from_str(CONFIG).unwrap();
        let env = |name: &str| match name {
            "SIGNING" => Some("test-signing-secret-not-real".to_owned()),
            _ => Some("a-token-of-the-tests".to_owned()),
        };
        let counts = Arc::<Counts>::default();
        let around = Arc::new(Catalog::default());
        let clock = Arc::new(At);
        let parts = Parts { store: store.clone(), redactor, around, clock, counts: Arc::clone(&counts) };
        let served = router(&check(&routes, &limits, &env).unwrap(), parts);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1/alerts", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, served).await });
        Self { directory, store, counts, base }
    }

    async fn usual() -> Self {
        let redactor = Redactor::new(RedactionKey::from_bytes([7; 32]), []).unwrap();
        Self::start(redactor, LimitsSection::default()).await
    }

    async fn post(&self, route: &str, headers: &[(&str, &str)], body: impl Into<reqwest::Body>) -> (u16, Value) {
        let client = Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        let mut request = client.post(format!("{}/{route}", self.base)).body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response: Response = request.send().await.unwrap();
        let (status, text) = (response.status().as_u16(), response.text().await.unwrap());
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    async fn waiting(&self) -> usize {
        self.store.arrived(CHANNEL, 1_000).await.unwrap().len()
    }
}

const BEARER: (&str, &str) = ("authorization", "Bearer a-token-of-the-tests");

#[tokio::test]
async fn wh_08_a_redelivery_and_a_second_alertmanager_are_known() {
    let served = Served::usual().await;
    let body = data("real/firing-group-of-2.raw");
    assert_eq!(served.post("alertmanager", &[BEARER], body.clone()).await, (200, json!({"received": 2, "known": 0})));
    assert_eq!(served.post("alertmanager", &[BEARER], body.clone()).await, (200, json!({"received": 0, "known": 2})));
    let basic = ("authorization", "Basic YW06YS10b2tlbi1vZi10aGUtdGVzdHM=");
    assert_eq!(served.post("second", &[basic], body).await, (200, json!({"received": 0, "known": 2})));
    let mixed = data("real/mixed-one-resolved-one-firing.raw");
    assert_eq!(served.post("alertmanager", &[BEARER], mixed).await, (200, json!({"received": 1, "known": 1})));
    assert_eq!(served.waiting().await, 3);
    let look = served.counts.look();
    assert_eq!((look.received, look.known, look.waiting), (3, 5, 3));
}

#[tokio::test]
async fn wh_10_forged_requests_are_refused_and_routes_that_are_off_are_not_there() {
    let served = Served::usual().await;
    let body = data("real/firing-group-of-2.raw");
    for headers in [
        &[][..],
        &[("authorization", "Bearer wrong")],
        &[("authorization", "Basic YW06")],
        &[("x-token", "a-token-of-the-tests")],
    ] {
        assert_eq!(served.post("alertmanager", headers, body.clone()).await.0, 401, "{headers:?}");
    }
    assert_eq!(served.post("opsgenie", &[BEARER], body.clone()).await.0, 404, "off");
    assert_eq!(served.post("nothing", &[BEARER], body.clone()).await.0, 404, "not there");
    let vectors: Value = serde_json::from_slice(&data("signatures.json")).unwrap();
    let good = vectors["grafana"]["hex"].as_str().unwrap();
    let signed = data("grafana_webhook.json");
    let header = [("x-grafana-alerting-signature", good)];
    assert_eq!(served.post("grafana", &header, body).await.0, 401, "signed for another body");
    assert_eq!(served.waiting().await, 0);
    assert_eq!(served.post("grafana", &header, signed).await.0, 200);
    let event = data("pagerduty_v3_incident_triggered.json");
    let rotation = vectors["pagerduty_v3"]["value_during_rotation"].as_str().unwrap();
    assert_eq!(served.post("pagerduty", &[("x-pagerduty-signature", rotation)], event).await.0, 200);
    assert_eq!((served.counts.look().unauthenticated, served.waiting().await), (5, 2));
}

#[tokio::test]
async fn wh_05_a_body_over_the_limit_is_refused_before_it_is_read() {
    let served = Served::usual().await;
    let large = vec![b' '; 1 << 21];
    assert_eq!(served.post("alertmanager", &[BEARER], large.clone()).await.0, 413);
    // Without a length, so that only reading shows it.
    let endless = futures_util::stream::iter((0..64).map(|_| Ok::<_, std::io::Error>(vec![b' '; 1 << 16])));
    assert_eq!(read(Body::from_stream(endless), 1 << 20).await, Err(Refusal::TooLarge(1 << 20)));
    assert_eq!(served.post("alertmanager", &[], large).await.0, 401, "a stranger is not even told the limit");
    let signature = format!("v1={}", "0".repeat(64));
    let forged = [("x-pagerduty-signature", signature.as_str())];
    assert_eq!(served.post("pagerduty", &forged, vec![b' '; 4_096]).await.0, 413, "its own limit");
}

#[tokio::test]
async fn wh_13_hostile_texts_are_cut_and_secrets_do_not_reach_the_store() {
    let served = Served::usual().await;
    let body = json!({"alerts": [{
        "status": "firing", "startsAt": "2026-11-30T08:00:00Z",
        "labels": {"alertname": "A", "service": "api", "bad\nname": "x", "q\"}": "y", "password": "hunter2-hunter2"},
        "annotations": {"description": format!("{}\u{202E}ghp_0123456789abcdefghijklmnopqrstuvwxyzAB", "z".repeat(500_000))},
    }]});
    assert_eq!(served.post("alertmanager", &[BEARER], body.to_string()).await.0, 200);
    let kept = served.store.arrived(CHANNEL, 1).await.unwrap().remove(0).body.to_string();
    assert!(kept.len() < 12_000, "{}", kept.len());
    for secret in ["hunter2", "ghp_0123", "\u{202E}", "bad\nname\":"] {
        assert!(!kept.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn what_holds_no_alert_is_refused_with_why_and_counted() {
    let served = Served::usual().await;
    let (status, why) = served.post("alertmanager", &[BEARER], "{\"alerts\": 1}").await;
    assert_eq!(status, 400);
    insta::assert_snapshot!(why["error"].as_str().unwrap(), @"the body has no `/alerts`, so it is no alert of kind `alertmanager`; check `kind` in the config of this route");
    assert_eq!(served.post("alertmanager", &[BEARER], "not json: hunter2").await.0, 400);
    assert_eq!(served.counts.look().unreadable, 2);
    let aside = served.post("alertmanager", &[BEARER], "{\"alerts\": []}").await;
    assert_eq!(aside, (200, json!({"received": 0, "known": 0, "note": "a notification without alerts"})));
}

#[tokio::test]
async fn what_can_not_be_kept_is_answered_so_that_it_comes_again() {
    let served = Served::usual().await;
    served.store.close().await;
    std::fs::remove_file(served.directory.path().join("w.db")).unwrap();
    let body = data("real/firing-group-of-2.raw");
    assert_eq!(served.post("alertmanager", &[BEARER], body.clone()).await.0, 503, "no store");
    let masked = Served::start(Redactor::out_of_order(), LimitsSection::default()).await;
    assert_eq!(masked.post("alertmanager", &[BEARER], body.clone()).await.0, 503, "no redactor");
    assert_eq!(masked.waiting().await, 0);
    let redactor = Redactor::new(RedactionKey::from_bytes([7; 32]), []).unwrap();
    let full = Served::start(redactor, LimitsSection { queue: Some(1), ..LimitsSection::default() }).await;
    assert_eq!(full.post("alertmanager", &[BEARER], body.clone()).await.0, 200);
    assert_eq!(full.post("alertmanager", &[BEARER], body).await.0, 503, "no room");
    assert_eq!(full.counts.look().unavailable, 1);
}
