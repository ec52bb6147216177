//! A run that breaks off around a write: the write is looked up when the run goes on, and never asked for or done twice.

use std::panic::AssertUnwindSafe;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use warrant::agent::state::State;
use warrant::agent::trace::{Unwatched, Watcher};
use warrant::app::ask::{AtHand, ask_with};
use warrant::app::investigations;
use warrant::app::writes::people::Present;
use warrant::chat::terminal::approver::Attended;
use warrant_kernel::call::gate::approver::{Approver, Ballot};
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::db::lease::Lease;
use warrant_kernel::domain::event::{Asked, Body, Event};
use warrant_kernel::domain::name::InvestigationId;
use warrant_kernel::domain::report::WriteOutcome;

use super::whole::warrant;
use super::writes::{People, Say, config, edit, file, question, read, records, report};
use super::{World, reported, serve_all};
use crate::model_server::script::Turn;

/// Ends the run when a write has been asked for, before it reaches the gate.
#[derive(Default)]
struct BeforeTheGate(Mutex<Option<InvestigationId>>);

impl Watcher for BeforeTheGate {
    fn event(&self, event: &Event, state: &State) {
        *self.0.lock().unwrap() = Some(state.run.investigation.clone());
        if matches!(event.body, Body::Asked(Asked::Write { .. })) {
            std::panic::resume_unwind(Box::new("killed"));
        }
    }

    fn delta(&self, _: &str) {}
}

/// Ends the run while people look at the card.
struct OverTheCard;

#[async_trait]
impl Approver for OverTheCard {
    async fn attend(&self, _: &Card, _: &Ballot<'_>) {
        std::panic::resume_unwind(Box::new("killed"));
    }
}

/// Keeps the id of the run.
#[derive(Default)]
struct Noted(Mutex<Option<InvestigationId>>);

impl Watcher for Noted {
    fn event(&self, _: &Event, state: &State) {
        *self.0.lock().unwrap() = Some(state.run.investigation.clone());
    }

    fn delta(&self, _: &str) {}
}

fn script(world: &World) -> Vec<Turn> {
    let edited = edit("checkout.toml", "max_connections = 8", "max_connections = 32");
    vec![read("checkout.toml"), Turn::calls([("w1", "edit_config", edited)]), report(world)]
}

#[tokio::test]
async fn a_write_that_never_reached_the_gate_is_not_asked_again_on_resume() {
    let world = World::new();
    let server = serve_all(script(&world)).await;
    let app = world.app(&config(&world, &server));
    let watcher = Arc::new(BeforeTheGate::default());
    let at_hand = AtHand { watcher: Arc::clone(&watcher) as _, present: Present::nobody() };
    let run = ask_with(&app, question(&world), at_hand, CancellationToken::new());
    assert!(AssertUnwindSafe(run).catch_unwind().await.is_err());
    let id = watcher.0.lock().unwrap().clone().unwrap();
    let people = People::who(Say::Approve);
    let (_, ended) =
        investigations::resume(&app, id.as_str(), people.at_hand(), CancellationToken::new()).await.unwrap();
    let report = reported(ended);
    assert_eq!(report.writes[0].outcome, WriteOutcome::NotDone);
    assert!(report.writes[0].reason.as_ref().unwrap().contains("before anyone was asked"), "{:?}", report.writes);
    assert!(people.cards.lock().unwrap().is_empty());
    assert!(file(&world).contains("max_connections = 8"));
}

#[tokio::test]
async fn a_write_that_waited_when_the_run_broke_off_still_waits_and_is_not_asked_for_twice() {
    let world = World::new();
    let server = serve_all(script(&world)).await;
    let app = world.app(&config(&world, &server));
    let watcher = Arc::new(Noted::default());
    let present = Present { approver: Arc::new(OverTheCard), attended: Attended::default() };
    let at_hand = AtHand { watcher: Arc::clone(&watcher) as _, present };
    let run = ask_with(&app, question(&world), at_hand, CancellationToken::new());
    assert!(AssertUnwindSafe(run).catch_unwind().await.is_err());
    let id = watcher.0.lock().unwrap().clone().unwrap();
    // A process that is gone has let go of the lease; here it goes with its last task.
    let let_go = async {
        while Lease::take(&app.config.store).is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), let_go).await.expect("the lease is free");
    let people = People::who(Say::Approve);
    let resumed = investigations::resume(&app, id.as_str(), people.at_hand(), CancellationToken::new());
    let report = reported(resumed.await.unwrap().1);
    assert_eq!(report.writes[0].outcome, WriteOutcome::Pending);
    assert_eq!(report.writes[0].approval.unwrap().to_string(), "A1");
    assert!(people.cards.lock().unwrap().is_empty());
    let asked = records(&app).await.into_iter().filter(|kind| kind == "approval_requested").count();
    assert_eq!((asked, file(&world).contains("max_connections = 8")), (1, true));
}

