//! Every storage call of a scenario fails once in every way; what was acknowledged is there after a restart, and all of it
//! proves itself.

use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::db::memory::{Fault, Memory};
use crate::db::storage::{DocumentKind, DocumentWrite, Log};
use crate::ledger::record::{Entry, RecordKind};
use crate::ledger::seal::{Sealed, Sealing};
use crate::ledger::{Ledger, LedgerError};

use super::{ann, bob, decision, intent, options, outcome, verified};

/// What the caller was told is there: record numbers with their kinds.
type Acked = Arc<Mutex<Vec<(u64, RecordKind)>>>;

fn approval(expect_revision: u64, state: &str) -> Vec<DocumentWrite> {
    let body = json!({ "state": state });
    vec![DocumentWrite { kind: DocumentKind::Approval, id: "A1".to_owned(), expect_revision, body }]
}

/// All that a ledger does, each step only after the one before was acknowledged.
async fn scenario(memory: Arc<Memory>, directory: &std::path::Path, acked: &Acked) -> Result<(), LedgerError> {
    let told = |seq, kind| acked.lock().unwrap().push((seq, kind));
    let ledger = Ledger::over(memory, None, options(directory)).await?;
    told(0, RecordKind::LogOpened);
    let request = vec![Entry::new(RecordKind::ApprovalRequested).with("approval", "A1")];
    told(ledger.append(request, approval(0, "open")).await?[0], RecordKind::ApprovalRequested);
    let receipt = ledger.intend(vec![decision("A1")], intent("A1"), approval(1, "consumed")).await?;
    told(receipt.seq() - 1, RecordKind::Decision);
    told(receipt.seq(), RecordKind::Intent);
    told(ledger.close(receipt.seq(), outcome(), approval(2, "done")).await?, RecordKind::Outcome);
    ledger.publish(&[]).await?;
    let sealing = Sealing { seq: receipt.seq(), fields: vec!["arguments".to_owned()], reason: "typed".to_owned() };
    ledger.seal(&sealing, &ann()).await?;
    if let Sealed::Done(seq) = ledger.seal(&sealing, &bob()).await? {
        told(seq, RecordKind::Sealed);
    }
    ledger.rotate_key(&ann()).await?;
    ledger.publish(&[]).await?;
    told(ledger.append(vec![Entry::new(RecordKind::WritesStopped)], Vec::new()).await?[0], RecordKind::WritesStopped);
    Ok(())
}

/// Runs the scenario with one call broken, restarts, and holds the laws.
async fn broken_at(call: u64, fault: Fault) {
    let directory = tempfile::tempdir().unwrap();
    let memory = Arc::new(Memory::default());
    memory.fail_at(call, fault);
    let acked = Acked::default();
    let ended = tokio::select! {
        ended = scenario(Arc::clone(&memory), directory.path(), &acked) => Some(ended),
        () = memory.killed() => None,
    };
    let case = format!(
        "{fault:?} at call {call}: {}",
        match &ended {
            None => "killed".to_owned(),
            Some(Ok(())) => "went on".to_owned(),
            Some(Err(error)) => error.to_string(),
        }
    );

    let restarted = Arc::new(memory.restarted());
    let ledger = Ledger::over(Arc::clone(&restarted) as _, None, options(directory.path())).await;
    let ledger = ledger.unwrap_or_else(|error| panic!("{case}: does not open again: {error}"));
    let rows = restarted.rows(Log::Writes);
    for (seq, kind) in acked.lock().unwrap().iter() {
        let found = rows.iter().find(|row| row.seq == *seq).map(|row| row.kind.as_str());
        assert_eq!(found, Some(kind.as_str()), "{case}: record {seq} was acknowledged");
    }
    let found = verified(&rows, &[ledger.checkpoint().await.unwrap().note], None);
    assert_eq!(found.findings, [], "{case}");

    // All or nothing: an intent has its decision before it and the approval that it consumed.
    let of = |kind: &str| rows.iter().filter(|row| row.kind == kind).count();
    let document = ledger.document(DocumentKind::Approval, "A1").await.unwrap();
    let state = document.as_ref().and_then(|it| it.body.get("state")).and_then(|state| state.as_str());
    let expected = match (of("approval_requested"), of("intent"), of("outcome")) {
        (0, 0, 0) => None,
        (1, 0, 0) => Some("open"),
        (1, 1, 0) => Some("consumed"),
        (1, 1, 1) => Some("done"),
        other => panic!("{case}: {other:?}"),
    };
    assert_eq!((state, of("decision")), (expected, of("intent")), "{case}");
    // Every orphan is shown.
    assert_eq!(ledger.open_intents().await.unwrap().len(), of("intent") - of("outcome"), "{case}");
    ledger.append(vec![Entry::new(RecordKind::WritesAllowed)], Vec::new()).await.unwrap();
}

