//! The `warrant` command.

use std::process::ExitCode;

use clap::Parser;
use warrant::demo::part::{PartOptions, serve_part};

/// Investigates incidents. Reads are fast. Writes need a warrant.
#[derive(Debug, Parser)]
#[command(name = "warrant", version)]
enum Command {
    /// Runs one service of the demo's shop.
    #[command(hide = true)]
    ShopPart(PartOptions),
}

fn main() -> ExitCode {
    let Command::ShopPart(options) = Command::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let ended = runtime.map_err(anyhow::Error::from).and_then(|runtime| Ok(runtime.block_on(serve_part(options))?));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
