//! What came from Slack, as far as it matters here: the form in which it is kept, bounded and without Slack's own secrets.
//!
//! [`read::read`] makes it from a payload; [`Incoming::stored`] reads what was kept. Whoever did it is only said here, never
//! believed: [`super::who`] finds out.

pub mod read;

mod message;

mod interaction;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use warrant_kernel::redact::{RedactError, Redactor};

/// The most characters of a text of somebody's.
pub const MOST_TEXT: usize = 16_000;
/// The most files of one message that are read.
pub const MOST_FILES: usize = 10;
/// The most fields of a modal.
const MOST_VALUES: usize = 30;

/// Who did it, as the payload says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct By {
    /// Their user id.
    pub user: String,
    /// The workspace that the user is of, where it is said. Somebody of a shared channel is of another one.
    pub user_team: Option<String>,
    /// The workspace it happened in.
    pub team: String,
    /// The organisation, where there is one.
    pub enterprise: Option<String>,
    /// The app it was sent to.
    pub app: String,
}

/// A text of somebody's, masked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// The text; with Slack's own escapes and marks.
    pub text: String,
    /// How many characters were left out at its end.
    pub left_out: usize,
}

/// A file that was posted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRef {
    /// Its id; what [`super::client::Client::download`] takes.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: String,
    /// How many bytes it has.
    pub size: u64,
}

/// Somebody wrote something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said {
    /// Who.
    pub by: By,
    /// Where.
    pub channel: String,
    /// The message.
    pub ts: String,
    /// The thread it is in, if it is in one.
    pub thread: Option<String>,
    /// What.
    pub words: Words,
    /// What came with it.
    pub files: Vec<FileRef>,
}

/// A message that somebody pointed at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// Where.
    pub channel: String,
    /// The message.
    pub ts: String,
    /// The thread it is in, if it is in one.
    pub thread: Option<String>,
    /// The user or the bot that wrote it.
    pub author: Option<String>,
    /// All that can be read of it, attachments and blocks too.
    pub words: Words,
}

/// The message in which something was clicked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spot {
    /// Its channel.
    pub channel: String,
    /// It.
    pub ts: String,
    /// The thread it is in, if it is in one.
    pub thread: Option<String>,
}

/// A modal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// Its id.
    pub id: String,
    /// The state it was in; an update of another state is refused by Slack.
    pub hash: Option<String>,
    /// What we named it.
    pub callback_id: String,
    /// What we put into it.
    pub private_metadata: String,
}

/// Why a channel is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// We were taken out of it.
    Removed,
    /// It was archived.
    Archived,
    /// It was deleted.
    Deleted,
    /// It is there again, or we are in it again.
    Regained,
}

/// What came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Incoming {
    /// We were named in a channel.
    Mention(Said),
    /// Somebody wrote to us alone.
    Direct(Said),
    /// Somebody wrote in a thread.
    ThreadReply(Said),
    /// A command with a slash.
    Command {
        /// Who.
        by: By,
        /// The command, with its slash.
        command: String,
        /// What stands behind it.
        words: Words,
        /// Where.
        channel: String,
        /// What a modal is opened by.
        trigger: String,
    },
    /// A shortcut, of a message or of none.
    Shortcut {
        /// Who.
        by: By,
        /// What we named it.
        callback_id: String,
        /// The message it is about.
        about: Option<About>,
        /// What a modal is opened by.
        trigger: String,
    },
    /// A button or another element.
    Click {
        /// Who.
        by: By,
        /// What we named it.
        action: String,
        /// The block it is in.
        block: String,
        /// What we put into it, or what was chosen.
        value: String,
        /// What a modal is opened by.
        trigger: String,
        /// The message it is in, where it is in one.
        spot: Option<Spot>,
        /// The modal it is in, where it is in one.
        view: Option<View>,
    },
    /// A modal was sent off.
    Submission {
        /// Who.
        by: By,
        /// The modal.
        view: View,
        /// What was filled in, by `block.action`.
        values: BTreeMap<String, Words>,
        /// What another modal is opened by.
        trigger: String,
    },
    /// A channel is lost, or there again.
    Channel {
        /// Which.
        channel: String,
        /// What happened to it.
        loss: Loss,
    },
    /// The app was taken away, or its tokens.
    Revoked {
        /// In Slack's word.
        why: String,
    },
}

/// What was kept is not of a form that this program knows.
#[derive(Debug, thiserror::Error)]
#[error("an arrival from Slack can't be read; it may be of a newer program")]
pub struct UnknownForm(#[source] serde_json::Error);

impl Incoming {
    /// What was kept.
    ///
    /// # Errors
    /// [`UnknownForm`].
    pub fn stored(body: &Value) -> Result<Self, UnknownForm> {
        Self::deserialize(body).map_err(UnknownForm)
    }

    /// Who did it; none of what nobody did.
    #[must_use]
    pub fn by(&self) -> Option<&By> {
        match self {
            Self::Mention(said) | Self::Direct(said) | Self::ThreadReply(said) => Some(&said.by),
            Self::Command { by, .. }
            | Self::Shortcut { by, .. }
            | Self::Click { by, .. }
            | Self::Submission { by, .. } => Some(by),
            Self::Channel { .. } | Self::Revoked { .. } => None,
        }
    }

    /// What a modal may be opened by within three seconds.
    #[must_use]
    pub fn trigger(&self) -> Option<&str> {
        match self {
            Self::Command { trigger, .. }
            | Self::Shortcut { trigger, .. }
            | Self::Click { trigger, .. }
            | Self::Submission { trigger, .. } => Some(trigger),
            Self::Mention(_) | Self::Direct(_) | Self::ThreadReply(_) | Self::Channel { .. } | Self::Revoked { .. } => {
                None
            }
        }
    }

    /// Without any secret in what people wrote, each text cut to what is kept of it after it was masked.
    ///
    /// # Errors
    /// [`RedactError`]; then none of it may be kept.
    pub fn masked(mut self, redactor: &Redactor) -> Result<Self, RedactError> {
        let text = |text: &mut String| -> Result<(), RedactError> {
            *text = redactor.redact_text(text)?.text.into_owned();
            Ok(())
        };
        let words = |words: &mut Words| -> Result<(), RedactError> {
            text(&mut words.text)?;
            if let Some((at, _)) = words.text.char_indices().nth(MOST_TEXT) {
                words.left_out += words.text.get(at..).map_or(0, |rest| rest.chars().count());
                words.text.truncate(at);
            }
            Ok(())
        };
        match &mut self {
            Self::Mention(said) | Self::Direct(said) | Self::ThreadReply(said) => {
                words(&mut said.words)?;
                for file in &mut said.files {
                    text(&mut file.name)?;
                }
            }
            Self::Command { words: said, .. } => words(said)?,
            Self::Shortcut { about, .. } => {
                if let Some(about) = about {
                    words(&mut about.words)?;
                }
            }
            Self::Click { value, view, .. } => {
                text(value)?;
                if let Some(view) = view {
                    text(&mut view.private_metadata)?;
                }
            }
            Self::Submission { view, values, .. } => {
                text(&mut view.private_metadata)?;
                for value in values.values_mut() {
                    words(value)?;
                }
            }
            Self::Channel { .. } | Self::Revoked { .. } => {}
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests;
