//! RS-05: an endless loop ends at the first limit it meets, with a warning before and a report after.

use std::time::Duration;

use serde_json::json;
use warrant::agent::held;
use warrant::agent::state::State;
use warrant::agent::step::{self, Step};
use warrant_kernel::domain::event::{Asked, Body, Event};
use warrant_kernel::domain::report::Report;
use warrant_kernel::domain::result::Status;
use warrant_kernel::store::numbered;

use super::{World, model, rules, serve, told};
use crate::model_server::ModelServer;
use crate::model_server::script::{Ending, Pick, Script, Shape, Turn};

/// Calls for ever. The scripted server counts 150 tokens for each answer.
async fn endless(pause: Duration) -> ModelServer {
    let turn = Turn::calls([("a", "list_services", json!({}))]);
    let turns = (0..40).map(|_| Turn { delay: pause, ..turn.clone() }).collect();
    ModelServer::with(Script { turns, pick: Pick::InOrder }, rules(), 0).await
}

fn budget_events(events: &[Event]) -> Vec<(bool, String)> {
    let budget = |event: &Event| match &event.body {
        Body::Budget { text, spent } => Some((*spent, text.clone())),
        _ => None,
    };
    events.iter().filter_map(budget).collect()
}

async fn ended(server: &ModelServer, settings: &str, prices: &str) -> (Report, Vec<Event>) {
    let world = World::new();
    let main = model("main", Shape::OpenAi, &server.base_url(Shape::OpenAi), prices);
    let app = world.app(&world.config(&["main"], &main, settings, ""));
    let (id, report, events) = world.report(&app).await;
    assert!(report.partial, "code wrote it");
    assert_eq!(warrant::app::investigations::replay(&app, id.as_str()).await.unwrap().1, []);
    (report, events)
}

#[tokio::test]
async fn rs_05_turns() {
    let server = endless(Duration::ZERO).await;
    let (report, events) = ended(&server, "turns = 6", "").await;
    assert_eq!(State::fold(&events).unwrap().turns.len(), 6);
    let budget = budget_events(&events);
    assert_eq!(budget[0], (false, "2 turns are left: call `report` now".to_owned()));
    assert_eq!(budget[1], (true, "the budget of 6 turns is spent (6 used)".to_owned()));
    assert!(report.summary.contains("the budget of 6 turns is spent"), "{}", report.summary);
    assert_eq!(server.requests().len(), 6);
    assert!(told(&server.requests()[4].body).last().unwrap().contains("call `report` now"));
}

#[tokio::test]
async fn rs_05_tokens() {
    let server = endless(Duration::ZERO).await;
    let (_, events) = ended(&server, "tokens = 1000", "").await;
    let budget = budget_events(&events);
    assert_eq!(budget.len(), 2, "{budget:?}");
    assert!(
        budget[0].1.contains("of 1000 tokens are used") && budget[1].1.contains("1000 tokens is spent"),
        "{budget:?}"
    );
}

#[tokio::test]
async fn rs_05_cost() {
    let server = endless(Duration::ZERO).await;
    // 20 uncached and 100 cached tokens read, 30 written: 20 + 50 + 90 = 160 millionths an answer.
    let prices = "prices = { input = 1.0, cached = 0.5, output = 3.0 }";
    let (report, events) = ended(&server, "cost = 0.0016", prices).await;
    let state = State::fold(&events).unwrap();
    let one = state.turns[0].answer.cost.unwrap();
    assert!(one > 0.0);
    let cost = state.cost().unwrap();
    assert!(cost >= 0.0016 && cost < 0.0016 + one + 1e-9, "{cost}");
    let budget = budget_events(&events);
    assert!(!budget[0].0 && budget[0].1.contains("of 0.0016 for models is used: call `report` now"), "{budget:?}");
    assert!(budget[1].0 && budget[1].1.contains("the budget of 0.0016 for models is spent"), "{budget:?}");
    assert!(report.summary.contains("the budget of 0.0016 for models is spent"));
}

#[tokio::test]
async fn a_cost_limit_without_prices_does_not_start() {
    let world = World::new();
    let text = world.config(&["main"], &model("main", Shape::OpenAi, "http://127.0.0.1:9/v1", ""), "cost = 1.0", "");
    let error = warrant::config::Config::parse(&world.path("warrant.toml"), &text).unwrap_err().to_string();
    assert!(error.contains("`investigation.cost` is set, but `[models.main]` has no `prices`"), "{error}");
}

