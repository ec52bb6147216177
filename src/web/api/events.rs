//! `/v1/investigations/{id}/events`: the events of an investigation as they come, as server-sent events.
//!
//! The id of each is its number, so whoever comes back with `Last-Event-ID` misses none and gets none twice. Events are read
//! from the store when the reader has taken those before: a slow reader holds one page here, is cut off by the server when
//! it takes nothing, and comes back. The marks between which a model reads strangers' text, and the sealed blocks of
//! providers, are nobody's business and are left out.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, sleep, sleep_until};
use warrant_kernel::call::gate::sequencer::tokens::Scope;
use warrant_kernel::domain::event::{Body as What, Event};
use warrant_kernel::domain::name::InvestigationId;

use crate::web::App;
use crate::web::error::{ApiError, Code};
use crate::web::token::Caller;

use super::{sight, taken};

/// Events that are read from the store at a time.
const PAGE: u32 = 50;

/// What shows that a stream lives.
const BEAT: &str = ": lives\n\n";

pub(in crate::web) async fn stream(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id = taken::investigation(&id)?;
    sight::line(&app, &caller, &id).await?;
    let last = match headers.get("last-event-id") {
        None => 0,
        Some(last) => last.to_str().ok().and_then(|last| last.parse().ok()).ok_or_else(|| {
            ApiError::new(Code::Invalid, "LAST_EVENT_ID", "`Last-Event-ID` is the number of the last event that came")
        })?,
    };
    let permit = Arc::clone(&app.streams).try_acquire_owned().map_err(|_| {
        ApiError::new(Code::TooMany, "TOO_MANY_STREAMS", "as many streams are open as may be").retry_after(5)
    })?;
    let (changes, next_beat) = (app.feed.follow(&id), Instant::now() + app.pace.beat);
    let (waiting, ends) = (VecDeque::new(), false);
    let following = Following { app, caller, id, last, waiting, changes, next_beat, ends, _permit: permit };
    let body = Body::from_stream(unfold(following, |mut following| async move {
        let text = following.next().await?;
        Some((Ok::<_, Infallible>(text), following))
    }));
    Ok(([(CONTENT_TYPE, "text/event-stream")], body).into_response())
}

/// One reader, and how far it is.
struct Following {
    app: Arc<App>,
    caller: Caller,
    id: InvestigationId,
    /// The last event that was read.
    last: u64,
    /// What was read and not taken.
    waiting: VecDeque<String>,
    /// Told of new events, where it runs here.
    changes: Option<Receiver<u64>>,
    next_beat: Instant,
    /// Nothing comes after what waits.
    ends: bool,
    _permit: OwnedSemaphorePermit,
}

impl Following {
    /// What is sent next; none at the end.
    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(text) = self.waiting.pop_front() {
                return Some(text);
            }
            if self.ends {
                return None;
            }
            // Before the store is looked at, so that nothing that comes meanwhile goes unnoticed.
            if let Some(changes) = &mut self.changes {
                changes.borrow_and_update();
            }
            match self.app.store.events_after(&self.id, self.last, PAGE).await {
                Ok(events) if events.is_empty() => {
                    if self.idle().await == Then::Beat {
                        return Some(BEAT.to_owned());
                    }
                }
                Ok(events) => self.take(&events),
                Err(error) => {
                    // The reader comes back from where it is.
                    tracing::warn!(%error, investigation = %self.id, "events can't be read");
                    return None;
                }
            }
        }
    }

    fn take(&mut self, events: &[Event]) {
        for event in events {
            self.last = event.seq;
            self.waiting.extend(frame(event));
            // An investigation whose report is there may still be told what became of a write; that is its card's to show.
            if matches!(event.body, What::Reported { .. }) {
                self.waiting.push_back("event: end\ndata: {}\n\n".to_owned());
                self.ends = true;
                return;
            }
        }
    }

    /// Waits until there may be more.
    async fn idle(&mut self) -> Then {
        let runs_here = self.changes.is_some();
        tokio::select! {
            () = self.app.closing.cancelled() => {
                self.ends = true;
                Then::Look
            }
            grown = changed(self.changes.as_mut()) => {
                if !grown {
                    self.changes = None;
                }
                Then::Look
            }
            () = sleep(self.app.pace.poll), if !runs_here => {
                self.changes = self.app.feed.follow(&self.id);
                Then::Look
            }
            () = sleep_until(self.next_beat) => {
                self.next_beat = Instant::now() + self.app.pace.beat;
                // A right that was taken away ends what was begun with it.
                let stands = self.caller.stands(&self.app, Scope::Read).await
                    && sight::line(&self.app, &self.caller, &self.id).await.is_ok();
                self.ends = !stands;
                if stands { Then::Beat } else { Then::Look }
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Look,
    Beat,
}

/// Whether it has grown; false once it runs here no more.
async fn changed(changes: Option<&mut Receiver<u64>>) -> bool {
    match changes {
        Some(changes) => changes.changed().await.is_ok(),
        None => std::future::pending().await,
    }
}

/// An event as it is sent; none for what is nobody's business.
fn frame(event: &Event) -> Option<String> {
    if matches!(event.body, What::Framed { .. }) {
        return None;
    }
    let mut value = serde_json::to_value(event).ok()?;
    if let Some(answer) = value.get_mut("answer").and_then(Value::as_object_mut) {
        answer.remove("opaque");
    }
    let kind = value.get("event").and_then(Value::as_str).unwrap_or("event").to_owned();
    // JSON has no line ends of its own, so the frame can't be broken from within.
    Some(format!("id: {}\nevent: {kind}\ndata: {value}\n\n", event.seq))
}
