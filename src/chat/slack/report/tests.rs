//! Short first, then all of it; nothing cut without saying so.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use warrant_kernel::domain::name::{CallId, EvidenceId};
use warrant_kernel::domain::plan::ApprovalId;
use warrant_kernel::domain::report::{
    Exhibit, Finding, FindingKind, Moment, Outcome, Quote, Report, RuledOut, Unsupported, WriteOutcome, Written,
};
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::run::{Channel, Requester, Run as Investigation, Trigger, Writes};

use super::*;
use crate::chat::slack::blocks::refuse;
use crate::chat::slack::blocks::sketch::sketch;
use crate::chat::slack::escape::Hosts;
use crate::chat::slack::escape::tests::hostile;

pub(in crate::chat::slack) fn run() -> Investigation {
    Investigation {
        investigation: "0190a1b2-c3d4".parse().unwrap(),
        trigger: Trigger::Question { text: "why is checkout <slow>? @here".to_owned() },
        requester: Requester { person: "ann".parse().unwrap(), groups: Vec::new() },
        role: "general-purpose".parse().unwrap(),
        channel: Channel::Terminal,
        writes: Writes::Off,
        service: Some("checkout".parse().unwrap()),
        since: "2026-01-31T11:00:00Z".parse().unwrap(),
        opened_at: "2026-01-31T12:00:00Z".parse().unwrap(),
    }
}

fn written(outcome: WriteOutcome) -> Written {
    Written {
        call_id: CallId::nth(9),
        tool: "edit_config".to_owned(),
        what: "overwrites etc:a.toml".to_owned(),
        approval: Some(ApprovalId::nth(12)),
        tier: None,
        decided_by: vec!["ben".to_owned()],
        outcome,
        reason: Some("no restart during the peak".to_owned()),
        verified: None,
        undo: None,
        evidence: Some(EvidenceId::nth(9)),
        proof: None,
    }
}

pub(in crate::chat::slack) fn report() -> Report {
    let id = EvidenceId::nth;
    Report {
        outcome: Outcome::Likely,
        outcome_reason: "the cause rests on one source".to_owned(),
        summary: "Checkout fails since 11:58.".to_owned(),
        root_cause: Some("the pool was cut from 32 to 8".to_owned()),
        findings: vec![
            Finding {
                kind: FindingKind::Symptom,
                claim: "one order in three fails".to_owned(),
                evidence: vec![id(3), id(6)],
                quotes: vec![Quote { evidence: id(3), text: "ERROR pool <exhausted>".to_owned() }],
                at: Some("2026-01-31T11:58:42Z".to_owned()),
            },
            Finding {
                kind: FindingKind::Cause,
                claim: "see https://evil.example/?d=x for more".to_owned(),
                evidence: vec![id(6)],
                quotes: Vec::new(),
                at: None,
            },
        ],
        unsupported: vec![Unsupported { claim: "DNS".to_owned(), why: "no evidence".to_owned() }],
        ruled_out: vec![RuledOut {
            what: "the database".to_owned(),
            why: "as fast as ever".to_owned(),
            evidence: vec![id(4)],
        }],
        impact: Some("customers can't pay".to_owned()),
        timeline: vec![Moment {
            at: "2026-01-31T11:58:12Z".to_owned(),
            what: "deploy".to_owned(),
            evidence: vec![id(6)],
        }],
        writes: vec![written(WriteOutcome::Done), written(WriteOutcome::Denied)],
        next_steps: vec!["raise the pool".to_owned(), "ask ada".to_owned()],
        not_seen: vec!["traces: no source".to_owned()],
        evidence: vec![
            Exhibit { evidence: id(3), call: "search_logs checkout".to_owned(), source: Some("files".to_owned()) },
            Exhibit { evidence: id(6), call: "recent_changes".to_owned(), source: None },
        ],
        written_by: "runbook".to_owned(),
        partial: true,
        volatile: false,
    }
}

fn drawn(report: &Report) -> (String, String) {
    let hosts = Hosts::of(["https://grafana.example/"]);
    let pages = BTreeMap::from([
        (EvidenceId::nth(3), "https://grafana.example/explore?x=1".to_owned()),
        (EvidenceId::nth(6), "https://evil.example/".to_owned()),
    ]);
    let result = json!({"lines": ["12:00:00 ERROR pool <exhausted>", "``` *x*"], "matched": 2});
    let lines = vec![result["lines"][0].as_str().unwrap().to_owned(), result["lines"][1].as_str().unwrap().to_owned()];
    let cited = BTreeMap::from([(
        EvidenceId::nth(3),
        Cited { tool: "search_logs".to_owned(), origin: Origin::Log, lines, of: 40 },
    )]);
    let rendered = render(report, &run(), &Sources { hosts: &hosts, pages: &pages, cited: &cited });
    let values: Vec<Value> = rendered.details.iter().map(Message::value).collect();
    for value in values.iter().chain([&rendered.answer.value()]) {
        assert_eq!(refuse::message(value), Vec::<String>::new());
    }
    let details: Vec<String> = values.iter().map(sketch).collect();
    (sketch(&rendered.answer.value()), details.join("\n======\n"))
}

