//! Work that is seen to its end, whoever waits for it.
//!
//! A commit half waited for leaves open what it did, so it must not end where its caller is dropped. [`Finish`] runs in
//! place, since a task of its own would cost a turn of the scheduler each way; only when it is dropped before its end does
//! the rest become a task.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::runtime::Handle;

/// Whether anybody still waits.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting(Arc<AtomicBool>);

impl Waiting {
    /// Nobody does: the work goes on by itself.
    pub(super) fn is_over(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// A future that goes on after it is dropped.
pub(super) struct Finish<T: Send + 'static> {
    /// None once it has ended.
    work: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
    waiting: Waiting,
}

impl<T: Send + 'static> Finish<T> {
    /// Work that is told whether anybody waits.
    pub(super) fn of<F>(work: impl FnOnce(Waiting) -> F) -> Self
    where
        F: Future<Output = T> + Send + 'static,
    {
        let waiting = Waiting::default();
        Self { work: Some(Box::pin(work(waiting.clone()))), waiting }
    }
}

impl<T: Send + 'static> Future for Finish<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Some(work) = self.work.as_mut() else { return Poll::Pending };
        let ended = work.as_mut().poll(context);
        if ended.is_ready() {
            self.work = None;
        }
        ended
    }
}

impl<T: Send + 'static> Drop for Finish<T> {
    fn drop(&mut self) {
        self.waiting.0.store(true, Ordering::SeqCst);
        // Without a runtime the process is ending, and with it what a task would do.
        if let (Some(work), Ok(runtime)) = (self.work.take(), Handle::try_current()) {
            drop(runtime.spawn(work));
        }
    }
}
