//! Chat completions as OpenAI shaped them, which Ollama, vLLM, llama.cpp and most gateways speak too.
//!
//! Nothing here asks for more than the smallest of them give: no key is needed, and an id, an index or the usage may
//! be missing.

mod request;

mod answer;

use async_trait::async_trait;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::agent::model::{Answer, Model, ModelError, Request};

use super::endpoint::Endpoint;

/// A model behind an API in OpenAI's shape.
#[derive(Debug)]
pub struct OpenAi {
    pub(super) endpoint: Endpoint,
    pub(super) max_tokens: Option<u32>,
    pub(super) temperature: Option<f64>,
}

impl OpenAi {
    fn headers(&self) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        if let Some(key) = &self.endpoint.key {
            let mut value = HeaderValue::try_from(format!("Bearer {}", key.value))
                .map_err(|_| self.endpoint.permanent(format!("the key in {} has forbidden characters", key.from)))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }
}

#[async_trait]
impl Model for OpenAi {
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
        let mut events = self.endpoint.post("chat/completions", self.headers()?, body, cancel).await?;
        let mut reader = answer::Reader::default();
        loop {
            let event = match events.next().await {
                Ok(Some(event)) => event,
                Ok(None) => break,
                Err(ModelError::Cancelled) => return Err(ModelError::Cancelled),
                // Only the usage can be missing after the finish reason.
                Err(_) if reader.is_finished() => break,
                Err(error) => return Err(error),
            };
            if event == "[DONE]" {
                break;
            }
            reader.take(&self.endpoint, &event, deltas)?;
        }
        reader.finish(&self.endpoint, request.messages)
    }
}

#[cfg(test)]
mod tests;
