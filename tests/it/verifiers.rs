//! The two verifiers of exports, ours and the shipped script, asked about the same: random ledgers, sound and damaged.
//!
//! They share no code. Where one says sound and the other wrong, one of them is wrong.

#![expect(clippy::indexing_slicing, reason = "helpers of tests fail the test")]

mod damage;

mod peer;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use serde_json::{Value, json};
use warrant::app::audit::folder::{Export, files_of};
use warrant::app::audit::verify::verify_files;
use warrant_kernel::db::Database;
use warrant_kernel::db::lease::Lease;
use warrant_kernel::db::storage::{Log, Row};
use warrant_kernel::ledger::record::RecordKind;
use warrant_kernel::ledger::seal::Consent;
use warrant_kernel::ledger::verify::Verifier;
use warrant_kernel::ledger::{Ledger, Options};

use damage::{Draw, damaged};
use peer::Peer;

/// The files of an export.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// A ledger as it was exported at several times, the last one whole.
struct Exported {
    files: Vec<Files>,
    notes: Vec<String>,
    key: String,
}

fn value(draw: &mut Draw, deep: u32) -> Value {
    const TEXTS: [&str; 6] =
        ["", "a \"quoted\\ text\"", "\u{0}\u{1f}\u{7f}\n\t", "\u{e000}😀\u{2028}", "größe 日本", "</script>"];
    match draw.below(if deep == 0 { 4 } else { 6 }) {
        0 => json!(TEXTS[draw.below(TEXTS.len())].repeat(1 + draw.below(3))),
        1 => json!(draw.bits() >> 11),
        2 => json!(-i64::try_from(draw.bits() >> 12).unwrap()),
        3 => [json!(null), json!(true), json!([])][draw.below(3)].clone(),
        4 => (0..draw.below(4)).map(|_| value(draw, deep - 1)).collect(),
        _ => {
            let entries = (0..draw.below(4)).map(|_| {
                let key = TEXTS[draw.below(TEXTS.len())].to_owned();
                (key, value(draw, deep - 1))
            });
            Value::Object(entries.collect())
        }
    }
}

/// A ledger with so many records or a few more, from a seed.
async fn exported(seed: u64, records: usize) -> Exported {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("w.db");
    let database = Database::open(&path).await.unwrap();
    let begin: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
    let mut options =
        Options::new(directory.path().join("key"), Arc::new(move || begin), "demo".to_owned(), "0".to_owned());
    let random = Mutex::new(Draw::new(seed));
    options.random = Arc::new(move |bytes| {
        bytes.fill_with(|| random.lock().unwrap().byte());
        Ok(())
    });
    let ledger = Ledger::open(&database, Lease::take(&path).unwrap(), options).await.unwrap();
    let (mut draw, mut files, mut notes) = (Draw::new(seed ^ 0xffff), Vec::new(), Vec::new());
    for nth in 0..records {
        let kinds = [RecordKind::PolicyLoaded, RecordKind::ConfigChanged, RecordKind::PeopleChanged];
        let texts = BTreeMap::from([(format!("{nth}.cedar"), format!("permit; // {}", draw.below(4)))]);
        let said = ["before", "after", "why"].into_iter().filter(|_| nth % 2 == 0);
        let said = said.map(|field| (field, value(&mut draw, 3))).collect();
        ledger.came_into_force(kinds[draw.below(3)], &texts, said).await.unwrap();
        match draw.below(records.max(6)) {
            0 => drop(ledger.publish(&[]).await.unwrap()),
            1 => {
                let by = Consent { person: "ann".parse().unwrap(), proved: "token".to_owned() };
                ledger.rotate_key(&by).await.unwrap();
            }
            2 => drop(export(&ledger, &mut files, &mut notes).await),
            _ => {}
        }
    }
    let key = export(&ledger, &mut files, &mut notes).await;
    ledger.shut().await;
    database.close().await;
    Exported { files, notes, key }
}

