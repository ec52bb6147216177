//! One message on its way: posted or edited, and what came of it written down.
//!
//! That a message is about to be posted is durable before it is, so that after a crash it is looked for before it is posted
//! again.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::chat::slack::client::Api;
use crate::chat::slack::client::error::CallError;
use crate::chat::slack::health::Health;
use crate::chat::slack::id::is_ts;
use crate::chat::slack::keep::{Keep, KeepError};

use super::letter::{self, Letter, Post};
use super::{Class, Parts, Thread, stamp};

/// What our messages say of themselves to Slack's programs, and by which they are found again.
const METADATA: &str = "warrant_message";
/// How long a refused token is left alone.
const TOKEN: Duration = Duration::from_secs(30);

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Came {
    /// It stands there; again, where something newer is wanted by now.
    Stands { again: Option<Class> },
    /// There was nothing to send.
    Nothing,
    /// Nothing reaches it.
    Undeliverable,
    /// It stood there and somebody took it away; it is posted anew.
    Lost(Class),
    /// Slack takes no more for a while.
    Limited { class: Class, after: Duration },
    /// It is tried again.
    Failed(Class),
    /// The message under which it stands is not there yet.
    Waits { class: Class, parent: String },
}

/// Sends one message.
pub(super) struct Sender {
    keep: Arc<dyn Keep>,
    api: Arc<dyn Api>,
    health: Arc<Health>,
}

enum Place {
    Is(Option<String>),
    Waits(String),
    Gone,
}

impl Sender {
    pub(super) fn new(parts: &Parts) -> Self {
        let Parts { keep, api, health, clock: _ } = parts;
        Self { keep: Arc::clone(keep), api: Arc::clone(api), health: Arc::clone(health) }
    }

    pub(super) async fn send(&self, id: &str) -> Came {
        match self.try_to(id).await {
            Ok(came) => came,
            Err((class, error)) => {
                tracing::error!(%error, id, "a message to slack is not sent");
                Came::Failed(class)
            }
        }
    }

    async fn try_to(&self, id: &str) -> Result<Came, (Class, KeepError)> {
        let read = letter::read(&*self.keep, id).await.map_err(|error| (Class::Chatter, error))?;
        let (revision, Some(mut letter)) = read else { return Ok(Came::Nothing) };
        if !letter.waits() {
            return Ok(Came::Nothing);
        }
        let class = letter.class;
        let failed = |error| (class, error);
        let sent = if let Some(ts) = letter.ts.clone() {
            self.edit(&letter, &ts).await.map(|()| ts)
        } else {
            let thread = match self.thread(&letter).await.map_err(failed)? {
                Place::Is(thread) => thread,
                Place::Waits(parent) => return Ok(Came::Waits { class, parent }),
                Place::Gone => return self.undeliverable(id, class, "the message above it can't be delivered").await,
            };
            let found = match letter.post {
                Post::Never => Ok(None),
                Post::Perhaps => self.find(id, &letter, thread.as_deref()).await,
            };
            match found {
                // What was posted last time may be of an older state, so it is edited next.
                Ok(Some(ts)) => return self.stands(id, class, &ts, 0).await,
                Ok(None) => {
                    letter.post = Post::Perhaps;
                    match letter::write(&*self.keep, id, revision, &letter).await {
                        Ok(()) => self.post(id, &letter, thread.as_deref()).await,
                        // Somebody has put something newer; that is what goes.
                        Err(KeepError::Stale) => return Ok(Came::Failed(class)),
                        Err(error) => return Err(failed(error)),
                    }
                }
                Err(error) => Err(error),
            }
        };
        match sent {
            Ok(ts) => {
                self.health.token(None);
                self.health.channel(&letter.channel, None);
                self.stands(id, class, &ts, letter.wanted).await
            }
            Err(error) => self.refused(id, &letter, error).await,
        }
    }

    async fn refused(&self, id: &str, letter: &Letter, error: CallError) -> Result<Came, (Class, KeepError)> {
        let class = letter.class;
        tracing::warn!(%error, id, channel = letter.channel, "slack did not take a message");
        match error {
            CallError::Transport(_) => Ok(Came::Failed(class)),
            CallError::RateLimited { after } => {
                self.not_posted(id, class).await;
                Ok(Came::Limited { class, after })
            }
            CallError::NotAuthed(why) => {
                self.health.token(Some(why));
                self.not_posted(id, class).await;
                Ok(Came::Limited { class, after: TOKEN })
            }
            CallError::ChannelGone(_) => {
                self.health.channel(&letter.channel, Some(error.to_string()));
                self.undeliverable(id, class, &error.to_string()).await
            }
            // Somebody deleted it. What asks for a decision must be seen; the rest they may do without.
            CallError::Refused(code) if code == "message_not_found" && letter.ts.is_some() && class == Class::Card => {
                let change = |letter: &mut Letter| {
                    letter.ts = None;
                    letter.post = Post::Never;
                    letter.sent = 0;
                };
                self.change(id, class, change).await?;
                Ok(Came::Lost(class))
            }
            CallError::Refused(code) => self.undeliverable(id, class, &format!("Slack refused it: `{code}`")).await,
            CallError::TriggerExpired => self.undeliverable(id, class, "Slack refused it").await,
        }
    }

