//! `warrant investigations list|show|resume|replay`.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use warrant_kernel::domain::event::{Body, Event};
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::report::Report;
use warrant_kernel::redact::RedactionKey;
use warrant_kernel::store::{Store, Summary};

use super::ask::{AtHand, Company, Ended, Ready, lock, today};
use super::fault::Fault;
use super::writes::Lazy;
use super::{App, SystemClock};
use crate::agent::replay::{self, Difference};
use crate::agent::state::State;
use crate::agent::trace::{Trace, Watcher};

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
    let writes = Lazy::new(app, at_hand.present);
    let ended = match take_up(app, &store, &id, at_hand.watcher).await {
        Ok(TakenUp::Reported(report)) => Ok(Ended::Reported(report)),
        Ok(TakenUp::Ready(ready)) => {
            Ok(ready.run(app, Company { writes: &writes, news: Arc::default() }, cancel).await)
        }
        Err(fault) => Err(fault),
    };
    writes.close().await;
    store.close().await;
    Ok((id, ended?))
}

/// An investigation that was taken up.
pub(super) enum TakenUp {
    /// It had ended.
    Reported(Box<Report>),
    /// It can go on.
    Ready(Box<Ready>),
}

/// Takes an investigation up where its trace ends.
pub(super) async fn take_up(
    app: &App,
    store: &Store,
    id: &InvestigationId,
    watcher: Arc<dyn Watcher>,
) -> Result<TakenUp, Fault> {
    let lock = lock(app, id)?;
    let events = store.events(id).await?;
    let key = store.mask_key(id).await?;
    let key: [u8; 32] =
        key.try_into().map_err(|_| Fault::Failed(format!("the key of investigation {id} is damaged")))?;
    let redactor = app.redactor.with_key(RedactionKey::from_bytes(key));
    let trace = Trace::take_up(store.clone(), Arc::new(SystemClock), app.watched(watcher), &events)
        .map_err(|error| Fault::Failed(error.to_string()))?;
    if let Some(report) = trace.state().await.report.clone() {
        return Ok(TakenUp::Reported(Box::new(report)));
    }
    trace.append(vec![Body::Resumed]).await;
    let model = today(app, Some(store)).await.model;
    Ok(TakenUp::Ready(Box::new(Ready { model, redactor, trace, lock })))
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
