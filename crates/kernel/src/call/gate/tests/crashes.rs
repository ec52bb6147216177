//! Crashes: at most one effect, and whatever can't be told is told to people.

use crate::call::gate::approval::{State, Tally};
use crate::call::gate::approver::Nobody;
use crate::call::gate::deed::Ended;
use crate::call::gate::objection::Objection;
use crate::call::gate::sequencer::shown::Did;
use crate::call::write::WriteError;
use crate::db::memory::Fault;
use crate::domain::plan::ApprovalId;
use crate::domain::result::{ErrorCode, Status};

use super::world::{Answer, AtHand, World, by, claim, on, told};

const A1: ApprovalId = ApprovalId::nth(1);

/// An approved write whose intent is durable, in a process that died before it began.
async fn died_after_intent(world: &mut World) {
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "restart", &on("checkout")).await;
    let card = sequencer.card(A1).await.unwrap();
    sequencer.vote(A1, &claim(&card, "bob")).await.unwrap();
    drop(sequencer.grant(A1, &[]).await.unwrap());
    drop(sequencer);
    world.restart();
}

#[tokio::test]
async fn cr_02_a_crash_after_the_intent_is_settled_by_a_look_and_never_done_again() {
    let mut world = World::new();
    died_after_intent(&mut world).await;
    let next = world.open().await;
    let swept = next.sweep().await.unwrap();
    assert!(matches!(swept.orphans.as_slice(), [(A1, State::NotExecuted { .. })]), "{swept:?}");
    assert_eq!(next.execute(A1).await.unwrap_err().reason, "ALREADY_CONSUMED");
    assert_eq!(world.effects(), 0);
    assert_eq!(next.sweep().await.unwrap().orphans, []);
}

#[tokio::test]
async fn cr_02_what_a_look_can_not_tell_stays_unknown_until_a_person_has_found_out() {
    let mut world = World::new();
    world.real().probe_fails = true;
    died_after_intent(&mut world).await;
    let next = world.open().await;
    let swept = next.sweep().await.unwrap();
    assert!(matches!(swept.orphans.as_slice(), [(A1, State::Unknown { .. })]), "{swept:?}");
    let result = world.ask(&next, &Nobody, "nudge", &on("checkout")).await;
    assert_eq!(told(&result), ("denied".to_owned(), "UNRESOLVED_OUTCOME".to_owned()));
    assert_eq!(world.ask(&next, &Nobody, "nudge", &on("payments")).await.status, Status::Ok);
    world.restart();
    let later = world.open().await;
    assert_eq!(later.sweep().await.unwrap().orphans.len(), 1, "it is shown at every start");
}

