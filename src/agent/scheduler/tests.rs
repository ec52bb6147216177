use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use serde_json::Map;
use tokio::sync::{Barrier, Notify};
use warrant_kernel::call::execute::Work;
use warrant_kernel::call::tool::ReadError;
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::Origin;

use super::*;

const CACHE: Duration = Duration::from_secs(10);

fn source(name: &str) -> SourceName {
    name.parse().unwrap()
}

fn found() -> Done {
    Done::Read(Ok(Output::items(Origin::Warrant, Map::new(), "rows", Vec::new())))
}

fn failed() -> Done {
    Done::Read(Err(ReadError::Backend { reason: "DOWN", message: "down".to_owned(), retryable: true }))
}

async fn fly(scheduler: &Scheduler, key: &str, number: u64, cache: Duration, work: Work<'_>) -> Landed {
    let source = source("logs");
    scheduler.conduct(Flight { key, source: &source, cache, evidence: EvidenceId::nth(number), work }).await
}

/// Work that counts how often it is done.
fn counted<'a>(count: &'a AtomicUsize, done: impl Fn() -> Done + Send + 'a) -> Work<'a> {
    Box::pin(async move {
        count.fetch_add(1, Ordering::SeqCst);
        tokio::task::yield_now().await;
        done()
    })
}

#[tokio::test(start_paused = true)]
async fn identical_reads_fly_once_and_the_others_cite_the_first() {
    let (scheduler, count) = (Scheduler::default(), AtomicUsize::new(0));
    let flights = (1..=5).map(|number| fly(&scheduler, "k", number, CACHE, counted(&count, found)));
    let landed = join_all(flights).await;
    assert_eq!(count.load(Ordering::SeqCst), 1);
    let cached: Vec<_> = landed.iter().map(|it| it.cached).collect();
    let first = Some(EvidenceId::nth(1));
    assert_eq!(cached, [None, first, first, first, first]);
    tokio::time::advance(CACHE).await;
    assert_eq!(fly(&scheduler, "k", 6, CACHE, counted(&count, found)).await.cached, first);
    tokio::time::advance(Duration::from_millis(1)).await;
    assert_eq!(fly(&scheduler, "k", 7, CACHE, counted(&count, found)).await.cached, None, "too old");
    assert_eq!(fly(&scheduler, "other", 8, CACHE, counted(&count, found)).await.cached, None);
    assert_eq!(fly(&scheduler, "k", 9, Duration::ZERO, counted(&count, found)).await.cached, None, "never cached");
    assert_eq!(count.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn a_failure_is_not_kept() {
    let (scheduler, count) = (Scheduler::default(), AtomicUsize::new(0));
    for _ in 0..2 {
        let landed = fly(&scheduler, "k", 1, CACHE, counted(&count, failed)).await;
        assert!(landed.cached.is_none());
        fly(&scheduler, "timed out", 1, CACHE, counted(&count, || Done::TimedOut)).await;
    }
    assert_eq!(count.load(Ordering::SeqCst), 4);
    assert_eq!(fly(&scheduler, "k", 2, CACHE, counted(&count, found)).await.cached, None);
    assert_eq!(fly(&scheduler, "k", 3, CACHE, counted(&count, found)).await.cached, Some(EvidenceId::nth(2)));
}

#[tokio::test]
async fn one_who_waits_flies_when_the_flyer_is_ended() {
    let (scheduler, count) = (Scheduler::default(), AtomicUsize::new(0));
    let mut first = Box::pin(fly(&scheduler, "k", 1, CACHE, Box::pin(std::future::pending())));
    assert!((&mut first).now_or_never().is_none());
    let mut second = Box::pin(fly(&scheduler, "k", 2, CACHE, counted(&count, found)));
    assert!((&mut second).now_or_never().is_none());
    drop(first);
    let landed = second.await;
    assert_eq!((landed.cached, count.load(Ordering::SeqCst)), (None, 1));
    assert_eq!(fly(&scheduler, "k", 3, CACHE, counted(&count, found)).await.cached, Some(EvidenceId::nth(2)));
}

#[tokio::test]
async fn a_source_is_read_by_as_many_at_once_as_its_limit_says_and_no_more() {
    let limits = HashMap::from([(source("slow"), 2)]);
    let scheduler = Scheduler::new(Arc::new(SourceLimits::new(limits)));
    let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    for (name, limit) in [("slow", 2), ("usual", DEFAULT_LIMIT)] {
        // Opens only when as many as may are inside: were the limit smaller, this would hang.
        let barrier = Barrier::new(limit);
        let work = || -> Work<'_> {
            Box::pin(async {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                barrier.wait().await;
                now.fetch_sub(1, Ordering::SeqCst);
                found()
            })
        };
        most.store(0, Ordering::SeqCst);
        let flights = (0..limit * 3).map(|n| {
            let (scheduler, source, work) = (&scheduler, source(name), work());
            async move {
                let (key, evidence) = (n.to_string(), EvidenceId::nth(1));
                scheduler.conduct(Flight { key: &key, source: &source, cache: CACHE, evidence, work }).await
            }
        });
        tokio::time::timeout(Duration::from_secs(20), join_all(flights)).await.unwrap();
        assert_eq!(most.load(Ordering::SeqCst), limit);
        scheduler.flights.lock().unwrap().clear();
    }
}

#[tokio::test]
async fn one_slow_source_does_not_hold_up_another() {
    let scheduler = Scheduler::new(Arc::new(SourceLimits::new(HashMap::from([(source("slow"), 1)]))));
    let enough = Notify::new();
    let slow = source("slow");
    let work: Work<'_> = Box::pin(async {
        enough.notified().await;
        found()
    });
    let stuck = scheduler.conduct(Flight { key: "a", source: &slow, cache: CACHE, evidence: EvidenceId::nth(1), work });
    let other = async {
        fly(&scheduler, "b", 2, CACHE, Box::pin(async { found() })).await;
        enough.notify_one();
    };
    tokio::time::timeout(Duration::from_secs(20), futures_util::future::join(stuck, other)).await.unwrap();
}

#[tokio::test]
async fn the_cache_does_not_grow_for_ever() {
    let scheduler = Scheduler::default();
    for n in 0..MOST_ENTRIES * 3 {
        fly(&scheduler, &n.to_string(), 1, CACHE, Box::pin(async { found() })).await;
        assert!(scheduler.flights.lock().unwrap().len() <= MOST_ENTRIES);
    }
}
