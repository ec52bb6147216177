//! What people say: a question becomes an investigation, a reply steers it, and a word ends it.
//!
//! Whoever is nobody is told so, to themselves alone. An investigation runs on behalf of whoever asked, with their rights,
//! never with the bot's.

mod words;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::run::{Channel, Requester, Trigger, Writes};
use warrant_kernel::people::directory::Freshness;
use warrant_kernel::store::StoreError;
use warrant_kernel::store::desk::Arrived;

use super::Slack;
use super::home::Home;
use crate::agent::news::Unheard;
use crate::app::ask::{Asking, Question, fresh_id};
use crate::app::fault::{Fault, told};
use crate::app::serve::runs::{Begun, Seat};
use crate::chat::slack::blocks::{Message as Blocks, Text};
use crate::chat::slack::escape::Shown;
use crate::chat::slack::incoming::{About, By, Incoming, Loss, Said};
use crate::chat::slack::keep::{CHANNEL, KeepError};
use crate::chat::slack::outbox::{Class, Message, Thread};
use crate::chat::slack::who::Known;
use words::{is_stop, shortened, without_names};

pub(super) use words::key_of;

/// Arrivals that are handled at once.
const AT_ONCE: usize = 64;

/// Arrivals read at once.
const BATCH: u32 = 256;

/// How long what could not be done waits to be tried again.
const AGAIN: Duration = Duration::from_secs(3);

/// What an investigation may see.
const ROLE: &str = "general-purpose";

/// The shortcut of a message.
pub(super) const INVESTIGATE: &str = "investigate";

/// Why something was not done; it is tried again.
#[derive(Debug, thiserror::Error)]
pub(in crate::app::serve) enum Later {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A message can't be kept.
    #[error(transparent)]
    Keep(#[from] KeepError),
    /// All seats are taken, or it is about to end.
    #[error("there is no room for one more investigation")]
    NoSeat,
    /// Something broke.
    #[error("{0}")]
    Broken(String),
}

impl Slack {
    /// Handles what arrives until it is cancelled.
    pub(super) async fn listen(self: Arc<Self>, cancel: CancellationToken) {
        let Some(inbox) = self.inbox() else { return };
        let mut arrivals = inbox.arrivals();
        let under_way: Arc<Mutex<BTreeSet<u64>>> = Arc::default();
        let places = Arc::new(Semaphore::new(AT_ONCE));
        loop {
            match self.store.arrived(CHANNEL, BATCH).await {
                Ok(waiting) => {
                    for arrived in waiting {
                        let number = arrived.number;
                        if !under_way.lock().unwrap_or_else(PoisonError::into_inner).insert(number) {
                            continue;
                        }
                        // Nobody closes the semaphore.
                        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
                        let (slack, under_way, cancel) = (Arc::clone(&self), Arc::clone(&under_way), cancel.clone());
                        self.tasks.spawn(async move {
                            slack.see_through(arrived, &cancel).await;
                            under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
                            drop(place);
                        });
                    }
                }
                Err(error) => tracing::error!(%error, "what came from slack can't be read; it is tried again"),
            }
            // What could not be handled is tried again even where nothing new comes.
            let next = tokio::time::timeout(AGAIN, arrivals.changed());
            if cancel.run_until_cancelled(next).await.is_none() {
                return;
            }
        }
    }

    /// Handles one arrival, and says in the store that it is done with.
    async fn see_through(self: &Arc<Self>, arrived: Arrived, cancel: &CancellationToken) {
        let handled = match Incoming::stored(&arrived.body) {
            Ok(incoming) => {
                let handling = Box::pin(self.handle(&arrived.key, incoming, cancel));
                let Some(handled) = cancel.run_until_cancelled(handling).await else { return };
                handled
            }
            Err(error) => {
                tracing::error!(%error, key = arrived.key, "it is left unhandled");
                Ok(())
            }
        };
        match handled {
            Ok(()) => {
                if let Err(error) = self.store.settle(&[arrived.number], &[]).await {
                    tracing::warn!(%error, "what was handled can't be noted as that; it is handled again");
                }
            }
            Err(later) => tracing::warn!(%later, key = arrived.key, "what came from slack waits"),
        }
    }

