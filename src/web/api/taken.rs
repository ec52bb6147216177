//! What routes take: bodies of JSON, ids in paths, and numbers in queries, each with a refusal of our own form.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use serde::de::DeserializeOwned;
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::plan::ApprovalId;

use crate::web::error::{ApiError, Code};

/// Most characters of a text that a person sends.
pub(super) const TEXT: usize = 4_000;

/// A body of JSON. It has to say that it is JSON: a page of another site can't, without being asked first.
pub(in crate::web) struct Sent<T>(pub(in crate::web) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Sent<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_json = kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
        if !is_json {
            return Err(ApiError::new(Code::NotJson, "NOT_JSON", "send `Content-Type: application/json`"));
        }
        let bytes = Bytes::from_request(request, state).await.map_err(|rejection| {
            match rejection.into_response().status() {
                StatusCode::PAYLOAD_TOO_LARGE => {
                    ApiError::new(Code::TooLarge, "BODY_TOO_LARGE", "the body is too large")
                }
                _ => ApiError::new(Code::Invalid, "BODY_NOT_READ", "the body did not come whole"),
            }
        })?;
        let taken = serde_json::from_slice(&bytes).map_err(|error| {
            ApiError::new(Code::Invalid, "BODY_DOES_NOT_FIT", format!("the body does not fit: {error}"))
        })?;
        Ok(Self(taken))
    }
}

/// A text that has to be there.
pub(super) fn text(name: &'static str, text: &str) -> Result<String, ApiError> {
    let trimmed = text.trim();
    let length = trimmed.chars().count();
    if length == 0 || length > TEXT {
        let message = format!("`{name}` has {length} characters; write 1 to {TEXT}");
        return Err(ApiError::new(Code::Invalid, "TEXT_LENGTH", message));
    }
    Ok(trimmed.to_owned())
}

/// An id of an investigation; what is none is no investigation.
pub(super) fn investigation(id: &str) -> Result<InvestigationId, ApiError> {
    id.parse().map_err(|_| ApiError::not_found("investigation"))
}

/// An id of an approval; what is none is no approval.
pub(super) fn approval(id: &str) -> Result<ApprovalId, ApiError> {
    id.parse().map_err(|_| ApiError::not_found("approval"))
}

/// How many are asked for.
pub(super) fn limit(limit: Option<u32>) -> Result<u32, ApiError> {
    match limit {
        None => Ok(50),
        Some(limit @ 1..=200) => Ok(limit),
        Some(_) => Err(ApiError::new(Code::Invalid, "LIMIT", "`limit` is from 1 to 200")),
    }
}
