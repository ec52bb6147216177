//! The document and the routes are one, and what routes really answer is what the document says.

use std::collections::BTreeSet;

use jsonschema::Validator;
use reqwest::Method;
use serde_json::{Value, json};

use crate::web::api::{OPERATIONS, Verb};
use crate::web::tests::{ANN, BOB, Double, World, report, world};

use super::whole;

/// What the document says of a route, as it stands in it.
fn described<'a>(document: &'a Value, path: &str, verb: &str) -> &'a Value {
    document.pointer(&format!("/paths/{}/{verb}", path.replace('/', "~1"))).unwrap_or_else(|| panic!("{verb} {path}"))
}

/// Everything that the document refers to in itself is there; then it can be put into one schema.
fn validator(document: &Value, schema: &str) -> Validator {
    let schemas = document.pointer("/components/schemas").unwrap();
    assert!(schemas.get(schema).is_some(), "no schema `{schema}`");
    let rooted = json!({ "$ref": format!("#/components/schemas/{schema}"), "components": { "schemas": schemas } });
    jsonschema::validator_for(&rooted).unwrap()
}

async fn answered(world: &World, method: Method, path: &str, body: Option<Value>) -> (u16, String, Value) {
    let mut asked = world.asked(method, path, Some(ANN));
    if let Some(body) = body {
        asked = asked.json(&body);
    }
    let response = asked.send().await.unwrap();
    let kind = response.headers()["content-type"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let (status, text) = (response.status().as_u16(), response.text().await.unwrap());
    let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
    (status, kind, value)
}

#[tokio::test]
async fn every_route_is_in_the_document_and_every_path_of_it_answers_as_it_says() {
    let world = world(Double::new()).await;
    let id = world.investigation("i-one", 1, Some("checkout"), "ann").await;
    world.append(&id, 1, vec![report("confirmed")]).await;
    let (_, document) = world.get("/openapi.json", None).await;
    assert_eq!(document, whole());
    let bodies = json!({
        "NewInvestigation": { "question": "why?", "service": "checkout" }, "Steering": { "text": "look there" },
        "Approving": { "revision": 3, "digest_prefix": "00", "whole": "opened" },
        "Denying": { "revision": 3, "digest_prefix": "00", "whole": "opened", "reason": "no" },
        "Because": { "reason": "so" },
    });
    let mut in_document = BTreeSet::new();
    for (path, verbs) in document["paths"].as_object().unwrap() {
        in_document.extend(verbs.as_object().unwrap().keys().map(|verb| (path.clone(), verb.clone())));
    }
    let mut routed = BTreeSet::new();
    for operation in OPERATIONS {
        let (verb, method) = match operation.verb {
            Verb::Get => ("get", Method::GET),
            Verb::Post => ("post", Method::POST),
        };
        routed.insert((operation.path.to_owned(), verb.to_owned()));
        let described = described(&document, operation.path, verb);
        let id = if operation.path.contains("approvals") { "A1" } else { "i-one" };
        let body = operation.takes.map(|schema| {
            let body = &bodies[schema];
            assert!(validator(&document, schema).is_valid(body), "{schema}");
            body.clone()
        });
        let path = operation.path.replace("{id}", id);
        let (status, kind, value) = answered(&world, method, &path, body).await;
        let content = described.pointer(&format!("/responses/{status}/content/{}", kind.replace('/', "~1")));
        let schema = content.unwrap_or_else(|| panic!("{path} gives {status} {kind}, of which nothing is said"));
        if let Some(reference) = schema.pointer("/schema/$ref").and_then(Value::as_str) {
            let errors = validator(&document, reference.rsplit('/').next().unwrap());
            let wrong: Vec<String> = errors.iter_errors(&value).map(|error| error.to_string()).collect();
            assert!(wrong.is_empty(), "{path}: {wrong:?}\n{value:#}");
        }
    }
    // Those that other parts answer are held against them where these are.
    let elsewhere = |path: &str| path.starts_with("/v1/alerts/") || path.starts_with("/slack/");
    in_document.retain(|(path, _)| !elsewhere(path));
    assert_eq!(in_document, routed);
}

#[tokio::test]
async fn refusals_are_what_the_document_says_they_are() {
    let world = world(Double::new()).await;
    let document = whole();
    let errors = validator(&document, "Error");
    let cases = [
        (Method::GET, "/v1/approvals", None, None, 401),
        (Method::GET, "/v1/approvals/A1", Some(BOB), None, 404),
        (Method::GET, "/v1/approvals?limit=0", Some(BOB), None, 400),
        (Method::GET, "/v1/investigations/none/events", Some(BOB), None, 404),
        (Method::POST, "/v1/investigations", Some(BOB), Some(json!({})), 400),
        (Method::POST, "/v1/investigations", Some(BOB), None, 415),
        (Method::POST, "/v1/investigations", Some("warrant_looks"), Some(json!({ "question": "why?" })), 403),
    ];
    for (method, path, token, body, expected) in cases {
        let verb = method.as_str().to_lowercase();
        let mut asked = world.asked(method, path, token);
        if let Some(body) = body {
            asked = asked.json(&body);
        }
        let response = asked.send().await.unwrap();
        let status = response.status().as_u16();
        assert_eq!(status, expected, "{path}");
        let value: Value = response.json().await.unwrap();
        assert!(errors.is_valid(&value), "{value}");
        let route = path.split('?').next().unwrap().replace("/none/", "/{id}/").replace("/A1", "/{id}");
        assert!(
            described(&document, &route, &verb).pointer(&format!("/responses/{status}")).is_some(),
            "{route} {status}"
        );
    }
}

#[test]
fn what_can_be_decided_needs_a_token_that_says_so() {
    let document = whole();
    for what in ["approve", "deny", "revoke", "reopen"] {
        let described = described(&document, &format!("/v1/approvals/{{id}}/{what}"), "post");
        assert_eq!(described["security"], json!([{ "token": ["approve"] }]));
    }
    let mut ids = BTreeSet::new();
    for (_, verbs) in document["paths"].as_object().unwrap() {
        for (_, described) in verbs.as_object().unwrap() {
            assert!(ids.insert(described["operationId"].as_str().unwrap().to_owned()), "{}", described["operationId"]);
        }
    }
}
