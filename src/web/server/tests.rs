//! The server against those who would have it hold more than it may.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::{Drained, Limits, serve};

struct Place {
    at: SocketAddr,
    ending: CancellationToken,
    serving: JoinHandle<Drained>,
    /// Lets go on what waits at `/waits`.
    go: Arc<Semaphore>,
    /// Told when something waits there.
    came: Arc<Semaphore>,
}

async fn place(limits: Limits) -> Place {
    let (go, came) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let (waits, comes) = (Arc::clone(&go), Arc::clone(&came));
    let router = Router::new()
        .route("/", get(async || "here"))
        .route("/size", post(async |body: Bytes| body.len().to_string()))
        .route(
            "/waits",
            get(move || {
                let (waits, comes) = (Arc::clone(&waits), Arc::clone(&comes));
                async move {
                    comes.add_permits(1);
                    waits.acquire().await.unwrap().forget();
                    "done"
                }
            }),
        );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (at, ending) = (listener.local_addr().unwrap(), CancellationToken::new());
    let shutdown = ending.clone();
    let serving = tokio::spawn(async move { serve(listener, router, limits, shutdown).await.unwrap() });
    Place { at, ending, serving, go, came }
}

impl Place {
    async fn sent(&self, bytes: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.at).await.unwrap();
        stream.write_all(bytes.as_bytes()).await.unwrap();
        stream
    }

    async fn asked(&self, path: &str) -> String {
        rest(self.sent(&format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")).await).await
    }
}

/// All that comes until the connection ends, broken off or not.
async fn rest(mut stream: TcpStream) -> String {
    let (mut all, mut piece) = (Vec::new(), [0; 4_096]);
    while let Ok(read @ 1..) = stream.read(&mut piece).await {
        all.extend_from_slice(&piece[..read]);
    }
    String::from_utf8_lossy(&all).into_owned()
}

fn short(head: u64) -> Limits {
    Limits { head: Duration::from_millis(head), ..Limits::standard() }
}

#[tokio::test]
async fn wh_05_a_body_that_is_said_to_be_too_large_is_refused_before_any_of_it_is_read() {
    let place = place(Limits::standard()).await;
    for length in ["314572800", "1073741824", "9223372036854775807"] {
        let head =
            format!("POST /size HTTP/1.1\r\nHost: a\r\nX-Slack-Signature: v0=00\r\nContent-Length: {length}\r\n\r\n");
        // Nothing of the body is ever sent, and the answer is there.
        let answer = rest(place.sent(&head).await).await;
        assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("connection: close"), "{answer}");
    }
    let expecting = "POST /size HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 314572800\r\n\r\n";
    let answer = rest(place.sent(expecting).await).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "it is not asked for: {answer}");
}

#[tokio::test]
async fn wh_05_a_body_without_a_length_is_cut_off_where_it_is_too_large() {
    let limits = Limits { body: 100_000, ..Limits::standard() };
    let place = place(limits).await;
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    let mut stream = place.sent("POST /size HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n").await;
    let mut sent = 0_usize;
    // For as long as it is taken; 300 MiB would come otherwise.
    while sent < 300 << 20
        && timeout(Duration::from_secs(5), stream.write_all(chunk.as_bytes())).await.is_ok_and(|it| it.is_ok())
    {
        sent += 0x1000;
    }
    assert!(sent < 64 << 20, "{sent} bytes were taken");
    let answer = place
        .sent(&format!(
            "POST /size HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n",
            chunk.repeat(25)
        ))
        .await;
    let answer = rest(answer).await;
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("BODY_TOO_LARGE"), "{answer}");
    let fits = rest(
        place
            .sent(&format!(
                "POST /size HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n",
                chunk.repeat(24)
            ))
            .await,
    )
    .await;
    assert!(fits.ends_with("98304"), "{fits}");
}

#[tokio::test]
async fn wh_05_bodies_that_come_at_once_are_bounded_together_and_given_back() {
    let limits = Limits { body: 100_000, bodies: 150_000, ..Limits::standard() };
    let place = place(limits).await;
    let (head, body) =
        ("POST /size HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 90000\r\n\r\n", "x".repeat(90_000));
    for _ in 0..3 {
        // One has sent all but a byte of its own; the next one is too much, and there is room when that one is gone.
        let first = place.sent(&format!("{head}{}", "x".repeat(89_999))).await;
        let refused = loop {
            let second = rest(place.sent(&format!("{head}{body}")).await).await;
            if !second.ends_with("90000") {
                break second;
            }
        };
        assert!(refused.starts_with("HTTP/1.1 503 ") && refused.contains("TOO_MANY_BODIES"), "{refused}");
        drop(first);
        while !rest(place.sent(&format!("{head}{body}")).await).await.ends_with("90000") {}
    }
}

