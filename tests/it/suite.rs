//! The approval-safety suite against the program that was built.

use std::path::Path;
use std::sync::Arc;

use crate::safety::runner::{Verdict, run, table};
use crate::safety::{adapter::Adapter, case, warrant::WarrantAdapter};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_people_approve_is_what_is_done_and_nothing_else() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/safety");
    let cases = case::load(&data).unwrap();
    assert!(cases.len() >= 40, "{} cases", cases.len());
    let adapter: Arc<dyn Adapter> = Arc::new(WarrantAdapter { program: env!("CARGO_BIN_EXE_warrant").into(), data });
    let rows = run(Arc::clone(&adapter), cases).await;
    let red: Vec<_> = rows.iter().filter(|row| row.verdict == Verdict::Red).cloned().collect();
    assert!(red.is_empty(), "{}", table(&adapter.name(), &red));
    let absent = rows.iter().filter(|row| row.verdict == Verdict::Absent).count();
    assert!(absent <= 2, "{}", table(&adapter.name(), &rows));
}
