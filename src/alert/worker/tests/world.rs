//! A store in a directory of its own, and doubles of the clock and of those above that live on when a worker dies.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

use async_trait::async_trait;
use tempfile::TempDir;
use tokio::sync::Notify;
use warrant_kernel::db::Database;
use warrant_kernel::domain::name::ServiceName;
use warrant_kernel::domain::time::rfc3339;

use crate::alert::config::Urgency;
use crate::alert::content::{Alert, State, Words};
use crate::alert::incident::Incident;
use crate::alert::incident::storm::Storm;
use crate::alert::seam::{News, Opened, Opening, Unavailable};
use crate::alert::worker::*;

/// Minutes after eight.
pub(super) fn at(minutes: i64) -> Timestamp {
    let eight: Timestamp = "2026-11-30T08:00:00Z".parse().unwrap();
    eight + SignedDuration::from_mins(minutes)
}

pub(super) fn alert(fingerprint: &str, service: &str, urgency: Urgency, began: i64, state: State) -> Delivery {
    let words = Words { name: format!("Alert{fingerprint}"), summary: "it is slow".to_owned(), ..Words::default() };
    Delivery {
        route: "alertmanager".to_owned(),
        urgency,
        role: None,
        service: service.parse().ok(),
        alert: Alert { fingerprint: fingerprint.to_owned(), starts_at: at(began), state, words, left_out: Vec::new() },
    }
}

pub(super) struct Hand(AtomicI64);

impl Hand {
    pub(super) fn set(&self, to: Timestamp) {
        self.0.store(to.as_second(), Ordering::SeqCst);
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::SeqCst)).unwrap()
    }
}

struct Alone;

impl Neighbourhood for Alone {
    fn knows(&self, _service: &ServiceName) -> bool {
        true
    }

    fn beside(&self, _service: &ServiceName) -> Vec<ServiceName> {
        Vec::new()
    }
}

/// When the world ends: before or after what was asked for was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    Before,
    After,
}

#[derive(Default)]
struct Seen {
    openings: Vec<Opening>,
    ended: BTreeMap<InvestigationId, String>,
    news: BTreeMap<(InvestigationId, u64), String>,
    shown: BTreeMap<String, u64>,
    storms: BTreeMap<String, Storm>,
    stop: Option<(usize, Moment)>,
}

/// Those above: they remember, and do nothing twice.
pub(super) struct Above {
    seen: Mutex<Seen>,
    slots: AtomicUsize,
    fails: AtomicBool,
    calls: AtomicUsize,
    pub(super) stopped: Notify,
    opened: Notify,
}

impl Above {
    pub(super) fn slots(&self, count: usize) {
        self.slots.store(count, Ordering::SeqCst);
    }

    pub(super) fn fail(&self, fails: bool) {
        self.fails.store(fails, Ordering::SeqCst);
    }

    /// The `n`th call from now on never returns.
    pub(super) fn stop_at(&self, n: usize, moment: Moment) {
        self.calls.store(0, Ordering::SeqCst);
        self.seen.lock().unwrap().stop = Some((n, moment));
    }

    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    pub(super) fn opened(&self) -> Vec<Opening> {
        self.seen.lock().unwrap().openings.clone()
    }

    pub(super) fn end(&self, id: &InvestigationId, outcome: &str) {
        self.seen.lock().unwrap().ended.insert(id.clone(), outcome.to_owned());
    }

    pub(super) fn told(&self, id: &InvestigationId) -> String {
        let seen = self.seen.lock().unwrap();
        let its = seen.news.iter().filter(|((of, _), _)| of == id);
        its.map(|((_, number), text)| format!("{number}: {text}")).collect::<Vec<_>>().join("\n")
    }

    pub(super) fn shown(&self) -> BTreeMap<String, u64> {
        self.seen.lock().unwrap().shown.clone()
    }

    pub(super) fn shown_last(&self, incident: &str) -> u64 {
        self.shown().get(incident).copied().unwrap_or(0)
    }

    pub(super) fn storms(&self) -> Vec<Storm> {
        self.seen.lock().unwrap().storms.values().cloned().collect()
    }

    pub(super) async fn first_opening(&self) {
        self.opened.notified().await;
    }

    async fn step<T>(&self, act: impl FnOnce(&mut Seen) -> T) -> Result<T, Unavailable> {
        if self.fails.load(Ordering::SeqCst) {
            return Err(Unavailable("out of order".to_owned()));
        }
        let nth = self.calls.fetch_add(1, Ordering::SeqCst);
        let stop = self.seen.lock().unwrap().stop.filter(|(n, _)| *n == nth).map(|(_, moment)| moment);
        if stop == Some(Moment::Before) {
            self.stopped.notify_one();
            return std::future::pending().await;
        }
        let done = act(&mut self.seen.lock().unwrap());
        if stop == Some(Moment::After) {
            self.stopped.notify_one();
            return std::future::pending().await;
        }
        Ok(done)
    }
}

