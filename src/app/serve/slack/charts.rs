//! Charts of the decisive metrics beneath a report: drawn, uploaded, and put into the outbox like any other message.
//!
//! That they are owed is noted with the report. A picture that was uploaded is noted too, so that a restart does not upload
//! it again; what can't be uploaded is left out and logged, and the report stands without it.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::store::desk::NoteWrite;

use super::Slack;
use super::home::Home;
use super::talk::Later;
use crate::agent::state::State;
use crate::chat::slack::blocks::FileId;
use crate::chat::slack::chart::{Plot, decisive, draw};
use crate::chat::slack::client::error::CallError;
use crate::chat::slack::client::files::Upload;
use crate::chat::slack::outbox::Class;
use crate::chat::slack::report::picture;

/// Notes of pictures that lie at Slack, by investigation and number.
pub(in crate::app::serve) const UPLOADED: &str = "slack-chart";

/// What a picture is for who can't see it; the message that shows it says what it shows.
const ALT: &str = "A chart of a piece of evidence";

/// How often a picture is tried.
const TRIES: u32 = 5;

/// The wait after a failure, where Slack does not say how long.
const AGAIN: Duration = Duration::from_secs(2);

/// How often it is looked whether Slack has taken a picture in.
const LOOKS: u32 = 10;

impl Slack {
    /// The charts of an investigation are owed from now on.
    pub(super) fn owe_charts(&self, id: &InvestigationId) {
        self.owed.lock().unwrap_or_else(PoisonError::into_inner).push(id.clone());
        self.drawing.notify_one();
    }

    /// Draws and posts what is owed until it is cancelled.
    pub(super) async fn show_charts(self: Arc<Self>, cancel: CancellationToken) {
        while cancel.run_until_cancelled(self.drawing.notified()).await.is_some() {
            let owed = std::mem::take(&mut *self.owed.lock().unwrap_or_else(PoisonError::into_inner));
            for id in owed {
                match cancel.run_until_cancelled(self.chart(&id)).await {
                    Some(Ok(())) => {}
                    Some(Err(later)) => {
                        tracing::warn!(investigation = %id, %later, "its charts wait for the next start");
                    }
                    None => return,
                }
            }
        }
    }

    async fn chart(&self, id: &InvestigationId) -> Result<(), Later> {
        let Some(home) = self.home(id).await else { return Ok(()) };
        let state = self.state(id).await?;
        if let Some(report) = state.report.as_ref().filter(|_| !self.is_withheld(&home.channel, &state)) {
            for (nth, plot) in decisive(report, &state).into_iter().enumerate() {
                self.one(id, &home, nth, plot).await?;
            }
        }
        Ok(self.are_charted(id).await?)
    }

    async fn one(&self, id: &InvestigationId, home: &Home, nth: usize, plot: Plot) -> Result<(), Later> {
        let name = format!("{id}:{nth}");
        let drawn = tokio::task::spawn_blocking(move || draw(&plot)).await;
        let chart = match drawn.map_err(|error| Later::Broken(error.to_string()))? {
            Ok(chart) => chart,
            Err(why) => {
                tracing::warn!(investigation = %id, %why, "there is no chart");
                return Ok(());
            }
        };
        let known = self.store.note(UPLOADED, &name).await?;
        let file = match known.as_ref().and_then(|note| note.body.get("file")).and_then(Value::as_str) {
            Some(file) => file.to_owned(),
            None => match self.upload(&chart.png).await {
                Ok(file) => {
                    let body = json!({ "file": file });
                    let expect_revision = known.map_or(0, |note| note.revision);
                    let note = NoteWrite { kind: UPLOADED, id: name, expect_revision, body };
                    self.store.settle(&[], &[note]).await?;
                    file
                }
                Err(error @ (CallError::Transport(_) | CallError::RateLimited { .. })) => {
                    return Err(Later::Broken(error.to_string()));
                }
                Err(error) => {
                    tracing::warn!(investigation = %id, %error, "a chart can't be uploaded");
                    return Ok(());
                }
            },
        };
        let Some(file) = FileId::read(&file) else {
            tracing::warn!(investigation = %id, "what Slack named a chart is no file");
            return Ok(());
        };
        let message = picture(file, &chart.says);
        self.put(format!("chart-{id}-{nth}"), &home.channel, home.thread.clone(), Class::Report, &message).await
    }

    /// Uploads a picture, as often as it takes within bounds, and waits until Slack has taken it in: a message can't show
    /// it before.
    async fn upload(&self, png: &[u8]) -> Result<String, CallError> {
        let mut tries = 1;
        let file = loop {
            let picture = Upload { name: "chart.png", alt: ALT, bytes: png, place: None };
            match self.client.upload(picture).await {
                Err(CallError::RateLimited { after }) if tries < TRIES => tokio::time::sleep(after).await,
                Err(CallError::Transport(_)) if tries < TRIES => tokio::time::sleep(AGAIN).await,
                uploaded => break uploaded?,
            }
            tries += 1;
        };
        for _ in 0..LOOKS {
            if self.client.is_taken_in(&file).await.unwrap_or(false) {
                break;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        Ok(file)
    }

    /// How an investigation stands in the store.
    pub(super) async fn state(&self, id: &InvestigationId) -> Result<State, Later> {
        let events = self.store.events(id).await?;
        State::fold(&events).map_err(|error| Later::Broken(error.to_string()))
    }
}
