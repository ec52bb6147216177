//! Attacks on who says it: one person one vote, none of one's own, and nobody whose standing can't be found out.

use crate::call::gate::approval::{State, Tally};
use crate::call::gate::approver::Nobody;
use crate::call::gate::objection::Objection;
use crate::call::gate::vote::{Claim, Claimant, Proof};
use crate::domain::name::PersonId;
use crate::domain::plan::ApprovalId;
use crate::domain::result::{ErrorCode, Status};
use crate::people::directory::{Freshness, Standing};

use super::world::{Answer, AtHand, World, claim, on, told};

const A1: ApprovalId = ApprovalId::nth(1);

#[tokio::test]
async fn ap_06_nobody_approves_their_own_at_the_high_tier() {
    let mut world = World::new();
    world.contributors = vec!["cid".parse().unwrap()];
    let sequencer = world.open().await;
    let people = AtHand::who([Answer::Approve("ann"), Answer::Approve("cid")]);
    let result = world.ask(&sequencer, &people, "restart", &on("checkout")).await;
    assert_eq!(told(&result), ("pending".to_owned(), "PENDING".to_owned()));
    let person = |name: &str| -> PersonId { name.parse().unwrap() };
    let heard = people.heard.lock().unwrap().clone();
    assert_eq!(heard, [Err(Objection::SelfApproval(person("ann"))), Err(Objection::SelfApproval(person("cid")))]);
    let refused: Vec<_> = world.records().into_iter().filter(|(kind, _)| kind == "refused").collect();
    assert_eq!(refused[0].1["reason_code"], "SELF_APPROVAL");
    assert_eq!(refused[0].1["person"], "ann");
    // At medium the one who asked may confirm.
    let result = world.ask(&sequencer, &AtHand::who([Answer::Approve("ann")]), "edit", &on("checkout")).await;
    assert_eq!(result.status, Status::Ok);
}

#[tokio::test]
async fn ap_07_two_accounts_are_one_person_and_bots_are_none() {
    let world = World::new();
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "restart", &on("vault")).await;
    let card = sequencer.card(A1).await.unwrap();
    assert_eq!(card.electorate.quorum, 2);
    let with =
        |who: &str, proof: Proof| Claim { by: Claimant { person: who.parse().unwrap(), proof }, ..claim(&card, who) };
    // The requester's second account is the requester.
    let second = sequencer.vote(A1, &with("ann", Proof::Uid(1002))).await;
    assert_eq!(second, Err(Objection::SelfApproval("ann".parse().unwrap())));
    let bot = sequencer.vote(A1, &with("alertbot", Proof::Uid(0))).await;
    assert_eq!(bot, Err(Objection::NotHuman("alertbot".parse().unwrap())));
    // One account is one vote, whoever is said to sit behind it.
    assert_eq!(sequencer.vote(A1, &with("bob", Proof::Uid(1001))).await, Ok(Tally::Counted { have: 1, need: 2 }));
    let shared = sequencer.vote(A1, &with("cid", Proof::Uid(1001))).await;
    assert_eq!(shared.unwrap_err().code(), "SAME_ACCOUNT");
    assert_eq!(sequencer.vote(A1, &with("cid", Proof::Uid(1003))).await, Ok(Tally::Approved));
}

#[tokio::test]
async fn ap_07_root_is_not_everybody_and_demo_persons_decide_in_the_demo_only() {
    let world = World::new();
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "edit", &on("checkout")).await;
    let card = sequencer.card(A1).await.unwrap();
    let as_root =
        Claim { by: Claimant { person: "root".parse().unwrap(), proof: Proof::Uid(0) }, ..claim(&card, "bob") };
    assert_eq!(sequencer.vote(A1, &as_root).await, Err(Objection::NoSuchPerson("root".parse().unwrap())));
    let demo = Claim { by: Claimant { person: "bob".parse().unwrap(), proof: Proof::Demo }, ..claim(&card, "bob") };
    assert_eq!(sequencer.vote(A1, &demo).await, Err(Objection::DemoOnly));
}

