//! `warrant ask`: one investigation from a question to its report.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::domain::event::{Body, Budgets};
use warrant_kernel::domain::name::{InvestigationId, ServiceName};
use warrant_kernel::domain::report::Report;
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger, Writes};
use warrant_kernel::domain::time::parse_time;
use warrant_kernel::redact::{RedactionKey, Redactor};
use warrant_kernel::store::Store;

use super::fault::Fault;
use super::writes::Lazy;
use super::writes::people::Present;
use super::{App, SystemClock};
use crate::agent::investigate::{Interrupted, Investigation};
use crate::agent::model::Model;
use crate::agent::news::News;
use crate::agent::scheduler::Scheduler;
use crate::agent::trace::{Trace, Watcher};
use crate::agent::writes::{Notes, WriteSide};

/// Longest question; what is longer is a paste that belongs into a file.
const QUESTION_CHARS: usize = 4_000;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// The words, or an alert's.
    pub trigger: Trigger,
    /// The service, if one was named.
    pub service: Option<String>,
    /// How far to look back.
    pub since: Option<String>,
    /// What may be seen.
    pub role: String,
    /// Where it is read.
    pub channel: Channel,
    /// Whether it may ask for writes; where the config allows them to all, it may anyway.
    pub writes: Writes,
}

/// How an investigation ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// With a report.
    Reported(Box<Report>),
    /// Before it.
    Interrupted(Kept),
}

/// What is left of an investigation that was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Its trace; it can be resumed.
    Whole,
    /// Nothing, or only its beginning: the trace could not be written.
    Lost,
}

/// Who is at hand while an investigation runs.
#[derive(Clone)]
pub struct AtHand {
    /// Watches it.
    pub watcher: Arc<dyn Watcher>,
    /// Is asked about writes.
    pub present: Present,
}

impl AtHand {
    /// Somebody who watches, and nobody who could be asked.
    #[must_use]
    pub fn watching(watcher: Arc<dyn Watcher>) -> Self {
        Self { watcher, present: Present::nobody() }
    }
}

/// Opens an investigation and runs it; nobody is asked about writes.
///
/// # Errors
/// As [`ask_with`].
pub async fn ask(
    app: &App,
    question: Question,
    watcher: Arc<dyn Watcher>,
    cancel: CancellationToken,
) -> Result<(InvestigationId, Ended), Fault> {
    ask_with(app, question, AtHand::watching(watcher), cancel).await
}

/// Opens an investigation and runs it.
///
/// # Errors
/// [`Fault::Usage`] for a question that can't be asked.
pub async fn ask_with(
    app: &App,
    question: Question,
    at_hand: AtHand,
    cancel: CancellationToken,
) -> Result<(InvestigationId, Ended), Fault> {
    let asking = Asking { id: fresh_id()?, question, requester: app.requester().await? };
    let id = asking.id.clone();
    let store =
        app.store().await.map_err(|fault| tracing::warn!("{fault}; nothing of this investigation is kept")).ok();
    let writes = Lazy::new(app, at_hand.present);
    let ended = match Ready::open(app, store.clone(), asking, at_hand.watcher).await {
        Ok(ready) => Ok(ready.run(app, Company { writes: &writes, news: Arc::default() }, cancel).await),
        Err(fault) => Err(fault),
    };
    writes.close().await;
    if let Some(store) = store {
        store.close().await;
    }
    Ok((id, ended?))
}

/// An id that no other investigation has.
pub(super) fn fresh_id() -> Result<InvestigationId, Fault> {
    uuid::Uuid::now_v7().to_string().parse().map_err(|error| Fault::Failed(format!("{error}")))
}

/// What is asked, by whom, and under which id.
#[derive(Debug, Clone)]
pub struct Asking {
    /// The id.
    pub id: InvestigationId,
    /// What is asked.
    pub question: Question,
    /// On whose behalf.
    pub requester: Requester,
}

