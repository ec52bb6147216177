//! By Slack's posts: who did not sign is not read, and what came before does nothing.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use warrant::app::SystemClock;
use warrant::chat::slack::http::{Http, Secret, router};
use warrant::chat::slack::incoming::Incoming;
use warrant_kernel::call::tool::Clock as _;

use super::world::{World, modal};
use crate::slack_server::BOT;
use crate::slack_server::people::{click, command, message, signed, submit};
use crate::slack_server::state::OpenView;

const SECRET: &str = "0123456789abcdef0123456789abcdef";

struct Door {
    world: World,
    address: std::net::SocketAddr,
    http: reqwest::Client,
    task: JoinHandle<()>,
}

impl Drop for Door {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Door {
    async fn new() -> Self {
        let world = World::new().await;
        let parts = Http {
            secret: Secret::new(SECRET).unwrap(),
            inbox: world.inbox.clone(),
            health: world.health.clone(),
            clock: Arc::new(SystemClock),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move { axum::serve(listener, router(parts)).await.unwrap() });
        Self { world, address, http: reqwest::Client::builder().no_proxy().build().unwrap(), task }
    }

    async fn post(&self, path: &str, body: &[u8], time: &str, signature: &str) -> (u16, String) {
        let request = self.http.post(format!("http://{}/slack/{path}", self.address)).body(body.to_vec());
        let request = request.header("x-slack-request-timestamp", time).header("x-slack-signature", signature);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    async fn signed(&self, path: &str, body: &[u8]) -> (u16, String) {
        let time = now(0);
        self.post(path, body, &time, &signed(SECRET, &time, body)).await
    }
}

fn now(later: i64) -> String {
    (SystemClock.now().as_second() + later).to_string()
}

fn form(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut url = reqwest::Url::parse("http://form").unwrap();
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap().as_bytes().to_vec()
}

#[tokio::test]
async fn wh_01_what_slack_did_not_sign_is_refused() {
    let door = Door::new().await;
    let body = message(&mut door.world.slack.shared.lock(), "U0ANN", "D0ANN", None, "hello").to_string().into_bytes();
    let time = now(0);
    let good = signed(SECRET, &time, &body);
    let digits = good.strip_prefix("v0=").unwrap();
    let bad = [
        String::new(),
        "v0=".to_owned(),
        digits.to_owned(),
        format!("v1={digits}"),
        format!("V0={digits}"),
        format!("v0={}", digits.to_uppercase()),
        format!("v0={}", digits.get(..62).unwrap()),
        format!("{good}00"),
        format!("v0={}", "0".repeat(64)),
        format!("v0={}", "é".repeat(32)),
        signed("another secret of that length...", &time, &body),
        signed("", &time, &body),
        signed(SECRET, &time, &[&body[..], b" "].concat()),
        signed(SECRET, &now(1), &body),
    ];
    let refused = bad.len() as u64;
    for signature in bad {
        let (status, told) = door.post("events", &body, &time, &signature).await;
        assert_eq!((status, told.as_str()), (401, "not signed by Slack"), "{signature}");
    }
    let twice = door.http.post(format!("http://{}/slack/events", door.address)).body(body.clone());
    let twice = twice.header("x-slack-request-timestamp", &time).header("x-slack-signature", &good);
    let twice = twice.header("x-slack-signature", "v0=00").send().await.unwrap();
    assert_eq!(twice.status().as_u16(), 401);
    let without =
        door.http.post(format!("http://{}/slack/events", door.address)).body(body.clone()).send().await.unwrap();
    assert_eq!(without.status().as_u16(), 401);
    assert_eq!(door.world.arrived().await, []);
    assert_eq!(door.world.health.picture().refused, refused + 2);
    assert_eq!(door.post("events", &body, &time, &good).await, (200, String::new()));
    assert_eq!(door.world.arrived().await.len(), 1);
}

#[tokio::test]
async fn wh_03_a_time_too_far_off_or_none_is_refused() {
    let door = Door::new().await;
    let body = message(&mut door.world.slack.shared.lock(), "U0ANN", "D0ANN", None, "hello").to_string().into_bytes();
    let (min, max) = (i64::MIN.to_string(), i64::MAX.to_string());
    let far = [now(-302), now(302), min, max, "99999999999999999999".to_owned()];
    let none = ["", "-1", "+1", "1e9", "nan", "0x1", " 1", "1 2"].map(str::to_owned);
    for time in far.into_iter().chain(none) {
        let (status, _) = door.post("events", &body, &time, &signed(SECRET, &time, &body)).await;
        assert_eq!(status, 401, "`{time}`");
    }
    for time in [now(-290), now(290)] {
        assert_eq!(door.post("events", &body, &time, &signed(SECRET, &time, &body)).await.0, 200, "`{time}`");
    }
    assert_eq!(door.world.arrived().await.len(), 1);
}

#[tokio::test]
async fn wh_04_an_exact_replay_is_acknowledged_and_does_nothing() {
    let door = Door::new().await;
    let payload =
        click(&mut door.world.slack.shared.lock(), "U0ANN", "C0OPS", "3.000001", "approve", "A12").to_string();
    let body = form(&[("payload", &payload)]);
    let time = now(0);
    let signature = signed(SECRET, &time, &body);
    for _ in 0..3 {
        assert_eq!(door.post("interactivity", &body, &time, &signature).await, (200, String::new()));
    }
    // Signed anew it is the same click still.
    let time = now(2);
    assert_eq!(door.post("interactivity", &body, &time, &signed(SECRET, &time, &body)).await.0, 200);
    assert_eq!(door.world.arrived().await.len(), 1);
}

#[tokio::test]
async fn wh_05_a_body_that_is_too_large_is_refused_before_it_is_read() {
    let door = Door::new().await;
    let head = |length: &str| {
        let (time, signature) = (now(0), "ab".repeat(32));
        format!(
            "POST /slack/events HTTP/1.1\r\nhost: x\r\nx-slack-request-timestamp: {time}\r\nx-slack-signature: v0={signature}\r\n{length}\r\n\r\n"
        )
    };
    // Nothing of the body is sent, so whoever answers has not waited for it.
    let mut stream = TcpStream::connect(door.address).await.unwrap();
    stream.write_all(head("content-length: 314572800").as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");

    // And one without a length is read no further than the limit.
    let mut stream = TcpStream::connect(door.address).await.unwrap();
    stream.write_all(head("transfer-encoding: chunked").as_bytes()).await.unwrap();
    let chunk = [b"10000\r\n".as_slice(), &vec![b'x'; 0x10000], b"\r\n"].concat();
    let (mut reading, mut writing) = stream.into_split();
    let sending = tokio::spawn(async move {
        let mut sent = 0_usize;
        while sent < 300 << 20 && writing.write_all(&chunk).await.is_ok() {
            sent += chunk.len();
        }
        sent
    });
    let mut answer = [0; 12];
    reading.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
    drop(reading);
    assert!(sending.await.unwrap() < 64 << 20);
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let door = Door::new().await;
    let mut stream = TcpStream::connect(door.address).await.unwrap();
    let head = format!(
        "POST /slack/events HTTP/1.1\r\nhost: x\r\nx-slack-request-timestamp: {}\r\nx-slack-signature: v0={}\r\ncontent-length: 10\r\n\r\nabc",
        now(0),
        "ab".repeat(32)
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    tokio::time::timeout(Duration::from_secs(8), stream.read_exact(&mut answer)).await.unwrap().unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");
}

#[tokio::test]
async fn what_slack_posts_comes_in_as_over_the_socket() {
    let door = Door::new().await;
    let challenge = json!({ "type": "url_verification", "token": "t", "challenge": "c-1" }).to_string();
    assert_eq!(door.signed("events", challenge.as_bytes()).await, (200, r#"{"challenge":"c-1"}"#.to_owned()));
    assert_eq!(door.signed("events", b"{not json").await.0, 400);
    assert_eq!(door.signed("interactivity", b"payload=%7Bnot").await.0, 400);
    assert_eq!(door.signed("commands", b"ssl_check=1&token=t").await.0, 200);

    let (said, given, sent) = {
        let mut inner = door.world.slack.shared.lock();
        let said = message(&mut inner, "U0ANN", "C0OPS", None, &format!("<@{BOT}> look at checkout"));
        let given = command(&mut inner, "U0ANN", "C0OPS", "/warrant", "handover 8h & more = all");
        let open = OpenView {
            id: "V1".to_owned(),
            hash: "1.a".to_owned(),
            view: modal("The whole"),
            user: "U0ANN".to_owned(),
        };
        inner.views.push(open);
        let sent = submit(&mut inner, "U0ANN", "V1", &[("why", "reason", "no, it's #1 & more")]);
        (said, given, sent)
    };
    assert_eq!(door.signed("events", said.to_string().as_bytes()).await, (200, String::new()));
    let fields: Vec<(&str, &str)> =
        given.as_object().unwrap().iter().map(|(name, value)| (name.as_str(), value.as_str().unwrap())).collect();
    assert_eq!(door.signed("commands", &form(&fields)).await, (200, String::new()));
    let (status, told) = door.signed("interactivity", &form(&[("payload", &sent.to_string())])).await;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((status, &told["view"]["title"]["text"]), (200, &json!("Recorded")));

    let arrived = door.world.arrived().await;
    let [Incoming::Mention(_), Incoming::Command { words, .. }, Incoming::Submission { values, .. }] =
        arrived.as_slice()
    else {
        panic!("{arrived:#?}")
    };
    assert_eq!(words.text, "handover 8h & more = all");
    assert_eq!(values["why.reason"].text, "no, it's #1 & more");

    door.world.disk.full.store(true, Ordering::SeqCst);
    let said = message(&mut door.world.slack.shared.lock(), "U0ANN", "D0ANN", None, "hello").to_string();
    assert_eq!(door.signed("events", said.as_bytes()).await.0, 503);
}
