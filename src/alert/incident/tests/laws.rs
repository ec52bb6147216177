//! Laws of the fold, over stories of alerts in any order and any number of deliveries.

use super::*;

#[derive(Debug, Clone)]
struct Story {
    deliveries: Vec<Delivery>,
}

/// A few alerts of few services, each with a few firings, some of them resolved. Every alert is always of one urgency and
/// service, as its labels make its fingerprint.
fn story() -> impl Strategy<Value = Story> {
    let one = (0..8_u8, 0..4_i64, any::<bool>());
    proptest::collection::vec(one, 1..40).prop_map(|told| {
        let deliveries = told.into_iter().map(|(which, began, fires)| {
            let service = ["a", "b", "c", "z", "a", "", "c", "y"][usize::from(which)];
            let urgency = [Urgency::Record, Urgency::WhenFree, Urgency::AtOnce][usize::from(which) % 3];
            let state = if fires { State::Firing } else { State::Resolved };
            alert(&format!("{which}"), service, urgency, began, state)
        });
        Story { deliveries: deliveries.collect() }
    })
}

/// What an incident is, whatever its id: its members and how each stands, how urgent it is, whether it is to be investigated.
type Seen = (BTreeMap<String, (State, usize)>, Urgency, bool);

fn seen(incidents: &Incidents) -> Vec<Seen> {
    let one = |incident: &Incident| {
        let members = incident.members.iter();
        let members = members.map(|(print, member)| (print.clone(), (member.state(), member.episodes.len())));
        (members.collect(), incident.urgency, incident.investigation.is_some())
    };
    let mut seen: Vec<Seen> = incidents.all().filter(|incident| incident.is_open()).map(one).collect();
    seen.sort();
    seen
}

fn folded(deliveries: &[Delivery]) -> Incidents {
    let mut incidents = empty();
    for delivery in deliveries {
        incidents.take(delivery, at(5), &Row);
    }
    incidents.tick(at(5));
    incidents
}

proptest! {
    #[test]
    fn any_order_and_any_duplication_give_the_same_incidents(
        story in story(),
        order in proptest::collection::vec(any::<proptest::sample::Index>(), 0..60),
        shuffle in any::<u64>(),
    ) {
        let mut other = story.deliveries.clone();
        // Each once more as often as it is drawn, then all in another order.
        other.extend(order.iter().map(|index| index.get(&story.deliveries).clone()));
        let mut state = shuffle | 1;
        other.sort_by_cached_key(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        });
        prop_assert_eq!(seen(&folded(&story.deliveries)), seen(&folded(&other)));
    }

    #[test]
    fn wh_11_no_alert_is_without_a_trace(
        story in story(),
        most in 1..5_usize,
        gaps in proptest::collection::vec(0..30_i64, 40),
    ) {
        let limits = Limits { open_incidents: most, storm: 1, ..limits() };
        let mut incidents = Incidents::new(limits, [], None);
        let mut now = 0;
        for (delivery, gap) in story.deliveries.iter().zip(gaps) {
            now += gap;
            incidents.take(delivery, at(now), &Row);
            incidents.tick(at(now));
            prop_assert!(incidents.all().filter(|incident| incident.is_open()).count() <= most);
        }
        let counted = |incident: &&Incident| !matches!(incident.phase, Phase::Merged { .. });
        let kept: u64 = incidents.all().filter(counted).map(|incident| incident.alerts).sum();
        let shed: u64 = incidents.storm.iter().flat_map(|storm| storm.shed.values()).sum();
        prop_assert_eq!(kept + shed, u64::try_from(story.deliveries.len()).unwrap());
    }

    #[test]
    fn an_urgent_alert_that_fires_is_asked_for_whatever_came_before(story in story()) {
        let mut incidents = folded(&story.deliveries);
        let urgent = alert("new", "a", Urgency::AtOnce, 9, State::Firing);
        incidents.take(&urgent, at(9), &Row);
        incidents.tick(at(9));
        let its = incidents.all().find(|it| it.is_open() && it.members.contains_key("new")).unwrap();
        prop_assert_eq!(its.urgency, Urgency::AtOnce);
        prop_assert_eq!(its.investigation.as_ref().map(|assigned| assigned.urgency), Some(Urgency::AtOnce));
    }

    #[test]
    fn what_is_written_is_read_back_and_goes_on_the_same(story in story(), cut in any::<proptest::sample::Index>()) {
        let whole = folded(&story.deliveries);
        let (before, after) = story.deliveries.split_at(cut.index(story.deliveries.len()));
        let first = folded(before);
        let kept: Vec<Incident> = first
            .all()
            .map(|incident| serde_json::from_value(serde_json::to_value(incident).unwrap()).unwrap())
            .collect();
        let mut second = Incidents::new(limits(), kept, first.storm.clone());
        for delivery in after {
            second.take(delivery, at(5), &Row);
        }
        second.tick(at(5));
        let members = |incidents: &Incidents| {
            let open = incidents.all().filter(|incident| incident.is_open());
            open.map(|incident| (incident.id.clone(), incident.members.clone())).collect::<Vec<_>>()
        };
        prop_assert_eq!(members(&whole), members(&second));
    }
}
