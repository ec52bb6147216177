//! Models that write nonsense, cut themselves short, decline or fail: what was found is kept, and nothing half runs.

use serde_json::{Value, json};
use warrant::agent::state::State;
use warrant_kernel::domain::report::Outcome;
use warrant_kernel::domain::result::{ErrorCode, Status};

use super::{World, many, model, results, serve, told};
use crate::model_server::script::{Ending, Finish, Shape, Turn};

fn call(name: &str, arguments: Value) -> Turn {
    Turn::calls([("x", name, arguments)])
}

fn good(world: &World) -> Turn {
    Turn::calls([("good", "report", world.good_report())])
}

#[tokio::test]
async fn lm_05_broken_arguments_are_quoted_and_never_become_empty_ones() {
    for shape in [Shape::OpenAi, Shape::Anthropic] {
        let world = World::new();
        let broken = ["{\"service\": \"checkout\", \"limit\": }", "[]", "{\"a\":1,\"a\":2}", "nonsense", "{} {}"];
        let calls: Vec<_> = broken.iter().map(|text| json!(text)).collect();
        let mut turn = many(calls.len(), "list_services", &json!({}));
        for (call, text) in turn.calls.iter_mut().zip(calls) {
            call.arguments = text;
        }
        let server = serve(vec![turn, good(&world)]).await;
        let app = world.app(&world.config_of(shape, &server, ""));
        let (_, report, events) = world.report(&app).await;
        assert_eq!(report.outcome, Outcome::Confirmed);
        let results = results(&events);
        let answered = &results[4..];
        assert_eq!(answered.len(), broken.len());
        for (result, text) in answered.iter().zip(broken) {
            // `list_services` wants no argument: had `{}` stood in for what was written, it would have answered.
            assert_eq!(result.status, Status::Error, "{text}");
            assert_eq!(result.error.as_ref().unwrap().code, ErrorCode::InvalidArguments, "{text}");
        }
        let message = &answered[0].error.as_ref().unwrap().message;
        assert!(message.contains("between `{\"service\": \"checkout\", \"limit\": ` and `}`"), "{message}");
    }
}

#[tokio::test]
async fn a_tool_outside_the_role_is_unknown_and_only_the_trace_knows_better() {
    let world = World::new();
    let calls = Turn::calls([("a", "list_files", json!({})), ("b", "no_such_tool", json!({}))]);
    let server = serve(vec![calls, good(&world)]).await;
    let app = world.app(&world.config_of(Shape::OpenAi, &server, ""));
    let mut question = world.question();
    question.role = "explore".to_owned();
    let watcher = std::sync::Arc::new(super::Keeping::default());
    let cancel = tokio_util::sync::CancellationToken::new();
    warrant::app::ask::ask(&app, question, std::sync::Arc::clone(&watcher) as _, cancel).await.unwrap();
    let events = watcher.0.lock().unwrap().clone();
    let answered: Vec<_> = events.iter().filter_map(super::result_of).skip(4).collect();
    let codes: Vec<_> = answered.iter().map(|result| result.error.as_ref().unwrap().code).collect();
    assert_eq!(codes, [ErrorCode::UnknownTool, ErrorCode::UnknownTool]);
    let reasons: Vec<_> = answered.iter().map(|result| result.meta.trace_reason.as_deref()).collect();
    assert_eq!(reasons, [Some("NOT_IN_ROLE"), None]);
    for request in server.requests() {
        assert!(!request.body.to_string().contains("NOT_IN_ROLE"));
        assert!(!request.body["tools"].to_string().contains("list_files"));
    }
}

