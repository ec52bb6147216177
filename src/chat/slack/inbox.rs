//! The inbox: whatever arrives is masked and durable before Slack hears that it was received, and only once.
//!
//! [`Inbox::take`] does no more than that, whichever way it came; who handles arrivals waits on [`Inbox::arrivals`] and reads
//! the store. A modal must be open within three seconds of its click, so it is opened from memory while the click is being
//! written; what is decided in it counts from the store only.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};
use warrant_kernel::call::tool::Clock;
use warrant_kernel::redact::Redactor;
use warrant_kernel::store::desk::Received;

use super::client::Client;
use super::client::error::CallError;
use super::config::Ours;
use super::health::Health;
use super::incoming::Incoming;
use super::incoming::read::{Kind, Reading, read};
use super::keep::Keep;

/// The longest that writing may take: Slack waits three seconds.
const LONGEST_WRITE: Duration = Duration::from_millis(2_400);
/// The longest that a modal may take from its click.
const LONGEST_MODAL: Duration = Duration::from_millis(2_500);
/// How many modals may be on their way at once.
const AT_ONCE: usize = 64;
/// How many arrivals are remembered as seen, so that a replay opens no modal.
const REMEMBERED: usize = 4_096;

/// A modal, and how it comes up.
#[derive(Debug, Clone, PartialEq)]
pub enum Modal {
    /// On its own.
    Open(Value),
    /// On top of the one that was clicked in.
    Push(Value),
    /// In place of the one that was clicked in.
    Update(Value),
}

/// What a modal says when it was sent off.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It closes, with all below it.
    Close,
    /// It shows another content.
    Show(Value),
    /// It stays, with what is wrong beside its blocks, by their ids. Nothing was kept then.
    Wrong(Vec<(String, String)>),
}

/// What has to be known at once, from memory: the inbox waits for nothing else.
#[async_trait]
pub trait Desk: Send + Sync {
    /// The modal that a click, a command or a shortcut brings up; none where it brings none.
    async fn modal(&self, incoming: &Incoming) -> Option<Modal>;

    /// What a modal shows when it was sent off and is kept.
    fn answer(&self, submission: &Incoming) -> Answer;

    /// Whether a thread is one of ours. What nobody knows is.
    async fn follows(&self, channel: &str, thread: &str) -> bool;
}

/// What Slack is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Acknowledgement {
    /// That it was received, with this where something is said.
    Received(Option<Value>),
    /// Nothing, so that it comes again: it could not be kept.
    NotKept,
}

/// The inbox.
pub struct Inbox {
    keep: Arc<dyn Keep>,
    desk: Arc<dyn Desk>,
    client: Arc<Client>,
    redactor: Redactor,
    ours: Ours,
    bot: String,
    clock: Arc<dyn Clock>,
    health: Arc<Health>,
    arrivals: watch::Sender<u64>,
    seen: Mutex<Seen>,
    opening: Arc<Semaphore>,
}

/// What an inbox is made of.
pub struct Parts {
    /// Where arrivals are kept.
    pub keep: Arc<dyn Keep>,
    /// What has to be known at once.
    pub desk: Arc<dyn Desk>,
    /// Opens modals.
    pub client: Arc<Client>,
    /// Masks what people wrote.
    pub redactor: Redactor,
    /// What is ours.
    pub ours: Ours,
    /// Our own user id.
    pub bot: String,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where it is said how it stands.
    pub health: Arc<Health>,
}

/// Keys that were seen, the oldest first.
#[derive(Default)]
struct Seen {
    keys: HashSet<String>,
    order: VecDeque<String>,
}

impl Seen {
    /// Whether the key is here for the first time as far as anybody remembers.
    fn first(&mut self, key: &str) -> bool {
        if !self.keys.insert(key.to_owned()) {
            return false;
        }
        self.order.push_back(key.to_owned());
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.keys.remove(&oldest);
        }
        true
    }
}

