//! Where the messages of an investigation stand: a channel, and a thread in it.
//!
//! Kept as a note before the investigation is opened, so that what it comes to has somewhere to go after any crash; and a
//! note by the thread, by which replies find the investigation.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::store::StoreError;
use warrant_kernel::store::desk::{Note, NoteWrite};

use super::Slack;
use crate::chat::slack::outbox::{Fate, Thread};

/// Notes of homes, by investigation.
pub(in crate::app::serve) const HOME: &str = "slack-home";

/// Notes of threads, by channel and first message.
pub(in crate::app::serve) const THREAD: &str = "slack-thread";

/// Notes read at once.
const PAGE: u32 = 200;

/// Homes that are remembered; beyond that they are read from their notes.
const MOST: usize = 4_096;

/// Where the messages of an investigation stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::app::serve) struct Home {
    /// The channel.
    pub(super) channel: String,
    /// The thread, or our message that it is under.
    pub(super) thread: Thread,
    /// What was said or pressed that began it; what is handled again finds its investigation by it.
    pub(super) began: String,
    /// Whether its report stands there.
    #[serde(default)]
    pub(in crate::app::serve) reported: bool,
    /// Whether charts of it are to follow.
    #[serde(default)]
    pub(super) charts_owed: bool,
}

impl Home {
    /// A new one.
    pub(super) fn new(channel: String, thread: Thread, began: String) -> Self {
        Self { channel, thread, began, reported: false, charts_owed: false }
    }

    /// What a note says, if it is of a form that we know.
    pub(in crate::app::serve) fn of(note: &Note) -> Option<Self> {
        Self::deserialize(&note.body).ok()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::app::serve) struct Threaded {
    pub(in crate::app::serve) investigation: InvestigationId,
    began: String,
}

impl Threaded {
    /// What a note says, if it is of a form that we know.
    pub(in crate::app::serve) fn of(note: &Note) -> Option<Self> {
        Self::deserialize(&note.body).ok()
    }
}

fn thread_id(channel: &str, ts: &str) -> String {
    format!("{channel}:{ts}")
}

impl Slack {
    /// The home of an investigation, where it has one.
    pub(super) async fn home(&self, id: &InvestigationId) -> Option<Home> {
        if let Some(home) = self.homes().get(id) {
            return Some(home.clone());
        }
        let note = match self.store.note(HOME, id.as_str()).await {
            Ok(note) => note?,
            Err(error) => {
                tracing::warn!(%error, "where an investigation stands in slack can't be read");
                return None;
            }
        };
        let home: Home = serde_json::from_value(note.body).ok()?;
        self.remember(id, &home);
        Some(home)
    }

    /// The channel of an investigation that runs here, from memory.
    pub(super) fn remembered(&self, id: &InvestigationId) -> Option<String> {
        self.homes().get(id).map(|home| home.channel.clone())
    }

    pub(super) fn remember(&self, id: &InvestigationId, home: &Home) {
        let mut homes = self.homes();
        if homes.len() >= MOST {
            homes.pop_first();
        }
        homes.insert(id.clone(), home.clone());
    }

    /// Gives an investigation its home; the one that the same thing began before where it was given one already.
    pub(super) async fn settle_in(&self, id: InvestigationId, home: Home) -> Result<InvestigationId, StoreError> {
        let mut notes = Vec::new();
        if let Thread::Of(ts) = &home.thread {
            let key = thread_id(&home.channel, ts);
            let known = self.store.note(THREAD, &key).await?;
            if let Some(threaded) = known.as_ref().and_then(Threaded::of)
                && threaded.began == home.began
            {
                self.home(&threaded.investigation).await;
                return Ok(threaded.investigation);
            }
            let expect_revision = known.map_or(0, |note| note.revision);
            let body = json!({ "investigation": id, "began": home.began });
            notes.push(NoteWrite { kind: THREAD, id: key, expect_revision, body });
        }
        let body = serde_json::to_value(&home).map_err(StoreError::Json)?;
        let known = self.store.note(HOME, id.as_str()).await?;
        if known.is_none() {
            notes.push(NoteWrite { kind: HOME, id: id.to_string(), expect_revision: 0, body });
        }
        self.store.settle(&[], &notes).await?;
        self.remember(&id, &home);
        Ok(id)
    }

