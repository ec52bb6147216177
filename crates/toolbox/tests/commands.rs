//! The grammars of commands: what people type every day passes, what attacks is refused, and no word reaches a program that
//! was not looked at.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test; Clippy's leave for tests ends at the test functions"
)]

#[path = "commands/attacks.rs"]
mod attacks;

#[path = "commands/dangerous.rs"]
mod dangerous;

#[path = "commands/everyday.rs"]
mod everyday;

#[path = "commands/generated.rs"]
mod generated;

#[path = "commands/traced.rs"]
mod traced;

#[path = "commands/laws.rs"]
mod laws;

#[path = "commands/loading.rs"]
mod loading;

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use warrant_toolbox::tools::command::Commands;
use warrant_toolbox::tools::command::load::{GrammarFile, Standing};
use warrant_toolbox::tools::command::refusal::Refusal;

/// The top of the project.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The built-in grammars.
static COMMANDS: LazyLock<Arc<Commands>> = LazyLock::new(|| {
    let files = texts();
    let files = files.iter().map(|(name, text)| GrammarFile { name, text, standing: Standing::BuiltIn });
    match Commands::load(files) {
        Ok(commands) => commands,
        Err(errors) => panic!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
    }
});

/// Names and texts of the built-in grammars.
fn texts() -> Vec<(String, String)> {
    let entries = std::fs::read_dir(root().join("grammars")).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(&path).unwrap()))
        .collect()
}

fn words(line: &[&str]) -> Vec<String> {
    line.iter().map(|word| (*word).to_owned()).collect()
}

/// What a program would be given, or why it is not run.
fn classified(argv: &[String]) -> Result<Vec<String>, Refusal> {
    COMMANDS.classify(argv).map(|accepted| accepted.argv())
}
