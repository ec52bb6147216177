//! The investigations of this process: opened once each, as many at a time as there are seats, and taken up again after a
//! break.
//!
//! An id is the investigation: whoever opens it again is told how far it is. Each has its seat before it reads anything and
//! keeps it until it has ended.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use warrant_kernel::call::gate::approver::{Approver, Nobody};
use warrant_kernel::call::gate::sequencer::Sequencer;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::domain::event::{Body, Event};
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::report::Report;
use warrant_kernel::domain::run::Channel;
use warrant_kernel::store::{Store, StoreError};

use super::live::Live;
use crate::agent::news::News;
use crate::agent::trace::Watcher;
use crate::agent::writes::{Lobby, WriteSide};
use crate::app::ask::{Asking, Company, Ended, Ready};
use crate::app::fault::{Fault, told};
use crate::app::investigations::{TakenUp, take_up};
use crate::app::sequencer::hold::Hold;
use crate::app::{App, SystemClock};

/// How long ago an investigation may have been opened that is still taken up after a break.
const STILL_OF_USE: SignedDuration = SignedDuration::from_hours(24);

/// Most investigations that are taken up after a break.
const MOST_TAKEN_UP: u32 = 10_000;

/// How often it is looked whether people have decided.
const LOOK: Duration = Duration::from_secs(2);

/// Watches an investigation that begins, or goes on.
pub type Watch = Box<dyn Fn(&InvestigationId) -> Arc<dyn Watcher> + Send + Sync>;

/// Hears how investigations end.
#[async_trait]
pub trait Ends: Send + Sync {
    /// One has ended with a report.
    async fn reported(&self, id: &InvestigationId, report: &Report);
}

/// Whether an investigation may have the last seats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seat {
    /// It may.
    Any,
    /// A quarter of them stays free for what can't wait.
    Spare,
}

/// How far an investigation is.
#[derive(Debug, Clone, PartialEq)]
pub enum Begun {
    /// It runs.
    Running,
    /// Every seat that it may have is taken.
    NoSeat,
    /// It has ended.
    Reported(Box<Report>),
}

/// What investigations are made of.
pub struct Parts {
    /// What they go by.
    pub live: Arc<Live>,
    /// Where they are kept.
    pub store: Store,
    /// Where their writes go.
    pub hold: Arc<Hold>,
    /// How many may run at a time.
    pub seats: usize,
    /// Who watches each.
    pub watch: Watch,
    /// Who hears how each ends.
    pub ends: Vec<Arc<dyn Ends>>,
}

/// The investigations of this process.
#[derive(Clone)]
pub struct Runs(Arc<Inner>);

struct Inner {
    live: Arc<Live>,
    store: Store,
    hold: Arc<Hold>,
    seats: Arc<Semaphore>,
    spare: usize,
    running: Mutex<BTreeMap<InvestigationId, Arc<News>>>,
    watch: Watch,
    ends: Vec<Arc<dyn Ends>>,
    tasks: TaskTracker,
    cancel: CancellationToken,
}

/// Where the writes of an investigation go. Nobody sits here: what needs a person waits for one, and the report with it, while
/// its seat is others'.
struct Side {
    hold: Arc<Hold>,
    seats: Arc<Semaphore>,
    seat: Mutex<Option<OwnedSemaphorePermit>>,
}

#[async_trait]
impl Lobby for Side {
    fn leave(&self) {
        self.seat.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    async fn moved(&self) {
        // Votes come over several ways, and time ends approvals without any; looking is cheap and misses none.
        tokio::time::sleep(LOOK).await;
    }

    async fn enter(&self) {
        // The seats are never closed.
        let seat = Arc::clone(&self.seats).acquire_owned().await.ok();
        *self.seat.lock().unwrap_or_else(PoisonError::into_inner) = seat;
    }
}

#[async_trait]
impl WriteSide for Side {
    async fn sequencer(&self) -> Result<&Sequencer, String> {
        Ok(self.hold.sequencer())
    }

    fn approver(&self) -> &dyn Approver {
        &Nobody
    }

    async fn checkpoint(&self) -> Option<String> {
        self.hold.checkpoint().await
    }

    fn lobby(&self) -> Option<&dyn Lobby> {
        Some(self)
    }
}

/// A place among those that run, given back however it ends.
struct Place {
    runs: Runs,
    id: InvestigationId,
    news: Arc<News>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.runs.running().remove(&self.id);
    }
}

