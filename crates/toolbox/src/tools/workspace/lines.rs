//! Lines of a file of any size and content, in bounded memory.

use std::io::{self, BufRead, BufReader, Read};

use tokio_util::sync::CancellationToken;
use warrant_kernel::redact::guard::cut_behind;

/// Most bytes of one line that are kept.
pub const MAX_LINE: usize = 4096;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its bytes without the line end, at most the limit.
    pub bytes: Vec<u8>,
    /// How many more bytes it has.
    pub more: u64,
}

impl Line {
    /// The line as text: invalid UTF-8 replaced, a cut marked.
    #[must_use]
    pub fn text(&self) -> String {
        if self.more == 0 {
            return String::from_utf8_lossy(&self.bytes).into_owned();
        }
        // A character that the cut fell into belongs to the part that is not shown, and so does half a secret.
        let whole = match std::str::from_utf8(&self.bytes) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.bytes.len(),
        };
        let whole = cut_behind(self.bytes.get(..whole).unwrap_or_default()).len();
        let (kept, rest) = self.bytes.split_at(whole);
        let more = self.more + u64::try_from(rest.len()).unwrap_or_default();
        format!("{} [{more} more bytes]", String::from_utf8_lossy(kept))
    }
}

/// The lines of a reader; [`io::ErrorKind::Interrupted`] is retried by the standard library.
#[derive(Debug)]
pub struct Lines<R> {
    reader: BufReader<R>,
    limit: usize,
}

impl<R: Read> Lines<R> {
    /// Lines that keep at most `limit` bytes each.
    pub fn new(reader: R, limit: usize) -> Self {
        Self { reader: BufReader::with_capacity(64 * 1024, reader), limit }
    }

    /// What is read from.
    pub fn get_ref(&self) -> &R {
        self.reader.get_ref()
    }

    /// What stands next, as much as one read brings.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn peek(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    /// Gives back what was read from.
    pub fn into_inner(self) -> R {
        self.reader.into_inner()
    }

    /// The next line, if there is one. A last line without a line end is a line.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn next_line(&mut self) -> io::Result<Option<Line>> {
        let mut line = Line { bytes: Vec::new(), more: 0 };
        let mut any = false;
        loop {
            let chunk = self.reader.fill_buf()?;
            if chunk.is_empty() {
                break;
            }
            any = true;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let (content, _) = chunk.split_at(end.unwrap_or(chunk.len()));
            let room = self.limit.saturating_sub(line.bytes.len()).min(content.len());
            let (kept, rest) = content.split_at(room);
            line.bytes.extend_from_slice(kept);
            line.more += u64::try_from(rest.len()).unwrap_or_default();
            let used = content.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                break;
            }
        }
        if line.more == 0 && line.bytes.last() == Some(&b'\r') {
            line.bytes.pop();
        }
        Ok(any.then_some(line))
    }
}

/// A reader that ends with an error once the token fires, so that no read outlives its call.
#[derive(Debug)]
pub struct Cancellable<R> {
    reader: R,
    cancel: CancellationToken,
}

impl<R> Cancellable<R> {
    /// Ends `reader` with `cancel`.
    pub fn new(reader: R, cancel: CancellationToken) -> Self {
        Self { reader, cancel }
    }
}

impl<R: Read> Read for Cancellable<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.reader.read(buffer)
    }
}
