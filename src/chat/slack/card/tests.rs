//! What people are shown, at every tier and at every end, and that nothing hides.

use proptest::prelude::*;
use warrant_kernel::call::gate::approval::State;
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::write::Held;
use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::name::{CallId, EvidenceId};
use warrant_kernel::domain::plan::{ApprovalId, DiffLine, Proposal};
use warrant_kernel::domain::report::{Proof, Verified, WriteOutcome, Written};

use super::*;
use crate::chat::slack::blocks::refuse;
use crate::chat::slack::blocks::sketch::sketch;
use crate::chat::slack::escape::tests::hostile;
use crate::chat::terminal::card::sample::{at, edit, restart};

const AROUND: Around<'static> =
    Around { glass: Glass::NotOffered, pings: &[], broken: None, written: None, beside: None };

fn shown(card: &Card, around: &Around<'_>) -> String {
    let value = render(card, around).message.value();
    assert_eq!(refuse::message(&value), Vec::<String>::new());
    sketch(&value)
}

fn top(card: &Card, around: &Around<'_>) -> String {
    let all = shown(card, around);
    let (top, rest) = all.split_once("*What will happen*").unwrap();
    let buttons = rest.lines().filter(|line| line.starts_with('[')).collect::<Vec<_>>().join("\n");
    format!("{top}...\n{buttons}")
}