impl Runs {
    /// None run yet.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let Parts { live, store, hold, seats, watch, ends } = parts;
        Self(Arc::new(Inner {
            live,
            store,
            hold,
            seats: Arc::new(Semaphore::new(seats)),
            spare: seats / 4,
            running: Mutex::default(),
            watch,
            ends,
            tasks: TaskTracker::new(),
            cancel: CancellationToken::new(),
        }))
    }

    fn running(&self) -> std::sync::MutexGuard<'_, BTreeMap<InvestigationId, Arc<News>>> {
        self.0.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tools, policies and runbooks that go for what begins now.
    #[must_use]
    pub fn in_force(&self) -> Arc<App> {
        self.0.live.now()
    }

    /// Whether it is about to end.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.0.cancel.is_cancelled()
    }

    /// How many run.
    #[must_use]
    pub fn count(&self) -> usize {
        self.running().len()
    }

    /// The way to one that runs here.
    #[must_use]
    pub fn news(&self, id: &InvestigationId) -> Option<Arc<News>> {
        self.running().get(id).cloned()
    }

    /// The place of an id; none where it has one already.
    fn place(&self, id: &InvestigationId) -> Option<Place> {
        let mut running = self.running();
        if running.contains_key(id) {
            return None;
        }
        let news = Arc::new(News::default());
        running.insert(id.clone(), Arc::clone(&news));
        Some(Place { runs: self.clone(), id: id.clone(), news })
    }

    fn seat(&self, seat: Seat) -> Option<OwnedSemaphorePermit> {
        let free = self.0.seats.available_permits();
        let may = match seat {
            Seat::Any => free > 0,
            Seat::Spare => free > self.0.spare,
        };
        if may { Arc::clone(&self.0.seats).try_acquire_owned().ok() } else { None }
    }

    /// Opens an investigation, or says how far the one of this id is. It is in the store once this returns.
    ///
    /// # Errors
    /// [`Fault::Usage`] for what can't be asked; [`Fault::Store`] where it can't be kept, and then it does not run.
    pub async fn open(&self, asking: Asking, seat: Seat) -> Result<Begun, Fault> {
        let Some(place) = self.place(&asking.id) else { return Ok(Begun::Running) };
        if self.0.cancel.is_cancelled() {
            return Ok(Begun::NoSeat);
        }
        let is_known = self.is_known(&asking.id).await?;
        let Some(permit) = self.seat(seat) else {
            return Ok(Begun::NoSeat);
        };
        let watcher = (self.0.watch)(&asking.id);
        // Whatever is read again meanwhile, this one keeps what it begins with.
        let app = self.0.live.now();
        let ready = if is_known {
            match take_up(&app, &self.0.store, &asking.id, watcher).await? {
                TakenUp::Reported(report) => return Ok(Begun::Reported(report)),
                TakenUp::Ready(ready) => *ready,
            }
        } else {
            let ready = Ready::open(&app, Some(self.0.store.clone()), asking, watcher).await?;
            if let Some(why) = ready.trace.volatile().await {
                return Err(Fault::Failed(format!("the investigation can't be kept, so it does not begin: {why}")));
            }
            ready
        };
        self.run(app, place, ready, permit);
        Ok(Begun::Running)
    }

    async fn is_known(&self, id: &InvestigationId) -> Result<bool, Fault> {
        match self.0.store.find(id.as_str()).await {
            Ok(found) => Ok(found == *id),
            Err(StoreError::NoInvestigation(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn run(&self, app: Arc<App>, place: Place, ready: Ready, permit: OwnedSemaphorePermit) {
        let inner = Arc::clone(&self.0);
        self.0.tasks.spawn(async move {
            let (hold, seats) = (Arc::clone(&inner.hold), Arc::clone(&inner.seats));
            let side = Side { hold, seats, seat: Mutex::new(Some(permit)) };
            let company = Company { writes: &side, news: Arc::clone(&place.news) };
            let ended = ready.run(&app, company, inner.cancel.child_token()).await;
            drop(side);
            match ended {
                Ended::Reported(report) => {
                    for hears in &inner.ends {
                        hears.reported(&place.id, &report).await;
                    }
                }
                Ended::Interrupted(_) => {
                    tracing::info!(investigation = %place.id, "parked; it goes on at the next start");
                }
            }
            drop(place);
        });
    }

    /// Takes up what an earlier process left, each as soon as there is a seat. How many there are.
    ///
    /// # Errors
    /// [`Fault::Store`].
    pub async fn take_up(&self) -> Result<usize, Fault> {
        let since = SystemClock.now().checked_sub(STILL_OF_USE).unwrap_or(Timestamp::MIN);
        let mut count = 0;
        for id in self.0.store.unfinished(since, MOST_TAKEN_UP).await? {
            if !self.is_ours(&id).await {
                continue;
            }
            let Some(place) = self.place(&id) else { continue };
            count += 1;
            let runs = self.clone();
            self.0.tasks.spawn(async move {
                let seat = Arc::clone(&runs.0.seats).acquire_owned();
                let Some(Ok(permit)) = runs.0.cancel.run_until_cancelled(seat).await else { return };
                let watcher = (runs.0.watch)(&id);
                let app = runs.0.live.now();
                match take_up(&app, &runs.0.store, &id, watcher).await {
                    Ok(TakenUp::Ready(ready)) => runs.run(app, place, *ready, permit),
                    Ok(TakenUp::Reported(_)) => {}
                    Err(fault) => {
                        tracing::warn!(investigation = %id, error = told(&fault), "an investigation can't be taken up");
                    }
                }
            });
        }
        Ok(count)
    }

    /// Whether it was begun by a process like this one: what somebody asked at a terminal is theirs to resume.
    async fn is_ours(&self, id: &InvestigationId) -> bool {
        let opened = match self.0.store.events(id).await {
            Ok(events) => events.into_iter().next(),
            Err(error) => {
                tracing::warn!(investigation = %id, %error, "an investigation can't be taken up");
                None
            }
        };
        let Some(Event { body: Body::Opened { run, .. }, .. }) = opened else { return false };
        match run.channel {
            Channel::Slack | Channel::Alert | Channel::Api => true,
            Channel::Terminal | Channel::Command | Channel::Demo => false,
        }
    }

    /// Parks what runs: each goes on at the next start from where its trace stands. How many there were.
    pub async fn park(&self) -> usize {
        let count = self.count();
        self.0.cancel.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
        count
    }
}
