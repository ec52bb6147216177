//! Lines of JSON over a stream, bounded in length and time.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};

/// Longest request: a reason, a token and a few names.
pub const REQUEST_BYTES: u64 = 64 << 10;

/// Longest answer: a list of cards with their evidence.
pub const ANSWER_BYTES: u64 = 16 << 20;

/// How long a line that is on its way may take.
pub const LINE_TIME: Duration = Duration::from_secs(5);

/// How long an answer may take: it may hold a look at an identity provider and a durable record.
pub const ANSWER_TIME: Duration = Duration::from_mins(1);

/// Why a line could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// It did not end in time.
    #[error("the line took longer than {} s", .0.as_secs())]
    Slow(Duration),
    /// It is too long.
    #[error("the line is longer than {0} bytes")]
    Long(u64),
    /// The peer went away in the middle of it, or said nothing.
    #[error("the line has no end")]
    Cut,
    /// It is not what was expected.
    #[error("the line is no message of this version")]
    Garbled(#[source] serde_json::Error),
    /// The stream failed.
    #[error("the stream failed")]
    Stream(#[source] std::io::Error),
}

/// Reads one line of at most `most` bytes, and waits no longer than `patience` for its end. Nothing is read beyond it that would be missed: a connection carries one.
///
/// # Errors
/// [`FrameError`].
pub async fn read<T: DeserializeOwned>(
    stream: &mut (impl AsyncRead + Unpin),
    most: u64,
    patience: Duration,
) -> Result<T, FrameError> {
    let mut line = Vec::new();
    // The bound stands before the memory: a line without end takes no more than this.
    let mut bounded = BufReader::new(stream.take(most + 1));
    let whole = tokio::time::timeout(patience, bounded.read_until(b'\n', &mut line));
    whole.await.map_err(|_| FrameError::Slow(patience))?.map_err(FrameError::Stream)?;
    if line.last() != Some(&b'\n') {
        let long = u64::try_from(line.len()).unwrap_or(u64::MAX) > most;
        return Err(if long { FrameError::Long(most) } else { FrameError::Cut });
    }
    serde_json::from_slice(&line).map_err(FrameError::Garbled)
}

/// Writes one line.
///
/// # Errors
/// [`FrameError`]; a peer that does not read is [`FrameError::Slow`].
pub async fn write(stream: &mut (impl AsyncWrite + Unpin), message: &impl Serialize) -> Result<(), FrameError> {
    let mut line = serde_json::to_vec(message).map_err(FrameError::Garbled)?;
    line.push(b'\n');
    let whole = tokio::time::timeout(LINE_TIME, async {
        stream.write_all(&line).await?;
        stream.flush().await
    });
    whole.await.map_err(|_| FrameError::Slow(LINE_TIME))?.map_err(FrameError::Stream)
}
