//! What the ledger is told, one function a kind of record.
//!
//! Every text is masked here, on its way in; a text that can't be masked makes no record, and then nothing happens. What
//! names things is never hidden: target, ids, digests, persons.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::call::gate::approval::Approval;
use crate::call::gate::plan::text_of;
use crate::call::gate::vote::Claimant;
use crate::call::write::Verdict;
use crate::domain::plan::{DiffLine, Facts, Plan, Proposal};
use crate::ledger::record::{Entry, RecordKind};
use crate::redact::{RedactError, Redactor};

use super::kept::Undone;

/// Fields that hold names and digests of ours.
const PLAIN: [&str; 25] = [
    "approval",
    "tool",
    "version",
    "target",
    "target_kind",
    "source",
    "service",
    "environment",
    "owner",
    "tier",
    "requester",
    "person",
    "proof",
    "plan_digest",
    "policy_ids",
    "policies",
    "call",
    "evidence",
    "role",
    "channel",
    "status",
    "reason_code",
    "revision",
    "expires_at",
    "undoes",
];

/// Masks what an entry says, in one pass.
pub(super) fn masked(redactor: &Redactor, mut entry: Entry) -> Result<Entry, RedactError> {
    let texts = entry.fields.iter().filter(|(name, _)| !PLAIN.contains(name));
    let texts: Map<String, Value> = texts.map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let Value::Object(mut clean) = redactor.redact_json(&Value::Object(texts))?.0 else {
        return Err(RedactError::Depth);
    };
    for (name, value) in entry.fields.iter_mut().filter(|(name, _)| !PLAIN.contains(name)) {
        // A field whose own name was taken for a secret would be lost; it is not, but nothing passes unmasked.
        *value = clean.remove(*name).unwrap_or(Value::Null);
    }
    Ok(entry)
}

/// An entry about a plan: what it is on and for whom.
pub(super) fn about(kind: RecordKind, plan: &Plan) -> Entry {
    let target = &plan.target;
    let mut entry = Entry::new(kind)
        .of(&plan.run.investigation)
        .with("approval", plan.id.to_string())
        .with("tool", plan.tool.as_str())
        .with("target", target.name.as_str())
        .with("target_kind", target.kind.as_str())
        .with("source", target.source.as_str())
        .with("tier", plan.tier.as_str())
        .with("requester", plan.run.requester.person.as_str());
    let optional = [
        ("service", target.service.as_ref().map(ToString::to_string)),
        ("environment", target.environment.as_ref().map(ToString::to_string)),
        ("owner", target.owner.as_ref().map(ToString::to_string)),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            entry = entry.with(name, value);
        }
    }
    entry
}

pub(super) fn proposed(approval: &Approval, policies: &str) -> Entry {
    let plan = &approval.plan;
    about(RecordKind::Proposed, plan)
        .with("version", plan.version)
        .with("call", plan.call_id.as_str())
        .with("evidence", plan.evidence.to_string())
        .with("role", plan.run.role.as_str())
        .with("channel", plan.run.channel.as_str())
        .with("trigger", json!(plan.run.trigger))
        .with("contributors", json!(plan.contributors))
        .with("arguments", Value::Object(plan.arguments.clone()))
        .with("grounds", json!(plan.grounds))
        .with("effect", plan.preview.effect.as_str())
        .with("before", facts(&plan.preview.bound))
        .with("shown", facts(&plan.preview.shown))
        .with("diff", plan.preview.diff.iter().map(marked).collect::<Vec<_>>())
        .with("notes", plan.preview.notes.clone())
        .with("because", plan.case.because.as_str())
        .with("cites", json!(plan.case.evidence))
        .with("alternatives", json!(plan.case.alternatives))
        .with("otherwise", json!(plan.case.otherwise))
        .with("tier_reasons", plan.tier_reasons.clone())
        .with("policy_ids", plan.policy_ids.clone())
        .with("policies", policies)
        .with("plan_digest", plan.digest.as_str())
}

