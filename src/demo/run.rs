//! `warrant demo`: the shop, its fault, and an investigation that knows no more of it than any other would.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use tokio_util::sync::CancellationToken;
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::report::Report;
use warrant_kernel::domain::run::{Channel, Trigger, Writes};
use warrant_kernel::domain::time::rfc3339;

use super::fault::{Fault, Source};
use super::shop::{Injected, Shop, ShopOptions};
use crate::agent::trace::Watcher;
use crate::app::ask::{Ended, Question, ask};
use crate::app::{App, environment, fault};
use crate::config::Config;
use crate::model::config::RUNBOOK;

/// What is asked of a demo.
#[derive(Debug, Clone)]
pub struct Options {
    /// What breaks.
    pub fault: Fault,
    /// Settles where and when.
    pub seed: u64,
    /// Sources that the investigation lacks.
    pub without: Vec<Source>,
    /// A directory of its own, empty.
    pub dir: PathBuf,
    /// This program, for the shop's services.
    pub exe: PathBuf,
}

/// What a demo comes to; its JSON is what `warrant demo --json` prints.
#[derive(Debug, Serialize)]
pub struct Demonstrated {
    /// What was broken. The investigation never saw it.
    pub injected: Injected,
    /// What the investigation found.
    pub report: Report,
    /// Its id in the demo's own store.
    #[serde(skip)]
    pub investigation: InvestigationId,
}

/// How a demo ended.
#[derive(Debug)]
pub enum Demo {
    /// With a report.
    Done(Box<Demonstrated>),
    /// Interrupted.
    Interrupted,
}

/// Starts the shop, breaks it, and investigates. `tell` says what goes on, for people.
///
/// # Errors
/// [`fault::Fault`] where the shop can't be started or the investigation can't begin.
pub async fn run(
    options: &Options,
    watcher: Arc<dyn Watcher>,
    tell: &dyn Fn(&str),
    cancel: &CancellationToken,
) -> Result<Demo, fault::Fault> {
    let failed = |error: &dyn std::error::Error| fault::Fault::Failed(with_source(error));
    tell("Starting a small shop on this machine: gateway, checkout, payments and a store.");
    let shop_options =
        ShopOptions { seed: options.seed, fault: options.fault, dir: options.dir.clone(), exe: options.exe.clone() };
    let mut shop = Shop::start(&shop_options).await.map_err(|error| failed(&error))?;
    for note in shop.notes() {
        tell(note);
    }
    tell("Customers order. Something is about to change.");
    let seen = tokio::select! {
        biased;
        () = cancel.cancelled() => None,
        seen = shop.run_until_symptom() => Some(seen),
    };
    let Some(seen) = seen else {
        shop.stop().await;
        return Ok(Demo::Interrupted);
    };
    let ended = match seen {
        Ok(_observed) => investigate(options, &mut shop, watcher, tell, cancel).await,
        Err(error) => Err(failed(&error)),
    };
    let injected = shop.injected();
    shop.stop().await;
    match ended? {
        (investigation, Ended::Reported(report)) => {
            Ok(Demo::Done(Box::new(Demonstrated { injected, report: *report, investigation })))
        }
        (_, Ended::Interrupted(_)) => Ok(Demo::Interrupted),
    }
}

async fn investigate(
    options: &Options,
    shop: &mut Shop,
    watcher: Arc<dyn Watcher>,
    tell: &dyn Fn(&str),
    cancel: &CancellationToken,
) -> Result<(InvestigationId, Ended), fault::Fault> {
    let outside = shop.trigger();
    for source in &options.without {
        shop.take_down(*source);
    }
    let path = options.dir.join("warrant.toml");
    let store = options.dir.join("warrant.db");
    let described = shop.config_toml().map_err(|error| fault::Fault::Failed(error.to_string()))?;
    let text = format!("{described}\n[store]\npath = {}\n", toml::Value::String(store.display().to_string()));
    std::fs::write(&path, &text).map_err(|error| fault::Fault::Failed(format!("can't write the config: {error}")))?;
    let app = App::open(Config::parse(&path, &text)?, &environment, Some(RUNBOOK))?;
    for warning in &app.warnings {
        tell(warning);
    }
    let trigger = match outside.alert {
        Some(name) => Trigger::Alert { name: name.to_owned(), text: outside.question },
        None => Trigger::Question { text: outside.question },
    };
    let question = Question {
        trigger,
        service: Some(outside.service.to_string()),
        since: Some(rfc3339(outside.since)),
        role: "general-purpose".to_owned(),
        channel: Channel::Demo,
        writes: Writes::Off,
    };
    ask(&app, question, watcher, cancel.clone()).await
}

fn with_source(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
