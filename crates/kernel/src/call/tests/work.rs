//! Ended work ends: a timeout and a cancel reach async and blocking work; a panic ends its call and nothing else.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use crate::domain::decision::Action;
use crate::domain::output::Output;
use crate::domain::result::{ErrorCode, Status, ToolResult};
use crate::domain::target::Target;

use super::{GOOD, Scene, lines, target, told};

/// Tells when it is dropped.
struct Tells(UnboundedSender<&'static str>, &'static str);

impl Drop for Tells {
    fn drop(&mut self) {
        self.0.send(self.1).unwrap();
    }
}

/// Work that never ends by itself.
struct Forever {
    blocking: bool,
    tell: UnboundedSender<&'static str>,
}

#[async_trait]
impl ReadTool for Forever {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        Ok(target(args))
    }

    async fn read(&self, _args: &Arguments, reading: Reading<'_>) -> Result<Output, ReadError> {
        self.tell.send("began").unwrap();
        if !self.blocking {
            let _dropped = Tells(self.tell.clone(), "dropped");
            return std::future::pending().await;
        }
        let (cancel, tell) = (reading.cancel.clone(), self.tell.clone());
        let work = tokio::task::spawn_blocking(move || {
            while !cancel.is_cancelled() {
                std::thread::sleep(Duration::from_millis(1));
            }
            tell.send("saw its token").unwrap();
            Err(ReadError::Cancelled)
        });
        work.await.unwrap()
    }
}

fn forever(blocking: bool) -> (Scene, UnboundedReceiver<&'static str>) {
    let (tell, told) = unbounded_channel();
    (Scene::new(Forever { blocking, tell }), told)
}

#[tokio::test]
async fn a_timeout_ends_the_work_and_is_no_denial() {
    for (blocking, end) in [(false, "dropped"), (true, "saw its token")] {
        let (scene, mut heard) = forever(blocking);
        let result = scene.call("brief", GOOD).await;
        assert_eq!(heard.recv().await, Some("began"));
        assert_eq!(heard.recv().await, Some(end));
        assert_eq!(result.status, Status::Timeout);
        assert!(result.meta.duration_ms >= 50, "{}", result.meta.duration_ms);
        assert_eq!(scene.decisions()[0].action, Action::Allow);
        insta::allow_duplicates! { insta::assert_json_snapshot!(told(&result), @r#"
        {
          "status": "timeout",
          "error": {
            "code": "TIMEOUT",
            "message": "ended after 0.05 s without an answer; ask for less, or look elsewhere",
            "retryable": true
          }
        }
        "#); }
    }
}

#[tokio::test]
async fn a_cancel_ends_the_work() {
    for (blocking, end) in [(false, "dropped"), (true, "saw its token")] {
        let (scene, mut heard) = forever(blocking);
        let cancel = scene.cancel.clone();
        let ends = async {
            assert_eq!(heard.recv().await, Some("began"));
            cancel.cancel();
            heard.recv().await
        };
        let (result, heard) = tokio::join!(scene.look(), ends);
        assert_eq!(heard, Some(end));
        insta::allow_duplicates! { insta::assert_json_snapshot!(told(&result), @r#"
        {
          "status": "cancelled",
          "error": {
            "code": "CANCELLED",
            "message": "ended on request before it was done",
            "retryable": false
          }
        }
        "#); }
    }
}

#[tokio::test]
async fn work_that_was_cancelled_before_it_began_never_begins() {
    let (scene, mut heard) = forever(false);
    scene.cancel.cancel();
    assert_eq!(scene.look().await.error.unwrap().code, ErrorCode::Cancelled);
    drop(scene);
    assert_eq!(heard.recv().await, None);
}

#[derive(Clone, Copy)]
enum Breaks {
    Resolving,
    AtOnce,
    Later,
}

struct Panics(Breaks);

#[async_trait]
impl ReadTool for Panics {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        match self.0 {
            Breaks::Resolving => panic!("password=hunter2"),
            Breaks::AtOnce | Breaks::Later => Ok(target(args)),
        }
    }

    async fn read(&self, _args: &Arguments, _reading: Reading<'_>) -> Result<Output, ReadError> {
        if let Breaks::Later = self.0 {
            tokio::task::yield_now().await;
        }
        panic!("password=hunter2")
    }
}

#[tokio::test]
async fn a_tool_that_panics_ends_its_call_and_nothing_else() {
    for breaks in [Breaks::Resolving, Breaks::AtOnce, Breaks::Later] {
        let scene = Scene::new(Panics(breaks));
        let result = scene.look().await;
        insta::allow_duplicates! { insta::assert_json_snapshot!(told(&result), @r#"
        {
          "status": "error",
          "error": {
            "code": "BACKEND_ERROR",
            "reason": "PANICKED",
            "message": "the tool broke down inside; this is a fault of the program, so look another way",
            "retryable": false
          }
        }
        "#); }
        assert_eq!(scene.log.results.lock().unwrap().len(), 1);
    }
}

/// Looks into the log while it works.
struct Witness(Arc<Mutex<Option<Arc<super::Log>>>>);

#[async_trait]
impl ReadTool for Witness {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        Ok(target(args))
    }

    async fn read(&self, _args: &Arguments, _reading: Reading<'_>) -> Result<Output, ReadError> {
        let log = self.0.lock().unwrap().clone().unwrap();
        let decided = log.decisions.lock().unwrap();
        Ok(lines(decided.iter().map(|decision| format!("{:?} by {}", decision.action, decision.policy_ids.join(",")))))
    }
}

#[tokio::test]
async fn a_decision_is_recorded_before_the_work_begins() {
    let log = Arc::new(Mutex::new(None));
    let scene = Scene::new(Witness(Arc::clone(&log)));
    *log.lock().unwrap() = Some(Arc::clone(&scene.log));
    let result: ToolResult = scene.look().await;
    assert_eq!(result.data["lines"][0], "Allow by reads-by-role");
    insta::assert_json_snapshot!(scene.decisions(), @r#"
    [
      {
        "call_id": "c7",
        "tool": "look",
        "action": "allow",
        "reason": "this role may read",
        "risk": "read",
        "tier": null,
        "policy_ids": [
          "reads-by-role"
        ],
        "decided_at": "2026-03-01T12:00:00Z"
      }
    ]
    "#);
}
