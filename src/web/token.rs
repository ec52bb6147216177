//! Who is asking: the person of a bearer token that is good for what is asked, or nobody in particular.
//!
//! While no token has been made, requests of this machine are answered without one: for nobody in particular, and never a
//! decision about a write. A proxy on this machine makes others' requests look like its own, so one that says that it
//! forwards, or that is for another name than loopback's, counts as from afar.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use warrant_kernel::call::gate::objection::Objection;
use warrant_kernel::call::gate::sequencer::tokens::Scope;
use warrant_kernel::call::gate::vote::Claimant;
use warrant_kernel::domain::run::Requester;

use super::App;
use super::error::{ApiError, Code};
use super::guard::is_for_loopback;
use super::metrics::labels::Refused;
use super::server::Peer;

/// Most characters of a token.
const LONGEST: usize = 200;

/// Headers by which a proxy says for whom it asks.
const FORWARDED: [&str; 4] = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

/// Who is asking.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    /// For whom reads are bounded.
    pub(super) requester: Requester,
    /// How they proved who they are; none for nobody in particular.
    pub(super) proved: Option<Claimant>,
    /// Their token, for asking again later whether it still is good.
    token: Option<String>,
}

/// What a route needs.
#[derive(Clone)]
pub(super) struct Need {
    pub(super) app: Arc<App>,
    pub(super) scope: Scope,
}

/// Lets a request on to its route with who is asking, or says why not.
pub(super) async fn authenticate(State(need): State<Need>, mut request: Request, next: Next) -> Response {
    let asking = Asking::of(&request);
    match caller(&need.app, &asking, need.scope).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(error) => error.into_response(),
    }
}

/// What a request says of who is asking.
pub(super) struct Asking {
    sent: Sent,
    /// Whether it comes from this machine, and is for it.
    pub(super) is_near: bool,
    path: String,
}

impl Asking {
    pub(super) fn of(request: &Request) -> Self {
        let (sent, path) = (bearer(request.headers()), request.uri().path().to_owned());
        Self { sent, is_near: is_of_this_machine(request), path }
    }

    /// Whether it says anything of it.
    pub(super) fn says(&self) -> bool {
        !matches!(self.sent, Sent::Nothing)
    }
}

/// Who is asking, for something that takes this scope.
pub(super) async fn caller(app: &App, asking: &Asking, scope: Scope) -> Result<Caller, ApiError> {
    let found = match &asking.sent {
        Sent::Nothing if asking.is_near => of_this_machine(app, scope).await,
        Sent::Token(token) => of_token(app, token, scope).await,
        Sent::Nothing | Sent::Unreadable => Err(nobody()),
    };
    if let Err(error) = &found {
        let refused = match error.code() {
            Code::Unauthenticated => Refused::Unauthenticated,
            Code::Forbidden => Refused::Scope,
            _ => return found,
        };
        app.metrics.refused(refused);
        // Whoever is nobody could fill the log.
        if refused == Refused::Scope {
            tracing::warn!(reason = error.reason(), scope = scope.as_str(), path = asking.path, "refused");
        }
    }
    found
}

impl Caller {
    /// Whether they still are who they were, and their token still good.
    pub(super) async fn stands(&self, app: &App, scope: Scope) -> bool {
        match &self.token {
            Some(token) => of_token(app, token, scope).await.is_ok(),
            None => app.backend.has_tokens().await.is_ok_and(|any| !any),
        }
    }
}

/// What stands in `Authorization`.
enum Sent {
    Nothing,
    Token(String),
    Unreadable,
}

fn bearer(headers: &HeaderMap) -> Sent {
    let mut stated = headers.get_all(AUTHORIZATION).iter();
    let Some(one) = stated.next() else { return Sent::Nothing };
    let token = one.to_str().ok().and_then(|text| text.split_once(' ')).and_then(|(scheme, token)| {
        let token = token.trim_start();
        let is_token = !token.is_empty() && token.len() <= LONGEST && token.bytes().all(|byte| byte.is_ascii_graphic());
        (scheme.eq_ignore_ascii_case("bearer") && is_token).then(|| token.to_owned())
    });
    match (token, stated.next()) {
        (Some(token), None) => Sent::Token(token),
        (_, Some(_)) | (None, None) => Sent::Unreadable,
    }
}

async fn of_token(app: &App, token: &str, scope: Scope) -> Result<Caller, ApiError> {
    let claimant = app.backend.bearer(token, scope).await.map_err(|objection| match objection {
        // What a token is not good for is no secret from whoever has it; how tokens are looked up is.
        Objection::NoToken => nobody(),
        other => ApiError::from(other),
    })?;
    let requester = app.backend.requester(&claimant.person).await.map_err(ApiError::from)?.ok_or_else(|| {
        let message = format!("`{}` is no person of the config, or is not here any more", claimant.person);
        ApiError::new(Code::Forbidden, "NOT_ACTIVE", message)
    })?;
    Ok(Caller { requester, proved: Some(claimant), token: Some(token.to_owned()) })
}

async fn of_this_machine(app: &App, scope: Scope) -> Result<Caller, ApiError> {
    if scope == Scope::Approve {
        return Err(nobody());
    }
    let requester = app.backend.nobody().ok_or_else(nobody)?;
    if app.backend.has_tokens().await.map_err(ApiError::from)? {
        return Err(nobody());
    }
    Ok(Caller { requester, proved: None, token: None })
}

fn is_of_this_machine(request: &Request) -> bool {
    let peer = request.extensions().get::<Peer>();
    let near = peer.is_some_and(|Peer(address)| address.ip().to_canonical().is_loopback());
    near && is_for_loopback(request) && !FORWARDED.iter().any(|name| request.headers().contains_key(*name))
}

fn nobody() -> ApiError {
    let message = "send a token of your own: `Authorization: Bearer warrant_...`; `warrant token new` makes one";
    ApiError::new(Code::Unauthenticated, "NO_TOKEN", message)
}
