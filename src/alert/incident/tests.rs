use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use warrant_kernel::domain::name::ServiceName;

use super::fold::{Fate, Incidents};
use super::*;
use crate::alert::config::Limits;
use crate::alert::content::Words;

mod laws;

/// `a`, `b` and `c` stand in a row; `z` stands alone.
struct Row;

impl Neighbourhood for Row {
    fn knows(&self, _service: &ServiceName) -> bool {
        true
    }

    fn beside(&self, service: &ServiceName) -> Vec<ServiceName> {
        let names: &[&str] = match service.as_str() {
            "a" | "c" => &["b"],
            "b" => &["a", "c"],
            _ => &[],
        };
        names.iter().map(|name| name.parse().unwrap()).collect()
    }
}

fn limits() -> Limits {
    Limits { window: SignedDuration::from_mins(10), open_incidents: 100, storm: 10, queue: 1_000 }
}

fn empty() -> Incidents {
    Incidents::new(limits(), [], None)
}

/// Minutes after eight.
fn at(minutes: i64) -> Timestamp {
    let eight: Timestamp = "2026-11-30T08:00:00Z".parse().unwrap();
    eight + SignedDuration::from_mins(minutes)
}

fn alert(fingerprint: &str, service: &str, urgency: Urgency, began: i64, state: State) -> Delivery {
    let words = Words { name: format!("Alert{fingerprint}"), summary: "it is slow".to_owned(), ..Words::default() };
    Delivery {
        route: "alertmanager".to_owned(),
        urgency,
        role: None,
        service: (!service.is_empty()).then(|| service.parse().unwrap()),
        alert: Alert { fingerprint: fingerprint.to_owned(), starts_at: at(began), state, words, left_out: Vec::new() },
    }
}

fn fires(fingerprint: &str, service: &str) -> Delivery {
    alert(fingerprint, service, Urgency::WhenFree, 0, State::Firing)
}

fn only(incidents: &Incidents) -> &Incident {
    let mut open = incidents.all().filter(|incident| incident.is_open());
    let one = open.next().unwrap();
    assert!(open.next().is_none(), "more than one");
    one
}

fn running(incidents: &mut Incidents) -> String {
    let id = only(incidents).id.clone();
    incidents.change(&id).unwrap().investigation.as_mut().unwrap().progress = Progress::Running;
    id
}

#[test]
fn alerts_of_a_service_and_of_its_neighbours_are_one_incident_within_the_window() {
    let mut incidents = empty();
    assert!(matches!(incidents.take(&fires("1", "a"), at(0), &Row), Fate::Opened(_)));
    assert!(matches!(incidents.take(&fires("2", "a"), at(9), &Row), Fate::Joined(_)), "the window goes on");
    assert!(matches!(incidents.take(&fires("3", "b"), at(18), &Row), Fate::Joined(_)), "a neighbour");
    assert!(
        matches!(incidents.take(&fires("4", "c"), at(18), &Row), Fate::Joined(_)),
        "a neighbour of a neighbour that fires"
    );
    assert!(matches!(incidents.take(&fires("5", "z"), at(18), &Row), Fate::Opened(_)), "a stranger");
    assert!(matches!(incidents.take(&fires("6", "a"), at(40), &Row), Fate::Opened(_)), "later");
    assert!(matches!(incidents.take(&fires("7", ""), at(40), &Row), Fate::Opened(_)), "of no service");
    assert_eq!(incidents.all().count(), 4);
}

#[test]
fn a_neighbour_of_two_makes_them_one() {
    let mut incidents = empty();
    incidents.take(&fires("1", "a"), at(0), &Row);
    incidents.take(&fires("2", "c"), at(1), &Row);
    incidents.tick(at(1));
    let younger = incidents.all().last().unwrap().id.clone();
    incidents.take(&fires("3", "b"), at(2), &Row);
    assert_eq!(only(&incidents).members.len(), 3);
    assert_eq!(only(&incidents).alerts, 3);
    let merged = incidents.get(&younger).unwrap();
    assert_eq!(merged.phase, Phase::Merged { into: only(&incidents).id.clone() });
    assert!(!merged.is_busy(), "what was only asked for is asked for once");
}

