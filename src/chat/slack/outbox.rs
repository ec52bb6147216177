//! The outbox: what is to stand in Slack is durable before it is sent, and is sent until it stands there.
//!
//! A message has an id of ours. [`Outbox::put`] says what it shall say: the first time it is posted, later it is edited, and
//! of several states that Slack has not seen only the newest is sent. One message a second goes to a channel, cards first.
//! A message that nothing reaches is kept with the reason. Whatever is put has been masked before.

mod lanes;

mod letter;

mod send;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::store::desk::Note;

use super::client::Api;
use super::health::Health;
use super::keep::{Keep, KeepError};

use lanes::{Lanes, Next, Way};
use letter::Letter;
use send::{Came, Sender};

/// The kind of the notes that messages are kept as.
pub const KIND: &str = "slack-out";

/// How many messages are on their way at once, all channels together.
const AT_ONCE: usize = 8;
/// How many notes are read at once.
const PAGE: u32 = 500;
/// How far Slack's clock may be from ours, in seconds.
const SKEW: i64 = 300;
/// How often somebody may write a message while we try to.
const TRIES: u32 = 16;

/// Whether the message that a note keeps is still to be sent. What can't be read may be.
#[must_use]
pub fn waits(note: &Note) -> bool {
    Letter::of(note).is_none_or(|letter| letter.waits())
}

/// What goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Somebody is asked for a decision, or told of one.
    Card,
    /// What was found.
    Report,
    /// How far it is.
    Chatter,
}

/// Where a message stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thread {
    /// In the channel itself.
    None,
    /// Under the message with this `ts`.
    Of(String),
    /// Under a message of ours of the same channel, by its id. It waits until that one stands there.
    Under(String),
}

/// A message as it shall be.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Our id of it: what makes a second one an edit.
    pub id: String,
    /// The channel; of an edit it stays as it was.
    pub channel: String,
    /// Where it stands there; of an edit it stays as it was.
    pub thread: Thread,
    /// What goes first.
    pub class: Class,
    /// What it says: `text`, and `blocks` where it has any. Masked.
    pub content: Value,
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It waits.
    Waiting,
    /// It stands in Slack; the newest state of it too, unless that waits.
    Stands {
        /// Its channel.
        channel: String,
        /// What Slack knows it by.
        ts: String,
    },
    /// Nothing reaches it.
    Undeliverable(String),
}

/// What an outbox is made of.
pub struct Parts {
    /// Where messages are kept.
    pub keep: Arc<dyn Keep>,
    /// Where they go.
    pub api: Arc<dyn Api>,
    /// Where it is said how it stands.
    pub health: Arc<Health>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// The outbox.
pub struct Outbox {
    parts: Parts,
    lanes: Mutex<Lanes>,
    wake: Notify,
    changes: watch::Sender<u64>,
}

impl Outbox {
    /// An outbox. Nothing is sent before [`Outbox::run`].
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let (changes, _) = watch::channel(0);
        Self { parts, lanes: Mutex::default(), wake: Notify::new(), changes }
    }

    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says what a message shall say. It is durable on return.
    ///
    /// # Errors
    /// [`KeepError`]; then nothing was kept.
    pub async fn put(&self, message: Message) -> Result<(), KeepError> {
        let now = self.parts.clock.now();
        for _ in 0..TRIES {
            let (revision, kept) = letter::read(&*self.parts.keep, &message.id).await?;
            let letter = match kept {
                None => Letter::new(&message, now),
                Some(kept) => kept.saying(&message),
            };
            match letter::write(&*self.parts.keep, &message.id, revision, &letter).await {
                Ok(()) => {
                    if letter.waits() {
                        self.lanes().add(&message.id, &letter, Way::of(&letter));
                        self.wake.notify_one();
                    }
                    return Ok(());
                }
                Err(KeepError::Stale) => {}
                Err(error) => return Err(error),
            }
        }
        Err(KeepError::Stale)
    }

    /// What became of a message; none where there is no such message.
    ///
    /// # Errors
    /// [`KeepError`].
    pub async fn fate(&self, id: &str) -> Result<Option<Fate>, KeepError> {
        let (_, letter) = letter::read(&*self.parts.keep, id).await?;
        Ok(letter.map(|letter| match (letter.failed, letter.ts) {
            (Some(why), _) => Fate::Undeliverable(why),
            (None, Some(ts)) => Fate::Stands { channel: letter.channel, ts },
            (None, None) => Fate::Waiting,
        }))
    }

