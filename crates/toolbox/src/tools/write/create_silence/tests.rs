//! A silence against a double of the Alertmanager; one test has a real one.

use std::io::Write as _;
use std::sync::Mutex;

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use warrant_kernel::domain::plan::ApprovalId;

use super::*;
use crate::tools::read::metrics_source::double::{nobody, serve, setup};
use crate::tools::write::trying::{looking, plan, preview, problems, reason};

type Kept = Arc<Mutex<Vec<Value>>>;

/// Keeps silences as an Alertmanager does; `fail` is answered instead, after they are kept.
async fn server(kept: &Kept, fail: Option<u16>) -> String {
    let alerts = json!([
        {"labels": {"alertname": "HighErrors", "service": "shop", "severity": "page"}, "annotations": {}, "startsAt": "2026-02-03T11:00:00Z", "status": {}},
        {"labels": {"alertname": "HighErrors", "service": "other"}, "annotations": {}, "status": {}},
    ]);
    let post = async move |State(kept): State<Kept>, Json(mut silence): Json<Value>| {
        let mut kept = kept.lock().unwrap();
        let id = format!("id-{}", kept.len());
        silence["id"] = json!(id);
        silence["status"] = json!({"state": "active"});
        kept.push(silence);
        let status = fail.unwrap_or(200);
        (axum::http::StatusCode::from_u16(status).unwrap(), Json(json!({"silenceID": id})))
    };
    let list = async |State(kept): State<Kept>| Json(Value::Array(kept.lock().unwrap().clone()));
    let one = async |State(kept): State<Kept>, path: axum::extract::Path<String>| {
        let kept = kept.lock().unwrap();
        let found = kept.iter().find(|silence| silence["id"] == json!(path.0)).cloned();
        found.map(Json).ok_or(axum::http::StatusCode::NOT_FOUND)
    };
    let router = Router::new()
        .route("/api/v2/alerts", get(async move || Json(alerts)))
        .route("/api/v2/silences", get(list).post(post))
        .route("/api/v2/silence/{id}", get(one))
        .with_state(Arc::clone(kept));
    serve(router).await
}

fn tool(base: &str) -> CreateSilence {
    let toml = format!(
        "sources.alertmanagers.main.url = \"{base}\"\nservices.shop.environment = \"staging\"\nservices.front = {{}}"
    );
    let (catalog, clients) = setup(&toml);
    CreateSilence { catalog, clients }
}

fn args() -> Value {
    json!({"service": "shop", "alert": "HighErrors", "duration": "30m", "matchers": "severity=\"page\""})
}

