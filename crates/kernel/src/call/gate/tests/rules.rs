//! Policies that change while approvals wait and calls are made.

use std::sync::Arc;

use crate::call::gate::approver::Nobody;
use crate::call::gate::objection::Objection;
use crate::call::gate::sequencer::Sequencer;
use crate::call::gate::sequencer::rules::Rules;
use crate::db::memory::Fault;
use crate::domain::plan::ApprovalId;
use crate::domain::result::ErrorCode;

use super::world::{POLICIES, World, claim, on, policy, told};

const A1: ApprovalId = ApprovalId::nth(1);

/// The rules of this world, with one more policy.
fn with(world: &World, more: &str) -> Rules {
    Rules { policy: Arc::new(policy(&format!("{POLICIES}\n{more}"))), ..world.rules() }
}

const CLOSED: &str = r#"@id("closed") @reason("nothing is changed today")
forbid (principal, action in Action::"write", resource);"#;

/// A1, which restarts checkout, has been approved.
async fn approved(world: &World) -> Sequencer {
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "restart", &on("checkout")).await;
    let card = sequencer.card(A1).await.unwrap();
    sequencer.vote(A1, &claim(&card, "bob")).await.unwrap();
    sequencer
}

fn count(world: &World, kind: &str) -> usize {
    world.kinds().iter().filter(|it| *it == kind).count()
}

#[tokio::test]
async fn what_was_approved_is_decided_by_the_policies_in_force_when_it_is_carried_out() {
    let world = World::new();
    let sequencer = approved(&world).await;
    sequencer.adopt(with(&world, CLOSED)).await.unwrap();
    let halt = sequencer.execute(A1).await.unwrap_err();
    assert_eq!((halt.code, world.effects()), (ErrorCode::PolicyDenied, 0), "{halt:?}");
    assert!(halt.message.contains("decided by closed"), "{halt:?}");
    sequencer.adopt(world.rules()).await.unwrap();
    assert!(sequencer.execute(A1).await.is_ok());
    assert_eq!((world.effects(), count(&world, "policy_loaded")), (1, 2));
}

#[tokio::test]
async fn a_run_that_began_under_looser_policies_asks_for_nothing_that_is_forbidden_now() {
    let world = World::new();
    let sequencer = world.open().await;
    sequencer.adopt(with(&world, CLOSED)).await.unwrap();
    let result = world.ask(&sequencer, &Nobody, "restart", &on("checkout")).await;
    assert_eq!(told(&result), ("denied".to_owned(), "POLICY".to_owned()), "{result:?}");
    assert_eq!((count(&world, "proposed"), count(&world, "refused")), (0, 1));
}

#[tokio::test]
async fn of_two_policies_the_stricter_tier_counts() {
    let mut world = World::new();
    let sequencer = world.open().await;
    let strict =
        POLICIES.replace(r#" || context.tool == Tool::"nudge""#, "").replace("low_suffices", "medium_suffices");
    // Nudging takes nobody by the run's policies, and one person by those in force; then the other way about.
    let stricter = Rules { policy: Arc::new(policy(&strict)), ..world.rules() };
    sequencer.adopt(stricter.clone()).await.unwrap();
    world.ask(&sequencer, &Nobody, "nudge", &on("checkout")).await;
    sequencer.adopt(world.rules()).await.unwrap();
    world.policy = stricter.policy;
    world.ask(&sequencer, &Nobody, "nudge", &on("payments")).await;
    assert_eq!((world.effects(), count(&world, "approval_requested")), (0, 2));
}

#[tokio::test]
async fn what_can_not_be_recorded_does_not_come_into_force() {
    let world = World::new();
    let sequencer = approved(&world).await;
    world.memory.fail_next(Fault::EioLost);
    let refused = sequencer.adopt(with(&world, CLOSED)).await.unwrap_err();
    assert!(matches!(refused, Objection::Ledger(_)), "{refused:?}");
    assert!(sequencer.execute(A1).await.is_ok());
    assert_eq!((world.effects(), count(&world, "policy_loaded")), (1, 0));
}

#[tokio::test]
async fn no_write_is_decided_by_policies_that_were_followed_by_others_before_its_intent() {
    let (mut done, mut denied) = (0, 0);
    // After each number of steps that the write has made by then.
    for steps in 0..24 {
        let world = World::new();
        let sequencer = approved(&world).await;
        let closes = async {
            for _ in 0..steps {
                tokio::task::yield_now().await;
            }
            sequencer.adopt(with(&world, CLOSED)).await.unwrap();
        };
        let (executed, ()) = tokio::join!(sequencer.execute(A1), closes);
        let kinds = world.kinds();
        let at = |kind: &str| kinds.iter().position(|it| it == kind);
        match executed {
            Ok(_) => {
                assert!(at("intent") < at("policy_loaded"), "{steps}: {kinds:?}");
                done += 1;
            }
            Err(halt) => {
                assert_eq!((halt.code, at("intent")), (ErrorCode::PolicyDenied, None), "{steps}: {kinds:?}");
                denied += 1;
            }
        }
    }
    assert!(done > 0 && denied > 1, "{done} done, {denied} denied: the steps do not cover both");
}
