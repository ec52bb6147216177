//! Who is let in, and what is not there for whom.

use reqwest::Method;
use serde_json::json;

use super::{ANN, ASKS, BOB, Double, LOOKS, why, world};

#[tokio::test]
async fn wh_16_nobody_gets_401_and_a_token_out_of_scope_403_and_both_are_counted() {
    let world = world(Double::new()).await;
    let question = json!({ "question": "why?" });
    for path in ["/v1/investigations", "/v1/approvals", "/v1/investigations/x", "/v1/investigations/x/events"] {
        let none = world.asked(Method::GET, path, None).send().await.unwrap();
        assert_eq!(none.status(), 401, "{path}");
        assert_eq!(none.headers()["www-authenticate"], "Bearer");
    }
    assert_eq!(why(&world.get("/v1/approvals", Some("warrant_guess")).await), (401, "NO_TOKEN"));
    assert_eq!(world.refused("unauthenticated"), 5);
    assert_eq!(why(&world.post("/v1/investigations", Some(LOOKS), &question).await), (403, "OUT_OF_SCOPE"));
    assert_eq!(why(&world.get("/v1/investigations", Some(ASKS)).await), (403, "OUT_OF_SCOPE"));
    let approve = json!({ "revision": 3, "digest_prefix": "00ff00ff00ff", "whole": "opened" });
    assert_eq!(why(&world.post("/v1/approvals/A1/approve", Some(LOOKS), &approve).await), (403, "OUT_OF_SCOPE"));
    // Whoever left has a token that is good for it, and is nobody.
    assert_eq!(why(&world.post("/v1/investigations", Some(ASKS), &question).await), (403, "NOT_ACTIVE"));
    assert_eq!(world.refused("scope"), 4);
    super::double::nothing(&world.double);
}

#[tokio::test]
async fn one_authorization_is_read_and_nothing_that_only_looks_like_one() {
    let world = world(Double::new()).await;
    for value in
        ["Basic YW5uOng=", "Bearer", "Bearer ", "warrant_ann", "Bearer a b", &format!("Bearer {}", "x".repeat(300))]
    {
        let asked = world.asked(Method::GET, "/v1/approvals", None).header("authorization", value);
        assert_eq!(asked.send().await.unwrap().status(), 401, "{value:?}");
    }
    let twice = world.asked(Method::GET, "/v1/approvals", Some(ANN)).header("authorization", format!("Bearer {BOB}"));
    assert_eq!(twice.send().await.unwrap().status(), 401);
    let lower = world.asked(Method::GET, "/v1/approvals", None).header("authorization", format!("bearer {ANN}"));
    assert_eq!(lower.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn wh_16_what_one_may_not_see_is_not_told_from_what_there_is_not() {
    let world = world(Double::new()).await;
    let of_payments = world.investigation("i-payments", 1, Some("payments"), "cid").await;
    let of_nothing = world.investigation("i-nothing", 2, None, "ann").await;
    world.investigation("i-checkout", 3, Some("checkout"), "cid").await;
    let steer = json!({ "text": "look at the pool" });
    for hidden in [of_payments.as_str(), of_nothing.as_str(), "i-never-was", "a%2fb", "a%00b"] {
        for what in ["", "/events"] {
            let path = format!("/v1/investigations/{hidden}{what}");
            let seen = world.get(&path, Some(BOB)).await;
            assert_eq!(seen.1["error"]["message"], "there is no such investigation", "{path}");
            assert_eq!(why(&seen), (404, "NOT_FOUND"), "{path}");
        }
        for what in ["steer", "stop"] {
            let path = format!("/v1/investigations/{hidden}/{what}");
            assert_eq!(why(&world.post(&path, Some(BOB), &steer).await), (404, "NOT_FOUND"), "{path}");
        }
    }
    let (hidden, none) =
        (world.get("/v1/approvals/A1", Some(BOB)).await, world.get("/v1/approvals/A9", Some(BOB)).await);
    assert_eq!((why(&hidden), &hidden), ((404, "NOT_FOUND"), &none));
    let asked = |service: &str| json!({ "question": "why?", "service": service });
    let (hidden, none) = (
        world.post("/v1/investigations", Some(BOB), &asked("payments")).await,
        world.post("/v1/investigations", Some(BOB), &asked("never-was")).await,
    );
    assert_eq!((why(&hidden), &hidden), ((404, "NOT_FOUND"), &none));
    assert_eq!(world.refused("not_visible"), 11, "eight by id, one card, two services");
    super::double::nothing(&world.double);
    // Lists leave it out.
    let ids = |value: &serde_json::Value, list: &str, id: &str| -> Vec<String> {
        value[list].as_array().unwrap().iter().map(|one| one[id].as_str().unwrap().to_owned()).collect()
    };
    let (_, bobs) = world.get("/v1/investigations", Some(BOB)).await;
    assert_eq!(ids(&bobs, "investigations", "id"), ["i-checkout"]);
    let (_, anns) = world.get("/v1/investigations", Some(ANN)).await;
    assert_eq!(ids(&anns, "investigations", "id"), ["i-checkout", "i-nothing", "i-payments"]);
    let (_, bobs) = world.get("/v1/approvals", Some(BOB)).await;
    assert_eq!(ids(&bobs, "approvals", "approval"), ["A3", "A2"]);
}

#[tokio::test]
async fn without_any_token_this_machine_looks_and_asks_and_never_decides() {
    let world = world(Double::without_tokens()).await;
    assert_eq!(world.get("/v1/investigations", None).await.0, 200);
    let begun = world.post("/v1/investigations", None, &json!({ "question": "why?" })).await;
    assert_eq!(begun.0, 202);
    for what in ["approve", "deny", "revoke", "reopen"] {
        let body = json!({ "revision": 3, "digest_prefix": "00ff00ff00ff", "whole": "opened", "reason": "so" });
        assert_eq!(why(&world.post(&format!("/v1/approvals/A1/{what}"), None, &body).await), (401, "NO_TOKEN"));
    }
    // What a proxy hands on is not of this machine.
    for (name, value) in
        [("x-forwarded-for", "203.0.113.9"), ("forwarded", "for=203.0.113.9"), ("host", "warrant.internal")]
    {
        let proxied = world.asked(Method::GET, "/v1/investigations", None).header(name, value).send().await.unwrap();
        assert_eq!(proxied.status(), 401, "{name}");
        let metrics = world.asked(Method::GET, "/metrics", None).header(name, value).send().await.unwrap();
        assert_eq!(metrics.status(), 401, "{name}");
    }
    assert_eq!(world.get("/v1/investigations", Some("warrant_guess")).await.0, 401, "a wrong token is not no token");
}

#[tokio::test]
async fn a_browser_can_not_send_what_changes_something_as_a_form() {
    let world = world(Double::without_tokens()).await;
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let asked = world.asked(Method::POST, "/v1/investigations", None).header("content-type", kind);
        assert_eq!(asked.body("{\"question\":\"why?\"}").send().await.unwrap().status(), 415, "{kind}");
    }
    super::double::nothing(&world.double);
}
