//! What an answer cost, by the prices in the config.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::config::Prices;
use crate::agent::model::{Answer, Model, ModelError, Request};

/// A model whose answers state their cost.
pub struct Priced {
    inner: Arc<dyn Model>,
    prices: Prices,
}

impl Priced {
    /// Puts prices on the answers of `inner`.
    #[must_use]
    pub fn new(inner: Arc<dyn Model>, prices: Prices) -> Self {
        Self { inner, prices }
    }
}

#[async_trait]
impl Model for Priced {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn answer(
        &self,
        request: Request<'_>,
        deltas: &UnboundedSender<String>,
        cancel: &CancellationToken,
    ) -> Result<Answer, ModelError> {
        let answer = self.inner.answer(request, deltas, cancel).await?;
        Ok(Answer { cost: Some(self.prices.cost(&answer.usage)), ..answer })
    }
}
