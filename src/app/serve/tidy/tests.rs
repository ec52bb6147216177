//! What is long over goes, what still waits is kept however old it is.

use serde_json::{Value, json};
use warrant_kernel::db::Database;
use warrant_kernel::store::desk::NoteWrite;

use super::*;

const OVER: &str = "01900000-0000-7000-8000-000000000001";
const OPEN: &str = "01900000-0000-7000-8000-000000000002";

struct World {
    _dir: tempfile::TempDir,
    tidy: Tidy,
}

impl World {
    /// A1 is settled, and no other approval.
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(Database::open(&dir.path().join("w.db")).await.unwrap());
        let is_settled: Settled = Box::new(|id| id == ApprovalId::nth(1));
        Self { tidy: Tidy { store, is_settled, pause: Duration::ZERO }, _dir: dir }
    }

    async fn note(&self, kind: &'static str, id: &str, body: Value) {
        let expect_revision = self.tidy.store.note(kind, id).await.unwrap().map_or(0, |note| note.revision);
        let write = NoteWrite { kind, id: id.to_owned(), expect_revision, body };
        self.tidy.store.settle(&[], &[write]).await.unwrap();
    }

    async fn ids(&self, kind: &str) -> Vec<String> {
        self.tidy.store.notes(kind, "", 1_000).await.unwrap().into_iter().map(|note| note.id).collect()
    }
}

fn home(reported: bool) -> Value {
    json!({ "channel": "C0OPS", "thread": "none", "began": "x", "reported": reported })
}

fn letter(sent: u64, failed: Option<&str>) -> Value {
    json!({
        "channel": "C0OPS", "thread": "none", "class": "report", "content": { "text": "x" }, "wanted": 2, "sent": sent,
        "ts": "1.000001", "post": "never", "failed": failed, "since": "2026-03-01T12:00:00Z",
    })
}

fn in_days(days: i64) -> Timestamp {
    SystemClock.now().checked_add(SignedDuration::from_hours(24 * days)).unwrap()
}

/// An investigation that is there, and has not ended.
async fn begun(world: &World, id: &str) {
    let at = "2026-03-01T12:00:00Z";
    let run = json!({
        "investigation": id, "trigger": { "kind": "question", "text": "why?" },
        "requester": { "person": "ann", "groups": [] }, "role": "general-purpose", "channel": "slack", "writes": "off",
        "service": null, "since": at, "opened_at": at,
    });
    let run = serde_json::from_value(run).unwrap();
    world.tidy.store.open_investigation(&run, &[7; 32]).await.unwrap();
}

#[tokio::test]
async fn what_is_over_goes_after_its_time_and_what_is_open_never() {
    let world = World::new().await;
    begun(&world, OPEN).await;
    for (id, reported) in [(OVER, true), (OPEN, false)] {
        world.note(HOME, id, home(reported)).await;
        world.note(THREAD, &format!("C0OPS:{id}"), json!({ "investigation": id, "began": "x" })).await;
        for message in [format!("status-{id}"), format!("report-{id}"), format!("report-{id}-000")] {
            world.note(outbox::KIND, &message, letter(2, None)).await;
        }
    }
    // A home of what was never begun.
    world.note(HOME, "01900000-0000-7000-8000-000000000003", home(false)).await;
    for approval in ["A1", "A2"] {
        world.note(CARD, approval, json!({ "says": {}, "reminded": false })).await;
        world.note(outbox::KIND, &format!("card-{approval}"), letter(2, None)).await;
        world.note(outbox::KIND, &format!("remind-{approval}"), letter(2, None)).await;
    }
    world.note(INCIDENT, OPEN, json!({})).await;
    world.note(STORM, OPEN, json!({})).await;
    for id in [OVER, OPEN] {
        world.note(outbox::KIND, &format!("incident-{id}"), letter(2, None)).await;
        world.note(outbox::KIND, &format!("storm-{id}"), letter(2, None)).await;
    }
    world.note(outbox::KIND, "handover-sent", letter(2, None)).await;
    world.note(outbox::KIND, "handover-failed", letter(1, Some("channel_not_found"))).await;
    world.note(outbox::KIND, "handover-waits", letter(1, None)).await;
    world.note(UNREADABLE, "odd", json!({})).await;
    world.note("feedback", "f", json!({ "investigation": OVER, "says": "wrong" })).await;

    assert_eq!(world.tidy.pass(in_days(0)).await.unwrap(), 0, "all of it was written just now");
    assert!(world.tidy.pass(in_days(1)).await.unwrap() > 0);
    assert_eq!(world.ids(HOME).await, [OPEN]);
    assert_eq!(world.ids(THREAD).await, [format!("C0OPS:{OPEN}")]);
    assert_eq!(world.ids(CARD).await, ["A2"]);
    let kept: Vec<String> = world.ids(outbox::KIND).await;
    let mut open = vec![
        "card-A2".to_owned(),
        "handover-waits".to_owned(),
        format!("incident-{OPEN}"),
        "remind-A2".to_owned(),
        format!("report-{OPEN}"),
        format!("report-{OPEN}-000"),
        format!("status-{OPEN}"),
        format!("storm-{OPEN}"),
    ];
    open.sort();
    assert_eq!(kept, open);
    assert_eq!(world.ids(UNREADABLE).await, Vec::<String>::new());
    assert_eq!(world.ids("feedback").await, ["f"], "it stays with its investigation");
    assert_eq!((world.ids(INCIDENT).await.len(), world.ids(STORM).await.len()), (1, 1), "others see to these");
    assert_eq!(world.tidy.pass(in_days(1)).await.unwrap(), 0);
}

#[tokio::test]
async fn what_is_written_again_counts_from_then_on_and_more_than_a_batch_goes() {
    let world = World::new().await;
    for n in 0..(BATCH * 2 + 7) {
        world.note(outbox::KIND, &format!("handover-{n:04}"), letter(2, None)).await;
    }
    world.note(outbox::KIND, "handover-0000", letter(1, None)).await;
    assert_eq!(world.tidy.pass(in_days(1)).await.unwrap(), u64::from(BATCH) * 2 + 6);
    assert_eq!(world.ids(outbox::KIND).await, ["handover-0000"]);
}

#[tokio::test]
async fn what_can_not_be_read_is_kept() {
    let world = World::new().await;
    for kind in [HOME, THREAD, CARD, outbox::KIND] {
        world.note(kind, "odd", json!({ "of": "another program" })).await;
    }
    assert_eq!(world.tidy.pass(in_days(1)).await.unwrap(), 0);
}