    async fn handle(self: &Arc<Self>, key: &str, incoming: Incoming, cancel: &CancellationToken) -> Result<(), Later> {
        match incoming {
            Incoming::Mention(said) | Incoming::Direct(said) => self.spoken_to(key, said, cancel).await,
            Incoming::ThreadReply(said) => self.replied(said).await,
            Incoming::Command { by, words, channel, .. } => {
                self.commanded(key, &by, &words.text, &channel, cancel).await
            }
            Incoming::Shortcut { by, callback_id, about: Some(about), .. } if callback_id == INVESTIGATE => {
                self.pointed_at(key, &by, about, cancel).await
            }
            Incoming::Shortcut { .. } => Ok(()),
            Incoming::Click { by, action, value, spot, .. } => self.clicked(&by, &action, &value, spot.as_ref()).await,
            Incoming::Submission { by, view, values, .. } => self.submitted(&by, &view, &values).await,
            Incoming::Channel { channel, loss } => {
                match loss {
                    Loss::Regained => self.outbox.revive(&channel).await?,
                    Loss::Removed | Loss::Archived | Loss::Deleted => {
                        self.health
                            .channel(&channel, Some(format!("we are not in it any more ({loss:?})").to_lowercase()));
                    }
                }
                Ok(())
            }
            Incoming::Revoked { why } => {
                self.health.token(Some(why));
                Ok(())
            }
        }
    }

    /// The person behind a payload; whoever is nobody is told so.
    pub(super) async fn person(&self, by: &By, channel: Option<&str>, thread: Option<&str>) -> Option<Known> {
        match self.who.person(by, Freshness::Cached).await {
            Ok(known) => Some(known),
            Err(stranger) => {
                tracing::warn!(user = by.user, why = %stranger, "somebody unknown was refused in slack");
                self.whisper(&by.user, channel, thread, &stranger.to_string()).await;
                None
            }
        }
    }

    /// Tells one person something; what they do not hear is no loss, since nothing depends on it.
    pub(super) async fn whisper(&self, user: &str, channel: Option<&str>, thread: Option<&str>, text: &str) {
        let Some(channel) = channel else { return };
        if let Err(error) = self.client.whisper(channel, user, thread, text).await {
            tracing::info!(%error, "somebody could not be told something");
        }
    }

    /// Somebody spoke to us: in a thread of an investigation that runs it steers, else it asks.
    async fn spoken_to(self: &Arc<Self>, key: &str, said: Said, cancel: &CancellationToken) -> Result<(), Later> {
        if let Some(thread) = &said.thread
            && let Some(id) = self.of_thread(&said.channel, thread).await?
            && self.runs().is_some_and(|runs| runs.news(&id).is_some())
        {
            return self.replied(said).await;
        }
        let thread = said.thread.clone().unwrap_or_else(|| said.ts.clone());
        let Some(known) = self.person(&said.by, Some(&said.channel), said.thread.as_deref()).await else {
            return Ok(());
        };
        let text = without_names(&said.words.text);
        if text.is_empty() {
            let hint = "Ask something, as in: @Warrant why is checkout slow?";
            self.whisper(&said.by.user, Some(&said.channel), said.thread.as_deref(), hint).await;
            return Ok(());
        }
        let home = Home::new(said.channel.clone(), Thread::Of(thread.clone()), key.to_owned());
        let person = known.person.clone();
        if let Some(id) = self.ask(&said.by, known, Trigger::Question { text }, home, cancel).await?
            && let Err(why) = self.bring_files(&said, &person, &id, Some(&thread)).await
        {
            self.unheard(&said, &thread, why).await;
        }
        Ok(())
    }

    /// Somebody pointed at a message: another's words, an alert perhaps.
    async fn pointed_at(
        self: &Arc<Self>,
        key: &str,
        by: &By,
        about: About,
        cancel: &CancellationToken,
    ) -> Result<(), Later> {
        let Some(known) = self.person(by, Some(&about.channel), about.thread.as_deref()).await else { return Ok(()) };
        let thread = about.thread.unwrap_or(about.ts);
        let text = shortened(about.words.text.trim().to_owned());
        if text.is_empty() {
            self.whisper(&by.user, Some(&about.channel), Some(&thread), "There is nothing to read in that message.")
                .await;
            return Ok(());
        }
        let trigger = Trigger::Alert { name: "A message in Slack".to_owned(), text };
        let home = Home::new(about.channel, Thread::Of(thread), key.to_owned());
        self.ask(by, known, trigger, home, cancel).await.map(drop)
    }

