//! Calls of one turn: those that are parallel-safe overlap, the others do not, and results keep the order of the calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::extract::{Path, State};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Barrier;
use warrant_kernel::domain::result::Status;

use super::{World, model, results, serve, told};
use crate::model_server::script::{Call, Shape, Turn};

const CALLS: usize = 4;

struct Marks {
    inside: AtomicUsize,
    most: AtomicUsize,
    /// Opens when all are inside.
    together: Option<Barrier>,
    /// Whose turn it is to answer: the last comes first.
    next: AtomicUsize,
}

async fn mark(State(marks): State<Arc<Marks>>, Path(n): Path<usize>) -> Json<Value> {
    let inside = marks.inside.fetch_add(1, Ordering::SeqCst) + 1;
    marks.most.fetch_max(inside, Ordering::SeqCst);
    if let Some(together) = &marks.together {
        together.wait().await;
        while marks.next.load(Ordering::SeqCst) != n {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        marks.next.store(n.wrapping_sub(1), Ordering::SeqCst);
    }
    marks.inside.fetch_sub(1, Ordering::SeqCst);
    Json(json!([format!("mark {n}")]))
}

async fn start(together: Option<Barrier>) -> (Arc<Marks>, u16) {
    let (inside, most, next) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(CALLS - 1));
    let marks = Arc::new(Marks { inside, most, together, next });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let app = Router::new().route("/marks/{n}", get(mark)).with_state(Arc::clone(&marks));
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    (marks, port)
}

fn definition(parallel_safe: bool) -> String {
    format!(
        r#"
name = "marks"
version = 1
description = "Marks."
risk = "read"
roles = ["general-purpose"]
parallel_safe = {parallel_safe}
timeout = "20s"
cache = "0s"
output = {{ max_chars = 1000, keep = "full" }}
target = {{ kind = "source" }}

[args.n]
type = "int"
min = 0
max = 100
required = true
description = "Which."

[run.http]
source = "marks"
path = "/marks/{{n}}"

[[examples]]
fits = true
args = {{ n = 1 }}

[[examples]]
fits = false
args = {{ n = 101 }}
"#
    )
}

/// What the model was shown of all marks, and how many were asked for at once at most.
async fn run(parallel_safe: bool, together: Option<Barrier>) -> (Vec<String>, usize) {
    let world = World::new();
    let (marks, port) = start(together).await;
    std::fs::create_dir(world.path("tools")).unwrap();
    std::fs::write(world.path("tools/marks.toml"), definition(parallel_safe)).unwrap();
    let calls = (0..CALLS).map(|n| Call::new(&format!("m{n}"), "marks", json!({ "n": n }))).collect();
    let server =
        serve(vec![Turn { calls, ..Turn::default() }, Turn::calls([("r", "report", world.good_report())])]).await;
    let more = format!(
        "[http.marks]\nurl = \"http://127.0.0.1:{port}\"\n[tools]\ndirs = [\"{}\"]\n",
        world.path("tools").display()
    );
    let main = model("main", Shape::OpenAi, &server.base_url(Shape::OpenAi), "");
    let app = world.app(&world.config(&["main"], &main, "", &more));
    let (_, _, events) = world.report(&app).await;
    for result in &results(&events)[4..] {
        assert_eq!(result.status, Status::Ok, "{result:?}");
    }
    let mut shown = told(&server.requests()[1].body);
    (shown.split_off(shown.len() - CALLS), marks.most.load(Ordering::SeqCst))
}

fn in_order(shown: &[String]) {
    for (n, text) in shown.iter().enumerate() {
        assert!(text.contains(&format!("mark {n}")), "{n}: {text}");
    }
}

#[tokio::test]
async fn parallel_safe_calls_overlap_and_answers_keep_the_order_of_the_calls() {
    // Were they not all under way at once, none would be answered.
    let (shown, most) = run(true, Some(Barrier::new(CALLS))).await;
    in_order(&shown);
    assert_eq!(most, CALLS);
}

#[tokio::test]
async fn calls_that_are_not_parallel_safe_never_overlap() {
    let (shown, most) = run(false, None).await;
    in_order(&shown);
    assert_eq!(most, 1);
}
