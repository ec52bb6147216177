//! The one HTTP client: asks what the config names, and nothing else.
//!
//! An [`HttpClient`] is bound to one base URL and its credentials; a request adds path segments and query parameters
//! through encoders. It follows no redirect, uses no proxy, connects to no link-local or metadata address and stops
//! reading at a cap. Get one from [`clients::HttpClients`].

mod address;

pub mod place;

pub mod answer;

mod failure;

mod wire;

pub mod send;

pub mod clients;

#[cfg(test)]
mod tests;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{RequestBuilder, Url};
use warrant_kernel::call::tool::ReadError;
use warrant_kernel::domain::name::SourceName;

use answer::Answer;
use place::Place;
use wire::Wire;

/// Most bytes of an answer that are read into memory.
pub const BODY_CAP: usize = 16 * 1024 * 1024;

/// How a request says who asks.
#[derive(Clone, PartialEq, Eq)]
enum Credentials {
    None,
    Bearer(String),
    Basic { user: String, password: String },
}

/// One server or page of the config.
pub struct HttpClient {
    name: SourceName,
    place: Place,
    base: Url,
    credentials: Credentials,
    wire: Wire,
}

impl HttpClient {
    /// The source whose concurrency limit a read counts against.
    #[must_use]
    pub fn name(&self) -> &SourceName {
        &self.name
    }

    /// Its URL for people and the model: without the query, which may hold a token.
    #[must_use]
    pub fn url(&self) -> String {
        let mut shown = self.base.clone();
        shown.set_query(self.base.query().map(|_| "..."));
        shown.into()
    }

    /// Reads the base URL itself, at most `cap` bytes.
    ///
    /// # Errors
    /// [`ReadError::Backend`] where nothing answered, or the answer leads elsewhere. Any other status is an [`Answer`].
    pub async fn page(&self, accept: &'static str, cap: usize) -> Result<Answer, ReadError> {
        self.send(self.wire.client(&self.place)?.get(self.base.clone()).header(ACCEPT, accept), cap).await
    }

    /// Says hello at the server's root, without verifying its certificate and without credentials, so that the dates of
    /// a bad certificate can be told. What else the answer holds counts for nothing.
    ///
    /// # Errors
    /// As [`Self::page`].
    pub async fn unverified_hello(&self) -> Result<Answer, ReadError> {
        let mut root = self.base.clone();
        root.set_path("/");
        root.set_query(None);
        let sent = self.wire.unverified(&self.place)?.head(root).send().await;
        let response = sent.map_err(|error| failure::of(&self.place, &self.base, &error))?;
        Answer::receive(&self.place, &self.base, response, 0).await
    }

    /// Reads `path` beneath the base URL; each segment and each parameter is encoded.
    ///
    /// # Errors
    /// As [`Self::page`].
    pub async fn get(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Answer, ReadError> {
        let mut url = self.beneath(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.send(self.wire.client(&self.place)?.get(url).header(ACCEPT, "application/json"), BODY_CAP).await
    }

    /// Asks `path` beneath the base URL with the parameters as a form.
    ///
    /// # Errors
    /// As [`Self::page`].
    pub async fn post(&self, path: &[&str], form: &[(&str, &str)]) -> Result<Answer, ReadError> {
        let url = self.beneath(path);
        // The encoder of a query string is the encoder of a form.
        let mut encoder = url.clone();
        encoder.query_pairs_mut().clear().extend_pairs(form);
        let body = encoder.query().unwrap_or_default().to_owned();
        let request = self
            .wire
            .client(&self.place)?
            .post(url)
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(body);
        self.send(request, BODY_CAP).await
    }

    fn beneath(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        // Only a URL that can't be a base refuses; `place::checked` lets none through.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    async fn send(&self, request: RequestBuilder, cap: usize) -> Result<Answer, ReadError> {
        let response =
            self.authorized(request).send().await.map_err(|error| failure::of(&self.place, &self.base, &error))?;
        Answer::receive(&self.place, &self.base, response, cap).await
    }

    fn authorized(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.credentials {
            Credentials::None => request,
            Credentials::Bearer(token) => request.bearer_auth(token),
            Credentials::Basic { user, password } => request.basic_auth(user, Some(password)),
        }
    }
}
