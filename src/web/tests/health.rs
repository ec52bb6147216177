//! `/healthz`, `/readyz` and `/metrics`, for this machine and for strangers.

use reqwest::Method;
use serde_json::json;

use crate::web::health::{Check, Condition, Weight};

use super::{BOB, Double, told, world};

fn check(name: &str, state: Condition, weight: Weight) -> Check {
    Check { name: name.to_owned(), state, weight, detail: "connection to 10.0.0.7 refused".to_owned() }
}

#[tokio::test]
async fn ready_is_what_has_all_that_it_can_not_do_without() {
    use Condition::{Degraded, Down, Off, Up};
    use Weight::{Decides, Informs};
    let cases: [(&[(Condition, Weight)], u16); 5] = [
        (&[], 200),
        (&[(Up, Decides), (Down, Informs)], 200),
        (&[(Degraded, Decides), (Off, Decides)], 200),
        (&[(Down, Decides)], 503),
        (&[(Up, Decides), (Up, Informs), (Down, Decides)], 503),
    ];
    for (states, expected) in cases {
        let double = Double::new();
        *double.checks.lock().unwrap() = states.iter().map(|(state, weight)| check("it", *state, *weight)).collect();
        let world = world(double).await;
        assert_eq!(world.get("/healthz", None).await.0, 200);
        let (status, ready) = world.get("/readyz", None).await;
        assert_eq!((status, &ready["ready"]), (expected, &json!(expected == 200)), "{states:?}");
    }
}

#[tokio::test]
async fn strangers_are_told_words_and_whoever_is_known_why() {
    let double = Double::new();
    *double.checks.lock().unwrap() = vec![check("slack", Condition::Down, Weight::Informs)];
    let world = world(double).await;
    let from_afar = |token: Option<&str>| world.asked(Method::GET, "/readyz", token).header("host", "warrant.internal");
    let (_, stranger) = told(from_afar(None).send().await.unwrap()).await;
    assert_eq!(stranger["checks"][0], json!({ "name": "slack", "state": "down", "weight": "informs", "detail": "" }));
    for known in [from_afar(Some(BOB)), world.asked(Method::GET, "/readyz", None)] {
        let (_, known) = told(known.send().await.unwrap()).await;
        assert_eq!(known["checks"][0]["detail"], "connection to 10.0.0.7 refused");
    }
    assert_eq!(*world.double.checked.lock().unwrap(), 1, "asked for thrice within a second, looked at once");
}

#[tokio::test]
async fn metrics_are_for_this_machine_and_for_whoever_may_look() {
    let world = world(Double::new()).await;
    let from_afar =
        |token: Option<&str>| world.asked(Method::GET, "/metrics", token).header("host", "warrant.internal");
    assert_eq!(from_afar(None).send().await.unwrap().status(), 401);
    for asked in [from_afar(Some(BOB)), world.asked(Method::GET, "/metrics", None)] {
        let response = asked.send().await.unwrap();
        assert!(response.headers()["content-type"].to_str().unwrap().starts_with("application/openmetrics-text"));
        let text = response.text().await.unwrap();
        assert!(text.contains("warrant_queue_depth{queue=\"alerts\"} 2\n") && text.ends_with("# EOF\n"), "{text}");
        assert!(
            text.contains("warrant_http_requests_total{route=\"/metrics\",method=\"GET\",status=\"401\"} 1\n"),
            "{text}"
        );
    }
}
