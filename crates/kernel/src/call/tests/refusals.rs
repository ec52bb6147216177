//! Every code and reason of the read side as a result, and who is told what.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::call::tool::ReadError;
use crate::domain::decision::Action;
use crate::domain::result::{ErrorCode, Status, ToolResult};
use crate::redact::Redactor;

use super::{GOOD, SHIPPED, Says, Scene, lines, told};

/// A scene whose tool must not run, and a count of how often it did.
fn unused() -> (Scene, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let tool = Says(move || {
        counter.fetch_add(1, Ordering::SeqCst);
        Ok(lines(["x"]))
    });
    (Scene::new(tool), count)
}

fn error(result: &ToolResult) -> (Status, ErrorCode, Option<&str>) {
    let error = result.error.as_ref().unwrap();
    (result.status, error.code, error.reason.as_deref())
}

#[tokio::test]
async fn an_unknown_tool_is_told_with_what_it_may_have_meant() {
    let (scene, ran) = unused();
    let near = scene.call("lok", GOOD).await;
    let far = scene.call("restart_everything", GOOD).await;
    insta::assert_json_snapshot!([told(&near), told(&far)], @r#"
    [
      {
        "status": "error",
        "error": {
          "code": "UNKNOWN_TOOL",
          "message": "there is no tool `lok`; did you mean `look`?",
          "retryable": false
        }
      },
      {
        "status": "error",
        "error": {
          "code": "UNKNOWN_TOOL",
          "message": "there is no tool `restart_everything`; there are: brief, look",
          "retryable": false
        }
      }
    ]
    "#);
    assert_eq!(near.meta.trace_reason, None);
    assert_eq!((ran.load(Ordering::SeqCst), scene.decisions().len()), (0, 0));
    assert_eq!(scene.log.results.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn pi_07_a_tool_outside_the_role_is_as_unknown_as_one_that_is_not_there() {
    let (scene, ran) = unused();
    let outside = scene.call("wide", GOOD).await;
    let nowhere = scene.call("wida", GOOD).await;
    assert_eq!(error(&outside), (Status::Error, ErrorCode::UnknownTool, None));
    assert_eq!(outside.meta.trace_reason.as_deref(), Some("NOT_IN_ROLE"));
    let (outside, nowhere) = (outside.for_model().to_string(), nowhere.for_model().to_string());
    assert_eq!(outside.replace("wide", "wida"), nowhere);
    assert!(!outside.contains("NOT_IN_ROLE") && ran.load(Ordering::SeqCst) == 0, "{outside}");
}

#[tokio::test]
async fn all_that_is_wrong_with_arguments_is_told_at_once() {
    let (scene, ran) = unused();
    let wrong = r#"{"servise": "checkout", "since": "soon", "limit": "many", "level": "eror", "a/b": 1}"#;
    let senseless = r#"{"service": "checkot", "since": "in 3 days", "limit": 0}"#;
    let both = [scene.call("look", wrong).await, scene.call("look", senseless).await];
    insta::assert_snapshot!(both.map(|result| result.error.unwrap().message).join("\n\n"), @r"
    /a~1b: unknown field; `look` takes `level`, `limit`, `service` and `since`
    /level: `eror` is none of `error` and `warn`; did you mean `error`?
    /limit: must be a whole number, and is a text: `many`
    /service: is missing: Which.
    /servise: unknown field; did you mean `service`?
    /since: `soon` is not a time; write RFC 3339 as in `2026-01-31T04:05:00Z`, or `15m ago`, or `now`

    /limit: `0` is below the least, 1
    /service: there is no service `checkot`; did you mean `checkout`?
    /since: `in 3 days` is not a time; write RFC 3339 as in `2026-01-31T04:05:00Z`, or `15m ago`, or `now`
    ");
    assert_eq!((ran.load(Ordering::SeqCst), scene.decisions().len()), (0, 0));
}

#[tokio::test]
async fn ap_27_lm_05_malformed_arguments_are_quoted_and_never_become_an_empty_object() {
    let (scene, ran) = unused();
    let mut told = Vec::new();
    for text in
        ["", "{", r#"["payments"]"#, r#"{"service": "checkout",}"#, r#"{"service": "a", "service": "b"}"#, "null"]
    {
        let result = scene.call("look", text).await;
        assert_eq!(error(&result), (Status::Error, ErrorCode::InvalidArguments, None));
        told.push(result.error.unwrap().message);
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
    the arguments are empty; send a JSON object, `{}` where the tool needs none
    the arguments are not JSON: EOF while parsing an object, line 1 column 1, after `{`, where the text ends; send one complete JSON object
    the arguments are an array; send a JSON object such as `{"service": "checkout"}`
    the arguments are not JSON: trailing comma, line 1 column 24, between `{"service": "checkout",` and `}`; send one complete JSON object
    the arguments are not JSON: the field `service` stands twice, line 1 column 26, between `{"service": "a", "service` and `": "b"}`; send one complete JSON object
    the arguments are null; send a JSON object such as `{"service": "checkout"}`
    "#);
    assert_eq!((ran.load(Ordering::SeqCst), scene.decisions().len()), (0, 0));
}

#[tokio::test]
async fn a_denial_names_the_policies_that_decided() {
    let restricted = format!(
        "{SHIPPED}\n@id(\"not-checkout\") @reason(\"checkout is under audit\")\n\
         forbid (principal, action, resource in Service::\"checkout\");"
    );
    let forbidden = Scene::with(Says(|| Ok(lines(["x"]))), "max_chars = 600, keep = \"full\"", &restricted);
    let by_policy = forbidden.look().await;
    let nothing = "@id(\"nobody\") permit (principal, action in Action::\"read\", resource == Service::\"elsewhere\");";
    let unpermitted = Scene::with(Says(|| Ok(lines(["x"]))), "max_chars = 600, keep = \"full\"", nothing);
    let by_default = unpermitted.look().await;
    insta::assert_json_snapshot!([told(&by_policy), told(&by_default)], @r#"
    [
      {
        "status": "denied",
        "error": {
          "code": "POLICY_DENIED",
          "message": "checkout is under audit (decided by not-checkout)",
          "retryable": false
        }
      },
      {
        "status": "denied",
        "error": {
          "code": "POLICY_DENIED",
          "message": "no policy permits `look` (read) for role `explore` (decided by default-deny)",
          "retryable": false
        }
      }
    ]
    "#);
    let decision = &forbidden.decisions()[0];
    assert_eq!(
        (decision.action, decision.policy_ids.as_slice()),
        (Action::Deny, ["not-checkout".to_owned()].as_slice())
    );
    assert_eq!(unpermitted.decisions()[0].policy_ids, ["default-deny"]);
}

#[tokio::test]
async fn a_policy_that_can_not_be_evaluated_denies_and_says_so() {
    let overflows = format!(
        "{SHIPPED}\n@id(\"overflows\") forbid (principal, action, resource)\n\
         when {{ context.now * 9223372036854775807 < 0 }};"
    );
    let scene = Scene::with(Says(|| Ok(lines(["x"]))), "max_chars = 600, keep = \"full\"", &overflows);
    let result = scene.look().await;
    insta::assert_json_snapshot!(told(&result), @r#"
    {
      "status": "denied",
      "error": {
        "code": "POLICY_DENIED",
        "reason": "POLICY_ERROR",
        "message": "policy `overflows` could not be evaluated, so the answer is no (decided by overflows)",
        "retryable": false
      }
    }
    "#);
    assert_eq!(scene.decisions()[0].policy_ids, ["overflows"]);
}

#[tokio::test]
async fn what_a_source_says_keeps_its_reason() {
    let down = ReadError::Backend { reason: "UNREACHABLE", message: "refused; is it up?".to_owned(), retryable: true };
    let broken = ReadError::Backend { reason: "BAD_ANSWER", message: "no JSON".to_owned(), retryable: false };
    let invalid = ReadError::Invalid { reason: "QUERY_INVALID", message: "1:3: unexpected `)`".to_owned() };
    let mut all = Vec::new();
    for error in [down, broken, invalid, ReadError::Cancelled] {
        let scene = Scene::new(Says(move || Err(error.clone())));
        let result = scene.look().await;
        assert_eq!(result.meta.source.as_ref().unwrap().as_str(), "files:shop");
        assert!(result.data.is_null() && result.evidence.is_none() && !result.truncated);
        // The allow of a read is a decision too.
        assert_eq!(scene.decisions()[0].action, Action::Allow);
        all.push(told(&result));
    }
    insta::assert_json_snapshot!(all, @r#"
    [
      {
        "status": "error",
        "error": {
          "code": "BACKEND_ERROR",
          "reason": "UNREACHABLE",
          "message": "refused; is it up?",
          "retryable": true
        }
      },
      {
        "status": "error",
        "error": {
          "code": "BACKEND_ERROR",
          "reason": "BAD_ANSWER",
          "message": "no JSON",
          "retryable": false
        }
      },
      {
        "status": "error",
        "error": {
          "code": "INVALID_ARGUMENTS",
          "reason": "QUERY_INVALID",
          "message": "1:3: unexpected `)`",
          "retryable": false
        }
      },
      {
        "status": "cancelled",
        "error": {
          "code": "CANCELLED",
          "message": "ended on request before it was done",
          "retryable": false
        }
      }
    ]
    "#);
}

#[tokio::test]
async fn a_long_error_is_cut_and_says_so() {
    let message = "x".repeat(5_000);
    let scene = Scene::new(Says(move || {
        Err(ReadError::Backend { reason: "BAD_ANSWER", message: message.clone(), retryable: false })
    }));
    let result = scene.look().await;
    assert!(result.truncated);
    assert!(result.error.unwrap().message.ends_with("x[... 1000 characters left out]"));
}

#[tokio::test]
async fn rd_12_nothing_passes_a_redactor_that_is_out_of_order() {
    let word = "SENTINEL";
    let found = || {
        let mut output = lines(["SENTINEL in a line"]);
        output.summary.insert("SENTINEL".to_owned(), json!("SENTINEL"));
        output.left_out = Some("SENTINEL rows".to_owned());
        Ok(output)
    };
    let failed = || Err(ReadError::Backend { reason: "DOWN", message: "SENTINEL is down".to_owned(), retryable: true });
    let mut scenes = [Scene::new(Says(found)), Scene::new(Says(failed))];
    for scene in &mut scenes {
        scene.redactor = Redactor::out_of_order();
        for (tool, arguments) in
            [("look", GOOD), ("SENTINEL", GOOD), ("look", r#"{"service": "SENTINEL"}"#), ("look", "{SENTINEL")]
        {
            let result = scene.call(tool, arguments).await;
            let all = serde_json::to_string(&(&result, scene.decisions())).unwrap();
            assert!(!result.ok && !all.contains(word), "{all}");
        }
        assert!(scene.log.wholes.lock().unwrap().is_empty());
    }
    let result = scenes[0].look().await;
    insta::assert_json_snapshot!(result.for_model(), @r#"
    {
      "status": "error",
      "origin": "warrant",
      "truncated": false,
      "error": {
        "code": "BACKEND_ERROR",
        "reason": "REDACTION_FAILED",
        "message": "the reason could not be checked for secrets, so it is not shown",
        "retryable": false
      }
    }
    "#);
}

#[tokio::test]
async fn rd_06_no_part_of_a_secret_is_quoted_from_arguments_or_names() {
    let (scene, _) = unused();
    let secret = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
    let parts: Vec<&str> = (0..secret.len() - 8).filter_map(|at| secret.get(at..at + 8)).collect();
    for pad in 0..90 {
        let pad = "y ".repeat(pad);
        let broken = format!("{{\"service\": \"{pad}{secret} {}\" oops", "z".repeat(20));
        let wrong = format!("{{\"service\": \"checkout\", \"level\": \"{pad}{secret}\"}}");
        let name = format!("{pad}{secret}");
        for result in
            [scene.call("look", &broken).await, scene.call("look", &wrong).await, scene.call(&name, GOOD).await]
        {
            let all = serde_json::to_string(&result).unwrap();
            let leaked = parts.iter().find(|part| all.contains(**part));
            assert_eq!(leaked, None, "{all}");
        }
    }
}
