//! The golden trace of each schema version is still read.

#![expect(clippy::unwrap_used, reason = "what a test sets up must stand")]

use serde_json::Value;
use warrant::agent::model::Stop;
use warrant::agent::state::{CallKind, Note, State};
use warrant::agent::step::Step;
use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::event::{Caller, Event, SCHEMA};
use warrant_kernel::domain::report::{Outcome, WriteOutcome};
use warrant_kernel::domain::result::Origin;

/// Schema versions and their traces; a new version adds a row and changes none.
const GOLDEN: [(u32, &str); 4] = [
    (1, include_str!("../data/traces/v1.jsonl")),
    (2, include_str!("../data/traces/v2.jsonl")),
    (3, include_str!("../data/traces/v3.jsonl")),
    (4, include_str!("../data/traces/v4.jsonl")),
];

fn events(text: &str) -> Vec<Event> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_schema_version_has_its_golden_trace() {
    assert_eq!(GOLDEN.map(|(version, _)| version).to_vec(), (1..=SCHEMA).collect::<Vec<_>>());
    for (version, text) in GOLDEN {
        assert!(events(text).iter().all(|event| event.schema == version));
    }
}

#[test]
fn a_trace_of_version_1_adds_up_to_what_it_did() {
    let events = events(GOLDEN[0].1);
    let state = State::fold(&events).unwrap();
    let report = state.report.as_ref().unwrap();
    assert_eq!((report.outcome, report.findings.len()), (Outcome::Confirmed, 2));
    assert_eq!(state.turns.iter().map(|turn| turn.answer.stop).collect::<Vec<_>>(), [Stop::Calls; 4]);
    assert_eq!(state.sweep().count(), 4);
    assert!(state.calls.iter().all(|known| known.result.is_some()));
    assert!(state.calls.iter().any(|known| matches!(known.call.by, Caller::Model { turn: 2, .. })));
    assert_eq!((state.returns(), state.usage().output), (1, 120));
    assert_eq!(state.decisions.len(), 8);
    let notes: Vec<&str> = state.turns.iter().flat_map(|turn| &turn.notes).map(said).collect();
    assert_eq!(notes, ["look at the pool", "2 turns are left: call `report` now"]);
    nothing_is_lost(&events, GOLDEN[0].1);
}

fn said(note: &Note) -> &str {
    match note {
        Note::Said(text) | Note::Alert(text) => text,
        Note::Brought(id) => id.as_str(),
    }
}

/// Written again, nothing of a trace is lost.
fn nothing_is_lost(events: &[Event], text: &str) {
    for (event, line) in events.iter().zip(text.lines()) {
        let (then, now) = (serde_json::from_str(line).unwrap(), serde_json::to_value(event).unwrap());
        assert!(holds(&now, &then), "{now} lost something of {then}");
    }
}

#[test]
fn a_trace_of_version_2_tells_of_a_write_that_was_approved_done_and_looked_at() {
    let events = events(GOLDEN[1].1);
    let state = State::fold(&events).unwrap();
    let write = state.calls.iter().find(|known| known.kind == CallKind::Write).unwrap();
    let written = write.written.as_ref().unwrap();
    assert_eq!((written.outcome, written.tier), (WriteOutcome::Done, Some(Tier::Medium)));
    assert_eq!(written.verified.as_ref().unwrap().held, Some(true));
    assert_eq!(state.follow_ups_of(&write.call.id).count(), write.follow_ups.len());
    assert_eq!(state.report.as_ref().unwrap().writes.len(), 1);
    nothing_is_lost(&events, GOLDEN[1].1);
}

#[test]
fn a_trace_of_version_3_tells_the_marks_and_whose_words_each_field_holds() {
    let events = events(GOLDEN[2].1);
    let state = State::fold(&events).unwrap();
    assert_eq!(state.frame.as_ref().map(ToString::to_string), Some(state.marks().to_string()));
    let logs = state.calls.iter().find(|known| known.call.tool == "compare_logs").unwrap();
    let result = logs.result.as_ref().unwrap();
    assert_eq!((result.origin_of("patterns"), result.origin_of("service")), (Origin::Log, Origin::Catalog));
    assert_eq!(state.writes().map(|written| written.outcome).collect::<Vec<_>>(), [WriteOutcome::Done]);
    nothing_is_lost(&events, GOLDEN[2].1);
}

/// Whether all of `then` stands in `now`.
fn holds(now: &Value, then: &Value) -> bool {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => {
            then.iter().all(|(key, value)| now.get(key).is_some_and(|now| holds(now, value)))
        }
        (Value::Array(now), Value::Array(then)) => {
            now.len() == then.len() && now.iter().zip(then).all(|(now, then)| holds(now, then))
        }
        _ => now == then,
    }
}

#[test]
fn an_answer_of_another_shape_ends_the_models_turns_and_nothing_else() {
    let mut events: Vec<Event> = events(GOLDEN[0].1).into_iter().take(14).collect();
    let at = events[0].at;
    for (what, expected) in [
        (r#"{"what":"model","turn":1,"answer":{"words":"of a newer program"}}"#, "a stored answer can't be read"),
        (r#"{"what":"model_failed","turn":1,"message":"main: status 500"}"#, "main: status 500"),
    ] {
        let text = format!(r#"{{"seq":15,"at":"{at}","schema":1,"event":"answered",{}"#, what.trim_start_matches('{'));
        events.truncate(14);
        events.extend(self::events(&text));
        let step = warrant::agent::step::next(&State::fold(&events).unwrap());
        assert!(matches!(&step, Step::Partial(why) if why.contains(expected)), "{step:?}");
    }
}

#[test]
fn a_trace_of_version_4_tells_who_steered_and_what_its_alerts_did() {
    let events = events(GOLDEN[3].1);
    let state = State::fold(&events).unwrap();
    assert_eq!(state.contributors, ["bob".parse().unwrap()]);
    assert_eq!(state.steered, ["look at the database too"]);
    let notes: Vec<&Note> = state.turns.iter().flat_map(|turn| &turn.notes).collect();
    let [Note::Said(said), Note::Alert(alert)] = notes.as_slice() else { panic!("{notes:?}") };
    assert_eq!((said.as_str(), alert.as_str()), ("look at the database too", "HighErrorRate was resolved"));
    nothing_is_lost(&events, GOLDEN[3].1);
}
