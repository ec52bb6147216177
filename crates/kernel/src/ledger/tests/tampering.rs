//! Whoever changes what is stored is found out: by the log itself where they change a little, by a checkpoint kept
//! elsewhere where they change all that follows.

use crate::db::storage::{Opening, Row};
use crate::domain::digest::Digest;
use crate::ledger::chain::genesis;
use crate::ledger::note::Checkpoint;
use crate::ledger::opening::text;
use crate::ledger::record::{Record, commitment};
use crate::ledger::tree::{Tree, leaf_hash};

use super::{Bench, ann, bench, verified};

/// A small log, and the checkpoints that somebody kept of it: after the first write, and at the end.
async fn log() -> (Bench, Vec<Row>, Vec<String>) {
    let bench = bench().await;
    bench.written("A1").await;
    let first = bench.ledger.checkpoint().await.unwrap();
    bench.written("A2").await;
    let last = bench.ledger.checkpoint().await.unwrap();
    let rows = bench.rows();
    assert_eq!((rows.len(), first.size, last.size), (7, 4, 7));
    (bench, rows, vec![first.note, last.note])
}

/// Makes the log consistent again from `from` on, as one does who wants to hide a change; no key is needed for it.
pub(super) fn rehashed(rows: &mut [Row], from: usize) {
    for index in from..rows.len() {
        let prev = match index.checked_sub(1) {
            Some(before) => rows[before].hash,
            // Whoever drops the first record can't name the log.
            None => genesis(&text(&rows[0], "origin").unwrap_or_default()),
        };
        let row = &mut rows[index];
        let mut record = Record::parse(&row.bytes).unwrap();
        (record.seq, record.prev) = (index as u64, prev);
        record.commitments.extend(row.openings.iter().map(|it| (it.field.clone(), commitment(it))));
        row.bytes = record.bytes();
        (row.seq, row.hash) = (record.seq, leaf_hash(&row.bytes));
    }
}

fn changed(row: &mut Row, field: &str, value: &str) {
    let opening = row.openings.iter_mut().find(|it| it.field == field).unwrap();
    opening.value = value.to_owned();
}

/// Where a verification without any kept checkpoint points to.
fn alone(rows: &[Row]) -> Option<u64> {
    verified(rows, &[], None).findings.first().map(|finding| finding.from)
}

fn flips(bytes: usize) -> impl Iterator<Item = (usize, u8)> {
    (0..bytes * 8).map(|bit| (bit / 8, 1 << (bit % 8)))
}

/// Row `at` alone, checked from where the log stands before it.
fn is_refused(rows: &[Row], at: usize, row: &Row) -> bool {
    let leaves: Vec<Digest> = rows[..at].iter().map(|row| row.hash).collect();
    let last = leaves.last().copied().unwrap_or_else(|| genesis(&text(&rows[0], "origin").unwrap()));
    crate::ledger::chain::Chain::from(Tree::of(&leaves), last).step(row).is_err()
}

#[tokio::test]
async fn au_01_every_bit_of_every_record_is_named() {
    let (_bench, rows, _) = log().await;
    let mut tried = 0;
    for (at, row) in rows.iter().enumerate().take(4) {
        assert!(!is_refused(&rows, at, row));
        for (byte, bit) in flips(row.bytes.len()) {
            let mut row = row.clone();
            row.bytes[byte] ^= bit;
            assert!(is_refused(&rows, at, &row), "record {at}, byte {byte}, bit {bit}");
            tried += 1;
        }
    }
    assert!(tried > 10_000, "{tried} bits");
    // And the verification of the whole names it.
    for at in 0..rows.len() {
        let mut rows = rows.clone();
        rows[at].bytes[20] ^= 1;
        assert_eq!(alone(&rows), Some(at as u64));
    }
}

