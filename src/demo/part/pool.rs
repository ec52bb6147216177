//! The pool of connections to the store: at most so many requests at once, the others wait for a while and then give up.
//! Its size follows the configuration while it runs; a cut takes effect as connections come back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A pool.
#[derive(Debug)]
pub struct Pool {
    free: Arc<Semaphore>,
    sizes: Mutex<Sizes>,
    used: AtomicUsize,
    waiting: AtomicUsize,
    timeouts: AtomicU64,
}

#[derive(Debug)]
struct Sizes {
    size: usize,
    /// Connections that are out and will not be put back.
    surplus: usize,
}

/// What the pool looks like at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Census {
    /// How many connections there may be.
    pub size: usize,
    /// How many are out.
    pub used: usize,
    /// How many requests wait.
    pub waiting: usize,
    /// How many gave up so far.
    pub timeouts: u64,
}

/// A request waited too long for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no connection within {} ms", waited.as_millis())]
pub struct NoConnection {
    /// How long it waited.
    pub waited: Duration,
    /// How many connections were out then.
    pub in_use: usize,
    /// How many other requests waited then.
    pub waiting: usize,
}

/// A connection that is out; it comes back when it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Connection {
    pool: Arc<Pool>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Pool {
    /// A pool of `size` connections.
    #[must_use]
    pub fn new(size: usize) -> Arc<Self> {
        Arc::new(Self {
            free: Arc::new(Semaphore::new(size)),
            sizes: Mutex::new(Sizes { size, surplus: 0 }),
            used: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            timeouts: AtomicU64::new(0),
        })
    }

    /// Changes the size.
    pub fn resize(&self, size: usize) {
        let mut sizes = self.sizes();
        if size >= sizes.size {
            let more = size - sizes.size;
            let kept = more.min(sizes.surplus);
            sizes.surplus -= kept;
            self.free.add_permits(more - kept);
        } else {
            let fewer = sizes.size - size;
            sizes.surplus += fewer - self.free.forget_permits(fewer);
        }
        sizes.size = size;
    }

    /// What it looks like now.
    #[must_use]
    pub fn census(&self) -> Census {
        Census {
            size: self.sizes().size,
            used: self.used.load(Ordering::Relaxed),
            waiting: self.waiting.load(Ordering::Relaxed),
            timeouts: self.timeouts.load(Ordering::Relaxed),
        }
    }

    /// Takes a connection, waiting for one at most `patience`.
    ///
    /// # Errors
    /// [`NoConnection`] where none came back in time.
    pub async fn acquire(self: &Arc<Self>, patience: Duration) -> Result<Connection, NoConnection> {
        let begun = Instant::now();
        let guard = Waiting::among(&self.waiting);
        let acquired = tokio::time::timeout(patience, Arc::clone(&self.free).acquire_owned()).await;
        drop(guard);
        if let Ok(Ok(permit)) = acquired {
            self.used.fetch_add(1, Ordering::Relaxed);
            return Ok(Connection { pool: Arc::clone(self), permit: Some(permit) });
        }
        self.timeouts.fetch_add(1, Ordering::Relaxed);
        let Census { used, waiting, .. } = self.census();
        Err(NoConnection { waited: begun.elapsed(), in_use: used, waiting })
    }

    fn sizes(&self) -> MutexGuard<'_, Sizes> {
        self.sizes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.pool.used.fetch_sub(1, Ordering::Relaxed);
        let mut sizes = self.pool.sizes();
        if sizes.surplus > 0
            && let Some(permit) = self.permit.take()
        {
            sizes.surplus -= 1;
            permit.forget();
        }
    }
}

/// Counts a waiting request, also when its client goes away meanwhile.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn among(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Pool;

    const SHORT: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn who_waits_too_long_is_told_what_the_pool_looked_like() {
        let pool = Pool::new(1);
        let held = pool.acquire(SHORT).await.unwrap();
        let refused = pool.acquire(SHORT).await.unwrap_err();
        assert_eq!((refused.in_use, refused.waiting), (1, 0));
        assert_eq!((pool.census().timeouts, pool.census().used), (1, 1));
        drop(held);
        assert!(pool.acquire(SHORT).await.is_ok());
        assert_eq!(pool.census().used, 0);
    }

    #[tokio::test]
    async fn a_cut_takes_effect_as_connections_come_back_and_can_be_undone() {
        let pool = Pool::new(3);
        let mut held = vec![pool.acquire(SHORT).await.unwrap(), pool.acquire(SHORT).await.unwrap()];
        pool.resize(1);
        held.pop();
        assert!(pool.acquire(SHORT).await.is_err(), "one is out and there may be one");
        held.pop();
        let only = pool.acquire(SHORT).await.unwrap();
        assert!(pool.acquire(SHORT).await.is_err());
        pool.resize(2);
        let second = pool.acquire(SHORT).await.unwrap();
        assert!(pool.acquire(SHORT).await.is_err());
        drop((only, second));
        assert_eq!((pool.census().size, pool.census().used, pool.free.available_permits()), (2, 0, 2));
    }
}
