//! A store that can't be written and sources that are down: the investigation goes on, and says what it lacks.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use warrant::agent::investigate::Investigation;
use warrant::agent::scheduler::Scheduler;
use warrant::agent::state::State;
use warrant::agent::trace::{Trace, Unwatched, Watcher};
use warrant::agent::writes::{NoWrites, Notes};
use warrant::app::SystemClock;
use warrant::app::ask::ask;
use warrant_kernel::domain::event::{Body, Event};
use warrant_kernel::domain::report::{Outcome, Report};
use warrant_kernel::domain::run::Run;
use warrant_kernel::store::Store;

use super::whole::warrant;
use super::{World, at, model, reported, serve, serve_all, told};
use crate::model_server::script::{Ending, Shape, Turn};

#[tokio::test]
async fn without_a_store_the_run_goes_on_in_memory_and_says_so() {
    let world = World::new();
    let server = serve_all(world.script()).await;
    let text = world.config_of(Shape::OpenAi, &server, "");
    let store = format!("path = \"{}\"", world.path("store/warrant.db").display());
    // A directory where the file should be, a file where the directory should be, a device without room.
    std::fs::write(world.path("plain"), "").unwrap();
    let places = [
        world.dir.path().display().to_string(),
        format!("{}/x.db", world.path("plain").display()),
        "/dev/full".to_owned(),
    ];
    let since = at(world.since);
    for place in places {
        world.write_config(&text.replace(&store, &format!("path = \"{place}\"")));
        let run = warrant(&world, &["ask", "why does checkout fail?", "--since", &since]).output().await.unwrap();
        let (stdout, stderr) = (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap());
        assert_eq!(run.status.code(), Some(0), "{place}: {stderr}");
        assert!(stdout.contains("CONFIRMED"), "{stdout}");
        assert!(stdout.contains("The trace could not be written: this investigation is not kept"), "{stdout}");
        assert!(stderr.contains("nothing of this investigation is kept"), "{stderr}");
    }
}

/// Closes the store at the `nth` event.
struct CloseAt(u64, Store);

impl Watcher for CloseAt {
    fn event(&self, event: &Event, _: &State) {
        if event.seq == self.0 {
            let store = self.1.clone();
            tokio::spawn(async move { store.close().await });
        }
    }

    fn delta(&self, _: &str) {}
}

#[tokio::test]
async fn a_store_that_fails_on_the_way_ends_nothing_and_evidence_is_still_read() {
    let world = World::new();
    let server = serve_all(world.script()).await;
    let app = world.app(&world.config_of(Shape::OpenAi, &server, ""));
    let (id, unbroken, events) = world.report(&app).await;
    let Body::Opened { run, budgets, .. } = &events[0].body else { panic!("the first event opens") };
    let last = events.last().unwrap().seq;
    for nth in (2..last).step_by(5) {
        let store = app.store().await.unwrap();
        let run = Run { investigation: format!("{id}-{nth}").parse().unwrap(), ..(**run).clone() };
        store.open_investigation(&run, &[7; 32]).await.unwrap();
        let (run, budgets) = (Box::new(run), budgets.clone());
        let opening = Body::Opened { run, budgets, models: vec!["main".to_owned()], version: String::new() };
        let watcher = Arc::new(CloseAt(nth, store.clone()));
        let trace = Trace::begin(Some(store), Arc::new(SystemClock), watcher, opening).await.unwrap();
        let scheduler = Scheduler::new(Arc::clone(&app.limits));
        let investigation = Investigation {
            bench: &app.bench,
            redactor: app.redactor.clone(),
            model: Arc::clone(&app.model),
            trace,
            scheduler: &scheduler,
            writes: &NoWrites,
            notes: Notes::default(),
            news: Arc::default(),
            random: Arc::clone(&app.random),
            cancel: CancellationToken::new(),
        };
        let report = investigation.run().await.unwrap();
        assert!(report.volatile, "closed at {nth}");
        // Only what had been stored before can't be seen again.
        let not_seen = report.not_seen.clone();
        assert!(not_seen.iter().all(|line| line.starts_with("read_evidence")), "{not_seen:?}");
        assert_eq!(Report { volatile: false, not_seen: Vec::new(), ..report }, unbroken);
        let state = investigation.trace.state().await;
        let pages = state.calls.iter().find(|known| known.call.tool == "read_evidence").unwrap();
        // Evidence that was stored before the store closed can't be read; what came after lies in memory.
        let result = pages.result.as_ref().unwrap();
        assert!(
            result.ok || result.error.as_ref().unwrap().reason.as_deref() == Some("TRACE_UNREADABLE"),
            "{result:?}"
        );
    }
}

