//! The ledger's figures, as ratios in one run: an intent against one fsync of the same file system, and verifying against
//! plain SHA-256 over the same bytes.
//!
//!     cargo bench --bench ledger
//!
//! Only the kernel records an intent; its stand-in here is a record of forty fields that takes the same way.
//! `WARRANT_BENCH_DIR` names the directory whose disk is measured.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench stops where something is wrong, and times"
)]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use warrant_kernel::db::Database;
use warrant_kernel::db::lease::Lease;
use warrant_kernel::db::storage::{Log, Row};
use warrant_kernel::ledger::record::RecordKind;
use warrant_kernel::ledger::verify::Verifier;
use warrant_kernel::ledger::{Ledger, Options};

const RECORDS: usize = 400;

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap()
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(measured());
}

async fn measured() {
    let base = std::env::var_os("WARRANT_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = tempfile::tempdir_in(base).unwrap();
    let path = directory.path().join("w.db");
    let database = Database::open(&path).await.unwrap();
    let options = Options::new(directory.path().join("key"), Arc::new(Timestamp::now), "bench".into(), "0".into());
    let ledger = Ledger::open(&database, Lease::take(&path).unwrap(), options).await.unwrap();

    let mut file = std::fs::File::create(directory.path().join("fsync")).unwrap();
    let (mut commits, mut syncs) = (Vec::new(), Vec::new());
    for number in 0..RECORDS {
        let texts = BTreeMap::from([((number % 2).to_string(), String::new())]);
        let begun = Instant::now();
        ledger.came_into_force(RecordKind::ConfigChanged, &texts, fields(number)).await.unwrap();
        commits.push(begun.elapsed());
        let begun = Instant::now();
        file.write_all(&[7; 4096]).unwrap();
        file.sync_data().unwrap();
        syncs.push(begun.elapsed());
    }
    let (commit, sync) = (median(commits), median(syncs));
    println!(
        "intent p50 {commit:?}, fsync p50 {sync:?}: {:.2} (at most 1.5)",
        commit.as_secs_f64() / sync.as_secs_f64()
    );

    let rows = ledger.archive().records(Log::Writes, 0, u32::MAX).await.unwrap();
    let bytes: Vec<u8> = rows.iter().flat_map(hashed).collect();
    let fastest = |work: &mut dyn FnMut()| {
        (0..9)
            .map(|_| {
                let begun = Instant::now();
                work();
                begun.elapsed()
            })
            .min()
            .unwrap()
    };
    let plain = fastest(&mut || {
        std::hint::black_box(Sha256::digest(&bytes));
    });
    let verified = fastest(&mut || {
        let mut verifier = Verifier::new(Vec::new(), None);
        for row in &rows {
            verifier.step(row);
        }
        assert!(verifier.finish().findings.is_empty());
    });
    let ratio = plain.as_secs_f64() / verified.as_secs_f64();
    println!("verify {verified:?}, SHA-256 {plain:?} over {} bytes: {ratio:.3} (at least 0.08)", bytes.len());
}

/// Names as long as most.
const FIELDS: [&str; 37] = [
    "alternatives",
    "approval",
    "approvers",
    "arguments",
    "because",
    "before",
    "break_glass",
    "call",
    "channel",
    "cites",
    "contributors",
    "diff",
    "effect",
    "evidence",
    "excerpts",
    "expires_at",
    "grounds",
    "notes",
    "otherwise",
    "plan_digest",
    "policies",
    "policy_ids",
    "quorum",
    "reads",
    "requester",
    "revision",
    "role",
    "ruled_out",
    "shown",
    "source",
    "status",
    "target",
    "target_kind",
    "tier",
    "tier_reasons",
    "tool",
    "turns",
];

fn fields(number: usize) -> BTreeMap<&'static str, Value> {
    FIELDS
        .iter()
        .map(|field| (*field, format!("what record {number} says of {field}, as long as most").into()))
        .collect()
}

/// All that a verification hashes.
fn hashed(row: &Row) -> Vec<u8> {
    let openings = row.openings.iter().flat_map(|it| [it.salt.as_slice(), it.field.as_bytes(), it.value.as_bytes()]);
    row.bytes.iter().copied().chain(openings.flatten().copied()).collect()
}