#[tokio::test]
async fn cr_03_a_write_that_does_not_answer_in_time_is_unknown() {
    let world = World::new();
    let sequencer = world.open().await;
    world.real().hangs = true;
    tokio::time::pause();
    let result = world.ask(&sequencer, &AtHand::who([Answer::Approve("bob")]), "restart", &on("checkout")).await;
    insta::assert_json_snapshot!(result.for_model(), @r#"
    {
      "status": "unknown",
      "origin": "warrant",
      "truncated": false,
      "error": {
        "code": "OUTCOME_UNKNOWN",
        "message": "whether A1 took effect is not known: it did not end in its time after it had begun. Nothing more is written on this target until a person has found out; look at it by reads, and report",
        "retryable": false
      }
    }
    "#);
    assert!(matches!(sequencer.card(A1).await.unwrap().state, State::Unknown { .. }));
    assert_eq!(world.kinds().last().unwrap(), "unknown");
}

#[tokio::test]
async fn cr_03_a_write_that_can_not_say_is_unknown_and_one_that_was_refused_is_not_done() {
    let world = World::new();
    let sequencer = world.open().await;
    world.real().next_write = Some(WriteError::Unknown { message: "the connection broke".to_owned() });
    let bob = AtHand::who([Answer::Approve("bob")]);
    let result = world.ask(&sequencer, &bob, "restart", &on("checkout")).await;
    assert_eq!((result.status, result.error.unwrap().code), (Status::Unknown, ErrorCode::OutcomeUnknown));
    let refused = WriteError::Refused { reason: "LINKED", message: "it is a link".to_owned() };
    world.real().next_write = Some(refused);
    let result = world.ask(&sequencer, &bob, "restart", &on("payments")).await;
    assert_eq!(told(&result), ("error".to_owned(), "LINKED".to_owned()));
    assert!(matches!(sequencer.card(ApprovalId::nth(2)).await.unwrap().state, State::NotExecuted { .. }));
}

#[tokio::test]
async fn cr_04_a_click_that_comes_again_during_recovery_is_told_that_it_was_used() {
    let mut world = World::new();
    died_after_intent(&mut world).await;
    let next = world.open().await;
    let card = next.card(A1).await.unwrap();
    assert_eq!(next.vote(A1, &claim(&card, "bob")).await, Err(Objection::AlreadyConsumed(A1)));
    next.sweep().await.unwrap();
    assert_eq!(next.vote(A1, &claim(&card, "bob")).await, Err(Objection::AlreadyConsumed(A1)));
}

#[tokio::test]
async fn cr_05_a_vote_of_two_outlives_the_process() {
    let mut world = World::new();
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "restart", &on("vault")).await;
    let card = sequencer.card(A1).await.unwrap();
    assert_eq!(sequencer.vote(A1, &claim(&card, "bob")).await, Ok(Tally::Counted { have: 1, need: 2 }));
    drop(sequencer);
    world.restart();
    let next = world.open().await;
    assert_eq!(next.vote(A1, &claim(&card, "bob")).await.unwrap_err().code(), "ALREADY_VOTED");
    assert_eq!(next.vote(A1, &claim(&card, "cid")).await, Ok(Tally::Approved));
    assert!(next.execute(A1).await.is_ok());
}

#[tokio::test]
async fn cr_07_a_person_resolves_with_name_and_reason_and_only_then_is_it_written_again() {
    for did in [Did::Did, Did::DidNot] {
        let mut world = World::new();
        world.real().probe_fails = true;
        died_after_intent(&mut world).await;
        let next = world.open().await;
        next.sweep().await.unwrap();
        assert_eq!(next.resolve(A1, &by("bob"), did, "").await, Err(Objection::NoReason));
        assert_eq!(next.resolve(A1, &by("dan"), did, "I looked").await.unwrap_err().code(), "NOT_ELIGIBLE");
        next.resolve(A1, &by("bob"), did, "the unit's start time says so").await.unwrap();
        assert_eq!(next.resolve(A1, &by("bob"), did, "once more").await, Err(Objection::NotUnknown(A1)));
        let (kind, fields) = world.records().pop().unwrap();
        assert_eq!((kind.as_str(), &fields["person"]), ("resolved", &"bob".into()));
        assert_eq!(fields["reason"], "the unit's start time says so");
        assert_eq!(world.ask(&next, &Nobody, "nudge", &on("checkout")).await.status, Status::Ok);
        assert_eq!(next.sweep().await.unwrap().orphans, []);
    }
}

/// An approval that was complete in a process that died before anything came of it.
async fn died_after_approval(world: &mut World, service: &str) {
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "restart", &on(service)).await;
    let card = sequencer.card(A1).await.unwrap();
    for who in ["bob", "cid"] {
        drop(sequencer.vote(A1, &claim(&card, who)).await);
    }
    assert!(matches!(sequencer.card(A1).await.unwrap().state, State::Approved { .. }));
    drop(sequencer);
    world.restart();
}

#[tokio::test]
async fn cr_05_what_was_approved_before_a_crash_is_found_by_the_next_start_and_runs_once() {
    let mut world = World::new();
    died_after_approval(&mut world, "vault").await;
    let next = world.open().await;
    let swept = next.sweep().await.unwrap();
    assert_eq!(swept.approved, [(A1, world.run.channel)]);
    assert_eq!(world.effects(), 0, "a sweep writes nothing by itself");
    assert!(matches!(next.execute(A1).await.unwrap().ended, Ended::Done { .. }));
    assert_eq!(next.execute(A1).await.unwrap_err().reason, "ALREADY_CONSUMED");
    assert_eq!(next.sweep().await.unwrap().approved, []);
    drop(next);
    world.restart();
    let later = world.open().await;
    assert_eq!(later.sweep().await.unwrap().approved, []);
    assert_eq!(world.effects(), 1);
}