/// Set in the process that is killed: the config that it runs.
const CHILD: &str = "WARRANT_TEST_KILLED_IN_A_WRITE";

/// The question that a process asks which is given nothing but the path of its config.
pub fn question_of(path: &str) -> warrant::app::ask::Question {
    warrant::app::ask::Question {
        trigger: warrant_kernel::domain::run::Trigger::Question { text: "why does checkout fail?".to_owned() },
        service: None,
        since: Some(std::fs::read_to_string(format!("{path}.since")).unwrap()),
        role: "general-purpose".to_owned(),
        channel: warrant_kernel::domain::run::Channel::Terminal,
        writes: warrant_kernel::domain::run::Writes::Allowed,
    }
}

/// The same test in a process of its own: it approves a restart by a command that takes its time, and is killed there.
async fn child(path: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    let config = warrant::config::Config::parse(path.as_ref(), &text).unwrap();
    let app = warrant::app::App::open(config, &|_| Some(super::KEY.to_owned()), None).unwrap();
    let at_hand = People::who(Say::Approve).at_hand();
    let _ended = ask_with(&app, question_of(path), at_hand, CancellationToken::new()).await;
    panic!("it should have been killed");
}

#[tokio::test]
async fn a_process_killed_between_intent_and_outcome_leaves_what_the_next_start_explains() {
    if let Ok(path) = std::env::var(CHILD) {
        return child(&path).await;
    }
    let world = World::new();
    let restart: Value = json!({ "service": "checkout", "because": "it holds no connections", "evidence": ["E3"] });
    let turns = vec![Turn::calls([("w1", "restart_service", restart)]), report(&world)];
    let server = serve_all(turns).await;
    // The process id is this test's own: whatever happens it stays the same, so that one can tell that nothing was restarted.
    std::fs::write(world.path("checkout.pid"), std::process::id().to_string()).unwrap();
    let pid_file = world.path("checkout.pid").display().to_string();
    let restarting = format!(
        "restart = {{ manager = \"command\", argv = [\"/bin/sleep\", \"60\"], pid_file = \"{pid_file}\" }}\ndeploys = ["
    );
    let text = config(&world, &server).replacen("deploys = [", &restarting, 1);
    let path = world.write_config(&text);
    std::fs::write(format!("{}.since", path.display()), super::at(world.since)).unwrap();
    let app = world.app(&text);
    let name =
        "investigation::crashes::a_process_killed_between_intent_and_outcome_leaves_what_the_next_start_explains";
    let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact"]).env(CHILD, &path).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let mut process = command.spawn().unwrap();
    let intended = async {
        while !(app.config.store.exists() && records(&app).await.contains(&"intent".to_owned())) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), intended).await.expect("the intent is recorded");
    process.kill().await.unwrap();
    let listed = warrant(&world, &["approvals", "list", "--all", "--json"]).output().await.unwrap();
    let said = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    assert!(said.contains("unknown") || said.contains("not_executed"), "{said}");
    let kinds = records(&app).await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "intent").count(), 1, "{kinds:?}");
    let resumed = investigations::list(&app, 5).await.unwrap().remove(0);
    let at_hand = AtHand::watching(Arc::new(Unwatched));
    let ended = investigations::resume(&app, resumed.id.as_str(), at_hand, CancellationToken::new()).await.unwrap().1;
    let written = reported(ended).writes.remove(0);
    assert!(matches!(written.outcome, WriteOutcome::Unknown | WriteOutcome::NotDone), "{written:?}");
    assert_eq!(records(&app).await.iter().filter(|kind| *kind == "intent").count(), 1);
}
