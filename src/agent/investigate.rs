//! The loop: what comes next is decided by the state, done here, and recorded as events.

use std::sync::Arc;

use futures_util::future::join_all;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::execute::Conduct;
use warrant_kernel::call::record::Recorder;
use warrant_kernel::call::registry::Registry;
use warrant_kernel::call::{Desk, carry_out};
use warrant_kernel::domain::event::{Answered, Asked, Body};
use warrant_kernel::domain::report::Report;
use warrant_kernel::domain::result::ToolResult;
use warrant_kernel::policy::Policy;
use warrant_kernel::redact::Redactor;
use warrant_toolbox::catalog::Catalog;
use warrant_toolbox::runbook::library::Library;

use super::model::{Answer, Model, ModelError, Request, Seen, Stop, ToolSpec, Usage};
use super::prompt;
use super::report::{self, Chance, Judged};
use super::state::{CallState, State};
use super::step::{self, HandedIn, Step};
use super::sweep;
use super::trace::Trace;

/// Most tokens of one answer.
const ANSWER_TOKENS: u32 = 8_192;

/// Identical calls that have failed before the next one is not carried out.
const FAILURES: usize = 2;

/// What investigations share.
pub struct Bench {
    /// The tools.
    pub registry: Registry,
    /// The services.
    pub catalog: Arc<Catalog>,
    /// The runbooks.
    pub library: Arc<Library>,
    /// Who may do what.
    pub policy: Policy,
}

/// One investigation, ready to run.
pub struct Investigation<'a> {
    /// What investigations share.
    pub bench: &'a Bench,
    /// Masks with this investigation's key.
    pub redactor: Redactor,
    /// The model; fall-backs stand behind it.
    pub model: Arc<dyn Model>,
    /// Where events go.
    pub trace: Trace,
    /// When reads run.
    pub conduct: &'a dyn Conduct,
    /// Ends it.
    pub cancel: CancellationToken,
}

/// It was ended before its report; the trace holds all that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("ended before its report")]
pub struct Interrupted;

