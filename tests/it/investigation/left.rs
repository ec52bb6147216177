//! A process that is killed between the last yes and the write: the next one carries it out, once, or says why not.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use warrant::agent::trace::Unwatched;
use warrant::app::App;
use warrant::app::ask::{AtHand, ask_with};
use warrant::app::investigations;
use warrant::app::writes::people::Present;
use warrant::chat::terminal::approver::Attended;
use warrant::config::Config;
use warrant_kernel::call::gate::approver::{Approver, Ballot};
use warrant_kernel::call::gate::card::Card;
use warrant_kernel::domain::report::{Report, WriteOutcome};

use super::crashes::question_of;
use super::whole::warrant;
use super::writes::{People, Say, config, edit, file, read, records, report};
use super::{World, reported, serve_all};
use crate::model_server::ModelServer;
use crate::model_server::script::Turn;

/// Set in the process that is killed: the config that it runs.
const CHILD: &str = "WARRANT_TEST_KILLED_AFTER_THE_VOTE";

/// Says yes, and is dead before anything comes of it.
struct LastWord(Arc<People>);

#[async_trait]
impl Approver for LastWord {
    async fn attend(&self, card: &Card, ballot: &Ballot<'_>) {
        self.0.attend(card, ballot).await;
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
        std::future::pending::<()>().await;
    }
}

async fn child(path: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    let app = App::open(Config::parse(path.as_ref(), &text).unwrap(), &|_| Some(super::KEY.to_owned()), None).unwrap();
    let approver = Arc::new(LastWord(People::who(Say::Approve)));
    let present = Present { approver, attended: Attended::default() };
    let at_hand = AtHand { watcher: Arc::new(Unwatched), present };
    let _ended = ask_with(&app, question_of(path), at_hand, CancellationToken::new()).await;
    panic!("it should have been killed");
}

/// Runs the test of this name in a process of its own until it has killed itself there.
async fn killed(world: &World, text: &str, name: &str) {
    let path = world.write_config(text);
    std::fs::write(format!("{}.since", path.display()), super::at(world.since)).unwrap();
    let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact"]).env(CHILD, &path).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let ended = tokio::time::timeout(Duration::from_mins(1), command.status()).await.expect("it dies").unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended), Some(9), "{ended}");
}

fn script(world: &World) -> Vec<Turn> {
    let edited = edit("checkout.toml", "max_connections = 8", "max_connections = 32");
    vec![read("checkout.toml"), Turn::calls([("w1", "edit_config", edited)]), report(world)]
}

async fn began(world: &World) -> (ModelServer, App, String) {
    let server = serve_all(script(world)).await;
    let text = config(world, &server);
    let app = world.app(&text);
    (server, app, text)
}

async fn resumed(app: &App) -> Report {
    let id = investigations::list(app, 5).await.unwrap().remove(0).id;
    let at_hand = AtHand::watching(Arc::new(Unwatched));
    reported(investigations::resume(app, id.as_str(), at_hand, CancellationToken::new()).await.unwrap().1)
}

async fn intents(app: &App) -> usize {
    records(app).await.iter().filter(|kind| *kind == "intent").count()
}

#[tokio::test]
async fn cr_05_what_was_approved_when_the_process_was_killed_is_carried_out_once_when_it_goes_on() {
    if let Ok(path) = std::env::var(CHILD) {
        return child(&path).await;
    }
    let world = World::new();
    let (_server, app, text) = began(&world).await;
    let name = "cr_05_what_was_approved_when_the_process_was_killed_is_carried_out_once_when_it_goes_on";
    killed(&world, &text, &format!("investigation::left::{name}")).await;
    // Whoever only looks carries nothing out.
    let listed = warrant(&world, &["approvals", "list"]).output().await.unwrap();
    let said = String::from_utf8(listed.stdout).unwrap();
    assert!(said.contains("A1") && said.contains("approved"), "{said}");
    assert!(file(&world).contains("max_connections = 8\n"), "{}", file(&world));
    assert_eq!(intents(&app).await, 0);

    let report = resumed(&app).await;
    let [written] = report.writes.as_slice() else { panic!("{:?}", report.writes) };
    assert_eq!((written.outcome, written.decided_by.as_slice()), (WriteOutcome::Done, &["ann".to_owned()][..]));
    assert_eq!(written.verified.as_ref().unwrap().held, Some(true), "{written:?}");
    assert!(file(&world).contains("max_connections = 32\n"), "{}", file(&world));
    assert_eq!(intents(&app).await, 1);
    let verified = warrant(&world, &["audit", "verify"]).output().await.unwrap();
    assert!(verified.status.success(), "{verified:?}");
}

#[tokio::test]
async fn cr_05_what_has_changed_since_it_was_approved_is_not_done_when_it_goes_on() {
    if let Ok(path) = std::env::var(CHILD) {
        return child(&path).await;
    }
    let world = World::new();
    let (_server, app, text) = began(&world).await;
    let name = "cr_05_what_has_changed_since_it_was_approved_is_not_done_when_it_goes_on";
    killed(&world, &text, &format!("investigation::left::{name}")).await;
    let changed = file(&world).replace("wait_ms = 3000", "wait_ms = 9");
    std::fs::write(world.path("etc/checkout.toml"), &changed).unwrap();
    let report = resumed(&app).await;
    assert_ne!(report.writes[0].outcome, WriteOutcome::Done, "{:?}", report.writes);
    assert_eq!((file(&world), intents(&app).await), (changed, 0));
}
