//! The reader of the ledger: whatever is changed in a sound log, verifying it says so; nothing panics on any of it.
//!
//! An input is a list of changes to a log that was written as Warrant writes it, with a clock and randomness of ours.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};

use jiff::Timestamp;
use tempfile::TempDir;
use warrant_kernel::db::Database;
use warrant_kernel::db::lease::Lease;
use warrant_kernel::db::storage::{Log, Row};
use warrant_kernel::domain::digest::Digest;
use warrant_kernel::ledger::archive::Archive;
use warrant_kernel::ledger::record::RecordKind;
use warrant_kernel::ledger::verify::{Verified, Verifier};
use warrant_kernel::ledger::{Ledger, Options};

use crate::input::Input;

/// A log, and a checkpoint of all of it that was kept elsewhere.
pub struct Sound {
    /// Its records.
    pub rows: Vec<Row>,
    /// The kept checkpoint.
    pub note: String,
    /// The key that signs it.
    pub key: String,
}

/// The log that inputs change. The same in every run.
pub static SOUND: LazyLock<Sound> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(made())
});

async fn made() -> Sound {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("w.db");
    let database = Database::open(&path).await.unwrap();
    let begin: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
    let mut options =
        Options::new(directory.path().join("key"), Arc::new(move || begin), "demo".to_owned(), "0".to_owned());
    let state = Mutex::new(1_u8);
    options.random = Arc::new(move |bytes| {
        let mut state = state.lock().unwrap();
        for byte in bytes {
            *state = state.wrapping_mul(141).wrapping_add(3);
            *byte = *state;
        }
        Ok(())
    });
    let ledger = Ledger::open(&database, Lease::take(&path).unwrap(), options).await.unwrap();
    for nth in 0..4 {
        let texts = BTreeMap::from([("p.cedar".to_owned(), format!("permit; // {nth}"))]);
        ledger.in_force(RecordKind::PolicyLoaded, &texts).await.unwrap();
        if nth == 1 {
            ledger.publish(&[]).await.unwrap();
        }
    }
    let kept = ledger.checkpoint().await.unwrap();
    let archive = Archive::open(&database).await.unwrap();
    let rows = archive.records(Log::Writes, 0, 100).await.unwrap();
    archive.shut().await;
    ledger.shut().await;
    database.close().await;
    let sound = Sound { rows, note: kept.note, key: String::new() };
    let said = verified(&sound.rows, &sound.note);
    assert!(said.findings.is_empty() && said.agrees_with == [kept.size], "{said:?}");
    Sound { key: said.key.unwrap(), ..sound }
}

fn verified(rows: &[Row], note: &str) -> Verified {
    let mut verifier = Verifier::new(vec![note.to_owned()], None);
    for row in rows {
        verifier.step(row);
    }
    verifier.finish()
}

/// Tries the laws.
pub fn run(data: &[u8]) {
    let (mut input, sound) = (Input::new(data), &*SOUND);
    let mut rows = sound.rows.clone();
    while !input.is_empty() && !rows.is_empty() {
        change(&mut rows, &mut input);
    }
    let said = verified(&rows, &sound.note);
    // Openings are found by their names: storage may hand them out in any order.
    let same = ordered(rows) == ordered(sound.rows.clone());
    assert_eq!(said.findings.is_empty(), same, "{said:?}");
    for finding in &said.findings {
        assert!(!finding.what.is_empty() && finding.from <= finding.to, "{finding:?}");
    }
}

fn ordered(mut rows: Vec<Row>) -> Vec<Row> {
    for row in &mut rows {
        row.openings
            .sort_by(|one, other| (&one.field, &one.value, one.salt).cmp(&(&other.field, &other.value, other.salt)));
    }
    rows
}

/// One change to one record, or to which records there are.
fn change(rows: &mut Vec<Row>, input: &mut Input<'_>) {
    let (what, nth) = (input.byte(), usize::from(input.byte()) % rows.len());
    let other = usize::from(input.byte()) % rows.len();
    let copy = rows[other].clone();
    let row = &mut rows[nth];
    match what % 12 {
        0 => changed(&mut row.bytes, input),
        1 => row.seq = u64::from(input.byte()),
        2 => row.at = text_changed(&row.at, input),
        3 => row.kind = text_changed(&row.kind, input),
        4 => row.hash = Digest::new([input.byte(); 32]),
        5 => {
            let count = row.openings.len().max(1);
            if let Some(opening) = row.openings.get_mut(usize::from(input.byte()) % count) {
                opening.value = text_changed(&opening.value, input);
            }
        }
        6 => {
            let count = row.openings.len().max(1);
            if let Some(opening) = row.openings.get_mut(usize::from(input.byte()) % count) {
                opening.salt[0] ^= input.byte();
                opening.field = text_changed(&opening.field, input);
            }
        }
        7 => {
            if !row.openings.is_empty() {
                let at = usize::from(input.byte()) % row.openings.len();
                let opening = row.openings.remove(at);
                if input.byte().is_multiple_of(2) {
                    row.openings.insert(at, opening.clone());
                    row.openings.push(opening);
                }
            }
        }
        8 => *row = copy,
        9 => rows.insert(nth, copy),
        10 => {
            rows.remove(nth);
        }
        _ => rows.swap(nth, other),
    }
}

fn changed(bytes: &mut Vec<u8>, input: &mut Input<'_>) {
    let at = input.below(bytes.len() + 1);
    match input.byte() % 3 {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = input.byte();
            }
        }
        1 => bytes.insert(at, input.byte()),
        _ => bytes.truncate(at),
    }
}

fn text_changed(text: &str, input: &mut Input<'_>) -> String {
    let mut bytes = text.as_bytes().to_vec();
    changed(&mut bytes, input);
    String::from_utf8_lossy(&bytes).into_owned()
}