#[tokio::test]
async fn wh_17_a_head_that_never_ends_and_a_connection_without_one_are_ended() {
    let place = place(short(200)).await;
    let began = Instant::now();
    let idle = tokio::spawn(rest(place.sent("").await));
    let half = tokio::spawn(rest(place.sent("GET / HTTP/1.1\r\nHost: a\r\n").await));
    let after_one = tokio::spawn(rest(place.sent("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await));
    let mut drop_by_drop = place.sent("GET / HTTP/1.1\r\n").await;
    let dripping = tokio::spawn(async move {
        while drop_by_drop.write_all(b"X-A: b\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    idle.await.unwrap();
    half.await.unwrap();
    assert!(after_one.await.unwrap().ends_with("here"));
    dripping.await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(20));
    assert!(place.asked("/").await.ends_with("here"));
}

#[tokio::test]
async fn wh_17_a_body_that_does_not_come_ends_with_its_request() {
    let place = place(Limits { request: Duration::from_millis(200), ..Limits::standard() }).await;
    let answer = rest(place.sent("POST /size HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx").await).await;
    assert!(answer.starts_with("HTTP/1.1 504 ") && answer.contains("connection: close"), "{answer}");
}

/// Ten thousand connections, or as many as this machine lets one process hold.
fn allowed() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).unwrap();
    let files = limit.maximum.map_or(usize::MAX, |files| usize::try_from(files).unwrap());
    // Both ends of those that are still open, and what else is open.
    files.saturating_sub(500).min(10_000)
}

#[tokio::test]
async fn wh_17_idle_connections_give_way_and_keep_nobody_out() {
    let most = allowed();
    let place = place(Limits { connections: 32, ..short(600_000) }).await;
    let mut idle = Vec::new();
    for n in 0..most {
        // Some say nothing, some half of a head, some half of a body.
        let said = ["", "GET / HTTP/1.1\r\n", "POST /size HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx"][n % 3];
        idle.push(place.sent(said).await);
        if n % 500 == 499 {
            let began = Instant::now();
            assert!(place.asked("/").await.ends_with("here"));
            assert!(began.elapsed() < Duration::from_secs(3), "as Slack needs it");
        }
    }
    // All but those that have a seat have been ended.
    let mut ended = 0;
    for mut stream in idle {
        let mut byte = [0; 1];
        if !matches!(timeout(Duration::from_millis(50), stream.read(&mut byte)).await, Err(_elapsed)) {
            ended += 1;
        }
        if ended >= most - 40 {
            break;
        }
    }
    assert!(ended >= most - 40, "{ended} of {most}");
}

#[tokio::test]
async fn wh_17_who_is_at_work_does_not_give_way_and_the_next_one_waits() {
    let place = place(Limits { connections: 2, ..Limits::standard() }).await;
    let request = "GET /waits HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let (one, two) = (place.sent(request).await, place.sent(request).await);
    place.came.acquire().await.unwrap().forget();
    place.came.acquire().await.unwrap().forget();
    let (one, two) = (tokio::spawn(rest(one)), tokio::spawn(rest(two)));
    let third = tokio::spawn(rest(place.sent("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await));
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!third.is_finished() && !one.is_finished() && !two.is_finished());
    place.go.add_permits(1);
    assert!(third.await.unwrap().ends_with("here"));
    place.go.add_permits(1);
    assert!(one.await.unwrap().ends_with("done") && two.await.unwrap().ends_with("done"));
}

#[tokio::test]
async fn wh_17_no_other_protocol_is_spoken() {
    let place = place(short(500)).await;
    // The preface of HTTP/2, with settings and a thousand streams that are reset at once.
    let mut rapid = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00".to_vec();
    for stream in 0..1_000_u32 {
        let id = (stream * 2 + 1).to_be_bytes();
        rapid.extend_from_slice(b"\x00\x00\x01\x01\x05");
        rapid.extend_from_slice(&id);
        rapid.extend_from_slice(b"\x82\x00\x00\x04\x03\x00");
        rapid.extend_from_slice(&id);
        rapid.extend_from_slice(b"\x00\x00\x00\x08");
    }
    let mut stream = TcpStream::connect(place.at).await.unwrap();
    // It may have been ended before all of it is sent.
    if stream.write_all(&rapid).await.is_ok() {
        let answer = rest(stream).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    let upgrade = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n";
    let answer = rest(place.sent(upgrade).await).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("here"), "{answer}");
    let long = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(1 << 20));
    let mut stream = TcpStream::connect(place.at).await.unwrap();
    if stream.write_all(long.as_bytes()).await.is_ok() {
        let answer = rest(stream).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    assert!(place.asked("/").await.ends_with("here"));
}

#[tokio::test]
async fn at_the_end_what_is_under_way_is_finished_and_nobody_else_is_let_in() {
    let place = place(Limits::standard()).await;
    let under_way = place.sent("GET /waits HTTP/1.1\r\nHost: a\r\n\r\n").await;
    place.came.acquire().await.unwrap().forget();
    let idle = tokio::spawn(rest(place.sent("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await));
    let under_way = tokio::spawn(rest(under_way));
    place.ending.cancel();
    assert!(idle.await.unwrap().len() < 1_000, "one that waits is ended at once");
    while TcpStream::connect(place.at).await.is_ok() {
        tokio::task::yield_now().await;
    }
    place.go.add_permits(1);
    assert!(under_way.await.unwrap().ends_with("done"));
    let drained = place.serving.await.unwrap();
    assert_eq!(drained.cut, 0);
    assert!(drained.open >= 1);
}

#[tokio::test]
async fn what_does_not_end_in_time_is_cut_off_and_told() {
    let place = place(Limits { drain: Duration::from_millis(100), ..Limits::standard() }).await;
    let under_way = place.sent("GET /waits HTTP/1.1\r\nHost: a\r\n\r\n").await;
    place.came.acquire().await.unwrap().forget();
    place.ending.cancel();
    assert_eq!(place.serving.await.unwrap(), Drained { open: 1, cut: 1 });
    assert_eq!(rest(under_way).await, "");
}
