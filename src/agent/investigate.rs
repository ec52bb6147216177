//! The loop: what comes next is decided by the state, done here, and recorded as events.

mod asking;

mod parking;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use warrant_kernel::call::gate::Gate;
use warrant_kernel::call::gate::deed::Deed;
use warrant_kernel::call::record::Recorder;
use warrant_kernel::call::registry::Registry;
use warrant_kernel::call::{Desk, carry_out};
use warrant_kernel::domain::decision::{Decision, Risk};
use warrant_kernel::domain::event::{Answered, Asked, Body, Call};
use warrant_kernel::domain::report::{Report, WriteOutcome};
use warrant_kernel::domain::result::{Status, ToolResult};
use warrant_kernel::ledger::Random;
use warrant_kernel::policy::Policy;
use warrant_kernel::redact::Redactor;
use warrant_kernel::store::capture::Captured;
use warrant_toolbox::catalog::Catalog;
use warrant_toolbox::runbook::library::Library;

use super::brought::{self, File, Taken};
use super::envelope::Frame;
use super::model::Model;
use super::news::{Heard, News};
use super::prompt;
use super::report::{self, Judged};
use super::scheduler::Scheduler;
use super::state::{CallKind, CallState, State};
use super::step::{self, HandedIn, Step};
use super::sweep;
use super::trace::Trace;
use super::writes::{Notes, WriteSide};

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
    /// What reaches it while it runs.
    pub news: Arc<News>,
    /// Draws the word of the marks around text from outside.
    pub random: Random,
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
        let ended = self.turns().await;
        self.news.close();
        ended
    }

    async fn turns(&self) -> Result<Report, Interrupted> {
        let opened = self.trace.state().await;
        let tools = prompt::tools(&self.bench.registry, &opened.run.role, opened.run.writes);
        if opened.frame.is_none() && opened.report.is_none() {
            self.frame().await;
        }
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
                // The largest part of a run: on the heap, so that whoever awaits the run stays small.
                Step::CarryOut(calls) => Box::pin(self.carry_out(&state, calls)).await,
                Step::AskModel(_) | Step::HandIn(_) | Step::Partial(_) if self.hear().await => {}
                Step::HandIn(handed_in) if self.park(&state, &handed_in).await => {}
                Step::HandIn(handed_in) => self.hand_in(&state, handed_in).await,
                Step::Warn(text) => self.trace.append(vec![Body::Budget { text, spent: false }]).await,
                Step::Spend(text) => self.trace.append(vec![Body::Budget { text, spent: true }]).await,
                Step::AskModel(_) if self.settle(&state).await => {}
                Step::AskModel(turn) => {
                    let logged = tracing::error_span!("chat", turn);
                    self.ask_model(&state, turn, &tools).instrument(logged).await;
                }
                Step::Partial(why) => self.conclude(report::partial(&state, &self.bench.library, &why)).await,
                Step::Done => {
                    return state.report.clone().ok_or(Interrupted);
                }
            }
        }
    }

    /// Takes in what came meanwhile; whether anything did.
    async fn hear(&self) -> bool {
        let (news, kept) = self.news.take();
        let any = !news.is_empty();
        for heard in news {
            match heard {
                Heard::Event(body) => self.trace.append(vec![body]).await,
                Heard::File(file) => self.take_in(file).await,
            }
        }
        if any {
            kept.tell();
        }
        any
    }

    /// A file that somebody posted becomes evidence.
    async fn take_in(&self, file: File) {
        match brought::taken(self.trace.state().await.as_ref(), &self.redactor, file) {
            Taken::Known => {}
            Taken::Evidence(body, whole) => self.trace.bring(*body, whole).await,
            Taken::Said(body) => self.trace.append(vec![*body]).await,
        }
    }

    /// Draws the marks, once. No model is asked without them.
    async fn frame(&self) {
        let body = match Frame::draw(&self.random) {
            Ok(frame) => Body::Framed { word: frame.to_string() },
            Err(error) => Body::Budget { text: format!("no model can be asked safely: {error}"), spent: true },
        };
        self.trace.append(vec![body]).await;
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
            None | Some(Risk::Read | Risk::Shell) => CallKind::Read,
            Some(Risk::Write | Risk::Network | Risk::Dangerous) => CallKind::Write,
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
            let over = self.cancel.child_token();
            let together = join_all(group.iter().map(|call| self.carry_out_one(state, call, &over)));
            if group.iter().any(|call| call.kind == CallKind::Write) {
                // People's time to decide is not the investigation's.
                together.await;
                continue;
            }
            // Reads end with the wall budget as an answer does; what was not done by then comes back as ended.
            let left = time_left(self.trace.state().await.as_ref());
            tokio::select! {
                biased;
                _answered = together => {}
                () = ended_after(left, &over, self.news.stopping()) => {}
            }
        }
    }

    async fn carry_out_one(&self, state: &State, known: &CallState, over: &CancellationToken) {
        let logged = tracing::error_span!("call", id = %known.call.id);
        match known.kind {
            CallKind::Read => self.carry_out_read(state, known, over).instrument(logged).await,
            CallKind::Write => self.carry_out_write(state, known).instrument(logged).await,
        }
    }

    async fn carry_out_read(&self, state: &State, known: &CallState, over: &CancellationToken) {
        if let Some(result) = repeated(state, known) {
            self.trace.answered(&known.call, &result, None).await;
            return;
        }
        let desk = Desk { cancel: over, ..self.desk(state, known, Gate::ReadsOnly) };
        carry_out(desk, &known.call).await;
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
        Ok(_) if handed_in.beside_news => Judged::Returned(step::MEANWHILE.to_owned()),
        Ok(draft) => report::judge(state, library, draft, &handed_in.written_by, handed_in.chance),
    }
}

/// Fires `over` after a while, and never comes back: what it ends comes back by itself.
async fn ended_after(left: Duration, over: &CancellationToken, stop: &CancellationToken) {
    // Either is a reason to end.
    let _which = stop.run_until_cancelled(sleep(left)).await;
    over.cancel();
    std::future::pending::<()>().await;
}

/// What the wall budget leaves.
fn time_left(state: &State) -> Duration {
    let spent = Duration::try_from(state.spent).unwrap_or_default();
    Duration::from_secs(state.budgets.wall_s).saturating_sub(spent)
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
