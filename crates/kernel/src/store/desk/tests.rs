use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use crate::db::Database;
use crate::store::{Store, StoreError};

use super::{Arrival, NoteWrite, Received};

const AT: Timestamp = Timestamp::UNIX_EPOCH;

async fn store(directory: &tempfile::TempDir) -> Store {
    Store::new(Database::open(&directory.path().join("w.db")).await.unwrap())
}

fn note(id: &str, expect_revision: u64, says: u64) -> NoteWrite {
    NoteWrite { kind: "incident", id: id.to_owned(), expect_revision, body: json!({ "says": says }) }
}

#[tokio::test]
async fn what_is_delivered_twice_is_kept_once_and_handled_once() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(&directory).await;
    let body = json!({ "text": "slow" });
    let arrival = |key| Arrival { channel: "slack", key, at: AT, body: &body };
    let first = store.receive(&[arrival("a"), arrival("b"), arrival("a")]).await.unwrap();
    assert_eq!(first, [Received::New(1), Received::New(2), Received::Known]);
    let elsewhere = store.receive(&[Arrival { channel: "alert", ..arrival("a") }]).await.unwrap();
    assert!(matches!(elsewhere.as_slice(), [Received::New(_)]), "{elsewhere:?}");

    store.settle(&[1], &[note("i", 0, 1)]).await.unwrap();
    assert_eq!(store.receive(&[arrival("a")]).await.unwrap(), [Received::Known], "handled, and known all the same");
    let waiting = store.arrived("slack", 10).await.unwrap();
    assert_eq!(waiting.iter().map(|it| (it.number, it.key.as_str())).collect::<Vec<_>>(), [(2, "b")]);
    assert_eq!(waiting.first().unwrap().body, body);

    // What was handled already is not handled again, and nothing of that settling is kept.
    let again = store.settle(&[1, 2], &[note("j", 0, 1)]).await.unwrap_err();
    assert!(matches!(&again, StoreError::Stale(what) if what == "arrival 1"), "{again}");
    assert_eq!(store.note("incident", "j").await.unwrap(), None);
    assert_eq!(store.arrived("slack", 10).await.unwrap().len(), 1);

    let day = AT.checked_add(jiff::SignedDuration::from_hours(24)).unwrap();
    assert_eq!(store.forget_arrivals(day, 10).await.unwrap(), 1, "what waits is not forgotten");
    let again = store.receive(&[arrival("a")]).await.unwrap();
    assert!(matches!(again.as_slice(), [Received::New(_)]), "{again:?}");
    store.close().await;
}

#[tokio::test]
async fn what_nobody_has_written_for_long_is_found_oldest_first_and_goes_only_as_it_was_read() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(&directory).await;
    let notes: Vec<NoteWrite> = (0..7).map(|n| note(&format!("n{n}"), 0, n)).collect();
    store.settle(&[], &notes).await.unwrap();
    assert_eq!(store.untouched("incident", AT, None, 9).await.unwrap(), (Vec::new(), None), "all were written now");
    let later: Timestamp = "2200-01-01T00:00:00Z".parse().unwrap();
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let (page, last) = store.untouched("incident", later, after.as_ref(), 3).await.unwrap();
        found.extend(page);
        after = last;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(
        found.iter().map(|note| note.id.as_str()).collect::<Vec<_>>(),
        ["n0", "n1", "n2", "n3", "n4", "n5", "n6"]
    );
    // One is written meanwhile.
    store.settle(&[], &[note("n3", 1, 33)]).await.unwrap();
    assert_eq!(store.let_go("incident", &found).await.unwrap(), 6);
    assert_eq!(store.let_go("incident", &found).await.unwrap(), 0);
    assert!(store.note("incident", "n3").await.unwrap().is_some());
    let body = json!({});
    let keys: Vec<String> = (0..5).map(|n| format!("k{n}")).collect();
    let arrivals: Vec<Arrival<'_>> =
        keys.iter().map(|key| Arrival { channel: "slack", key, at: AT, body: &body }).collect();
    store.receive(&arrivals).await.unwrap();
    store.settle(&[1, 2, 3, 4], &[]).await.unwrap();
    for gone in [3, 1, 0] {
        assert_eq!(store.forget_arrivals(later, 3).await.unwrap(), gone);
    }
    assert_eq!(store.arrived("slack", 9).await.unwrap().len(), 1, "what waits is kept");
    store.close().await;
}

#[tokio::test]
async fn a_note_that_has_moved_on_is_not_written_over() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(&directory).await;
    store.settle(&[], &[note("i", 0, 1), note("k", 0, 1)]).await.unwrap();
    store.settle(&[], &[note("i", 1, 2)]).await.unwrap();
    for late in [note("i", 1, 3), note("i", 0, 3), note("none", 1, 3)] {
        let error = store.settle(&[], &[note("new", 0, 1), late]).await.unwrap_err();
        assert!(matches!(error, StoreError::Stale(_)), "{error}");
    }
    let found = store.note("incident", "i").await.unwrap().unwrap();
    assert_eq!((found.revision, found.body), (2, json!({ "says": 2 })));
    assert_eq!(store.note("incident", "new").await.unwrap(), None, "all of it, or nothing");
    let ids = |notes: Vec<super::Note>| notes.into_iter().map(|note| note.id).collect::<Vec<_>>();
    assert_eq!(ids(store.notes("incident", "", 10).await.unwrap()), ["i", "k"]);
    assert_eq!(ids(store.notes("incident", "i", 10).await.unwrap()), ["k"]);
    store.drop_notes("incident", &["i", "nothing"]).await.unwrap();
    assert_eq!(ids(store.notes("incident", "", 10).await.unwrap()), ["k"]);
    store.close().await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Whatever is delivered how often and in whatever pieces: each key waits once, in the order in which it first came.
    #[test]
    fn each_key_waits_once(deliveries in prop::collection::vec(prop::collection::vec(0_u8..12, 1..5), 1..8)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let directory = tempfile::tempdir().unwrap();
            let store = store(&directory).await;
            let mut seen: Vec<String> = Vec::new();
            for delivery in &deliveries {
                let keys: Vec<String> = delivery.iter().map(ToString::to_string).collect();
                let body = json!(null);
                let arrivals: Vec<Arrival<'_>> =
                    keys.iter().map(|key| Arrival { channel: "alert", key, at: AT, body: &body }).collect();
                for (key, received) in keys.iter().zip(store.receive(&arrivals).await.unwrap()) {
                    let is_new = !seen.contains(key);
                    assert_eq!(matches!(received, Received::New(_)), is_new);
                    if is_new {
                        seen.push(key.clone());
                    }
                }
            }
            let waiting: Vec<String> =
                store.arrived("alert", 100).await.unwrap().into_iter().map(|it| it.key).collect();
            assert_eq!(waiting, seen);
            store.close().await;
        });
    }
}
