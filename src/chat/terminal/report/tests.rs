use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::name::{CallId, EvidenceId};
use warrant_kernel::domain::plan::{ApprovalId, Proposal};
use warrant_kernel::domain::report::{Outcome, Proof, Report, Verified, WriteOutcome, Written};

use super::render;
use crate::chat::terminal::style::Paint;

fn report(outcome_reason: &str) -> Report {
    Report {
        outcome: Outcome::Inconclusive,
        outcome_reason: outcome_reason.to_owned(),
        summary: "Not known.".to_owned(),
        root_cause: None,
        findings: Vec::new(),
        unsupported: Vec::new(),
        ruled_out: Vec::new(),
        impact: None,
        timeline: Vec::new(),
        writes: Vec::new(),
        next_steps: Vec::new(),
        not_seen: Vec::new(),
        evidence: Vec::new(),
        written_by: "runbook".to_owned(),
        partial: false,
        volatile: false,
    }
}

#[test]
fn a_long_reason_is_wrapped_beside_the_outcome() {
    let reason = "something is wrong and no cause stood up: The alert CheckoutBurnsItsErrorBudget is firing.";
    insta::assert_snapshot!(render(&report(reason), Paint::Plain, 60), @r"
    INCONCLUSIVE  something is wrong and no cause stood up: The
                  alert CheckoutBurnsItsErrorBudget is firing.

    Summary
      Not known.
    ");
}

#[test]
fn a_reason_that_names_a_hostile_alert_does_not_reach_the_terminal_as_it_is() {
    let page = render(&report("The alert \u{1b}]0;owned\u{7}\u{202e} is firing."), Paint::Plain, 80);
    assert!(page.starts_with("INCONCLUSIVE  The alert ␛]0;owned␇\\u{202E} is firing."), "{page}");
}

fn written(number: u64, tool: &str, what: &str, outcome: WriteOutcome) -> Written {
    Written {
        call_id: CallId::nth(number),
        tool: tool.to_owned(),
        what: what.to_owned(),
        approval: Some(ApprovalId::nth(number)),
        tier: Some(Tier::Medium),
        decided_by: vec!["ann".to_owned()],
        outcome,
        reason: None,
        verified: None,
        undo: None,
        evidence: None,
        proof: None,
    }
}

#[test]
fn writes_are_told_with_who_decided_how_it_ended_and_how_to_prove_or_undo_it() {
    let arguments = serde_json::json!({ "path": "etc:a.toml" }).as_object().unwrap().clone();
    let undo = Proposal { tool: "restore_config".parse().unwrap(), arguments, why: "puts it back".to_owned() };
    let seen = |held| Some(Verified { held, because: "the file holds the change".to_owned() });
    let done = Written {
        verified: seen(Some(true)),
        undo: Some(undo),
        evidence: Some(EvidenceId::nth(9)),
        proof: Some(Proof { intent: 7, checkpoint: Some("10 records, root ab12".to_owned()) }),
        ..written(1, "edit_config", "overwrites etc:a.toml: 1 line removed, 1 line added", WriteOutcome::Done)
    };
    let bad = Written {
        verified: seen(Some(false)),
        tier: Some(Tier::Low),
        decided_by: vec!["low-for-temporary-config".to_owned()],
        ..written(2, "edit_temp_config", "overwrites run:a.toml", WriteOutcome::Done)
    };
    let denied = Written {
        tier: Some(Tier::High),
        decided_by: vec!["ben".to_owned()],
        reason: Some("ben denied A3: no restart during checkout peak".to_owned()),
        ..written(3, "restart_service", "restarts `orders`", WriteOutcome::Denied)
    };
    let pending = written(4, "create_silence", "silences A for 1h", WriteOutcome::Pending);
    let refused = Written {
        approval: None,
        tier: None,
        decided_by: Vec::new(),
        reason: Some("`etc:b.toml` was not read in this investigation".to_owned()),
        ..written(5, "edit_config", "edit_config {\"path\":\"etc:b.toml\"}", WriteOutcome::NotDone)
    };
    let report = Report { writes: vec![done, bad, denied, pending, refused], ..report("r") };
    let page = render(&report, Paint::Plain, 78);
    let (_, changes) = page.split_once("Changes\n").unwrap();
    insta::assert_snapshot!(changes, @"");
}
