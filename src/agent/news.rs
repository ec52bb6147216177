//! What reaches an investigation while it runs: words of people, changes of its alerts, and the wish that it ends.
//!
//! It is kept in the trace before the model's next turn, and whoever brought it is told so: what was not kept by then was
//! not heard, and may be brought again.

use std::sync::{Mutex, PoisonError};

use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;
use warrant_kernel::domain::event::Body;
use warrant_kernel::domain::name::PersonId;

use super::brought::File;

/// Most pieces of news that wait for the model's turn.
const MOST: usize = 64;

/// The investigation took in nothing more: it ended, or too much waits already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unheard {
    /// It has ended.
    #[error("the investigation has ended")]
    Ended,
    /// It has not taken in what came before.
    #[error("the investigation has not taken in what was said before; wait for its next turn")]
    Full,
}

/// One piece of news.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Heard {
    /// It is kept as it is.
    Event(Body),
    /// It becomes evidence.
    File(File),
}

struct Piece {
    heard: Heard,
    kept: oneshot::Sender<()>,
}

#[derive(Default)]
struct Waiting {
    pieces: Vec<Piece>,
    closed: bool,
}

/// The way to a running investigation.
#[derive(Default)]
pub struct News {
    waiting: Mutex<Waiting>,
    arrived: Notify,
    stop: CancellationToken,
}

impl News {
    /// A person adds something; back when it is kept.
    ///
    /// # Errors
    /// [`Unheard`].
    pub async fn steer(&self, text: String, by: Option<PersonId>) -> Result<(), Unheard> {
        self.bring(Body::Steered { text, by }).await
    }

    /// A person adds a text file; back when it is kept.
    ///
    /// # Errors
    /// [`Unheard`].
    pub async fn file(&self, file: File) -> Result<(), Unheard> {
        self.push(Heard::File(file), MOST)?.await.map_err(|_| Unheard::Ended)
    }

    /// Its alerts changed; back when it is kept.
    ///
    /// # Errors
    /// [`Unheard`].
    pub async fn alerts(&self, text: String) -> Result<(), Unheard> {
        self.bring(Body::News { text }).await
    }

    /// Ends it: what runs is broken off, and the report says what is known by now; back when it is kept.
    ///
    /// # Errors
    /// [`Unheard::Ended`].
    pub async fn stop(&self, by: &str) -> Result<(), Unheard> {
        let body = Body::Budget { text: format!("stopped by {by}"), spent: true };
        let kept = self.push(Heard::Event(body), usize::MAX)?;
        self.stop.cancel();
        kept.await.map_err(|_| Unheard::Ended)
    }

    async fn bring(&self, body: Body) -> Result<(), Unheard> {
        self.push(Heard::Event(body), MOST)?.await.map_err(|_| Unheard::Ended)
    }

    fn push(&self, heard: Heard, most: usize) -> Result<oneshot::Receiver<()>, Unheard> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.closed {
            return Err(Unheard::Ended);
        }
        if waiting.pieces.len() >= most {
            return Err(Unheard::Full);
        }
        let (kept, told) = oneshot::channel();
        waiting.pieces.push(Piece { heard, kept });
        self.arrived.notify_one();
        Ok(told)
    }

    /// Fires when it shall end.
    pub(super) fn stopping(&self) -> &CancellationToken {
        &self.stop
    }

    /// Back as soon as something waits.
    pub(super) async fn came(&self) {
        while self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pieces.is_empty() {
            self.arrived.notified().await;
        }
    }

    /// What waits; whoever takes it keeps it and then says so.
    pub(super) fn take(&self) -> (Vec<Heard>, Kept) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let (heard, kept) =
            std::mem::take(&mut waiting.pieces).into_iter().map(|piece| (piece.heard, piece.kept)).unzip();
        (heard, Kept(kept))
    }

    /// Takes in no more; whoever waits is told so.
    pub(super) fn close(&self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.closed = true;
        waiting.pieces.clear();
    }
}

/// Those who wait to hear that what they brought is kept. Dropped, they hear that it is not.
pub(super) struct Kept(Vec<oneshot::Sender<()>>);

impl Kept {
    /// Tells them.
    pub(super) fn tell(self) {
        for waiting in self.0 {
            // Whoever does not wait any more need not hear it.
            let _gone = waiting.send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_not_kept_was_not_heard() {
        let news = News::default();
        let (said, ()) = tokio::join!(news.steer("look at the pool".to_owned(), None), async {
            let (bodies, kept) = news.take();
            assert_eq!(bodies, [Heard::Event(Body::Steered { text: "look at the pool".to_owned(), by: None })]);
            kept.tell();
        });
        assert_eq!(said, Ok(()));

        let (lost, ()) = tokio::join!(news.alerts("resolved".to_owned()), async { drop(news.take()) });
        assert_eq!(lost, Err(Unheard::Ended), "taken, and never kept");

        let (late, ()) = tokio::join!(news.alerts("resolved".to_owned()), async { news.close() });
        assert_eq!(late, Err(Unheard::Ended));
        assert_eq!(news.stop("ann").await, Err(Unheard::Ended));
    }

    #[tokio::test]
    async fn news_that_nobody_takes_in_do_not_grow_and_a_stop_goes_through() {
        let news = News::default();
        let again = || Heard::Event(Body::News { text: "again".to_owned() });
        let waiting: Vec<_> = (0..MOST).map(|_| news.push(again(), MOST)).collect();
        assert!(waiting.iter().all(Result::is_ok));
        assert_eq!(news.alerts("one more".to_owned()).await, Err(Unheard::Full));
        let (stopped, ()) = tokio::join!(news.stop("ann"), async {
            news.stopping().cancelled().await;
            let (bodies, kept) = news.take();
            let stopped = Body::Budget { text: "stopped by ann".to_owned(), spent: true };
            assert_eq!(bodies.last(), Some(&Heard::Event(stopped)));
            kept.tell();
        });
        assert_eq!(stopped, Ok(()));
    }
}
