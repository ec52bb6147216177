//! Requests that change something.
//!
//! What matters is what is known when no good answer came: whether the request can have reached the server. Where it can,
//! the outcome is not known, and nothing here tries again.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde_json::Value;
use tokio::time::timeout;
use warrant_kernel::call::tool::ReadError;
use warrant_kernel::call::write::WriteError;
use warrant_kernel::domain::tool::HttpMethod;

use super::answer::Answer;
use super::{BODY_CAP, HttpClient, failure};
use crate::catalog::reach::Refused;

/// After this the answer is not waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<'a> {
    /// POST, PUT or DELETE.
    pub method: HttpMethod,
    /// Segments beneath the base URL.
    pub path: &'a [&'a str],
    /// Query parameters.
    pub query: &'a [(&'a str, &'a str)],
    /// The JSON that is sent, if any.
    pub body: Option<&'a Value>,
}

impl HttpClient {
    /// The path and query of a request as they are sent, without the server.
    #[must_use]
    pub fn line(&self, path: &[&str], query: &[(&str, &str)]) -> String {
        let mut url = self.beneath(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()))
    }

    /// Sends it, once; an answer of 2xx is good.
    ///
    /// # Errors
    /// [`WriteError::Backend`] where it can't have reached the server, or the server refused it (3xx, 4xx);
    /// [`WriteError::Unknown`] where it may have taken effect.
    pub async fn change(&self, outgoing: Outgoing<'_>) -> Result<Answer, WriteError> {
        let method = match outgoing.method {
            HttpMethod::Post => Method::POST,
            HttpMethod::Put => Method::PUT,
            HttpMethod::Delete => Method::DELETE,
            HttpMethod::Get => {
                return Err(backend(failure::backend("METHOD", "GET changes nothing".to_owned(), false)));
            }
        };
        let mut url = self.beneath(outgoing.path);
        if !outgoing.query.is_empty() {
            url.query_pairs_mut().extend_pairs(outgoing.query);
        }
        let mut request =
            self.wire.client(&self.place).map_err(backend)?.request(method, url).header(ACCEPT, "application/json");
        if let Some(body) = outgoing.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let sent = timeout(PATIENCE, self.authorized(request).send()).await;
        let unknown =
            |why: String| WriteError::Unknown { message: format!("{why}; whether it took effect is not known") };
        let late = || unknown(format!("{} did not answer within {} s", self.place, PATIENCE.as_secs()));
        let response = match sent {
            Err(_) => return Err(late()),
            Ok(Err(error)) => {
                let told = failure::of(&self.place, &self.base, &error);
                let never_sent = error.is_connect() || error.is_builder() || failure::is::<Refused>(&error);
                return Err(if never_sent { backend(told) } else { unknown(told.to_string()) });
            }
            Ok(Ok(response)) => response,
        };
        let status = response.status().as_u16();
        let received = timeout(PATIENCE, Answer::receive(&self.place, &self.base, response, BODY_CAP)).await;
        match status {
            200..=299 => match received {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(error)) => Err(unknown(error.to_string())),
                Err(_) => Err(late()),
            },
            // The server says that it would not.
            300..=407 | 409..=499 => Err(match received {
                Ok(Ok(answer)) => backend(answer.bad_status()),
                Ok(Err(error)) => backend(error),
                Err(_) => backend(failure::status(&self.place, &self.base, status, "")),
            }),
            _ => Err(match received {
                Ok(Ok(answer)) => unknown(answer.bad_status().to_string()),
                Ok(Err(error)) => unknown(error.to_string()),
                Err(_) => late(),
            }),
        }
    }
}

/// An error before anything was changed.
#[must_use]
pub fn backend(error: ReadError) -> WriteError {
    match error {
        ReadError::Backend { reason, message, .. } | ReadError::Invalid { reason, message } => {
            WriteError::Backend { reason, message }
        }
        ReadError::Cancelled => {
            WriteError::Backend { reason: "CANCELLED", message: "it was ended before it began".to_owned() }
        }
    }
}