impl Investigation<'_> {
    /// Runs it to its report.
    ///
    /// # Errors
    /// [`Interrupted`] when its token fired first.
    pub async fn run(&self) -> Result<Report, Interrupted> {
        let tools = prompt::tools(&self.bench.registry, &self.trace.state().await.run.role);
        loop {
            let state = self.trace.state().await;
            if self.cancel.is_cancelled() && state.report.is_none() {
                self.trace.append(vec![Body::Interrupted]).await;
                return Err(Interrupted);
            }
            match step::next(&state) {
                Step::Sweep => {
                    let calls = sweep::calls(&state.run, &self.bench.catalog, &self.bench.registry);
                    self.trace.append(calls.into_iter().map(|call| Body::Asked(Asked::Read { call })).collect()).await;
                }
                Step::Ask(calls) => {
                    self.trace.append(calls.into_iter().map(|call| Body::Asked(Asked::Read { call })).collect()).await;
                }
                Step::CarryOut(calls) => self.carry_out(&state, calls).await,
                Step::HandIn(handed_in) => self.hand_in(&state, handed_in).await,
                Step::Warn(text) => self.trace.append(vec![Body::Budget { text, spent: false }]).await,
                Step::Spend(text) => self.trace.append(vec![Body::Budget { text, spent: true }]).await,
                Step::AskModel(turn) => self.ask_model(&state, turn, &tools).await,
                Step::Partial(why) => self.conclude(report::partial(&state, &self.bench.library, &why)).await,
                Step::Done => {
                    return state.report.clone().ok_or(Interrupted);
                }
            }
        }
    }

    /// Carries out calls: neighbours that are parallel-safe together, the others alone, in the order of the calls.
    async fn carry_out(&self, state: &State, calls: Vec<CallState>) {
        let is_safe =
            |call: &CallState| self.bench.registry.get(&call.call.tool).is_none_or(|tool| tool.about().parallel_safe);
        for group in calls.chunk_by(|left, right| is_safe(left) && is_safe(right)) {
            join_all(group.iter().map(|call| self.carry_out_one(state, call))).await;
        }
    }

    async fn carry_out_one(&self, state: &State, known: &CallState) {
        if let Some(result) = repeated(state, known) {
            self.trace.answered(&known.call, &result, None).await;
            return;
        }
        let desk = Desk {
            registry: &self.bench.registry,
            services: self.bench.catalog.as_ref(),
            policy: &self.bench.policy,
            redactor: &self.redactor,
            run: &state.run,
            evidence: &self.trace,
            conduct: self.conduct,
            recorder: &self.trace,
            now: known.asked_at,
            cancel: &self.cancel,
        };
        carry_out(desk, &known.call).await;
    }

    async fn ask_model(&self, state: &State, turn: u32, tools: &[ToolSpec]) {
        let messages = prompt::messages(state);
        let request = prompt::digest(tools, &messages);
        self.trace.append(vec![Body::Asked(Asked::Model { turn, request })]).await;
        let seen: Vec<Seen<'_>> = state
            .calls
            .iter()
            .filter_map(|known| Some(Seen { call: &known.call, result: known.result.as_ref()? }))
            .collect();
        let request = Request {
            run: &state.run,
            seen: &seen,
            system: prompt::SYSTEM,
            tools,
            messages: &messages,
            max_tokens: ANSWER_TOKENS,
        };
        let (sender, mut deltas) = unbounded_channel::<String>();
        let watching = async {
            while let Some(text) = deltas.recv().await {
                self.trace.watcher().delta(&text);
            }
        };
        let asking = async {
            let answer = self.model.answer(request, &sender, &self.cancel).await;
            drop(sender);
            answer
        };
        let (answer, ()) = tokio::join!(asking, watching);
        let answered = match answer {
            Ok(answer) => self.answer_of(turn, &answer),
            Err(ModelError::Cancelled) => return,
            Err(ModelError::ContextOverflow { model }) => self.answer_of(turn, &overflow(model)),
            Err(error @ (ModelError::Transient { .. } | ModelError::Permanent { .. })) => {
                Answered::ModelFailed { turn, message: self.masked(&error.to_string()) }
            }
        };
        self.trace.append(vec![Body::Answered(answered)]).await;
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
        for call in &mut masked.calls {
            call.arguments = text(&call.arguments)?;
            call.name = text(&call.name)?;
        }
        Some(masked)
    }

    fn masked(&self, text: &str) -> String {
        let masked = self.redactor.redact_text(text);
        masked.map_or_else(
            |_| "(the message could not be checked for secrets)".to_owned(),
            |masked| masked.text.into_owned(),
        )
    }

    async fn hand_in(&self, state: &State, handed_in: HandedIn) {
        let chance = if state.returns() == 0 { Chance::First } else { Chance::Last };
        let returned =
            |message: String| Body::Answered(Answered::Report { call_id: handed_in.call_id.clone(), message });
        match (&handed_in.draft, chance) {
            (Err(error), _) => {
                let message = format!("the report does not have the form that its schema asks for: {error}");
                self.trace.append(vec![returned(message)]).await;
            }
            (Ok(_), Chance::First) if handed_in.beside_others => {
                let message = "the calls beside it have been answered; read them, then call `report` alone".to_owned();
                self.trace.append(vec![returned(message)]).await;
            }
            (Ok(draft), chance) => {
                match report::judge(state, &self.bench.library, draft, &handed_in.written_by, chance) {
                    Judged::Returned(message) => self.trace.append(vec![returned(message)]).await,
                    Judged::Stands(report) => self.conclude(*report).await,
                }
            }
        }
    }

    async fn conclude(&self, report: Report) {
        let volatile = self.trace.volatile().await.is_some();
        self.trace.append(vec![Body::Reported { report: Box::new(Report { volatile, ..report }) }]).await;
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
    }
}

/// The answer to a call that has failed the same way often enough: the last failure, and a hint to look elsewhere.
fn repeated(state: &State, known: &CallState) -> Option<ToolResult> {
    let same = |earlier: &&CallState| {
        earlier.call.number < known.call.number
            && earlier.call.tool == known.call.tool
            && earlier.call.arguments == known.call.arguments
    };
    let failures: Vec<&ToolResult> = state
        .calls
        .iter()
        .filter(same)
        .filter_map(|earlier| earlier.result.as_ref())
        .filter(|result| !result.ok)
        .collect();
    let last = failures.last().filter(|_| failures.len() >= FAILURES)?;
    let mut result = (*last).clone();
    result.call_id = known.call.id.clone();
    result.hint = Some("this very call has failed before and was not carried out again; look elsewhere".to_owned());
    if let Some(error) = &mut result.error {
        error.reason = Some("REPEATED".to_owned());
        error.retryable = false;
    }
    Some(result)
}
