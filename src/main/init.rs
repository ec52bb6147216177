//! `warrant init`.

use std::path::{Path, PathBuf};

use clap::Args;
use warrant::app::fault::{Fault, counted};
use warrant::app::init::ask::{at_terminal, fill};
use warrant::app::init::{Existing, Logs, Wanted, model, text, write};
use warrant::app::print;
use warrant_kernel::domain::name::ServiceName;

/// `warrant init`.
#[derive(Debug, Args)]
pub struct InitFlags {
    /// A server with the Prometheus API. [default: port 9090 of this machine, where it answers]
    #[arg(long, value_name = "URL")]
    prometheus: Option<String>,
    /// An Alertmanager. [default: port 9093 of this machine, where it answers]
    #[arg(long, value_name = "URL")]
    alertmanager: Option<String>,
    /// A service. May be repeated. [default: up to ten that the Prometheus knows]
    #[arg(long = "service", value_name = "NAME")]
    services: Vec<ServiceName>,
    /// Its log files; `SERVICE=` may be left out where there is one service. May be repeated. [default: /var/log, where some are]
    #[arg(long = "logs", value_name = "SERVICE=PATH")]
    logs: Vec<String>,
    /// A model beside the built-in one; its key is read from `$ANTHROPIC_API_KEY` or `$OPENAI_API_KEY`.
    #[arg(long, value_name = "anthropic:MODEL|openai:MODEL")]
    model: Option<String>,
    /// Ask nothing: take what is said here, and what was found.
    #[arg(long)]
    yes: bool,
    /// Replace the file, where it is there.
    #[arg(long)]
    force: bool,
}

/// Carries the command out.
pub async fn run(config: Option<PathBuf>, flags: InitFlags) -> Result<u8, Fault> {
    let path = config.unwrap_or_else(|| PathBuf::from("warrant.toml"));
    let existing = if flags.force { Existing::Replaced } else { Existing::Stays };
    let logs = flags.logs.iter().map(|logs| Logs::of(logs, &flags.services)).collect::<Result<_, _>>()?;
    let mut wanted = Wanted {
        prometheus: flags.prometheus,
        alertmanager: flags.alertmanager,
        services: flags.services,
        logs,
        model: flags.model.as_deref().map(model).transpose()?,
    };
    if existing == Existing::Stays && path.exists() {
        // Before anybody answers questions in vain.
        write(&path, "", existing)?;
    }
    let root = Path::new("/");
    let look = if flags.yes { fill(&mut wanted, None, root).await? } else { at_terminal(&mut wanted, root).await? };
    write(&path, &text(&wanted, &look)?, existing)?;
    for note in &look.notes {
        print::aside(&format!("note: {note}"));
    }
    let services = counted(wanted.services.len(), "service");
    print::line(&format!("wrote {}: {services}; `warrant check` tries it", path.display()));
    Ok(0)
}
