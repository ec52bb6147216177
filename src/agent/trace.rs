//! Where an investigation's events go: the store, and the state that is folded from them.
//!
//! Writing never fails for the caller. When the store fails, the investigation goes on in memory and is volatile; the
//! report says so.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Mutex;
use warrant_kernel::call::record::Recorder;
use warrant_kernel::call::tool::{Clock, EvidencePage, EvidencePages, ReadError};
use warrant_kernel::domain::decision::Decision;
use warrant_kernel::domain::event::{Answered, Body, Call, Event};
use warrant_kernel::domain::name::EvidenceId;
use warrant_kernel::domain::result::ToolResult;
use warrant_kernel::store::capture::Captured;
use warrant_kernel::store::{Store, numbered};

use super::state::{NotOpened, State};

/// Watches an investigation as it goes; the terminal shows progress with it.
pub trait Watcher: Send + Sync {
    /// An event has been recorded; `state` already holds it.
    fn event(&self, event: &Event, state: &State);

    /// The model wrote a piece of text.
    fn delta(&self, text: &str);
}

/// Watches nothing.
pub struct Unwatched;

impl Watcher for Unwatched {
    fn event(&self, _event: &Event, _state: &State) {}

    fn delta(&self, _text: &str) {}
}

/// Whole outputs that could not be stored; beyond this many bytes the oldest go.
const MEMORY_LIMIT: usize = 32 << 20;

struct Inner {
    state: Arc<State>,
    /// Decisions on calls that have not been answered; written together with the answer.
    undecided: Vec<Decision>,
    /// Whole outputs that are not in the store.
    memory: BTreeMap<EvidenceId, Captured>,
    volatile: Option<String>,
}

/// The trace of one investigation.
pub struct Trace {
    store: Option<Store>,
    clock: Arc<dyn Clock>,
    watcher: Arc<dyn Watcher>,
    inner: Mutex<Inner>,
}

impl Trace {
    /// Begins a trace with its first event; the investigation is already open in the store.
    ///
    /// # Errors
    /// [`NotOpened`] where `opening` is another event.
    pub async fn begin(
        store: Option<Store>,
        clock: Arc<dyn Clock>,
        watcher: Arc<dyn Watcher>,
        opening: Body,
    ) -> Result<Self, NotOpened> {
        let events = numbered(0, clock.now(), vec![opening]);
        let state = State::fold(&events)?;
        let trace = Self::with(store, clock, watcher, state);
        let mut inner = trace.inner.lock().await;
        trace.keep(&mut inner, &events, None).await;
        for event in &events {
            trace.watcher.event(event, &inner.state);
        }
        drop(inner);
        Ok(trace)
    }

    /// Goes on with a trace from the store.
    ///
    /// # Errors
    /// [`NotOpened`] where the log has no beginning.
    pub fn take_up(
        store: Store,
        clock: Arc<dyn Clock>,
        watcher: Arc<dyn Watcher>,
        events: &[Event],
    ) -> Result<Self, NotOpened> {
        Ok(Self::with(Some(store), clock, watcher, State::fold(events)?))
    }

    fn with(store: Option<Store>, clock: Arc<dyn Clock>, watcher: Arc<dyn Watcher>, state: State) -> Self {
        let volatile = store.is_none().then(|| "there is no store".to_owned());
        let inner = Inner { state: Arc::new(state), undecided: Vec::new(), memory: BTreeMap::new(), volatile };
        Self { store, clock, watcher, inner: Mutex::new(inner) }
    }

    /// The state now.
    pub async fn state(&self) -> Arc<State> {
        Arc::clone(&self.inner.lock().await.state)
    }

    /// Why the trace is not being written, if so.
    pub async fn volatile(&self) -> Option<String> {
        self.inner.lock().await.volatile.clone()
    }

    /// Who watches.
    #[must_use]
    pub fn watcher(&self) -> &dyn Watcher {
        self.watcher.as_ref()
    }

