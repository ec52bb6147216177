//! The loop: what comes next is decided by the state, done here, and recorded as events.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::gate::Gate;
use warrant_kernel::call::gate::deed::Deed;
use warrant_kernel::call::record::Recorder;
use warrant_kernel::call::registry::Registry;
use warrant_kernel::call::{Desk, carry_out};
use warrant_kernel::domain::decision::{Decision, Risk};
use warrant_kernel::domain::event::{Answered, Asked, Body, Call};
use warrant_kernel::domain::report::{Report, WriteOutcome};
use warrant_kernel::domain::result::{Status, ToolResult};
use warrant_kernel::policy::Policy;
use warrant_kernel::redact::Redactor;
use warrant_kernel::store::capture::Captured;
use warrant_toolbox::catalog::Catalog;
use warrant_toolbox::runbook::library::Library;

use super::deltas::Lines;
use super::model::{Answer, Model, ModelError, Request, Seen, Stop, ToolSpec, Usage};
use super::prompt;
use super::report::{self, Judged};
use super::scheduler::Scheduler;
use super::state::{CallKind, CallState, State};
use super::step::{self, HandedIn, Step};
use super::sweep;
use super::trace::Trace;
use super::writes::{Notes, WriteSide};

/// Most tokens of one answer.
const ANSWER_TOKENS: u32 = 8_192;

/// Identical calls that have failed before the next one is not carried out.
const FAILURES: usize = 2;

/// What investigations share.
pub struct Bench {
    /// The tools.
    pub registry: Arc<Registry>,
    /// The services.
    pub catalog: Arc<Catalog>,
    /// The runbooks.
    pub library: Arc<Library>,
    /// Who may do what.
    pub policy: Arc<Policy>,
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
    pub scheduler: &'a Scheduler,
    /// Where writes go.
    pub writes: &'a dyn WriteSide,
    /// What the gate tells of them.
    pub notes: Notes,
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
        let opened = self.trace.state().await;
        let tools = prompt::tools(&self.bench.registry, &opened.run.role, opened.run.writes);
        loop {
            let state = self.trace.state().await;
            if self.cancel.is_cancelled() && state.report.is_none() {
                self.trace.append(vec![Body::Interrupted]).await;
                return Err(Interrupted);
            }
            match step::next(&state) {
                Step::Sweep => {
                    let calls = sweep::calls(&state.run, &self.bench.catalog, &self.bench.registry);
                    if calls.is_empty() {
                        self.ask_model(&state, 1, &tools).await;
                    } else {
                        self.ask(calls).await;
                    }
                }
                Step::Ask(calls) => {
                    self.ask(calls).await;
                }
                Step::CarryOut(calls) => self.carry_out(&state, calls).await,
                Step::HandIn(handed_in) => self.hand_in(&state, handed_in).await,
                Step::Warn(text) => self.trace.append(vec![Body::Budget { text, spent: false }]).await,
                Step::Spend(text) => self.trace.append(vec![Body::Budget { text, spent: true }]).await,
                Step::AskModel(_) if self.settle(&state).await => {}
                Step::AskModel(turn) => self.ask_model(&state, turn, &tools).await,
                Step::Partial(why) => self.conclude(report::partial(&state, &self.bench.library, &why)).await,
                Step::Done => {
                    return state.report.clone().ok_or(Interrupted);
                }
            }
        }
    }

    /// Records calls as asked, before any of them is carried out.
    async fn ask(&self, calls: Vec<Call>) {
        let asked = |call: Call| match self.kind(&call) {
            CallKind::Read => Asked::Read { call },
            CallKind::Write => Asked::Write { call },
        };
        self.trace.append(calls.into_iter().map(|call| Body::Asked(asked(call))).collect()).await;
    }

    /// Whether a call looks or changes something. What is no tool is refused as a read.
    fn kind(&self, call: &Call) -> CallKind {
        match self.bench.registry.get(&call.tool).map(|tool| tool.about().risk) {
            None | Some(Risk::Read) => CallKind::Read,
            Some(Risk::Write | Risk::Shell | Risk::Network | Risk::Dangerous) => CallKind::Write,
        }
    }

    /// Carries out calls: neighbours that are parallel-safe together, the others alone, in the order of the calls. A write
    /// is always alone.
    async fn carry_out(&self, state: &State, calls: Vec<CallState>) {
        // Once something was written, each look is a look of its own: whether the trouble is over shows only now.
        if state.writes().any(|written| written.outcome == WriteOutcome::Done) {
            self.scheduler.forget();
        }
        let is_safe = |call: &CallState| {
            call.kind == CallKind::Read
                && self.bench.registry.get(&call.call.tool).is_none_or(|tool| tool.about().parallel_safe)
        };
        for group in calls.chunk_by(|left, right| is_safe(left) && is_safe(right)) {
            join_all(group.iter().map(|call| self.carry_out_one(state, call))).await;
        }
    }

    async fn carry_out_one(&self, state: &State, known: &CallState) {
        match known.kind {
            CallKind::Read => self.carry_out_read(state, known).await,
            CallKind::Write => self.carry_out_write(state, known).await,
        }
    }

    async fn carry_out_read(&self, state: &State, known: &CallState) {
        if let Some(result) = repeated(state, known) {
            self.trace.answered(&known.call, &result, None).await;
            return;
        }
        carry_out(self.desk(state, known, Gate::ReadsOnly), &known.call).await;
    }

    /// All that the stages may use.
    pub(super) fn desk<'d>(&'d self, state: &'d State, known: &'d CallState, gate: Gate<'d>) -> Desk<'d> {
        Desk {
            registry: &self.bench.registry,
            services: self.bench.catalog.as_ref(),
            policy: &self.bench.policy,
            redactor: &self.redactor,
            run: &state.run,
            evidence: &self.trace,
            conduct: self.scheduler,
            recorder: self,
            gate,
            now: known.asked_at,
            cancel: &self.cancel,
        }
    }

    async fn ask_model(&self, state: &State, turn: u32, tools: &[ToolSpec]) {
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
            let answer = timeout(time_left(state), self.model.answer(request, &sender, &self.cancel)).await;
            drop(sender);
            answer
        };
        let (answer, ()) = tokio::join!(asking, watching);
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

    pub(super) fn masked(&self, text: &str) -> String {
        let masked = self.redactor.redact_text(text);
        masked.map_or_else(
            |_| "(the message could not be checked for secrets)".to_owned(),
            |masked| masked.text.into_owned(),
        )
    }

    async fn hand_in(&self, state: &State, handed_in: HandedIn) {
        match received(state, &self.bench.library, &handed_in) {
            Judged::Returned(message) => {
                let call_id = handed_in.call_id;
                self.trace.append(vec![Body::Answered(Answered::Report { call_id, message })]).await;
            }
            Judged::Stands(report) => self.conclude(*report).await,
        }
    }

    async fn conclude(&self, report: Report) {
        let volatile = self.trace.volatile().await.is_some();
        self.trace.append(vec![Body::Reported { report: Box::new(Report { volatile, ..report }) }]).await;
    }
}

