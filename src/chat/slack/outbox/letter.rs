//! A message as it is kept: what it shall say, and how much of that Slack has.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use warrant_kernel::store::desk::Note;

use crate::chat::slack::keep::{Keep, KeepError};

use super::{Class, KIND, Message, Thread};

/// Whether a message may stand in Slack without our knowing its `ts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Post {
    /// It was never posted.
    Never,
    /// It was, or is being, and nobody has heard what came of it.
    Perhaps,
}

/// A message as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Letter {
    pub(super) channel: String,
    pub(super) thread: Thread,
    pub(super) class: Class,
    pub(super) content: Value,
    /// Raised with every state that is wanted.
    pub(super) wanted: u64,
    /// The state that Slack has; 0 where it has none.
    pub(super) sent: u64,
    pub(super) ts: Option<String>,
    pub(super) post: Post,
    pub(super) failed: Option<String>,
    pub(super) since: Timestamp,
}

impl Letter {
    pub(super) fn new(message: &Message, since: Timestamp) -> Self {
        let Message { id: _, channel, thread, class, content } = message.clone();
        Self { channel, thread, class, content, wanted: 1, sent: 0, ts: None, post: Post::Never, failed: None, since }
    }

    /// What a note says, if it is of a form that we know.
    pub(super) fn of(note: &Note) -> Option<Self> {
        Self::deserialize(&note.body).ok()
    }

    /// The same message with another content. One that says it already is as it was.
    pub(super) fn saying(mut self, message: &Message) -> Self {
        if self.content != message.content {
            self.content = message.content.clone();
            self.class = message.class;
            self.wanted += 1;
            // What was refused was the old content, or a channel that may be there again.
            self.failed = None;
        }
        self
    }

    /// Whether something is still to be sent.
    pub(super) fn waits(&self) -> bool {
        self.failed.is_none() && self.sent < self.wanted
    }
}

/// A message and the revision of its note.
pub(super) async fn read(keep: &dyn Keep, id: &str) -> Result<(u64, Option<Letter>), KeepError> {
    let Some(note) = keep.note(KIND, id).await? else { return Ok((0, None)) };
    let letter = Letter::of(&note);
    let letter = letter.ok_or_else(|| KeepError::Store(format!("the message `{id}` can't be read")))?;
    Ok((note.revision, Some(letter)))
}

pub(super) async fn write(keep: &dyn Keep, id: &str, revision: u64, letter: &Letter) -> Result<(), KeepError> {
    let body = serde_json::to_value(letter).map_err(|error| KeepError::Store(error.to_string()))?;
    keep.write(KIND, id, revision, body).await
}
