//! Each rule of the state machine by itself: what a rule around it would hide is seen here.

use jiff::Timestamp;
use serde_json::{Map, json};

use crate::call::gate::card::{FACE_LINES, FACE_WIDTH, needs_whole};
use crate::call::gate::exhibit::{Exhibit, SoFar};
use crate::call::gate::plan::PlanKey;
use crate::call::gate::tests::world::{at, by, run};
use crate::domain::decision::Tier;
use crate::domain::name::{CallId, EvidenceId};
use crate::domain::plan::{AskKey, Case, DiffLine, Facts, Plan, PlanDigest, Preview};
use crate::domain::run::Channel;
use crate::domain::target::{Target, TargetKind};

use super::*;

fn plan(tier: Tier) -> Plan {
    Plan {
        id: ApprovalId::nth(1),
        run: run("why?"),
        contributors: vec!["ann".parse().unwrap()],
        call_id: CallId::nth(1),
        evidence: EvidenceId::nth(1),
        tool: "edit".parse().unwrap(),
        version: 1,
        arguments: Map::new(),
        grounds: std::collections::BTreeMap::new(),
        target: Target {
            kind: TargetKind::Service,
            name: "checkout".to_owned(),
            service: None,
            environment: None,
            owner: None,
            source: "units".parse().unwrap(),
        },
        preview: Preview {
            effect: "sets it".to_owned(),
            bound: Facts::new(),
            shown: Facts::new(),
            diff: Vec::new(),
            notes: Vec::new(),
            floor: None,
        },
        case: Case { because: "so".to_owned(), evidence: Vec::new(), alternatives: None, otherwise: None },
        tier,
        tier_reasons: Vec::new(),
        policy_ids: Vec::new(),
        digest: PlanDigest::of(&[7; 32]),
        ask_key: AskKey::of(&[8; 32]),
        frozen_at: at(0),
    }
}

/// One that waits from 0 to 100 s.
pub(in crate::call::gate) fn approval(tier: Tier, quorum: u32) -> Approval {
    Approval {
        plan: plan(tier),
        key: PlanKey::of(&[9; 32]),
        exhibit: Exhibit { excerpts: Vec::new(), so_far: SoFar::nothing() },
        quorum,
        needs_whole: false,
        requested_at: at(0),
        expires_at: at(100),
        revision: 1,
        votes: Vec::new(),
        glass: None,
        state: State::Open,
        aftermath: None,
    }
}

fn claim(approval: &Approval, who: &str) -> Claim {
    let digest_prefix = approval.plan.digest.prefix().to_owned();
    Claim { by: by(who), revision: approval.revision, digest_prefix, whole: Whole::Opened }
}

/// Every state there is, with whether people could still decide on it.
fn states(now: Timestamp) -> Vec<(State, &'static str, bool)> {
    let (bob, text) = (|| "bob".parse().unwrap(), || "why".to_owned());
    vec![
        (State::Open, "open", true),
        (State::Approved { at: now }, "approved", true),
        (State::Denied { by: bob(), reason: text(), at: now }, "denied", false),
        (State::Expired { at: now }, "expired", false),
        (State::Revoked { by: bob(), reason: text(), at: now }, "revoked", false),
        (State::Superseded { by: ApprovalId::nth(2), at: now }, "superseded", false),
        (State::Consumed { at: now }, "consumed", false),
        (State::Executed { at: now, verified: None }, "executed", false),
        (State::NotExecuted { at: now, because: text() }, "not_executed", false),
        (State::Unknown { at: now, because: text() }, "unknown", false),
    ]
}

#[test]
fn only_what_waits_can_be_decided_on_used_or_run_out() {
    for (state, word, waits) in states(at(1)) {
        assert_eq!(state.as_str(), word);
        let mut one = Approval { state: state.clone(), ..approval(Tier::Medium, 1) };
        assert_eq!(one.is_waiting(), waits, "{word}");
        assert_eq!(one.admits(&claim(&one, "bob"), at(2)).is_ok(), waits, "{word}");
        assert_eq!(one.clone().revoke(&by("bob"), "not now", at(2)).is_ok(), waits, "{word}");
        assert_eq!(one.clone().supersede(ApprovalId::nth(3), at(2)).is_ok(), waits, "{word}");
        assert_eq!(one.is_usable(at(2)).is_ok(), word == "approved", "{word}");
        assert_eq!(one.clone().reopen("look again", at(200), at(2)).is_ok(), word == "denied", "{word}");
        assert!(!one.clone().expire(at(99)), "{word}");
        assert_eq!(one.expire(at(100)), waits, "{word}");
        assert_eq!(one.state == State::Expired { at: at(100) }, waits, "{word}");
    }
}

#[test]
fn ap_10_at_the_very_moment_of_its_end_it_has_ended_though_nobody_wrote_that_down() {
    for state in [State::Open, State::Approved { at: at(1) }] {
        let mut one = Approval { state, ..approval(Tier::Medium, 1) };
        for now in [at(100), at(101)] {
            let over = Err(Objection::Expired(ApprovalId::nth(1)));
            assert_eq!(one.admits(&claim(&one, "bob"), now), over);
            assert_eq!(one.vote(&claim(&one, "bob"), Vec::new(), now).map(drop), over);
            assert_eq!(one.is_usable(now), over);
            assert_eq!(one.consume(now), over);
        }
    }
}