#[tokio::test]
async fn cr_05_what_is_taken_up_after_a_crash_is_checked_like_any_other() {
    // The world has moved on.
    let mut world = World::new();
    died_after_approval(&mut world, "checkout").await;
    *world.real().versions.entry("checkout".to_owned()).or_insert(1) += 1;
    let next = world.open().await;
    assert_eq!(next.sweep().await.unwrap().approved.len(), 1);
    assert_eq!(next.execute(A1).await.unwrap_err().asks_anew, Some(ApprovalId::nth(2)));
    assert!(matches!(next.card(A1).await.unwrap().state, State::Superseded { .. }));

    // Who approved it is gone.
    let mut world = World::new();
    died_after_approval(&mut world, "checkout").await;
    world.real().people.remove(&"bob".parse().unwrap());
    let next = world.open().await;
    assert_eq!(next.sweep().await.unwrap().approved.len(), 1);
    assert!(next.execute(A1).await.is_err());
    assert_eq!(next.card(A1).await.unwrap().state, State::Open);

    // Its time is up: that is an end, and it is recorded.
    let mut world = World::new();
    died_after_approval(&mut world, "checkout").await;
    world.wait(3_600);
    let next = world.open().await;
    let swept = next.sweep().await.unwrap();
    assert_eq!((swept.approved, swept.expired), (Vec::new(), vec![A1]));
    assert_eq!(world.kinds().last().unwrap(), "expired");

    // It was taken back.
    let mut world = World::new();
    died_after_approval(&mut world, "checkout").await;
    let next = world.open().await;
    next.revoke(A1, &by("ann"), "not needed any more").await.unwrap();
    assert_eq!(next.sweep().await.unwrap().approved, []);
    assert_eq!(world.effects(), 0);
}

#[tokio::test]
async fn an_outcome_that_the_ledger_does_not_take_never_undoes_the_deed() {
    let mut world = World::new();
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "restart", &on("checkout")).await;
    let card = sequencer.card(A1).await.unwrap();
    sequencer.vote(A1, &claim(&card, "bob")).await.unwrap();
    let granted = sequencer.grant(A1, &[]).await.unwrap();
    // One call for the switch, then the outcome.
    world.memory.fail_at(world.memory.calls() + 1, Fault::EioLost);
    let deed = sequencer.perform(granted).await;
    assert!(matches!(deed.ended, Ended::Done { .. }) && !deed.closed, "{deed:?}");
    drop(sequencer);
    world.restart();
    let next = world.open().await;
    let swept = next.sweep().await.unwrap();
    assert!(matches!(swept.orphans.as_slice(), [(A1, State::Executed { .. })]), "{swept:?}");
    assert_eq!(world.effects(), 1);
}

#[tokio::test]
async fn an_intent_that_lands_too_late_is_no_write() {
    let world = World::new();
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "restart", &on("checkout")).await;
    let card = sequencer.card(A1).await.unwrap();
    sequencer.vote(A1, &claim(&card, "bob")).await.unwrap();
    tokio::time::pause();
    world.memory.delay(Some(std::time::Duration::from_secs(3)));
    let halt = sequencer.execute(A1).await.unwrap_err();
    assert_eq!(halt.code, ErrorCode::LedgerUnavailable, "{halt:?}");
    world.memory.delay(None);
    tokio::time::sleep(std::time::Duration::from_secs(10)).await;
    assert_eq!(world.effects(), 0);
    // People are asked again.
    assert_eq!(world.ask(&sequencer, &Nobody, "restart", &on("checkout")).await.status, Status::Pending);
    assert!(matches!(sequencer.card(A1).await.unwrap().state, State::NotExecuted { .. }));
}
