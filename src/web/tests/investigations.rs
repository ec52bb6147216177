//! Begin one, page through them, show one, tell it something, end it.

use serde_json::{Value, json};

use crate::web::backend::Failure;

use super::double::Asked;
use super::{ANN, BOB, Double, report, why, world};

#[tokio::test]
async fn one_is_begun_for_whoever_asks_with_what_they_asked() {
    let world = world(Double::new()).await;
    let body = json!({ "question": "  why is it slow?\n", "service": "checkout", "since": "30m", "role": "explore" });
    let (status, begun) = world.post("/v1/investigations", Some(ANN), &body).await;
    assert_eq!((status, &begun), (202, &json!({ "id": "i-new", "events": "/v1/investigations/i-new/events" })));
    let asked = world.double.asked();
    let [Asked::Begin(wanted)] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!((wanted.question.as_str(), wanted.since.as_deref()), ("why is it slow?", Some("30m")));
    assert_eq!(
        (wanted.requester.person.as_str(), wanted.requester.groups.as_slice()),
        ("ann", &["on-call".to_owned()][..])
    );
    assert_eq!(wanted.service.as_ref().unwrap().as_str(), "checkout");
}

#[tokio::test]
async fn what_does_not_fit_is_refused_before_anything_is_begun() {
    let world = world(Double::new()).await;
    let long = "x".repeat(4_001);
    let refused = [
        (json!({}), "BODY_DOES_NOT_FIT"),
        (json!([]), "BODY_DOES_NOT_FIT"),
        (json!({ "question": 7 }), "BODY_DOES_NOT_FIT"),
        (json!({ "question": "why?", "tools": ["shell"] }), "BODY_DOES_NOT_FIT"),
        (json!({ "question": "why?", "service": "../etc" }), "BODY_DOES_NOT_FIT"),
        (json!({ "question": " \n" }), "TEXT_LENGTH"),
        (json!({ "question": long }), "TEXT_LENGTH"),
        (json!({ "question": "why?", "since": "" }), "TEXT_LENGTH"),
    ];
    for (body, reason) in refused {
        assert_eq!(why(&world.post("/v1/investigations", Some(ANN), &body).await), (400, reason), "{body}");
    }
    let huge = world.post("/v1/investigations", Some(ANN), &json!({ "question": "x".repeat(100_000) })).await;
    assert_eq!(why(&huge), (413, "BODY_TOO_LARGE"));
    // What is told back of it can't be more than text.
    let (_, told) = world.post("/v1/investigations", Some(ANN), &json!({ "\u{1b}[2J\u{202e}": 1 })).await;
    let message = told["error"]["message"].as_str().unwrap();
    assert!(message.contains("\\u{202E}") || message.contains("\\u{202e}"), "{message}");
    assert!(!message.contains(['\u{1b}', '\u{202e}']));
    super::double::nothing(&world.double);
}

#[tokio::test]
async fn why_it_is_not_begun_is_told_without_what_is_inside() {
    let world = world(Double::new()).await;
    let failures = [
        (Failure::Invalid("`since` lies in the future".to_owned()), 400, "INVALID_ARGUMENTS"),
        (Failure::Busy { retry_after_s: 7 }, 429, "BUSY"),
        (Failure::Closing, 503, "CLOSING"),
        (Failure::Broken("/var/lib/warrant/store.db: disk I/O error".to_owned()), 503, "UNAVAILABLE"),
    ];
    for (failure, status, reason) in failures {
        *world.double.failure.lock().unwrap() = Some(failure);
        let told = world.post("/v1/investigations", Some(ANN), &json!({ "question": "why?" })).await;
        assert_eq!(why(&told), (status, reason));
        assert!(!told.1.to_string().contains("/var/lib"), "{}", told.1);
    }
}

