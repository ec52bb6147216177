//! The trace: all or none, what is found by a part of its id, pages, and what a killed process leaves behind.

use std::error::Error;
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use crate::db::Database;
use crate::domain::event::{Body, Event};
use crate::domain::name::{EvidenceId, InvestigationId};
use crate::domain::result::Origin;
use crate::domain::run::{Channel, Requester, Run, Trigger, Writes};

use super::capture::Captured;
use super::{Store, StoreError, numbered};

struct Place {
    directory: TempDir,
    store: Store,
}

impl Place {
    fn path(&self) -> PathBuf {
        self.directory.path().join("w.db")
    }

    async fn sql(&self, text: &'static str) {
        // On every connection of the pool: a pragma holds for its own only.
        let pool = self.store.database().pool();
        let (mut one, mut other) = (pool.acquire().await.unwrap(), pool.acquire().await.unwrap());
        sqlx::raw_sql(text).execute(&mut *one).await.unwrap();
        sqlx::raw_sql(text).execute(&mut *other).await.unwrap();
    }
}

async fn place(ids: &[&str]) -> Place {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(Database::open(&directory.path().join("w.db")).await.unwrap());
    for (n, name) in ids.iter().enumerate() {
        store.open_investigation(&run(name, n), &[7; 32]).await.unwrap();
    }
    Place { directory, store }
}

fn run(name: &str, minute: usize) -> Run {
    let at = format!("2026-03-01T12:{minute:02}:00Z").parse().unwrap();
    Run {
        investigation: id(name),
        trigger: Trigger::Question { text: format!("why {name}") },
        requester: Requester { person: "ann".parse().unwrap(), groups: Vec::new() },
        role: "explore".parse().unwrap(),
        channel: Channel::Terminal,
        writes: Writes::Off,
        service: Some("checkout".parse().unwrap()),
        since: at,
        opened_at: at,
    }
}

fn id(name: &str) -> InvestigationId {
    name.parse().unwrap()
}

fn steered(last: u64, texts: &[&str]) -> Vec<Event> {
    let bodies = texts.iter().map(|text| Body::Steered { text: (*text).to_owned(), by: None }).collect();
    numbered(last, "2026-03-01T13:00:00Z".parse().unwrap(), bodies)
}

fn kept(rows: usize) -> Captured {
    Captured {
        evidence: EvidenceId::nth(3),
        tool: "look".to_owned(),
        origin: Origin::Log,
        summary: json!({ "rows": rows }),
        rows: (0..rows).map(|n| json!(format!("row {n}\nwith a second line"))).collect(),
    }
}

