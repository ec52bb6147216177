//! A Slack, a store, and the parts between them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use warrant::app::SystemClock;
use warrant::chat::slack::client::Client;
use warrant::chat::slack::config::Ours;
use warrant::chat::slack::health::Health;
use warrant::chat::slack::inbox::{self, Answer, Desk, Inbox, Modal};
use warrant::chat::slack::incoming::Incoming;
use warrant::chat::slack::keep::{CHANNEL, Keep, KeepError};
use warrant::chat::slack::socket::Socket;
use warrant_kernel::db::Database;
use warrant_kernel::redact::{RedactionKey, Redactor};
use warrant_kernel::store::Store;
use warrant_kernel::store::desk::{Note, Received};

use crate::slack_server::{APP, APP_TOKEN, BOT, BOT_TOKEN, SlackServer, TEAM};

/// A modal as the server takes it.
pub fn modal(title: &str) -> Value {
    let text = json!({ "type": "plain_text", "text": "All of it." });
    json!({
        "type": "modal", "callback_id": "whole", "private_metadata": "A12",
        "title": { "type": "plain_text", "text": title }, "blocks": [{ "type": "section", "text": text }],
    })
}

/// A desk that opens a modal for clicks of `whole` and `page`, takes any reason but an empty one, and follows some threads.
#[derive(Default)]
pub struct TestDesk {
    pub follows: Mutex<BTreeSet<String>>,
}

#[async_trait]
impl Desk for TestDesk {
    async fn modal(&self, incoming: &Incoming) -> Option<Modal> {
        match incoming {
            Incoming::Click { action, .. } if action == "whole" => Some(Modal::Open(modal("The whole"))),
            Incoming::Click { action, .. } if action == "page" => Some(Modal::Update(modal("Page 2"))),
            Incoming::Click { action, .. } if action == "slow" => {
                tokio::time::sleep(Duration::from_secs(2)).await;
                None
            }
            _ => None,
        }
    }

    fn answer(&self, submission: &Incoming) -> Answer {
        let Incoming::Submission { values, .. } = submission else { return Answer::Close };
        match values.get("why.reason") {
            Some(reason) if reason.text.is_empty() => Answer::Wrong(vec![("why".to_owned(), "say why".to_owned())]),
            Some(_) | None => Answer::Show(modal("Recorded")),
        }
    }

    async fn follows(&self, _channel: &str, thread: &str) -> bool {
        self.follows.lock().unwrap().contains(thread)
    }
}

/// The store, on a disk that may be full.
pub struct Disk {
    store: Arc<Store>,
    pub full: AtomicBool,
}

#[async_trait]
impl Keep for Disk {
    async fn receive(&self, key: &str, at: Timestamp, body: &Value) -> Result<Received, KeepError> {
        if self.full.load(Ordering::SeqCst) {
            return Err(KeepError::Store("the disk is full".to_owned()));
        }
        Keep::receive(&*self.store, key, at, body).await
    }

    async fn write(&self, kind: &'static str, id: &str, revision: u64, body: Value) -> Result<(), KeepError> {
        self.store.write(kind, id, revision, body).await
    }

    async fn note(&self, kind: &'static str, id: &str) -> Result<Option<Note>, KeepError> {
        Keep::note(&*self.store, kind, id).await
    }

    async fn notes(&self, kind: &'static str, after: &str, most: u32) -> Result<Vec<Note>, KeepError> {
        Keep::notes(&*self.store, kind, after, most).await
    }
}

pub struct World {
    pub slack: SlackServer,
    pub store: Arc<Store>,
    pub disk: Arc<Disk>,
    pub client: Arc<Client>,
    pub inbox: Arc<Inbox>,
    pub desk: Arc<TestDesk>,
    pub health: Arc<Health>,
    pub cancel: CancellationToken,
    pub path: PathBuf,
    _directory: TempDir,
}

pub fn ours() -> Ours {
    Ours { team: TEAM.to_owned(), enterprise: None, app: APP.to_owned() }
}

pub async fn open(path: &Path) -> Arc<Store> {
    Arc::new(Store::new(Database::open(path).await.unwrap()))
}

impl World {
    pub async fn new() -> Self {
        let slack = SlackServer::start().await;
        slack.members(&["U0ANN", "U0BOB"]);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("w.db");
        let store = open(&path).await;
        let kept = Arc::new(Disk { store: store.clone(), full: AtomicBool::new(false) });
        let client = Arc::new(Client::new(&slack.api_url(), BOT_TOKEN).unwrap());
        let (desk, health) = (Arc::new(TestDesk::default()), Arc::new(Health::default()));
        let inbox = Arc::new(Inbox::new(inbox::Parts {
            keep: kept.clone(),
            desk: desk.clone(),
            client: client.clone(),
            redactor: Redactor::new(RedactionKey::from_bytes([7; 32]), []).unwrap(),
            ours: ours(),
            bot: BOT.to_owned(),
            clock: Arc::new(SystemClock),
            health: health.clone(),
        }));
        Self {
            slack,
            store,
            disk: kept,
            client,
            inbox,
            desk,
            health,
            cancel: CancellationToken::new(),
            path,
            _directory: directory,
        }
    }

    /// One that is connected.
    pub async fn connected() -> (Self, JoinHandle<()>) {
        let world = Self::new().await;
        let task = world.connect();
        world.slack.connected().await;
        (world, task)
    }

    pub fn connect(&self) -> JoinHandle<()> {
        let socket = Socket {
            client: self.client.clone(),
            app_token: APP_TOKEN.to_owned(),
            inbox: self.inbox.clone(),
            health: self.health.clone(),
            clock: Arc::new(SystemClock),
            // Chance is against whoever waits for it.
            jitter: Arc::new(|_| 0),
        };
        tokio::spawn(socket.run(self.cancel.clone()))
    }

    /// All that nobody has handled yet.
    pub async fn arrived(&self) -> Vec<Incoming> {
        let arrived = self.store.arrived(CHANNEL, 10_000).await.unwrap();
        arrived.iter().map(|arrived| Incoming::stored(&arrived.body).unwrap()).collect()
    }
}
