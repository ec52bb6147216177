//! The write itself, its outcome, and the look after it.
//!
//! From the receipt on everything runs in a task of its own: whoever waits for it may go away, and what was done must be
//! written down nevertheless. A tool is asked once; nothing is ever tried again.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::call::execute::unbroken;
use crate::call::gate::approval::{Approval, State};
use crate::call::gate::deed::{Aftermath, Deed, Ended, Halt};
use crate::call::gate::warrant::Warrant;
use crate::call::write::{Effect, Held, Looking, Verdict, WriteError, WriteTool};
use crate::domain::plan::ApprovalId;
use crate::domain::result::{ErrorCode, Status};
use crate::ledger::Ledger;
use crate::ledger::record::{Entry, RecordKind};
use crate::redact::Redactor;

use super::grant::Granted;
use super::kept::{Index, Kept, Switch};
use super::voting::stopped;
use super::{Sequencer, lock, records, told};

/// How often the outcome is offered to the ledger.
const TRIES: u32 = 3;

/// What a task needs that outlives its caller.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) ledger: Ledger,
    pub(super) redactor: Redactor,
    pub(super) index: Arc<Mutex<Index>>,
}

/// Approvals whose work, or the look after it, goes on in this process.
#[derive(Clone, Default)]
pub(super) struct UnderWay(Arc<Mutex<BTreeSet<ApprovalId>>>);

impl UnderWay {
    pub(super) fn has(&self, id: ApprovalId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&id)
    }

    /// Until what it gives is dropped.
    fn begin(&self, id: ApprovalId) -> Flight {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        Flight { of: self.clone(), id }
    }
}

struct Flight {
    of: UnderWay,
    id: ApprovalId,
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.of.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

/// How the tool's own work ended.
enum Work {
    Ended(Box<Result<Effect, WriteError>>),
    TimedOut,
    Panicked,
}

impl Sequencer {
    /// Does what was granted.
    pub(in crate::call) async fn perform(&self, granted: Granted) -> Deed {
        let desk =
            Desk { ledger: self.ledger.clone(), redactor: self.redactor.clone(), index: Arc::clone(&self.index) };
        let (approval, intent) = (granted.kept.approval.id(), granted.warrant.intent());
        let source = granted.kept.approval.plan.target.source.clone();
        let flight = self.under_way.begin(approval);
        let task = tokio::spawn(async move {
            let deed = desk.perform(granted).await;
            drop(flight);
            deed
        });
        task.await.unwrap_or_else(|_| Deed {
            approval,
            intent,
            ended: Ended::Unknown { message: "the work broke off".to_owned() },
            duration: Duration::ZERO,
            closed: false,
            follow_ups: Vec::new(),
            source,
            output: None,
        })
    }
}

impl Desk {
    async fn perform(self, granted: Granted) -> Deed {
        let Granted { warrant, code, mut kept, timeout, now } = granted;
        let intent = warrant.intent();
        let began = Instant::now();
        let (ended, effect) = match self.last_look().await {
            Some(ended) => {
                drop(warrant);
                (ended, None)
            }
            None => self.ended(work(code.as_ref(), warrant, &kept.approval, timeout, now).await),
        };
        let duration = began.elapsed();
        let mut deed = Deed {
            approval: kept.approval.id(),
            intent,
            ended,
            duration,
            closed: false,
            follow_ups: Vec::new(),
            source: kept.approval.plan.target.source.clone(),
            output: None,
        };
        if let (Ended::Done { because, undo, .. }, Some(_)) = (&deed.ended, &effect) {
            deed.follow_ups = code.follow_ups(&kept.approval.plan);
            let (because, undo, follow_ups) = (because.clone(), undo.clone(), deed.follow_ups.clone());
            kept.approval.aftermath = Some(Aftermath { intent, because, undo, follow_ups });
        }
        deed.closed = self.close(&mut kept, &deed, now).await;
        if let Some(effect) = effect {
            let verdict = look(code.as_ref(), &kept.approval, &effect, timeout, now).await;
            self.note_verdict(&mut kept, &mut deed, &verdict, now).await;
            deed.output = Some(effect.output);
        }
        deed
    }

    /// The stop switch, read once more after the intent.
    async fn last_look(&self) -> Option<Ended> {
        let switch = Switch::load(&self.ledger).await;
        let message = match switch.and_then(|switch| stopped(&switch)) {
            Ok(None) => return None,
            Ok(Some(stop)) => format!("writes were stopped by {} at the last moment: {}", stop.by, stop.reason),
            Err(error) => format!("whether writes are stopped could not be read: {error}"),
        };
        Some(Ended::NotDone { reason: "CANCELLED".to_owned(), message })
    }

