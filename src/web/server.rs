//! The server: HTTP/1.1 on one listener, bounded in everything that a stranger could make grow.
//!
//! A connection holds a seat. Where all seats are taken, the one that has waited longest for a request (or for the rest of
//! one) gives way to the newcomer, so that ten thousand idle connections keep nobody out; where all are at work, nobody is
//! let in until one is done. Bodies are counted while they are read: each has a limit, and all together have one. HTTP/2 is
//! not spoken, so there are no streams to reset.

mod seats;

mod stall;

mod metered;

#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONNECTION, CONTENT_LENGTH};
use axum::http::{HeaderValue, Response};
use axum::response::IntoResponse;
use futures_util::FutureExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::error::{ApiError, Code};
use metered::{Metered, Verdict, Whole};
use seats::{Seat, Seats};
use stall::Stalling;

/// What bounds the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time.
    pub connections: usize,
    /// Bytes of the body of one request.
    pub body: usize,
    /// Bytes of the bodies of all requests that are being worked on.
    pub bodies: usize,
    /// How long the head of a request may take, and how long a connection may be idle.
    pub head: Duration,
    /// How long a request may take until its answer begins.
    pub request: Duration,
    /// How long a reader may take nothing of an answer.
    pub stall: Duration,
    /// How long what is under way may go on after the end was asked for.
    pub drain: Duration,
}

impl Limits {
    /// 1,024 connections; bodies of 4 MiB, 64 MiB together; 10 s for a head, 30 s for a request, 20 s for a reader; 20 s to
    /// end.
    #[must_use]
    pub fn standard() -> Self {
        Self {
            connections: 1_024,
            body: 4 << 20,
            bodies: 64 << 20,
            head: Duration::from_secs(10),
            request: Duration::from_secs(30),
            stall: Duration::from_secs(20),
            drain: Duration::from_secs(20),
        }
    }
}

/// The other end of a connection, as the system tells it; stands in the extensions of every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// How the server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drained {
    /// Connections that were open when the end was asked for.
    pub open: usize,
    /// Those of them that were cut off, as their time was up.
    pub cut: usize,
}

/// Most bytes of the head of a request.
const HEAD: usize = 32 << 10;

/// How long accepting waits after it failed; where files are short, trying again at once would only burn the processor.
const RETRY: Duration = Duration::from_millis(50);

/// Serves until `shutdown` fires, then lets end what is under way. New connections are refused from then on.
///
/// # Errors
/// Where the listener is broken for good.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    shutdown: CancellationToken,
) -> io::Result<Drained> {
    let serving = Arc::new(Serving {
        service: TowerToHyperService::new(router),
        limits,
        seats: Seats::new(limits.connections),
        held: Arc::default(),
        ending: shutdown.clone(),
        cut: CancellationToken::new(),
    });
    let tasks = TaskTracker::new();
    loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) if is_of_one(&error) => continue,
                Err(error) => {
                    tracing::warn!(%error, "no connection can be accepted; is the number of open files enough?");
                    tokio::time::sleep(RETRY).await;
                    continue;
                }
            },
            () = shutdown.cancelled() => break,
        };
        // Only now, so that nobody gives way before somebody is there.
        let seat = tokio::select! {
            seat = serving.seats.take() => seat,
            () = shutdown.cancelled() => break,
        };
        drop(tasks.spawn(Arc::clone(&serving).attend(stream, peer, seat)));
    }
    drop(listener);
    tasks.close();
    let open = tasks.len();
    if tokio::time::timeout(limits.drain, tasks.wait()).await.is_ok() {
        return Ok(Drained { open, cut: 0 });
    }
    let cut = tasks.len();
    serving.cut.cancel();
    tasks.wait().await;
    Ok(Drained { open, cut })
}

/// Whether an error of accepting is that of the one connection.
fn is_of_one(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

struct Serving {
    service: TowerToHyperService<Router>,
    limits: Limits,
    seats: Arc<Seats>,
    /// Bytes of bodies that are being worked on.
    held: Arc<AtomicUsize>,
    ending: CancellationToken,
    cut: CancellationToken,
}

impl Serving {
    async fn attend(self: Arc<Self>, stream: TcpStream, peer: SocketAddr, seat: Arc<Seat>) {
        // Answers are small and are written whole; holding them back gains nothing.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection was gone before it began");
            return;
        }
        seat.waits();
        let io = TokioIo::new(Stalling::new(stream, self.limits.stall));
        let (serving, seated) = (Arc::clone(&self), Arc::clone(&seat));
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let (serving, seat) = (Arc::clone(&serving), Arc::clone(&seated));
            async move { Ok::<_, Infallible>(serving.answer(request, peer, seat).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.head)
            .max_buf_size(HEAD)
            .serve_connection(io, service);
        let mut connection = std::pin::pin!(connection);
        let mut ending = std::pin::pin!(self.ending.cancelled().fuse());
        loop {
            tokio::select! {
                ended = &mut connection => {
                    if let Err(error) = ended {
                        tracing::debug!(%error, %peer, "a connection broke off");
                    }
                    return;
                }
                () = &mut ending => connection.as_mut().graceful_shutdown(),
                () = seat.gone() => return,
                () = self.cut.cancelled() => return,
            }
        }
    }

    async fn answer(&self, request: hyper::Request<Incoming>, peer: SocketAddr, seat: Arc<Seat>) -> Response<Body> {
        let stated = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if stated.is_some_and(|length| length > u64::try_from(self.limits.body).unwrap_or(u64::MAX)) {
            return closing(too_large(self.limits.body));
        }
        let verdict = Arc::new(Verdict::new(self.limits.body, self.limits.bodies, Arc::clone(&self.held)));
        let (mut head, body) = request.into_parts();
        head.extensions.insert(Peer(peer));
        let body = Body::new(Metered::new(body, Arc::clone(&verdict), Arc::clone(&seat)));
        let asked = hyper::service::Service::call(&self.service, Request::from_parts(head, body));
        let answer = match tokio::time::timeout(self.limits.request, asked).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(never)) => match never {},
            Err(_) => {
                let message = format!("no answer within {} s", self.limits.request.as_secs());
                closing(ApiError::new(Code::Timeout, "TIMEOUT", message).into_response())
            }
        };
        let answer = match verdict.found() {
            None => answer,
            Some(metered::Found::TooLarge) => closing(too_large(self.limits.body)),
            Some(metered::Found::TooMuchInAll) => {
                let error =
                    ApiError::new(Code::Unavailable, "TOO_MANY_BODIES", "too much is coming in at once; try again");
                closing(error.retry_after(1).into_response())
            }
        };
        // The seat is at work, and the body counts as held, until the answer is out.
        answer.map(|body| Body::new(Whole::new(body, seat, verdict)))
    }
}

fn too_large(limit: usize) -> Response<Body> {
    ApiError::new(Code::TooLarge, "BODY_TOO_LARGE", format!("a body may have {limit} bytes at most")).into_response()
}

/// Nothing more is read of a connection whose body was not.
fn closing(mut answer: Response<Body>) -> Response<Body> {
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}
