//! What people do about writes from another process: votes through the sequencer's socket, and who they are taken for.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test; Clippy's leave for tests ends at the test functions"
)]

mod world;

mod alone;

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use warrant::app::SystemClock;
use warrant::app::sequencer::socket;
use warrant::app::sequencer::wire::{Answer, Ask, Seen};
use warrant::chat::terminal::approver::TerminalApprover;
use warrant::chat::terminal::keyboard::{Keyboard, Pace};
use warrant::chat::terminal::progress::Progress;
use warrant::chat::terminal::style::Paint;
use warrant_kernel::call::gate::approval::State;
use warrant_kernel::call::gate::approver::Nobody;
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::call::gate::vote::{Claimant, Proof, Whole};
use warrant_kernel::domain::plan::ApprovalId;
use warrant_kernel::domain::result::Status;

use world::World;

fn seen(card: &Card, whole: Whole) -> Seen {
    Seen { approval: card.approval, revision: card.revision, digest: card.digest_prefix.clone(), whole }
}

/// What is answered to a request at the socket.
async fn said(world: &World, token: Option<&str>, ask: Ask) -> Answer {
    socket::ask(&world.store(), token.map(str::to_owned), ask).await.unwrap().unwrap()
}

fn code(answer: &Answer) -> &str {
    match answer {
        Answer::Done(_) => "DONE",
        Answer::Refused(refused) => &refused.code,
    }
}

#[tokio::test]
async fn a_vote_from_another_process_counts_and_what_nobody_waits_for_is_carried_out() {
    let world = World::begin().await;
    world.i_am("ben");
    let result = world.ask("edit", "checkout", &Nobody).await;
    assert_eq!(result.status, Status::Pending, "{result:?}");
    let digest = world.card(1).await.digest_prefix;
    let listed = world.warrant(&["approvals", "list"]).await;
    assert!(
        listed.out.contains("A1 medium  counts checkout up (edit on checkout, for ann): waits until"),
        "{listed:?}"
    );
    let wrong = world.warrant(&["approvals", "approve", "A1", "--digest", "000000000000"]).await;
    assert_eq!((wrong.code, world.effects()), (2, 0), "{wrong:?}");
    let unasked = world.warrant(&["approvals", "approve", "A1"]).await;
    assert_eq!((unasked.code, world.effects()), (2, 0), "{unasked:?}");
    assert!(unasked.err.contains(&format!("warrant approvals approve A1 --digest {digest}")), "{unasked:?}");
    let approved = world.warrant(&["approvals", "approve", "A1", "--digest", &digest, "--json"]).await;
    assert_eq!(approved.code, 0, "{approved:?}");
    let told = approved.json();
    assert_eq!(told["state"]["is"], "executed", "{told}");
    assert_eq!(told["state"]["verified"], "held", "{told}");
    assert_eq!(told["then"], "carried_out_here");
    assert_eq!(world.effects(), 1);
    let card = world.card(1).await;
    assert_eq!(card.electorate.approved, ["ben".parse().unwrap()]);
    // AP-03: it is good for one write.
    let again = world.warrant(&["approvals", "approve", "A1", "--digest", &digest]).await;
    assert_eq!((again.code, world.effects()), (1, 1), "{again:?}");
    assert!(again.err.contains("ALREADY_CONSUMED"), "{again:?}");
    world.end().await;
}

#[tokio::test]
async fn what_was_done_and_is_not_as_it_should_be_ends_with_exit_code_5_and_says_why() {
    let world = World::begin().await;
    world.i_am("ben");
    world.fail();
    world.ask("edit", "checkout", &Nobody).await;
    let digest = world.card(1).await.digest_prefix;
    let approved = world.warrant(&["approvals", "approve", "A1", "--digest", &digest]).await;
    assert_eq!((approved.code, world.effects()), (5, 1), "{approved:?}");
    let told = world.warrant(&["audit", "show", "A1"]).await;
    assert!(told.out.contains("verification FAILED") && told.out.contains("it counts backwards"), "{told:?}");
    world.end().await;
}

#[tokio::test]
async fn a_denial_with_its_reason_reaches_the_state_and_the_model() {
    let world = World::begin().await;
    world.i_am("ben");
    world.ask("restart", "checkout", &Nobody).await;
    let denied = world.warrant(&["approvals", "deny", "A1", "no restart during checkout peak", "--json"]).await;
    assert_eq!(denied.code, 0, "{denied:?}");
    let State::Denied { by, reason, .. } = world.card(1).await.state else { panic!("not denied") };
    assert_eq!((by.as_str(), reason.as_str()), ("ben", "no restart during checkout peak"));
    let late = world.warrant(&["approvals", "approve", "A1"]).await;
    assert_eq!((late.code, world.effects()), (3, 0), "{late:?}");
    assert!(late.out.starts_with("A1: denied by ben at "), "{late:?}");
    let again = world.ask("restart", "checkout", &Nobody).await;
    assert_eq!(again.status, Status::Denied);
    assert!(again.error.unwrap().message.contains("no restart during checkout peak"));
    let reopened = world.warrant(&["approvals", "reopen", "A1", "the peak is over"]).await;
    assert_eq!((reopened.code, world.card(1).await.state), (0, State::Open), "{reopened:?}");
    assert_eq!(world.warrant(&["approvals", "revoke", "A1", "not needed any more"]).await.code, 0);
    assert_eq!(world.card(1).await.state.as_str(), "revoked");
    world.end().await;
}