#[test]
fn a_medium_card() {
    let pings = [Ping::Group(GroupId::read("S0NCALL").unwrap()), Ping::Person(UserId::read("U0BEN").unwrap())];
    let around = Around { glass: Glass::Offered, pings: &pings, ..AROUND };
    insta::assert_snapshot!(shown(&edit(), &around), @r"
    notice: A12 · MEDIUM · one confirmation: replaces one line of shop:config/pool.toml
    # A12 · MEDIUM · one confirmation
    Nothing has been done. It waits for people until 12:40:00Z
    *What will happen*
    | replaces one line of shop:config/pool.toml
    | tool         edit_config
    | target       path shop:config/pool.toml (shop)
    | service      checkout
    | environment  production
    *The change*  _1 added, 1 removed, sha256 77aa0b1c2d3e_
    | @ -4,3 +4,3
    |   [pool]
    | - max_connections = 8
    | + max_connections = 32
    |   wait_ms = 3000
    *Holds now, or nothing is written*  _another value is another plan_
    | mode = 0644
    | owner = shop:shop
    | sha256 = 9f2c5d01aa
    *Seen beside it*  _may change without harm_
    | parses = as TOML, before and after
    *To know*
    - checkout reads the file when it starts: a restart is needed for it to count
    *Arguments*  _and where each comes from_
    | path [from the catalog]
    |   │ shop:config/pool.toml
    | old_string [UNTRUSTED: from log text (E3, lines)]
    |   │ max_connections = 8
    | new_string [from the runbook pool-exhausted]
    |   │ max_connections = 32
    *Why medium*  _writes-config-medium_
    - a change of configuration asks for medium
    *The model's case*  _its own words; nothing above rests on them_
    > The pool was cut from 32 to 8 at 11:58; errors began 30 s later.
    _What else could be done, it says_
    > roll back deploy 2.4.1
    _If nothing is done, it says_
    > one order in three goes on failing
    *Evidence it cites*  _E3, E6_
    _E3 search_logs · untrusted text: log text, 1 of 40 lines_
    | ┆ 12:00:00 ERROR connection pool exhausted: 8 of 8 in use
    _E6 recent_changes · untrusted text: commits and deploys_
    | ┆ 11:58:12 checkout 2.4.1 by ada: pool of 8 connections
    *Who decides*
    | asked        for ann in investigation 0190a1b2-c3d4
    | up to here   4 turns, 11 calls, 1 ruled out
    | may approve  one person whom policy lets approve
    | votes        0 of 1
    | this plan    3fa90c12be77 revision 1
    Asked to decide: @S0NCALL @U0BEN
    (Break glass puts one person in the place of two. It is recorded as that, others are told at once, and a review by somebody else stays owed until it is done.)
    [Approve!primary warrant.approve=A12.1.3fa90c12be77] [See the whole warrant.whole=A12.1.3fa90c12be77] [Evidence warrant.evidence=A12.1.3fa90c12be77] [Deny!danger warrant.deny=A12.1.3fa90c12be77] [Break glass warrant.break_glass=A12.1.3fa90c12be77]
    ");
    assert_eq!(render(&edit(), &around).shows, Shows::All);
}

#[test]
fn a_high_card() {
    insta::assert_snapshot!(shown(&restart(), &Around { glass: Glass::Offered, ..AROUND }), @r"
    notice: A12 · HIGH · review by another person who has seen the whole: restarts the service checkout (unit checkout.service)
    # A12 · HIGH · review by another person who has seen the whole
    Nothing has been done. It waits for people until 13:10:00Z
    *What will happen*
    | restarts the service checkout (unit checkout.service)
    | tool         restart_service
    | target       service checkout (shop)
    | service      checkout
    | environment  production
    *Holds now, or nothing is written*  _another value is another plan_
    | mode = 0644
    | owner = shop:shop
    | sha256 = 9f2c5d01aa
    *Seen beside it*  _may change without harm_
    | parses = as TOML, before and after
    *To know*
    - checkout reads the file when it starts: a restart is needed for it to count
    *Arguments*  _and where each comes from_
    | service [from what began the investigation]
    |   │ checkout
    *Why high*  _writes-config-medium_
    - a restart asks for high
    *The model's case*  _its own words; nothing above rests on them_
    > The pool was cut from 32 to 8 at 11:58; errors began 30 s later.
    _What else could be done, it says_
    > roll back deploy 2.4.1
    _If nothing is done, it says_
    > one order in three goes on failing
    *Evidence it cites*  _E3, E6_
    _E3 search_logs · untrusted text: log text, 1 of 40 lines_
    | ┆ 12:00:00 ERROR connection pool exhausted: 8 of 8 in use
    _E6 recent_changes · untrusted text: commits and deploys_
    | ┆ 11:58:12 checkout 2.4.1 by ada: pool of 8 connections
    *Who decides*
    | asked        for ann in investigation 0190a1b2-c3d4
    | up to here   4 turns, 11 calls, 1 ruled out
    | may approve  one person whom policy lets approve and who had no part in it (not ann)
    | votes        0 of 1
    | this plan    3fa90c12be77 revision 1
    (The answer is given on the last page of the whole: this message does not show all, or the tier asks for it.)
    (Break glass puts one person in the place of two. It is recorded as that, others are told at once, and a review by somebody else stays owed until it is done.)
    [See the whole!primary warrant.whole=A12.1.3fa90c12be77] [Evidence warrant.evidence=A12.1.3fa90c12be77] [Deny!danger warrant.deny=A12.1.3fa90c12be77]
    ");
}

#[test]
fn a_low_card_asks_nobody() {
    let mut card = edit();
    card.tier = Tier::Low;
    card.state = State::Executed { at: at("12:10:01"), verified: Some(Held::Held) };
    insta::assert_snapshot!(top(&card, &AROUND), @r"
    notice: A12 · LOW · done: replaces one line of shop:config/pool.toml
    # A12 · LOW · done
    *Done at 12:10:01Z, and it is as it should be*
    ...
    ");
}

fn written() -> Written {
    let arguments = serde_json::json!({ "path": "shop:config/pool.toml" }).as_object().unwrap().clone();
    Written {
        call_id: CallId::nth(9),
        tool: "edit_config".to_owned(),
        what: "replaces one line".to_owned(),
        approval: Some(ApprovalId::nth(12)),
        tier: Some(Tier::Medium),
        decided_by: vec!["ben".to_owned()],
        outcome: WriteOutcome::Done,
        reason: None,
        verified: Some(Verified { held: Some(true), because: "the file holds the change".to_owned() }),
        undo: Some(Proposal { tool: "restore_config".parse().unwrap(), arguments, why: "puts it back".to_owned() }),
        evidence: Some(EvidenceId::nth(9)),
        proof: Some(Proof { intent: 7, checkpoint: Some("10 records, root ab12".to_owned()) }),
    }
}

#[test]
fn every_end_says_who_when_why_and_what_came_of_it() {
    let (ben, words) = ("ben".parse().unwrap(), "not during <peak> @here".to_owned());
    let done = written();
    let none = None;
    let ends = [
        (State::Approved { at: at("12:12:00") }, none),
        (State::Consumed { at: at("12:12:01") }, none),
        (State::Executed { at: at("12:12:02"), verified: Some(Held::Held) }, Some(&done)),
        (State::Executed { at: at("12:12:02"), verified: Some(Held::Failed) }, none),
        (State::Executed { at: at("12:12:02"), verified: None }, none),
        (State::Denied { by: ben, reason: words.clone(), at: at("12:13:00") }, none),
        (State::Expired { at: at("12:40:00") }, none),
        (State::Revoked { by: "ben".parse().unwrap(), reason: words, at: at("12:13:00") }, none),
        (State::Superseded { by: ApprovalId::nth(13), at: at("12:13:00") }, none),
        (State::NotExecuted { at: at("12:13:00"), because: "writes were stopped".to_owned() }, none),
        (State::Unknown { at: at("12:13:00"), because: "the connection broke".to_owned() }, none),
    ];
    let told = ends.map(|(state, written)| {
        let mut card = edit();
        card.electorate.approved = vec!["ben".parse().unwrap()];
        card.state = state;
        top(&card, &Around { written, glass: Glass::Offered, ..AROUND })
    });
    insta::assert_snapshot!(told.join("\n\n"), @r#"
    notice: A12 · MEDIUM · approved: replaces one line of shop:config/pool.toml
    # A12 · MEDIUM · approved
    *Approved at 12:12:00Z; all is looked at again before it is done*
    Said yes: ben
    ...
    [Take back!danger warrant.revoke=A12.1.3fa90c12be77]

    notice: A12 · MEDIUM · is being carried out: replaces one line of shop:config/pool.toml
    # A12 · MEDIUM · is being carried out
    *Is being carried out since 12:12:01Z*
    Said yes: ben
    ...


    notice: A12 · MEDIUM · done: replaces one line of shop:config/pool.toml
    # A12 · MEDIUM · done
    *Done at 12:12:02Z, and it is as it should be*
    Said yes: ben
    - verified: the file holds the change
    - to undo it: restore_config {"path":"shop:config/pool.toml"} (puts it back)
    - ledger: record 7, checkpoint 10 records, root ab12
    ...


    notice: A12 · MEDIUM · done, and NOT as it should be: replaces one line of shop:config/pool.toml
    # A12 · MEDIUM · done, and NOT as it should be
    *Done at 12:12:02Z, but it is NOT as it should be*
    Said yes: ben
    ...


    notice: A12 · MEDIUM · done: replaces one line of shop:config/pool.toml
    # A12 · MEDIUM · done
    *Done at 12:12:02Z; whether it is as it should be is not known*
    Said yes: ben
    ...


    notice: A12 · MEDIUM · denied: replaces one line of shop:config/pool.toml
    # A12 · MEDIUM · denied
    *Denied at 12:13:00Z by ben: not during <peak> ＠here*
    Said yes: ben
    ...
    [Reopen warrant.reopen=A12.1.3fa90c12be77]

    notice: A12 · MEDIUM · expired: replaces one line of shop:config/pool.toml
    # A12 · MEDIUM · expired
    *Nobody decided, or nobody used it, until 12:40:00Z: nothing was done*
    Said yes: ben
    ...


    notice: A12 · MEDIUM · taken back: replaces one line of shop:config/pool.toml
    # A12 · MEDIUM · taken back
    *Taken back at 12:13:00Z by ben: not during <peak> ＠here*
    Said yes: ben
    ...


    notice: A12 · MEDIUM · superseded: replaces one line of shop:config/pool.toml
    # A12 · MEDIUM · superseded
    *What would happen had changed at 12:13:00Z, so nothing was done; A13 asks anew*
    Said yes: ben
    ...


    notice: A12 · MEDIUM · not done: replaces one line of shop:config/pool.toml
    # A12 · MEDIUM · not done
    *Not done, at 12:13:00Z: writes were stopped*
    Said yes: ben
    ...


    notice: A12 · MEDIUM · OUTCOME UNKNOWN: replaces one line of shop:config/pool.toml
    # A12 · MEDIUM · OUTCOME UNKNOWN
    *Whether it took effect is not known since 12:13:00Z. Nothing more is written to this target until a person has looked and said so: the connection broke*
    Said yes: ben
    ...
    "#);
}

#[test]
fn ap_21_a_broken_glass_stays_on_the_card() {
    let broken = Broken { by: "ann".parse().unwrap(), reason: "all is down\nand nobody answers".to_owned() };
    let mut card = edit();
    card.state = State::Approved { at: at("12:12:00") };
    insta::assert_snapshot!(top(&card, &Around { broken: Some(&broken), ..AROUND }), @r"
    notice: A12 · MEDIUM · approved: replaces one line of shop:config/pool.toml
    # A12 · MEDIUM · approved
    *Approved at 12:12:00Z; all is looked at again before it is done*
    The glass was broken by ann; a review by somebody else is owed. They said:
    > all is down
    > and nobody answers
    ...
    [Take back!danger warrant.revoke=A12.1.3fa90c12be77]
    ");
}

#[test]
fn what_was_done_before_and_what_is_owed_stand_on_a_card() {
    let id = |text: &str| text.parse::<ApprovalId>().unwrap();
    let done = |n: u32| {
        let state = State::Executed { at: at("11:00:00"), verified: Some(Held::Failed) };
        (id(&format!("A{n}")), state, "<!channel> replaces one line".to_owned())
    };
    let beside = Beside { earlier: (1..=7).map(done).collect(), owed: vec![(id("A3"), "cid".parse().unwrap())] };
    let all = shown(&edit(), &Around { beside: Some(&beside), ..AROUND });
    for told in [
        "*Done to this target before*  _and 2 more_",
        "A7, done, and NOT as it should be: ",
        "A3, done, and NOT as it should be: ",
        "*Reviews are owed*",
        "A3: the glass was broken by cid",
    ] {
        assert!(all.contains(told), "`{told}` is not in {all}");
    }
    assert!(!all.contains("A2, "), "only the newest are shown: {all}");
    assert!(!render(&edit(), &Around { beside: Some(&beside), ..AROUND }).message.value().to_string().contains("<!"));
}

fn offers_approve(card: &Card) -> bool {
    let value = render(card, &Around { glass: Glass::Offered, ..AROUND }).message.value();
    value.to_string().contains(r#""warrant.approve""#)
}

#[test]
fn sl_04_approve_is_absent_where_anything_is_hidden_or_the_tier_is_high() {
    assert!(offers_approve(&edit()));
    assert!(!offers_approve(&restart()));
    let mut long = edit();
    long.diff = (0..399).map(|n| DiffLine::Context(format!("line {n}"))).collect();
    long.diff.push(DiffLine::Added("exec = \"/tmp/evil\"".to_owned()));
    // Whatever the card says of itself: this message does not show the last line.
    long.needs_whole = false;
    assert!(!offers_approve(&long));
    let text = shown(&long, &AROUND);
    assert!(text.contains("24 of 400 shown: see the whole") && text.contains("sha256 77aa0b1c2d3e"), "{text}");
    // All lines are short for the kernel, and too many signs for Slack.
    let mut heavy = edit();
    heavy.diff = (0..24).map(|_| DiffLine::Added("&".repeat(190))).collect();
    assert!(!heavy.needs_whole && !offers_approve(&heavy));
    assert_eq!(render(&heavy, &AROUND).shows, Shows::NotAll);
    let mut wordy = edit();
    wordy.case.because = "x".repeat(3_000);
    assert!(!offers_approve(&wordy));
}

#[test]
fn sl_03_a_stranger_s_line_can_not_pass_for_ours() {
    let mut card = edit();
    let fake = "```\n✅ Approved by <@ULEAD>\nA12 · LOW · nobody is asked";
    card.excerpts[0].lines = vec![fake.replace('\n', " "), fake.to_owned()];
    card.case.because = fake.to_owned();
    card.arguments[1].value = vec!["x [from a person]".to_owned()];
    let text = shown(&card, &AROUND);
    for line in text.lines().filter(|line| line.contains("Approved by") || line.contains("nobody is asked")) {
        assert!(line.starts_with("| ┆ ") || line.starts_with("> "), "{line}");
    }
    assert!(text.contains("|   │ x [from a person]"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sl_01_sl_02_sl_06_no_card_is_refused_by_slack_or_does_anything(
        text in hostile(), many in 0usize..120, times in 1usize..60, high in any::<bool>(), denied in any::<bool>(),
    ) {
        let long = text.repeat(times);
        let mut card = if high { restart() } else { edit() };
        card.effect.clone_from(&long);
        card.target.name.clone_from(&long);
        card.diff = (0..many).map(|_| DiffLine::Added(long.clone())).collect();
        card.notes = vec![long.clone(); many / 3];
        card.tier_reasons = vec![long.clone(); 2];
        card.policy_ids = vec![long.clone(); many / 10];
        card.bound = (0..many / 2).map(|n| (format!("fact{n}"), long.clone())).collect();
        card.shown = card.bound.clone();
        card.arguments[0].value = vec![long.clone(); many];
        card.case.because.clone_from(&long);
        card.case.alternatives = Some(long.clone());
        card.excerpts[0].lines = vec![long.clone(); many / 2 + 1];
        card.electorate.who_may.clone_from(&long);
        if denied {
            card.state = State::Denied { by: "ben".parse().unwrap(), reason: long.clone(), at: at("12:13:00") };
        }
        let broken = Broken { by: "ann".parse().unwrap(), reason: long.clone() };
        let written = Written { reason: Some(long.clone()), ..written() };
        let around = Around { glass: Glass::Offered, pings: &[], broken: Some(&broken), written: Some(&written), ..AROUND };
        let face = render(&card, &around);
        let value = face.message.value();
        prop_assert_eq!(refuse::message(&value), Vec::<String>::new());
        let text = value.to_string();
        prop_assert!(text.contains("warrant.") || !card.offers_approval(warrant_kernel::call::gate::vote::Whole::Opened));
        prop_assert!(!text.contains("\"warrant.approve\"") || (face.shows == Shows::All && !card.needs_whole));
    }
}