#[test]
fn two_that_are_investigated_both_go_on_and_know_of_each_other() {
    let mut incidents = empty();
    incidents.take(&fires("1", "a"), at(0), &Row);
    incidents.take(&fires("2", "c"), at(1), &Row);
    incidents.tick(at(1));
    let ids: Vec<String> = incidents.all().map(|incident| incident.id.clone()).collect();
    for id in &ids {
        incidents.change(id).unwrap().investigation.as_mut().unwrap().progress = Progress::Running;
    }
    incidents.take(&fires("3", "b"), at(2), &Row);
    assert!(incidents.all().all(Incident::is_busy));
    for id in &ids {
        let told = incidents.get(id).unwrap().news.join("\n");
        assert!(told.contains(ids.iter().find(|other| *other != id).unwrap()), "{told}");
    }
}

#[test]
fn severity_decides_and_a_higher_one_is_never_swallowed() {
    let mut incidents = empty();
    incidents.take(&alert("1", "a", Urgency::Record, 0, State::Firing), at(0), &Row);
    incidents.tick(at(0));
    assert!(only(&incidents).is_quiet() && only(&incidents).investigation.is_none(), "only kept");
    incidents.take(&alert("2", "a", Urgency::WhenFree, 0, State::Firing), at(1), &Row);
    incidents.tick(at(1));
    assert_eq!(only(&incidents).investigation.as_ref().unwrap().urgency, Urgency::WhenFree);
    incidents.take(&alert("3", "a", Urgency::AtOnce, 0, State::Firing), at(2), &Row);
    incidents.tick(at(2));
    let first = only(&incidents).investigation.clone().unwrap();
    assert_eq!((first.urgency, only(&incidents).name.as_str()), (Urgency::AtOnce, "Alert3"), "waits no longer");
    // One that ended before the urgent alert came does not answer for it.
    let mut incidents = empty();
    incidents.take(&alert("1", "a", Urgency::WhenFree, 0, State::Firing), at(0), &Row);
    incidents.tick(at(0));
    let id = running(&mut incidents);
    let ended = Progress::Ended { outcome: "likely".to_owned(), cause: None };
    incidents.change(&id).unwrap().investigation.as_mut().unwrap().progress = ended;
    incidents.take(&alert("2", "a", Urgency::WhenFree, 0, State::Firing), at(1), &Row);
    incidents.tick(at(1));
    assert!(!only(&incidents).is_busy(), "as urgent as the one that ended");
    incidents.take(&alert("3", "a", Urgency::AtOnce, 0, State::Firing), at(2), &Row);
    incidents.tick(at(2));
    let second = only(&incidents).investigation.clone().unwrap();
    assert_eq!((second.urgency, second.progress), (Urgency::AtOnce, Progress::Asked));
}

