//! A Slack that keeps its messages in memory and is as unwilling as it is told to be, and a store in memory.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::Instant;
use warrant_kernel::call::tool::Clock;
use warrant_kernel::store::desk::{Note, Received};

use crate::chat::slack::client::Api;
use crate::chat::slack::client::error::CallError;
use crate::chat::slack::keep::{Keep, KeepError};

/// What Slack does with one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    Takes,
    /// It says that it is too much, and for how many seconds.
    Limits(u64),
    /// It can't be reached.
    Away,
    /// It does what it is asked, and the answer is lost.
    LosesAnswer,
}

#[derive(Debug, Clone)]
pub struct Posted {
    pub channel: String,
    pub ts: String,
    pub thread: Option<String>,
    pub id: String,
    pub text: String,
    pub edits: u32,
}

#[derive(Default)]
struct Inner {
    moods: VecDeque<Mood>,
    posted: Vec<Posted>,
    calls: Vec<(Instant, String, String)>,
    held: BTreeMap<(String, String), Instant>,
    violations: Vec<String>,
    gone: Vec<String>,
}

/// The Slack.
pub struct Slack(Mutex<Inner>);

impl Slack {
    pub fn new(moods: impl IntoIterator<Item = Mood>) -> Self {
        Self(Mutex::new(Inner { moods: moods.into_iter().collect(), ..Inner::default() }))
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn posted(&self) -> Vec<Posted> {
        self.inner().posted.clone()
    }

    pub fn violations(&self) -> Vec<String> {
        self.inner().violations.clone()
    }

    pub fn calls(&self) -> usize {
        self.inner().calls.len()
    }

    pub fn forget_limits(&self) {
        self.inner().held.clear();
    }

    pub fn archive(&self, channel: &str) {
        self.inner().gone.push(channel.to_owned());
    }

    pub fn unarchive(&self) {
        self.inner().gone.clear();
    }

    pub fn delete(&self, id: &str) {
        self.inner().posted.retain(|posted| posted.id != id);
    }
}

fn word(body: &Value, pointer: &str) -> String {
    body.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

impl Inner {
    fn do_it(&mut self, method: &str, body: &Value) -> Result<Value, CallError> {
        let channel = word(body, "/channel");
        if self.gone.contains(&channel) {
            return Err(CallError::of_code("is_archived"));
        }
        if method == "chat.update" {
            let ts = word(body, "/ts");
            let message = self.posted.iter_mut().find(|posted| posted.ts == ts && posted.channel == channel);
            let message = message.ok_or_else(|| CallError::of_code("message_not_found"))?;
            message.text = word(body, "/text");
            message.edits += 1;
            return Ok(json!({ "ok": true, "ts": ts }));
        }
        let thread = body.get("thread_ts").and_then(Value::as_str).map(str::to_owned);
        let ts = format!("{}.{:06}", 1_000, self.posted.len());
        let id = word(body, "/metadata/event_payload/id");
        self.posted.push(Posted { channel, ts: ts.clone(), thread, id, text: word(body, "/text"), edits: 0 });
        Ok(json!({ "ok": true, "ts": ts }))
    }
}

#[async_trait]
impl Api for Slack {
    async fn post(&self, method: &'static str, body: &Value) -> Result<Value, CallError> {
        // A call takes a while, so that things happen meanwhile.
        tokio::time::sleep(Duration::from_millis(30)).await;
        let mut inner = self.inner();
        let (now, channel) = (Instant::now(), word(body, "/channel"));
        let last = inner.calls.iter().rev().find(|(_, of, _)| *of == channel).map(|(at, ..)| *at);
        if last.is_some_and(|last| now.duration_since(last) < Duration::from_secs(1)) {
            inner.violations.push(format!("{method} to {channel} within a second"));
        }
        if inner.held.get(&(channel.clone(), method.to_owned())).is_some_and(|until| now < *until) {
            inner.violations.push(format!("{method} to {channel} before Retry-After"));
        }
        inner.calls.push((now, channel.clone(), method.to_owned()));
        match inner.moods.pop_front().unwrap_or(Mood::Takes) {
            Mood::Takes => inner.do_it(method, body),
            Mood::Limits(seconds) => {
                let after = Duration::from_secs(seconds);
                inner.held.insert((channel, method.to_owned()), now + after);
                Err(CallError::limited(Some(after)))
            }
            Mood::Away => Err(CallError::Transport("no connection".to_owned())),
            Mood::LosesAnswer => {
                inner.do_it(method, body)?;
                Err(CallError::Transport("it took too long".to_owned()))
            }
        }
    }

    async fn get(&self, method: &'static str, params: &[(&'static str, &str)]) -> Result<Value, CallError> {
        let value = |name: &str| params.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let (channel, thread) = (value("channel"), value("ts"));
        assert_eq!(method == "conversations.replies", thread.is_some());
        let metadata = |id: &str| json!({ "event_type": "warrant_message", "event_payload": { "id": id } });
        let inner = self.inner();
        let found =
            inner.posted.iter().filter(|m| Some(m.channel.as_str()) == channel && m.thread.as_deref() == thread);
        let messages: Vec<Value> = found.map(|m| json!({ "ts": m.ts, "metadata": metadata(&m.id) })).collect();
        Ok(json!({ "ok": true, "messages": messages }))
    }
}

/// A store in memory. It refuses as many writes as it is told to.
#[derive(Default)]
pub struct Memory {
    notes: Mutex<BTreeMap<String, (u64, Value)>>,
    refuses: Mutex<u32>,
}

impl Memory {
    pub fn refuse(&self, writes: u32) {
        *self.refuses.lock().unwrap() = writes;
    }

    fn notes(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, (u64, Value)>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Keep for Memory {
    async fn receive(&self, _key: &str, _at: Timestamp, _body: &Value) -> Result<Received, KeepError> {
        Err(KeepError::Store("this one keeps messages only".to_owned()))
    }

    async fn write(&self, _kind: &'static str, id: &str, revision: u64, body: Value) -> Result<(), KeepError> {
        {
            let mut refuses = self.refuses.lock().unwrap();
            if *refuses > 0 {
                *refuses -= 1;
                return Err(KeepError::Store("the disk is full".to_owned()));
            }
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
        let mut notes = self.notes();
        if notes.get(id).map_or(0, |(revision, _)| *revision) != revision {
            return Err(KeepError::Stale);
        }
        notes.insert(id.to_owned(), (revision + 1, body));
        Ok(())
    }

    async fn note(&self, _kind: &'static str, id: &str) -> Result<Option<Note>, KeepError> {
        let note =
            |(revision, body): &(u64, Value)| Note { id: id.to_owned(), revision: *revision, body: body.clone() };
        Ok(self.notes().get(id).map(note))
    }

    async fn notes(&self, _kind: &'static str, after: &str, most: u32) -> Result<Vec<Note>, KeepError> {
        let notes = self.notes();
        let from = notes.iter().filter(|(id, _)| id.as_str() > after).take(most as usize);
        Ok(from
            .map(|(id, (revision, body))| Note { id: id.clone(), revision: *revision, body: body.clone() })
            .collect())
    }
}

/// A clock that stands still; only lookups read it.
pub struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_000).unwrap()
    }
}
