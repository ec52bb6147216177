//! What is looked at again before a write, and what a later process knows of an earlier one.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use crate::call::gate::approval::State;
use crate::call::gate::approver::{Approver, Ballot, Nobody};
use crate::call::gate::card::Card;
use crate::call::gate::objection::Objection;
use crate::domain::decision::Tier;
use crate::domain::name::CallId;
use crate::domain::plan::ApprovalId;
use crate::domain::result::{ErrorCode, Status};

use super::world::{Answer, AtHand, POLICIES, Shared, World, at, by, claim, on, policy};

const A1: ApprovalId = ApprovalId::nth(1);

/// A world in which A1, for `tool` on checkout, was approved; then these words of policy are others.
async fn approved_then(tool: &str, from: &str, to: &str) -> World {
    let mut world = World::new();
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, tool, &on("checkout")).await;
    let card = sequencer.card(A1).await.unwrap();
    sequencer.vote(A1, &claim(&card, "bob")).await.unwrap();
    drop(sequencer);
    world.restart();
    assert!(POLICIES.contains(from));
    world.policy = Arc::new(policy(&POLICIES.replace(from, to)));
    world
}

#[tokio::test]
async fn ap_11_a_policy_that_asks_for_a_higher_tier_now_has_people_asked_anew() {
    let world = approved_then("edit", r#"context.tool == Tool::"edit" || "#, "").await;
    let sequencer = world.open().await;
    let halt = sequencer.execute(A1).await.unwrap_err();
    assert_eq!((halt.code, world.effects()), (ErrorCode::PlanChanged, 0), "{halt:?}");
    let anew = sequencer.card(ApprovalId::nth(2)).await.unwrap();
    assert_eq!((anew.tier, anew.state), (Tier::High, State::Open));
    assert!(matches!(sequencer.card(A1).await.unwrap().state, State::Superseded { .. }));
}

#[tokio::test]
async fn ap_11_a_policy_that_takes_more_persons_now_waits_for_them() {
    let world = approved_then("restart", r#"Service::"vault""#, r#"Service::"checkout""#).await;
    let sequencer = world.open().await;
    let halt = sequencer.execute(A1).await.unwrap_err();
    assert_eq!((halt.code, world.effects()), (ErrorCode::ApprovalPending, 0), "{halt:?}");
    let card = sequencer.card(A1).await.unwrap();
    assert_eq!((card.electorate.quorum, card.electorate.approved.len()), (2, 1));
    sequencer.vote(A1, &claim(&card, "cid")).await.unwrap();
    assert!(sequencer.execute(A1).await.is_ok());
}

#[tokio::test]
async fn ap_10_a_clock_that_was_set_back_before_a_start_gives_no_more_time() {
    let mut world = World::new();
    world.wait(1_000);
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "edit", &on("checkout")).await;
    let card = sequencer.card(A1).await.unwrap();
    drop(sequencer);
    world.restart();
    world.real().wall = at(0);
    let sequencer = world.open().await;
    world.wait(1_800);
    assert!(world.real().wall < card.expires_at);
    assert_eq!(sequencer.vote(A1, &claim(&card, "bob")).await, Err(Objection::Expired(A1)));
}

#[tokio::test]
async fn what_ran_out_is_ended_and_told() {
    let world = World::new();
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "edit", &on("checkout")).await;
    assert_eq!(sequencer.expire().await.unwrap(), []);
    world.wait(30 * 60);
    assert_eq!(sequencer.expire().await.unwrap(), [A1]);
    assert_eq!(world.kinds().last().unwrap(), "expired");
    assert_eq!(sequencer.expire().await.unwrap(), []);
}

#[tokio::test]
async fn who_stopped_writes_is_known_until_they_go_on() {
    let world = World::new();
    let sequencer = world.open().await;
    assert_eq!(sequencer.stopped().await.unwrap(), None);
    sequencer.stop_writes(&by("dan"), "something is off").await.unwrap();
    let stop = sequencer.stopped().await.unwrap().unwrap();
    assert_eq!((stop.by.as_str(), stop.reason.as_str()), ("dan", "something is off"));
    sequencer.lift_stop(&by("bob"), "fine again").await.unwrap();
    assert_eq!(sequencer.stopped().await.unwrap(), None);
}

#[tokio::test]
async fn words_of_nobody_known_have_no_place_in_the_ledger() {
    let world = World::new();
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "restart", &on("checkout")).await;
    let card = sequencer.card(A1).await.unwrap();
    let before = world.kinds();
    assert!(sequencer.vote(A1, &claim(&card, "mallory")).await.is_err());
    assert_eq!(world.kinds(), before);
    assert!(sequencer.vote(A1, &claim(&card, "dan")).await.is_err());
    assert_eq!(world.kinds().len(), before.len() + 1);
}

#[tokio::test]
async fn a_call_has_its_own_account_and_no_other() {
    let world = World::new();
    let sequencer = world.open().await;
    let result = world.ask(&sequencer, &Nobody, "restart", &on("checkout")).await;
    let account = sequencer.account(&world.run.investigation, &result.call_id).await.unwrap().unwrap();
    assert_eq!((account.card.approval, account.card.state), (A1, State::Open));
    let other_call = sequencer.account(&world.run.investigation, &CallId::nth(99)).await.unwrap();
    let other_run = sequencer.account(&"i-0009".parse().unwrap(), &result.call_id).await.unwrap();
    assert_eq!((other_call, other_run), (None, None));
}

#[tokio::test]
async fn a_second_write_on_a_target_waits_for_the_first_to_end() {
    let world = World::new();
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "restart", &on("checkout")).await;
    let card = sequencer.card(A1).await.unwrap();
    sequencer.vote(A1, &claim(&card, "bob")).await.unwrap();
    let granted = sequencer.grant(A1, &[]).await.unwrap();
    let people = AtHand::who([Answer::Approve("bob")]);
    let second = world.ask(&sequencer, &people, "edit", &on("checkout")).await;
    assert_ne!(second.status, Status::Ok, "{second:?}");
    assert_eq!(world.effects(), 0);
    assert!(sequencer.perform(granted).await.closed);
    assert_eq!(world.effects(), 1);
}

/// Bob, who approves; and the world moves so many times before he does.
struct Moving {
    shared: Arc<Shared>,
    times: Mutex<u64>,
    asked: Mutex<usize>,
}

#[async_trait]
impl Approver for Moving {
    async fn attend(&self, card: &Card, ballot: &Ballot<'_>) {
        *self.asked.lock().unwrap() += 1;
        let moves = {
            let mut times = self.times.lock().unwrap();
            let moves = *times > 0;
            *times = times.saturating_sub(1);
            moves
        };
        if moves {
            *self.shared.real().versions.entry("checkout".to_owned()).or_insert(1) += 1;
        }
        ballot.vote(&claim(card, "bob")).await.unwrap();
    }
}

#[tokio::test]
async fn people_at_hand_are_asked_anew_where_the_world_moved_and_not_without_end() {
    for (times, asked, status) in [(0, 1, Status::Ok), (1, 2, Status::Ok), (9, 2, Status::Pending)] {
        let world = World::new();
        let sequencer = world.open().await;
        let bob = Moving { shared: Arc::clone(&world.shared), times: Mutex::new(times), asked: Mutex::default() };
        let result = world.ask(&sequencer, &bob, "edit", &on("checkout")).await;
        assert_eq!((*bob.asked.lock().unwrap(), result.status), (asked, status), "{times}: {result:?}");
        assert_eq!(world.effects(), usize::from(status == Status::Ok));
    }
}
