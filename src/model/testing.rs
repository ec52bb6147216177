//! What the tests of several models share.

use std::time::Duration;

use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::run::{Channel, Requester, Run, Trigger, Writes};

use crate::agent::model::{Answer, Message, Model, ModelError, Request, Stop, Usage};

use super::endpoint::Endpoint;

/// An investigation.
pub(super) fn run() -> Run {
    let now = "2026-01-31T04:05:00Z".parse().unwrap();
    Run {
        investigation: InvestigationId::try_from("i1".to_owned()).unwrap(),
        trigger: Trigger::Question { text: "?".to_owned() },
        requester: Requester { person: "ada".parse().unwrap(), groups: Vec::new() },
        role: "explore".parse().unwrap(),
        channel: Channel::Terminal,
        writes: Writes::Off,
        service: None,
        since: now,
        opened_at: now,
    }
}

/// Asks a short question.
pub(super) async fn asked(model: &dyn Model, cancel: &CancellationToken) -> Result<Answer, ModelError> {
    let run = run();
    let messages = [Message::User { text: "?".to_owned() }];
    let request = Request { run: &run, seen: &[], system: "", tools: &[], messages: &messages, max_tokens: 100 };
    let (deltas, _pieces) = unbounded_channel();
    model.answer(request, &deltas, cancel).await
}

pub(super) fn text(model: &str) -> Answer {
    Answer {
        model: model.to_owned(),
        text: "so".to_owned(),
        calls: Vec::new(),
        opaque: Vec::new(),
        stop: Stop::Done,
        usage: Usage::default(),
        cost: None,
        passed_over: Vec::new(),
    }
}

pub(super) fn transient(retry_after: Option<Duration>) -> ModelError {
    ModelError::Transient { model: "main".to_owned(), message: "busy".to_owned(), retry_after }
}

pub(super) fn permanent() -> ModelError {
    ModelError::Permanent { model: "main".to_owned(), message: "no such model".to_owned() }
}

/// An endpoint that nothing listens at.
pub(super) fn endpoint() -> Endpoint {
    let url = "http://127.0.0.1:9/v1".parse().unwrap();
    Endpoint::new("main", "some-model", url, None, Duration::from_secs(1))
}
