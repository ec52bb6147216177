//! Reads tools, policies and runbooks again when their files have changed, or when it is told to.
//!
//! What is read is taken whole or not at all. First the ledger knows of it, then writes are decided by it, then whatever begins
//! goes by it. Where any of it is wrong everything stays as it was, and that is said.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::News as Told;
use super::live::{Live, News};
use crate::app::fault::{Fault, told};
use crate::app::marks::Marks;
use crate::app::sequencer::hold::Hold;
use crate::app::{App, audit, environment};
use crate::web::metrics::{Metrics, Reload};

/// How often it is looked whether files have changed. A change is taken when it has stood for one more look: whoever copies
/// many files is done then.
pub const EVERY: Duration = Duration::from_secs(2);

/// What it takes.
pub struct Parts {
    /// What is gone by.
    pub live: Arc<Live>,
    /// What decides on writes.
    pub hold: Arc<Hold>,
    /// Where it is counted.
    pub metrics: Arc<Metrics>,
    /// Rung by whoever wants it read again now.
    pub asked: Arc<Notify>,
    /// Who is told.
    pub tell: mpsc::Sender<Told>,
}

/// Watches over the files.
pub struct Reloader {
    parts: Parts,
    /// The files as they looked when they were last read.
    read: Marks,
    /// As they looked at the last look.
    seen: Marks,
    /// Whether the last reading has to be made again, whatever the files look like.
    again: bool,
}

/// What one reading found.
enum Found {
    /// All is well with it.
    Whole(Box<App>, BTreeMap<String, String>),
    /// The files changed while they were read.
    Moving,
    /// This is wrong.
    Broken(String),
}

/// The names of all tools of an app, for what is counted by them.
#[must_use]
pub fn tools(app: &App) -> BTreeSet<String> {
    app.bench.registry.iter().map(|tool| tool.about().name.to_string()).collect()
}

impl Reloader {
    /// Nothing has changed since the app was opened.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let marks = parts.live.now().marks.clone();
        Self { parts, read: marks.clone(), seen: marks, again: false }
    }

    /// Watches until it is cancelled.
    pub async fn run(mut self, cancel: CancellationToken) {
        loop {
            let is_asked = tokio::select! {
                () = cancel.cancelled() => return,
                () = self.parts.asked.notified() => true,
                () = tokio::time::sleep(EVERY) => false,
            };
            if is_asked || self.is_due().await {
                self.reload().await;
            }
        }
    }

    /// Whether the files are others than those that were read, and have been so since the last look.
    async fn is_due(&mut self) -> bool {
        let app = self.parts.live.now();
        let Ok(now) = tokio::task::spawn_blocking(move || Marks::of(&app.config)).await else { return false };
        let stands = now == self.seen;
        self.seen = now;
        stands && (self.again || self.seen != self.read)
    }

    async fn reload(&mut self) {
        let app = self.parts.live.now();
        let found = tokio::task::spawn_blocking(move || read(&app)).await;
        let (marks, found) =
            found.unwrap_or_else(|_| (self.seen.clone(), Found::Broken("reading broke off".to_owned())));
        self.read = marks;
        self.again = false;
        match found {
            Found::Moving => self.again = true,
            Found::Broken(why) => self.refuse(&why).await,
            Found::Whole(app, texts) => match self.parts.hold.adopt(&app, texts).await {
                Ok(()) => self.take(*app).await,
                Err(fault) => {
                    // Nothing is wrong with the files: it may go well the next time.
                    self.again = true;
                    self.refuse(&format!("they can't be recorded: {}", told(&fault))).await;
                }
            },
        }
    }

    async fn take(&self, app: App) {
        let Parts { live, metrics, tell, .. } = &self.parts;
        // Investigations that run go on with the tools that they have.
        metrics.know_tools(tools(&live.now()).into_iter().chain(tools(&app)).collect());
        let said = Told::Reloaded {
            policies: app.bench.policy.sources().count(),
            tools: app.bench.registry.iter().count(),
            runbooks: app.bench.library.runbooks().len(),
        };
        live.take(Arc::new(app));
        metrics.reloaded(Reload::Taken);
        tracing::info!("policies, tools and runbooks were read again and are in force");
        // Nobody who listens is no reason to stop.
        let _gone = tell.send(said).await;
    }

    async fn refuse(&self, why: &str) {
        let Parts { live, metrics, tell, .. } = &self.parts;
        let (why, news) = live.refuse(why);
        metrics.reloaded(Reload::Refused);
        if news == News::New {
            tracing::error!(%why, "policies, tools and runbooks as they are now are not taken; those of before stay in force");
            let _gone = tell.send(Told::NotReloaded { why }).await;
        }
    }
}

/// Reads everything, and the texts that the ledger keeps.
fn read(app: &App) -> (Marks, Found) {
    let before = Marks::of(&app.config);
    let found = match app.renewed(&environment) {
        Ok(renewed) => match audit::texts_of_sets(&renewed) {
            Ok(texts) => Found::Whole(Box::new(renewed), texts),
            Err(fault) => Found::Broken(told(&fault)),
        },
        Err(Fault::Config { problems, .. }) => Found::Broken(problems.join("; ")),
        Err(fault) => Found::Broken(told(&fault)),
    };
    // What was loaded and what is recorded are one only where nothing was written meanwhile.
    let found = if Marks::of(&app.config) == before { found } else { Found::Moving };
    (before, found)
}
