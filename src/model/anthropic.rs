//! The Messages API of Anthropic: prompt caching, and thinking that goes back to the model as it came.

mod request;

mod answer;

use async_trait::async_trait;
use reqwest::header::{HeaderMap, HeaderValue};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::agent::model::{Answer, Model, ModelError, Request};

use super::endpoint::Endpoint;

/// Marks the blocks that only this API takes back.
const FAMILY: &str = "anthropic";

const VERSION: &str = "2023-06-01";

/// How the model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thinking {
    /// Not at all, unless the model does so by itself.
    Unasked,
    /// At most so many tokens.
    Budget(u32),
    /// As much as it finds right.
    Adaptive,
}

/// A model behind the Messages API.
#[derive(Debug)]
pub struct Anthropic {
    pub(super) endpoint: Endpoint,
    pub(super) max_tokens: Option<u32>,
    pub(super) temperature: Option<f64>,
    pub(super) thinking: Thinking,
}

impl Anthropic {
    fn headers(&self) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
        if let Some(key) = &self.endpoint.key {
            let mut value = HeaderValue::try_from(&key.value)
                .map_err(|_| self.endpoint.permanent(format!("the key in {} has forbidden characters", key.from)))?;
            value.set_sensitive(true);
            headers.insert("x-api-key", value);
        }
        Ok(headers)
    }
}

#[async_trait]
impl Model for Anthropic {
    fn name(&self) -> &str {
        &self.endpoint.name
    }

    async fn answer(
        &self,
        request: Request<'_>,
        deltas: &UnboundedSender<String>,
        cancel: &CancellationToken,
    ) -> Result<Answer, ModelError> {
        let body = request::body(self, &request)?;
        let mut events = self.endpoint.post("v1/messages", self.headers()?, body, cancel).await?;
        let mut reader = answer::Reader::default();
        while let Some(event) = events.next().await? {
            if reader.take(&self.endpoint, &event, deltas)? == answer::Progress::Whole {
                return reader.finish(&self.endpoint, request.messages);
            }
        }
        Err(self.endpoint.transient("the answer ended without `message_stop`, so it is not whole"))
    }
}

#[cfg(test)]
mod tests;
