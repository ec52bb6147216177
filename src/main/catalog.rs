//! `warrant catalog`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use warrant::app::catalog::{self, Brought};
use warrant::app::fault::{Fault, counted};
use warrant::app::{App, print};

use crate::flags::Json;

/// `warrant catalog`.
#[derive(Debug, Subcommand)]
pub enum CatalogCommand {
    /// Take services over from another catalog, as `[services.NAME]` of the config.
    #[command(subcommand)]
    Import(ImportCommand),
}

/// `warrant catalog import`.
#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// From `catalog-info.yaml` files of Backstage: components and resources, their owners, links and dependencies.
    #[command(after_help = "\
Examples:
  warrant catalog import backstage catalog-info.yaml
  warrant catalog import backstage ~/src --environment production --into warrant.toml")]
    Backstage(BackstageFlags),
    /// From a `[metrics.NAME]` of the config: each value of a label is a service with its series.
    #[command(after_help = "\
Examples:
  warrant catalog import prometheus main
  warrant catalog import prometheus main --label app --into warrant.toml")]
    Prometheus(PrometheusFlags),
}

/// `warrant catalog import backstage`.
#[derive(Debug, Args)]
pub struct BackstageFlags {
    /// Files, or directories that are searched for `catalog-info.yaml`.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Where all of them run; policies decide on it.
    #[arg(long)]
    environment: Option<String>,
    #[command(flatten)]
    to: To,
}

/// `warrant catalog import prometheus`.
#[derive(Debug, Args)]
pub struct PrometheusFlags {
    /// The NAME of `[metrics.NAME]`.
    source: String,
    /// The label whose values are services. May be repeated; the first counts. [default: service, job]
    #[arg(long = "label", value_name = "LABEL")]
    labels: Vec<String>,
    #[command(flatten)]
    to: To,
}

/// Where it goes.
#[derive(Debug, Args)]
struct To {
    /// Add the new services to the end of this config. Without it they are printed.
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
    #[command(flatten)]
    json: Json,
}

/// Carries the command out.
pub async fn run(config: Option<PathBuf>, command: CatalogCommand) -> Result<u8, Fault> {
    let CatalogCommand::Import(command) = command;
    let (brought, json) = match command {
        ImportCommand::Backstage(BackstageFlags { paths, environment, to }) => {
            (catalog::backstage(config, &paths, environment.as_deref(), to.into.as_deref())?, to.json)
        }
        ImportCommand::Prometheus(PrometheusFlags { source, labels, to }) => {
            let app = App::begin(config, None)?;
            (catalog::prometheus(&app, &source, &labels, to.into.as_deref()).await?, to.json)
        }
    };
    tell(&brought, json);
    Ok(0)
}

/// TOML on standard output, so that it can go into a file, and all else beside it.
fn tell(brought: &Brought, json: Json) {
    if json.json {
        print::json(brought);
        return;
    }
    for left_out in &brought.left_out {
        print::aside(&format!("left out: {}: {}", left_out.what, left_out.why));
    }
    let count = counted(brought.services.len(), "service");
    if let Some(path) = &brought.added_to {
        print::aside(&format!("{count} added to {}", path.display()));
    } else {
        // Names and texts are plain, or they would not have been taken over.
        print::line(brought.toml.trim_end());
        print::aside(&format!("{count}; `--into FILE` adds them to a config"));
    }
}