#[tokio::test]
async fn au_01_every_bit_of_what_lies_beside_a_record_is_named() {
    let (_bench, rows, _) = log().await;
    let refused = |at: usize, what: &str, change: &dyn Fn(&mut Row)| {
        let mut row = rows[at].clone();
        change(&mut row);
        assert!(is_refused(&rows, at, &row), "record {at}: {what}");
    };
    for (at, row) in rows.iter().enumerate().take(4) {
        for (byte, bit) in flips(32) {
            refused(at, "hash", &|row| {
                let mut bytes = *row.hash.as_bytes();
                bytes[byte] ^= bit;
                row.hash = Digest::new(bytes);
            });
        }
        for (byte, bit) in flips(7) {
            refused(at, "seq", &|row| row.seq ^= u64::from(bit) << (8 * byte));
        }
        refused(at, "at", &|row| row.at = row.at.replace('0', "1"));
        refused(at, "kind", &|row| row.kind.push('x'));
        for (index, opening) in row.openings.iter().enumerate() {
            for (byte, bit) in flips(16) {
                refused(at, "salt", &|row| row.openings[index].salt[byte] ^= bit);
            }
            for (byte, bit) in flips(opening.value.len()).filter(|(_, bit)| *bit < 0x80) {
                refused(at, "value", &|row| {
                    let mut bytes = std::mem::take(&mut row.openings[index].value).into_bytes();
                    bytes[byte] ^= bit;
                    row.openings[index].value = String::from_utf8(bytes).unwrap();
                });
            }
            for (byte, bit) in flips(opening.field.len()).filter(|(_, bit)| *bit < 0x80) {
                refused(at, "field", &|row| {
                    let mut bytes = std::mem::take(&mut row.openings[index].field).into_bytes();
                    bytes[byte] ^= bit;
                    row.openings[index].field = String::from_utf8(bytes).unwrap();
                });
            }
        }
    }
}

#[tokio::test]
async fn a_value_that_is_gone_added_or_there_twice_is_named() {
    let (_bench, rows, _) = log().await;
    for at in 0..rows.len() {
        let mut gone = rows.clone();
        gone[at].openings.remove(0);
        assert_eq!(alone(&gone), Some(at as u64));
        let mut twice = rows.clone();
        let first = twice[at].openings[0].clone();
        twice[at].openings.push(first);
        assert_eq!(alone(&twice), Some(at as u64));
        let mut more = rows.clone();
        more[at].openings.push(Opening { field: "zz".to_owned(), salt: [0; 16], value: "1".to_owned() });
        assert_eq!(alone(&more), Some(at as u64));
    }
}

#[tokio::test]
async fn au_02_a_cut_end_is_found_by_the_kept_checkpoint_alone() {
    let (_bench, rows, kept) = log().await;
    for size in 1..rows.len() {
        let found = verified(&rows[..size], &[], None);
        assert_eq!(found.findings, [], "the log alone can't know");
        let found = verified(&rows[..size], &kept, None);
        let last = found.findings.last().unwrap();
        assert_eq!((last.from, last.to), (size as u64, 7));
        assert!(last.what.contains("its end was cut off"), "{}", last.what);
    }
}

#[tokio::test]
async fn au_03_a_history_written_anew_is_named_by_its_interval() {
    let (_bench, rows, kept) = log().await;
    for at in 1..rows.len() {
        let mut forged = rows.clone();
        changed(&mut forged[at], "instance", "\"elsewhere\"");
        rehashed(&mut forged, at);
        let found = verified(&forged, &[], None);
        assert_eq!(found.findings, [], "the log alone can't know: record {at}");
        let found = verified(&forged, &kept, None);
        let interval: Vec<(u64, u64)> = found.findings.iter().map(|it| (it.from, it.to)).collect();
        // Records 0 to 3 were signed by the first checkpoint, 4 to 6 by the second one.
        let expected = if at < 4 { vec![(0, 4), (0, 7)] } else { vec![(4, 7)] };
        assert_eq!(interval, expected, "record {at}");
    }
}

#[tokio::test]
async fn au_03_checkpoints_that_stand_in_the_log_show_it_as_well() {
    let bench = bench().await;
    bench.written("A1").await;
    bench.ledger.publish(&[]).await.unwrap();
    bench.written("A2").await;
    let mut rows = bench.rows();
    changed(&mut rows[2], "tool", "\"other\"");
    rehashed(&mut rows, 2);
    let found = verified(&rows, &[], None);
    assert_eq!(found.findings.len(), 1);
    assert_eq!(found.findings[0].what, "the first 4 records are not those that its checkpoint signed");
}

