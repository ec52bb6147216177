//! `warrant investigations list|show|resume|replay`.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use warrant_kernel::domain::event::{Body, Event};
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::redact::RedactionKey;
use warrant_kernel::store::Summary;

use super::ask::{AtHand, Ended, carry_on, lock, today};
use super::fault::Fault;
use super::{App, SystemClock};
use crate::agent::replay::{self, Difference};
use crate::agent::state::State;
use crate::agent::trace::Trace;

/// The newest investigations.
///
/// # Errors
/// [`Fault::Store`].
pub async fn list(app: &App, limit: u32) -> Result<Vec<Summary>, Fault> {
    let store = app.store().await?;
    let summaries = store.list(limit).await?;
    store.close().await;
    Ok(summaries)
}

/// All events of an investigation.
///
/// # Errors
/// [`Fault::Store`], an unknown id among them.
pub async fn show(app: &App, id: &str) -> Result<(InvestigationId, Vec<Event>), Fault> {
    let store = app.store().await?;
    let id = store.find(id).await?;
    let events = store.events(&id).await?;
    store.close().await;
    Ok((id, events))
}

/// Takes an investigation up where its trace ends.
///
/// # Errors
/// [`Fault::Usage`] where another process runs it; [`Fault::Store`].
pub async fn resume(
    app: &App,
    id: &str,
    at_hand: AtHand,
    cancel: CancellationToken,
) -> Result<(InvestigationId, Ended), Fault> {
    let store = app.store().await?;
    let id = store.find(id).await?;
    let lock = lock(app, &id)?;
    let events = store.events(&id).await?;
    let key = store.mask_key(&id).await?;
    let key: [u8; 32] =
        key.try_into().map_err(|_| Fault::Failed(format!("the key of investigation {id} is damaged")))?;
    let redactor = app.redactor.with_key(RedactionKey::from_bytes(key));
    let trace = Trace::take_up(store.clone(), Arc::new(SystemClock), at_hand.watcher, &events)
        .map_err(|error| Fault::Failed(error.to_string()))?;
    let reported = trace.state().await.report.clone();
    let ended = if let Some(report) = reported {
        Ended::Reported(Box::new(report))
    } else {
        trace.append(vec![Body::Resumed]).await;
        carry_on(app, today(app, Some(&store)).await.model, redactor, trace, at_hand.present, cancel).await
    };
    drop(lock);
    store.close().await;
    Ok((id, ended))
}

/// Runs the loop over the recorded answers and compares what it decides with what was decided then.
///
/// # Errors
/// [`Fault::Store`].
pub async fn replay(app: &App, id: &str) -> Result<(InvestigationId, Vec<Difference>), Fault> {
    let (id, events) = show(app, id).await?;
    let differences = replay::replay(&app.bench, &events).map_err(|error| Fault::Failed(error.to_string()))?;
    Ok((id, differences))
}

/// The state that the events add up to.
///
/// # Errors
/// [`Fault::Failed`] where they do not begin with an opening.
pub fn state(events: &[Event]) -> Result<State, Fault> {
    State::fold(events).map_err(|error| Fault::Failed(error.to_string()))
}
