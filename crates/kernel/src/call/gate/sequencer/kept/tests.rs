//! What the index answers, for every state an approval can be in.

use crate::call::gate::approval::tests::approval;
use crate::call::gate::tests::world::at;

use super::*;

/// Approval `n` on this target, in this state.
fn one(n: u64, target: &str, state: State) -> Approval {
    let mut one = approval(Tier::Medium, 1);
    one.plan.id = ApprovalId::nth(n);
    target.clone_into(&mut one.plan.target.name);
    one.plan.ask_key = AskKey::of(&n.to_be_bytes());
    one.state = state;
    one
}

fn index(approvals: &[Approval]) -> Index {
    let mut index = Index::default();
    for approval in approvals {
        index.note(approval);
    }
    index
}

fn consumed() -> State {
    State::Consumed { at: at(1) }
}

fn denied() -> State {
    State::Denied { by: "bob".parse().unwrap(), reason: "no".to_owned(), at: at(1) }
}

fn unknown() -> State {
    State::Unknown { at: at(1), because: "it hung".to_owned() }
}

const A: fn(u64) -> ApprovalId = ApprovalId::nth;

#[test]
fn a_write_under_way_stands_against_another_on_its_target() {
    let all = [one(1, "a", consumed()), one(2, "a", State::Open), one(3, "b", State::Open), one(4, "b", unknown())];
    let index = index(&all);
    let (on_a, on_b) = (&all[0].plan.target, &all[2].plan.target);
    assert_eq!(index.begun_on(on_a, None), Some(A(1)));
    assert_eq!(index.begun_on(on_a, Some(A(2))), Some(A(1)));
    assert_eq!(index.begun_on(on_a, Some(A(1))), None);
    assert_eq!(index.begun_on(on_b, None), None);
    assert_eq!(index.begun(), [A(1)]);
    assert_eq!((index.unknown_on(on_a), index.unknown_on(on_b)), (None, Some(A(4))));
    assert_eq!(index.next(), A(5));
}

#[test]
fn what_waits_is_over_at_its_end_and_not_before() {
    let done = State::Executed { at: at(1), verified: None };
    let all = [one(1, "a", State::Open), one(2, "a", State::Approved { at: at(1) }), one(3, "a", done)];
    let index = index(&all);
    let (key, investigation) = (&all[0].plan.ask_key, &all[0].plan.run.investigation);
    assert_eq!(index.over(at(99)), []);
    assert_eq!(index.over(at(100)), [A(1), A(2)]);
    assert_eq!(index.over(at(101)), [A(1), A(2)]);
    assert_eq!(index.waiting(key, investigation, at(99)), Some(A(1)));
    assert_eq!(index.waiting(key, investigation, at(100)), None);
    assert_eq!(index.waiting(key, &"i-0002".parse().unwrap(), at(1)), None);
    assert_eq!(index.waiting(&all[2].plan.ask_key, investigation, at(1)), None);
}

#[test]
fn the_clock_goes_on_from_the_latest_time_that_is_kept() {
    let mut late = one(1, "a", State::Open);
    late.requested_at = at(50);
    assert_eq!(index(&[late, one(2, "a", State::Open)]).latest(), Some(at(50)));
    assert_eq!(index(&[]).latest(), None);
    assert_eq!(index(&[]).next(), A(1));
}

#[test]
fn only_what_people_were_asked_in_vain_counts_as_a_variant() {
    let gone = || State::Revoked { by: "bob".parse().unwrap(), reason: "no".to_owned(), at: at(1) };
    let mut low = one(5, "a", State::Open);
    low.plan.tier = Tier::Low;
    let mut elsewhere = one(6, "a", State::Open);
    elsewhere.plan.run.investigation = "i-0002".parse().unwrap();
    let all = [
        one(1, "a", State::Open),
        one(2, "a", denied()),
        one(3, "a", gone()),
        one(4, "b", State::Open),
        low,
        elsewhere,
        one(7, "a", consumed()),
        one(8, "a", unknown()),
        one(9, "a", State::Superseded { by: A(10), at: at(1) }),
    ];
    let (target, investigation) = (&all[0].plan.target, &all[0].plan.run.investigation);
    let index = index(&all);
    let other = AskKey::of(b"another");
    assert_eq!(index.variants(target, &other, investigation), 3);
    // The same is no variant of itself.
    assert_eq!(index.variants(target, &all[0].plan.ask_key, investigation), 2);
    assert_eq!(index.denied(&all[1].plan.ask_key), Some(A(2)));
    assert_eq!(index.denied(&all[0].plan.ask_key), None);
    // All but the low one, the one elsewhere and the one that another stands in for.
    assert_eq!(index.asks(investigation), 6);
}

#[test]
fn low_writes_are_counted_after_a_time_and_not_at_it() {
    let mut low = one(1, "a", State::Open);
    low.plan.tier = Tier::Low;
    low.requested_at = at(10);
    let index = index(&[low, one(2, "a", State::Open)]);
    assert_eq!([at(9), at(10), at(11)].map(|since| index.low_since(since)), [1, 0, 0]);
}
