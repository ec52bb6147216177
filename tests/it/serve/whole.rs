//! The whole story: a real alert of a real shop, its thread, evidence, a proposal that is denied with its reason, another one
//! that somebody approves, a restart that a second person reviews, the shop well again, and a ledger that proves it. And
//! all of it again with the process killed between any two of these.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::shop::Shop;
use super::world::{OPS, Serving, button, config, says, secrets, slack, text};
use crate::investigation::writes::{edit, file, read};
use crate::investigation::{World, serve_all};
use crate::model_server::ModelServer;
use crate::model_server::script::Turn;
use crate::slack_server::SlackServer;
use crate::slack_server::people::{click_in_view, submit};
use crate::slack_server::state::{Inner, Message};

/// Whether the process is killed after each step, and started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Power {
    Holds,
    FailsAfterEachStep,
}

/// A model that proposes too little, then enough, then a restart; each time it would report, were it not told more.
fn turns(world: &World) -> Vec<Turn> {
    // The sweep looks at more here than where there are no metrics.
    let report = world.good_report().to_string().replace("\"E4\"", "\"E6\"").replace("\"E3\"", "\"E4\"");
    let report = || Turn::calls([("r", "report", serde_json::from_str::<Value>(&report).unwrap())]);
    let edits = |id, new| Turn::calls([(id, "edit_config", edit("checkout.toml", "max_connections = 8", new))]);
    let restart = json!({
        "service": "checkout", "because": "it reads its pool at its start", "evidence": ["E4"],
        "otherwise": "orders go on failing",
    });
    vec![
        read("checkout.toml"),
        edits("w1", "max_connections = 9"),
        report(),
        edits("w2", "max_connections = 32"),
        report(),
        Turn::calls([("w3", "restart_service", restart)]),
        report(),
        report(),
    ]
}

struct Story {
    world: World,
    slack: SlackServer,
    shop: Shop,
    config: String,
    power: Power,
    serving: Option<Serving>,
    _model: ModelServer,
}

/// A card that offers a button and says something.
fn card<'m>(inner: &'m Inner, action: &str, words: &str) -> Option<(&'m Message, String)> {
    let mut cards = inner.messages.iter().filter(|message| text(message).contains(words));
    cards.find_map(|message| Some((message, button(message, action)?)))
}

/// What stood in the channel says most about what went wrong.
impl Drop for Story {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for message in self.slack.messages(OPS) {
                let said = text(&message).chars().take(600).collect::<String>();
                eprintln!("{} in {:?}, {} edits: {said}", message.ts, message.thread, message.edits);
            }
        }
    }
}

impl Story {
    async fn begin(power: Power) -> Option<Self> {
        let (world, slack) = (World::new(), slack().await);
        let shop = Shop::start(&world)?;
        let model = serve_all(turns(&world)).await;
        let config = shop.config(&config(&world, &model, &slack));
        let serving = Some(Serving::start(&world, &config).await);
        Some(Self { world, slack, shop, config, power, serving, _model: model })
    }

    /// Something has happened that everybody can see.
    async fn step(&mut self) {
        if self.power == Power::Holds {
            return;
        }
        self.serving.take().unwrap().kill().await;
        self.slack.shared.lock().sockets.clear();
        self.serving = Some(Serving::start(&self.world, &self.config).await);
    }

    /// Somebody does something, through whatever socket there is.
    async fn does(&self, what: impl Fn(&mut Inner) -> Value) {
        self.slack.connected().await;
        let payload = what(&mut self.slack.shared.lock());
        let envelope = self.slack.envelope("interactive", &payload);
        self.slack.acked(&envelope).await;
    }

    async fn clicks(&self, user: &str, ts: &str, action: &str, value: &str) {
        self.does(|inner| crate::slack_server::people::click(inner, user, OPS, ts, action, value)).await;
    }

    /// The card as it stands, once it is there.
    async fn card(&self, action: &str, words: &str) -> (String, String) {
        self.slack
            .until(words, |inner| card(inner, action, words).map(|(message, value)| (message.ts.clone(), value)))
            .await
    }

    /// Until the card offers nothing more and says something.
    async fn over(&self, ts: &str, words: &str) {
        self.slack
            .until(words, |inner| {
                let card = inner.messages.iter().find(|message| message.ts == ts)?;
                (button(card, "warrant.deny").is_none() && text(card).contains(words)).then_some(())
            })
            .await;
    }

    /// The newest form that somebody sees, once there is one besides those of before.
    async fn form(&self, before: usize) -> String {
        self.slack
            .until("a form", |inner| (inner.views.len() > before).then(|| inner.views.last().unwrap().id.clone()))
            .await
    }

    fn forms(&self) -> usize {
        self.slack.shared.lock().views.len()
    }

    async fn denies(&mut self, user: &str, words: &str, reason: &str) {
        let (ts, value) = self.card("warrant.deny", words).await;
        self.step().await;
        let before = self.forms();
        self.clicks(user, &ts, "warrant.deny", &value).await;
        let view = self.form(before).await;
        self.does(|inner| submit(inner, user, &view, &[("reason", "reason", reason)])).await;
        self.step().await;
        self.over(&ts, reason).await;
        self.step().await;
    }

