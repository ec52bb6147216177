//! The real file, with calls of the system that fail, or where the process dies: what `strace` injects.
//!
//! The test runs itself again as the process that is disturbed. It goes on to the next call until there is none left that
//! the process makes.

#![expect(clippy::disallowed_methods, reason = "only another process can be disturbed")]

use std::path::Path;
use std::process::{Command, Stdio};

use crate::db::Database;
use crate::db::lease::Lease;
use crate::db::storage::Log;
use crate::ledger::Ledger;
use crate::ledger::record::{Entry, RecordKind};

use super::{decision, intent, options, outcome, verified};

const NAME: &str = "ledger::tests::syscalls::au_06_no_call_of_the_system_that_fails_loses_what_was_acknowledged";

/// Which call, what happens at it, and every how many of them it is tried.
const FAULTS: [(&str, &str, usize); 5] = [
    ("fsync", "error=EIO", 1),
    ("fsync", "signal=KILL", 1),
    ("pwrite64", "error=ENOSPC", 3),
    ("pwrite64", "error=EIO", 4),
    ("pwrite64", "signal=KILL", 5),
];

async fn opened(directory: &Path) -> (Database, Ledger) {
    let path = directory.join("w.db");
    let database = Database::open(&path).await.unwrap();
    let ledger = Ledger::open(&database, Lease::take(&path).unwrap(), options(directory)).await.unwrap();
    (database, ledger)
}

/// A write, and what was acknowledged of it; the process says at last that nothing went wrong.
async fn disturbed(directory: &Path) {
    let (database, ledger) = opened(directory).await;
    let receipt = ledger.intend(vec![decision("A1")], intent("A1"), Vec::new()).await.unwrap();
    println!("acked {}", receipt.seq());
    println!("acked {}", ledger.close(receipt.seq(), outcome(), Vec::new()).await.unwrap());
    ledger.shut().await;
    database.close().await;
    println!("whole");
}

fn run(directory: &Path, call: &str, fault: &str, when: usize) -> Option<String> {
    let inject = format!("inject={call}:{fault}:when={when}");
    let trace = format!("trace={call}");
    let output = Command::new("strace")
        .args(["-f", "-qqq", "-o", "/dev/null", "-e", &trace, "-e", &inject])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture"])
        .env("WARRANT_TEST_DISTURBED", directory)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    Some(String::from_utf8(output.stdout).unwrap())
}

async fn holds(directory: &Path, said: &str, case: &str) {
    let acked: Vec<u64> = said.lines().filter_map(|line| line.strip_prefix("acked ")?.parse().ok()).collect();
    let (database, ledger) = opened(directory).await;
    let rows = ledger.archive().records(Log::Writes, 0, u32::MAX).await.unwrap();
    for seq in &acked {
        assert!(rows.iter().any(|row| row.seq == *seq), "{case}: record {seq} was acknowledged");
    }
    assert_eq!(verified(&rows, &[], None).findings, [], "{case}");
    let of = |kind: &str| rows.iter().filter(|row| row.kind == kind).count();
    assert_eq!(ledger.open_intents().await.unwrap().len(), of("intent") - of("outcome"), "{case}");
    ledger.append(vec![Entry::new(RecordKind::WritesAllowed)], Vec::new()).await.unwrap();
    ledger.shut().await;
    database.close().await;
}

#[tokio::test]
async fn au_06_no_call_of_the_system_that_fails_loses_what_was_acknowledged() {
    if let Some(directory) = std::env::var_os("WARRANT_TEST_DISTURBED") {
        return disturbed(directory.as_ref()).await;
    }
    let place = tempfile::tempdir().unwrap();
    let begun = place.path().join("begun");
    std::fs::create_dir(&begun).unwrap();
    let (database, ledger) = opened(&begun).await;
    ledger.shut().await;
    database.close().await;
    if !run(&copied(&begun, place.path(), 0), "fsync", "error=EIO", 10_000).is_some_and(|said| said.contains("whole")) {
        eprintln!(
            "SKIPPED au_06_no_call_of_the_system_that_fails_loses_what_was_acknowledged: strace can't trace here"
        );
        return;
    }
    let mut cases = 0;
    for (call, fault, step) in FAULTS {
        for when in (1..).step_by(step) {
            cases += 1;
            let directory = copied(&begun, place.path(), cases);
            let said = run(&directory, call, fault, when).unwrap();
            holds(&directory, &said, &format!("{call} {when}: {fault}\n{said}")).await;
            std::fs::remove_dir_all(&directory).unwrap();
            if said.contains("whole") {
                assert!(when > 1, "{call}: {fault} disturbed nothing");
                break;
            }
        }
    }
    println!("{cases} calls of the system failed");
    assert!(cases > 20, "{cases}");
}

fn copied(from: &Path, to: &Path, number: usize) -> std::path::PathBuf {
    let to = to.join(number.to_string());
    std::fs::create_dir(&to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    to
}
