//! Counts an investigation as it goes: a watcher between its trace and whoever watches it besides.
//!
//! One a run: it counts as running for as long as the watcher is held. What was recorded before it was taken up again has
//! been counted then.

use std::sync::Arc;

use warrant_kernel::domain::event::{Answered, Body, Event};
use warrant_kernel::domain::result::ToolResult;
use warrant_kernel::domain::run::Trigger;

use crate::agent::model::Answer;
use crate::agent::state::State;
use crate::agent::trace::Watcher;

use super::labels::{Began, Ended, Named, Tokens, Tool, status};
use super::{Metrics, known};

struct Counting {
    metrics: Arc<Metrics>,
    then: Arc<dyn Watcher>,
}

impl Metrics {
    /// Counts one investigation, and hands everything on.
    #[must_use]
    pub fn counting(self: &Arc<Self>, then: Arc<dyn Watcher>) -> Arc<dyn Watcher> {
        self.running.inc();
        Arc::new(Counting { metrics: Arc::clone(self), then })
    }

    fn called(&self, result: &ToolResult) {
        let tool = Tool { tool: known(&self.tools, &result.tool), status: status(result.status) };
        self.calls.get_or_create(&tool).inc();
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of a call are few")]
        let seconds = result.meta.duration_ms as f64 / 1_000.0;
        self.durations.get_or_create(&tool).observe(seconds);
        self.redactions.inc_by(result.meta.redactions);
    }

    fn thought(&self, answer: &Answer) {
        let model = known(&self.models, &answer.model);
        let usage = answer.usage;
        for (kind, tokens) in [("input", usage.input), ("cached", usage.cached), ("output", usage.output)] {
            self.tokens.get_or_create(&Tokens { model: model.clone(), kind }).inc_by(tokens);
        }
        if let Some(cost) = answer.cost.filter(|cost| cost.is_finite() && *cost >= 0.0) {
            self.cost.get_or_create(&Named { model }).inc_by(cost);
        }
    }
}

impl Watcher for Counting {
    fn event(&self, event: &Event, state: &State) {
        match &event.body {
            Body::Opened { run, .. } => {
                let trigger = match run.trigger {
                    Trigger::Question { .. } => "question",
                    Trigger::Alert { .. } => "alert",
                };
                self.metrics.began.get_or_create(&Began { trigger, channel: run.channel.as_str() }).inc();
            }
            Body::Answered(Answered::Read { result } | Answered::Write { result, .. }) => self.metrics.called(result),
            Body::Answered(Answered::Model { turn, .. }) => {
                if let Some(turn) = state.turns.last().filter(|last| last.number == *turn) {
                    self.metrics.thought(&turn.answer);
                }
            }
            Body::Answered(Answered::ModelFailed { .. }) => {
                self.metrics.model_failures.inc();
            }
            Body::Reported { report } => {
                self.metrics.ended.get_or_create(&Ended { outcome: report.outcome.as_str() }).inc();
            }
            Body::Answered(Answered::Report { .. })
            | Body::Framed { .. }
            | Body::Asked(_)
            | Body::Decided { .. }
            | Body::Settled { .. }
            | Body::Steered { .. }
            | Body::Brought { .. }
            | Body::News { .. }
            | Body::Budget { .. }
            | Body::Resumed
            | Body::Interrupted => {}
        }
        self.then.event(event, state);
    }

    fn delta(&self, text: &str) {
        self.then.delta(text);
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        self.metrics.running.dec();
    }
}