#[async_trait]
impl Investigations for Above {
    async fn open(&self, opening: Opening) -> Result<Opened, Unavailable> {
        let slots = self.slots.load(Ordering::SeqCst);
        let opened = self.step(|seen| {
            let id = opening.investigation.clone();
            if let Some(outcome) = seen.ended.get(&id) {
                return Opened::Ended(Ending { outcome: outcome.clone(), cause: Some("the pool was full".to_owned()) });
            }
            if seen.openings.iter().any(|known| known.investigation == id) {
                return Opened::Running;
            }
            if seen.openings.len() - seen.ended.len() >= slots {
                return Opened::NoSlot;
            }
            seen.openings.push(opening);
            Opened::Running
        });
        let opened = opened.await?;
        self.opened.notify_one();
        Ok(opened)
    }

    async fn news(&self, investigation: &InvestigationId, news: News) -> Result<(), Unavailable> {
        let key = (investigation.clone(), news.number);
        self.step(|seen| {
            seen.news.entry(key).or_insert(news.text);
        })
        .await
    }

    async fn show(&self, incident: &Incident) -> Result<(), Unavailable> {
        let (id, changes) = (incident.id.clone(), incident.changes);
        self.step(|seen| {
            let shown = seen.shown.entry(id).or_default();
            *shown = changes.max(*shown);
        })
        .await
    }

    async fn show_storm(&self, storm: &Storm) -> Result<(), Unavailable> {
        let storm = storm.clone();
        self.step(|seen| seen.storms.insert(storm.id.clone(), storm)).await.map(drop)
    }
}

pub(super) struct World {
    _directory: TempDir,
    pub(super) store: Store,
    pub(super) clock: Arc<Hand>,
    pub(super) seam: Arc<Above>,
    pub(super) counts: Arc<Counts>,
    pub(super) limits: Limits,
}

impl World {
    pub(super) async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(Database::open(&directory.path().join("w.db")).await.unwrap());
        let seam = Above {
            seen: Mutex::default(),
            slots: AtomicUsize::new(100),
            fails: AtomicBool::new(false),
            calls: AtomicUsize::new(0),
            stopped: Notify::new(),
            opened: Notify::new(),
        };
        Self {
            _directory: directory,
            store,
            clock: Arc::new(Hand(AtomicI64::new(at(0).as_second()))),
            seam: Arc::new(seam),
            counts: Arc::default(),
            limits: Limits { window: SignedDuration::from_mins(10), open_incidents: 1_000, storm: 10, queue: 20_000 },
        }
    }

    pub(super) async fn worker(&self) -> (Worker, Handle) {
        let parts = Parts {
            store: self.store.clone(),
            limits: self.limits,
            around: Arc::new(Alone),
            seam: Arc::<Above>::clone(&self.seam),
            clock: Arc::<Hand>::clone(&self.clock),
            counts: Arc::clone(&self.counts),
        };
        Worker::start(parts).await.unwrap()
    }

    /// Delivers; says how many were new.
    pub(super) async fn arrive(&self, minutes: i64, deliveries: &[Delivery]) -> usize {
        let bodies: Vec<(String, Value)> = deliveries
            .iter()
            .map(|it| {
                let key = format!("{} {} {:?}", it.alert.fingerprint, rfc3339(it.alert.starts_at), it.alert.state);
                (key, serde_json::to_value(it).unwrap())
            })
            .collect();
        let arrivals: Vec<_> = bodies
            .iter()
            .map(|(key, body)| warrant_kernel::store::desk::Arrival { channel: CHANNEL, key, at: at(minutes), body })
            .collect();
        let received = self.store.receive(&arrivals).await.unwrap();
        received.iter().filter(|it| matches!(it, warrant_kernel::store::desk::Received::New(_))).count()
    }

    /// All incidents there ever were.
    pub(super) async fn incidents(&self) -> Vec<Incident> {
        let (mut all, mut after) = (Vec::new(), String::new());
        loop {
            let page = self.store.notes("incident", &after, 100).await.unwrap();
            let Some(last) = page.last() else { return all };
            after.clone_from(&last.id);
            all.extend(page.into_iter().map(|note| serde_json::from_value::<Incident>(note.body).unwrap()));
        }
    }
}
