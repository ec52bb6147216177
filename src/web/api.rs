//! The routes, from one table: each with its path, what it takes to be let in, what it takes and gives.
//!
//! The router and the document at `/openapi.json` are both made of this table, so neither has a route that the other has
//! not. What a route needs is checked before its handler; no handler can forget to.

pub(super) mod taken;

pub(super) mod sight;

pub(super) mod investigations;

pub(super) mod events;

pub(super) mod approvals;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::routing::{MethodRouter, get, post};
use warrant_kernel::call::gate::sequencer::tokens::Scope;

use super::App;
use super::guard::Route;
use super::token::{Need, authenticate};
use super::{health, metrics, openapi};

/// Most bytes of a body that the API takes.
const BODY: usize = 64 << 10;

/// How a route is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Get,
    Post,
}

/// Who is let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Anybody who reaches the port.
    Anybody,
    /// This machine, and whoever has a token that is good for this.
    Near(Scope),
    /// Whoever has a token that is good for this; this machine too while there are no tokens, but for decisions.
    Token(Scope),
}

/// What a route gives where it does what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gives {
    /// JSON after the schema of this name.
    Json(u16, &'static str),
    /// A stream of events.
    Events,
    /// Text of metrics.
    Text,
}

/// One route.
pub(super) struct Operation {
    pub(super) verb: Verb,
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    pub(super) access: Access,
    /// Names of its query parameters, each with what it means.
    pub(super) query: &'static [(&'static str, &'static str)],
    /// The schema of what it takes.
    pub(super) takes: Option<&'static str>,
    pub(super) gives: Gives,
    handler: fn() -> MethodRouter<Arc<App>>,
}

const fn operation(
    verb: Verb,
    path: &'static str,
    summary: &'static str,
    access: Access,
    gives: Gives,
    handler: fn() -> MethodRouter<Arc<App>>,
) -> Operation {
    Operation { verb, path, summary, access, query: &[], takes: None, gives, handler }
}

impl Operation {
    const fn takes(mut self, schema: &'static str) -> Self {
        self.takes = Some(schema);
        self
    }

    const fn query(mut self, query: &'static [(&'static str, &'static str)]) -> Self {
        self.query = query;
        self
    }
}

const READ: Access = Access::Token(Scope::Read);
const INVESTIGATE: Access = Access::Token(Scope::Investigate);
const APPROVE: Access = Access::Token(Scope::Approve);
const DECIDED: Gives = Gives::Json(200, "Decided");

/// All of them.
pub(super) const OPERATIONS: &[Operation] = &[
    operation(
        Verb::Post,
        "/v1/investigations",
        "Begin an investigation",
        INVESTIGATE,
        Gives::Json(202, "Begun"),
        || post(investigations::begin),
    )
    .takes("NewInvestigation"),
    operation(
        Verb::Get,
        "/v1/investigations",
        "The investigations that you may see, the newest first",
        READ,
        Gives::Json(200, "Investigations"),
        || get(investigations::list),
    )
    .query(&[
        ("limit", "how many at most: 1 to 200, 50 where nothing is said"),
        ("before", "the id of the last one of the page before"),
    ]),
    operation(
        Verb::Get,
        "/v1/investigations/{id}",
        "One investigation: where it stands, what it used, what it waits for, its report",
        READ,
        Gives::Json(200, "Investigation"),
        || get(investigations::show),
    ),
    operation(
        Verb::Get,
        "/v1/investigations/{id}/events",
        "Its events as they come, from the one after `Last-Event-ID` on",
        READ,
        Gives::Events,
        || get(events::stream),
    ),
    operation(
        Verb::Post,
        "/v1/investigations/{id}/steer",
        "Tell a running investigation something",
        INVESTIGATE,
        Gives::Json(202, "Taken"),
        || post(investigations::steer),
    )
    .takes("Steering"),
    operation(
        Verb::Post,
        "/v1/investigations/{id}/stop",
        "End a running investigation; it reports what it has",
        INVESTIGATE,
        Gives::Json(202, "Taken"),
        || post(investigations::stop),
    ),
    operation(
        Verb::Get,
        "/v1/approvals",
        "The approvals that you may see, the newest first",
        READ,
        Gives::Json(200, "Approvals"),
        || get(approvals::list),
    )
    .query(&[
        ("state", "only those that stand there: `open`, `approved`, `denied`, `expired`, ..."),
        ("limit", "how many at most: 1 to 200, 50 where nothing is said"),
        ("before", "the id of the last one of the page before"),
    ]),
    operation(
        Verb::Get,
        "/v1/approvals/{id}",
        "One approval: the card as people are shown it, and the whole page by page",
        READ,
        Gives::Json(200, "Approval"),
        || get(approvals::show),
    ),
    operation(
        Verb::Post,
        "/v1/approvals/{id}/approve",
        "Vote for the plan on a card; it has to be the one that was seen",
        APPROVE,
        DECIDED,
        || post(approvals::approve),
    )
    .takes("Approving"),
    operation(
        Verb::Post,
        "/v1/approvals/{id}/deny",
        "Vote against the plan on a card; the investigation is told why",
        APPROVE,
        DECIDED,
        || post(approvals::deny),
    )
    .takes("Denying"),
    operation(
        Verb::Post,
        "/v1/approvals/{id}/revoke",
        "Take an approval back before it is used",
        APPROVE,
        DECIDED,
        || post(approvals::revoke),
    )
    .takes("Because"),
    operation(Verb::Post, "/v1/approvals/{id}/reopen", "Let what was denied be asked again", APPROVE, DECIDED, || {
        post(approvals::reopen)
    })
    .takes("Because"),
    operation(Verb::Get, "/healthz", "The process lives", Access::Anybody, Gives::Json(200, "Alive"), || {
        get(health::healthz)
    }),
    operation(
        Verb::Get,
        "/readyz",
        "Whether it can do its work: each dependency with its state; 503 where one that decides is down",
        Access::Anybody,
        Gives::Json(200, "Ready"),
        || get(health::readyz),
    ),
    operation(Verb::Get, "/metrics", "What is counted, for Prometheus", Access::Near(Scope::Read), Gives::Text, || {
        get(metrics::metrics)
    }),
    operation(Verb::Get, "/openapi.json", "This document", Access::Anybody, Gives::Json(200, "Document"), || {
        get(openapi::document)
    }),
];

/// The router of the table.
pub(super) fn router(app: Arc<App>) -> Router {
    let mut router = Router::new();
    for operation in OPERATIONS {
        let mut handler = (operation.handler)();
        if let Access::Token(scope) = operation.access {
            let need = Need { app: Arc::clone(&app), scope };
            handler = handler.layer(from_fn_with_state(need, authenticate));
        }
        let route = Route(operation.path);
        let named = from_fn(move |request: Request, next: Next| async move {
            let mut answer = next.run(request).await;
            answer.extensions_mut().insert(route);
            answer
        });
        router = router.route(operation.path, handler.layer(named));
    }
    router.layer(DefaultBodyLimit::max(BODY)).with_state(app)
}
