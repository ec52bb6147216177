//! Every storage call and every step of every scenario breaks once in every way; then a new process starts, and the laws
//! must hold. A counting run finds what there is to break, and all of it is broken: none is skipped.

use std::sync::Arc;

use crate::call::gate::approval::State;
use crate::call::gate::approver::Nobody;
use crate::call::gate::deed::Ended;
use crate::call::gate::sequencer::Sequencer;
use crate::call::gate::sequencer::shown::Did;
use crate::call::write::WriteError;
use crate::db::memory::{Fault, Memory};
use crate::domain::plan::ApprovalId;

use super::history::{Chained, Told, check};
use super::world::{Break, World, by, claim, on, set};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scenario {
    Low,
    Medium,
    TwoPersons,
    Denied,
    RevokedThenTried,
    Reopened,
    BrokenGlass,
    Changed,
    Stopped,
    Expired,
    Unknown,
    Refused,
}

impl Scenario {
    const ALL: [Self; 12] = [
        Self::Low,
        Self::Medium,
        Self::TwoPersons,
        Self::Denied,
        Self::RevokedThenTried,
        Self::Reopened,
        Self::BrokenGlass,
        Self::Changed,
        Self::Stopped,
        Self::Expired,
        Self::Unknown,
        Self::Refused,
    ];
}

/// What the process finds when it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// An empty store.
    Clean,
    /// What one left that died between intent and effect, another approval waiting.
    Torn,
}

#[derive(Debug, Clone, Copy)]
enum Where {
    Storage(u64, Fault),
    Step(u64, Break),
}

/// Votes for it, and has it carried out.
async fn approved(sequencer: &Sequencer, told: &Told, id: ApprovalId, who: &[&str]) {
    let Ok(card) = sequencer.card(id).await else { return };
    for person in who {
        told.note("vote", id, sequencer.vote(id, &claim(&card, person)).await);
    }
    executed(sequencer, told, id).await;
}

/// Whether it was done.
async fn executed(sequencer: &Sequencer, told: &Told, id: ApprovalId) -> bool {
    let Some(deed) = told.note("intent", id, sequencer.execute(id).await) else { return false };
    if deed.closed {
        // What is not known has no outcome yet.
        let kind = match deed.ended {
            Ended::Unknown { .. } => "unknown",
            Ended::Done { .. } | Ended::NotDone { .. } => "outcome",
        };
        told.note::<(), ()>(kind, id, Ok(()));
    }
    matches!(deed.ended, Ended::Done { .. })
}

async fn play(scenario: Scenario, world: &World, told: &Told) {
    let Ok(sequencer) = world.try_open().await else { return };
    if sequencer.sweep().await.is_err() {
        return;
    }
    let s = &sequencer;
    let id = ApprovalId::nth(s.total() as u64 + 1);
    let tool = match scenario {
        Scenario::Low => "nudge",
        Scenario::Medium => "edit",
        _ => "restart",
    };
    let service = if scenario == Scenario::TwoPersons { "vault" } else { "checkout" };
    world.ask(s, &Nobody, tool, &on(service)).await;
    let Ok(card) = s.card(id).await else { return };
    match scenario {
        Scenario::Low => {}
        Scenario::Medium => approved(s, told, id, &["bob"]).await,
        Scenario::TwoPersons => approved(s, told, id, &["bob", "cid"]).await,
        Scenario::Denied => {
            told.note("vote", id, s.vote(id, &claim(&card, "bob")).await);
            told.note("decision", id, s.deny(id, &claim(&card, "cid"), "not now").await);
            executed(s, told, id).await;
            world.ask(s, &Nobody, tool, &on(service)).await;
        }
        Scenario::RevokedThenTried => {
            told.note("vote", id, s.vote(id, &claim(&card, "bob")).await);
            told.note("revoked", id, s.revoke(id, &by("ann"), "not needed").await);
            executed(s, told, id).await;
        }
        Scenario::Reopened => {
            told.note("decision", id, s.deny(id, &claim(&card, "cid"), "not now").await);
            told.note("reopened", id, s.reopen(id, &by("bob"), "now it is").await);
            approved(s, told, id, &["bob"]).await;
        }
        Scenario::BrokenGlass => {
            told.note("break_glass", id, s.break_glass(id, &claim(&card, "cid"), "it burns").await);
            executed(s, told, id).await;
            told.note("review_done", id, s.review(id, &by("bob"), "was right").await);
        }
        Scenario::Changed => {
            told.note("vote", id, s.vote(id, &claim(&card, "bob")).await);
            *world.real().versions.entry("checkout".to_owned()).or_insert(1) += 6;
            executed(s, told, id).await;
            approved(s, told, ApprovalId::nth(id.number() + 1), &["cid"]).await;
        }
        Scenario::Stopped => {
            told.note("vote", id, s.vote(id, &claim(&card, "bob")).await);
            let stopped = s.stop_writes(&by("dan"), "").await.is_ok();
            executed(s, told, id).await;
            assert!(!stopped || world.real().effects.iter().all(|effect| effect.approval != id));
            if s.lift_stop(&by("bob"), "fine").await.is_ok() {
                executed(s, told, id).await;
            }
        }
        Scenario::Expired => {
            told.note("vote", id, s.vote(id, &claim(&card, "bob")).await);
            world.wait(3_600);
            executed(s, told, id).await;
            let _ = s.expire().await;
        }
        Scenario::Unknown => {
            let message = "the connection broke".to_owned();
            world.real().next_write = Some(WriteError::Unknown { message });
            approved(s, told, id, &["bob"]).await;
            world.ask(s, &Nobody, "nudge", &on(service)).await;
            told.note("resolved", id, s.resolve(id, &by("bob"), Did::Did, "I looked").await);
        }
        Scenario::Refused => {
            let message = "it is a link".to_owned();
            world.real().next_write = Some(WriteError::Refused { reason: "LINKED", message });
            approved(s, told, id, &["bob"]).await;
        }
    }
}