impl Inbox {
    /// An inbox.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let Parts { keep, desk, client, redactor, ours, bot, clock, health } = parts;
        let (arrivals, _) = watch::channel(0);
        Self {
            keep,
            desk,
            client,
            redactor,
            ours,
            bot,
            clock,
            health,
            arrivals,
            seen: Mutex::default(),
            opening: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// Changes whenever something new was kept.
    #[must_use]
    pub fn arrivals(&self) -> watch::Receiver<u64> {
        self.arrivals.subscribe()
    }

    /// Takes a payload in.
    pub async fn take(self: &Arc<Self>, kind: Kind, payload: &Value) -> Acknowledgement {
        let (key, incoming) = match read(kind, payload, &self.ours, &self.bot) {
            Reading::Take { key, incoming } => (key, *incoming),
            Reading::Ignore => return Acknowledgement::Received(None),
            // It is acknowledged, for it would only come again.
            Reading::NotOurs(what) | Reading::Nonsense(what) => {
                self.health.refused();
                tracing::warn!(what, "something from slack was refused");
                return Acknowledgement::Received(None);
            }
        };
        if let Incoming::ThreadReply(said) = &incoming
            && let Some(thread) = &said.thread
            && !self.desk.follows(&said.channel, thread).await
        {
            return Acknowledgement::Received(None);
        }
        let incoming = match incoming.masked(&self.redactor) {
            Ok(incoming) => incoming,
            Err(error) => return self.not_kept(&error.to_string()),
        };
        let answer = match &incoming {
            Incoming::Submission { .. } => Some(self.desk.answer(&incoming)),
            _ => None,
        };
        if let Some(Answer::Wrong(wrong)) = answer {
            return Acknowledgement::Received(Some(told_wrong(&wrong)));
        }
        let first = self.seen.lock().unwrap_or_else(PoisonError::into_inner).first(&key);
        if first && let Ok(permit) = Arc::clone(&self.opening).try_acquire_owned() {
            let (inbox, incoming) = (Arc::clone(self), incoming.clone());
            // Slack hears that it was received whether or not the modal is open by then.
            tokio::spawn(async move {
                inbox.open(&incoming).await;
                drop(permit);
            });
        }
        match self.keep(&key, &incoming).await {
            Ok(()) => Acknowledgement::Received(answer.map(told)),
            Err(why) => self.not_kept(&why),
        }
    }

    async fn keep(&self, key: &str, incoming: &Incoming) -> Result<(), String> {
        let body = serde_json::to_value(incoming).map_err(|error| error.to_string())?;
        let kept = tokio::time::timeout(LONGEST_WRITE, self.keep.receive(key, self.clock.now(), &body)).await;
        match kept {
            // What is known may have been written when nobody waited for it any more.
            Ok(Ok(Received::New(_) | Received::Known)) => {
                self.health.inbox(None);
                self.arrivals.send_modify(|count| *count = count.wrapping_add(1));
                Ok(())
            }
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the store took too long".to_owned()),
        }
    }

    fn not_kept(&self, why: &str) -> Acknowledgement {
        tracing::error!(why, "what came from slack could not be kept");
        self.health.inbox(Some(why.to_owned()));
        Acknowledgement::NotKept
    }

    async fn open(&self, incoming: &Incoming) {
        let Some(trigger) = incoming.trigger() else { return };
        let view = match incoming {
            Incoming::Click { view, .. } => view.as_ref(),
            Incoming::Command { .. } | Incoming::Shortcut { .. } => None,
            _ => return,
        };
        let opening = async {
            let opened = match (self.desk.modal(incoming).await, view) {
                (None, _) => return,
                (Some(Modal::Open(content)), _) | (Some(Modal::Update(content)), None) => {
                    self.client.open_view(trigger, &content).await
                }
                (Some(Modal::Push(content)), _) => self.client.push_view(trigger, &content).await,
                (Some(Modal::Update(content)), Some(view)) => {
                    self.client.update_view(&view.id, view.hash.as_deref(), &content).await
                }
            };
            if let Err(error) = opened {
                tracing::warn!(%error, "a modal did not open");
                if let CallError::NotAuthed(why) = error {
                    self.health.token(Some(why));
                }
            }
        };
        if tokio::time::timeout(LONGEST_MODAL, opening).await.is_err() {
            tracing::warn!("a modal did not open in time");
        }
    }
}

fn told(answer: Answer) -> Value {
    match answer {
        Answer::Close => json!({ "response_action": "clear" }),
        Answer::Show(view) => json!({ "response_action": "update", "view": view }),
        Answer::Wrong(wrong) => told_wrong(&wrong),
    }
}

fn told_wrong(wrong: &[(String, String)]) -> Value {
    let wrong: serde_json::Map<String, Value> = wrong.iter().map(|(block, why)| (block.clone(), json!(why))).collect();
    json!({ "response_action": "errors", "errors": wrong })
}
