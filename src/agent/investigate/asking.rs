//! One turn of the model: the request, the answer as it is written, and what of it is kept.

use tokio::sync::mpsc::unbounded_channel;
use tokio::time::timeout;
use warrant_kernel::domain::event::{Answered, Asked, Body};

use super::{Investigation, time_left};
use crate::agent::deltas::Lines;
use crate::agent::model::{Answer, ModelError, Request, Seen, Stop, ToolSpec, Usage};
use crate::agent::prompt;
use crate::agent::state::State;

/// Most tokens of one answer.
const ANSWER_TOKENS: u32 = 8_192;

impl Investigation<'_> {
    /// Asks the model for its next turn and keeps what it answers.
    pub(super) async fn ask_model(&self, state: &State, turn: u32, tools: &[ToolSpec]) {
        let messages = prompt::messages(state);
        let system = prompt::system(state.run.writes);
        let request = prompt::digest(system, tools, &messages);
        self.trace.append(vec![Body::Asked(Asked::Model { turn, request })]).await;
        let seen: Vec<Seen<'_>> = state.seen().collect();
        let request =
            Request { run: &state.run, seen: &seen, system, tools, messages: &messages, max_tokens: ANSWER_TOKENS };
        let (sender, mut deltas) = unbounded_channel::<String>();
        let watching = async {
            let mut lines = Lines::new(&self.redactor, self.trace.watcher());
            while let Some(text) = deltas.recv().await {
                lines.push(&text);
            }
            lines.finish();
        };
        let asking = async {
            let answering = timeout(time_left(state), self.model.answer(request, &sender, &self.cancel));
            let answer = self.news.stopping().run_until_cancelled(answering).await;
            drop(sender);
            answer
        };
        let (answer, ()) = tokio::join!(asking, watching);
        // Who stopped it has said so, and that is taken in next.
        let Some(answer) = answer else { return };
        let body = match answer {
            // A model may write for ever without ever falling silent.
            Err(_elapsed) => {
                let text = format!("the budget of {} seconds is spent", state.budgets.wall_s);
                Body::Budget { text, spent: true }
            }
            Ok(Ok(answer)) => Body::Answered(self.answer_of(turn, &answer)),
            Ok(Err(ModelError::Cancelled)) => return,
            Ok(Err(ModelError::ContextOverflow { model })) => Body::Answered(self.answer_of(turn, &overflow(model))),
            Ok(Err(error @ (ModelError::Transient { .. } | ModelError::Permanent { .. }))) => {
                Body::Answered(Answered::ModelFailed { turn, message: self.masked(&error.to_string()) })
            }
        };
        self.trace.append(vec![body]).await;
    }

    /// What a model writes goes into the trace and back to the model, so it is masked like anything else.
    fn answer_of(&self, turn: u32, answer: &Answer) -> Answered {
        let failed = |message: String| Answered::ModelFailed { turn, message };
        let masked = self.masked_answer(answer);
        match masked.map(|answer| serde_json::to_value(&answer)) {
            Some(Ok(answer)) => Answered::Model { turn, answer },
            Some(Err(error)) => failed(format!("an answer could not be kept: {error}")),
            None => failed("an answer could not be checked for secrets".to_owned()),
        }
    }

    fn masked_answer(&self, answer: &Answer) -> Option<Answer> {
        let text = |text: &str| self.redactor.redact_text(text).ok().map(|masked| masked.text.into_owned());
        let mut masked = answer.clone();
        masked.text = text(&answer.text)?;
        for passed_over in &mut masked.passed_over {
            *passed_over = text(passed_over)?;
        }
        for call in &mut masked.calls {
            call.arguments = text(&call.arguments)?;
            call.name = text(&call.name)?;
        }
        // Signed blocks can't be changed, so those of an answer go back all or none.
        for block in &answer.opaque {
            if self.redactor.redact_json(block).ok()?.1 > 0 {
                masked.opaque = Vec::new();
            }
        }
        Some(masked)
    }

    pub(in crate::agent) fn masked(&self, text: &str) -> String {
        let masked = self.redactor.redact_text(text);
        masked.map_or_else(
            |_| "(the message could not be checked for secrets)".to_owned(),
            |masked| masked.text.into_owned(),
        )
    }
}

fn overflow(model: String) -> Answer {
    Answer {
        model,
        text: String::new(),
        calls: Vec::new(),
        opaque: Vec::new(),
        stop: Stop::ContextOverflow,
        usage: Usage::default(),
        cost: None,
        passed_over: Vec::new(),
    }
}