/// What goes with a run.
pub(super) struct Company<'a> {
    pub(super) writes: &'a dyn WriteSide,
    pub(super) news: Arc<News>,
}

/// An investigation that is open, before it goes on.
pub(super) struct Ready {
    pub(super) model: Arc<dyn Model>,
    pub(super) redactor: Redactor,
    pub(super) trace: Trace,
    pub(super) lock: Option<Lock>,
}

impl Ready {
    /// Opens an investigation in the store; without one, or where it can't be written, in memory.
    ///
    /// # Errors
    /// [`Fault::Usage`] for what can't be asked.
    pub(super) async fn open(
        app: &App,
        store: Option<Store>,
        asking: Asking,
        watcher: Arc<dyn Watcher>,
    ) -> Result<Self, Fault> {
        let key = RedactionKey::random().map_err(|error| Fault::Failed(error.to_string()))?;
        let redactor = app.redactor.with_key(key.clone());
        let run = run_of(app, asking, &redactor)?;
        let store = opened(store, &run, &key).await;
        let lock = lock(app, &run.investigation).unwrap_or_default();
        let today = today(app, store.as_ref()).await;
        let opening = Body::Opened {
            run: Box::new(run),
            budgets: today.budgets,
            models: today.model.name().split(", ").map(str::to_owned).collect(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let trace = Trace::begin(store, Arc::new(SystemClock), app.watched(watcher), opening)
            .await
            .map_err(|error| Fault::Failed(error.to_string()))?;
        Ok(Self { model: today.model, redactor, trace, lock })
    }

    /// Runs it from wherever its trace stands.
    pub(super) async fn run(self, app: &App, company: Company<'_>, cancel: CancellationToken) -> Ended {
        let scheduler = Scheduler::new(Arc::clone(&app.limits));
        // Whatever is logged meanwhile says of which investigation it is.
        let logged = tracing::error_span!("investigation", id = %self.trace.state().await.run.investigation);
        let investigation = Investigation {
            bench: &app.bench,
            redactor: self.redactor,
            model: self.model,
            trace: self.trace,
            scheduler: &scheduler,
            writes: company.writes,
            notes: Notes::default(),
            news: company.news,
            random: Arc::clone(&app.random),
            cancel,
        };
        let ended = match investigation.run().instrument(logged).await {
            Ok(report) => Ended::Reported(Box::new(report)),
            Err(Interrupted) => Ended::Interrupted(match investigation.trace.volatile().await {
                None => Kept::Whole,
                Some(_) => Kept::Lost,
            }),
        };
        drop(self.lock);
        ended
    }
}

/// What the day's budget leaves.
pub(super) struct Today {
    pub(super) model: Arc<dyn Model>,
    budgets: Budgets,
}

/// What the day's budget of tokens leaves for an investigation that begins now. Investigations that run at the same time
/// do not see each other's tokens before they are recorded, so a day may end somewhat above its limit.
pub(super) async fn today(app: &App, store: Option<&Store>) -> Today {
    let (model, mut budgets) = (Arc::clone(&app.model), app.config.budgets.clone());
    let (Some(limit), Some(store)) = (app.config.tokens_per_day, store) else { return Today { model, budgets } };
    match store.tokens_on_day_of(SystemClock.now()).await {
        Ok(used) if used < limit => {
            budgets.tokens = budgets.tokens.min(limit - used);
            Today { model, budgets }
        }
        Ok(used) => {
            tracing::warn!(used, limit, "the tokens of this day are used up; only the built-in model is asked");
            Today { model: app.runbook_model(), budgets }
        }
        Err(error) => {
            tracing::warn!(%error, "the tokens of this day can't be counted; only the built-in model is asked");
            Today { model: app.runbook_model(), budgets }
        }
    }
}

/// The store with the investigation opened in it. Without one the investigation goes on in memory, and says so.
async fn opened(store: Option<Store>, run: &Run, key: &RedactionKey) -> Option<Store> {
    let store = store?;
    match store.open_investigation(run, key.as_bytes()).await {
        Ok(()) => Some(store),
        Err(error) => {
            tracing::warn!("{error}; nothing of this investigation is kept");
            None
        }
    }
}

fn run_of(app: &App, asking: Asking, redactor: &Redactor) -> Result<Run, Fault> {
    let now = SystemClock.now();
    let question = asking.question;
    let trigger = masked(question.trigger, redactor)?;
    let service = match &question.service {
        Some(name) => Some(service(app, name)?),
        None => named_in(app, trigger.text()),
    };
    let since = match &question.since {
        Some(text) => parse_time(text, now).map_err(|error| Fault::Usage(format!("--since: {error}")))?,
        None => now.checked_sub(app.config.window).unwrap_or(Timestamp::MIN),
    };
    if since >= now {
        return Err(Fault::Usage("--since lies in the future; write a time before now".to_owned()));
    }
    Ok(Run {
        investigation: asking.id,
        trigger,
        requester: asking.requester,
        role: app.role(&question.role)?,
        channel: question.channel,
        writes: app.config.writes.or(question.writes),
        service,
        since,
        opened_at: now,
    })
}

/// People paste tokens; a question is masked like any text before it goes anywhere.
fn masked(trigger: Trigger, redactor: &Redactor) -> Result<Trigger, Fault> {
    let mask = |text: &str| -> Result<String, Fault> {
        if text.trim().is_empty() {
            return Err(Fault::Usage("ask something, as in: warrant ask \"why is checkout slow?\"".to_owned()));
        }
        if text.chars().count() > QUESTION_CHARS {
            return Err(Fault::Usage(format!("the question is longer than {QUESTION_CHARS} characters")));
        }
        let masked = redactor.redact_text(text).map_err(|error| Fault::Failed(error.to_string()))?;
        Ok(masked.text.into_owned())
    };
    Ok(match trigger {
        Trigger::Question { text } => Trigger::Question { text: mask(&text)? },
        Trigger::Alert { name, text } => Trigger::Alert { name: mask(&name)?, text: mask(&text)? },
    })
}

fn service(app: &App, name: &str) -> Result<ServiceName, Fault> {
    let known = app.bench.catalog.services();
    let parsed: Option<ServiceName> = name.parse().ok();
    parsed.filter(|service| known.contains_key(service)).ok_or_else(|| {
        let names: Vec<&str> = known.keys().map(ServiceName::as_str).collect();
        Fault::Usage(format!("there is no service `{name}` in the catalog; there are: {}", names.join(", ")))
    })
}

/// The one service that a question names, if it names exactly one.
fn named_in(app: &App, text: &str) -> Option<ServiceName> {
    let words: Vec<&str> =
        text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':'))).collect();
    let is_named = |service: &&ServiceName| {
        words.iter().any(|word| word.trim_end_matches(['.', ':']).eq_ignore_ascii_case(service.as_str()))
    };
    let mut named = app.bench.catalog.services().keys().filter(is_named);
    let first = named.next()?;
    named.next().is_none().then(|| first.clone())
}

/// Holds an investigation against a second process that would resume it. The system lets go of it when this one dies.
pub(super) fn lock(app: &App, id: &InvestigationId) -> Result<Option<Lock>, Fault> {
    let directory = app.config.store.with_extension("locks");
    let path = directory.join(id.as_str());
    let open = || -> std::io::Result<File> {
        std::fs::create_dir_all(&directory)?;
        File::create(&path)
    };
    let file = open().map_err(|error| Fault::Failed(format!("can't lock investigation {id}: {error}")))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock { _file: file, path })),
        Err(_) => Err(Fault::Usage(format!("investigation {id} is being run by another process"))),
    }
}

/// A held investigation.
pub(super) struct Lock {
    _file: File,
    path: PathBuf,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A file that stays is harmless: what counts is the lock on it.
        let _stays = std::fs::remove_file(&self.path);
    }
}