    fn ended(&self, work: Work) -> (Ended, Option<Effect>) {
        let unknown = |message: String| (Ended::Unknown { message: self.mask(&message) }, None);
        let ended = match work {
            Work::Ended(ended) => *ended,
            Work::TimedOut => return unknown("it did not end in its time after it had begun".to_owned()),
            Work::Panicked => return unknown("the tool broke down inside after it had begun".to_owned()),
        };
        match ended {
            Ok(effect) => {
                let ended = Ended::Done {
                    after: effect.after.clone(),
                    side_effects: effect.side_effects.iter().map(|text| self.mask(text)).collect(),
                    held: Held::Unknown,
                    because: "nobody has looked yet".to_owned(),
                    undo: effect.undo.clone(),
                };
                (ended, Some(effect))
            }
            Err(WriteError::Refused { reason, message } | WriteError::Backend { reason, message }) => {
                (Ended::NotDone { reason: reason.to_owned(), message: self.mask(&message) }, None)
            }
            Err(WriteError::Unknown { message }) => unknown(message),
        }
    }

    /// Tells the ledger how it ended; says whether the ledger knows. What can't be told never undoes the deed: the intent
    /// stays open, and the next start looks after it.
    async fn close(&self, kept: &mut Kept, deed: &Deed, now: Timestamp) -> bool {
        let entry = outcome(&kept.approval, deed);
        let undo = match deed.ended {
            Ended::Done { .. } => lock(&self.index).undone_by(&kept.approval.plan),
            Ended::NotDone { .. } | Ended::Unknown { .. } => None,
        };
        let undo = undo.map(|undone| records::undo(&kept.approval, undone, deed.intent));
        kept.approval.state = state_of(&deed.ended, now);
        let ended = async {
            let entry = records::masked(&self.redactor, entry).map_err(|error| error.to_string())?;
            let undo = undo.map(|undo| records::masked(&self.redactor, undo)).transpose();
            let also: Vec<Entry> = undo.map_err(|error| error.to_string())?.into_iter().collect();
            let document = kept.write().map_err(|error| error.to_string())?;
            let mut tries = 1;
            loop {
                let entry = entry.clone();
                let ended = match deed.ended {
                    Ended::Unknown { .. } => {
                        // No outcome: the intent stays open until a person has found out.
                        let entries = vec![entry.with("about", deed.intent)];
                        self.ledger.append(entries, vec![document.clone()]).await.map(drop)
                    }
                    Ended::Done { .. } | Ended::NotDone { .. } => {
                        let (also, documents) = (also.clone(), vec![document.clone()]);
                        self.ledger.close_with(deed.intent, entry, also, documents).await.map(drop)
                    }
                };
                match ended {
                    Ok(()) => return Ok(()),
                    Err(_) if tries < TRIES => tries += 1,
                    Err(error) => return Err(told(&error)),
                }
            }
        };
        match ended.await {
            Ok(()) => {
                kept.revision += 1;
                lock(&self.index).note(&kept.approval);
                true
            }
            Err(error) => {
                tracing::error!(approval = %deed.approval, intent = deed.intent, "the outcome is not recorded: {error}");
                false
            }
        }
    }

    async fn note_verdict(&self, kept: &mut Kept, deed: &mut Deed, verdict: &Verdict, now: Timestamp) {
        let said = self.mask(&verdict.because);
        if let Ended::Done { held, because, .. } = &mut deed.ended {
            *held = verdict.held;
            because.clone_from(&said);
        }
        if let Some(aftermath) = &mut kept.approval.aftermath {
            aftermath.because = said;
        }
        if !deed.closed {
            return;
        }
        kept.approval.state = State::Executed { at: now, verified: Some(verdict.held) };
        let entry = records::verified(&kept.approval, verdict).with("about", deed.intent);
        let ended = async {
            let entry = records::masked(&self.redactor, entry).map_err(|error| error.to_string())?;
            let document = kept.write().map_err(|error| error.to_string())?;
            self.ledger.append(vec![entry], vec![document]).await.map(drop).map_err(|error| told(&error))
        };
        match ended.await {
            Ok(()) => {
                kept.revision += 1;
                lock(&self.index).note(&kept.approval);
            }
            Err(error) => tracing::error!(approval = %deed.approval, "what was seen after it is not recorded: {error}"),
        }
    }

