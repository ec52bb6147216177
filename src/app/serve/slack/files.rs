//! Text files that people post in the thread of an investigation: fetched, and brought to it as evidence.
//!
//! Whoever is nobody was told so before anything is fetched. What can't be read is told to whoever posted it.

use std::time::Duration;

use warrant_kernel::domain::name::{InvestigationId, PersonId};

use super::Slack;
use crate::agent::brought::File;
use crate::agent::news::Unheard;
use crate::chat::slack::client::error::CallError;
use crate::chat::slack::incoming::{FileRef, MOST_FILES, Said};

/// The largest file that is read, in bytes.
const MOST: usize = 1 << 20;

/// How often a file is asked for.
const TRIES: u32 = 3;

/// The longest wait before it is asked for again.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

impl Slack {
    /// Brings the files of a message to an investigation; each is kept when this is back, or its absence was told.
    pub(super) async fn bring_files(
        &self,
        said: &Said,
        by: &PersonId,
        id: &InvestigationId,
        thread: Option<&str>,
    ) -> Result<(), Unheard> {
        let tell = async |text: String| self.whisper(&said.by.user, Some(&said.channel), thread, &text).await;
        if said.files.len() > MOST_FILES {
            tell(format!("Of a message's files only the first {MOST_FILES} are read.")).await;
        }
        for posted in said.files.iter().take(MOST_FILES) {
            let text = match self.fetch(posted).await {
                Ok(text) => text,
                Err(why) => {
                    tracing::info!(file = posted.id, why, "a file posted in slack is not read");
                    tell(format!("I have not read `{}`: {why}.", posted.name)).await;
                    continue;
                }
            };
            let Some(news) = self.runs().and_then(|runs| runs.news(id)) else { return Err(Unheard::Ended) };
            let file = File { id: posted.id.clone(), name: posted.name.clone(), text, by: by.clone() };
            news.file(file).await?;
        }
        Ok(())
    }

    /// What a file says, or why that can't be had.
    async fn fetch(&self, posted: &FileRef) -> Result<String, &'static str> {
        if posted.size > MOST as u64 {
            return Err("it is larger than 1 MiB; post the part that matters");
        }
        let mut wait = Duration::from_secs(1);
        for _ in 1..TRIES {
            match self.client.download(&posted.id, MOST).await {
                Err(CallError::RateLimited { after }) => tokio::time::sleep(after.min(LONGEST_WAIT)).await,
                Err(CallError::Transport(_)) => tokio::time::sleep(wait).await,
                fetched => return fetched.map_err(|error| why(&error)),
            }
            wait *= 2;
        }
        self.client.download(&posted.id, MOST).await.map_err(|error| why(&error))
    }
}

fn why(error: &CallError) -> &'static str {
    match error {
        CallError::Refused(code) => match code.as_str() {
            "file_is_not_text" => "it is not text",
            "file_too_large" => "it is larger than 1 MiB; post the part that matters",
            "file_not_at_slack" => "it does not lie at Slack",
            _ => "Slack does not give it to me",
        },
        CallError::NotAuthed(_) => "Slack does not give it to me; the app may lack the scope `files:read`",
        CallError::ChannelGone(_) | CallError::TriggerExpired => "Slack does not give it to me",
        CallError::RateLimited { .. } | CallError::Transport(_) => "Slack could not be reached; post it again",
    }
}
