//! The writes of a report: what was proposed, who decided, how it ended, and how to prove or undo it.

use serde_json::Value;
use warrant_kernel::domain::report::{WriteOutcome, Written};

use super::Page;
use crate::chat::terminal::style::Role;
use crate::chat::words::held;

/// Writes them under a heading of their own; nothing where none was proposed.
pub(super) fn section(page: &mut Page, writes: &[Written]) {
    if writes.is_empty() {
        return;
    }
    page.heading("Changes");
    for written in writes {
        one(page, written);
    }
}

fn one(page: &mut Page, written: &Written) {
    let verified = written.verified.as_ref();
    let failed = verified.is_some_and(|verified| verified.held == Some(false));
    let role = match written.outcome {
        WriteOutcome::Done if failed => Role::Bad,
        WriteOutcome::Done => Role::Strong,
        WriteOutcome::Unknown => Role::Bad,
        WriteOutcome::NotDone
        | WriteOutcome::Denied
        | WriteOutcome::Expired
        | WriteOutcome::Revoked
        | WriteOutcome::Pending => Role::Careful,
    };
    let word = page.paint.paint(role, &format!("{:<8}", written.outcome.as_str()));
    let cited = written.evidence.map(|id| format!(" ({id})")).unwrap_or_default();
    page.marked(&word, 8, &format!("{}{cited}", written.what));
    let mut more = Vec::new();
    more.extend(asked(written));
    more.extend(written.reason.as_ref().map(|reason| format!("reason: {reason}")));
    more.extend(verified.map(|verified| format!("{}: {}", held(verified), verified.because)));
    more.extend(
        written
            .undo
            .as_ref()
            .map(|undo| format!("to undo it: {} {} ({})", undo.tool, Value::Object(undo.arguments.clone()), undo.why)),
    );
    more.extend(written.proof.as_ref().map(|proof| match &proof.checkpoint {
        Some(checkpoint) => format!("ledger: record {}, checkpoint {checkpoint}", proof.intent),
        None => format!("ledger: record {}", proof.intent),
    }));
    for line in more {
        page.hanging("            ", &line);
    }
}

/// Which approval, what tier, and who decided.
fn asked(written: &Written) -> Option<String> {
    let id = written.approval?;
    let tier = written.tier.map(|tier| format!(", {}", tier.as_str())).unwrap_or_default();
    let who = written.decided_by.join(", ");
    Some(match written.outcome {
        WriteOutcome::Pending => {
            format!("{id}{tier}: waits for people; `warrant approvals show {id}` shows it whole")
        }
        WriteOutcome::Denied => format!("{id}{tier}: denied by {who}"),
        WriteOutcome::Revoked => format!("{id}{tier}: taken back by {who}"),
        WriteOutcome::Expired => format!("{id}{tier}: nobody decided in time"),
        WriteOutcome::Done | WriteOutcome::NotDone | WriteOutcome::Unknown => match who.as_str() {
            "" => format!("{id}{tier}"),
            who => format!("{id}{tier}: approved by {who}"),
        },
    })
}