    fn mask(&self, text: &str) -> String {
        match self.redactor.redact_text(text) {
            // Only then cut: a part of a secret is no longer found.
            Ok(masked) => masked.text.chars().take(2_000).collect(),
            Err(_) => "(what was said could not be checked for secrets)".to_owned(),
        }
    }
}

/// The tool does it, within its time. The plan is not cancelled once it has begun: half a write is worse than a whole one.
async fn work(code: &dyn WriteTool, warrant: Warrant, approval: &Approval, timeout: Duration, now: Timestamp) -> Work {
    let cancel = CancellationToken::new();
    let _ends_with_its_time = cancel.clone().drop_guard();
    let looking = Looking { now, run: &approval.plan.run, seen: &[], cancel: &cancel };
    match tokio::time::timeout(timeout, unbroken(code.write(warrant, looking))).await {
        Ok(Some(ended)) => Work::Ended(Box::new(ended)),
        Ok(None) => Work::Panicked,
        Err(_elapsed) => Work::TimedOut,
    }
}

async fn look(
    code: &dyn WriteTool,
    approval: &Approval,
    effect: &Effect,
    timeout: Duration,
    now: Timestamp,
) -> Verdict {
    let cancel = CancellationToken::new();
    let _ends_with_its_time = cancel.clone().drop_guard();
    let looking = Looking { now, run: &approval.plan.run, seen: &[], cancel: &cancel };
    let cant_tell = |why: &str| Verdict {
        held: Held::Unknown,
        because: format!("whether it is as it should be could not be seen: {why}"),
        facts: effect.after.clone(),
    };
    match tokio::time::timeout(timeout, unbroken(code.verify(&approval.plan, effect, looking))).await {
        Ok(Some(verdict)) => verdict,
        Ok(None) => cant_tell("the tool broke down inside"),
        Err(_elapsed) => cant_tell("the look took too long"),
    }
}

fn state_of(ended: &Ended, now: Timestamp) -> State {
    match ended {
        Ended::Done { .. } => State::Executed { at: now, verified: None },
        Ended::NotDone { message, .. } => State::NotExecuted { at: now, because: message.clone() },
        Ended::Unknown { message } => State::Unknown { at: now, because: message.clone() },
    }
}

fn outcome(approval: &Approval, deed: &Deed) -> Entry {
    let took = u64::try_from(deed.duration.as_millis()).unwrap_or(u64::MAX);
    let entry = match &deed.ended {
        Ended::Done { after, side_effects, undo, .. } => {
            let mut entry = records::outcome(approval, "executed", &approval.plan.preview.effect)
                .with("after", records::facts(after))
                .with("side_effects", side_effects.clone());
            if let Some(undo) = undo {
                entry = entry.with("undo", records::proposal(undo));
            }
            entry
        }
        Ended::NotDone { reason, message } => {
            records::outcome(approval, "not_executed", message).with("reason_code", reason.as_str())
        }
        Ended::Unknown { message } => {
            let mut entry = records::outcome(approval, "unknown", message);
            entry.kind = RecordKind::Unknown;
            entry
        }
    };
    entry.with("duration_ms", took)
}

/// A look of a tool, within its time; a tool that breaks down ends its call and nothing else.
pub(super) async fn bounded<T>(limit: Duration, work: impl Future<Output = Result<T, WriteError>>) -> Result<T, Halt> {
    let error = |code: ErrorCode, reason: &str, message: String| Halt::new(Status::Error, code, reason, message);
    match tokio::time::timeout(limit, unbroken(work)).await {
        Ok(Some(Ok(done))) => Ok(done),
        Ok(Some(Err(WriteError::Refused { reason, message }))) => {
            Err(error(ErrorCode::InvalidArguments, reason, message))
        }
        Ok(Some(Err(WriteError::Backend { reason, message }))) => Err(error(ErrorCode::BackendError, reason, message)),
        Ok(Some(Err(WriteError::Unknown { message }))) => Err(error(ErrorCode::BackendError, "UNCLEAR", message)),
        Ok(None) => {
            let message = "the tool broke down inside; this is a fault of the program, so look another way".to_owned();
            Err(error(ErrorCode::BackendError, "PANICKED", message))
        }
        Err(_elapsed) => {
            let message = format!("a look at the target was ended after {} s without an answer", limit.as_secs_f64());
            Err(Halt::new(Status::Timeout, ErrorCode::Timeout, "TIMEOUT", message))
        }
    }
}
