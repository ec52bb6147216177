//! Very many alerts: every one accounted for, and no more kept than the limits allow.

use super::*;
use crate::alert::incident::MOST_MEMBERS;

/// The same every time, and in no order.
fn shuffled<T>(mut items: Vec<T>) -> Vec<T> {
    let mut state: u64 = 17;
    for upper in (1..items.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let lower = usize::try_from(state >> 33).unwrap() % (upper + 1);
        items.swap(upper, lower);
    }
    items
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wh_11_ten_thousand_alerts_in_five_hundred_groups() {
    let world = World::new().await;
    world.seam.slots(8);
    let (mut worker, _handle) = world.worker().await;
    let all = (0..10_000).map(|n| firing(&format!("{n}"), &format!("s{}", n % 500)));
    let mut deliveries: Vec<Delivery> = all.collect();
    let again: Vec<Delivery> = deliveries.iter().step_by(4).cloned().collect();
    deliveries.extend(again);
    let mut new = 0;
    for part in shuffled(deliveries).chunks(500) {
        new += world.arrive(0, part).await;
    }
    assert_eq!(new, 10_000, "a second delivery is known");
    while worker.round().await.unwrap() == Round::More {}
    let incidents = world.incidents().await;
    assert_eq!(incidents.len(), 500);
    let services: BTreeSet<_> = incidents.iter().map(|incident| incident.service.clone().unwrap()).collect();
    assert_eq!(services.len(), 500, "one incident a group");
    assert!(incidents.iter().all(|incident| incident.alerts == 20 && incident.members.len() == 20));
    assert_eq!(world.seam.opened().len(), 8, "no more than there are slots for");
    let waiting = incidents.iter().filter(|it| it.investigation.as_ref().unwrap().progress == Progress::Asked);
    assert_eq!(waiting.count(), 492, "the others wait");
    let storm = world.seam.storms().pop().unwrap();
    let alone = world.seam.shown().len();
    assert!(alone <= 10 + 8 && storm.incidents == 490, "{alone} messages, {} in one", storm.incidents);
}

#[tokio::test]
async fn wh_11_beyond_the_limits_alerts_are_counted_and_no_more_is_kept() {
    let mut world = World::new().await;
    world.limits.open_incidents = 20;
    let (mut worker, _handle) = world.worker().await;
    let deliveries: Vec<Delivery> = (0..3_000).map(|n| firing(&format!("{n}"), &format!("s{}", n % 30))).collect();
    for part in deliveries.chunks(500) {
        world.arrive(0, part).await;
    }
    while worker.round().await.unwrap() == Round::More {}
    let incidents: Vec<Incident> = world.incidents().await;
    assert_eq!(incidents.len(), 20);
    assert!(incidents.iter().all(|it| it.members.len() == MOST_MEMBERS && it.count() == 100 && it.alerts == 100));
    let storm = world.seam.storms().pop().unwrap();
    assert_eq!(storm.shed[&Urgency::WhenFree], 1_000, "{storm:?}");
    assert_eq!(world.counts.look().shed, 1_000);
    let largest = incidents.iter().map(|it| serde_json::to_string(it).unwrap().len()).max().unwrap();
    assert!(largest < 40_000, "{largest} bytes");
}
