//! A real Alertmanager posts to our routes: it authenticates itself, sends again, and says when it is over.

#![expect(clippy::panic, clippy::indexing_slicing, reason = "helpers of tests, outside #[test]")]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::sync::Notify;
use warrant::alert::config::{LimitsSection, RouteSection, check};
use warrant::alert::counts::{Counted, Counts};
use warrant::alert::front::{Parts, router};
use warrant::alert::worker::CHANNEL;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::db::Database;
use warrant_kernel::redact::{RedactionKey, Redactor};
use warrant_kernel::store::Store;
use warrant_toolbox::catalog::Catalog;

const PROGRAM: &str = "prometheus-alertmanager";
const TOKEN: &str = "a-token-of-the-tests";

struct Now;

impl Clock for Now {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// Ends with the test.
struct Alertmanager {
    child: Child,
    base: String,
}

impl Drop for Alertmanager {
    fn drop(&mut self) {
        // Ended already, or ended now: either way it is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Alertmanager {
    /// None, and a line that says so, where it is not installed.
    fn start(directory: &Path, hook: &str) -> Option<Self> {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let config = directory.join("alertmanager.yml");
        let text = format!(
            "route: {{receiver: us, group_by: [alertname], group_wait: 0s, group_interval: 1s, repeat_interval: 1s}}\n\
             receivers:\n- name: us\n  webhook_configs:\n  - url: {hook}\n    send_resolved: true\n    \
             http_config: {{authorization: {{credentials: {TOKEN}}}}}\n"
        );
        std::fs::write(&config, text).unwrap();
        let child = Command::new(PROGRAM)
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.path={}", directory.join("am").display()))
            .arg(format!("--web.listen-address={free}"))
            .arg("--cluster.listen-address=")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(child) = child else {
            // Not `eprintln`: the harness would keep it to itself.
            let mut uncaptured = std::io::stderr();
            writeln!(uncaptured, "\nSKIPPED a_real_alertmanager: {PROGRAM} is not installed").unwrap();
            return None;
        };
        Some(Self { child, base: format!("http://{free}") })
    }

    async fn post(&self, ends_at: Option<Timestamp>) {
        let began = Timestamp::now() - SignedDuration::from_mins(1);
        let mut alert = json!({
            "labels": {"alertname": "TargetDown", "service": "checkout", "severity": "critical"},
            "annotations": {"summary": "checkout is down"},
        });
        match ends_at {
            None => alert["startsAt"] = json!(began.to_string()),
            Some(at) => alert["endsAt"] = json!(at.to_string()),
        }
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        for _ in 0..200 {
            let sent = client.post(format!("{}/api/v2/alerts", self.base)).json(&json!([alert])).send().await;
            if sent.is_ok_and(|answer| answer.status().is_success()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("Alertmanager takes no alerts");
    }
}

/// Waits for answers to Alertmanager until what was counted is enough.
async fn until(counts: &Counts, answered: &Notify, enough: impl Fn(Counted) -> bool) {
    while !enough(counts.look()) {
        let next = tokio::time::timeout(Duration::from_secs(20), answered.notified());
        assert!(next.await.is_ok(), "nothing more came: {:?}", counts.look());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wh_08_a_real_alertmanager_is_heard_once_however_often_it_sends() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(Database::open(&directory.path().join("w.db")).await.unwrap());
    let routes: BTreeMap<String, RouteSection> = toml::from_str("[alertmanager]\nbearer_env = \"TOKEN\"").unwrap();
    let checked = check(&routes, &LimitsSection::default(), &|_| Some(TOKEN.to_owned())).unwrap();
    let counts = Arc::<Counts>::default();
    let parts = Parts {
        store: store.clone(),
        redactor: Redactor::new(RedactionKey::from_bytes([7; 32]), []).unwrap(),
        around: Arc::new(Catalog::default()),
        clock: Arc::new(Now),
        counts: Arc::clone(&counts),
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hook = format!("http://{}/v1/alerts/alertmanager", listener.local_addr().unwrap());
    let answered = Arc::new(Notify::new());
    let bell = Arc::clone(&answered);
    let served = router(&checked, parts).layer(from_fn(move |request: Request, next: Next| {
        let bell = Arc::clone(&bell);
        async move {
            let response = next.run(request).await;
            bell.notify_one();
            response
        }
    }));
    tokio::spawn(async move { axum::serve(listener, served).await });

    let Some(alertmanager) = Alertmanager::start(directory.path(), &hook) else { return };
    alertmanager.post(None).await;
    until(&counts, &answered, |counted| counted.received == 1 && counted.known >= 1).await;
    alertmanager.post(Some(Timestamp::now())).await;
    until(&counts, &answered, |counted| counted.received == 2).await;

    let arrived = store.arrived(CHANNEL, 9).await.unwrap();
    let of = |pointer: &str| arrived.iter().map(|it| it.body.pointer(pointer).cloned()).collect::<Vec<_>>();
    let both = |value: Value| vec![Some(value.clone()), Some(value)];
    assert_eq!(of("/alert/state"), [Some(json!("firing")), Some(json!("resolved"))]);
    assert_eq!(of("/service"), both(json!("checkout")));
    assert_eq!(of("/urgency"), both(json!("at_once")));
    let [first, second] = of("/alert/starts_at").try_into().unwrap();
    assert_eq!(first, second, "one firing and its end");
    assert_eq!(counts.look().unauthenticated, 0);
}
