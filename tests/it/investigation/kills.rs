//! A run that is killed at any event, and then resumed, reports what the unbroken run reports.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;
use warrant::agent::state::State;
use warrant::agent::trace::{Unwatched, Watcher};
use warrant::app::ask::{AtHand, Ended, Kept, ask};
use warrant::app::{App, investigations};
use warrant_kernel::domain::event::{Asked, Body, Event};
use warrant_kernel::domain::name::InvestigationId;

use super::{World, reported, serve_all};
use crate::model_server::script::Shape;

/// Ends the run the moment its `nth` event has been stored, as a kill would: nothing that follows is done.
struct KillAt {
    nth: u64,
    id: Mutex<Option<InvestigationId>>,
}

impl Watcher for KillAt {
    fn event(&self, event: &Event, state: &State) {
        *self.id.lock().unwrap() = Some(state.run.investigation.clone());
        if event.seq == self.nth {
            // Unwinding drops the whole run where it stands.
            std::panic::resume_unwind(Box::new("killed"));
        }
    }

    fn delta(&self, _: &str) {}
}

fn unwatched() -> AtHand {
    AtHand::watching(Arc::new(Unwatched))
}

/// Runs until the `nth` event; the id of what was left behind.
async fn killed(world: &World, app: &App, nth: u64) -> InvestigationId {
    let watcher = Arc::new(KillAt { nth, id: Mutex::default() });
    let run = ask(app, world.question(), Arc::clone(&watcher) as _, CancellationToken::new());
    assert!(AssertUnwindSafe(run).catch_unwind().await.is_err(), "the run has no event {nth}");
    watcher.id.lock().unwrap().clone().unwrap()
}

#[tokio::test]
async fn a_run_killed_at_any_event_reports_the_same_when_resumed() {
    for shape in [Shape::OpenAi, Shape::Anthropic] {
        let world = World::new();
        let server = serve_all(world.script()).await;
        let app = world.app(&world.config_of(shape, &server, ""));
        let (_, unbroken, events) = world.report(&app).await;
        let last = events.last().unwrap().seq;
        assert!(last > 30, "{last} events are too few to mean anything");
        for nth in 1..=last {
            let id = killed(&world, &app, nth).await;
            let left = investigations::show(&app, id.as_str()).await.unwrap().1;
            let resumed = investigations::resume(&app, id.as_str(), unwatched(), CancellationToken::new());
            assert_eq!(
                reported(resumed.await.unwrap().1),
                unbroken,
                "killed at {nth}: {:?}",
                left.last().unwrap().body
            );
            let all = investigations::show(&app, id.as_str()).await.unwrap().1;
            assert_eq!(all[..left.len()], left[..], "what was stored stays as it was");
            assert_eq!(investigations::replay(&app, id.as_str()).await.unwrap().1, [], "killed at {nth}");
        }
    }
}

#[tokio::test]
async fn a_run_killed_again_and_again_gets_there_too() {
    let world = World::new();
    let server = serve_all(world.script()).await;
    let app = world.app(&world.config_of(Shape::OpenAi, &server, ""));
    let unbroken = world.report(&app).await.1;
    let id = killed(&world, &app, 3).await;
    let mut kills = 0;
    let resumed = loop {
        let last = investigations::show(&app, id.as_str()).await.unwrap().1.last().unwrap().seq;
        // The first event of a resumed run says that it was resumed.
        let watcher = Arc::new(KillAt { nth: last + 3, id: Mutex::default() });
        let run = investigations::resume(&app, id.as_str(), AtHand::watching(watcher), CancellationToken::new());
        match AssertUnwindSafe(run).catch_unwind().await {
            Ok(ended) => break ended.unwrap().1,
            Err(_) => kills += 1,
        }
    };
    assert_eq!(reported(resumed), unbroken);
    assert!(kills > 10, "{kills}");
}

/// Fires its token at the `nth` event.
struct InterruptAt(u64, CancellationToken);

impl Watcher for InterruptAt {
    fn event(&self, event: &Event, _: &State) {
        if event.seq >= self.0 {
            self.1.cancel();
        }
    }

    fn delta(&self, _: &str) {}
}

#[tokio::test]
async fn an_interrupted_run_is_resumed_as_if_nothing_had_been() {
    let world = World::new();
    let server = serve_all(world.script()).await;
    let app = world.app(&world.config_of(Shape::OpenAi, &server, ""));
    let (_, unbroken, events) = world.report(&app).await;
    for nth in 1..events.last().unwrap().seq {
        let cancel = CancellationToken::new();
        let watcher = Arc::new(InterruptAt(nth, cancel.clone()));
        let (id, ended) = ask(&app, world.question(), watcher, cancel).await.unwrap();
        assert_eq!(ended, Ended::Interrupted(Kept::Whole), "at {nth}");
        let left = investigations::show(&app, id.as_str()).await.unwrap().1;
        assert_eq!(left.last().unwrap().body, Body::Interrupted);
        assert!(!format!("{left:?}").contains("Cancelled"), "a read that was ended is no answer");
        let resumed = investigations::resume(&app, id.as_str(), unwatched(), CancellationToken::new());
        assert_eq!(reported(resumed.await.unwrap().1), unbroken, "interrupted at {nth}");
        assert_eq!(investigations::replay(&app, id.as_str()).await.unwrap().1, []);
    }
}

#[tokio::test]
async fn a_question_that_was_in_flight_is_asked_once_more_and_never_answered_twice() {
    let world = World::new();
    let server = serve_all(world.script()).await;
    let app = world.app(&world.config_of(Shape::OpenAi, &server, ""));
    let (_, _, events) = world.report(&app).await;
    let asked = |event: &&Event| matches!(event.body, Body::Asked(Asked::Model { .. }));
    let first = events.iter().find(asked).unwrap().seq;
    let id = killed(&world, &app, first).await;
    investigations::resume(&app, id.as_str(), unwatched(), CancellationToken::new()).await.unwrap();
    let all = investigations::show(&app, id.as_str()).await.unwrap().1;
    let requests: Vec<&Event> = all.iter().filter(asked).collect();
    assert_eq!(requests.len(), events.iter().filter(asked).count() + 1);
    assert_eq!(requests[0].body, requests[1].body, "the same request to the letter");
    let state = State::fold(&all).unwrap();
    assert_eq!(state.turns.iter().map(|turn| turn.number).collect::<Vec<_>>(), [1, 2, 3, 4]);
}