#[tokio::test]
async fn a_user_whom_nobody_claims_decides_nothing_and_root_is_not_everybody() {
    let world = World::begin().await;
    world.ask("edit", "checkout", &Nobody).await;
    let digest = world.card(1).await.digest_prefix;
    world.i_am_nobody();
    for args in [
        vec!["approvals", "approve", "A1", "--digest", &digest],
        vec!["approvals", "deny", "A1", "just because"],
        vec!["approvals", "revoke", "A1", "just because"],
        vec!["stop-writes", "just because"],
        vec!["audit", "resolve", "A1", "done", "just because"],
    ] {
        let ran = world.warrant(&args).await;
        assert_eq!(ran.code, 1, "{args:?}: {ran:?}");
        assert!(ran.err.contains("(NOBODY)"), "{args:?}: {ran:?}");
    }
    assert_eq!(world.card(1).await.state, State::Open);
    // Whom the store belongs to may look, since the file is theirs.
    assert_eq!(world.warrant(&["approvals", "show", "A1"]).await.code, 0);
    // A person without the right is told who decided so.
    world.i_am("dora");
    let ran = world.warrant(&["approvals", "approve", "A1", "--digest", &digest]).await;
    assert!(ran.err.contains("NO_SUCH_PERSON"), "{ran:?}");
    assert_eq!((world.card(1).await.state, world.effects()), (State::Open, 0));
    world.end().await;
}

#[tokio::test]
async fn at_the_high_tier_no_script_approves_and_the_gate_takes_no_vote_without_the_mark() {
    let world = World::begin().await;
    world.ask("restart", "checkout", &Nobody).await;
    world.i_am("ben");
    let card = world.card(1).await;
    let digest = card.digest_prefix.clone();
    for args in [vec!["approvals", "approve", "A1", "--digest", &digest], vec!["approvals", "approve", "A1"]] {
        let ran = world.warrant(&args).await;
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains("last page of the whole"), "{ran:?}");
    }
    let unopened = said(&world, None, Ask::Approve { seen: seen(&card, Whole::NotOpened) }).await;
    assert_eq!(code(&unopened), "WHOLE_NOT_OPENED");
    // AP-24 and AP-01: another revision, another plan.
    let stale = Seen { revision: card.revision + 1, ..seen(&card, Whole::Opened) };
    assert_eq!(code(&said(&world, None, Ask::Approve { seen: stale }).await), "STALE_CARD");
    let other = Seen { digest: "0".repeat(12), ..seen(&card, Whole::Opened) };
    assert_eq!(code(&said(&world, None, Ask::Approve { seen: other }).await), "PLAN_HASH_MISMATCH");
    world.i_am("ann");
    let own = said(&world, None, Ask::Approve { seen: seen(&card, Whole::Opened) }).await;
    assert_eq!(code(&own), "SELF_APPROVAL");
    assert_eq!((world.card(1).await.state, world.effects()), (State::Open, 0));
    world.end().await;
}