#[tokio::test]
async fn an_interrupted_run_that_is_not_kept_does_not_promise_to_resume() {
    let world = World::new();
    let server = serve(vec![Turn::text(["hm"]).ending(Ending::Stall)]).await;
    let text = world.config_of(Shape::OpenAi, &server, "");
    let store = world.path("store/warrant.db").display().to_string();
    world.write_config(&text.replace(&store, &world.dir.path().display().to_string()));
    let child = warrant(&world, &["ask", "why does checkout fail?"]).spawn().unwrap();
    while server.requests().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    super::processes::signal(&child, "-INT").await;
    let ended = child.wait_with_output().await.unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert!(stderr.ends_with("Interrupted. The trace could not be written, so nothing can be resumed.\n"), "{stderr}");
}

#[tokio::test]
async fn sources_that_are_down_are_results_and_the_report_names_them() {
    let world = World::new();
    // With alerts in the sweep, logs are E4 and changes E5.
    let report = world.good_report().to_string().replace("\"E4\"", "\"E5\"").replace("\"E3\"", "\"E4\"");
    let report: Value = serde_json::from_str(&report).unwrap();
    let calls = Turn::calls([
        ("a", "query_metrics", json!({ "query": "up", "since": "10m ago" })),
        ("b", "search_logs", json!({ "service": "payments" })),
    ]);
    let server = serve(vec![calls, Turn::calls([("r", "report", report)])]).await;
    // Nobody listens on the discard port; the directory of the other log is not there.
    let down = format!(
        "[metrics.prom]\nurl = \"http://127.0.0.1:9\"\n[logs.gone]\ndir = \"{}\"\n[services.payments]\n\
         logs = [{{ source = \"gone\", file = \"payments.log\" }}]\n",
        world.path("gone").display()
    );
    let main = model("main", Shape::OpenAi, &server.base_url(Shape::OpenAi), "");
    let app = world.app(&world.config(&["main"], &main, "", &down));
    let (_, report, events) = world.report(&app).await;
    assert_eq!(report.outcome, Outcome::Confirmed, "{}", report.outcome_reason);
    let told_of = |tool: &str| report.not_seen.iter().any(|line| line.starts_with(tool));
    for tool in ["active_alerts", "query_metrics", "search_logs"] {
        assert!(told_of(tool), "{tool} is missing in {:#?}", report.not_seen);
    }
    let failed: Vec<_> = super::results(&events).into_iter().filter(|result| !result.ok).map(|it| it.tool).collect();
    assert_eq!(failed, ["active_alerts", "query_metrics", "search_logs"]);
    assert!(told(&server.requests()[1].body).iter().any(|text| text.contains("BACKEND_ERROR")));
}

#[tokio::test]
async fn a_log_that_vanishes_while_it_is_investigated_breaks_nothing_else() {
    struct Removes(Mutex<Option<std::path::PathBuf>>);
    impl Watcher for Removes {
        fn event(&self, event: &Event, _: &State) {
            if super::result_of(event).is_some_and(|result| result.tool == "compare_logs")
                && let Some(path) = self.0.lock().unwrap().take()
            {
                std::fs::remove_file(path).unwrap();
            }
        }

        fn delta(&self, _: &str) {}
    }
    let world = World::new();
    let server = serve(world.script()).await;
    let app = world.app(&world.config_of(Shape::OpenAi, &server, ""));
    let watcher = Arc::new(Removes(Mutex::new(Some(world.path("logs/checkout.log")))));
    let ended = ask(&app, world.question(), watcher, CancellationToken::new()).await.unwrap().1;
    let report = reported(ended);
    assert_eq!(report.outcome, Outcome::Confirmed, "the sweep had seen the log: {}", report.outcome_reason);
    let again = ask(&app, world.question(), Arc::new(Unwatched), CancellationToken::new()).await;
    // The script is over, so no model answers; the sweep says what it could not see.
    let again = reported(again.unwrap().1);
    assert!(again.partial && !again.not_seen.is_empty(), "{again:?}");
    server.take_violations();
}
