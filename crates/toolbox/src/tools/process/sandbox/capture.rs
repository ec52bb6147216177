//! Listens to a program that may write without end: the beginning and the end are kept, the middle goes by.
//!
//! What is kept has a fixed size, however much comes and wherever its lines end. Half a secret is not found by any rule, so
//! what stands at an edge passes the redactor's guard.

use std::collections::VecDeque;
use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};
use warrant_kernel::redact::guard::Piece;

/// Most bytes kept of the beginning and of the end of standard output.
const HEAD: usize = 512 * 1024;
const TAIL: usize = 256 * 1024;
/// Of standard error, the beginning only.
const COMPLAINT: usize = 4 * 1024;
/// Bytes read at once.
const CHUNK: usize = 64 * 1024;

/// Why it was no longer listened to.
#[derive(Debug)]
pub enum Stop {
    /// It wrote more than anybody would read.
    TooMuch,
    /// It could not be heard.
    Failed(io::Error),
}

/// What a program wrote, as far as it is kept.
#[derive(Debug)]
pub struct Captured {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    most: (usize, usize),
}

/// What was kept, in lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The lines, without their ends.
    pub lines: Vec<String>,
    /// Bytes that were written and are not in them.
    pub left_out: u64,
    /// All bytes that were written.
    pub total: u64,
}

impl Captured {
    pub(super) fn new() -> Self {
        Self::of(HEAD, TAIL)
    }

    pub(super) fn small() -> Self {
        Self::of(COMPLAINT, 0)
    }

    fn of(head: usize, tail: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), total: 0, most: (head, tail) }
    }

    fn push(&mut self, bytes: &[u8]) {
        let (most_head, most_tail) = self.most;
        self.total = self.total.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let (first, rest) = bytes.split_at(bytes.len().min(most_head.saturating_sub(self.head.len())));
        self.head.extend_from_slice(first);
        let (_, last) = rest.split_at(rest.len().saturating_sub(most_tail));
        let room = most_tail.saturating_sub(last.len());
        let over = self.tail.len().saturating_sub(room);
        self.tail.drain(..over);
        self.tail.extend(last);
    }

    /// What was kept, in lines. Where something went by, what may be half a secret at either side of it is dropped.
    #[must_use]
    pub fn text(self) -> Text {
        let kept = u64::try_from(self.head.len().saturating_add(self.tail.len())).unwrap_or(u64::MAX);
        let (mut head, tail) = (self.head, Vec::from(self.tail));
        let pieces = if kept == self.total {
            head.extend_from_slice(&tail);
            [Piece::whole(head), Piece::whole(Vec::new())]
        } else {
            [Piece::beginning(head), Piece::end(tail)]
        };
        let shown: usize = pieces.iter().map(|piece| piece.bytes().len()).sum();
        let left_out = self.total.saturating_sub(u64::try_from(shown).unwrap_or(u64::MAX));
        Text { lines: pieces.iter().flat_map(|piece| lines(piece.bytes())).collect(), left_out, total: self.total }
    }
}

fn lines(bytes: &[u8]) -> Vec<String> {
    if bytes.is_empty() {
        return Vec::new();
    }
    let of = |line: &[u8]| String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
    bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|byte| *byte == b'\n').map(of).collect()
}

/// Reads a pipe to its end into what is kept.
pub(super) async fn capture<R: AsyncRead + Unpin>(pipe: Option<R>, into: &mut Captured, most: u64) -> Result<(), Stop> {
    let Some(mut pipe) = pipe else { return Ok(()) };
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = pipe.read(&mut chunk).await.map_err(Stop::Failed)?;
        if count == 0 {
            return Ok(());
        }
        into.push(chunk.split_at(count.min(chunk.len())).0);
        if into.total > most {
            return Err(Stop::TooMuch);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(head: usize, tail: usize, chunks: &[&[u8]]) -> Text {
        let mut captured = Captured::of(head, tail);
        for chunk in chunks {
            captured.push(chunk);
        }
        captured.text()
    }

    #[test]
    fn what_fits_is_kept_whole_and_of_the_rest_the_middle_goes() {
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        assert_eq!(text(4, 4, &[b"ab\ncd\n"]), Text { lines: lines(&["ab", "cd"]), left_out: 0, total: 6 });
        assert_eq!(text(4, 4, &[b"ab\n", b"cdefgh\n", b"ij\n"]).lines, lines(&["ab", "ij"]));
        assert_eq!(text(4, 4, &[b"abcdefghijkl"]), Text { lines: Vec::new(), left_out: 12, total: 12 });
        assert_eq!(text(9, 9, &[b"password=abcdefghijkl zz\nx\n"]).lines, lines(&["x"]));
        assert_eq!(text(4, 4, &[b"a\r\n\n"]).lines, lines(&["a", ""]));
        assert_eq!(text(4, 4, &[]), Text { lines: Vec::new(), left_out: 0, total: 0 });
        assert_eq!(text(8, 0, &[b"\xff\xfe\n"]).lines, lines(&["\u{fffd}\u{fffd}"]));
    }

    proptest! {
        /// What is shown was written, in this order; what is not shown is counted; what is kept is bounded; and what stood
        /// over a cut is not shown.
        #[test]
        fn the_beginning_and_the_end_are_kept(chunks in prop::collection::vec("[a-c \n]{0,40}", 0..20), head in 1_usize..60, tail in 0_usize..60) {
            let whole = chunks.concat();
            let bytes: Vec<&[u8]> = chunks.iter().map(String::as_bytes).collect();
            let text = text(head, tail, &bytes);
            let mut rest = whole.as_str();
            for line in &text.lines {
                let at = rest.find(line.as_str());
                prop_assert!(at.is_some(), "{line:?} of {whole:?}");
                rest = rest.get(at.unwrap() + line.len()..).unwrap();
            }
            let shown: usize = text.lines.iter().map(|line| line.len() + 1).sum();
            prop_assert!(shown <= head + tail + 2);
            prop_assert_eq!(text.left_out == 0, whole.len() <= head + tail);
            prop_assert_eq!(text.total, whole.len() as u64);
        }
    }
}
