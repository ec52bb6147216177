//! Disks that fail or fill up, files that vanish, a second writer, a late intent: no write goes on without its record.

use std::sync::Arc;
use std::time::Duration;

use crate::db::Database;
use crate::db::lease::{Lease, LeaseError};
use crate::db::memory::{Fault, Memory};
use crate::db::storage::{Log, StorageError};
use crate::domain::digest::Digest;
use crate::ledger::publish::{Publisher, Signed};
use crate::ledger::record::{Entry, RecordKind, row};
use crate::ledger::{Ledger, LedgerError};

use super::{bench, decision, intent, options, outcome, verified};

fn noted() -> Vec<Entry> {
    vec![Entry::new(RecordKind::Proposed).with("target", "unit:a")]
}

#[tokio::test]
async fn au_05_a_second_process_gets_no_lease_and_is_told_who_has_it() {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("w.db");
    let first = Lease::take(&store).unwrap();
    let second = Lease::take(&store).unwrap_err();
    assert!(matches!(second, LeaseError::Held { .. }));
    assert!(
        second.to_string().starts_with(&format!("another process (pid {}) writes", std::process::id())),
        "{second}"
    );
    drop(first);
    Lease::take(&store).map(drop).unwrap();
}

#[tokio::test]
async fn au_05_a_writer_that_was_overtaken_writes_nothing_more() {
    let old = bench().await;
    let new = old.restarted().await.unwrap();
    let fenced = old.ledger.append(noted(), Vec::new()).await.unwrap_err();
    assert!(matches!(fenced, LedgerError::Storage(StorageError::Fenced)), "{fenced}");
    assert!(old.ledger.publish(&[]).await.is_err());
    new.written("A1").await;
    assert_eq!(verified(&new.rows(), &[], None).findings, []);
}

#[tokio::test]
async fn au_07_on_a_full_disk_no_write_begins_and_an_outcome_finds_room() {
    let bench = bench().await;
    let receipt = bench.ledger.intend(vec![decision("A1")], intent("A1"), Vec::new()).await.unwrap();
    bench.memory.fill();
    let refused = bench.ledger.intend(vec![decision("A2")], intent("A2"), Vec::new()).await.unwrap_err();
    assert!(matches!(refused, LedgerError::Storage(StorageError::NoSpace)), "{refused}");
    // What was begun is closed, with an alarm beside it.
    bench.ledger.close(receipt.seq(), outcome(), Vec::new()).await.unwrap();
    let kinds: Vec<String> = bench.rows().into_iter().map(|row| row.kind).collect();
    assert_eq!(kinds, ["log_opened", "decision", "intent", "outcome", "storage_alarm"]);
    // Space is there again, so it is set aside again, and writes go on.
    bench.written("A2").await;
    assert_eq!(verified(&bench.rows(), &[], None).findings, []);
}

#[tokio::test]
async fn au_08_after_an_error_of_the_disk_nothing_is_written_until_a_restart() {
    for fault in [Fault::EioLost, Fault::EioLanded] {
        let bench = bench().await;
        bench.memory.fail_next(fault);
        let error = bench.ledger.append(noted(), Vec::new()).await.unwrap_err();
        assert!(matches!(error, LedgerError::Storage(StorageError::Eio { .. })), "{error}");
        // The disk is well again, and is not asked.
        let calls = bench.memory.calls();
        for _ in 0..2 {
            let error = bench.ledger.append(noted(), Vec::new()).await.unwrap_err();
            assert!(matches!(error, LedgerError::Poisoned { .. }), "{error}");
        }
        let error = bench.ledger.publish(&[]).await.unwrap_err();
        insta::allow_duplicates! {
            insta::assert_snapshot!(error, @"the ledger stopped taking records: the disk failed while the ledger was written to; look at its disk, then start again and run `warrant audit verify`");
        }
        assert_eq!(bench.memory.calls(), calls);
        bench.restarted().await.unwrap().written("A1").await;
    }
}

#[tokio::test]
async fn au_11_a_file_that_is_removed_while_it_is_open_stops_writes_and_checkpoints() {
    let bench = bench().await;
    bench.written("A1").await;
    bench.memory.remove();
    assert!(matches!(bench.ledger.publish(&[]).await.unwrap_err(), LedgerError::Poisoned { .. }));
    assert!(bench.ledger.intend(Vec::new(), intent("A2"), Vec::new()).await.is_err());
}