#[test]
fn sl_09_a_report_is_short_first_and_links_to_our_sources_only() {
    let (answer, details) = drawn(&report());
    insta::assert_snapshot!(answer, @r"
    notice: LIKELY · checkout: the pool was cut from 32 to 8
    # LIKELY · checkout
    *Likely cause, a hypothesis*
    the pool was cut from 32 to 8
    *Summary*
    Checkout fails since 11:58.
    *Why this outcome*
    the cause rests on one source
    *Impact*
    customers can't pay
    *Next step*
    raise the pool
    (1 more in the thread)
    *Changes*  _1 done, 1 denied_
    (investigation 0190a1b2-c3d4 | written by runbook | partial: code wrote it from the evidence | what it rests on stands in the thread)
    [Helpful warrant.helpful=0190a1b2-c3d4] [Wrong warrant.wrong=0190a1b2-c3d4]
    ");
    insta::assert_snapshot!(details, @r"
    notice: What the report rests on
    *Findings*
    - *symptom  *11:58:42Z  one order in three fails (<https://grafana.example/explore?x=1|E3>, E6)
    | ┆ E3: ERROR pool <exhausted>
    - *cause  *see https[:]//evil.example/?d=x for more (E6)
    *Ruled out*
    - the database: as fast as ever (E4)
    *Timeline*
    - 11:58:12Z  deploy (E6)
    *Changes*
    - *done  *overwrites etc:a.toml (E9)
    > A12: ben
    > reason: no restart during the peak
    - *denied  *overwrites etc:a.toml (E9)
    > A12: ben
    > reason: no restart during the peak
    *Next steps*
    - raise the pool
    - ask ada
    *Could not see*
    - traces: no source
    *Left out, because the evidence does not bear it out*
    - DNS (no evidence)
    *Evidence*
    <https://grafana.example/explore?x=1|E3>  search_logs checkout [files]_  untrusted text: log text, 2 of 40 lines_
    | ┆ 12:00:00 ERROR pool <exhausted>
    | ┆ ``` *x*
    *E6*  recent_changes
    ");
}

#[test]
fn only_a_confirmed_cause_is_no_hypothesis() {
    for (outcome, title) in [
        (Outcome::Confirmed, "*Root cause*"),
        (Outcome::Likely, "*Likely cause, a hypothesis*"),
        (Outcome::Inconclusive, "*A hypothesis, not confirmed*"),
        (Outcome::NoFault, "*A hypothesis, not confirmed*"),
    ] {
        let (answer, _) = drawn(&Report { outcome, ..report() });
        assert!(answer.lines().any(|line| line == title), "{answer}");
    }
    let (answer, _) = drawn(&Report { root_cause: None, volatile: true, ..report() });
    assert!(!answer.contains("hypothesis") && answer.contains("not kept"), "{answer}");
}

#[test]
fn what_the_answer_cuts_stands_in_the_thread() {
    let summary = format!("{}END", "word ".repeat(900));
    let (answer, details) = drawn(&Report { summary: summary.clone(), ..report() });
    assert!(answer.contains(" more characters in the thread_") && !answer.contains("END"), "{answer}");
    let found: String = details.replace('\n', "");
    assert!(found.contains(&summary), "{details}");
}

#[test]
fn a_picture_has_words_beside_it() {
    let value = picture(FileId::read("F1").unwrap(), "errors a second, checkout").value();
    assert_eq!(refuse::message(&value), Vec::<String>::new());
    insta::assert_snapshot!(sketch(&value), @r#"
    notice: A chart
    picture "F1": "Chart: errors a second, checkout"
    (errors a second, checkout)
    "#);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sl_01_sl_02_sl_09_no_report_is_refused_by_slack_or_loses_anything(text in hostile(), times in 1usize..40, many in 0usize..12) {
        let long = text.repeat(times);
        let finding = Finding {
            kind: FindingKind::Cause,
            claim: long.clone(),
            evidence: vec![EvidenceId::nth(3)],
            quotes: vec![Quote { evidence: EvidenceId::nth(3), text: long.clone() }],
            at: Some(text.clone()),
        };
        let all = Report {
            summary: long.clone(),
            root_cause: Some(long.clone()),
            impact: Some(long.clone()),
            outcome_reason: long.clone(),
            written_by: long.clone(),
            findings: vec![finding; many],
            next_steps: vec![long.clone(); 2],
            timeline: vec![Moment { at: text.clone(), what: format!("{long} THE_END"), evidence: Vec::new() }; many],
            evidence: vec![Exhibit { evidence: EvidenceId::nth(3), call: long.clone(), source: Some(text.clone()) }; 3],
            writes: vec![Written { what: long.clone(), reason: Some(long.clone()), ..written(WriteOutcome::Unknown) }; 2],
            ..report()
        };
        let (answer, details) = drawn(&all);
        prop_assert!(answer.contains("[Helpful warrant.helpful=0190a1b2-c3d4]"), "{}", answer);
        // One word: two may come to stand in two messages.
        let bare = details.replace('\n', "").replace("======", "");
        prop_assert_eq!(bare.matches("THE_END").count(), many);
    }
}
