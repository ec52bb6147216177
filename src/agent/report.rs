//! From a draft to a report: code checks every claim, and code settles the outcome.
//!
//! A model proposes; what it can't support is handed back once and then left out.

pub mod numbers;

pub mod support;

pub mod signals;

pub mod established;

pub mod weight;

pub mod outcome;

use std::collections::BTreeSet;

use warrant_kernel::domain::name::EvidenceId;
use warrant_kernel::domain::report::{Draft, Exhibit, Finding, FindingKind, Outcome, Report, Unsupported};
use warrant_kernel::domain::result::{ErrorCode, Status};
use warrant_toolbox::runbook::library::Library;

use super::state::{CallKind, State};
use outcome::settle;
use support::{Basis, Verdict};

/// What a draft has become.
#[derive(Debug, Clone, PartialEq)]
pub enum Judged {
    /// It goes back to its writer, with what is wrong.
    Returned(String),
    /// It stands, without what could not be supported.
    Stands(Box<Report>),
}

/// Whether a draft may still go back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chance {
    /// It goes back once if anything in it is unsupported.
    First,
    /// It is taken as it is, without its unsupported claims.
    Last,
}

/// Judges a draft.
#[must_use]
pub fn judge(state: &State, library: &Library, draft: &Draft, written_by: &str, chance: Chance) -> Judged {
    let basis = Basis::of(state);
    let mut findings = Vec::new();
    let mut unsupported = Vec::new();
    for finding in &draft.findings {
        match support::finding(&basis, finding) {
            Verdict::Stands => findings.push(finding.clone()),
            Verdict::Falls(why) => unsupported.push(Unsupported { claim: finding.claim.clone(), why }),
        }
    }
    let mut draft = draft.clone();
    let causes: Vec<EvidenceId> = cited(&findings, FindingKind::Cause);
    if let Some(root_cause) = draft.root_cause.take() {
        match support::root_cause(&basis, &root_cause, &causes) {
            Verdict::Stands => draft.root_cause = Some(root_cause),
            Verdict::Falls(why) => unsupported.push(Unsupported { claim: root_cause, why }),
        }
    }
    for (claim, evidence) in asides(&draft) {
        if let Verdict::Falls(why) = support::aside(&basis, &claim, &evidence) {
            unsupported.push(Unsupported { claim, why });
        }
    }
    if chance == Chance::First && !unsupported.is_empty() {
        return Judged::Returned(returned(&unsupported));
    }
    let falls = |claim: &str| unsupported.iter().any(|fallen| fallen.claim == claim);
    draft.ruled_out.retain(|ruled_out| !falls(&ruled_out.why));
    draft.timeline.retain(|moment| !falls(&moment.what));
    draft.impact = draft.impact.filter(|impact| !falls(impact));
    let summary = if falls(&draft.summary) { summary_of(&findings) } else { draft.summary.clone() };
    let (outcome, outcome_reason) = settle(state, library, &findings);
    let root_cause = draft.root_cause.filter(|_| matches!(outcome, Outcome::Confirmed | Outcome::Likely));
    Judged::Stands(Box::new(Report {
        outcome,
        outcome_reason,
        summary,
        root_cause,
        evidence: exhibits(state, &findings),
        findings,
        unsupported,
        ruled_out: draft.ruled_out,
        impact: draft.impact,
        timeline: draft.timeline,
        writes: state.writes().cloned().collect(),
        next_steps: draft.next_steps,
        not_seen: not_seen(state),
        written_by: written_by.to_owned(),
        partial: false,
        volatile: false,
    }))
}

/// The report that code writes where no model does: what the sweep's signals show.
#[must_use]
pub fn partial(state: &State, library: &Library, why: &str) -> Report {
    let signals = signals::of(state);
    let findings: Vec<Finding> = signals.abnormal.into_iter().map(signals::Abnormal::into_finding).collect();
    let (outcome, outcome_reason) = settle(state, library, &findings);
    let looked = state.calls.iter().filter(|call| call.result.as_ref().is_some_and(|result| result.ok)).count();
    Report {
        outcome,
        outcome_reason,
        summary: format!("No model finished this investigation: {why}. This is what {looked} reads show."),
        root_cause: None,
        evidence: exhibits(state, &findings),
        findings,
        unsupported: Vec::new(),
        ruled_out: Vec::new(),
        impact: None,
        timeline: Vec::new(),
        writes: state.writes().cloned().collect(),
        next_steps: vec!["Read the evidence below, or ask again once a model answers.".to_owned()],
        not_seen: not_seen(state),
        written_by: "warrant".to_owned(),
        partial: true,
        volatile: false,
    }
}

fn cited(findings: &[Finding], kind: FindingKind) -> Vec<EvidenceId> {
    findings.iter().filter(|finding| finding.kind == kind).flat_map(|finding| finding.evidence.clone()).collect()
}