pub(super) fn requested(approval: &Approval) -> Entry {
    let excerpts: Vec<Value> = approval
        .exhibit
        .excerpts
        .iter()
        .map(|excerpt| json!({ "evidence": excerpt.evidence, "tool": excerpt.tool, "lines": excerpt.lines, "of": excerpt.of }))
        .collect();
    about(RecordKind::ApprovalRequested, &approval.plan)
        .with("quorum", approval.quorum)
        .with("revision", approval.revision)
        .with("expires_at", at(approval.expires_at))
        .with("excerpts", excerpts)
        .with("turns", approval.exhibit.so_far.turns)
        .with("reads", approval.exhibit.so_far.reads)
        .with("ruled_out", approval.exhibit.so_far.ruled_out.clone())
        .with("plan_digest", approval.plan.digest.as_str())
}

/// What a person did about an approval.
pub(super) fn by(kind: RecordKind, approval: &Approval, by: &Claimant, groups: &[String]) -> Entry {
    about(kind, &approval.plan)
        .with("person", by.person.as_str())
        .with("proof", by.proof.to_string())
        .with("groups", groups.to_vec())
        .with("revision", approval.revision)
        .with("plan_digest", approval.plan.digest.as_str())
}

/// The decision by which a plan may run, with everybody and everything it rests on.
pub(super) fn decision(approval: &Approval, policies: &str) -> Entry {
    let votes: Vec<Value> = approval
        .votes
        .iter()
        .map(|vote| {
            json!({
                "person": vote.by.person, "proof": vote.by.proof.to_string(), "groups": vote.groups,
                "whole": vote.whole, "at": at(vote.at),
            })
        })
        .collect();
    let mut entry = about(RecordKind::Decision, &approval.plan)
        .with("status", "allowed")
        .with("approvers", votes)
        .with("quorum", approval.quorum)
        .with("policy_ids", approval.plan.policy_ids.clone())
        .with("policies", policies)
        .with("expires_at", at(approval.expires_at))
        .with("plan_digest", approval.plan.digest.as_str());
    if let Some(glass) = &approval.glass {
        entry = entry.with("break_glass", json!({ "person": glass.by.person, "reason": glass.reason }));
    }
    entry
}

pub(super) fn intent(approval: &Approval) -> Entry {
    about(RecordKind::Intent, &approval.plan)
        .with("version", approval.plan.version)
        .with("arguments", Value::Object(approval.plan.arguments.clone()))
        .with("before", facts(&approval.plan.preview.bound))
        .with("plan_digest", approval.plan.digest.as_str())
}

/// How a write ended.
pub(super) fn outcome(approval: &Approval, status: &str, message: &str) -> Entry {
    about(RecordKind::Outcome, &approval.plan).with("status", status).with("message", message)
}

/// A write that took an earlier one back.
pub(super) fn undo(approval: &Approval, undone: Undone, intent: u64) -> Entry {
    about(RecordKind::Undo, &approval.plan)
        .with("about", undone.intent)
        .with("undoes", undone.approval.to_string())
        .with("intent", intent)
}

pub(super) fn verified(approval: &Approval, verdict: &Verdict) -> Entry {
    about(RecordKind::Verified, &approval.plan)
        .with("status", json!(verdict.held))
        .with("message", verdict.because.as_str())
        .with("after", facts(&verdict.facts))
}

pub(super) fn proposal(proposal: &Proposal) -> Value {
    json!({ "tool": proposal.tool, "arguments": proposal.arguments, "why": proposal.why })
}

pub(super) fn facts(facts: &Facts) -> Value {
    json!(facts)
}

pub(super) fn at(at: Timestamp) -> String {
    at.to_string()
}

fn marked(line: &DiffLine) -> String {
    let mark = match line {
        DiffLine::Hunk(_) => "@@ ",
        DiffLine::Context(_) => " ",
        DiffLine::Removed(_) => "-",
        DiffLine::Added(_) => "+",
    };
    format!("{mark}{}", text_of(line))
}

#[cfg(test)]
mod tests;
