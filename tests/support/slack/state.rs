//! What the server knows: people, channels, messages, views, and whoever is connected.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::{APP, BOT, TEAM};

/// A call of the Web API as it came.
#[derive(Debug, Clone)]
pub struct Call {
    pub method: String,
    pub body: Value,
    pub at: Instant,
}

/// What goes wrong once.
#[derive(Debug, Clone)]
pub enum Fault {
    /// 429, to come back after so many seconds.
    Limited(u64),
    /// 200 with this error.
    Error(&'static str),
    /// This status.
    Status(u16),
    /// It does what it is asked, and answers 500.
    DoneThenStatus(u16),
}

#[derive(Debug, Clone)]
pub struct Channel {
    pub archived: bool,
    pub member: bool,
}

#[derive(Debug, Clone)]
pub struct Message {
    pub channel: String,
    pub ts: String,
    pub thread: Option<String>,
    pub body: Value,
    pub edits: u32,
}

#[derive(Debug, Clone)]
pub struct OpenView {
    pub id: String,
    pub hash: String,
    pub view: Value,
    pub user: String,
}

pub struct Trigger {
    pub made: Instant,
    pub used: bool,
    pub user: String,
}

pub enum Frame {
    Text(String),
    /// The connection breaks without a word.
    Cut,
}

pub struct Socket {
    pub number: u64,
    pub send: UnboundedSender<Frame>,
}

#[derive(Debug, Clone, Default)]
pub struct File {
    pub info: Value,
    pub bytes: Vec<u8>,
    pub shared: Option<Value>,
}

pub struct Inner {
    pub users: HashMap<String, Value>,
    pub groups: HashMap<String, Vec<String>>,
    pub channels: HashMap<String, Channel>,
    pub messages: Vec<Message>,
    pub whispers: Vec<Value>,
    pub views: Vec<OpenView>,
    pub triggers: HashMap<String, Trigger>,
    pub files: HashMap<String, File>,
    pub calls: Vec<Call>,
    pub faults: HashMap<String, VecDeque<Fault>>,
    pub sockets: Vec<Socket>,
    pub tickets: Vec<String>,
    pub acks: HashMap<String, Value>,
    pub sent: HashMap<String, (String, Value)>,
    pub paced: HashMap<String, Instant>,
    /// Whether the tokens are still good.
    pub revoked: bool,
    pub most_sockets: usize,
    /// What came that no client should send.
    pub violations: Vec<String>,
    count: u64,
}

impl Inner {
    pub fn new() -> Self {
        let bot = json!({
            "id": BOT, "team_id": TEAM, "deleted": false, "is_bot": true, "is_restricted": false,
            "is_ultra_restricted": false, "name": "warrant",
        });
        Self {
            users: HashMap::from([(BOT.to_owned(), bot)]),
            groups: HashMap::new(),
            channels: HashMap::from([("C0OPS".to_owned(), Channel { archived: false, member: true })]),
            messages: Vec::new(),
            whispers: Vec::new(),
            views: Vec::new(),
            triggers: HashMap::new(),
            files: HashMap::new(),
            calls: Vec::new(),
            faults: HashMap::new(),
            sockets: Vec::new(),
            tickets: Vec::new(),
            acks: HashMap::new(),
            sent: HashMap::new(),
            paced: HashMap::new(),
            revoked: false,
            most_sockets: 10,
            violations: Vec::new(),
            count: 0,
        }
    }

    /// A number that was not there before.
    pub fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// A message's `ts` that was not there before.
    pub fn ts(&mut self) -> String {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        format!("{now}.{:06}", self.next())
    }

    /// A trigger for what a user did just now.
    pub fn trigger(&mut self, user: &str) -> String {
        let id = format!("{}.{}.abcdef", self.next(), self.next());
        self.triggers.insert(id.clone(), Trigger { made: Instant::now(), used: false, user: user.to_owned() });
        id
    }

    /// Sends an envelope through the newest socket.
    pub fn envelope(&mut self, kind: &str, payload: &Value, attempt: u32) -> String {
        let id = format!("env-{}", self.next());
        let frame = json!({
            "envelope_id": id, "type": kind, "payload": payload, "retry_attempt": attempt,
            "retry_reason": if attempt == 0 { "" } else { "timeout" },
            "accepts_response_payload": kind != "events_api",
        });
        self.sent.insert(id.clone(), (kind.to_owned(), payload.clone()));
        if let Some(socket) = self.sockets.last() {
            socket.send.send(Frame::Text(frame.to_string())).ok();
        }
        id
    }

    /// Tells all sockets to go, or breaks them off.
    pub fn disconnect(&mut self, reason: Option<&str>) {
        for socket in &self.sockets {
            let frame = match reason {
                Some(reason) => Frame::Text(json!({ "type": "disconnect", "reason": reason }).to_string()),
                None => Frame::Cut,
            };
            socket.send.send(frame).ok();
        }
    }

    /// The greeting of a socket.
    pub fn hello(&self) -> String {
        json!({
            "type": "hello", "num_connections": self.sockets.len(), "connection_info": { "app_id": APP },
            "debug_info": { "host": "applink-1", "approximate_connection_time": 18_060 },
        })
        .to_string()
    }
}
