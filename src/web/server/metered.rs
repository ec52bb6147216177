//! Bodies that are counted while they are read, and answers that give back what their request held.
//!
//! A body that is too large ends in an error for whoever reads it; the server then answers in its place, so that nothing
//! rests on how a handler tells of it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use axum::body::{Body as AxumBody, Bytes};
use hyper::body::{Body, Frame, Incoming, SizeHint};

use super::seats::Seat;

/// What was found wrong with a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// It has too many bytes.
    TooLarge,
    /// All bodies together have.
    TooMuchInAll,
}

/// What one body came to; holds its bytes until it goes.
pub(super) struct Verdict {
    most: usize,
    most_in_all: usize,
    held: AtomicUsize,
    in_all: Arc<AtomicUsize>,
    found: AtomicU8,
}

impl Verdict {
    pub(super) fn new(most: usize, most_in_all: usize, in_all: Arc<AtomicUsize>) -> Self {
        Self { most, most_in_all, held: AtomicUsize::new(0), in_all, found: AtomicU8::new(0) }
    }

    pub(super) fn found(&self) -> Option<Found> {
        match self.found.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Found::TooLarge),
            _ => Some(Found::TooMuchInAll),
        }
    }

    fn count(&self, bytes: usize) -> Result<(), io::Error> {
        let held = self.held.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let in_all = self.in_all.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let (found, told) = match (held > self.most, in_all > self.most_in_all) {
            (true, _) => (1, "the body is too large"),
            (false, true) => (2, "too much is coming in at once"),
            (false, false) => return Ok(()),
        };
        self.found.store(found, Ordering::Relaxed);
        Err(io::Error::other(told))
    }
}

impl Drop for Verdict {
    fn drop(&mut self) {
        self.in_all.fetch_sub(self.held.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// The body of a request. Its seat works once it is here whole, or nobody reads it further.
pub(super) struct Metered {
    inner: Incoming,
    verdict: Arc<Verdict>,
    seat: Arc<Seat>,
}

impl Metered {
    pub(super) fn new(inner: Incoming, verdict: Arc<Verdict>, seat: Arc<Seat>) -> Self {
        if inner.is_end_stream() {
            seat.works();
        }
        Self { inner, verdict, seat }
    }
}

impl Body for Metered {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(cx));
        if frame.is_none() || self.inner.is_end_stream() {
            self.seat.works();
        }
        Poll::Ready(frame.map(|frame| {
            let frame = frame.map_err(axum::Error::new)?;
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            self.verdict.count(bytes).map_err(axum::Error::new)?;
            Ok(frame)
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for Metered {
    fn drop(&mut self) {
        self.seat.works();
    }
}

/// The body of an answer. When it is out its seat waits again, and what the request held is given back.
pub(super) struct Whole {
    inner: AxumBody,
    seat: Arc<Seat>,
    _held: Arc<Verdict>,
}

impl Whole {
    pub(super) fn new(inner: AxumBody, seat: Arc<Seat>, verdict: Arc<Verdict>) -> Self {
        Self { inner, seat, _held: verdict }
    }
}

impl Body for Whole {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.inner).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        self.seat.waits();
    }
}
