//! Socket Mode: events over a connection that we open, so that nobody needs to reach us.
//!
//! An envelope is acknowledged when the inbox has kept it, and not at all where it could not: Slack sends it again. A
//! connection that Slack is about to end is replaced before it ends.

mod wire;

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use warrant_kernel::call::tool::Clock;

use super::client::Client;
use super::health::Health;
use super::inbox::{Acknowledgement, Inbox};
use super::incoming::read::Kind;

use wire::{Wire, connect};

/// How many envelopes are taken in at once; more wait in the connection.
const AT_ONCE: usize = 32;
/// How long the greeting may take.
const GREETING: Duration = Duration::from_secs(10);
/// How often we ask whether the other end is there.
const PING: Duration = Duration::from_secs(15);
/// How long it may say nothing at all.
const SILENCE: Duration = Duration::from_secs(50);
/// How long a connection that was replaced is still read.
const AFTERMATH: Duration = Duration::from_secs(15);
/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// A number below the one given, for waits that do not fall together.
pub type Jitter = Arc<dyn Fn(u64) -> u64 + Send + Sync>;

/// What the socket is made of.
pub struct Socket {
    /// Where connections are asked for.
    pub client: Arc<Client>,
    /// The token that asks.
    pub app_token: String,
    /// Takes envelopes in.
    pub inbox: Arc<Inbox>,
    /// Where it is said how it stands.
    pub health: Arc<Health>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub jitter: Jitter,
}

/// Why a connection is to be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Ended {
    /// Slack is about to end it.
    Refresh,
    /// It broke, or Slack takes no more; and why.
    Lost(String),
}

impl Socket {
    /// Keeps a connection open until it is cancelled.
    pub async fn run(self, cancel: CancellationToken) {
        let socket = Arc::new(self);
        let sessions = TaskTracker::new();
        let mut failures = 0_u32;
        while !cancel.is_cancelled() {
            let began = Instant::now();
            let ended = tokio::select! {
                () = cancel.cancelled() => break,
                ended = socket.session(&sessions, &cancel) => ended,
            };
            match ended {
                // One that is replaced is no failure, unless it is replaced again and again.
                Ended::Refresh if began.elapsed() > Duration::from_secs(5) => {
                    failures = 0;
                    continue;
                }
                Ended::Refresh => failures = failures.saturating_add(1),
                Ended::Lost(why) => {
                    failures = if began.elapsed() > LONGEST_WAIT { 1 } else { failures.saturating_add(1) };
                    tracing::warn!(why, failures, "the connection to slack is gone");
                    socket.health.down(socket.clock.now(), &why);
                }
            }
            tokio::select! {
                () = cancel.cancelled() => break,
                () = sleep(socket.wait(failures)) => {}
            }
        }
        sessions.close();
        if timeout(Duration::from_secs(5), sessions.wait()).await.is_err() {
            tracing::warn!("a connection to slack did not end");
        }
    }

    /// Between half and all of 1, 2, 4, ... seconds, so that many do not come back together.
    fn wait(&self, failures: u32) -> Duration {
        let whole = Duration::from_secs(1_u64 << failures.saturating_sub(1).min(6)).min(LONGEST_WAIT);
        let half = u64::try_from(whole.as_millis() / 2).unwrap_or(u64::MAX);
        Duration::from_millis(half + (self.jitter)(half.saturating_add(1)))
    }

    /// Opens a connection and reads it in a task of its own; until it has to be replaced.
    async fn session(self: &Arc<Self>, sessions: &TaskTracker, cancel: &CancellationToken) -> Ended {
        let url = match self.client.connection(&self.app_token).await {
            Ok(url) => url,
            Err(error) => return Ended::Lost(error.to_string()),
        };
        let mut wire = match timeout(GREETING, connect(self.client.http(), url)).await {
            Ok(Ok(wire)) => wire,
            Ok(Err(why)) => return Ended::Lost(why),
            Err(_) => return Ended::Lost("the connection took too long to open".to_owned()),
        };
        match timeout(GREETING, greeted(&mut wire)).await {
            Ok(Ok(())) => {}
            Ok(Err(why)) => return Ended::Lost(why),
            Err(_) => return Ended::Lost("Slack did not greet".to_owned()),
        }
        self.health.up(self.clock.now());
        let (tell, told) = oneshot::channel();
        let reading = Arc::clone(self).read(wire, tell, cancel.clone());
        sessions.spawn(reading);
        told.await.unwrap_or_else(|_| Ended::Lost("the connection's task ended".to_owned()))
    }