/// A process that died with a write under way and another waiting.
async fn torn(world: &mut World) {
    let sequencer = world.open().await;
    for service in ["payments", "ledgerd"] {
        world.ask(&sequencer, &Nobody, "restart", &set(service, "9")).await;
    }
    for n in 1..=2 {
        let id = ApprovalId::nth(n);
        let card = sequencer.card(id).await.unwrap();
        sequencer.vote(id, &claim(&card, "bob")).await.unwrap();
    }
    drop(sequencer.grant(ApprovalId::nth(1), &[]).await.unwrap());
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

/// Breaks one scenario from one start.
struct Breaking {
    world: World,
    scenario: Scenario,
    start: Start,
    /// What the process finds.
    found: Arc<Memory>,
}

impl Breaking {
    fn new(scenario: Scenario, start: Start) -> Self {
        let mut world = World::new();
        if start == Start::Torn {
            runtime().block_on(torn(&mut world));
        }
        let found = Arc::clone(&world.memory);
        Self { world, scenario, start, found }
    }

    /// Plays the scenario with one fault, starts anew, and checks; gives how many calls and steps there were.
    fn once(&mut self, fault: Option<Where>) -> (u64, u64) {
        let world = &mut self.world;
        world.renew(self.found.copied());
        let told = Told::default();
        if self.start == Start::Torn {
            for (kind, n) in [("vote", 1), ("vote", 2), ("intent", 1)] {
                told.note::<(), ()>(kind, ApprovalId::nth(n), Ok(()));
            }
        }
        match fault {
            None => {}
            Some(Where::Storage(call, fault)) => world.memory.fail_at(call, fault),
            Some(Where::Step(step, broken)) => world.real().broken = Some((step, broken)),
        }
        // Its tasks end with it, as those of a process do.
        runtime().block_on(async {
            tokio::select! {
                biased;
                () = world.killed() => {}
                () = play(self.scenario, world, &told) => {}
            }
        });
        let counted = (world.memory.calls(), world.real().steps);
        world.restart();
        runtime().block_on(async {
            let sequencer = world.open().await;
            let swept = sequencer.sweep().await.unwrap();
            let how = format!("{:?} from a {:?} start, {fault:?}", self.scenario, self.start);
            // What was approved is found by the next start and runs, once, or is told why not.
            for (id, _) in swept.approved {
                let ran = executed(&sequencer, &told, id).await;
                let card = sequencer.card(id).await.unwrap();
                assert_eq!(matches!(card.state, State::Executed { .. }), ran, "{how}: {id} {:?}", card.state);
            }
            for listed in sequencer.list(100).await.unwrap() {
                let is_left = matches!(listed.state, State::Approved { .. });
                assert!(
                    !is_left || sequencer.execute(listed.approval).await.is_err(),
                    "{how}: {listed:?} was forgotten"
                );
            }
            let broken = check(world, &told, Chained::Yes).await;
            assert!(broken.is_empty(), "{how}: {broken:#?}\n{:?}", world.kinds());
        });
        counted
    }
}

/// Breaks every call and every step of a scenario in every way, from both starts.
fn every_way(scenario: Scenario) {
    let (mut storage, mut steps) = (0, 0);
    for start in [Start::Clean, Start::Torn] {
        let mut breaking = Breaking::new(scenario, start);
        let counted = breaking.once(None);
        assert!(counted.0 > 10 && counted.1 > 1, "{scenario:?}: {counted:?}");
        for call in 0..counted.0 {
            for fault in Fault::ALL {
                breaking.once(Some(Where::Storage(call, fault)));
                storage += 1;
            }
        }
        for step in 0..counted.1 {
            for broken in Break::ALL {
                breaking.once(Some(Where::Step(step, broken)));
                steps += 1;
            }
        }
    }
    println!("{scenario:?}: {storage} faults of storage, {steps} of steps; none skipped");
}

macro_rules! scenarios {
    ($($name:ident: $scenario:ident;)*) => {$(
        #[test]
        fn $name() {
            every_way(Scenario::$scenario);
        }
    )*};
}

scenarios! {
    cr_01_a_low_write: Low;
    cr_01_a_medium_write: Medium;
    cr_01_a_write_of_two_persons: TwoPersons;
    cr_01_a_denied_write: Denied;
    cr_01_a_revoked_write: RevokedThenTried;
    cr_01_a_reopened_write: Reopened;
    cr_01_a_broken_glass: BrokenGlass;
    cr_01_a_changed_plan: Changed;
    cr_01_a_stopped_write: Stopped;
    cr_01_an_expired_write: Expired;
    cr_01_an_unknown_write: Unknown;
    cr_01_a_refused_write: Refused;
}

/// What the tests above break, in all.
#[test]
fn cr_01_the_total_of_all_faults() {
    let (mut storage, mut steps) = (0, 0);
    for scenario in Scenario::ALL {
        for start in [Start::Clean, Start::Torn] {
            let counted = Breaking::new(scenario, start).once(None);
            storage += counted.0 * Fault::ALL.len() as u64;
            steps += counted.1 * Break::ALL.len() as u64;
        }
    }
    println!("in all {storage} faults of storage and {steps} of steps over {} scenarios", Scenario::ALL.len());
    assert!(storage > 2_000 && steps > 200, "{storage} and {steps}");
}
