//! The ledger, over storage in memory that breaks where a test wants it to, and over SQLite.

mod laws;

mod records;

mod attacks;

mod faults;

#[cfg(target_os = "linux")]
mod disk;

#[cfg(target_os = "linux")]
mod syscalls;

mod migrated;

mod tampering;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use jiff::Timestamp;
use serde_json::json;

use crate::db::memory::Memory;
use crate::db::storage::{Log, Row};
use crate::domain::name::InvestigationId;

use super::error::LedgerError;
use super::note::PublicKey;
use super::record::{Entry, RecordKind};
use super::seal::Consent;
use super::verify::{Verified, Verifier};
use super::{Ledger, Options};

/// A clock that goes on by a second each time it is read.
pub(super) fn clock(begins: i64) -> super::Now {
    let seconds = AtomicI64::new(begins);
    Arc::new(move || Timestamp::from_second(seconds.fetch_add(1, Ordering::Relaxed)).unwrap())
}

/// Options with a key in `directory`, and bytes that are the same in every run.
pub(super) fn options(directory: &Path) -> Options {
    let drawn = AtomicU64::new(0);
    Options {
        key: directory.join("ledger.key"),
        now: clock(1_800_000_000),
        random: Arc::new(move |bytes| {
            for byte in bytes.chunks_mut(8) {
                let next = drawn.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
                let next = (next ^ (next >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                byte.copy_from_slice(&(next ^ (next >> 27)).to_le_bytes()[..byte.len()]);
            }
            Ok(())
        }),
        instance: "test-host".to_owned(),
        build: "0.1.0".to_owned(),
    }
}

/// A ledger in memory, its storage, and the directory of its key.
pub(super) struct Bench {
    pub(super) ledger: Ledger,
    pub(super) memory: Arc<Memory>,
    pub(super) directory: Arc<tempfile::TempDir>,
}

pub(super) async fn bench() -> Bench {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let memory = Arc::new(Memory::default());
    let ledger = Ledger::over(memory.clone(), None, options(directory.path())).await.unwrap();
    Bench { ledger, memory, directory }
}

impl Bench {
    /// The same after a restart of the process.
    pub(super) async fn restarted(&self) -> Result<Self, LedgerError> {
        let directory = Arc::clone(&self.directory);
        let memory = Arc::new(self.memory.restarted());
        let options = Options { now: clock(1_800_001_000), ..options(directory.path()) };
        let ledger = Ledger::over(memory.clone(), None, options).await?;
        Ok(Self { ledger, memory, directory })
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        self.memory.rows(Log::Writes)
    }

    /// A write from proposal to outcome; the numbers of its intent and outcome.
    pub(super) async fn written(&self, approval: &str) -> (u64, u64) {
        let intent = intent(approval);
        let receipt = self.ledger.intend(vec![decision(approval)], intent, Vec::new()).await.unwrap();
        let outcome = self.ledger.close(receipt.seq(), outcome(), Vec::new()).await.unwrap();
        (receipt.seq(), outcome)
    }
}

pub(super) fn investigation() -> InvestigationId {
    "inv-1".parse().unwrap()
}

pub(super) fn decision(approval: &str) -> Entry {
    Entry::new(RecordKind::Decision)
        .of(&investigation())
        .with("approval", approval)
        .with("person", "ann")
        .with("tier", "medium")
}

pub(super) fn intent(approval: &str) -> Entry {
    Entry::new(RecordKind::Intent)
        .of(&investigation())
        .with("approval", approval)
        .with("tool", "edit_config")
        .with("target", "file:etc/app.toml")
        .with("arguments", json!({ "path": "etc/app.toml", "lines": 3 }))
        .with("plan_digest", "hmac:00")
}

pub(super) fn outcome() -> Entry {
    Entry::new(RecordKind::Outcome).with("status", "ok").with("duration_ms", 12)
}

pub(super) fn ann() -> Consent {
    Consent { person: "ann".parse().unwrap(), proved: "uid 1000".to_owned() }
}

pub(super) fn bob() -> Consent {
    Consent { person: "bob".parse().unwrap(), proved: "uid 1001".to_owned() }
}

/// What a verification of these rows finds.
pub(super) fn verified(rows: &[Row], kept: &[String], pinned: Option<PublicKey>) -> Verified {
    let mut verifier = Verifier::new(kept.to_vec(), pinned);
    for row in rows {
        verifier.step(row);
    }
    verifier.finish()
}
