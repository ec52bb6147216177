//! Writes of an investigation: the way to the gate, what became of each, and what still waits.
//!
//! A write is never carried out a second time. After a break its approval says what became of it; where nobody had been
//! asked, nothing was done. While the trace can't be written nothing is.

mod told;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use warrant_kernel::call::carry_out;
use warrant_kernel::call::gate::approver::{Approver, Nobody};
use warrant_kernel::call::gate::deed::Deed;
use warrant_kernel::call::gate::exhibit::SoFar;
use warrant_kernel::call::gate::grounds::Grounds;
use warrant_kernel::call::gate::sequencer::Sequencer;
use warrant_kernel::call::gate::sequencer::account::Account;
use warrant_kernel::call::gate::{Gate, Writes};
use warrant_kernel::domain::event::{Answered, Body, Call};
use warrant_kernel::domain::name::ServiceName;
use warrant_kernel::domain::plan::ApprovalId;
use warrant_kernel::domain::result::ToolResult;
use warrant_kernel::domain::run::Writes as Asking;
use warrant_kernel::store::capture::Captured;
use warrant_toolbox::catalog::Catalog;
use warrant_toolbox::runbook::library::Library;

use super::investigate::Investigation;
use super::prompt;
use super::remedies;
use super::report::established;
use super::state::{CallKind, CallState, State};

/// Where the writes of an investigation go. What it opens, it opens when a write is asked for and not before.
#[async_trait]
pub trait WriteSide: Send + Sync {
    /// The sequencer.
    ///
    /// # Errors
    /// Why there is none, in a sentence for people.
    async fn sequencer(&self) -> Result<&Sequencer, String>;

    /// People at hand.
    fn approver(&self) -> &dyn Approver;

    /// How far the ledger has come, signed: what an auditor holds a record against. None where it can't be told.
    async fn checkpoint(&self) -> Option<String>;

    /// Where to wait for people who decide later. None where the report does not wait for them.
    fn lobby(&self) -> Option<&dyn Lobby>;
}

/// Where an investigation waits for people, so that others may run meanwhile.
#[async_trait]
pub trait Lobby: Send + Sync {
    /// Gives its place to others.
    fn leave(&self);

    /// Back when something may have been decided.
    async fn moved(&self);

    /// Back with a place of its own.
    async fn enter(&self);
}

/// How it stands with the writes that waited.
pub(super) struct Settling {
    /// What became of some of them, to be noted.
    pub(super) bodies: Vec<Body>,
    /// Whether any waits still.
    pub(super) waits: bool,
}

/// There are no writes.
pub struct NoWrites;

#[async_trait]
impl WriteSide for NoWrites {
    async fn sequencer(&self) -> Result<&Sequencer, String> {
        Err("writes are not open here".to_owned())
    }

    fn approver(&self) -> &dyn Approver {
        &Nobody
    }

    async fn checkpoint(&self) -> Option<String> {
        None
    }

    fn lobby(&self) -> Option<&dyn Lobby> {
        None
    }
}

/// What the gate told of the writes of this run, by their approvals, until they are answered.
#[derive(Debug, Default)]
pub struct Notes(Mutex<BTreeMap<ApprovalId, Deed>>);

impl Notes {
    /// Keeps what came of a write.
    pub(super) fn keep(&self, deed: &Deed) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(deed.approval, deed.clone());
    }

    fn of(&self, id: ApprovalId) -> Option<Deed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }
}