#[tokio::test]
async fn au_06_no_acknowledged_record_is_lost_whatever_call_fails_and_how() {
    let directory = tempfile::tempdir().unwrap();
    let memory = Arc::new(Memory::default());
    let acked = Acked::default();
    scenario(Arc::clone(&memory), directory.path(), &acked).await.unwrap();
    assert_eq!(acked.lock().unwrap().len(), 7);
    let calls = memory.calls();
    assert!(calls >= 20, "{calls} storage calls");
    for call in 0..calls {
        for fault in Fault::ALL {
            broken_at(call, fault).await;
        }
    }
    println!("{} faults: {calls} storage calls, each in {} ways", calls * Fault::ALL.len() as u64, Fault::ALL.len());
}

/// Opening again is a scenario too: whatever fails then, the next start finds all.
#[tokio::test]
async fn au_06_a_start_that_fails_loses_nothing_either() {
    for fault in Fault::ALL {
        for call in 0..10 {
            let bench = super::bench().await;
            bench.written("A1").await;
            let before = bench.rows();
            let broken = Arc::new(bench.memory.restarted());
            broken.fail_at(call, fault);
            let opened = Ledger::over(Arc::clone(&broken) as _, None, options(bench.directory.path()));
            tokio::select! {
                opened = opened => drop(opened),
                () = broken.killed() => {}
            }
            let again = bench.restarted().await.unwrap();
            assert_eq!(again.rows(), before, "{fault:?} at call {call}");
            again.written("A2").await;
        }
    }
}

/// Kills real processes that write to a real file, and reads what they said they had written. The test runs itself again
/// as the process that is killed.
#[cfg(unix)]
#[tokio::test]
async fn au_06_a_process_that_is_killed_loses_nothing_that_it_acknowledged() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    use crate::db::Database;
    use crate::db::lease::Lease;

    async fn opened(directory: &std::path::Path) -> (Database, Ledger) {
        let path = directory.join("w.db");
        let database = Database::open(&path).await.unwrap();
        let ledger = Ledger::open(&database, Lease::take(&path).unwrap(), options(directory)).await.unwrap();
        (database, ledger)
    }
    if let Some(directory) = std::env::var_os("WARRANT_TEST_KILLED") {
        let (_database, ledger) = opened(directory.as_ref()).await;
        for number in 0.. {
            let id = format!("A{number}");
            let receipt = ledger.intend(vec![decision(&id)], intent(&id), Vec::new()).await.unwrap();
            println!("acked {}", receipt.seq());
            let seq = ledger.close(receipt.seq(), outcome(), Vec::new()).await.unwrap();
            println!("acked {seq}");
            if number % 3 == 0 {
                ledger.publish(&[]).await.unwrap();
            }
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let name = "ledger::tests::faults::au_06_a_process_that_is_killed_loses_nothing_that_it_acknowledged";
    let mut acked = Vec::new();
    for round in 0..6 {
        #[expect(clippy::disallowed_methods, reason = "only another process can be killed")]
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env("WARRANT_TEST_KILLED", directory.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut seqs = lines.filter_map(|line| line.strip_prefix("acked ")?.parse::<u64>().ok());
        acked.extend(seqs.by_ref().take(3 + round));
        child.kill().unwrap();
        acked.extend(seqs);
        child.wait().unwrap();
    }
    assert!(acked.len() >= 30, "{}", acked.len());
    let (database, ledger) = opened(directory.path()).await;
    let note = ledger.checkpoint().await.unwrap().note;
    let rows = ledger.archive().records(Log::Writes, 0, u32::MAX).await.unwrap();
    for seq in acked {
        let kind = rows.iter().find(|row| row.seq == seq).map(|row| row.kind.as_str());
        assert!(matches!(kind, Some("intent" | "outcome")), "record {seq} was acknowledged: {kind:?}");
    }
    assert_eq!(verified(&rows, &[note], None).findings, []);
    // At most one intent a process was left open, and each is shown.
    assert!(ledger.open_intents().await.unwrap().len() <= 6);
    ledger.shut().await;
    database.close().await;
}