    async fn approves(&mut self, user: &str, words: &str) {
        let (ts, value) = self.card("warrant.approve", words).await;
        self.step().await;
        self.clicks(user, &ts, "warrant.approve", &value).await;
        self.step().await;
        self.over(&ts, "Done").await;
        self.step().await;
    }

    /// Reads all pages of the whole, and approves on the last one.
    async fn reviews(&mut self, user: &str, words: &str) {
        let (ts, value) = self.card("warrant.whole", words).await;
        assert!(self.slack.until("the card", |inner| Some(card(inner, "warrant.approve", words).is_none())).await);
        self.step().await;
        let before = self.forms();
        self.clicks(user, &ts, "warrant.whole", &value).await;
        let view = self.form(before).await;
        loop {
            let (submits, next) = self
                .slack
                .until("the page", |inner| {
                    let open = inner.views.iter().find(|open| open.id == view)?;
                    Some((open.view.get("submit").is_some_and(|it| !it.is_null()), next(&open.view)))
                })
                .await;
            if submits {
                break;
            }
            let (value, shown) = next.unwrap();
            self.does(|inner| click_in_view(inner, user, &view, "warrant.next", &value)).await;
            self.slack
                .until("the next page", |inner| {
                    let open = inner.views.iter().find(|open| open.id == view)?;
                    (open.view.get("private_metadata") != Some(&shown)).then_some(())
                })
                .await;
        }
        self.does(|inner| submit(inner, user, &view, &[])).await;
        self.step().await;
        self.over(&ts, "Done").await;
        self.step().await;
    }
}

/// The button that turns the page, and which page it is.
fn next(view: &Value) -> Option<(String, Value)> {
    let blocks = view["blocks"].as_array()?;
    let mut elements = blocks.iter().filter_map(|block| block.get("elements")?.as_array()).flatten();
    let button = elements.find(|element| element["action_id"] == "warrant.next")?;
    Some((button["value"].as_str().unwrap_or_default().to_owned(), view["private_metadata"].clone()))
}

fn warrant(config: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warrant"));
    command.args(arguments).arg("--config").arg(config).envs(secrets());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

async fn told(power: Power) {
    let Some(mut story) = Story::begin(power).await else { return };
    let root = story
        .slack
        .until("the incident", |inner| {
            says(inner, "OrdersFail").filter(|it| it.thread.is_none()).map(|it| it.ts.clone())
        })
        .await;
    story.step().await;

    story.denies("U0BOB", "max_connections = 9", "nine are too few, it was 32").await;
    assert!(file(&story.world).contains("max_connections = 8\n"));
    story.approves("U0BOB", "max_connections = 32").await;
    assert!(file(&story.world).contains("max_connections = 32\n"));
    story.reviews("U0ANN", "restart").await;
    assert_eq!(story.shop.starts(), ["8", "32"], "one restart, with what was approved");

    let thread = story.slack.until("the report", |inner| says(inner, "cut the pool of checkout")?.thread.clone()).await;
    assert_eq!(thread, root, "the report stands beneath the alert");
    story.step().await;
    // Prometheus sees it, and Alertmanager tells.
    story
        .slack
        .until("the end of the alert", |inner| {
            inner.messages.iter().find(|it| it.ts == root && text(it).contains("0 firing, 1 resolved")).map(drop)
        })
        .await;

    story.slack.until("the end of the progress", |inner| says(inner, "Investigated").map(drop)).await;
    let report = story.slack.until("the report", |inner| says(inner, "Next step").map(text)).await;
    assert!(!report.contains("INCONCLUSIVE"), "{report}");
    assert!(power == Power::FailsAfterEachStep || report.contains("2 done, 1 denied"), "{report}");

    // What docs/make-thread-picture draws.
    if let Ok(file) = std::env::var("WARRANT_TEST_THREAD") {
        let messages = story.slack.messages(OPS);
        let told =
            messages.iter().map(|it| json!({ "ts": it.ts, "thread": it.thread, "edits": it.edits, "body": it.body }));
        std::fs::write(file, told.collect::<Value>().to_string()).unwrap();
    }

    let serving = story.serving.take().unwrap();
    assert_eq!(serving.approvals().await, ["executed", "executed", "denied"]);
    let investigations = serving.get("/v1/investigations").await;
    assert_eq!(investigations.pointer("/investigations").unwrap().as_array().unwrap().len(), 1, "{investigations}");
    assert_eq!(story.slack.shared.lock().violations, Vec::<String>::new());
    serving.end().await;

    let (config, folder) = (story.world.path("warrant.toml"), story.world.path("export"));
    warrant(&config, &["audit", "verify"]);
    let folder = folder.display().to_string();
    warrant(&config, &["audit", "export", "--format", "folder", "--output", &folder]);
    let verifier = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/verify.py");
    let python = Command::new("python3").arg(verifier).arg(&folder).output().unwrap();
    assert!(python.status.success(), "{python:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_whole_story_from_a_real_alert_to_a_service_that_is_well_and_a_ledger_that_proves_it() {
    told(Power::Holds).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cr_the_whole_story_with_the_process_killed_between_any_two_of_its_steps() {
    told(Power::FailsAfterEachStep).await;
}