#[tokio::test]
async fn au_04_a_record_dropped_swapped_or_doubled_is_named() {
    let (_bench, rows, kept) = log().await;
    for at in 0..rows.len() {
        let mut dropped = rows.clone();
        dropped.remove(at);
        if at + 1 < rows.len() {
            assert_eq!(alone(&dropped), Some(at as u64), "dropped {at}");
        }
        let mut doubled = rows.clone();
        doubled.insert(at, rows[at].clone());
        assert_eq!(alone(&doubled), Some(at as u64 + 1), "doubled {at}");
        for other in at + 1..rows.len() {
            let mut swapped = rows.clone();
            swapped.swap(at, other);
            assert_eq!(alone(&swapped), Some(at as u64), "swapped {at} and {other}");
        }
        // Made consistent afterwards, each of them shows against the kept checkpoints; the last one, doubled, is the log
        // and one record more.
        let last = at + 1 == rows.len();
        for mut rows in [Some(dropped), (!last).then_some(doubled)].into_iter().flatten() {
            let from = at.min(rows.len() - 1);
            rehashed(&mut rows, from);
            assert_ne!(verified(&rows, &kept, None).findings, [], "{at}");
        }
    }
}

#[tokio::test]
async fn au_05_an_old_copy_that_went_on_is_a_fork() {
    let (bench, _, kept) = log().await;
    let copy = Bench { memory: bench.memory.copied().into(), ..bench };
    // The checkpoint of later does not fit what the copy became.
    copy.memory.tamper(crate::db::storage::Log::Writes, |rows| rows.truncate(5));
    let copy = copy.restarted().await.unwrap();
    for approval in ["B1", "B2"] {
        copy.written(approval).await;
    }
    let rows = copy.rows();
    assert_eq!(rows.len(), 11);
    assert_eq!(verified(&rows, &[], None).findings, [], "the log alone can't know");
    let found = verified(&rows, &kept, None);
    assert_eq!(found.agrees_with, [4]);
    assert_eq!(found.findings.iter().map(|it| (it.from, it.to)).collect::<Vec<_>>(), [(4, 7)]);
}

#[tokio::test]
async fn au_14_with_the_key_in_hand_a_forged_history_still_shows_against_a_kept_checkpoint() {
    let (bench, rows, kept) = log().await;
    let mut forged = rows.clone();
    changed(&mut forged[4], "person", "\"mallory\"");
    rehashed(&mut forged, 4);
    let leaves: Vec<Digest> = forged.iter().map(|row| row.hash).collect();
    let origin = text(&rows[0], "origin").unwrap();
    let says = Checkpoint { origin, size: 7, root: Tree::of(&leaves).root() };
    let stolen = bench.ledger.writer.lock().await.key.sign(&says.text());
    assert_eq!(verified(&forged, std::slice::from_ref(&stolen), None).findings, [], "the thief's own checkpoint fits");
    let found = verified(&forged, &kept, None);
    assert_eq!((found.findings[0].from, found.findings[0].to), (4, 7));
    // The two of the same size, side by side, prove the fork to anybody.
    assert_ne!(verified(&rows, &[stolen], None).findings, []);
}

#[tokio::test]
async fn au_14_a_rotation_is_a_record_that_the_old_key_signed() {
    let (bench, _, kept) = log().await;
    let old = bench.ledger.writer.lock().await.key.public();
    let new = bench.ledger.rotate_key(&ann()).await.unwrap();
    assert_ne!(old, new);
    bench.ledger.publish(&[]).await.unwrap();
    let again = bench.restarted().await.unwrap();
    again.written("A3").await;
    let note = again.ledger.checkpoint().await.unwrap().note;
    let all: Vec<String> = kept.into_iter().chain([note.clone()]).collect();
    let rows = again.rows();
    for pinned in [None, Some(old.clone())] {
        let found = verified(&rows, &all, pinned);
        assert_eq!((found.findings.as_slice(), found.agrees_with.as_slice()), ([].as_slice(), [4, 7, 12].as_slice()));
        assert_eq!(found.key, Some(new.to_string()));
    }
    // A rotation that the old key did not sign hands nothing over.
    let mut forged = rows.clone();
    let other = crate::ledger::note::PrivateKey::new(old.name().to_owned(), &[9; 32]);
    let at = forged.iter().position(|row| row.kind == "key_rotated").unwrap();
    changed(&mut forged[at], "key", &format!("\"{}\"", other.public()));
    rehashed(&mut forged, at);
    let found = verified(&forged, &[], None);
    assert_eq!(found.findings[0].what, "the key before did not sign the next one");
    assert_eq!(found.findings[0].from, at as u64);
    // Nor does the new key alone pass for the one that was pinned.
    assert!(verified(&rows, &[note], Some(other.public())).findings[0].what.starts_with("the log was not begun"));
}
