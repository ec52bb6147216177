//! `/v1/investigations`: begin one, list them, show one, tell it something, end it.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use warrant_kernel::domain::name::{InvestigationId, RoleName, ServiceName};
use warrant_kernel::domain::run::Trigger;
use warrant_kernel::store::pages::Line;

use crate::agent::state::{CallKind, State as Fold};
use crate::web::App;
use crate::web::backend::{Failure, Wanted};
use crate::web::error::{ApiError, Code};
use crate::web::token::Caller;

use super::sight::{self, Sight};
use super::taken::{self, Sent};

/// Investigations that are read from the store at a time while a page is filled.
const STRIDE: u32 = 200;

type Answer = Result<(StatusCode, Json<Value>), ApiError>;

/// The body of a request to begin one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::web) struct NewInvestigation {
    question: String,
    service: Option<ServiceName>,
    since: Option<String>,
    role: Option<RoleName>,
}

/// The query of a list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::web) struct Which {
    limit: Option<u32>,
    before: Option<String>,
}

/// The body of a request to steer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::web) struct Steering {
    text: String,
}

pub(in crate::web) async fn begin(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Sent(new): Sent<NewInvestigation>,
) -> Answer {
    let question = taken::text("question", &new.question)?;
    if let Some(service) = &new.service
        && !Sight::of(&app, &caller).service(service)
    {
        return Err(sight::no_service(&app, &caller, service));
    }
    let since = new.since.map(|since| taken::text("since", &since)).transpose()?;
    let wanted = Wanted { requester: caller.requester, question, service: new.service, since, role: new.role };
    // Whoever goes away after asking has asked all the same.
    let id = detached(async move { app.backend.begin(wanted).await }).await?;
    let events = format!("/v1/investigations/{id}/events");
    Ok((StatusCode::ACCEPTED, Json(json!({ "id": id, "events": events }))))
}

pub(in crate::web) async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    which: Result<Query<Which>, axum::extract::rejection::QueryRejection>,
) -> Answer {
    let Query(which) =
        which.map_err(|_| ApiError::new(Code::Invalid, "QUERY", "only `limit` and `before` are known"))?;
    let limit = taken::limit(which.limit)?;
    let mut before = which.before.as_deref().map(taken::investigation).transpose()?;
    let (mut sight, mut page) = (Sight::of(&app, &caller), Vec::new());
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    // One more than is shown tells whether there are more.
    'filling: loop {
        let lines = app.store.lines_before(before.as_ref(), STRIDE).await;
        let lines = lines.map_err(|error| ApiError::internal("investigations", &error))?;
        let Some(last) = lines.last() else { break };
        before = Some(last.summary.id.clone());
        for line in lines {
            if sight.line(&line) {
                page.push(line);
            }
            if page.len() > most {
                break 'filling;
            }
        }
    }
    let more = page.len() > most;
    page.truncate(most);
    let next = page.last().filter(|_| more).map(|last| last.summary.id.clone());
    let shown: Vec<Value> = page.iter().map(|line| brief(&app, line)).collect();
    Ok((StatusCode::OK, Json(json!({ "investigations": shown, "next": next }))))
}

fn brief(app: &App, line: &Line) -> Value {
    let summary = &line.summary;
    json!({
        "id": summary.id,
        "question": summary.question,
        "service": summary.service,
        "requester": line.requester,
        "opened_at": summary.opened_at,
        "ended_at": summary.ended_at,
        "outcome": summary.outcome,
        "running": app.feed.runs(&summary.id),
    })
}

pub(in crate::web) async fn show(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Answer {
    let id = taken::investigation(&id)?;
    let line = sight::line(&app, &caller, &id).await?;
    let events = app.store.events(&id).await.map_err(|error| ApiError::internal("an investigation", &error))?;
    let mut shown = brief(&app, &line);
    // One that was opened and never written to has nothing more to show.
    if let (Value::Object(shown), Ok(fold)) = (&mut shown, Fold::fold(&events)) {
        let Value::Object(more) = detail(&fold, app.feed.runs(&id)) else { return Err(broken(&id)) };
        shown.extend(more);
    }
    Ok((StatusCode::OK, Json(shown)))
}

fn broken(id: &InvestigationId) -> ApiError {
    ApiError::internal("an investigation", &Failure::Broken(format!("{id} has no shape")))
}

fn detail(fold: &Fold, running: bool) -> Value {
    let waiting: Vec<_> = fold.waiting().filter_map(|written| written.approval).collect();
    let state = match (&fold.report, running, waiting.is_empty()) {
        (Some(_), _, _) => "ended",
        (None, true, _) => "running",
        (None, false, false) => "waiting",
        (None, false, true) => "paused",
    };
    let trigger = match fold.run.trigger {
        Trigger::Question { .. } => "question",
        Trigger::Alert { .. } => "alert",
    };
    let (usage, budgets) = (fold.usage(), &fold.budgets);
    let of_kind = |kind: CallKind| fold.calls.iter().filter(|known| known.kind == kind).count();
    json!({
        "state": state,
        "trigger": trigger,
        "role": fold.run.role,
        "channel": fold.run.channel,
        "since": fold.run.since,
        "budget": {
            "turns": { "used": fold.turns.len(), "limit": budgets.turns },
            "tokens": { "used": usage.input.saturating_add(usage.output), "limit": budgets.tokens },
            "wall_s": { "used": fold.spent.as_secs(), "limit": budgets.wall_s },
            "cost": { "used": fold.cost(), "limit": budgets.cost },
        },
        "reads": of_kind(CallKind::Read),
        "writes": of_kind(CallKind::Write),
        "last_event": fold.last_seq,
        "pending_approvals": waiting,
        "report": fold.report,
    })
}

pub(in crate::web) async fn steer(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    Sent(steering): Sent<Steering>,
) -> Answer {
    let id = taken::investigation(&id)?;
    sight::line(&app, &caller, &id).await?;
    let text = taken::text("text", &steering.text)?;
    let told = id.clone();
    detached(async move { app.backend.steer(&told, &caller.requester, &text).await }).await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "id": id }))))
}

pub(in crate::web) async fn stop(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Answer {
    let id = taken::investigation(&id)?;
    sight::line(&app, &caller, &id).await?;
    let ended = id.clone();
    detached(async move { app.backend.stop(&ended, &caller.requester).await }).await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "id": id }))))
}

/// Does it whole, whether or not the other end waits for the answer.
async fn detached<T: Send + 'static>(
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Result<T, ApiError> {
    match tokio::spawn(work).await {
        Ok(done) => done.map_err(refused),
        Err(error) => Err(ApiError::internal("an investigation", &error)),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "stands in `map_err`")]
fn refused(failure: Failure) -> ApiError {
    match &failure {
        Failure::Invalid(message) => ApiError::new(Code::Invalid, "INVALID_ARGUMENTS", message),
        Failure::NotRunning => ApiError::new(Code::Conflict, "NOT_RUNNING", failure.to_string()),
        Failure::Busy { retry_after_s } => {
            ApiError::new(Code::TooMany, "BUSY", failure.to_string()).retry_after(*retry_after_s)
        }
        Failure::Closing => ApiError::new(Code::Unavailable, "CLOSING", failure.to_string()).retry_after(5),
        Failure::Broken(_) => ApiError::internal("an investigation", &failure),
    }
}