impl Investigation<'_> {
    /// Takes a write to the gate, or finds out what became of it.
    pub(super) async fn carry_out_write(&self, state: &State, known: &CallState) {
        if state.run.writes == Asking::Off {
            carry_out(self.desk(state, known, Gate::ReadsOnly), &known.call).await;
            return;
        }
        if let Some(why) = self.trace.volatile().await {
            let message = format!("the trace can't be written ({why}), so nothing is; reading goes on");
            self.answer_write(&known.call, &told::not_begun(&known.call, told::TRACE_UNWRITABLE, &message), None).await;
            return;
        }
        let sequencer = match self.writes.sequencer().await {
            Ok(sequencer) => sequencer,
            Err(why) => {
                let message = format!("nothing was written: {}", self.masked(&why));
                self.answer_write(&known.call, &told::not_begun(&known.call, told::NO_LEDGER, &message), None).await;
                return;
            }
        };
        if known.broken_off {
            let result = match sequencer.account(&state.run.investigation, &known.call.id).await {
                Ok(Some(account)) => told::result_of(&known.call, &account),
                Ok(None) => told::not_begun(
                    &known.call,
                    told::BROKEN_OFF,
                    "the run was broken off before anyone was asked, so nothing was done; propose it again if it still fits",
                ),
                Err(objection) => {
                    let message = format!("what became of it can't be read: {objection}; a person has to look");
                    told::not_begun(&known.call, told::UNREADABLE, &self.masked(&message))
                }
            };
            self.answer_write(&known.call, &result, None).await;
            return;
        }
        let results = prompt::still_seen(state);
        let seen: Vec<&ToolResult> = results.iter().collect();
        let grounds = self.grounds(state);
        let so_far = so_far(state, &self.bench.library);
        let writes = Writes {
            sequencer,
            approver: self.writes.approver(),
            seen: &seen,
            grounds: &grounds,
            contributors: &state.contributors,
            so_far: &so_far,
        };
        carry_out(self.desk(state, known, Gate::Open(writes)), &known.call).await;
    }

    /// Records what came of a write. Whatever was read before it may be different now.
    pub(super) async fn answer_write(&self, call: &Call, result: &ToolResult, whole: Option<Captured>) {
        self.scheduler.forget();
        let state = self.trace.state().await;
        let account = match state.run.writes {
            Asking::Off => None,
            Asking::Allowed => self.account(&state, call).await,
        };
        let deed = account.as_ref().and_then(|account| self.notes.of(account.card.approval));
        let mut written = told::written(state.run.writes, call, result, account.as_ref(), deed.as_ref());
        if let Some(proof) = &mut written.proof {
            proof.checkpoint = self.writes.checkpoint().await;
        }
        let follow_ups = deed.map(|deed| deed.follow_ups).unwrap_or_default();
        let answered = Answered::Write { result: Box::new(result.clone()), written: Box::new(written), follow_ups };
        self.trace.answer(call, answered, whole).await;
    }

    async fn account(&self, state: &State, call: &Call) -> Option<Account> {
        let sequencer = self.writes.sequencer().await.ok()?;
        match sequencer.account(&state.run.investigation, &call.id).await {
            Ok(account) => account,
            Err(error) => {
                tracing::warn!(%error, "the approval of {} can't be read", call.id);
                None
            }
        }
    }

    /// Notes what was decided meanwhile on writes that waited; whether anything was.
    pub(super) async fn settle(&self, state: &State) -> bool {
        let settled = self.settling(state).await.bodies;
        let any = !settled.is_empty();
        if any {
            self.scheduler.forget();
            self.trace.append(settled).await;
        }
        any
    }

    /// What became of the writes that waited.
    pub(super) async fn settling(&self, state: &State) -> Settling {
        let (mut settled, mut waits) = (Vec::new(), false);
        for waiting in state.waiting() {
            let Some(known) = state.calls.iter().find(|known| known.call.id == waiting.call_id) else { continue };
            let (Some(account), Some(result)) = (self.account(state, &known.call).await, &known.result) else {
                continue;
            };
            // How it ends, or the verdict, is a moment away, and without it the news would be half.
            if account.is_under_way {
                waits = true;
                continue;
            }
            let deed = self.notes.of(account.card.approval);
            let mut written = told::settled(&known.call, result, &account, deed.as_ref());
            if written.outcome == waiting.outcome {
                waits = true;
            } else {
                if let Some(proof) = &mut written.proof {
                    proof.checkpoint = self.writes.checkpoint().await;
                }
                let text = told::note(&written);
                let follow_ups = account.aftermath.map(|it| it.follow_ups).unwrap_or_default();
                settled.push(Body::Settled { written: Box::new(written), text, follow_ups });
            }
        }
        Settling { bodies: settled, waits }
    }

    /// Whose word there is for targets, beside the question itself. None of it is the model's.
    fn grounds(&self, state: &State) -> Grounds {
        Grounds {
            steered: state.steered.clone(),
            remedies: remedies::matched(state, &self.bench.catalog, &self.bench.library),
            neighbours: neighbours(&self.bench.catalog, state.run.service.as_ref()),
        }
    }
}

/// The services that the one in question calls, and those that call it.
fn neighbours(catalog: &Catalog, service: Option<&ServiceName>) -> Vec<ServiceName> {
    let Some(service) = service else { return Vec::new() };
    let called = catalog.service(service).map(|it| it.depends_on.clone()).unwrap_or_default();
    let callers = catalog.services().iter().filter(|(_, it)| it.depends_on.contains(service));
    called.into_iter().chain(callers.map(|(name, _)| name.clone())).collect()
}

/// The investigation up to here, for those who decide.
fn so_far(state: &State, library: &Library) -> SoFar {
    let reads = state.calls.iter().filter(|known| known.kind == CallKind::Read && known.result.is_some());
    let line = |known: &CallState| {
        let result = known.result.as_ref()?;
        let came_to = match &result.error {
            Some(error) => error.message.clone(),
            None => format!("{} rows", result.meta.lines_returned),
        };
        let evidence = result.evidence.map(|id| id.to_string()).unwrap_or_default();
        Some(format!("{evidence:<4} {} {}: {came_to}", known.call.tool, told::shortened(&known.call.arguments)))
    };
    SoFar {
        turns: u32::try_from(state.turns.len()).unwrap_or(u32::MAX),
        reads: u32::try_from(reads.count()).unwrap_or(u32::MAX),
        lines: state.calls.iter().filter_map(line).collect(),
        ruled_out: established::ruled_out(state, library),
    }
}