#[test]
fn what_is_resolved_stays_resolved_and_what_fires_again_is_told() {
    let mut incidents = empty();
    incidents.take(&fires("1", "a"), at(0), &Row);
    incidents.tick(at(0));
    let id = running(&mut incidents);
    let resolved = alert("1", "a", Urgency::WhenFree, 0, State::Resolved);
    assert_eq!(incidents.take(&resolved, at(3), &Row), Fate::Resolved(id.clone()));
    assert_eq!(incidents.take(&fires("1", "a"), at(4), &Row), Fate::Known(id.clone()), "late");
    assert_eq!(incidents.take(&resolved, at(4), &Row), Fate::Known(id.clone()), "twice");
    assert_eq!(only(&incidents).firing(), 0);
    let again = alert("1", "a", Urgency::WhenFree, 5, State::Firing);
    assert_eq!(incidents.take(&again, at(5), &Row), Fate::FiredAgain(id));
    assert_eq!((only(&incidents).firing(), only(&incidents).alerts), (1, 5));
    insta::assert_snapshot!(only(&incidents).news.join("\n"), @r"
    an alert of this incident is resolved: Alert1 of a, since 2026-11-30T08:00:00.000Z: it is slow
    an alert of this incident fires again: Alert1 of a, since 2026-11-30T08:05:00.000Z: it is slow
    ");
}

#[test]
fn what_is_over_closes_after_the_window_and_what_never_ends_after_a_day() {
    let mut incidents = empty();
    incidents.take(&fires("1", "a"), at(0), &Row);
    incidents.take(&fires("2", "z"), at(0), &Row);
    incidents.take(&alert("1", "a", Urgency::WhenFree, 0, State::Resolved), at(3), &Row);
    incidents.tick(at(12));
    assert_eq!(incidents.all().filter(|incident| incident.is_open()).count(), 2);
    incidents.tick(at(13));
    assert_eq!(only(&incidents).members.keys().collect::<Vec<_>>(), ["2"]);
    incidents.tick(at(24 * 60));
    let phases: Vec<&Phase> = incidents.all().map(|incident| &incident.phase).collect();
    assert!(phases.iter().any(|phase| matches!(phase, Phase::Closed { why: Closed::Aged, .. })), "{phases:?}");
    // Asked for, and never opened: there is nothing to look into any more, and the note says so.
    assert!(incidents.all().all(|incident| incident.investigation.is_none()));
}

#[test]
fn what_fired_and_ended_before_it_was_taken_up_is_kept_and_not_investigated() {
    let mut incidents = empty();
    incidents.take(&fires("1", "a"), at(0), &Row);
    incidents.take(&alert("1", "a", Urgency::AtOnce, 0, State::Resolved), at(0), &Row);
    incidents.tick(at(0));
    assert!(only(&incidents).investigation.is_none() && only(&incidents).unshown);
}

#[test]
fn wh_11_beyond_the_members_kept_alerts_are_counted() {
    let mut incidents = empty();
    for n in 0..MOST_MEMBERS + 7 {
        incidents.take(&fires(&format!("f{n}"), "a"), at(0), &Row);
    }
    let full = only(&incidents);
    assert_eq!((full.members.len(), full.beyond.fired, full.count()), (MOST_MEMBERS, 7, 57));
    let urgent = alert("urgent", "a", Urgency::AtOnce, 0, State::Firing);
    assert!(matches!(incidents.take(&urgent, at(1), &Row), Fate::Counted(_)));
    assert_eq!((only(&incidents).urgency, only(&incidents).name.as_str()), (Urgency::AtOnce, "Alerturgent"));
}

#[test]
fn wh_11_a_storm_is_one_message_and_what_is_shed_is_in_it() {
    let mut incidents = Incidents::new(Limits { open_incidents: 20, storm: 3, ..limits() }, [], None);
    for n in 0..30 {
        incidents.take(&fires(&format!("f{n}"), &format!("s{n}")), at(0), &Row);
    }
    let storm = incidents.storm.clone().unwrap();
    assert_eq!((storm.incidents, storm.shed[&Urgency::WhenFree]), (17, 10));
    assert_eq!(incidents.all().filter(|incident| incident.in_storm).count(), 17);
    // The urgent one takes the place of one that is not.
    let urgent = alert("urgent", "u", Urgency::AtOnce, 0, State::Firing);
    assert!(matches!(incidents.take(&urgent, at(1), &Row), Fate::Opened(_)));
    assert_eq!(incidents.storm.as_ref().unwrap().let_go[&Urgency::WhenFree], 1);
    let shed = incidents.all().filter(|it| matches!(it.phase, Phase::Closed { why: Closed::Shed, .. }));
    assert_eq!(shed.count(), 1);
    assert!(storm.names.len() <= 20 && storm.other_names == 7);
    incidents.tick(at(11));
    assert!(incidents.storm.as_ref().unwrap().over);
}

#[test]
fn an_incident_is_told_with_its_others_and_what_came_before() {
    let mut incidents = empty();
    incidents.take(&fires("1", "a"), at(0), &Row);
    incidents.take(&fires("2", "b"), at(1), &Row);
    let id = only(&incidents).id.clone();
    let incident = incidents.change(&id).unwrap();
    let cause = Some("the pool of `payments` was full".to_owned());
    incident.earlier = Some(Earlier { times: 2, incident: "x".to_owned(), cause });
    insta::assert_snapshot!(incident.told(), @r"
    Alert1
    it is slow
    alerts of this incident: 2 firing, 2 in all
    - Alert2 of b: it is slow
    this is the third time in 7 days; last cause: the pool of `payments` was full (a hypothesis to be checked)
    ");
    assert_eq!(incident.since(), at(0));
}