    async fn read(self: Arc<Self>, mut wire: Wire, tell: oneshot::Sender<Ended>, cancel: CancellationToken) {
        let mut tell = Some(tell);
        let (acknowledge, mut acknowledged) = mpsc::channel::<String>(AT_ONCE);
        let places = Arc::new(Semaphore::new(AT_ONCE));
        let mut ping = tokio::time::interval(PING);
        let mut heard = Instant::now();
        let mut until = None;
        let ended = loop {
            let room = Arc::clone(&places);
            tokio::select! {
                () = cancel.cancelled() => break Ended::Lost("this program ends".to_owned()),
                () = rest(until) => break Ended::Refresh,
                Some(said) = acknowledged.recv() => {
                    if let Err(error) = wire.send(Message::Text(said.into())).await {
                        break Ended::Lost(error.to_string());
                    }
                }
                _ = ping.tick() => {
                    if heard.elapsed() > SILENCE {
                        break Ended::Lost("Slack says nothing any more".to_owned());
                    }
                    if let Err(error) = wire.send(Message::Ping(Vec::new().into())).await {
                        break Ended::Lost(error.to_string());
                    }
                }
                // Nothing is read while as many are being taken in as may be.
                (frame, place) = async { let place = room.acquire_owned().await; (wire.next().await, place) } => {
                    heard = Instant::now();
                    match (frame, place) {
                        (Some(Ok(Message::Text(text))), Ok(place)) => match said(text.as_str()) {
                            Said::Envelope(envelope) => {
                                let (socket, acknowledge) = (Arc::clone(&self), acknowledge.clone());
                                tokio::spawn(async move {
                                    socket.take(envelope, &acknowledge).await;
                                    drop(place);
                                });
                            }
                            Said::Leaving(reason) => {
                                if let Some(tell) = tell.take() {
                                    // Whoever waits for it has gone when this program ends.
                                    drop(tell.send(leaving(&reason)));
                                }
                                until = Some(Instant::now() + AFTERMATH);
                            }
                            Said::Nothing => {}
                        },
                        (Some(Ok(Message::Close(_))) | None, _) => break Ended::Lost("Slack closed the connection".to_owned()),
                        (Some(Err(error)), _) => break Ended::Lost(error.to_string()),
                        (Some(Ok(_)), _) => {}
                    }
                }
            }
        };
        // What is being taken in is still acknowledged.
        drop(acknowledge);
        let rest = async {
            while let Some(said) = acknowledged.recv().await {
                if wire.send(Message::Text(said.into())).await.is_err() {
                    return;
                }
            }
            // The other end may be gone already.
            drop(wire.close(None).await);
        };
        // What was not acknowledged by then comes again.
        drop(timeout(Duration::from_secs(3), rest).await);
        if let Some(tell) = tell {
            // As above.
            drop(tell.send(ended));
        }
    }

    async fn take(&self, envelope: Envelope, acknowledge: &mpsc::Sender<String>) {
        let Envelope { id, kind, payload, answers } = envelope;
        let said = match kind {
            None => json!({ "envelope_id": id }),
            Some(kind) => match self.inbox.take(kind, &payload).await {
                Acknowledgement::Received(Some(answer)) if answers => json!({ "envelope_id": id, "payload": answer }),
                Acknowledgement::Received(_) => json!({ "envelope_id": id }),
                Acknowledgement::NotKept => return,
            },
        };
        if acknowledge.send(said.to_string()).await.is_err() {
            tracing::warn!("an acknowledgement was too late for its connection");
        }
    }
}

async fn rest(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

fn leaving(reason: &str) -> Ended {
    match reason {
        "link_disabled" => Ended::Lost("Socket Mode is switched off for the app; switch it on in Slack".to_owned()),
        "too_many_websockets" => Ended::Lost("too many connections of the app are open".to_owned()),
        _ => Ended::Refresh,
    }
}

/// Waits for the greeting, behind which envelopes come.
async fn greeted(wire: &mut Wire) -> Result<(), String> {
    while let Some(frame) = wire.next().await {
        if let Message::Text(text) = frame.map_err(|error| error.to_string())? {
            let greeting: Value = serde_json::from_str(&text).map_err(|_| "Slack greeted with no JSON".to_owned())?;
            return match greeting.get("type").and_then(Value::as_str) {
                Some("hello") => Ok(()),
                Some("disconnect") => {
                    let reason = greeting.get("reason").and_then(Value::as_str).unwrap_or("unsaid");
                    Err(match leaving(reason) {
                        Ended::Lost(why) => why,
                        Ended::Refresh => "Slack ended the connection at once".to_owned(),
                    })
                }
                Some(_) | None => Err("Slack did not greet".to_owned()),
            };
        }
    }
    Err("Slack closed the connection".to_owned())
}

struct Envelope {
    id: String,
    kind: Option<Kind>,
    payload: Value,
    answers: bool,
}

enum Said {
    Envelope(Envelope),
    Leaving(String),
    Nothing,
}

fn said(text: &str) -> Said {
    let Ok(mut frame) = serde_json::from_str::<Value>(text) else { return Said::Nothing };
    let word = |frame: &Value, key: &str| frame.get(key).and_then(Value::as_str).map(str::to_owned);
    if word(&frame, "type").as_deref() == Some("disconnect") {
        return Said::Leaving(word(&frame, "reason").unwrap_or_default());
    }
    let Some(id) = word(&frame, "envelope_id").filter(|id| id.len() <= 200) else { return Said::Nothing };
    // One of a kind that is nothing to us is acknowledged, for it would only come again.
    let kind = match word(&frame, "type").as_deref() {
        Some("events_api") => Some(Kind::Event),
        Some("interactive") => Some(Kind::Interaction),
        Some("slash_commands") => Some(Kind::Command),
        Some(_) | None => None,
    };
    let answers = frame.get("accepts_response_payload").and_then(Value::as_bool).unwrap_or(false);
    let payload = frame.get_mut("payload").map(Value::take).unwrap_or_default();
    Said::Envelope(Envelope { id, kind, payload, answers })
}