#[tokio::test]
async fn pages_of_the_list_follow_each_other_and_show_only_what_one_may_see() {
    let world = world(Double::new()).await;
    for n in 0..9 {
        let service = if n % 3 == 0 { "payments" } else { "checkout" };
        world.investigation(&format!("i-{n}"), n, Some(service), "cid").await;
    }
    let (mut seen, mut path) = (Vec::new(), "/v1/investigations?limit=2".to_owned());
    loop {
        let (status, page) = world.get(&path, Some(BOB)).await;
        assert_eq!(status, 200);
        let lines = page["investigations"].as_array().unwrap();
        assert!(lines.len() <= 2);
        seen.extend(lines.iter().map(|line| line["id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        assert!(seen.iter().any(|id| id == next), "what may not be seen is not named as a place either: {next}");
        path = format!("/v1/investigations?limit=2&before={next}");
    }
    assert_eq!(seen, ["i-8", "i-7", "i-5", "i-4", "i-2", "i-1"]);
    for query in ["limit=0", "limit=201", "limit=x", "offset=1"] {
        assert_eq!(world.get(&format!("/v1/investigations?{query}"), Some(BOB)).await.0, 400, "{query}");
    }
}

#[tokio::test]
async fn one_shows_where_it_stands() {
    let world = world(Double::new()).await;
    let id = world.investigation("i-one", 1, Some("checkout"), "ann").await;
    let (_, paused) = world.get("/v1/investigations/i-one", Some(BOB)).await;
    assert_eq!(
        (&paused["state"], &paused["report"], &paused["running"]),
        (&json!("paused"), &Value::Null, &json!(false))
    );
    let watched = world.feed.watch(id.clone(), std::sync::Arc::new(crate::agent::trace::Unwatched));
    let (_, running) = world.get("/v1/investigations/i-one", Some(BOB)).await;
    assert_eq!((&running["state"], &running["running"]), (&json!("running"), &json!(true)));
    drop(watched);
    world.append(&id, 1, vec![report("confirmed")]).await;
    let (_, ended) = world.get("/v1/investigations/i-one", Some(BOB)).await;
    insta::assert_json_snapshot!(ended, { ".report" => "(the report)", ".budget.wall_s.used" => 3_480 }, @r#"
    {
      "id": "i-one",
      "question": "why i-one?",
      "service": "checkout",
      "requester": "ann",
      "opened_at": "2026-03-01T12:01:00Z",
      "ended_at": "2026-03-01T13:00:00Z",
      "outcome": "confirmed",
      "running": false,
      "state": "ended",
      "trigger": "question",
      "role": "explore",
      "channel": "api",
      "since": "2026-03-01T12:01:00Z",
      "budget": {
        "turns": {
          "used": 0,
          "limit": 8
        },
        "tokens": {
          "used": 0,
          "limit": 1000
        },
        "wall_s": {
          "used": 3480,
          "limit": 600
        },
        "cost": {
          "used": null,
          "limit": null
        }
      },
      "reads": 0,
      "writes": 0,
      "last_event": 2,
      "pending_approvals": [],
      "report": "(the report)"
    }
    "#);
    assert_eq!(ended["report"]["root_cause"], "the pool");
}

#[tokio::test]
async fn one_is_steered_and_stopped_by_whoever_may_see_it() {
    let world = world(Double::new()).await;
    world.investigation("i-one", 1, Some("checkout"), "ann").await;
    let steered = world.post("/v1/investigations/i-one/steer", Some(BOB), &json!({ "text": "look at the pool" })).await;
    assert_eq!(steered, (202, json!({ "id": "i-one" })));
    assert_eq!(world.post("/v1/investigations/i-one/stop", Some(BOB), &json!({})).await.0, 202);
    let expected = [
        Asked::Steer("i-one by bob".to_owned(), "look at the pool".to_owned()),
        Asked::Stop("i-one by bob".to_owned()),
    ];
    assert_eq!(world.double.asked(), expected);
    *world.double.failure.lock().unwrap() = Some(Failure::NotRunning);
    assert_eq!(why(&world.post("/v1/investigations/i-one/stop", Some(BOB), &json!({})).await), (409, "NOT_RUNNING"));
}
