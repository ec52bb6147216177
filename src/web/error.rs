//! The one form in which the API says no: `{"error": {"code", "reason", "message"}}`.
//!
//! `code` is one of a closed list and goes with the status; `reason` is finer and for programs; `message` is for people.
//! Nothing internal stands in it: what went wrong inside is told to our own log, under an id that the message names.

use std::error::Error;

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use uuid::Uuid;
use warrant_kernel::call::gate::objection::Objection;
use warrant_kernel::domain::visible::visible;

/// Most characters of a message.
const MESSAGE: usize = 500;

/// What stands in `code`, and the status that goes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// 400: the request makes no sense.
    Invalid,
    /// 401: nobody is known by it.
    Unauthenticated,
    /// 403: that one may not.
    Forbidden,
    /// 404: there is no such thing, or none that this one may see.
    NotFound,
    /// 405: not with this method.
    MethodNotAllowed,
    /// 409: not as things stand.
    Conflict,
    /// 413: the body is too large.
    TooLarge,
    /// 415: the body is not JSON.
    NotJson,
    /// 429: too much of it.
    TooMany,
    /// 503: not now.
    Unavailable,
    /// 504: it took too long.
    Timeout,
}

impl Code {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Invalid,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::Conflict,
        Self::TooLarge,
        Self::NotJson,
        Self::TooMany,
        Self::Unavailable,
        Self::Timeout,
    ];

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "INVALID_ARGUMENTS",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Forbidden => "FORBIDDEN",
            Self::NotFound => "NOT_FOUND",
            Self::MethodNotAllowed => "METHOD_NOT_ALLOWED",
            Self::Conflict => "CONFLICT",
            Self::TooLarge => "TOO_LARGE",
            Self::NotJson => "UNSUPPORTED_MEDIA_TYPE",
            Self::TooMany => "TOO_MANY",
            Self::Unavailable => "UNAVAILABLE",
            Self::Timeout => "TIMEOUT",
        }
    }

    /// Its status.
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::Invalid => StatusCode::BAD_REQUEST,
            Self::Unauthenticated => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Conflict => StatusCode::CONFLICT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Timeout => StatusCode::GATEWAY_TIMEOUT,
        }
    }
}

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    code: Code,
    reason: &'static str,
    message: String,
    retry_after: Option<u32>,
}

impl ApiError {
    /// A refusal.
    #[must_use]
    pub fn new(code: Code, reason: &'static str, message: impl AsRef<str>) -> Self {
        let message = visible(message.as_ref());
        let cut = message.chars().take(MESSAGE).collect::<String>();
        Self { code, reason, message: cut, retry_after: None }
    }

    /// When it may be tried again, in seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// There is none, or none that this person may see: the two are not told apart.
    #[must_use]
    pub fn not_found(what: &str) -> Self {
        Self::new(Code::NotFound, "NOT_FOUND", format!("there is no such {what}"))
    }

    /// Something broke inside. It is told to our own log, and here by an id only.
    #[must_use]
    pub fn internal(what: &str, error: &dyn Error) -> Self {
        let id = Uuid::now_v7();
        tracing::error!(%id, what, %error, source = ?error.source(), "a request could not be answered");
        Self::new(Code::Unavailable, "UNAVAILABLE", format!("that does not work now; our log has it under {id}"))
    }

    /// The finer reason.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.reason
    }

    /// The code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }
}

impl From<Objection> for ApiError {
    fn from(objection: Objection) -> Self {
        let code = match &objection {
            Objection::NoToken => Code::Unauthenticated,
            Objection::NoSuch(_) => return Self::not_found("approval"),
            Objection::OutOfScope { .. }
            | Objection::SelfApproval(_)
            | Objection::NotEligible { .. }
            | Objection::NoSuchPerson(_)
            | Objection::NotHuman(_)
            | Objection::NotActive(_)
            | Objection::SameAccount { .. }
            | Objection::DemoOnly
            | Objection::OwnDebt(_) => Code::Forbidden,
            Objection::NoReason => Code::Invalid,
            Objection::AlreadyConsumed(_)
            | Objection::Expired(_)
            | Objection::Denied { .. }
            | Objection::Revoked { .. }
            | Objection::Superseded { .. }
            | Objection::NotApproved(_)
            | Objection::NotDenied(_)
            | Objection::AlreadyApproved(_)
            | Objection::PlanHashMismatch(_)
            | Objection::StaleCard { .. }
            | Objection::WholeNotOpened(_)
            | Objection::AlreadyVoted(_)
            | Objection::WritesStopped { .. }
            | Objection::SwitchedAlready(_)
            | Objection::NoDebt(_)
            | Objection::NotUnknown(_) => Code::Conflict,
            Objection::DirectoryFailed(_) | Objection::Ledger(_) => {
                let reason = objection.code();
                return Self { reason, ..Self::internal("approvals", &objection) };
            }
        };
        Self::new(code, objection.code(), objection.to_string())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = json!({ "error": { "code": self.code.as_str(), "reason": self.reason, "message": self.message } });
        let mut response = (self.code.status(), Json(body)).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.code == Code::Unauthenticated {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
