//! `/v1/approvals`: list them, show one, and decide with a token of one's own.
//!
//! A decision is handed to the gate as it came: the gate checks who, which card, how much of it was seen, and what policy
//! says, as it does with a click or a vote at a terminal.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use warrant_kernel::call::gate::sequencer::shown::Listed;
use warrant_kernel::call::gate::vote::{Proof, Whole};
use warrant_kernel::domain::plan::ApprovalId;

use crate::web::App;
use crate::web::backend::{Deciding, Seen};
use crate::web::error::{ApiError, Code};
use crate::web::token::Caller;

use super::sight::{self, Sight};
use super::taken::{self, Sent};

/// Approvals read at once.
const BATCH: usize = 100;

/// How many batches one request may read: what somebody may not see is not looked through for them without end.
const BATCHES: usize = 10;

type Answer = Result<(StatusCode, Json<Value>), ApiError>;

/// The query of a list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::web) struct Which {
    state: Option<String>,
    limit: Option<u32>,
    before: Option<String>,
}

/// The body of a vote for a plan.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::web) struct Approving {
    revision: u32,
    digest_prefix: String,
    whole: Whole,
}

/// The body of a vote against a plan.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::web) struct Denying {
    revision: u32,
    digest_prefix: String,
    whole: Whole,
    reason: String,
}

/// The body of what needs a reason only.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::web) struct Because {
    reason: String,
}

pub(in crate::web) async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    which: Result<Query<Which>, axum::extract::rejection::QueryRejection>,
) -> Answer {
    let Query(which) =
        which.map_err(|_| ApiError::new(Code::Invalid, "QUERY", "only `state`, `limit` and `before` are known"))?;
    let most = usize::try_from(taken::limit(which.limit)?).unwrap_or(usize::MAX);
    let before = which.before.as_deref().map(taken::approval).transpose()?;
    let (page, next) = page(&app, &caller, before, which.state.as_deref(), most).await?;
    Ok((StatusCode::OK, Json(json!({ "approvals": page, "next": next }))))
}

/// What somebody may see of the approvals before one, and from where on there may be more.
async fn page(
    app: &App,
    caller: &Caller,
    mut before: Option<ApprovalId>,
    state: Option<&str>,
    most: usize,
) -> Result<(Vec<Listed>, Option<ApprovalId>), ApiError> {
    let mut sight = Sight::of(app, caller);
    let mut page: Vec<Listed> = Vec::new();
    for _ in 0..BATCHES {
        let batch = app.backend.approvals(before, state, BATCH).await?;
        let is_last = batch.len() < BATCH;
        for listed in batch {
            before = Some(listed.approval);
            if !sight.listed(&listed) {
                continue;
            }
            if page.len() >= most {
                let next = page.last().map(|last| last.approval);
                return Ok((page, next));
            }
            page.push(listed);
        }
        if is_last {
            return Ok((page, None));
        }
    }
    Ok((page, before))
}

pub(in crate::web) async fn show(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Answer {
    let card = sight::card(&app, &caller, taken::approval(&id)?).await?;
    let pages = card.pages();
    let approve = if card.offers_approval(Whole::NotOpened) {
        "on_the_face"
    } else if card.offers_approval(Whole::Opened) {
        "after_the_last_page"
    } else {
        "not_offered"
    };
    Ok((StatusCode::OK, Json(json!({ "card": card, "pages": pages, "approve": approve }))))
}

pub(in crate::web) async fn approve(
    app: State<Arc<App>>,
    caller: Extension<Caller>,
    id: Path<String>,
    Sent(Approving { revision, digest_prefix, whole }): Sent<Approving>,
) -> Answer {
    decide(app, caller, id, Deciding::Approve(Seen { revision, digest_prefix, whole })).await
}

pub(in crate::web) async fn deny(
    app: State<Arc<App>>,
    caller: Extension<Caller>,
    id: Path<String>,
    Sent(Denying { revision, digest_prefix, whole, reason }): Sent<Denying>,
) -> Answer {
    let reason = taken::text("reason", &reason)?;
    decide(app, caller, id, Deciding::Deny(Seen { revision, digest_prefix, whole }, reason)).await
}

pub(in crate::web) async fn revoke(
    app: State<Arc<App>>,
    caller: Extension<Caller>,
    id: Path<String>,
    Sent(Because { reason }): Sent<Because>,
) -> Answer {
    let reason = taken::text("reason", &reason)?;
    decide(app, caller, id, Deciding::Revoke(reason)).await
}

pub(in crate::web) async fn reopen(
    app: State<Arc<App>>,
    caller: Extension<Caller>,
    id: Path<String>,
    Sent(Because { reason }): Sent<Because>,
) -> Answer {
    let reason = taken::text("reason", &reason)?;
    decide(app, caller, id, Deciding::Reopen(reason)).await
}

async fn decide(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    deciding: Deciding,
) -> Answer {
    let id = taken::approval(&id)?;
    let by = caller.proved.clone().filter(|by| matches!(by.proof, Proof::Token(_)));
    let by = by.ok_or_else(|| ApiError::new(Code::Unauthenticated, "NO_TOKEN", "decide with a token of your own"))?;
    sight::card(&app, &caller, id).await?;
    // Whoever goes away after deciding has decided all the same.
    let decided = tokio::spawn(async move {
        app.backend.decide(id, by, deciding).await?;
        app.backend.card(id).await
    });
    let card = decided.await.map_err(|error| ApiError::internal("a decision", &error))??;
    Ok((
        StatusCode::OK,
        Json(json!({
            "approval": id,
            "state": card.state,
            "revision": card.revision,
            "approved": card.electorate.approved,
            "quorum": card.electorate.quorum,
        })),
    ))
}
