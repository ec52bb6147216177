//! The worker dies between any two steps: nothing is lost and nothing is begun twice.

use super::world::Moment;
use super::*;

/// A story in three acts; each act begins with what arrives.
fn acts() -> [Vec<Delivery>; 3] {
    let resolved = alert("1", "a", Urgency::WhenFree, 0, State::Resolved);
    let urgent = alert("4", "c", Urgency::AtOnce, 1, State::Firing);
    [
        vec![firing("1", "a"), firing("2", "b")],
        vec![firing("3", "a"), resolved, urgent],
        vec![alert("2", "b", Urgency::AtOnce, 2, State::Firing), alert("5", "b", Urgency::WhenFree, 2, State::Firing)],
    ]
}

/// Plays the story; where the worker hangs, it is dropped and another one starts.
async fn play(world: &World) {
    let (mut worker, mut handle) = world.worker().await;
    for (minutes, act) in (0..).zip(acts()) {
        world.clock.set(at(minutes));
        world.arrive(minutes, &act).await;
        loop {
            let ended = tokio::select! {
                round = worker.round() => Some(round.unwrap()),
                () = world.seam.stopped.notified() => None,
            };
            match ended {
                Some(Round::More) => {}
                Some(Round::Done) => break,
                None => (worker, handle) = world.worker().await,
            }
        }
        if minutes == 1 {
            // The investigation of `a` ends: said at once, and there to be asked for.
            let of_a = world.seam.opened().into_iter().find(|it| it.service.as_ref().unwrap().as_str() == "a").unwrap();
            world.seam.end(&of_a.investigation, "likely");
            let ending = Ending { outcome: "likely".to_owned(), cause: Some("the pool was full".to_owned()) };
            handle.ended(of_a.investigation, ending).await;
        }
    }
    // Whatever the last round left over.
    worker.round().await.unwrap();
}

async fn check(world: &World, what: &str) {
    let incidents = world.incidents().await;
    assert_eq!(incidents.len(), 3, "{what}");
    assert_eq!(incidents.iter().map(|incident| incident.alerts).sum::<u64>(), 7, "{what}: every alert once");
    assert!(world.store.arrived(CHANNEL, 9).await.unwrap().is_empty(), "{what}: all handled");
    let opened = world.seam.opened();
    let of: BTreeSet<&str> = opened.iter().map(|opening| opening.incident.as_str()).collect();
    assert_eq!((opened.len(), of.len()), (3, 3), "{what}: one investigation an incident");
    for incident in &incidents {
        let assigned = incident.investigation.as_ref().unwrap();
        assert!(opened.iter().any(|opening| opening.investigation == assigned.id), "{what}: the one it knows of");
        assert_eq!(world.seam.shown_last(&incident.id), incident.changes, "{what}: shown as it stands");
        assert!(!incident.unshown && incident.news.is_empty(), "{what}: nothing is left to be told");
        let ended = matches!(assigned.progress, Progress::Ended { .. });
        assert_eq!(ended, incident.service.as_ref().unwrap().as_str() == "a", "{what}");
    }
    let of_b = opened.iter().find(|it| it.service.as_ref().unwrap().as_str() == "b").unwrap();
    let told = world.seam.told(&of_b.investigation);
    assert!(told.contains("Alert5") && told.contains("Alert2"), "{what}: {told}");
}

#[tokio::test]
async fn no_alert_is_lost_and_no_investigation_opened_twice_wherever_the_worker_dies() {
    let world = World::new().await;
    play(&world).await;
    check(&world, "undisturbed").await;
    let calls = world.seam.calls();
    assert!(calls >= 9, "{calls}");
    for nth in 0..calls {
        for moment in [Moment::Before, Moment::After] {
            let world = World::new().await;
            world.seam.stop_at(nth, moment);
            play(&world).await;
            check(&world, &format!("dies {moment:?} call {nth}")).await;
        }
    }
}

#[tokio::test]
async fn somebody_else_who_writes_the_same_note_makes_the_worker_read_again() {
    let world = World::new().await;
    let (mut worker, _handle) = world.worker().await;
    world.arrive(0, &[firing("1", "a")]).await;
    worker.round().await.unwrap();
    // A second worker, as no second `serve` may be.
    let (mut other, _other) = world.worker().await;
    world.arrive(1, &[firing("2", "a")]).await;
    other.round().await.unwrap();
    world.arrive(1, &[firing("3", "a")]).await;
    assert!(worker.round().await.is_err(), "its revision is an old one");
    worker.round().await.unwrap();
    let incidents = world.incidents().await;
    assert_eq!((incidents.len(), incidents[0].alerts, incidents[0].members.len()), (1, 3, 3));
    assert_eq!(world.seam.opened().len(), 1);
}
