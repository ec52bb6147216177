//! Runs the approval-safety suite and prints its table; ends with 1 where a row is red.
//!
//! ```text
//! cargo run --example safety [-- --program target/debug/warrant] [--only ID]...
//! ```

#![expect(clippy::disallowed_methods, reason = "it is the outside world: it starts the program")]

#[path = "../tests/support/safety.rs"]
mod safety;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use safety::adapter::Adapter;
use safety::case::load;
use safety::runner::{Verdict, run, table};
use safety::warrant::WarrantAdapter;

fn usage(why: &str) -> ExitCode {
    eprintln!("{why}\nusage: safety [--program PATH] [--only ID]...");
    ExitCode::from(2)
}

#[tokio::main]
async fn main() -> ExitCode {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/safety");
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.parent()?.join("warrant")));
    let (mut program, mut only) = (beside, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.next()) {
            ("--program", Some(path)) => program = std::fs::canonicalize(PathBuf::from(path)).ok(),
            ("--only", Some(id)) => only.push(id),
            _ => return usage(&format!("`{arg}` is not understood")),
        }
    }
    let Some(program) = program.filter(|program| program.is_file()) else {
        return usage("there is no program; build it: cargo build --bin warrant");
    };
    let mut cases = match load(&data) {
        Ok(cases) => cases,
        Err(error) => return usage(&error),
    };
    cases.retain(|case| only.is_empty() || only.contains(&case.id));
    let adapter: Arc<dyn Adapter> = Arc::new(WarrantAdapter { program, data });
    let rows = run(Arc::clone(&adapter), cases).await;
    print!("{}", table(&adapter.name(), &rows));
    let red = rows.iter().any(|row| row.verdict == Verdict::Red);
    if red { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