    /// Changes what is kept of a message, whoever else writes it meanwhile. The state after it.
    async fn change(
        &self,
        id: &str,
        class: Class,
        change: impl Fn(&mut Letter) + Send + Sync,
    ) -> Result<Option<Letter>, (Class, KeepError)> {
        // What Slack said must not be forgotten because the store is slow for a moment.
        let mut wait = Duration::from_millis(50);
        let mut failures = 0;
        loop {
            let tried = async {
                let (revision, Some(mut letter)) = letter::read(&*self.keep, id).await? else { return Ok(None) };
                change(&mut letter);
                letter::write(&*self.keep, id, revision, &letter).await.map(|()| Some(letter))
            };
            match tried.await {
                Ok(letter) => return Ok(letter),
                Err(KeepError::Stale) => {}
                Err(error @ KeepError::Store(_)) => {
                    failures += 1;
                    if failures == 6 {
                        return Err((class, error));
                    }
                    sleep(wait).await;
                    wait *= 2;
                }
            }
        }
    }

    /// Without this it would be looked for in vain, and no worse.
    async fn not_posted(&self, id: &str, class: Class) {
        if let Err((_, error)) = self.change(id, class, |letter| letter.post = Post::Never).await {
            tracing::warn!(%error, id, "it could not be noted that a message was not posted");
        }
    }

    async fn undeliverable(&self, id: &str, class: Class, why: &str) -> Result<Came, (Class, KeepError)> {
        let change = |letter: &mut Letter| {
            letter.failed = Some(why.to_owned());
            letter.post = Post::Never;
        };
        self.change(id, class, change).await?;
        Ok(Came::Undeliverable)
    }

    async fn stands(&self, id: &str, class: Class, ts: &str, sent: u64) -> Result<Came, (Class, KeepError)> {
        let change = |letter: &mut Letter| {
            letter.ts = Some(ts.to_owned());
            letter.sent = letter.sent.max(sent);
        };
        let letter = self.change(id, class, change).await?;
        Ok(Came::Stands { again: letter.filter(Letter::waits).map(|letter| letter.class) })
    }

    async fn thread(&self, letter: &Letter) -> Result<Place, KeepError> {
        let parent = match &letter.thread {
            Thread::None => return Ok(Place::Is(None)),
            Thread::Of(ts) => return Ok(Place::Is(Some(ts.clone()))),
            Thread::Under(parent) => parent,
        };
        let (_, above) = letter::read(&*self.keep, parent).await?;
        Ok(match above {
            Some(above) if above.ts.is_some() => Place::Is(above.ts),
            Some(above) if above.failed.is_some() => Place::Gone,
            Some(_) | None => Place::Waits(parent.clone()),
        })
    }

    async fn post(&self, id: &str, letter: &Letter, thread: Option<&str>) -> Result<String, CallError> {
        let mut body = json!({
            "channel": letter.channel,
            // What others wrote brings up nothing of its own.
            "unfurl_links": false, "unfurl_media": false, "parse": "none", "link_names": false,
            "metadata": { "event_type": METADATA, "event_payload": { "id": id } },
        });
        put(&mut body, &letter.content);
        if let (Some(thread), Some(body)) = (thread, body.as_object_mut()) {
            body.insert("thread_ts".to_owned(), json!(thread));
        }
        let answer = self.api.post("chat.postMessage", &body).await?;
        let ts = answer.get("ts").and_then(Value::as_str).filter(|ts| is_ts(ts));
        ts.map(str::to_owned).ok_or_else(|| CallError::Transport("its answer has no `ts`".to_owned()))
    }

    async fn edit(&self, letter: &Letter, ts: &str) -> Result<(), CallError> {
        let mut body = json!({ "channel": letter.channel, "ts": ts, "parse": "none", "link_names": false });
        put(&mut body, &letter.content);
        // Without it Slack leaves the blocks that were there.
        if let Some(body) = body.as_object_mut() {
            body.entry("blocks").or_insert_with(|| json!([]));
        }
        self.api.post("chat.update", &body).await.map(drop)
    }

    /// Our message, if it was posted before anybody could write down that it was.
    async fn find(&self, id: &str, letter: &Letter, thread: Option<&str>) -> Result<Option<String>, CallError> {
        let oldest = stamp(letter.since.max(Timestamp::UNIX_EPOCH));
        let mut asked = vec![
            ("channel", letter.channel.as_str()),
            ("oldest", oldest.as_str()),
            ("limit", "200"),
            ("include_all_metadata", "true"),
        ];
        let method = match thread {
            Some(ts) => {
                asked.push(("ts", ts));
                "conversations.replies"
            }
            None => "conversations.history",
        };
        let answer = match self.api.get(method, &asked).await {
            Ok(answer) => answer,
            // Who may not look posts again: twice is better than not at all.
            Err(CallError::Refused(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let messages = answer.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let ours = |message: &&Value| {
            message.pointer("/metadata/event_type").and_then(Value::as_str) == Some(METADATA)
                && message.pointer("/metadata/event_payload/id").and_then(Value::as_str) == Some(id)
        };
        let ts = messages.iter().find(ours).and_then(|message| message.get("ts")).and_then(Value::as_str);
        Ok(ts.filter(|ts| is_ts(ts)).map(str::to_owned))
    }
}

/// Puts what a message says into a call; where and how it stands is not the content's to say.
fn put(body: &mut Value, content: &Value) {
    if let (Some(body), Some(content)) = (body.as_object_mut(), content.as_object()) {
        for key in ["text", "blocks", "attachments"] {
            if let Some(value) = content.get(key) {
                body.insert(key.to_owned(), value.clone());
            }
        }
    }
}