    /// Changes whenever a message came to stand in Slack, or can't.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Tries anew what could not be delivered to a channel, which is there again.
    ///
    /// # Errors
    /// [`KeepError`]; some of it may be tried then.
    pub async fn revive(&self, channel: &str) -> Result<(), KeepError> {
        self.parts.health.channel(channel, None);
        let mut after = String::new();
        loop {
            let page = self.parts.keep.notes(KIND, &after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after.clone_from(&last.id);
            for note in page {
                let Some(mut letter) = Letter::of(&note) else { continue };
                if letter.channel == channel && letter.failed.take().is_some() {
                    match letter::write(&*self.parts.keep, &note.id, note.revision, &letter).await {
                        // Whoever wrote it meanwhile put it in the lane.
                        Ok(()) | Err(KeepError::Stale) => self.lanes().add(&note.id, &letter, Way::of(&letter)),
                        Err(error) => return Err(error),
                    }
                }
            }
            self.wake.notify_one();
        }
    }

    /// Sends until it is cancelled. What waited when the program ended last goes first.
    pub async fn run(self: Arc<Self>, cancel: CancellationToken) {
        if !self.load(&cancel).await {
            return;
        }
        let mut under_way: JoinSet<(String, String, Way, Came)> = JoinSet::new();
        loop {
            let until = loop {
                if under_way.len() >= AT_ONCE {
                    break None;
                }
                let next = self.lanes().next(Instant::now());
                match next {
                    Next::Send { id, channel, way } => {
                        let sender = Sender::new(&self.parts);
                        under_way.spawn(async move {
                            let came = sender.send(&id).await;
                            (id, channel, way, came)
                        });
                    }
                    Next::At(when) => break Some(when),
                    Next::Nothing => break None,
                }
            };
            self.parts.health.waiting(self.lanes().len() + under_way.len());
            tokio::select! {
                () = cancel.cancelled() => break,
                () = self.wake.notified() => {}
                () = at(until) => {}
                Some(done) = under_way.join_next() => {
                    match done {
                        Ok((id, channel, way, came)) => self.came(&id, &channel, way, &came),
                        // The lane stays busy: what panicked once would again.
                        Err(error) => tracing::error!(%error, "sending a message panicked"),
                    }
                }
            }
        }
        // What is on its way may arrive; whether it did is found out at the next start.
        drop(
            tokio::time::timeout(Duration::from_secs(5), async { while under_way.join_next().await.is_some() {} })
                .await,
        );
    }

    fn came(&self, id: &str, channel: &str, way: Way, came: &Came) {
        if matches!(came, Came::Limited { .. }) {
            self.parts.health.limited();
        }
        if matches!(came, Came::Stands { .. } | Came::Undeliverable) {
            self.changes.send_modify(|count| *count = count.wrapping_add(1));
        }
        self.lanes().came(id, channel, way, came, Instant::now());
    }

    /// Puts what waits into its lanes; whether that was done before it was cancelled.
    async fn load(&self, cancel: &CancellationToken) -> bool {
        let mut after = String::new();
        loop {
            let page = match self.parts.keep.notes(KIND, &after, PAGE).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::error!(%error, "the messages that wait can't be read");
                    tokio::select! {
                        () = cancel.cancelled() => return false,
                        () = sleep(Duration::from_secs(1)) => continue,
                    }
                }
            };
            let Some(last) = page.last() else { return true };
            after.clone_from(&last.id);
            let mut lanes = self.lanes();
            for note in &page {
                match Letter::of(note) {
                    Some(letter) if letter.waits() => lanes.add(&note.id, &letter, Way::of(&letter)),
                    Some(_) => {}
                    None => tracing::error!(id = note.id, "a message can't be read; it may be of a newer program"),
                }
            }
        }
    }
}

async fn at(when: Option<Instant>) {
    match when {
        Some(when) => sleep_until(when).await,
        None => std::future::pending().await,
    }
}

/// When a message was first wanted, as Slack counts: seconds and a fraction.
fn stamp(at: Timestamp) -> String {
    format!("{}.000000", at.as_second().saturating_sub(SKEW))
}

#[cfg(test)]
mod tests;