#[tokio::test]
async fn a_silence_is_shown_made_found_again_and_verified() {
    let kept = Kept::default();
    let tool = tool(&server(&kept, None).await);
    let made = preview(&tool, &args(), &[]).await.unwrap();
    insta::assert_snapshot!(made.effect, @r#"silences alertname="HighErrors", service="shop", severity="page" for 30m"#);
    insta::assert_snapshot!(made.notes.join("\n"), @r#"
    silences an alert that is active now: alertname="HighErrors", service="shop", severity="page"
    nobody is told of these alerts meanwhile; it ends by itself, and can be ended in the Alertmanager
    "#);
    assert_eq!((made.bound["duration"].as_str(), made.floor), ("1800s", Some(Tier::Medium)));
    let plan = plan(&tool, "create_silence", &args(), made);
    let probe = async || looking(async |looking| tool.probe(&plan, looking).await).await;
    assert!(matches!(probe().await, Probed::DidNot { .. }));

    let effect = tool.apply(&plan, "2026-02-03T12:00:00Z".parse().unwrap()).await.unwrap();
    let sent = kept.lock().unwrap()[0].clone();
    assert_eq!(sent["comment"], "Warrant A7 of investigation test for ada");
    assert_eq!(sent["endsAt"], "2026-02-03T12:30:00Z");
    assert_eq!(sent["matchers"][2], json!({"name": "severity", "value": "page", "isRegex": false, "isEqual": true}));
    assert_eq!(effect.after["silence"], "id-0");
    assert!(matches!(probe().await, Probed::Took { .. }));
    let verdict = looking(async |looking| tool.verify(&plan, &effect, looking).await).await;
    assert_eq!((verdict.held, verdict.because.as_str()), (Held::Held, "the silence is active"));
    // Another approval's silence is not this one's.
    let mut other = plan.clone();
    other.id = ApprovalId::nth(8);
    assert!(matches!(looking(async |looking| tool.probe(&other, looking).await).await, Probed::DidNot { .. }));
    let again = preview(&tool, &args(), &[]).await.unwrap();
    assert!(
        again.notes.contains(&"the same is already silenced until 2026-02-03T12:30:00.000Z".to_owned()),
        "{:?}",
        again.notes
    );
}

/// Whatever the double is like: a real Alertmanager silences a real alert.
#[tokio::test]
async fn a_real_alertmanager_takes_the_silence() {
    let test = "a_real_alertmanager_takes_the_silence";
    let Ok(base) = std::env::var("WARRANT_TEST_ALERTMANAGER") else {
        let why = "WARRANT_TEST_ALERTMANAGER is not set; tests/servers/start.sh starts the servers";
        writeln!(std::io::stderr(), "\nSKIPPED {test}: {why}").unwrap();
        return;
    };
    let alert = json!([{"labels": {"alertname": "SilencedByTest", "service": "shop"}, "annotations": {}}]);
    let posted = reqwest::Client::new().post(format!("{base}/api/v2/alerts")).json(&alert).send().await.unwrap();
    assert_eq!(posted.status(), 200);
    let tool = tool(&base);
    let args = json!({"service": "shop", "alert": "SilencedByTest", "duration": "1m", "matchers": "instance!~\"a|b\""});
    let made = preview(&tool, &args, &[]).await.unwrap();
    assert_eq!(made.shown["active_alerts_silenced"], "1", "{made:?}");
    // The store's numbers begin anew with each run of this test, and the server may be kept.
    let mut plan = plan(&tool, "create_silence", &args, made);
    #[expect(clippy::disallowed_methods, reason = "a real server has the real time")]
    let now = Timestamp::now();
    plan.id = ApprovalId::nth(u64::try_from(now.as_millisecond()).unwrap());
    let probe = async || looking(async |looking| tool.probe(&plan, looking).await).await;
    assert!(matches!(probe().await, Probed::DidNot { .. }));
    let effect = tool.apply(&plan, now).await.unwrap();
    let verdict = looking(async |looking| tool.verify(&plan, &effect, looking).await).await;
    assert_eq!(verdict.held, Held::Held, "{verdict:?}");
    let probed = probe().await;
    assert!(matches!(&probed, Probed::Took { after, .. } if *after == effect.after), "{probed:?}");
    let alerts = Alertmanager(tool.clients.alertmanagers().values().next().unwrap()).alerts().await.unwrap();
    let ours = alerts.iter().find(|alert| alert.labels["alertname"] == "SilencedByTest").unwrap();
    assert_eq!(ours.status.silenced_by, [effect.after["silence"].clone()]);
}

#[tokio::test]
async fn cr_03_no_good_answer_after_sending_is_not_known() {
    let (kept, lost) = (Kept::default(), Kept::default());
    for (base, expected, count) in [
        (server(&lost, Some(500)).await, "UNKNOWN", 1),
        (server(&kept, Some(400)).await, "REFUSED", 1),
        (nobody().await, "UNREACHABLE", 0),
    ] {
        let good = tool(&server(&Kept::default(), None).await);
        let mut plan = plan(&good, "create_silence", &args(), preview(&good, &args(), &[]).await.unwrap());
        let tool = tool(&base);
        plan.preview.bound = tool.of(&Arguments::checked(plan.arguments.clone())).unwrap().bound();
        assert_eq!(reason(tool.apply(&plan, Timestamp::UNIX_EPOCH).await), expected);
        if expected == "UNKNOWN" {
            assert_eq!(lost.lock().unwrap().len(), count);
            let probed = looking(async |looking| tool.probe(&plan, looking).await).await;
            assert!(matches!(probed, Probed::Took { .. }), "the probe finds what the answer did not tell");
        }
    }
}

#[tokio::test]
async fn what_can_t_be_silenced_is_told_at_once() {
    let tool = tool("http://127.0.0.1:1");
    let found = problems(&tool, json!({"service": "nosuch", "alert": " ", "duration": "48h", "matchers": "a=b"}));
    let told: Vec<String> =
        found.into_iter().map(|problem| format!("{}: {}", problem.pointer, problem.message)).collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    /service: there is no such service in the catalog
    /alert: name the alert whose notifications are to stop, as `active_alerts` shows it
    /duration: must be from 1m to 24h
    /matchers: the value of `a` stands in double quotes
    ");
}
