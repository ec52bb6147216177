//! What somebody may see: an investigation of a service that they may read, or their own that names none.
//!
//! What they may not see is not there for them: the answer is the same, and only our own counter and log tell the two apart.

use std::collections::BTreeMap;

use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::sequencer::shown::Listed;
use warrant_kernel::domain::name::{InvestigationId, PersonId, ServiceName};
use warrant_kernel::domain::plan::ApprovalId;
use warrant_kernel::domain::run::Requester;
use warrant_kernel::store::pages::Line;

use crate::web::App;
use crate::web::error::ApiError;
use crate::web::metrics::labels::Refused;
use crate::web::token::Caller;

/// Asks policy about each service once, for one request.
pub(super) struct Sight<'a> {
    app: &'a App,
    who: &'a Requester,
    asked: BTreeMap<ServiceName, bool>,
}

impl<'a> Sight<'a> {
    pub(super) fn of(app: &'a App, caller: &'a Caller) -> Self {
        Self { app, who: &caller.requester, asked: BTreeMap::new() }
    }

    pub(super) fn service(&mut self, service: &ServiceName) -> bool {
        let (app, who) = (self.app, self.who);
        *self.asked.entry(service.clone()).or_insert_with(|| app.backend.may_read(who, service))
    }

    pub(super) fn line(&mut self, line: &Line) -> bool {
        match &line.summary.service {
            // A stored name that is none any more is nobody's to see.
            Some(service) => service.parse().is_ok_and(|service| self.service(&service)),
            None => line.requester.as_ref() == Some(&self.who.person),
        }
    }

    pub(super) fn listed(&mut self, listed: &Listed) -> bool {
        self.change(listed.service.as_ref(), &listed.requester)
    }

    /// A change to what is no service's is seen by everybody who may see approvals: anybody may have to decide on it.
    fn change(&mut self, service: Option<&ServiceName>, requester: &PersonId) -> bool {
        *requester == self.who.person || service.is_none_or(|service| self.service(service))
    }
}

/// An investigation that somebody may see.
pub(super) async fn line(app: &App, caller: &Caller, id: &InvestigationId) -> Result<Line, ApiError> {
    let found = app.store.line(id).await.map_err(|error| ApiError::internal("an investigation", &error))?;
    let line = found.ok_or_else(|| ApiError::not_found("investigation"))?;
    if Sight::of(app, caller).line(&line) {
        return Ok(line);
    }
    unseen(app, caller, "investigation", id.as_str());
    Err(ApiError::not_found("investigation"))
}

/// A card that somebody may see.
pub(super) async fn card(app: &App, caller: &Caller, id: ApprovalId) -> Result<Card, ApiError> {
    let card = app.backend.card(id).await?;
    if Sight::of(app, caller).change(card.target.service.as_ref(), &card.requester) {
        return Ok(card);
    }
    unseen(app, caller, "approval", &id.to_string());
    Err(ApiError::not_found("approval"))
}

/// A service that somebody may not read was named.
pub(super) fn no_service(app: &App, caller: &Caller, service: &ServiceName) -> ApiError {
    unseen(app, caller, "service", service.as_str());
    ApiError::not_found("service")
}

fn unseen(app: &App, caller: &Caller, what: &str, id: &str) {
    app.metrics.refused(Refused::NotVisible);
    tracing::warn!(person = %caller.requester.person, what, id, "asked for what they may not see, or what there is not");
}
