//! Models in order: when one fails for good, the next is asked.
//!
//! What another model would not help with, the end of the investigation and a conversation that is too long, comes back
//! at once: the loop shortens it. A model that declined, or that keeps getting nowhere, is followed by the next one too.
//! [`Answer::model`] says who answered in the end.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use warrant_kernel::domain::name::InvestigationId;

use crate::agent::model::{Answer, Message, Model, ModelError, Request, Stop};

/// How long a model that failed for good is left alone while another one answers: each turn would pay its retries.
const REST: Duration = Duration::from_mins(1);

/// Answers in a row without a call after which the next model is asked. One is a slip.
const IDLE_ANSWERS: usize = 2;

struct Member {
    model: Arc<dyn Model>,
    /// Until when it is left alone, in milliseconds after the list was made.
    rests_until: AtomicU64,
}

/// Conversations that are remembered; beyond that many all are forgotten, which costs each no more than a turn.
const MOST_CONVERSATIONS: usize = 1_000;

/// A list of models.
pub struct List {
    name: String,
    members: Vec<Member>,
    made: Instant,
    /// How many of the first models an investigation has had enough of.
    enough: Mutex<HashMap<InvestigationId, usize>>,
}

impl List {
    /// A list that begins with `first`.
    #[must_use]
    pub fn new(first: Arc<dyn Model>, rest: Vec<Arc<dyn Model>>) -> Self {
        let models: Vec<_> = std::iter::once(first).chain(rest).collect();
        let name = models.iter().map(|model| model.name()).collect::<Vec<_>>().join(", ");
        let members = models.into_iter().map(|model| Member { model, rests_until: AtomicU64::new(0) }).collect();
        Self { name, members, made: Instant::now(), enough: Mutex::default() }
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.made.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Those that are awake in their order, then those that rest: better a doubtful model than none. Those that the
    /// investigation has had enough of stand behind the others.
    fn order(&self, enough: usize) -> Vec<(usize, &Member)> {
        let now = self.elapsed();
        let members: Vec<_> = self.members.iter().enumerate().collect();
        let (enough, others) = members.split_at(enough.min(self.members.len().saturating_sub(1)));
        let (awake, resting): (Vec<_>, Vec<_>) =
            others.iter().chain(enough).partition(|(_, member)| member.rests_until.load(Ordering::Relaxed) <= now);
        awake.into_iter().chain(resting).collect()
    }

    /// Of how many models the investigation has had enough, `more` counted in.
    fn enough_of(&self, investigation: &InvestigationId, more: impl Fn(usize) -> usize) -> usize {
        let mut enough = self.enough.lock().unwrap_or_else(PoisonError::into_inner);
        if enough.len() >= MOST_CONVERSATIONS {
            enough.clear();
        }
        let before = enough.get(investigation).copied().unwrap_or(0);
        let now = more(before);
        if now != before {
            enough.insert(investigation.clone(), now);
        }
        now
    }
}

#[async_trait]
impl Model for List {
    fn name(&self) -> &str {
        &self.name
    }

    async fn answer(
        &self,
        request: Request<'_>,
        deltas: &UnboundedSender<String>,
        cancel: &CancellationToken,
    ) -> Result<Answer, ModelError> {
        let mut errors = Vec::new();
        let mut declined = None;
        let mut passed_over = Vec::new();
        let investigation = &request.run.investigation;
        let idle = idle_answers(request.messages);
        let enough = self.enough_of(investigation, |enough| if idle >= IDLE_ANSWERS { enough + 1 } else { enough });
        for (index, member) in self.order(enough) {
            let error = match member.model.answer(request, deltas, cancel).await {
                // It may well answer another investigation, so it need not rest.
                Ok(answer) if answer.stop == Stop::Refused => {
                    tracing::warn!(model = member.model.name(), "the model declined");
                    passed_over.push(format!("{} declined to go on", member.model.name()));
                    self.enough_of(investigation, |enough| enough.max(index + 1));
                    declined = Some(answer);
                    continue;
                }
                Ok(answer) => return Ok(Answer { passed_over, ..answer }),
                Err(error @ (ModelError::Cancelled | ModelError::ContextOverflow { .. })) => return Err(error),
                Err(error @ (ModelError::Transient { .. } | ModelError::Permanent { .. })) => error,
            };
            let rest = u64::try_from(REST.as_millis()).unwrap_or(u64::MAX);
            member.rests_until.store(self.elapsed().saturating_add(rest), Ordering::Relaxed);
            if self.members.len() > 1 {
                tracing::warn!(model = member.model.name(), %error, "the model failed for good");
            }
            passed_over.push(error.to_string());
            errors.push(error);
        }
        declined.map_or_else(|| Err(self.all_failed(errors)), Ok)
    }
}

/// Answers at the end of the conversation that called nothing and were told so.
fn idle_answers(messages: &[Message]) -> usize {
    let mut newest_first = messages.iter().rev();
    let mut count = 0;
    while let (Some(Message::User { .. }), Some(Message::Assistant { calls, .. })) =
        (newest_first.next(), newest_first.next())
    {
        if !calls.is_empty() {
            break;
        }
        count += 1;
    }
    count
}

impl List {
    fn all_failed(&self, mut errors: Vec<ModelError>) -> ModelError {
        if errors.len() == 1
            && let Some(only) = errors.pop()
        {
            return only;
        }
        let message = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        ModelError::Permanent { model: self.name.clone(), message: format!("no model answered: {message}") }
    }
}

#[cfg(test)]
mod tests;