/// Keeps what calls came to, unless it is only that the investigation was ended: those are asked again on resume.
#[async_trait]
impl Recorder for Investigation<'_> {
    async fn decided(&self, decision: &Decision) {
        self.trace.decided(decision).await;
    }

    async fn wrote(&self, deed: &Deed) {
        self.notes.keep(deed);
    }

    async fn answered(&self, call: &Call, result: &ToolResult, whole: Option<Captured>) {
        if result.status == Status::Cancelled && self.cancel.is_cancelled() {
            return;
        }
        match self.kind(call) {
            CallKind::Read => self.trace.answered(call, result, whole).await,
            CallKind::Write => self.answer_write(call, result, whole).await,
        }
    }
}

/// What comes of a report that was handed in.
pub(super) fn received(state: &State, library: &Library, handed_in: &HandedIn) -> Judged {
    match &handed_in.draft {
        Err(error) => Judged::Returned(format!("the report does not have the form that its schema asks for: {error}")),
        Ok(_) if handed_in.beside_others && state.returns() == 0 => {
            Judged::Returned("the calls beside it have been answered; read them, then call `report` alone".to_owned())
        }
        Ok(draft) => report::judge(state, library, draft, &handed_in.written_by, handed_in.chance),
    }
}

/// What the wall budget leaves.
fn time_left(state: &State) -> Duration {
    let spent = Duration::try_from(state.spent).unwrap_or_default();
    Duration::from_secs(state.budgets.wall_s).saturating_sub(spent)
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
    }
}

/// The answer to a call that has failed the same way often enough: the last failure, and a hint to look elsewhere.
fn repeated(state: &State, known: &CallState) -> Option<ToolResult> {
    let same = |earlier: &&CallState| {
        earlier.call.number < known.call.number
            && earlier.call.tool == known.call.tool
            && same_arguments(&earlier.call.arguments, &known.call.arguments)
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

/// Whether two calls ask the same, however it is written.
fn same_arguments(left: &str, right: &str) -> bool {
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    left == right || value(left).is_some_and(|left| value(right) == Some(left))
}
