//! The envelope: what the model is shown, what the trace gets, and what is kept whole.

use std::sync::Arc;

use async_trait::async_trait;

use crate::call::execute::{Conduct, Flight, Landed};
use crate::call::record::NotKept;
use crate::call::{Desk, carry_out};
use crate::domain::name::EvidenceId;

use super::{GOOD, Says, Scene, call, lines};

#[tokio::test]
async fn the_model_sees_the_envelope_and_the_trace_sees_the_rest() {
    let scene = Scene::new(Says(|| {
        let mut output = lines((0..60).map(|n| format!("line {n}: password=hunter2 refused")));
        output.matched = Some(900);
        output.left_out = Some("840 older lines; ask with an earlier `until`".to_owned());
        Ok(output)
    }));
    let result = scene.look().await;
    insta::assert_json_snapshot!(result.for_model(), @r#"
    {
      "status": "ok",
      "evidence": "E7",
      "origin": "log",
      "truncated": true,
      "hint": "840 older lines; ask with an earlier `until`; the whole is evidence E7: `read_evidence` pages through it",
      "data": {
        "service": "checkout",
        "lines": [
          "line 0: password=[secret:password_kv:326eb4] refused",
          "line 1: password=[secret:password_kv:326eb4] refused",
          "line 2: password=[secret:password_kv:326eb4] refused",
          "line 3: password=[secret:password_kv:326eb4] refused",
          "[... 52 rows left out here: E7 from row 4 ...]",
          "line 56: password=[secret:password_kv:326eb4] refused",
          "line 57: password=[secret:password_kv:326eb4] refused",
          "line 58: password=[secret:password_kv:326eb4] refused",
          "line 59: password=[secret:password_kv:326eb4] refused"
        ]
      }
    }
    "#);
    insta::assert_json_snapshot!(result.meta, { ".duration_ms" => "[ms]" }, @r#"
    {
      "source": "files:shop",
      "origin": "log",
      "lines_returned": 8,
      "lines_matched": 900,
      "duration_ms": "[ms]",
      "output_chars": 525,
      "redactions": 60,
      "cached": false,
      "captured": true,
      "side_effects": []
    }
    "#);
    let whole = &scene.log.wholes.lock().unwrap()[0];
    assert_eq!((whole.rows.len(), whole.evidence), (60, EvidenceId::nth(7)));
}

#[tokio::test]
async fn an_output_that_fits_is_not_truncated() {
    let result = Scene::new(Says(|| Ok(lines(["one", "two"])))).look().await;
    insta::assert_json_snapshot!(result.for_model(), @r#"
    {
      "status": "ok",
      "evidence": "E7",
      "origin": "log",
      "truncated": false,
      "data": {
        "service": "checkout",
        "lines": [
          "one",
          "two"
        ]
      }
    }
    "#);
}

#[tokio::test]
async fn a_source_that_matched_more_than_it_gave_is_truncated_though_the_tool_forgot_to_say() {
    let scene = Scene::new(Says(|| {
        let mut output = lines(["one"]);
        output.matched = Some(3);
        Ok(output)
    }));
    let result = scene.look().await;
    assert!(result.truncated);
    assert_eq!(result.hint.unwrap(), "2 more rows matched at the source; ask for less at once");
}

#[tokio::test]
async fn beyond_eight_mib_nothing_is_kept_and_the_hint_says_so() {
    let scene = Scene::new(Says(|| Ok(lines((0..9_000).map(|n| format!("{n:01000}"))))));
    let result = scene.look().await;
    assert!(result.ok && result.truncated && !result.meta.captured);
    assert_eq!(result.hint.unwrap(), "the whole was too big to keep; ask for less");
    assert!(scene.log.wholes.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_recorder_that_keeps_nothing_promises_nothing() {
    let scene = Scene::new(Says(|| Ok(lines((0..90).map(|n| format!("line number {n}"))))));
    let desk = Desk { recorder: &NotKept, ..scene.desk() };
    let result = carry_out(desk, &call("look", GOOD)).await;
    assert!(result.truncated && !result.meta.captured);
    assert_eq!(result.hint.unwrap(), "the whole is not kept; ask for less");
}

/// Runs the work and says that an earlier read served.
struct Served;

#[async_trait]
impl Conduct for Served {
    async fn conduct(&self, flight: Flight<'_>) -> Landed {
        Landed { done: Arc::new(flight.work.await), cached: Some(EvidenceId::nth(2)) }
    }
}

#[tokio::test]
async fn a_served_read_cites_the_earlier_evidence_and_is_not_kept_twice() {
    let scene = Scene::new(Says(|| Ok(lines((0..90).map(|n| format!("line number {n}"))))));
    let desk = Desk { conduct: &Served, ..scene.desk() };
    let result = carry_out(desk, &call("look", GOOD)).await;
    assert!(result.meta.cached && result.meta.captured);
    assert_eq!(result.evidence, Some(EvidenceId::nth(2)));
    assert!(result.hint.unwrap().contains("evidence E2"));
    assert!(scene.log.wholes.lock().unwrap().is_empty());
    assert_eq!(scene.decisions().len(), 1);
}
