//! `warrant demo`: the shop, its fault, and an investigation that knows no more of it than any other would. It proposes
//! the fix, and the persons of the demo decide on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::gate::vote::{Claimant, Proof};
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::report::Report;
use warrant_kernel::domain::run::{Channel, Trigger, Writes};
use warrant_kernel::domain::time::rfc3339;

use warrant_toolbox::tools::process::users;

use super::fault::{Fault, Source};
use super::shop::{Injected, Shop, ShopOptions};
use crate::agent::trace::Watcher;
use crate::app::ask::{AtHand, Ended, Question, ask_with};
use crate::app::print::Screen;
use crate::app::writes::people::{Answers, Present};
use crate::app::{App, audit, environment, fault};
use crate::config::Config;
use crate::model::config::RUNBOOK;

/// The person who asks.
const ASKS: &str = "ann";

/// The person who reviews what takes another one.
const REVIEWS: &str = "ben";

/// Who decides on what the demo proposes.
#[derive(Clone)]
pub enum Deciding {
    /// Nobody: it only looks.
    Nobody,
    /// Whoever is at this terminal, for both persons; without one, what needs them waits.
    AtTerminal(Option<Screen>),
    /// A script, for both persons; what is asked is shown where there is a screen.
    Script(Answers, Option<Screen>),
}

/// What is asked of a demo.
#[derive(Clone)]
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
    /// Who decides.
    pub deciding: Deciding,
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
    let text = format!("{described}\n{}", own(&store, users::current()));
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
        writes: match options.deciding {
            Deciding::Nobody => Writes::Off,
            Deciding::AtTerminal(_) | Deciding::Script(..) => Writes::Allowed,
        },
    };
    let at_hand = AtHand { watcher, present: present(&options.deciding)? };
    let ended = ask_with(&app, question, at_hand, cancel.clone()).await?;
    if let (_, Ended::Reported(report)) = &ended
        && report.writes.iter().any(|written| written.proof.is_some())
    {
        tell(&proved(&app).await?);
    }
    Ok(ended)
}

/// What the shop's description does not say: where the demo keeps what it writes, and who its persons are.
fn own(store: &Path, uid: u32) -> String {
    let store = toml::Value::String(store.display().to_string());
    format!(
        "[store]\npath = {store}\n[ledger]\ninstance = \"demo\"\n\
         [people.{ASKS}]\nuids = [{uid}]\ngroups = [\"oncall\"]\n[people.{REVIEWS}]\ngroups = [\"oncall\"]\n"
    )
}

/// The persons of the demo, and how they are asked.
fn present(deciding: &Deciding) -> Result<Present, fault::Fault> {
    let person = |name: &str| match name.parse() {
        Ok(person) => Ok(Claimant { person, proof: Proof::Demo }),
        Err(error) => Err(fault::Fault::Failed(format!("{error}"))),
    };
    let persons = || Ok::<_, fault::Fault>(vec![person(ASKS)?, person(REVIEWS)?]);
    Ok(match deciding {
        Deciding::Nobody => Present::nobody(),
        Deciding::AtTerminal(screen) => Present::here(screen.as_ref(), persons()?),
        Deciding::Script(answers, screen) => Present::scripted(answers, screen.as_ref(), persons()?),
    })
}

/// Verifies the demo's ledger, as an auditor would.
async fn proved(app: &App) -> Result<String, fault::Fault> {
    let answers = audit::verify::verify_store(app, &audit::verify::Question::default()).await?;
    let told = answers.iter().map(|answer| {
        let (log, size) = (answer.log, answer.verified.size);
        match answer.verified.findings.as_slice() {
            [] => format!("{log}: {size} records, whole and unchanged"),
            findings => format!("{log}: {} of {size} records are NOT as they were written", findings.len()),
        }
    });
    Ok(format!("The demo's ledger, verified: {}.", told.collect::<Vec<_>>().join("; ")))
}

fn with_source(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