#[test]
fn demo_persons_count_in_the_demo_only_whatever_they_do() {
    let demo = Claimant { person: "bob".parse().unwrap(), proof: Proof::Demo };
    let mut one = approval(Tier::Medium, 1);
    assert_eq!(one.admits_person(&demo), Err(Objection::DemoOnly));
    let said = Claim { by: demo.clone(), ..claim(&one, "bob") };
    assert_eq!(one.admits(&said, at(1)), Err(Objection::DemoOnly));
    for proof in [Proof::Uid(7), Proof::Token("t".to_owned())] {
        assert_eq!(one.admits_person(&Claimant { proof, ..demo.clone() }), Ok(()));
    }
    one.plan.run.channel = Channel::Demo;
    assert_eq!(one.admits_person(&demo), Ok(()));
    assert_eq!(one.vote(&said, Vec::new(), at(1)), Ok(Tally::Approved));
}

#[test]
fn how_a_person_proved_it_is_told() {
    let told = [Proof::Uid(7), Proof::Token("t-1".to_owned()), Proof::Demo].map(|proof| proof.to_string());
    assert_eq!(told, ["uid 7", "token t-1", "demo"]);
}

#[test]
fn ap_11_what_is_left_after_votes_fell_must_still_suffice() {
    // Tier, quorum, who voted, who broke the glass, whose standing fell, whether it stands.
    type Fallen<'a> = (Tier, u32, &'a [&'a str], Option<&'a str>, &'a [&'a str], bool);
    let person = |name: &str| -> PersonId { name.parse().unwrap() };
    let cases: [Fallen<'_>; 9] = [
        (Tier::High, 1, &["bob"], None, &[], true),
        (Tier::High, 1, &["bob"], None, &["bob"], false),
        (Tier::High, 2, &["bob", "cid"], None, &["cid"], false),
        (Tier::High, 2, &["bob", "cid", "dan"], None, &["cid"], true),
        (Tier::High, 2, &["bob"], Some("cid"), &["bob"], true),
        (Tier::High, 2, &["bob"], Some("cid"), &["cid"], false),
        (Tier::High, 1, &["bob"], Some("cid"), &["cid"], true),
        (Tier::Low, 0, &[], None, &[], true),
        (Tier::Medium, 0, &[], None, &[], false),
    ];
    for (tier, quorum, votes, glass, fallen, stands) in cases {
        let mut one = approval(tier, quorum);
        let vote = |who: &&str| Vote { by: by(who), groups: Vec::new(), whole: Whole::Opened, at: at(1) };
        one.votes = votes.iter().map(vote).collect();
        one.glass = glass.map(|who| BrokenGlass { by: by(who), reason: "it burns".to_owned(), at: at(1) });
        one.state = State::Approved { at: at(1) };
        let fallen: Vec<PersonId> = fallen.iter().map(|name| person(name)).collect();
        assert_eq!(one.strike(&fallen), !stands, "{tier:?} {quorum} {votes:?} {glass:?} {fallen:?}");
        assert_eq!(one.state == State::Open, !stands, "{tier:?} {quorum} {votes:?} {glass:?} {fallen:?}");
        assert!(one.approvers().all(|who| !fallen.contains(&who.person)));
    }
    // What was not approved does not become so, nor is what ended opened again.
    let mut denied = approval(Tier::High, 1);
    denied.state = State::Denied { by: person("bob"), reason: "no".to_owned(), at: at(1) };
    let before = denied.clone();
    assert!(denied.strike(&[person("cid")]));
    assert_eq!(denied, before);
}

#[test]
fn a_reason_says_something_from_three_letters_on() {
    for (reason, says) in [("", false), ("ok", false), (" . ! ", false), ("n o", false), ("yes", true), ("n o t", true)]
    {
        assert_eq!(said(reason).is_ok(), says, "{reason:?}");
    }
}

#[test]
fn sl_04_whatever_the_face_can_not_show_takes_the_whole() {
    let (fits, long) = ("x".repeat(FACE_WIDTH), "x".repeat(FACE_WIDTH + 1));
    let lines = |count: usize| vec![DiffLine::Added("x".to_owned()); count];
    let with = |change: &dyn Fn(&mut Plan)| {
        let mut plan = plan(Tier::Medium);
        change(&mut plan);
        needs_whole(&plan)
    };
    let facts = |value: &str| Facts::from([("sha256".to_owned(), value.to_owned())]);
    assert!(!with(&|_| {}));
    assert!(with(&|plan| plan.tier = Tier::High));
    assert!(!with(&|plan| plan.preview.diff = lines(FACE_LINES)));
    assert!(with(&|plan| plan.preview.diff = lines(FACE_LINES + 1)));
    assert!(!with(&|plan| plan.preview.diff = vec![DiffLine::Removed(fits.clone())]));
    assert!(with(&|plan| plan.preview.diff = vec![DiffLine::Removed(long.clone())]));
    assert!(!with(&|plan| plan.preview.bound = facts(&fits)));
    assert!(with(&|plan| plan.preview.bound = facts(&long)));
    assert!(!with(&|plan| plan.preview.effect = fits.clone()));
    assert!(with(&|plan| plan.preview.effect = long.clone()));
    let argument = |value: String| move |plan: &mut Plan| drop(plan.arguments.insert("value".to_owned(), json!(value)));
    assert!(!with(&argument(fits.clone())));
    assert!(with(&argument(long.clone())));
    assert!(!with(&argument(vec!["x"; FACE_LINES].join("\n"))));
    assert!(with(&argument(vec!["x"; FACE_LINES + 1].join("\n"))));
}