async fn export(ledger: &Ledger, files: &mut Vec<Files>, notes: &mut Vec<String>) -> String {
    let signed = ledger.checkpoint().await.unwrap();
    let size = u32::try_from(signed.size).unwrap();
    let rows: Vec<Row> = ledger.archive().records(Log::Writes, 0, size).await.unwrap();
    let mut verifier = Verifier::new(Vec::new(), None);
    for row in &rows {
        verifier.step(row);
    }
    let key = verifier.finish().key.unwrap();
    let texts: Vec<String> = (0..4).map(|nth| format!("permit; // {nth}")).collect();
    files.push(files_of(&Export { checkpoint: &signed.note, key: &key, rows: &rows, texts: &texts }).unwrap());
    notes.push(signed.note);
    key
}

fn without_texts(files: &Files) -> impl Iterator<Item = (&PathBuf, &Vec<u8>)> {
    files.iter().filter(|(path, _)| !path.starts_with("texts"))
}

/// Asks both. Gives whether ours finds nothing wrong, and whether the script does; what it finds, ours finds too.
fn both(peer: &mut Peer, what: &str, files: &Files, kept: &[String], key: Option<&str>) -> (bool, bool) {
    let parsed = key.map(|key| key.parse().unwrap());
    let ours = verify_files(files, kept.to_vec(), parsed);
    let theirs = peer.ask(files, kept, key);
    let sound = ours.as_ref().is_ok_and(warrant::app::audit::verify::Answer::is_sound);
    assert!(theirs.is_empty() || !sound, "{what}\n ours: {ours:#?}\n theirs: {theirs:#?}");
    (sound, theirs.is_empty())
}

/// Asks both, which must agree.
fn asked(peer: &mut Peer, what: &str, files: &Files, kept: &[String], key: Option<&str>) -> bool {
    let (ours, theirs) = both(peer, what, files, kept, key);
    assert_eq!(ours, theirs, "{what}");
    ours
}

#[tokio::test]
async fn both_verifiers_say_the_same_of_sound_and_of_damaged_ledgers() {
    let mut peer = Peer::start();
    let (mut sound, mut wrong, mut seen_by_them) = (0, 0, 0);
    let mut others: Vec<Exported> = Vec::new();
    for (seed, records) in [(1, 1), (2, 3), (3, 9), (4, 20), (5, 40), (6, 258)] {
        let one = exported(seed, records).await;
        let whole = one.files.last().unwrap();
        assert!(asked(&mut peer, "sound", whole, &one.notes, Some(&one.key)), "ledger {seed}");
        for (at, files) in one.files.iter().enumerate() {
            // Older than what was kept of it, unless nothing was written since.
            let fresh = asked(&mut peer, "an old copy", files, &one.notes, None);
            assert_eq!(fresh, one.notes[at] == *one.notes.last().unwrap(), "ledger {seed}");
        }
        if let Some(other) = others.last() {
            assert!(!asked(&mut peer, "another ledger", whole, &other.notes, None));
            assert!(!asked(&mut peer, "another key", whole, &[], Some(&other.key)));
        }
        let mut draw = Draw::new(seed);
        for nth in 0..if records > 100 { 12 } else { 60 } {
            let (what, files) = damaged(&one.files, &mut draw);
            let kept = if draw.below(2) == 0 { one.notes.clone() } else { Vec::new() };
            let what = format!("ledger {seed}, damage {nth}: {what}");
            let (is_sound, is_to_them) = both(&mut peer, &what, &files, &kept, None);
            // The script does not hold files to one form, and looks neither at tiles of hashes nor at files beside.
            seen_by_them += usize::from(!is_to_them);
            // Texts lie beside the ledger under their digests; which of them are there is not its matter.
            let same = without_texts(&files).eq(without_texts(whole));
            assert!(!is_sound || same, "{what} is not seen");
            if is_sound { sound += 1 } else { wrong += 1 }
        }
        others.push(one);
    }
    assert!(wrong > 200, "{wrong} wrong, {sound} sound");
    assert!(seen_by_them > 100, "{seen_by_them} of {wrong}");
}
