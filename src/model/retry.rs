//! Patience with a model that fails for a moment.
//!
//! Only transient errors are tried again; what the provider asks us to wait is obeyed up to a minute, else the waits
//! double from half a second up to eight. The end of the investigation ends a wait.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::agent::model::{Answer, Model, ModelError, Request};

/// Longest wait that a provider is granted.
const MAX_ASKED: Duration = Duration::from_mins(1);

const FIRST: Duration = Duration::from_millis(500);

const LONGEST: Duration = Duration::from_secs(8);

/// Draws the share, 0 to 1, that is taken off half of a wait, so that many investigations do not come back at once.
pub type Jitter = Arc<dyn Fn() -> f64 + Send + Sync>;

/// Jitter from the system's randomness.
#[must_use]
pub fn system_jitter() -> Jitter {
    Arc::new(|| getrandom::u32().map_or(0.5, |drawn| f64::from(drawn) / f64::from(u32::MAX)))
}

/// A model that is asked again when it fails for a moment.
pub struct Patient {
    inner: Arc<dyn Model>,
    tries: NonZeroU32,
    jitter: Jitter,
}

impl Patient {
    /// Asks `inner` at most `tries` times.
    #[must_use]
    pub fn new(inner: Arc<dyn Model>, tries: NonZeroU32, jitter: Jitter) -> Self {
        Self { inner, tries, jitter }
    }

    fn wait(&self, failures: u32, asked: Option<Duration>) -> Duration {
        if let Some(asked) = asked.filter(|asked| *asked <= MAX_ASKED) {
            return asked;
        }
        let doubled = FIRST.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1))).min(LONGEST);
        doubled.mul_f64(1.0 - 0.5 * (self.jitter)().clamp(0.0, 1.0))
    }
}

#[async_trait]
impl Model for Patient {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn answer(
        &self,
        request: Request<'_>,
        deltas: &UnboundedSender<String>,
        cancel: &CancellationToken,
    ) -> Result<Answer, ModelError> {
        let mut failures = 0;
        loop {
            let error = match self.inner.answer(request, deltas, cancel).await {
                Err(error @ ModelError::Transient { .. }) => error,
                other => return other,
            };
            failures += 1;
            let ModelError::Transient { model, message, retry_after } = error else { return Err(error) };
            if failures >= self.tries.get() {
                let message = if failures > 1 { format!("{message} (tried {failures} times)") } else { message };
                return Err(ModelError::Transient { model, message, retry_after });
            }
            let wait = self.wait(failures, retry_after);
            tracing::warn!(model, message, ?wait, "the model failed for a moment and is asked again");
            if cancel.run_until_cancelled(sleep(wait)).await.is_none() {
                return Err(ModelError::Cancelled);
            }
        }
    }
}

#[cfg(test)]
mod tests;