    /// Records events, all at the same time.
    pub async fn append(&self, bodies: Vec<Body>) {
        let mut inner = self.inner.lock().await;
        self.write(&mut inner, bodies, None).await;
    }

    /// Records something that was brought, with the whole of it.
    pub async fn bring(&self, body: Body, whole: Option<Captured>) {
        let mut inner = self.inner.lock().await;
        self.write(&mut inner, vec![body], whole).await;
    }

    /// Records the answer to a call, and before it what was decided on it.
    pub async fn answer(&self, call: &Call, answered: Answered, whole: Option<Captured>) {
        let mut inner = self.inner.lock().await;
        let (decided, undecided) =
            std::mem::take(&mut inner.undecided).into_iter().partition(|decision| decision.call_id == call.id);
        inner.undecided = undecided;
        let mut bodies: Vec<Body> = decided.into_iter().map(|decision: Decision| Body::Decided { decision }).collect();
        bodies.push(Body::Answered(answered));
        self.write(&mut inner, bodies, whole).await;
    }

    async fn write(&self, inner: &mut Inner, bodies: Vec<Body>, whole: Option<Captured>) {
        // The clock may step back; events never do.
        let at = self.clock.now().max(inner.state.now);
        let events = numbered(inner.state.last_seq, at, bodies);
        for event in &events {
            Arc::make_mut(&mut inner.state).apply(event);
        }
        self.keep(inner, &events, whole).await;
        for event in &events {
            self.watcher.event(event, &inner.state);
        }
    }

    async fn keep(&self, inner: &mut Inner, events: &[Event], whole: Option<Captured>) {
        let investigation = &inner.state.run.investigation;
        if let (Some(store), None) = (&self.store, &inner.volatile) {
            match store.append(investigation, events, whole.as_ref()).await {
                Ok(()) => return,
                Err(error) => {
                    tracing::warn!(%error, source = ?std::error::Error::source(&error), "the trace can't be written");
                    inner.volatile = Some(error.to_string());
                }
            }
        }
        if let Some(whole) = whole {
            inner.memory.insert(whole.evidence, whole);
            let size = |kept: &Captured| kept.rows.iter().map(|row| row.to_string().len()).sum::<usize>();
            while inner.memory.len() > 1 && inner.memory.values().map(size).sum::<usize>() > MEMORY_LIMIT {
                inner.memory.pop_first();
            }
        }
    }
}

#[async_trait]
impl Recorder for Trace {
    async fn decided(&self, decision: &Decision) {
        self.inner.lock().await.undecided.push(decision.clone());
    }

    async fn answered(&self, call: &Call, result: &ToolResult, whole: Option<Captured>) {
        self.answer(call, Answered::Read { result: Box::new(result.clone()) }, whole).await;
    }
}

#[async_trait]
impl EvidencePages for Trace {
    async fn page(&self, evidence: EvidenceId, from: u64, count: u64) -> Result<Option<EvidencePage>, ReadError> {
        let (investigation, in_memory) = {
            let inner = self.inner.lock().await;
            (inner.state.run.investigation.clone(), inner.memory.get(&evidence).cloned())
        };
        let page = if let Some(whole) = in_memory {
            let total = u64::try_from(whole.rows.len()).unwrap_or(u64::MAX);
            let skip = usize::try_from(from).unwrap_or(usize::MAX);
            let take = usize::try_from(count).unwrap_or(usize::MAX);
            let rows = whole.rows.into_iter().skip(skip).take(take).collect();
            Some((Captured { rows, ..whole }, total))
        } else if let Some(store) = &self.store {
            let found = store.page(&investigation, evidence, from, count).await;
            let found = found.map_err(|error| ReadError::Backend {
                reason: "TRACE_UNREADABLE",
                message: error.to_string(),
                retryable: true,
            })?;
            found.map(|page| (page.part, page.total))
        } else {
            None
        };
        Ok(page.map(|(part, total)| EvidencePage {
            tool: part.tool,
            origin: part.origin,
            summary: part.summary,
            rows: part.rows,
            total,
        }))
    }
}