#[tokio::test]
async fn lm_03_a_cut_or_declined_or_paused_answer_runs_no_call() {
    let cases = [
        (Shape::OpenAi, Finish::MaxTokens, "Be shorter"),
        (Shape::Anthropic, Finish::MaxTokens, "Be shorter"),
        (Shape::Anthropic, Finish::ContextWindow, "grew too long"),
    ];
    for (shape, finish, reaction) in cases {
        let world = World::new();
        let cut = call("list_services", json!({})).finish(finish.clone());
        let server = serve(vec![cut, good(&world)]).await;
        let app = world.app(&world.config_of(shape, &server, ""));
        let (_, report, events) = world.report(&app).await;
        assert_eq!(report.outcome, Outcome::Confirmed, "{finish:?}");
        assert_eq!(results(&events).len(), 4, "nothing but the sweep ran after {finish:?}");
        let second = told(&server.requests()[1].body);
        assert!(second.last().unwrap().contains(reaction), "{second:?}");
    }
    let world = World::new();
    let paused = Turn::text(["I am still"]).finish(Finish::Pause);
    let server = serve(vec![paused, good(&world)]).await;
    let app = world.app(&world.config_of(Shape::Anthropic, &server, ""));
    assert_eq!(world.report(&app).await.1.outcome, Outcome::Confirmed);
    // The same conversation again, with what it had said: no word of ours behind it.
    let messages = server.requests()[1].body["messages"].as_array().unwrap().clone();
    assert_eq!((messages.len(), &messages[1]["role"]), (2, &json!("assistant")));
}

#[tokio::test]
async fn a_model_that_declines_is_followed_by_the_next_and_alone_by_what_code_can_say() {
    let world = World::new();
    let server = serve(vec![Turn::text(["no"]).finish(Finish::Refusal); 2]).await;
    let main = model("main", Shape::Anthropic, &server.base_url(Shape::Anthropic), "");
    let app = world.app(&world.config(&["main", "runbook"], &main, "", ""));
    let (_, report, _) = world.report(&app).await;
    assert_eq!(report.written_by, "runbook");
    let told = "models: main declined to go on; runbook went on in its place";
    assert!(report.not_seen.iter().any(|line| line == told), "{:?}", report.not_seen);
    let app = world.app(&world.config(&["main"], &main, "", ""));
    let (_, report, events) = world.report(&app).await;
    assert!(report.partial && report.summary.contains("main declined to go on"), "{}", report.summary);
    assert_eq!(State::fold(&events).unwrap().turns.len(), 1);
}

#[tokio::test]
async fn lm_02_lm_08_a_cut_stream_runs_nothing_and_the_next_model_goes_on() {
    for shape in [Shape::OpenAi, Shape::Anthropic] {
        for ending in [Ending::CutInCall, Ending::NoFinish, Ending::ErrorEvent] {
            let world = World::new();
            let first = call("describe_service", json!({ "service": "checkout" }));
            let server = serve(vec![first, call("list_files", json!({})).ending(ending)]).await;
            let main = model("main", shape, &server.base_url(shape), "");
            let app = world.app(&world.config(&["main", "runbook"], &main, "", ""));
            let (_, report, events) = world.report(&app).await;
            assert_eq!(report.written_by, "runbook");
            let state = State::fold(&events).unwrap();
            assert!(state.calls.iter().all(|known| known.call.tool != "list_files"), "{ending:?}");
            assert!(state.calls.iter().any(|known| known.call.tool == "describe_service"));
        }
    }
}

#[tokio::test]
async fn lm_09_when_all_models_fail_what_was_found_is_kept_and_code_reports_it() {
    let world = World::new();
    let first = call("search_logs", json!({ "service": "checkout", "level": "error" }));
    let server = serve(vec![first, Turn::status(500, &[], "boom")]).await;
    let app = world.app(&world.config_of(Shape::OpenAi, &server, ""));
    let (id, report, events) = world.report(&app).await;
    assert!(report.partial);
    assert_eq!((report.outcome, report.written_by.as_str()), (Outcome::Inconclusive, "warrant"));
    assert!(report.summary.contains("status 500"), "{}", report.summary);
    assert_eq!(report.findings[0].claim, "checkout logs 40 errors in the window, 0 in the window before.");
    assert_eq!(results(&events).len(), 5);
    assert_eq!(warrant::app::investigations::replay(&app, id.as_str()).await.unwrap().1, []);
}

#[tokio::test]
async fn a_conversation_that_is_too_long_shrinks_and_goes_on_and_at_last_another_model_is_asked() {
    let too_long = || Turn::status(413, &[], "");
    let world = World::new();
    let logs = json!({ "service": "checkout", "since": super::at(world.since) });
    let server = serve_shrinking(vec![call("search_logs", logs.clone()), too_long(), good(&world)]).await;
    let app = world.app(&world.config_of(Shape::OpenAi, &server, ""));
    let (_, report, _) = world.report(&app).await;
    assert_eq!(report.outcome, Outcome::Confirmed);
    let size = |n: usize| told(&server.requests()[n].body)[2].len();
    assert!(size(1) > 5_000 && size(2) < 800, "{} became {}", size(1), size(2));

    let server = serve_shrinking(vec![call("search_logs", logs), too_long(), too_long()]).await;
    let main = model("main", Shape::OpenAi, &server.base_url(Shape::OpenAi), "");
    let app = world.app(&world.config(&["main", "runbook"], &main, "", ""));
    assert_eq!(world.report(&app).await.1.written_by, "runbook");
}

