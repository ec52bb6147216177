//! Stage 5: the work itself, within its time and its source's limits. A read runs; a write spends its warrant.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::domain::name::{EvidenceId, SourceName};
use crate::domain::output::Output;

use super::Desk;
use super::gate::deed::Deed;
use super::gate::{Cleared, Pass};
use super::schema::Checked;
use super::tool::{ReadError, Reading};

/// The work of one read, not yet begun.
pub type Work<'a> = Pin<Box<dyn Future<Output = Done> + Send + 'a>>;

/// How the work of a read ended.
#[derive(Debug, Clone)]
pub enum Done {
    /// It ran to its end.
    Read(Result<Output, ReadError>),
    /// It was ended because its time was up.
    TimedOut,
    /// The tool's code panicked; that ends its call and nothing else.
    Panicked,
}

/// A read that is ready to run.
pub struct Flight<'a> {
    /// Equal for identical reads.
    pub key: &'a str,
    /// The source it counts against.
    pub source: &'a SourceName,
    /// For how long its answer may serve identical reads; zero for never.
    pub cache: Duration,
    /// The evidence it will be, unless an earlier read serves.
    pub evidence: EvidenceId,
    /// The work.
    pub work: Work<'a>,
}

/// What came of a flight.
#[derive(Debug, Clone)]
pub struct Landed {
    /// How the work ended; shared with identical reads.
    pub done: Arc<Done>,
    /// The earlier evidence, where an earlier read served.
    pub cached: Option<EvidenceId>,
}

/// Decides when and whether a read runs: limits a source, single flight, a short cache. The scheduler implements it.
#[async_trait]
pub trait Conduct: Send + Sync {
    /// Runs the flight's work, or waits for an identical one.
    async fn conduct(&self, flight: Flight<'_>) -> Landed;
}

/// Runs each read at once; for single calls from the command line.
pub struct AtOnce;

#[async_trait]
impl Conduct for AtOnce {
    async fn conduct(&self, flight: Flight<'_>) -> Landed {
        Landed { done: Arc::new(flight.work.await), cached: None }
    }
}

/// What was found or done, whole and unmasked, on its way to the normaliser.
#[must_use]
pub struct Raw {
    pub(super) came: Came,
    pub(super) source: SourceName,
    pub(super) timeout: Duration,
    pub(super) duration: Duration,
}

/// What came of stage 5.
pub(super) enum Came {
    /// A read ended.
    Read {
        done: Arc<Done>,
        /// The earlier evidence, where an earlier read served.
        cached: Option<EvidenceId>,
    },
    /// A write ended.
    Wrote(Box<Deed>),
}

/// Spends what was cleared: runs the read, or hands the warrant to the tool it is for.
pub(super) async fn run(desk: Desk<'_>, cleared: Cleared<'_>) -> Raw {
    match cleared {
        Cleared(Pass::Read(checked)) => read(desk, *checked).await,
        Cleared(Pass::Write { sequencer, granted, timeout }) => {
            let deed = sequencer.perform(*granted).await;
            desk.recorder.wrote(&deed).await;
            Raw { source: deed.source.clone(), timeout, duration: deed.duration, came: Came::Wrote(Box::new(deed)) }
        }
    }
}

/// Runs the read. The timeout ends the work, not only the waiting: async work is dropped, blocking work sees its token.
async fn read(desk: Desk<'_>, checked: Checked<'_>) -> Raw {
    let definition = checked.tool().about();
    let source = checked.target().source.clone();
    let began = Instant::now();
    let ended = desk.cancel.child_token();
    // Fires on every way out of this function, so that blocking work never outlives its call.
    let _ends_with_the_call = ended.clone().drop_guard();
    let reading = Reading { now: desk.now, run: desk.run, cancel: &ended, evidence: desk.evidence };
    let read = async {
        match checked.tool().read_code() {
            Some(code) => code.read(checked.arguments(), reading).await,
            // The registry joins no such definition and code.
            None => Err(ReadError::Cancelled),
        }
    };
    let flight = Flight {
        key: checked.flight_key(),
        source: &source,
        cache: definition.cache,
        evidence: EvidenceId::nth(checked.call().number),
        work: Box::pin(within(definition.timeout, &ended, read)),
    };
    let landed = tokio::select! {
        biased;
        () = desk.cancel.cancelled() => {
            Landed { done: Arc::new(Done::Read(Err(ReadError::Cancelled))), cached: None }
        }
        landed = desk.conduct.conduct(flight) => landed,
    };
    let came = Came::Read { done: landed.done, cached: landed.cached };
    Raw { came, source, timeout: definition.timeout, duration: began.elapsed() }
}

async fn within(
    limit: Duration,
    ended: &CancellationToken,
    read: impl Future<Output = Result<Output, ReadError>>,
) -> Done {
    match tokio::time::timeout(limit, unbroken(read)).await {
        Ok(Some(read)) => Done::Read(read),
        Ok(None) => Done::Panicked,
        Err(_elapsed) => {
            ended.cancel();
            Done::TimedOut
        }
    }
}

/// What the work came to, or nothing where its code panicked: that ends its call and nothing else. It is never polled
/// again, so what it left half done is seen by nobody.
pub(super) async fn unbroken<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
        Ok(poll) => poll.map(Some),
        Err(_panic) => Poll::Ready(None),
    })
    .await
}