    /// The newest investigation of a thread.
    pub(super) async fn of_thread(&self, channel: &str, ts: &str) -> Result<Option<InvestigationId>, StoreError> {
        let note = self.store.note(THREAD, &thread_id(channel, ts)).await?;
        Ok(note.as_ref().and_then(Threaded::of).map(|threaded| threaded.investigation))
    }

    /// Notes that the report of an investigation stands, and that its charts are to follow.
    pub(super) async fn is_reported(&self, id: &InvestigationId) -> Result<(), StoreError> {
        self.change_home(id, |home| Home { reported: true, charts_owed: true, ..home }).await
    }

    /// Notes that its charts stand, as far as there are any.
    pub(super) async fn are_charted(&self, id: &InvestigationId) -> Result<(), StoreError> {
        self.change_home(id, |home| Home { charts_owed: false, ..home }).await
    }

    async fn change_home(&self, id: &InvestigationId, change: impl FnOnce(Home) -> Home) -> Result<(), StoreError> {
        let Some(note) = self.store.note(HOME, id.as_str()).await? else { return Ok(()) };
        let Ok(home) = serde_json::from_value::<Home>(note.body) else { return Ok(()) };
        let body = serde_json::to_value(change(home)).map_err(StoreError::Json)?;
        let write = NoteWrite { kind: HOME, id: id.to_string(), expect_revision: note.revision, body };
        self.homes().remove(id);
        self.store.settle(&[], &[write]).await
    }

    /// Waits until our message that a home is under stands in Slack, and lets replies to it find the investigation.
    pub(super) fn follow(self: &Arc<Self>, id: InvestigationId, home: &Home, cancel: &CancellationToken) {
        let Thread::Under(message) = home.thread.clone() else { return };
        let (slack, began, cancel) = (Arc::clone(self), home.began.clone(), cancel.clone());
        self.tasks.spawn(async move {
            let mut changes = slack.outbox.changes();
            loop {
                if let Ok(Some(Fate::Stands { channel, ts })) = slack.outbox.fate(&message).await {
                    let key = thread_id(&channel, &ts);
                    let body = json!({ "investigation": id, "began": began });
                    let kept = match slack.store.note(THREAD, &key).await {
                        Ok(known) => {
                            let expect_revision = known.map_or(0, |note| note.revision);
                            let note = NoteWrite { kind: THREAD, id: key, expect_revision, body };
                            slack.store.settle(&[], &[note]).await
                        }
                        Err(error) => Err(error),
                    };
                    match kept {
                        Ok(()) => return,
                        Err(error) => tracing::warn!(%error, "a thread can't be noted; it is tried again"),
                    }
                }
                // Looked at now and then even if nothing changes: the store may have failed.
                let next = tokio::time::timeout(Duration::from_secs(10), changes.changed());
                if cancel.run_until_cancelled(next).await.is_none() {
                    return;
                }
            }
        });
    }

    /// Investigations whose report, or the charts of it, do not stand in Slack yet.
    pub(super) async fn unreported(&self) -> Result<Vec<(InvestigationId, Home)>, StoreError> {
        let (mut found, mut after) = (Vec::new(), String::new());
        loop {
            let page = self.store.notes(HOME, &after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(found) };
            after.clone_from(&last.id);
            found.extend(page.into_iter().filter_map(|note| {
                let home: Home = serde_json::from_value(note.body).ok()?;
                let id = note.id.parse().ok()?;
                (!home.reported || home.charts_owed).then_some((id, home))
            }));
        }
    }
}
