//! What the model and the report are told of a write, from its result and its approval.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use warrant_kernel::call::gate::approval::State;
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::deed::{Deed, Ended};
use warrant_kernel::call::gate::sequencer::account::Account;
use warrant_kernel::call::write::Held;
use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::event::Call;
use warrant_kernel::domain::report::{Proof, Verified, WriteOutcome, Written};
use warrant_kernel::domain::result::{CallError, ErrorCode, Meta, Origin, Status, ToolResult};
use warrant_kernel::domain::run::Writes;
use warrant_kernel::domain::time::rfc3339;

use crate::agent::remedies::calls::without_case;

/// A status, its code and the finer reason.
pub(super) type Why = (Status, ErrorCode, &'static str);

pub(super) const TRACE_UNWRITABLE: Why = (Status::Denied, ErrorCode::LedgerUnavailable, "TRACE_UNWRITABLE");
pub(super) const NO_LEDGER: Why = (Status::Error, ErrorCode::LedgerUnavailable, "NOT_OPEN");
pub(super) const BROKEN_OFF: Why = (Status::Cancelled, ErrorCode::Cancelled, "BROKEN_OFF");
pub(super) const UNREADABLE: Why = (Status::Unknown, ErrorCode::OutcomeUnknown, "APPROVAL_UNREADABLE");

/// Longest arguments that are shown.
const ARGUMENTS: usize = 120;

fn envelope(call: &Call, status: Status) -> ToolResult {
    ToolResult {
        call_id: call.id.clone(),
        tool: call.tool.clone(),
        status,
        ok: status == Status::Ok,
        evidence: None,
        data: Value::Null,
        truncated: false,
        error: None,
        hint: None,
        meta: Meta {
            source: None,
            origin: Origin::Warrant,
            fields: BTreeMap::new(),
            lines_returned: 0,
            lines_matched: None,
            duration_ms: 0,
            output_chars: 0,
            redactions: 0,
            cached: false,
            captured: false,
            side_effects: Vec::new(),
            trace_reason: None,
        },
    }
}

/// The result of a write that was not begun.
pub(super) fn not_begun(call: &Call, (status, code, reason): Why, message: &str) -> ToolResult {
    let error = CallError { code, reason: Some(reason.to_owned()), message: message.to_owned(), retryable: false };
    ToolResult { error: Some(error), ..envelope(call, status) }
}

/// The result of a write that was asked for before a break, as its approval tells it now.
pub(super) fn result_of(call: &Call, account: &Account) -> ToolResult {
    let card = &account.card;
    let id = card.approval;
    let refused = |status, code, reason, message: String| not_begun(call, (status, code, reason), &message);
    match &card.state {
        State::Approved { .. } => refused(
            Status::Pending,
            ErrorCode::ApprovalPending,
            "APPROVED",
            format!("not executed yet; {id} is approved, and all is looked at again before it is done"),
        ),
        State::Open | State::Superseded { .. } => refused(
            Status::Pending,
            ErrorCode::ApprovalPending,
            "WAITS",
            format!("not executed; waits for approval {id} until {}", rfc3339(card.expires_at)),
        ),
        State::Denied { by, reason, .. } => {
            refused(Status::Denied, ErrorCode::ApprovalDenied, "DENIED", format!("{by} denied {id}: {reason}"))
        }
        State::Expired { .. } => {
            refused(Status::Denied, ErrorCode::ApprovalExpired, "EXPIRED", format!("nobody decided on {id} in time"))
        }
        State::Revoked { by, reason, .. } => {
            refused(Status::Denied, ErrorCode::ApprovalRevoked, "REVOKED", format!("{by} took {id} back: {reason}"))
        }
        State::Consumed { .. } => refused(
            Status::Unknown,
            ErrorCode::OutcomeUnknown,
            "UNDER_WAY",
            format!("{id} was begun, and how it ended is not known yet; never repeat it"),
        ),
        State::NotExecuted { because, .. } => refused(
            Status::Error,
            ErrorCode::BackendError,
            "NOT_EXECUTED",
            format!("{id} was approved and not done: {because}"),
        ),
        State::Unknown { because, .. } => refused(
            Status::Unknown,
            ErrorCode::OutcomeUnknown,
            "UNKNOWN",
            format!("whether {id} took effect is not known: {because}; a person has to look, never repeat it"),
        ),
        State::Executed { verified, .. } => {
            let because = account.aftermath.as_ref().map(|it| it.because.as_str());
            let mut data = json!({
                "approval": id, "done": [card.effect], "verified": { "held": verified, "because": because },
            });
            if let (Some(undo), Some(data)) =
                (account.aftermath.as_ref().and_then(|it| it.undo.as_ref()), data.as_object_mut())
            {
                data.insert("undo".to_owned(), json!(undo));
            }
            ToolResult { evidence: Some(account.evidence), data, ..envelope(call, Status::Ok) }
        }
    }
}

/// What the report says of a write that was just answered.
pub(super) fn written(
    asking: Writes,
    call: &Call,
    result: &ToolResult,
    account: Option<&Account>,
    deed: Option<&Deed>,
) -> Written {
    let mut outcome = match (result.status, result.error.as_ref().map(|error| error.code)) {
        (Status::Ok, _) => WriteOutcome::Done,
        (Status::Pending, _) | (_, Some(ErrorCode::ApprovalPending)) => WriteOutcome::Pending,
        (Status::Unknown, _) | (_, Some(ErrorCode::OutcomeUnknown)) => WriteOutcome::Unknown,
        (_, Some(ErrorCode::ApprovalExpired)) => WriteOutcome::Expired,
        (_, Some(ErrorCode::ApprovalRevoked)) => WriteOutcome::Revoked,
        (_, Some(ErrorCode::ApprovalDenied | ErrorCode::PolicyDenied)) => WriteOutcome::Denied,
        (
            Status::Error | Status::Denied | Status::Timeout | Status::Cancelled,
            None
            | Some(
                ErrorCode::UnknownTool
                | ErrorCode::InvalidArguments
                | ErrorCode::PlanChanged
                | ErrorCode::LedgerUnavailable
                | ErrorCode::Cancelled
                | ErrorCode::Timeout
                | ErrorCode::BackendError,
            ),
        ) => WriteOutcome::NotDone,
    };
    if asking == Writes::Off {
        outcome = WriteOutcome::NotDone;
    }
    let card = account.map(|account| &account.card);
    let aftermath = account.and_then(|account| account.aftermath.as_ref());
    let (verified, undo) = match deed.map(|deed| &deed.ended) {
        Some(Ended::Done { held, because, undo, .. }) => {
            (Some(Verified { held: told_of(*held), because: because.clone() }), undo.clone())
        }
        Some(Ended::NotDone { .. } | Ended::Unknown { .. }) => (None, None),
        None => (account.and_then(seen_by_others), aftermath.and_then(|it| it.undo.clone())),
    };
    Written {
        call_id: call.id.clone(),
        tool: call.tool.clone(),
        what: card.map_or_else(|| arguments(call), |card| card.effect.clone()),
        approval: card.map(|card| card.approval),
        tier: card.map(|card| card.tier),
        decided_by: card.map(decided_by).unwrap_or_default(),
        outcome,
        reason: result.error.as_ref().map(|error| error.message.clone()),
        verified,
        undo,
        evidence: result.evidence,
        proof: deed
            .map(|deed| deed.intent)
            .or_else(|| aftermath.map(|it| it.intent))
            .map(|intent| Proof { intent, checkpoint: None }),
    }
}

fn told_of(held: Held) -> Option<bool> {
    match held {
        Held::Held => Some(true),
        Held::Failed => Some(false),
        Held::Unknown => None,
    }
}

/// What is known of the look after a write that another process carried out, or this one after its call had ended.
fn seen_by_others(account: &Account) -> Option<Verified> {
    let State::Executed { verified: Some(held), .. } = &account.card.state else { return None };
    let seen = account.aftermath.as_ref().map(|it| it.because.clone());
    let because = seen.unwrap_or_else(|| "the ledger has what was seen".to_owned());
    Some(Verified { held: told_of(*held), because })
}

/// What the report says of a write that had to wait, once something became of it.
pub(super) fn settled(call: &Call, asked: &ToolResult, account: &Account, deed: Option<&Deed>) -> Written {
    let now = result_of(call, account);
    Written { evidence: asked.evidence, ..written(Writes::Allowed, call, &now, Some(account), deed) }
}

/// Persons, or the policies where nobody had to be asked.
fn decided_by(card: &Card) -> Vec<String> {
    match &card.state {
        State::Denied { by, .. } | State::Revoked { by, .. } => vec![by.to_string()],
        State::Open
        | State::Approved { .. }
        | State::Expired { .. }
        | State::Superseded { .. }
        | State::Consumed { .. }
        | State::Executed { .. }
        | State::NotExecuted { .. }
        | State::Unknown { .. } => match card.tier {
            Tier::Low => card.policy_ids.clone(),
            Tier::Medium | Tier::High => card.electorate.approved.iter().map(ToString::to_string).collect(),
        },
    }
}

/// What the model is told when a write that waited no longer does.
pub(super) fn note(written: &Written) -> String {
    let id = written.approval.map(|id| id.to_string()).unwrap_or_default();
    let what = format!("{} ({}, {id})", written.what, written.call_id);
    let because = written.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    match written.outcome {
        WriteOutcome::Done => {
            let seen = match written.verified.as_ref().map(|it| (it.held, it.because.as_str())) {
                Some((Some(true), because)) => format!(" It was verified: {because}."),
                Some((Some(false), because)) => format!(" Its verification FAILED: {because}."),
                Some((None, because)) => format!(" It could not be verified: {because}."),
                None => String::new(),
            };
            let undo = written.undo.as_ref();
            let undo = undo.map(|undo| format!(" To take it back: {} {}.", undo.tool, json!(undo.arguments)));
            let undo = undo.unwrap_or_default();
            format!("What waited was approved and done: {what}.{seen}{undo} Look whether the trouble is over.")
        }
        WriteOutcome::Pending => format!("It still waits: {what}."),
        WriteOutcome::NotDone
        | WriteOutcome::Denied
        | WriteOutcome::Expired
        | WriteOutcome::Revoked
        | WriteOutcome::Unknown => format!("What waited is {}: {what}{because}", written.outcome.as_str()),
    }
}

/// The arguments in short, without what was argued.
fn arguments(call: &Call) -> String {
    let parsed: Value = serde_json::from_str(&call.arguments).unwrap_or(Value::Null);
    let shown = format!("{} {}", call.tool, Value::Object(without_case(&parsed)));
    shortened(&shown)
}

/// A text of a bearable length.
pub(super) fn shortened(text: &str) -> String {
    if text.chars().count() <= ARGUMENTS {
        return text.to_owned();
    }
    let head: String = text.chars().take(ARGUMENTS).collect();
    format!("{head}...")
}