    async fn commanded(
        self: &Arc<Self>,
        key: &str,
        by: &By,
        text: &str,
        channel: &str,
        cancel: &CancellationToken,
    ) -> Result<(), Later> {
        let Some(known) = self.person(by, Some(channel), None).await else { return Ok(()) };
        let text = text.trim();
        let mut words = text.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (None | Some("help"), None, None) => {
                let help = "/warrant QUESTION investigates it here; /warrant handover 8h tells what happened. In the \
                            thread of an investigation, what you write steers it, and `stop` ends it.";
                self.whisper(&by.user, Some(channel), None, help).await;
                Ok(())
            }
            (Some("handover"), span, None) => self.hand_over(key, by, channel, span).await,
            _ => {
                let text = without_names(text);
                let asked = Shown::line(known.person.as_str()).then(" asks: ").then_line(&text);
                let message = format!("ask-{}", key_of(key));
                self.put(message.clone(), channel, Thread::None, Class::Report, &Blocks::words(Text::fit(asked)))
                    .await?;
                let home = Home::new(channel.to_owned(), Thread::Under(message), key.to_owned());
                self.ask(by, known, Trigger::Question { text }, home, cancel).await.map(drop)
            }
        }
    }

    /// Opens an investigation with a home in Slack; none where it can't be asked, which was told.
    async fn ask(
        self: &Arc<Self>,
        by: &By,
        known: Known,
        trigger: Trigger,
        home: Home,
        cancel: &CancellationToken,
    ) -> Result<Option<InvestigationId>, Later> {
        let runs = self.runs().ok_or(Later::NoSeat)?;
        let drawn = match &home.thread {
            Thread::Of(_) => fresh_id(),
            // What has no thread yet is found again by what began it.
            Thread::None | Thread::Under(_) => {
                format!("slack-{}", key_of(&home.began)).parse().map_err(|error| Fault::Failed(format!("{error}")))
            }
        };
        let drawn = drawn.map_err(|fault| Later::Broken(told(&fault)))?;
        let id = self.settle_in(drawn, home.clone()).await?;
        let asking = Asking {
            id: id.clone(),
            question: Question {
                trigger,
                service: None,
                since: None,
                role: ROLE.to_owned(),
                channel: Channel::Slack,
                writes: Writes::Off,
            },
            requester: Requester { person: known.person, groups: known.groups },
        };
        let thread = match &home.thread {
            Thread::Of(ts) => Some(ts.as_str()),
            Thread::None | Thread::Under(_) => None,
        };
        match runs.open(asking, Seat::Any).await {
            Ok(Begun::Running | Begun::Reported(_)) => {
                self.follow(id.clone(), &home, cancel);
                Ok(Some(id))
            }
            Ok(Begun::NoSeat) => Err(Later::NoSeat),
            Err(Fault::Usage(why)) => {
                self.whisper(&by.user, Some(&home.channel), thread, &why).await;
                Ok(None)
            }
            Err(fault) => Err(Later::Broken(told(&fault))),
        }
    }

    /// Somebody wrote in a thread of ours.
    async fn replied(self: &Arc<Self>, said: Said) -> Result<(), Later> {
        let Some(thread) = said.thread.as_deref() else { return Ok(()) };
        let Some(id) = self.of_thread(&said.channel, thread).await? else { return Ok(()) };
        let text = without_names(&said.words.text);
        if text.is_empty() && said.files.is_empty() {
            return Ok(());
        }
        let Some(known) = self.person(&said.by, Some(&said.channel), Some(thread)).await else { return Ok(()) };
        let heard = async {
            let news = self.runs().and_then(|runs| runs.news(&id)).ok_or(Unheard::Ended)?;
            if is_stop(&text) {
                return news.stop(known.person.as_str()).await;
            }
            self.bring_files(&said, &known.person, &id, Some(thread)).await?;
            if text.is_empty() { Ok(()) } else { news.steer(text, Some(known.person)).await }
        };
        if let Err(why) = heard.await {
            self.unheard(&said, thread, why).await;
        }
        Ok(())
    }

    /// Tells somebody that what they said reached nothing.
    async fn unheard(&self, said: &Said, thread: &str, why: Unheard) {
        let text = match why {
            Unheard::Ended => "This investigation has ended; mention me here to begin another one.".to_owned(),
            Unheard::Full => why.to_string(),
        };
        self.whisper(&said.by.user, Some(&said.channel), Some(thread), &text).await;
    }

    /// Puts a message.
    pub(super) async fn put(
        &self,
        id: String,
        channel: &str,
        thread: Thread,
        class: Class,
        blocks: &Blocks,
    ) -> Result<(), Later> {
        let message = Message { id, channel: channel.to_owned(), thread, class, content: blocks.value() };
        Ok(self.outbox.put(message).await?)
    }
}
