//! Approvals: shown as people are shown them, and decisions handed on as they came.

use serde_json::json;
use warrant_kernel::call::gate::objection::Objection;
use warrant_kernel::call::gate::vote::Whole;

use crate::web::backend::{Deciding, Seen};

use super::double::Asked;
use super::{ANN, Double, why, world};

#[tokio::test]
async fn a_card_is_shown_with_what_an_answer_has_to_name() {
    let world = world(Double::new()).await;
    let (status, shown) = world.get("/v1/approvals/A1", Some(ANN)).await;
    assert_eq!(status, 200);
    assert_eq!((&shown["card"]["revision"], &shown["card"]["digest_prefix"]), (&json!(3), &json!("00ff00ff00ff")));
    assert_eq!(shown["approve"], "after_the_last_page", "at high the whole is looked through first");
    assert!(!shown["pages"].as_array().unwrap().is_empty());
    assert_eq!(why(&world.get("/v1/approvals/nonsense", Some(ANN)).await), (404, "NOT_FOUND"));
}

#[tokio::test]
async fn a_list_is_narrowed_and_paged() {
    let world = world(Double::new()).await;
    let (_, first) = world.get("/v1/approvals?limit=2&state=open", Some(ANN)).await;
    assert_eq!((first["approvals"].as_array().unwrap().len(), &first["next"]), (2, &json!("A2")));
    let (_, second) = world.get("/v1/approvals?limit=2&before=A2", Some(ANN)).await;
    assert_eq!((first["approvals"].as_array().unwrap().len(), &second["next"]), (2, &json!(null)));
    assert_eq!(second["approvals"][0]["approval"], "A1");
    assert_eq!(world.get("/v1/approvals?state=denied", Some(ANN)).await.1["approvals"], json!([]));
}

#[tokio::test]
async fn a_decision_is_handed_on_as_it_came_with_who_and_how_proved() {
    let world = world(Double::new()).await;
    let seen = json!({ "revision": 2, "digest_prefix": "ffff", "whole": "not_opened" });
    let mut because = seen.clone();
    because["reason"] = json!("too risky");
    let why = json!({ "reason": "too risky" });
    for (what, body) in [("approve", &seen), ("deny", &because), ("revoke", &why), ("reopen", &why)] {
        let (status, decided) = world.post(&format!("/v1/approvals/A1/{what}"), Some(ANN), body).await;
        assert_eq!((status, &decided["approval"]), (200, &json!("A1")), "{what}");
    }
    let seen = || Seen { revision: 2, digest_prefix: "ffff".to_owned(), whole: Whole::NotOpened };
    let reason = || "too risky".to_owned();
    let expected = [
        Deciding::Approve(seen()),
        Deciding::Deny(seen(), reason()),
        Deciding::Revoke(reason()),
        Deciding::Reopen(reason()),
    ];
    assert_eq!(world.double.asked(), expected.map(|deciding| Asked::Decide("A1 by ann".to_owned(), deciding)));
}

#[tokio::test]
async fn what_a_decision_lacks_is_said_and_nothing_is_handed_on() {
    let world = world(Double::new()).await;
    let bodies = [
        ("approve", json!({})),
        ("approve", json!({ "revision": 3, "digest_prefix": "00" })),
        ("approve", json!({ "revision": 3, "digest_prefix": "00", "whole": true })),
        ("approve", json!({ "revision": 3, "digest_prefix": "00", "whole": "opened", "as": "bob" })),
        ("deny", json!({ "revision": 3, "digest_prefix": "00", "whole": "opened" })),
        ("deny", json!({ "revision": 3, "digest_prefix": "00", "whole": "opened", "reason": " " })),
        ("revoke", json!({})),
        ("reopen", json!({ "reason": "" })),
    ];
    for (what, body) in bodies {
        assert_eq!(world.post(&format!("/v1/approvals/A1/{what}"), Some(ANN), &body).await.0, 400, "{what} {body}");
    }
    super::double::nothing(&world.double);
}

#[tokio::test]
async fn what_the_gate_objects_is_told_with_its_word_and_nothing_from_inside() {
    let world = world(Double::new()).await;
    let id = "A1".parse().unwrap();
    let objections = [
        (Objection::StaleCard { approval: id, now: 4, shown: 3 }, 409, "STALE_CARD"),
        (Objection::PlanHashMismatch(id), 409, "PLAN_HASH_MISMATCH"),
        (Objection::WholeNotOpened(id), 409, "WHOLE_NOT_OPENED"),
        (Objection::AlreadyConsumed(id), 409, "ALREADY_CONSUMED"),
        (Objection::SelfApproval("ann".parse().unwrap()), 403, "SELF_APPROVAL"),
        (Objection::NotHuman("ann".parse().unwrap()), 403, "NOT_HUMAN"),
        (Objection::NoToken, 401, "NO_TOKEN"),
        (Objection::Ledger("/var/lib/warrant/ledger.db: short write".to_owned()), 503, "LEDGER_UNAVAILABLE"),
        (Objection::DirectoryFailed("ldap://10.0.0.7 refused".to_owned()), 503, "DIRECTORY_FAILED"),
    ];
    let body = json!({ "revision": 3, "digest_prefix": "00", "whole": "opened" });
    for (objection, status, reason) in objections {
        *world.double.objection.lock().unwrap() = Some(objection);
        let told = world.post("/v1/approvals/A1/approve", Some(ANN), &body).await;
        assert_eq!(why(&told), (status, reason));
        let text = told.1.to_string();
        assert!(!text.contains("/var/lib") && !text.contains("10.0.0.7"), "{text}");
    }
}