async fn token(world: &World, person: &str) -> String {
    let made = world.warrant(&["token", "new", person, "--json"]).await;
    assert_eq!(made.code, 0, "{made:?}");
    made.json()["token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn one_user_never_gives_two_votes_and_a_token_proves_one_person() {
    let world = World::begin().await;
    world.ask("restart", "vault", &Nobody).await;
    let card = world.card(1).await;
    assert_eq!(card.electorate.quorum, 2);
    // The operator, who is nobody, gives tokens to two persons who share this user.
    world.i_am_nobody();
    let (ben, cid) = (token(&world, "ben").await, token(&world, "cid").await);
    assert!(ben.starts_with("warrant_") && ben.len() == 72, "{ben}");
    let approve = || Ask::Approve { seen: seen(&card, Whole::Opened) };
    let first = said(&world, Some(&ben), approve()).await;
    assert_eq!(first, Answer::Done(json!({ "have": 1, "need": 2, "then": "more_needed" })));
    assert_eq!(code(&said(&world, Some(&ben), approve()).await), "ALREADY_VOTED");
    let another_of_ben = token(&world, "ben").await;
    assert_eq!(code(&said(&world, Some(&another_of_ben), approve()).await), "ALREADY_VOTED");
    // A user who is somebody answers for nobody else, whatever token they hold.
    world.i_am("ben");
    assert_eq!(code(&said(&world, Some(&cid), approve()).await), "OTHER_PERSON");
    assert_eq!(code(&said(&world, None, approve()).await), "ALREADY_VOTED");
    // A token makes no tokens, and a person none for others.
    assert_eq!(
        code(&said(&world, None, Ask::TokenNew { person: "cid".parse().unwrap(), scopes: BTreeSet::new() }).await),
        "NOT_ELIGIBLE"
    );
    world.i_am_nobody();
    let by_token =
        said(&world, Some(&cid), Ask::TokenNew { person: "cid".parse().unwrap(), scopes: BTreeSet::new() }).await;
    assert_eq!(code(&by_token), "NOT_ELIGIBLE");
    for wrong in ["", "warrant_", "ben", &cid.to_uppercase(), &format!("{cid}0")] {
        assert_eq!(code(&said(&world, Some(wrong), approve()).await), "NO_TOKEN", "{wrong}");
    }
    assert_eq!(world.effects(), 0);
    let second = world.warrant_with(&["approvals", "list", "--json"], Some(&cid)).await;
    assert_eq!(second.code, 0, "{second:?}");
    assert_eq!(code(&said(&world, Some(&cid), approve()).await), "DONE");
    world.end().await;
}

#[tokio::test]
async fn a_token_is_told_once_and_proves_nobody_once_it_is_revoked() {
    let world = World::begin().await;
    world.i_am("ben");
    let secret = token(&world, "ben").await;
    let listed = world.warrant(&["token", "list", "--json"]).await;
    let id = listed.json()["id"].as_str().unwrap().to_owned();
    assert!(!listed.out.contains(&secret) && !listed.out.contains("digest"), "{listed:?}");
    world.i_am_nobody();
    assert_eq!(code(&said(&world, Some(&secret), Ask::Who).await), "DONE");
    assert_eq!(world.warrant_with(&["token", "revoke", &id], Some(&secret)).await.code, 0);
    assert_eq!(code(&said(&world, Some(&secret), Ask::Who).await), "NO_TOKEN");
    let dir = world.end().await;
    for entry in std::fs::read_dir(dir.path()).unwrap() {
        // What SQLite keeps beside the store goes as the last process lets go of it.
        let bytes = match std::fs::read(entry.unwrap().path()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            read => read.unwrap(),
        };
        let holds = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
        assert!(!holds, "the token itself is nowhere in the store");
    }
}

#[tokio::test]
async fn writes_are_stopped_from_another_process_and_what_is_approved_then_is_not_carried_out() {
    let world = World::begin().await;
    world.ask("edit", "checkout", &Nobody).await;
    world.i_am("ben");
    let stopped = world.warrant(&["stop-writes", "two restarts too many", "--json"]).await;
    assert_eq!((stopped.code, stopped.json()), (0, json!({ "writes_stopped": true })), "{stopped:?}");
    assert_eq!(world.warrant(&["stop-writes", "again"]).await.code, 1);
    let listed = world.warrant(&["approvals", "list"]).await;
    assert!(listed.out.contains("by ben: two restarts too many"), "{listed:?}");
    let digest = world.card(1).await.digest_prefix;
    let approved = world.warrant(&["approvals", "approve", "A1", "--digest", &digest]).await;
    assert_eq!((approved.code, world.effects()), (3, 0), "{approved:?}");
    assert!(approved.out.contains("A1 is approved and was not carried out: "), "{approved:?}");
    assert_eq!(world.warrant(&["stop-writes", "--lift", "it was the load balancer"]).await.code, 0);
    // Whoever says yes again wants it done.
    let approved = world.warrant(&["approvals", "approve", "A1"]).await;
    assert_eq!((approved.code, world.effects()), (0, 1), "{approved:?}");
    world.end().await;
}

/// Somebody at the terminal who thinks for ever.
struct Thinks;

#[async_trait]
impl Keyboard for Thinks {
    fn pace(&self) -> Pace {
        Pace::Person
    }

    async fn line(&mut self) -> Option<String> {
        std::future::pending().await
    }

    fn forget(&mut self) {}
}

#[derive(Clone, Default)]
struct Shown(Arc<Mutex<Vec<u8>>>);

impl Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn ap_26_what_a_call_waits_for_is_carried_out_by_that_call_and_the_voter_is_told_so() {
    let shown = Shown::default();
    let screen = Arc::new(Progress::new(shown.clone(), Paint::Plain, 80));
    let ann = Claimant { person: "ann".parse().unwrap(), proof: Proof::Uid(4_242) };
    let approver = TerminalApprover::new(screen, Box::new(Thinks), vec![ann], Arc::new(SystemClock), 20);
    let world = World::with(approver.attended()).await;
    world.i_am("ben");
    let asked = world.ask("edit", "checkout", &approver);
    let voted = async {
        let id = ApprovalId::nth(1);
        while !approver.attended().holds(id) {
            tokio::task::yield_now().await;
        }
        let digest = world.card(1).await.digest_prefix;
        world.warrant(&["approvals", "approve", "A1", "--digest", &digest, "--json"]).await
    };
    let (result, voted) = tokio::join!(asked, voted);
    assert_eq!(result.status, Status::Ok, "{result:?}");
    assert_eq!(voted.code, 0, "{voted:?}");
    assert_eq!(voted.json()["then"], Value::from("caller_carries_out"));
    assert_eq!(world.effects(), 1);
    let text = String::from_utf8(shown.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("A1 approved at"), "{text}");
    world.end().await;
}
