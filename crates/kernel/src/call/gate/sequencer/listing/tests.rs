//! What is asked about many approvals reads those that it is about, however many there were before.

use std::time::Instant;

use crate::call::gate::approval::State;
use crate::call::gate::approver::Nobody;
use crate::call::gate::sequencer::kept::Kept;
use crate::call::gate::sequencer::shown::Decision;
use crate::call::gate::tests::world::{Answer, AtHand, World, at, claim, on};
use crate::domain::decision::Tier;

use super::*;

const PAST: u64 = 1_000;

/// One approval that was carried out, and so many more like it.
async fn past(world: &World, count: u64) {
    let sequencer = world.open().await;
    world.ask(&sequencer, &AtHand::who([Answer::Approve("bob")]), "restart", &on("checkout")).await;
    let first = Kept::load(&sequencer.ledger, ApprovalId::nth(1)).await.unwrap().approval;
    assert!(matches!(first.state, State::Executed { .. }));
    let documents = (2..=count).map(|n| {
        let mut approval = first.clone();
        approval.plan.id = ApprovalId::nth(n);
        approval.plan.run.investigation = "i-past".parse().unwrap();
        Kept { approval, revision: 0 }.write().unwrap()
    });
    sequencer.ledger.append(Vec::new(), documents.collect()).await.unwrap();
}

fn numbers(listed: &[Listed]) -> Vec<u64> {
    listed.iter().map(|it| it.approval.number()).collect()
}

#[tokio::test]
async fn looks_cost_what_they_show_and_not_what_there_was() {
    let world = World::new();
    past(&world, PAST).await;
    let began = Instant::now();
    let sequencer = world.open().await;
    println!("opened over {PAST} approvals in {:?}", began.elapsed());
    let calls = || world.memory.calls();
    let (before, began) = (calls(), Instant::now());
    let counted = sequencer.counted();
    println!("counted in {:?}", began.elapsed());
    assert_eq!(counted.by, [((Tier::High, Decision::Approved), PAST)].into());
    assert_eq!((counted.figures.asked, counted.figures.executed, sequencer.total()), (PAST, PAST, 1_000));
    let (listed, mark) = sequencer.changed(Since::Time(at(1_000_000))).await.unwrap();
    assert!(listed.is_empty(), "{listed:?}");
    assert!(sequencer.changed(Since::Mark(mark)).await.unwrap().0.is_empty());
    assert_eq!(calls(), before, "nothing is read where nothing is shown");
    // The second page is short, since that is all there is.
    assert_eq!(numbers(&sequencer.page(None, None, 3).await.unwrap()), [1_000, 999, 998]);
    let after = Some(ApprovalId::nth(3));
    assert_eq!(numbers(&sequencer.page(after, Some("executed"), 9).await.unwrap()), [2, 1]);
    assert_eq!(calls(), before + 5, "one look at each that is shown");
    assert!(sequencer.page(None, Some("open"), 9).await.unwrap().is_empty());

    // What waits is shown wherever it stands in the order.
    world.ask(&sequencer, &Nobody, "restart", &on("payments")).await;
    let waits = PAST + 1;
    for tool in ["edit", "restart"] {
        world.ask(&sequencer, &AtHand::who([Answer::Approve("bob")]), tool, &on("ledgerd")).await;
    }
    assert_eq!(numbers(&sequencer.list(1).await.unwrap()), [waits + 2, waits]);
    assert_eq!(numbers(&sequencer.page(None, Some("open"), 9).await.unwrap()), [waits]);
}

#[tokio::test]
async fn a_change_is_told_once_and_what_waits_every_time() {
    let world = World::new();
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "restart", &on("checkout")).await;
    let id = ApprovalId::nth(1);
    let (listed, mark) = sequencer.changed(Since::Time(at(0))).await.unwrap();
    assert_eq!(numbers(&listed), [1]);
    let (listed, mark) = sequencer.changed(Since::Mark(mark)).await.unwrap();
    assert_eq!(numbers(&listed), [1], "it waits");
    assert!(!sequencer.is_settled(id) && sequencer.is_settled(ApprovalId::nth(7)));
    let card = sequencer.card(id).await.unwrap();
    sequencer.deny(id, &claim(&card, "bob"), "not now").await.unwrap();
    let (listed, mark) = sequencer.changed(Since::Mark(mark)).await.unwrap();
    assert_eq!(listed.iter().map(|it| it.state.as_str()).collect::<Vec<_>>(), ["denied"]);
    assert!(sequencer.is_settled(id));
    assert!(sequencer.changed(Since::Mark(mark)).await.unwrap().0.is_empty());
    drop(sequencer);
    // The first look of the next process goes by the time of the change.
    let next = world.open().await;
    let denied_at = world.real().wall;
    assert_eq!(numbers(&next.changed(Since::Time(denied_at)).await.unwrap().0), [1]);
    world.wait(1);
    let now = world.real().wall;
    assert!(next.changed(Since::Time(now)).await.unwrap().0.is_empty());
}

#[tokio::test]
async fn what_is_over_and_not_written_down_yet_counts_as_that() {
    let world = World::new();
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "restart", &on("checkout")).await;
    assert_eq!(sequencer.counted().by, [((Tier::High, Decision::Open), 1)].into());
    world.wait(3_600);
    assert_eq!(sequencer.counted().by, [((Tier::High, Decision::Expired), 1)].into());
    assert_eq!(numbers(&sequencer.page(None, Some("expired"), 9).await.unwrap()), [1]);
    assert!(sequencer.page(None, Some("open"), 9).await.unwrap().is_empty());
}