#[tokio::test]
async fn rs_05_wall_time_over_many_turns() {
    let server = endless(Duration::from_millis(500)).await;
    let (report, events) = ended(&server, "wall = \"5s\"", "").await;
    let budget = budget_events(&events);
    assert!(budget.last().unwrap().0 && report.summary.contains("the budget of 5 seconds is spent"), "{budget:?}");
}

#[tokio::test]
async fn rs_05_wall_time_within_one_answer_that_never_ends() {
    let turns = vec![Turn::text(["hm"]).ending(Ending::Stall)];
    let server = ModelServer::with(Script { turns, pick: Pick::InOrder }, rules(), 0).await;
    let (report, events) = ended(&server, "wall = \"5s\"", "").await;
    assert_eq!(budget_events(&events), [(true, "the budget of 5 seconds is spent".to_owned())]);
    assert_eq!(report.findings.len(), 1, "what the sweep showed is kept");
}

#[tokio::test]
async fn rs_05_wall_time_within_a_batch_of_reads() {
    // Takes connections and never answers; a read of it alone would wait for ten seconds.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let server = serve(Vec::new()).await;
    let world = World::new();
    let more = format!("[metrics.slow]\nurl = \"http://{}\"", silent.local_addr().unwrap());
    let main = model("main", Shape::OpenAi, &server.base_url(Shape::OpenAi), "");
    let app = world.app(&world.config(&["main"], &main, "wall = \"5s\"", &more));
    let (_, report, events) = world.report(&app).await;
    assert!(report.partial && report.summary.contains("the budget of 5 seconds is spent"), "{}", report.summary);
    assert_eq!(report.findings.len(), 1, "what the others of the batch showed is kept");
    assert!(report.not_seen.iter().any(|line| line.starts_with("active_alerts")), "{:?}", report.not_seen);
    let state = State::fold(&events).unwrap();
    for call in &state.calls {
        let expected = if call.call.tool == "active_alerts" { Status::Cancelled } else { Status::Ok };
        assert_eq!(call.result.as_ref().unwrap().status, expected, "{}", call.call.tool);
    }
    assert!(server.requests().is_empty(), "there was no time left for a model");
}

#[tokio::test]
async fn rs_05_what_an_investigation_holds_in_memory_ends_it() {
    let world = World::new();
    let server = serve(vec![Turn::calls([("r", "report", world.good_report())])]).await;
    let app = world.app(&world.config_of(Shape::OpenAi, &server, ""));
    let (_, _, mut events) = world.report(&app).await;
    // The run up to its first turn.
    let asked = events.iter().position(|event| matches!(event.body, Body::Asked(Asked::Model { .. }))).unwrap();
    events.truncate(asked + 1);
    let before = State::fold(&events).unwrap();
    assert!(before.held > 1_000 && matches!(step::next(&before), Step::AskModel(1)));
    // Whatever comes is counted, and at the bound nothing more is asked for.
    let at = events.last().unwrap().at;
    events.extend(numbered(before.last_seq, at, vec![Body::Steered { text: "x".repeat(1 << 20), by: None }]));
    let mut state = State::fold(&events).unwrap();
    assert!(state.held >= before.held + (1 << 20));
    state.held = held::MOST;
    let Step::Spend(why) = step::next(&state) else { panic!("it goes on") };
    assert_eq!(why, "all that came has more than 64 MiB, the most an investigation holds");
}

#[tokio::test]
async fn when_the_tokens_of_a_day_are_used_up_only_the_built_in_model_is_asked() {
    let world = World::new();
    // 150 tokens an answer: the first investigation takes 300, the second may take 100 more and is told to hurry.
    let good = || Turn::calls([("r", "report", world.good_report())]);
    let looks = |id: &str| Turn::calls([(id, "list_services", json!({}))]);
    let turns = vec![looks("a"), good(), looks("b")];
    let server = ModelServer::with(Script { turns, pick: Pick::InOrder }, rules(), 0).await;
    let app = world.app(&world.config_of(Shape::OpenAi, &server, "tokens_per_day = 400"));
    let (_, first, _) = world.report(&app).await;
    assert_eq!((first.written_by.as_str(), first.partial), ("main", false));
    let (_, second, events) = world.report(&app).await;
    assert!(second.partial, "{second:?}");
    assert_eq!(State::fold(&events).unwrap().budgets.tokens, 100);
    let (_, third, events) = world.report(&app).await;
    assert_eq!((third.written_by.as_str(), third.partial), ("runbook", false));
    assert_eq!(State::fold(&events).unwrap().models, ["runbook"]);
    assert_eq!(server.requests().len(), 3);
}