async fn serve_shrinking(turns: Vec<Turn>) -> crate::model_server::ModelServer {
    use crate::model_server::script::{History, Pick, Rules, Script};
    let rules = Rules { history: History::MayShrink, ..super::rules() };
    crate::model_server::ModelServer::with(Script { turns, pick: Pick::InOrder }, rules, 0).await
}

#[tokio::test]
async fn lm_05_of_five_hundred_calls_at_once_only_the_first_run() {
    for shape in [Shape::OpenAi, Shape::Anthropic] {
        let world = World::new();
        let server = serve(vec![many(500, "list_services", &json!({})), good(&world)]).await;
        let app = world.app(&world.config_of(shape, &server, "calls_per_turn = 7"));
        let (_, report, events) = world.report(&app).await;
        assert_eq!(report.outcome, Outcome::Confirmed);
        assert_eq!(results(&events).len(), 4 + 7);
        let answers = told(&server.requests()[1].body);
        assert_eq!(answers.iter().filter(|text| text.contains("at most 7 calls in one turn")).count(), 493);
    }
}

#[tokio::test]
async fn a_model_that_only_talks_is_told_so_and_then_the_next_is_asked() {
    let world = World::new();
    let server = serve(vec![Turn::text(["It is DNS."]), Turn::text(["Surely."])]).await;
    let main = model("main", Shape::OpenAi, &server.base_url(Shape::OpenAi), "");
    let app = world.app(&world.config(&["main", "runbook"], &main, "", ""));
    assert_eq!(world.report(&app).await.1.written_by, "runbook");
    assert!(told(&server.requests()[1].body).last().unwrap().contains("Nobody reads plain text"));

    let server = serve(vec![Turn::text(["It is DNS."]); 3]).await;
    let app = world.app(&world.config_of(Shape::OpenAi, &server, ""));
    let report = world.report(&app).await.1;
    assert!(report.partial && report.summary.contains("answered 3 times without a call"), "{}", report.summary);
}

#[tokio::test]
async fn the_third_identical_failing_call_is_not_carried_out() {
    let world = World::new();
    let fails = |spaces: &str| call("read_file", json!(format!("{{{spaces}\"path\":{spaces} \"nowhere.toml\"}}")));
    let server = serve(vec![fails(""), fails(" "), fails("  "), fails(""), good(&world)]).await;
    let app = world.app(&world.config_of(Shape::OpenAi, &server, ""));
    let (_, _, events) = world.report(&app).await;
    let reasons: Vec<_> =
        results(&events)[4..].iter().map(|result| result.error.as_ref().unwrap().reason.clone().unwrap()).collect();
    assert_eq!(reasons[0], reasons[1]);
    assert_eq!(reasons[2..], ["REPEATED", "REPEATED"]);
    assert!(told(&server.requests()[3].body).last().unwrap().contains("look elsewhere"));
}

#[tokio::test]
async fn lm_01_lm_09_who_failed_and_who_went_on_is_told_in_the_progress_and_in_the_report() {
    let world = World::new();
    let server = serve(vec![Turn::status(529, &[], r#"{"error":{"type":"x","message":"Overloaded"}}"#)]).await;
    let main = model("main", Shape::Anthropic, &server.base_url(Shape::Anthropic), "");
    world.write_config(&world.config(&["main", "runbook"], &main, "", ""));
    let since = super::at(world.since);
    let run = super::whole::warrant(&world, &["ask", "why does checkout fail?", "--since", &since]);
    let run = { run }.output().await.unwrap();
    let (stdout, stderr) = (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap());
    assert!(stderr.contains("main: status 529: Overloaded") && stderr.contains("runbook goes on"), "{stderr}");
    let told = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("main: status 529: Overloaded; runbook went on in its place"), "{stdout}");
}
