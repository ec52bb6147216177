use warrant_kernel::domain::report::{Outcome, Report};

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