#[cfg(unix)]
#[tokio::test]
async fn au_11_on_a_real_disk_too_for_the_file_and_for_what_sqlite_keeps_beside_it() {
    for name in ["w.db", "w.db-wal"] {
        for put_back in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("w.db");
            let database = Database::open(&path).await.unwrap();
            let ledger = Ledger::open(&database, Lease::take(&path).unwrap(), options(directory.path())).await.unwrap();
            ledger.append(noted(), Vec::new()).await.unwrap();
            let file = directory.path().join(name);
            let bytes = std::fs::read(&file).unwrap();
            std::fs::remove_file(&file).unwrap();
            if put_back {
                std::fs::write(&file, bytes).unwrap();
            }
            // Found by the look of each interval as by the next write.
            let error = ledger.publish(&[]).await.unwrap_err();
            assert!(error.to_string().contains("removed or replaced"), "{name}: {error}");
            assert!(ledger.append(noted(), Vec::new()).await.is_err());
        }
    }
}

#[tokio::test]
async fn au_12_whatever_is_cleaned_of_the_trace_the_ledger_stays_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("w.db");
    let database = Database::open(&path).await.unwrap();
    let ledger = Ledger::open(&database, Lease::take(&path).unwrap(), options(directory.path())).await.unwrap();
    let receipt = ledger.intend(vec![decision("A1")], intent("A1"), Vec::new()).await.unwrap();
    ledger.close(receipt.seq(), outcome(), Vec::new()).await.unwrap();
    let before = ledger.archive().records(Log::Writes, 0, 100).await.unwrap();
    for table in ["evidence", "event", "investigation", "blob"] {
        let query = match table {
            "evidence" => "DELETE FROM evidence",
            "event" => "DELETE FROM event",
            "investigation" => "DELETE FROM investigation",
            _ => "DELETE FROM blob",
        };
        sqlx::query(query).execute(database.pool()).await.unwrap();
    }
    sqlx::query("VACUUM").execute(database.pool()).await.unwrap();
    assert_eq!(ledger.archive().records(Log::Writes, 0, 100).await.unwrap(), before);
    assert_eq!(before.len(), 4);
}

/// Every statement that changes or removes something of the ledger, whoever runs it.
#[tokio::test]
async fn sqlite_refuses_to_change_or_remove_what_is_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("w.db");
    let database = Database::open(&path).await.unwrap();
    let ledger = Ledger::open(&database, Lease::take(&path).unwrap(), options(directory.path())).await.unwrap();
    let mut entry = decision("A1");
    entry.texts = vec!["permit".to_owned()];
    ledger.append(vec![entry], Vec::new()).await.unwrap();
    for (statement, refusal) in [
        ("UPDATE ledger_record SET at = 'x'", "a record never changes"),
        ("UPDATE ledger_record SET bytes = x'00' WHERE seq = 1", "a record never changes"),
        ("DELETE FROM ledger_record WHERE seq = 1", "a record is never deleted"),
        (
            "INSERT OR REPLACE INTO ledger_record (log, seq, hash, at, kind, bytes, openings) \
             SELECT log, seq, hash, at, kind, bytes, openings FROM ledger_record WHERE seq = 1",
            "records are only appended",
        ),
        (
            "INSERT INTO ledger_record (log, seq, hash, at, kind, bytes, openings) \
             SELECT log, 7, hash, at, kind, bytes, openings FROM ledger_record WHERE seq = 1",
            "records are only appended",
        ),
        ("UPDATE ledger_record SET openings = '{}'", "an opening goes only when two persons seal it"),
        (
            "UPDATE ledger_record SET openings = json_remove(openings, '$.tool') WHERE seq = 1",
            "an opening goes only when two persons seal it",
        ),
        ("INSERT INTO ledger_sealing VALUES ('writes', 1, 'tool', 1, 'ann', 'bob')", "is sealed by the next record"),
        ("INSERT INTO ledger_sealing VALUES ('writes', 1, 'tool', 2, 'ann', 'ann')", "CHECK constraint failed"),
        ("INSERT INTO ledger_sealing VALUES ('writes', 1, 'a\"b', 2, 'ann', 'bob')", "CHECK constraint failed"),
        ("INSERT INTO ledger_sealing VALUES ('writes', 1, 'tool', 2, 'ann', 'bob')", "FOREIGN KEY constraint failed"),
        ("INSERT INTO batch (part) VALUES ('other')", "a batch has no such part"),
        ("INSERT INTO batch (part) VALUES (NULL)", "a batch has no such part"),
        ("INSERT OR REPLACE INTO ledger_text SELECT digest, 'forbid' FROM ledger_text", "a text never changes"),
        ("UPDATE ledger_text SET body = 'forbid'", "a text never changes"),
        ("DELETE FROM ledger_text", "a text is never deleted"),
        ("UPDATE lease SET epoch = 0", "an epoch only rises"),
        ("DELETE FROM lease", "the lease is never deleted"),
    ] {
        let error = sqlx::query(statement).execute(database.pool()).await.unwrap_err();
        assert!(error.to_string().contains(refusal), "{statement}: {error}");
    }
    let rows = ledger.archive().records(Log::Writes, 0, 100).await.unwrap();
    assert_eq!(verified(&rows, &[], None).findings, []);
}

