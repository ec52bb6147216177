mod world;

mod crashes;

mod storms;

use std::collections::BTreeSet;

use serde_json::json;
use warrant_kernel::domain::run::Trigger;
use warrant_kernel::store::desk::Arrival;

use super::*;
use crate::alert::config::Urgency;
use crate::alert::content::State;
use crate::alert::incident::{Incident, Phase, Progress};

use world::{World, alert, at};

fn firing(fingerprint: &str, service: &str) -> Delivery {
    alert(fingerprint, service, Urgency::WhenFree, 0, State::Firing)
}

#[tokio::test]
async fn an_alert_becomes_an_incident_and_an_investigation_that_hears_the_news() {
    let world = World::new().await;
    let (mut worker, handle) = world.worker().await;
    world.arrive(0, &[firing("1", "api")]).await;
    assert_eq!(worker.round().await.unwrap(), Round::Done);
    let incident = world.incidents().await.remove(0);
    let assigned = incident.investigation.clone().unwrap();
    assert_eq!(assigned.progress, Progress::Running);
    let opening = world.seam.opened().remove(0);
    assert_eq!((&opening.investigation, &opening.incident), (&assigned.id, &incident.id));
    let Trigger::Alert { name, text } = &opening.trigger else { panic!("{opening:?}") };
    insta::assert_snapshot!(format!("{name} / {text}"), @r"
    Alert1 / Alert1
    it is slow
    ");
    assert_eq!((opening.since, opening.service.unwrap().as_str()), (at(0), "api"));

    world.clock.set(at(2));
    world.arrive(2, &[firing("2", "api"), alert("1", "api", Urgency::WhenFree, 0, State::Resolved)]).await;
    worker.round().await.unwrap();
    insta::assert_snapshot!(world.seam.told(&assigned.id), @r"
    1: another alert of this incident fires too: Alert2 of api, since 2026-11-30T08:00:00.000Z: it is slow
    an alert of this incident is resolved: Alert1 of api, since 2026-11-30T08:00:00.000Z: it is slow
    now 1 of 2 alerts of this incident fire
    ");
    assert_eq!(world.seam.opened().len(), 1, "one incident, one investigation");

    let cause = Some("the pool was full".to_owned());
    handle.ended(assigned.id, Ending { outcome: "likely".to_owned(), cause }).await;
    worker.round().await.unwrap();
    let incident = world.incidents().await.remove(0);
    assert!(matches!(incident.investigation.unwrap().progress, Progress::Ended { .. }));
    assert_eq!(world.seam.shown_last(&incident.id), incident.changes);
}

#[tokio::test]
async fn the_third_time_in_a_week_is_told_with_the_last_cause_as_a_hypothesis() {
    let world = World::new().await;
    let (mut worker, handle) = world.worker().await;
    for (day, outcome) in [(0, Some("the pool was full")), (2, None), (4, None), (20, None)] {
        let minutes = day * 24 * 60;
        world.clock.set(at(minutes));
        world.arrive(minutes, &[alert("1", "api", Urgency::WhenFree, minutes, State::Firing)]).await;
        worker.round().await.unwrap();
        let opening = world.seam.opened().pop().unwrap();
        let ending = Ending { outcome: "likely".to_owned(), cause: outcome.map(str::to_owned) };
        handle.ended(opening.investigation, ending).await;
        world.arrive(minutes + 1, &[alert("1", "api", Urgency::WhenFree, minutes, State::Resolved)]).await;
        worker.round().await.unwrap();
        world.clock.set(at(minutes + 60));
        worker.round().await.unwrap();
    }
    let told: Vec<String> =
        world.seam.opened().iter().map(|it| it.trigger.text().lines().last().unwrap().to_owned()).collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    it is slow
    this is the second time in 7 days; last cause: the pool was full (a hypothesis to be checked)
    this is the third time in 7 days; last cause: the pool was full (a hypothesis to be checked)
    it is slow
    ");
}

#[tokio::test]
async fn without_a_slot_the_urgent_come_first_and_the_others_wait() {
    let world = World::new().await;
    world.seam.slots(0);
    let (mut worker, handle) = world.worker().await;
    let urgent = alert("3", "c", Urgency::AtOnce, 0, State::Firing);
    let kept = alert("4", "d", Urgency::Record, 0, State::Firing);
    world.arrive(0, &[firing("1", "a")]).await;
    world.arrive(1, &[firing("2", "b"), urgent, kept]).await;
    worker.round().await.unwrap();
    assert!(world.seam.opened().is_empty());
    world.seam.slots(1);
    worker.round().await.unwrap();
    let first = world.seam.opened().remove(0);
    assert_eq!(first.service.unwrap().as_str(), "c");
    handle.ended(first.investigation.clone(), Ending { outcome: "likely".to_owned(), cause: None }).await;
    world.seam.end(&first.investigation, "likely");
    worker.round().await.unwrap();
    assert_eq!(world.seam.opened().len(), 2);
    world.seam.slots(9);
    worker.round().await.unwrap();
    let services: Vec<String> = world.seam.opened().iter().map(|it| it.service.clone().unwrap().to_string()).collect();
    assert_eq!(services, ["c", "a", "b"], "what is only recorded is not investigated");
    assert_eq!(world.seam.shown().len(), 3, "nor shown");
}

#[tokio::test]
async fn what_those_above_can_not_do_now_is_done_later() {
    let world = World::new().await;
    let (mut worker, _handle) = world.worker().await;
    world.seam.fail(true);
    world.arrive(0, &[firing("1", "a")]).await;
    worker.round().await.unwrap();
    assert!(world.seam.opened().is_empty() && world.seam.shown().is_empty());
    world.seam.fail(false);
    worker.round().await.unwrap();
    assert_eq!((world.seam.opened().len(), world.seam.shown().len()), (1, 1));
}

#[tokio::test]
async fn what_can_not_be_read_is_kept_and_does_not_stop_the_rest() {
    let world = World::new().await;
    let (mut worker, _handle) = world.worker().await;
    let odd = json!({ "of": "another program" });
    world.store.receive(&[Arrival { channel: CHANNEL, key: "odd", at: at(0), body: &odd }]).await.unwrap();
    world.arrive(0, &[firing("1", "a")]).await;
    worker.round().await.unwrap();
    assert_eq!(world.store.note("alert_unreadable", "odd").await.unwrap().unwrap().body, odd);
    assert_eq!(world.incidents().await.len(), 1);
    assert!(world.store.arrived(CHANNEL, 9).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_is_long_over_is_cleaned_away_and_what_is_open_is_not() {
    let world = World::new().await;
    let (mut worker, _handle) = world.worker().await;
    let over = |fingerprint: &str, service| alert(fingerprint, service, Urgency::Record, 0, State::Resolved);
    world.arrive(0, &[over("1", "a")]).await;
    worker.round().await.unwrap();
    world.clock.set(at(60));
    worker.round().await.unwrap();
    let closed = world.incidents().await.remove(0);
    assert!(matches!(closed.phase, Phase::Closed { .. }));
    let later = 31 * 24 * 60;
    world.clock.set(at(later));
    world.arrive(later, &[firing("2", "b")]).await;
    worker.round().await.unwrap();
    let left: Vec<String> = world.incidents().await.into_iter().map(|incident| incident.name).collect();
    assert_eq!(left, ["Alert2"]);
    // What is open is found by a worker that starts anew, though its id is not the first there ever was.
    let (mut worker, _handle) = world.worker().await;
    world.arrive(later, &[alert("2", "b", Urgency::WhenFree, 0, State::Resolved)]).await;
    worker.round().await.unwrap();
    assert_eq!(world.incidents().await.remove(0).alerts, 2);
}

#[tokio::test]
async fn a_worker_that_runs_takes_up_what_rings_and_ends_when_told() {
    let world = World::new().await;
    let (worker, _handle) = world.worker().await;
    let cancel = CancellationToken::new();
    let running = tokio::spawn(worker.run(cancel.clone()));
    world.arrive(0, &[firing("1", "a")]).await;
    world.counts.kept(1, 0);
    world.seam.first_opening().await;
    cancel.cancel();
    running.await.unwrap();
    assert_eq!(world.seam.opened().len(), 1);
}