fn told(error: &StoreError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[tokio::test]
async fn events_come_back_as_they_were_written() {
    let place = place(&["one", "two"]).await;
    let (first, more) = (steered(0, &["a", "b"]), steered(2, &["c"]));
    place.store.append(&id("one"), &first, None).await.unwrap();
    place.store.append(&id("two"), &steered(0, &["other"]), None).await.unwrap();
    place.store.append(&id("one"), &more, None).await.unwrap();
    assert_eq!(place.store.events(&id("one")).await.unwrap(), [first, more].concat());
    assert_eq!(place.store.mask_key(&id("one")).await.unwrap(), [7; 32]);
    assert_eq!(place.store.events(&id("three")).await.unwrap(), []);
    insta::assert_snapshot!(told(&place.store.mask_key(&id("three")).await.unwrap_err()), @"there is no investigation `three`; `warrant investigations list` shows those there are");
}

#[tokio::test]
async fn an_append_is_written_whole_or_not_at_all() {
    let place = place(&["one"]).await;
    place.store.append(&id("one"), &steered(0, &["a", "b"]), None).await.unwrap();
    // Another writer was here: the second event collides, so neither the first nor the output may stay.
    let error = place.store.append(&id("one"), &steered(1, &["c", "d"]), Some(&kept(2))).await.unwrap_err();
    insta::assert_snapshot!(told(&error), @"the trace could not be appended to: error returned from database: (code: 1555) UNIQUE constraint failed: event.investigation, event.seq: (code: 1555) UNIQUE constraint failed: event.investigation, event.seq");
    let late = [steered(2, &["c"]), steered(0, &["a"])].concat();
    place.store.append(&id("one"), &late, Some(&kept(2))).await.unwrap_err();
    assert_eq!(place.store.events(&id("one")).await.unwrap().len(), 2);
    assert_eq!(place.store.page(&id("one"), EvidenceId::nth(3), 0, 9).await.unwrap(), None);
    let nowhere = place.store.append(&id("nowhere"), &steered(0, &["a"]), None).await.unwrap_err();
    insta::assert_snapshot!(told(&nowhere), @"the trace could not be appended to: error returned from database: (code: 787) FOREIGN KEY constraint failed: (code: 787) FOREIGN KEY constraint failed");
}

#[tokio::test]
async fn an_output_that_is_brought_again_replaces_the_first() {
    let place = place(&["one"]).await;
    place.store.append(&id("one"), &[], Some(&kept(5))).await.unwrap();
    place.store.append(&id("one"), &[], Some(&kept(2))).await.unwrap();
    let page = place.store.page(&id("one"), EvidenceId::nth(3), 0, 100).await.unwrap().unwrap();
    assert_eq!((page.total, page.part), (2, kept(2)));
}

#[tokio::test]
async fn pages_have_bounds() {
    let place = place(&["one", "two"]).await;
    place.store.append(&id("one"), &[], Some(&kept(5))).await.unwrap();
    for (from, count, rows) in [(0, 2, 0..2), (3, 9, 3..5), (5, 1, 5..5), (u64::MAX, u64::MAX, 5..5), (2, 0, 2..2)] {
        let page = place.store.page(&id("one"), EvidenceId::nth(3), from, count).await.unwrap().unwrap();
        assert_eq!((page.total, page.part.rows.as_slice()), (5, &kept(5).rows[rows]));
    }
    assert_eq!(place.store.page(&id("two"), EvidenceId::nth(3), 0, 1).await.unwrap(), None);
    assert_eq!(place.store.page(&id("one"), EvidenceId::nth(u64::MAX), 0, 1).await.unwrap(), None);
}

#[tokio::test]
async fn an_investigation_is_found_by_either_end_of_its_id() {
    let place = place(&["0195aaaa-1111", "0195bbbb-2222", "0195aaaa-2222", "0195", "x_y-0001"]).await;
    let find = async |text: &str| match place.store.find(text).await {
        Ok(found) => found.to_string(),
        Err(error) => told(&error),
    };
    assert_eq!(find("0195bbbb").await, "0195bbbb-2222");
    assert_eq!(find("1111").await, "0195aaaa-1111");
    assert_eq!(find("0195aaaa-2222").await, "0195aaaa-2222");
    // A whole id is that id, though others begin with it.
    assert_eq!(find("0195").await, "0195");
    let mut told = Vec::new();
    for text in ["0195aaaa", "2222", "111", "", "0195%", "x%y-", "____", "0195aaaa-1111-", "' OR 1=1 --"] {
        told.push(find(text).await);
    }
    insta::assert_snapshot!(told.join("\n"), @r"
    `0195aaaa` is the beginning or the end of several investigation ids; write more of it
    `2222` is the beginning or the end of several investigation ids; write more of it
    there is no investigation `111`; `warrant investigations list` shows those there are
    there is no investigation ``; `warrant investigations list` shows those there are
    there is no investigation `0195%`; `warrant investigations list` shows those there are
    there is no investigation `x%y-`; `warrant investigations list` shows those there are
    there is no investigation `____`; `warrant investigations list` shows those there are
    there is no investigation `0195aaaa-1111-`; `warrant investigations list` shows those there are
    there is no investigation `' OR 1=1 --`; `warrant investigations list` shows those there are
    ");
}

#[tokio::test]
async fn the_newest_stand_first() {
    let place = place(&["b", "a", "c"]).await;
    let ids = |all: Vec<super::Summary>| all.iter().map(|found| found.id.to_string()).collect::<Vec<_>>();
    assert_eq!(ids(place.store.list(10).await.unwrap()), ["c", "a", "b"]);
    assert_eq!(ids(place.store.list(2).await.unwrap()), ["c", "a"]);
    insta::assert_json_snapshot!(place.store.list(1).await.unwrap(), @r#"
    [
      {
        "id": "c",
        "opened_at": "2026-03-01T12:02:00Z",
        "question": "why c",
        "service": "checkout",
        "ended_at": null,
        "outcome": null
      }
    ]
    "#);
}

#[tokio::test]
async fn a_full_disk_and_a_read_only_one_are_errors_and_what_was_there_stays() {
    let place = place(&["one"]).await;
    place.store.append(&id("one"), &steered(0, &["a"]), None).await.unwrap();
    place.sql("PRAGMA max_page_count = 1").await;
    let full = place.store.append(&id("one"), &steered(1, &["x".repeat(1 << 20).as_str()]), None).await.unwrap_err();
    place.sql("PRAGMA max_page_count = 100000").await;
    place.sql("PRAGMA query_only = 1").await;
    let closed = place.store.append(&id("one"), &steered(1, &["b"]), None).await.unwrap_err();
    insta::assert_snapshot!([told(&full), told(&closed)].join("\n"), @r"
    the trace could not be appended to: error returned from database: (code: 13) database or disk is full: (code: 13) database or disk is full
    the trace could not be appended to: error returned from database: (code: 8) attempt to write a readonly database: (code: 8) attempt to write a readonly database
    ");
    assert_eq!(place.store.events(&id("one")).await.unwrap(), steered(0, &["a"]));
    place.sql("PRAGMA query_only = 0").await;
    place.store.append(&id("one"), &steered(1, &["b"]), None).await.unwrap();
}

#[tokio::test]
async fn an_event_of_a_newer_program_is_told_with_its_number() {
    let place = place(&["one"]).await;
    place.store.append(&id("one"), &steered(0, &["a"]), None).await.unwrap();
    place.sql("UPDATE event SET body = replace(body, 'steered', 'dreamt')").await;
    let error = place.store.events(&id("one")).await.unwrap_err();
    assert!(
        told(&error)
            .starts_with("event 1 of investigation `one` can't be read; it may be of a newer program: unknown variant")
    );
}

/// What a process that is killed now leaves behind.
fn left_behind(from: &Path, to: &Path) {
    for end in ["", "-wal"] {
        std::fs::copy(format!("{}{end}", from.display()), format!("{}{end}", to.display())).unwrap();
    }
}

#[tokio::test]
async fn a_process_killed_between_events_leaves_a_log_that_can_be_read() {
    let place = place(&["one"]).await;
    for n in 0..5 {
        place.store.append(&id("one"), &steered(2 * n, &["a", "b"]), Some(&kept(3))).await.unwrap();
        let copy = place.directory.path().join(format!("{n}.db"));
        left_behind(&place.path(), &copy);
        let again = Store::new(Database::open(&copy).await.unwrap());
        assert_eq!(again.events(&id("one")).await.unwrap().len() as u64, 2 * n + 2);
        again.append(&id("one"), &steered(2 * n + 2, &["c"]), None).await.unwrap();
        again.close().await;
    }
}

#[tokio::test]
async fn a_torn_end_of_the_log_costs_only_the_append_it_tore() {
    let place = place(&["one"]).await;
    place.store.append(&id("one"), &steered(0, &["a", "b"]), None).await.unwrap();
    let wal = |path: &Path| PathBuf::from(format!("{}-wal", path.display()));
    let before = std::fs::metadata(wal(&place.path())).unwrap().len();
    place.store.append(&id("one"), &steered(2, &["c", "d"]), Some(&kept(200))).await.unwrap();
    let after = std::fs::metadata(wal(&place.path())).unwrap().len();
    assert!(after > before);
    for cut in [before, before + 1, before + (after - before) / 2, after - 1] {
        let copy = place.directory.path().join(format!("{cut}.db"));
        left_behind(&place.path(), &copy);
        std::fs::OpenOptions::new().write(true).open(wal(&copy)).unwrap().set_len(cut).unwrap();
        let again = Store::new(Database::open(&copy).await.unwrap());
        assert_eq!(again.events(&id("one")).await.unwrap(), steered(0, &["a", "b"]), "cut at {cut}");
        again.close().await;
    }
}

#[tokio::test]
async fn pages_follow_each_other_without_a_gap_and_say_whose_each_is() {
    let place = place(&["one", "two", "three", "four", "five"]).await;
    let opened = Body::Opened {
        run: Box::new(run("two", 1)),
        budgets: serde_json::from_value(json!({
            "turns": 1, "wall_s": 1, "tokens": 1, "cost": null, "calls_per_turn": 1, "context_chars": 1,
        }))
        .unwrap(),
        models: Vec::new(),
        version: "0".to_owned(),
    };
    let mut events = numbered(0, "2026-03-01T12:01:00Z".parse().unwrap(), vec![opened]);
    events.extend(steered(1, &["a", "b", "c"]));
    place.store.append(&id("two"), &events, None).await.unwrap();
    let (mut seen, mut last) = (Vec::new(), None);
    loop {
        let page = place.store.lines_before(last.as_ref(), 2).await.unwrap();
        let Some(end) = page.last() else { break };
        last = Some(end.summary.id.clone());
        seen.extend(page.into_iter().map(|line| (line.summary.id.to_string(), line.requester.map(String::from))));
    }
    let whose = |name: &str| (name == "two").then(|| "ann".to_owned());
    let expected = ["five", "four", "three", "two", "one"].map(|name| (name.to_owned(), whose(name)));
    assert_eq!(seen, expected);
    assert_eq!(place.store.lines_before(Some(&id("none")), 2).await.unwrap(), []);
    assert_eq!(place.store.line(&id("two")).await.unwrap().unwrap().requester.unwrap().as_str(), "ann");
    assert_eq!(place.store.line(&id("tw")).await.unwrap(), None);
    // Events: from any of them on, to the end.
    for after in 0..=5 {
        let expected: Vec<Event> = events.iter().filter(|event| event.seq > after).take(2).cloned().collect();
        assert_eq!(place.store.events_after(&id("two"), after, 2).await.unwrap(), expected, "after {after}");
    }
    assert_eq!(place.store.events_after(&id("two"), u64::MAX, 2).await.unwrap(), []);
}
