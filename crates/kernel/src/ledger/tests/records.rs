//! What is recorded, and what can be read of it.

use std::collections::BTreeMap;

use serde_json::json;

use crate::db::Database;
use crate::db::lease::Lease;
use crate::db::storage::{DocumentKind, DocumentWrite, Find, Log};
use crate::ledger::record::{Entry, MAX_VALUE, Record, RecordKind, text_digest};
use crate::ledger::seal::{Sealed, Sealing};
use crate::ledger::verify::Verifier;
use crate::ledger::{Ledger, LedgerError};

use super::{ann, bench, bob, intent, options, outcome, verified};

#[tokio::test]
async fn a_write_is_three_records_that_prove_themselves() {
    let bench = bench().await;
    let (intent, outcome) = bench.written("A1").await;
    assert_eq!((intent, outcome), (2, 3));
    let rows = bench.rows();
    let kinds: Vec<&str> = rows.iter().map(|row| row.kind.as_str()).collect();
    assert_eq!(kinds, ["log_opened", "decision", "intent", "outcome"]);
    insta::assert_snapshot!(String::from_utf8(rows[3].bytes.clone()).unwrap(), @r#"{"commitments":{"about":"f99919b3aa0d45cd4a2e4cbd2e0b22719378546fa9e34b1f7aab16258bd1f750","build":"741b14d087e34d05ced9866f1339c7a0790c2095003500faf1f3b51e0a68775e","duration_ms":"0a16051027c78348d74f3f4c17f3af39e48f0dce3a3519fa438cec6b949fc06a","instance":"bd5af970ee9a91a8d49a467c7f68db601f23e01e52e5536d3f49ae50df94f7ee","status":"23e3acce65756a3d1e7cbb6414cc8fcf14485c9ab85386aaa0b48c8b5161e828"},"kind":"outcome","prev":"70ceeb62eab39aa3e6aac550172280193d9b9bf047a46317aa607a01b4da48de","schema":1,"seq":3,"time":"2027-01-15T08:00:02.000000000Z"}"#);
    let openings = rows[3].openings.iter().map(|it| format!("{} = {}", it.field, it.value));
    insta::assert_snapshot!(openings.collect::<Vec<_>>().join("\n"), @r#"
    about = 2
    build = "0.1.0"
    duration_ms = 12
    instance = "test-host"
    status = "ok"
    "#);
    let found = verified(&rows, &[], None);
    assert_eq!((found.size, found.findings.as_slice()), (4, [].as_slice()));
}

#[tokio::test]
async fn no_value_stands_in_the_bytes_and_the_same_value_never_looks_the_same() {
    let bench = bench().await;
    let entry = || Entry::new(RecordKind::Proposed).with("target", "unit:checkout.service");
    bench.ledger.append(vec![entry(), entry()], Vec::new()).await.unwrap();
    let rows = bench.rows();
    for row in &rows {
        assert!(!String::from_utf8_lossy(&row.bytes).contains("checkout.service"));
    }
    let commitment = |row: usize| Record::parse(&rows[row].bytes).unwrap().commitments["target"];
    assert_ne!(commitment(1), commitment(2));
}

#[tokio::test]
async fn a_number_that_is_not_exact_is_refused_and_nothing_is_written() {
    let bench = bench().await;
    for (value, why) in [
        (json!(0.5), "the field `x` can't be recorded: numbers are whole; write others as text"),
        (json!(1_u64 << 53), "the field `x` can't be recorded: whole numbers are at most 2^53-1; write others as text"),
    ] {
        let error = bench.ledger.append(vec![Entry::new(RecordKind::Proposed).with("x", value)], Vec::new()).await;
        assert_eq!(error.unwrap_err().to_string(), why);
    }
    assert_eq!(bench.rows().len(), 1);
}

#[tokio::test]
async fn a_document_and_its_record_are_written_together_or_not_at_all() {
    let bench = bench().await;
    let write = |expect_revision| DocumentWrite {
        kind: DocumentKind::Approval,
        id: "A1".to_owned(),
        expect_revision,
        body: json!({ "state": "open" }),
    };
    let entry = || vec![Entry::new(RecordKind::ApprovalRequested).with("approval", "A1")];
    bench.ledger.append(entry(), vec![write(0)]).await.unwrap();
    let stale = bench.ledger.append(entry(), vec![write(0)]).await.unwrap_err();
    assert!(matches!(stale, LedgerError::Storage(_)), "{stale}");
    assert_eq!(bench.rows().len(), 2);
    // A stale document is the caller's matter; the ledger goes on.
    bench.ledger.append(entry(), vec![write(1)]).await.unwrap();
    assert_eq!(bench.ledger.document(DocumentKind::Approval, "A1").await.unwrap().unwrap().revision, 2);
}

#[tokio::test]
async fn what_nothing_has_closed_is_shown() {
    let bench = bench().await;
    bench.written("A1").await;
    let receipt = bench.ledger.intend(Vec::new(), intent("A2"), Vec::new()).await.unwrap();
    let open: Vec<u64> = bench.ledger.open_intents().await.unwrap().iter().map(|row| row.seq).collect();
    assert_eq!(open, [receipt.seq()]);
    bench.ledger.close(receipt.seq(), outcome(), Vec::new()).await.unwrap();
    assert!(bench.ledger.open_intents().await.unwrap().is_empty());
}

#[tokio::test]
async fn texts_in_force_are_recorded_when_they_change_and_kept() {
    let bench = bench().await;
    let texts = |text: &str| BTreeMap::from([("writes.cedar".to_owned(), text.to_owned())]);
    for text in ["permit(a);", "permit(a);", "permit(b);", "permit(a);"] {
        bench.ledger.in_force(RecordKind::PolicyLoaded, &texts(text)).await.unwrap();
    }
    let kinds: Vec<String> = bench.rows().into_iter().map(|row| row.kind).collect();
    assert_eq!(kinds, ["log_opened", "policy_loaded", "policy_loaded", "policy_loaded"]);
    assert_eq!(bench.ledger.text(text_digest("permit(b);")).await.unwrap(), "permit(b);");
    assert!(bench.ledger.text(text_digest("permit(c);")).await.is_err());
    // Nothing else is recorded from outside the kernel.
    assert!(bench.ledger.in_force(RecordKind::Intent, &texts("permit(a);")).await.is_err());
    assert_eq!(bench.rows().len(), 4);
}

#[tokio::test]
async fn two_persons_take_a_value_out_and_the_proof_stands() {
    let bench = bench().await;
    let (seq, _) = bench.written("A1").await;
    let before = bench.ledger.checkpoint().await.unwrap();
    let sealing = Sealing { seq, fields: vec!["arguments".to_owned()], reason: "a token was typed".to_owned() };
    let ledger = &bench.ledger;
    assert_eq!(ledger.seal(&sealing, &ann()).await.unwrap(), Sealed::Waits);
    // The same person twice is one person.
    assert_eq!(ledger.seal(&sealing, &ann()).await.unwrap(), Sealed::Waits);
    assert_eq!(bench.rows()[2].openings.iter().filter(|it| it.field == "arguments").count(), 1);
    assert_eq!(ledger.seal(&sealing, &bob()).await.unwrap(), Sealed::Done(4));
    let rows = bench.rows();
    assert!(rows[2].openings.iter().all(|it| it.field != "arguments"));
    let after = ledger.checkpoint().await.unwrap();
    let found = verified(&rows, &[before.note, after.note], None);
    assert_eq!((found.sealed, found.findings.as_slice()), (1, [].as_slice()));
    assert_eq!(found.agrees_with, [4, 5]);
    // Nor does it come back.
    let again = ledger.seal(&sealing, &ann()).await.unwrap_err();
    assert!(again.to_string().starts_with("nothing was sealed: record 2 has the fields"), "{again}");
}

#[tokio::test]
async fn what_holds_records_together_can_not_be_sealed() {
    let bench = bench().await;
    let (_, seq) = bench.written("A1").await;
    let sealing = Sealing { seq, fields: vec!["about".to_owned()], reason: "x".to_owned() };
    let error = bench.ledger.seal(&sealing, &ann()).await.unwrap_err();
    assert_eq!(error.to_string(), "nothing was sealed: `about` is what records are tied together by");
}

#[tokio::test]
async fn au_09_a_hostile_text_is_one_record_of_one_line_and_a_long_one_is_cut() {
    let bench = bench().await;
    let text = "line\nline\u{2028}\u{1b}[2K\u{1b}]8;;x\u{7}\u{0}\"\\".to_owned();
    let long = format!("{}{}", "é\n".repeat(40 << 10), "end");
    let entry = Entry::new(RecordKind::Refused).with("reason", text.as_str()).with("message", long.as_str());
    bench.ledger.append(vec![entry], Vec::new()).await.unwrap();
    let rows = bench.rows();
    assert_eq!(rows.len(), 2);
    assert!(!rows[1].bytes.contains(&b'\n') && rows[1].bytes.len() <= 64 << 10);
    let value = |field: &str| {
        let value = &rows[1].openings.iter().find(|it| it.field == field).unwrap().value;
        assert!(value.len() <= MAX_VALUE && !value.contains('\n') && !value.contains('\u{1b}'));
        serde_json::from_str::<serde_json::Value>(value).unwrap()
    };
    assert_eq!(value("reason"), json!(text));
    let cut = value("message");
    let kept = cut["cut"].as_str().unwrap();
    let rest = long.strip_prefix(kept).unwrap();
    assert_eq!(cut["rest_bytes"], rest.len());
    assert_eq!(cut["rest_sha256"], text_digest(rest).to_string());
    assert!(verified(&rows, &[], None).findings.is_empty());
}

#[tokio::test]
async fn sqlite_keeps_what_memory_keeps() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("w.db");
    let database = Database::open(&path).await.unwrap();
    let options = options(directory.path());
    let ledger = Ledger::open(&database, Lease::take(&path).unwrap(), options.clone()).await.unwrap();
    let receipt = ledger.intend(vec![super::decision("A1")], intent("A1"), Vec::new()).await.unwrap();
    assert_eq!(ledger.open_intents().await.unwrap().len(), 1);
    ledger.close(receipt.seq(), outcome(), Vec::new()).await.unwrap();
    assert!(ledger.open_intents().await.unwrap().is_empty());
    let sealing = Sealing { seq: 2, fields: vec!["arguments".to_owned()], reason: "typed".to_owned() };
    assert_eq!(ledger.seal(&sealing, &ann()).await.unwrap(), Sealed::Waits);
    assert_eq!(ledger.seal(&sealing, &bob()).await.unwrap(), Sealed::Done(4));
    assert_eq!(ledger.publish(&[]).await.unwrap(), []);
    let archive = ledger.archive();
    let by_approval = archive.find(Log::Writes, Find::Field { field: "approval", value: "\"A1\"" }).await.unwrap();
    assert_eq!(by_approval.iter().map(|row| row.seq).collect::<Vec<_>>(), [1, 2]);
    let look = [("command", json!("list"))];
    for _ in 0..18 {
        archive.look(RecordKind::Looked, &ann().person, &look, &options).await.unwrap();
    }
    let new = ledger.rotate_key(&ann()).await.unwrap();
    for _ in 0..18 {
        archive.look(RecordKind::Looked, &ann().person, &look, &options).await.unwrap();
    }
    let rows = archive.records(Log::Writes, 0, 100).await.unwrap();
    let note = ledger.checkpoint().await.unwrap().note;
    drop(archive);
    ledger.shut().await;
    database.close().await;

    // The value is nowhere any more: not in the file, not in what SQLite keeps beside it.
    for file in std::fs::read_dir(directory.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(8).any(|window| window == b"\"lines\":"));
    }
    let database = Database::open(&path).await.unwrap();
    let ledger = Ledger::open(&database, Lease::take(&path).unwrap(), options).await.unwrap();
    let archive = ledger.archive();
    assert_eq!(archive.records(Log::Writes, 0, 100).await.unwrap(), rows);
    let found = verified(&rows, &[note], None);
    assert_eq!((found.size, found.sealed, found.checkpoints), (7, 1, 1));
    assert_eq!(found.findings, []);
    let looks = archive.records(Log::Looks, 0, 100).await.unwrap();
    let mut verifier = Verifier::new(Vec::new(), None).under(&[new.to_string()]);
    for row in &looks {
        verifier.step(row);
    }
    let found = verifier.finish();
    assert_eq!((found.size, found.checkpoints, found.findings.as_slice()), (40, 3, [].as_slice()));
}
