//! A small disk that fills up for real.

#![expect(clippy::disallowed_methods, reason = "a disk is mounted by programs")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::db::Database;
use crate::db::lease::Lease;
use crate::db::storage::{Log, StorageError};
use crate::ledger::{Ledger, LedgerError};

use super::{decision, intent, options, outcome, verified};

/// A file system in memory, of its own size.
struct Disk(PathBuf);

impl Disk {
    fn mounted(at: PathBuf, size: &str) -> Option<Self> {
        std::fs::create_dir(&at).unwrap();
        let options = format!("size={size}");
        let output = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&at).output();
        output.is_ok_and(|output| output.status.success()).then_some(Self(at))
    }

    /// Fills what is left.
    fn fill(&self) {
        let mut file = std::fs::File::create(self.filler()).unwrap();
        for size in [64 << 10, 4 << 10, 1] {
            while file.write_all(&vec![7; size]).is_ok() {}
        }
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.0).output());
    }
}

async fn opened(directory: &Path, key: &Path) -> (Database, Ledger) {
    let path = directory.join("w.db");
    let database = Database::open(&path).await.unwrap();
    let ledger = Ledger::open(&database, Lease::take(&path).unwrap(), options(key)).await.unwrap();
    (database, ledger)
}

#[tokio::test]
async fn au_07_on_a_disk_that_is_full_for_real_an_outcome_finds_its_room() {
    let directory = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::mounted(directory.path().join("disk"), "4m") else {
        eprintln!("SKIPPED au_07_on_a_disk_that_is_full_for_real_an_outcome_finds_its_room: mounting needs root");
        return;
    };
    let (database, ledger) = opened(&disk.0, directory.path()).await;
    let receipt = ledger.intend(vec![decision("A1")], intent("A1"), Vec::new()).await.unwrap();
    disk.fill();
    // No write begins; what was read before is read still.
    let refused = ledger.intend(vec![decision("A2")], intent("A2"), Vec::new()).await.unwrap_err();
    assert!(matches!(refused, LedgerError::Storage(StorageError::NoSpace)), "{refused}");
    assert_eq!(ledger.archive().records(Log::Writes, 0, 100).await.unwrap().len(), 3);
    // The write that was under way is closed.
    let seq = ledger.close(receipt.seq(), outcome(), Vec::new()).await.unwrap();
    assert!(ledger.open_intents().await.unwrap().is_empty());
    // With that space gone, too, nothing begins for as long as it is not there again.
    disk.fill();
    assert!(ledger.intend(vec![decision("A2")], intent("A2"), Vec::new()).await.is_err());
    std::fs::remove_file(disk.filler()).unwrap();
    let receipt = ledger.intend(vec![decision("A2")], intent("A2"), Vec::new()).await.unwrap();
    ledger.close(receipt.seq(), outcome(), Vec::new()).await.unwrap();
    let note = ledger.checkpoint().await.unwrap().note;
    ledger.shut().await;
    database.close().await;

    let (database, ledger) = opened(&disk.0, directory.path()).await;
    let rows = ledger.archive().records(Log::Writes, 0, 100).await.unwrap();
    assert_eq!(verified(&rows, &[note], None).findings, []);
    let kinds: Vec<&str> = rows.iter().map(|row| row.kind.as_str()).filter(|kind| *kind != "clock_jump").collect();
    let expected = ["log_opened", "decision", "intent", "outcome", "storage_alarm", "decision", "intent", "outcome"];
    assert_eq!((kinds.as_slice(), seq), (expected.as_slice(), 3));
    ledger.shut().await;
    database.close().await;
}