#[tokio::test]
async fn au_13_what_was_altered_on_its_way_to_the_disk_is_not_signed() {
    // A byte of the record.
    let one = bench().await;
    one.ledger.append(noted(), Vec::new()).await.unwrap();
    one.memory.tamper(Log::Writes, |rows| rows[1].bytes[30] ^= 1);
    let error = one.ledger.publish(&[]).await.unwrap_err();
    assert!(error.to_string().contains("read back, record 1 is not as written"), "{error}");
    // A record that is another one, and whole in itself.
    let other = bench().await;
    other.ledger.append(noted(), Vec::new()).await.unwrap();
    other.memory.tamper(Log::Writes, |rows| {
        let mut openings = rows[1].openings.clone();
        openings.last_mut().unwrap().value = "\"unit:b\"".to_owned();
        rows[1] = row(1, rows[0].hash, "2027-01-15T08:00:01Z".parse().unwrap(), RecordKind::Proposed, openings);
    });
    assert!(other.ledger.publish(&[]).await.unwrap_err().to_string().contains("it does not say what it was asked to"));
    // What was asked for was altered before anything was made of it: the record says something else than the caller did.
    let early = bench().await;
    early.ledger.append(noted(), Vec::new()).await.unwrap();
    early.ledger.writer.lock().await.asked.insert(1, Digest::new([0; 32]));
    assert!(early.ledger.publish(&[]).await.unwrap_err().to_string().contains("it does not say what it was asked to"));
    for poisoned in [one, other, early] {
        assert!(poisoned.ledger.append(noted(), Vec::new()).await.is_err());
        assert!(poisoned.rows().iter().all(|row| row.kind != "checkpoint"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_intent_that_is_late_is_refused_and_closed_when_it_lands() {
    let bench = bench().await;
    bench.memory.delay(Some(Duration::from_secs(3)));
    let late = bench.ledger.intend(vec![decision("A1")], intent("A1"), Vec::new()).await.unwrap_err();
    assert_eq!(late.to_string(), "the ledger did not confirm the record within 2 s");
    assert_eq!(bench.rows().len(), 1);
    bench.memory.delay(None);
    // The writer is free again once both are written.
    bench.ledger.append(noted(), Vec::new()).await.unwrap();
    while !bench.ledger.open_intents().await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let rows = bench.rows();
    let closed = rows.iter().find(|row| row.kind == "outcome").unwrap();
    assert!(closed.openings.iter().any(|it| it.value == "\"not_executed\""));
}

#[tokio::test(start_paused = true)]
async fn an_intent_that_waited_too_long_for_its_turn_is_never_written() {
    let bench = bench().await;
    bench.memory.delay(Some(Duration::from_secs(5)));
    let (first, second) = tokio::join!(bench.ledger.append(noted(), Vec::new()), async {
        tokio::task::yield_now().await;
        bench.ledger.intend(Vec::new(), intent("A1"), Vec::new()).await
    });
    first.unwrap();
    assert!(matches!(second.unwrap_err(), LedgerError::Late(2)));
    bench.memory.delay(None);
    bench.ledger.append(noted(), Vec::new()).await.unwrap();
    assert!(bench.rows().iter().all(|row| row.kind != "intent"));
}

/// Keeps what it is given, or fails.
struct Elsewhere(std::sync::Mutex<(Vec<Signed>, bool)>);

#[async_trait::async_trait]
impl Publisher for Elsewhere {
    fn name(&self) -> &'static str {
        "elsewhere"
    }

    async fn publish(&self, signed: &Signed) -> Result<(), String> {
        let mut state = self.0.lock().unwrap();
        if state.1 {
            return Err("no route".to_owned());
        }
        state.0.push(signed.clone());
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_checkpoint_leaves_within_a_minute_and_at_once_after_a_high_tier() {
    let bench = bench().await;
    let elsewhere = Arc::new(Elsewhere(std::sync::Mutex::default()));
    let publishers: [Arc<dyn Publisher>; 1] = [elsewhere.clone()];
    let begun = tokio::time::Instant::now();
    bench.ledger.append(noted(), Vec::new()).await.unwrap();
    bench.ledger.due().await;
    bench.ledger.publish(&publishers).await.unwrap();
    assert!(begun.elapsed() < Duration::from_mins(1));
    assert_eq!(elsewhere.0.lock().unwrap().0.last().unwrap().size, 2);

    let high = begun.elapsed();
    bench.ledger.append(vec![decision("A1").with("tier", "high")], Vec::new()).await.unwrap();
    bench.ledger.due().await;
    assert_eq!(begun.elapsed(), high);
    // It fails, is tried again at the next interval, and the record of it is written when it succeeds.
    elsewhere.0.lock().unwrap().1 = true;
    for _ in 0..3 {
        let tried = bench.ledger.publish(&publishers).await.unwrap();
        assert_eq!(tried[0].error.as_deref(), Some("no route"));
        bench.ledger.due().await;
    }
    assert_eq!(bench.rows().len(), 4);
    elsewhere.0.lock().unwrap().1 = false;
    bench.ledger.publish(&publishers).await.unwrap();
    assert_eq!(bench.rows().last().unwrap().kind, "checkpoint");
    // A checkpoint asks for no new one.
    assert_eq!(bench.ledger.publish(&publishers).await.unwrap(), []);
    let kept: Vec<String> = elsewhere.0.lock().unwrap().0.iter().map(|signed| signed.note.clone()).collect();
    let found = verified(&bench.rows(), &kept, None);
    assert_eq!((found.findings.as_slice(), found.agrees_with.as_slice()), ([].as_slice(), [2, 4].as_slice()));
}

#[tokio::test]
async fn a_ledger_without_its_key_or_with_another_one_does_not_go_on() {
    let bench = bench().await;
    bench.written("A1").await;
    let key = bench.directory.path().join("ledger.key");
    let kept = std::fs::read(&key).unwrap();
    std::fs::remove_file(&key).unwrap();
    let open = || Ledger::over(Arc::new(bench.memory.restarted()), None, options(bench.directory.path()));
    assert!(matches!(open().await.err().unwrap(), LedgerError::Key { doing: "find", .. }));
    // A key of another ledger.
    let other = tempfile::tempdir().unwrap();
    let options = super::Options { instance: "other".to_owned(), ..options(other.path()) };
    Ledger::over(Arc::new(Memory::default()), None, options).await.map(drop).unwrap();
    std::fs::copy(other.path().join("ledger.key"), &key).unwrap();
    assert!(matches!(open().await.err().unwrap(), LedgerError::OtherKey { .. }));
    std::fs::write(&key, "PRIVATE+KEY+x").unwrap();
    assert!(matches!(open().await.err().unwrap(), LedgerError::NoKey(_)));
    std::fs::write(&key, kept).unwrap();
    open().await.map(drop).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_but_its_owner_reads_the_key() {
    use std::os::unix::fs::PermissionsExt;
    let bench = bench().await;
    let mode = |name: &str| std::fs::metadata(bench.directory.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("ledger.key"), 0o600);
    bench.ledger.rotate_key(&super::ann()).await.unwrap();
    assert_eq!(mode("ledger.key"), 0o600);
    assert!(!bench.directory.path().join("ledger.key.next").exists());
}
