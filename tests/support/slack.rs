//! A Slack on loopback: Web API, Socket Mode, modals and files, and refusals where Slack refuses.
//!
//! Start it, put users, channels and groups into it, point the client at [`SlackServer::api_url`], and let people do
//! something: what they do goes through an open socket, and [`SlackServer::acked`] waits for its acknowledgement.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test server that can't run must fail its test"
)]

#[path = "slack/state.rs"]
pub mod state;

#[path = "slack/limits.rs"]
pub mod limits;

#[path = "slack/api.rs"]
mod api;

#[path = "slack/chat.rs"]
mod chat;

#[path = "slack/link.rs"]
mod link;

#[path = "slack/people.rs"]
pub mod people;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{any, get, post};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use state::{Call, Inner, Message};

/// The workspace, the app and its bot.
pub const TEAM: &str = "T0TEAM";
pub const APP: &str = "A0APP";
pub const BOT: &str = "U0BOT";
/// The tokens that it takes.
pub const BOT_TOKEN: &str = "xoxb-0-the-bot-of-the-tests";
pub const APP_TOKEN: &str = "xapp-1-A0APP-0-the-app-of-the-tests";

/// What the handlers share.
pub struct Shared {
    inner: Mutex<Inner>,
    changed: watch::Sender<u64>,
    pub address: SocketAddr,
}

impl Shared {
    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes whoever waits for something to happen.
    pub fn changed(&self) {
        self.changed.send_modify(|count| *count += 1);
    }
}

/// The server. It ends when it is dropped.
pub struct SlackServer {
    pub shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Drop for SlackServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl SlackServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("no port");
        let address = listener.local_addr().expect("no address");
        let (changed, _) = watch::channel(0);
        let shared = Arc::new(Shared { inner: Mutex::new(Inner::new()), changed, address });
        let router = Router::new()
            .route("/api/{method}", any(api::call))
            .route("/link", get(link::link))
            .route("/upload/{file}", post(api::upload))
            .route("/files/{file}", get(api::download))
            .layer(DefaultBodyLimit::max(8 << 20))
            .with_state(Arc::clone(&shared));
        let task = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("the server ended");
        });
        Self { shared, task }
    }

    /// Where the Web API is.
    pub fn api_url(&self) -> String {
        format!("http://{}/api", self.shared.address)
    }

    /// Waits until `found` finds what it looks for; at most half a minute.
    pub async fn until<T>(&self, what: &str, found: impl Fn(&Inner) -> Option<T>) -> T {
        let mut changes = self.shared.changed.subscribe();
        let began = Instant::now();
        loop {
            changes.borrow_and_update();
            if let Some(found) = found(&self.shared.lock()) {
                return found;
            }
            let left = Duration::from_secs(30).saturating_sub(began.elapsed());
            let waited = tokio::time::timeout(left, changes.changed()).await;
            waited.unwrap_or_else(|_| unreachable_after(what)).expect("the server ended");
        }
    }

    /// The calls of a method so far.
    pub fn calls(&self, method: &str) -> Vec<Call> {
        self.shared.lock().calls.iter().filter(|call| call.method == method).cloned().collect()
    }

    /// The messages that stand in a channel.
    pub fn messages(&self, channel: &str) -> Vec<Message> {
        self.shared.lock().messages.iter().filter(|message| message.channel == channel).cloned().collect()
    }

    /// The next calls of `method` are answered with these in turn: 429 and a `Retry-After`, or an error of ours.
    pub fn fault(&self, method: &str, faults: impl IntoIterator<Item = state::Fault>) {
        self.shared.lock().faults.entry(method.to_owned()).or_default().extend(faults);
    }

    /// Opens a socket's worth of trouble: all sockets are told `reason`, or broken off without a word.
    pub fn disconnect(&self, reason: Option<&str>) {
        self.shared.lock().disconnect(reason);
    }

    /// Waits for a socket.
    pub async fn connected(&self) {
        self.until("a socket", |inner| (!inner.sockets.is_empty()).then_some(())).await;
    }

    /// Sends an envelope of a type; its id.
    pub fn envelope(&self, kind: &str, payload: &Value) -> String {
        self.shared.lock().envelope(kind, payload, 0)
    }

    /// Waits for the acknowledgement of an envelope; what it says.
    pub async fn acked(&self, envelope: &str) -> Value {
        self.until("an acknowledgement", |inner| inner.acks.get(envelope).cloned()).await
    }
}

fn unreachable_after<T>(what: &str) -> T {
    panic!("no {what} within half a minute")
}