#[tokio::test]
async fn ap_09_one_person_gives_one_vote() {
    let world = World::new();
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "restart", &on("vault")).await;
    let card = sequencer.card(A1).await.unwrap();
    assert_eq!(sequencer.vote(A1, &claim(&card, "bob")).await, Ok(Tally::Counted { have: 1, need: 2 }));
    let again =
        Claim { by: Claimant { person: "bob".parse().unwrap(), proof: Proof::Uid(1001) }, ..claim(&card, "bob") };
    for vote in [claim(&card, "bob"), again] {
        assert_eq!(sequencer.vote(A1, &vote).await, Err(Objection::AlreadyVoted("bob".parse().unwrap())));
    }
    assert_eq!(sequencer.execute(A1).await.unwrap_err().code, ErrorCode::ApprovalPending);
}

#[tokio::test]
async fn how_people_decide_is_counted_from_what_is_kept() {
    let world = World::new();
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "restart", &on("vault")).await;
    let card = sequencer.card(A1).await.unwrap();
    sequencer.vote(A1, &claim(&card, "bob")).await.unwrap();
    drop(sequencer);
    // Another process counts the same.
    let figures = world.open().await.counted().figures;
    assert_eq!((figures.asked, figures.decisions, figures.hasty, figures.executed), (1, 1, 1, 0));
    assert!(figures.hasty_share().is_some_and(|share| share > 0.99));
}

#[tokio::test]
async fn ap_11_a_vote_falls_with_the_standing_of_who_gave_it() {
    for gone in [None, Some(Standing { groups: Vec::new(), active: true, human: true })] {
        let world = World::new();
        let sequencer = world.open().await;
        world.ask(&sequencer, &Nobody, "restart", &on("checkout")).await;
        let card = sequencer.card(A1).await.unwrap();
        sequencer.vote(A1, &claim(&card, "bob")).await.unwrap();
        world.real().looked_up.clear();
        match gone {
            Some(standing) => drop(world.real().people.insert("bob".parse().unwrap(), standing)),
            None => world.real().people.get_mut(&"bob".parse().unwrap()).unwrap().active = false,
        }
        let halt = sequencer.execute(A1).await.unwrap_err();
        assert_eq!(halt.code, ErrorCode::ApprovalPending, "{halt:?}");
        assert_eq!(world.real().looked_up, [("bob".parse().unwrap(), Freshness::Now)]);
        let card = sequencer.card(A1).await.unwrap();
        assert_eq!((card.state.clone(), card.electorate.approved.len()), (State::Open, 0));
        assert_eq!(world.effects(), 0);
        // Another one may still approve it.
        sequencer.vote(A1, &claim(&card, "cid")).await.unwrap();
        assert!(sequencer.execute(A1).await.is_ok());
    }
}

#[tokio::test]
async fn ap_12_a_directory_that_does_not_answer_approves_nothing() {
    let world = World::new();
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "restart", &on("checkout")).await;
    let card = sequencer.card(A1).await.unwrap();
    world.real().directory_down = true;
    assert_eq!(sequencer.vote(A1, &claim(&card, "bob")).await.unwrap_err().code(), "DIRECTORY_FAILED");
    world.real().directory_down = false;
    sequencer.vote(A1, &claim(&card, "bob")).await.unwrap();
    world.real().directory_down = true;
    assert_eq!(sequencer.execute(A1).await.unwrap_err().reason, "DIRECTORY_FAILED");
    assert_eq!(world.effects(), 0);
    world.real().directory_down = false;
    assert!(sequencer.execute(A1).await.is_ok(), "nobody lost their vote by it");
}

#[tokio::test]
async fn ap_16_only_the_canonical_name_is_the_person() {
    let world = World::new();
    let sequencer = world.open().await;
    world.ask(&sequencer, &Nobody, "restart", &on("checkout")).await;
    let card = sequencer.card(A1).await.unwrap();
    for name in ["Bob", "BOB", "bob.", "bob@"] {
        let vote = sequencer.vote(A1, &claim(&card, name)).await;
        assert_eq!(vote, Err(Objection::NoSuchPerson(name.parse().unwrap())));
    }
    for name in ["<@bob>", "bоb", "bob ", " bob", "bob\u{200B}"] {
        assert!(name.parse::<PersonId>().is_err(), "{name}");
    }
}
