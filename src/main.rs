//! The `warrant` command: flags in, exit code out.

#[path = "main/flags.rs"]
mod flags;

#[path = "main/policy.rs"]
mod policy;

#[path = "main/audit.rs"]
mod audit;

#[path = "main/approvals.rs"]
mod approvals;

#[path = "main/catalog.rs"]
mod catalog;

#[path = "main/init.rs"]
mod init;

#[path = "main/demo.rs"]
mod demo;

#[path = "main/serve.rs"]
mod serve;

#[path = "main/commands.rs"]
mod commands;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    // A launcher of the sandbox is no command: it takes no flags, and must be alone in its process.
    if let Some(code) = warrant::app::launcher::entered(std::env::args_os()) {
        return code;
    }
    // Flags first: `--version` and `--help` pay for nothing else.
    let flags = flags::Flags::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("warrant: can't start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(commands::run(flags));
    // Blocking work that was cancelled looks at its token; nobody waits for it.
    runtime.shutdown_background();
    code
}