/// The claims of a draft outside its findings, with what they cite.
fn asides(draft: &Draft) -> Vec<(String, Vec<EvidenceId>)> {
    let ruled_out = draft.ruled_out.iter().map(|ruled_out| (ruled_out.why.clone(), ruled_out.evidence.clone()));
    let timeline = draft.timeline.iter().map(|moment| (moment.what.clone(), moment.evidence.clone()));
    let plain = [Some(draft.summary.clone()), draft.impact.clone()].into_iter().flatten();
    ruled_out.chain(timeline).chain(plain.map(|text| (text, Vec::new()))).collect()
}

fn returned(unsupported: &[Unsupported]) -> String {
    let lines: Vec<String> =
        unsupported.iter().map(|fallen| format!("- \"{}\": {}", short(&fallen.claim), fallen.why)).collect();
    format!(
        "These claims do not stand up. Mend them or leave them out, then call `report` once more; what is still \
         unsupported then is dropped.\n{}",
        lines.join("\n")
    )
}

fn short(claim: &str) -> String {
    const SHOWN: usize = 120;
    let head: String = claim.chars().take(SHOWN).collect();
    if head.len() < claim.len() { format!("{head}...") } else { head }
}

fn summary_of(findings: &[Finding]) -> String {
    let claims: Vec<&str> = findings.iter().take(2).map(|finding| finding.claim.as_str()).collect();
    if claims.is_empty() { "No claim of the draft stood up.".to_owned() } else { claims.join(" ") }
}

fn exhibits(state: &State, findings: &[Finding]) -> Vec<Exhibit> {
    let ids: BTreeSet<EvidenceId> = findings
        .iter()
        .flat_map(|finding| finding.evidence.iter().copied().chain(finding.quotes.iter().map(|quote| quote.evidence)))
        .collect();
    ids.into_iter()
        .filter_map(|id| {
            let (call, result) = state.evidence(id)?;
            let source = result.meta.source.as_ref().map(ToString::to_string);
            Some(Exhibit { evidence: id, call: format!("{} {}", call.tool, call.arguments), source })
        })
        .collect()
}

/// What could not be looked at: sources that failed and calls that policy refused, unless the same call worked later.
#[must_use]
pub fn not_seen(state: &State) -> Vec<String> {
    let mut lines = Vec::new();
    // The same model may fail in every turn; once is enough.
    let passed_over = state.turns.iter().flat_map(|turn| turn.answer.passed_over.iter().map(move |it| (it, turn)));
    let mut models: BTreeSet<&str> = BTreeSet::new();
    for (passed_over, turn) in passed_over {
        if models.insert(passed_over.split_once(':').map_or(passed_over.as_str(), |(model, _)| model)) {
            lines.push(format!("models: {passed_over}; {} went on in its place", turn.answer.model));
        }
    }
    // A source that is down fails every call on it; one line says so.
    let mut told: BTreeSet<(&str, &str)> = BTreeSet::new();
    // A write that was refused is no evidence that is missing; the report tells of it under its own heading.
    for known in state.calls.iter().filter(|known| known.kind == CallKind::Read) {
        let Some(result) = &known.result else { continue };
        let Some(error) = &result.error else {
            let failed = result.data.pointer("/sources_failed").and_then(serde_json::Value::as_array);
            for source in failed.into_iter().flatten() {
                lines.push(format!("{}: {}", known.call.tool, plain(source)));
            }
            continue;
        };
        let unseen = match error.code {
            // Of a read that was ended only the wall budget's end is kept.
            ErrorCode::BackendError | ErrorCode::Timeout | ErrorCode::PolicyDenied | ErrorCode::Cancelled => true,
            ErrorCode::UnknownTool
            | ErrorCode::InvalidArguments
            | ErrorCode::ApprovalPending
            | ErrorCode::ApprovalDenied
            | ErrorCode::ApprovalExpired
            | ErrorCode::ApprovalRevoked
            | ErrorCode::PlanChanged
            | ErrorCode::LedgerUnavailable
            | ErrorCode::OutcomeUnknown => false,
        };
        let seen_later = state.calls.iter().any(|later| {
            later.call.tool == known.call.tool
                && later.call.arguments == known.call.arguments
                && later.result.as_ref().is_some_and(|result| result.status == Status::Ok)
        });
        if unseen && !seen_later && told.insert((&known.call.tool, &error.message)) {
            lines.push(format!("{} {}: {}", known.call.tool, known.call.arguments, error.message));
        }
    }
    lines.sort();
    lines.dedup();
    lines
}

fn plain(value: &serde_json::Value) -> String {
    let text = |key: &str| value.get(key).and_then(serde_json::Value::as_str).unwrap_or("?").to_owned();
    if value.is_object() { format!("{}: {}", text("source"), text("why")) } else { value.to_string() }
}
