//! Reads text in blocks of whole records, in a buffer of fixed size.
//!
//! A block begins with the head of a record and ends before the next head, so that a match and the record around it lie in
//! one slice. Where one record is larger than the buffer it comes in pieces ([`Block::continued`]); of a line longer than
//! the buffer the beginning comes and the rest is passed over.

use std::io::{self, ErrorKind, Read};

use crate::tools::sources::logs::record::Heads;

/// Lines at the end of the buffer that are looked at for the last head.
const LINES_BACK: usize = 2_000;

/// Some whole records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block<'b> {
    /// Their text.
    pub text: &'b [u8],
    /// Where it begins in the whole text.
    pub offset: u64,
    /// Whether it begins within a record that began in the block before.
    pub continued: bool,
}

/// Reads blocks.
pub struct Blocks<R> {
    source: R,
    heads: Heads,
    buffer: Vec<u8>,
    filled: usize,
    taken: usize,
    offset: u64,
    ended: bool,
    cut: Cut,
    broke: Option<io::Error>,
    long_lines: u64,
    read: u64,
}

/// Where the last block ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    BetweenRecords,
    WithinRecord,
    WithinLine,
}

impl<R: Read> Blocks<R> {
    /// Reads from `source`, whose first byte is the byte `offset` of the whole text, with a buffer of `size` bytes.
    #[must_use]
    pub fn new(source: R, heads: Heads, offset: u64, size: usize) -> Self {
        Self {
            source,
            heads,
            buffer: vec![0; size.max(2)],
            filled: 0,
            taken: 0,
            offset,
            ended: false,
            cut: Cut::BetweenRecords,
            broke: None,
            long_lines: 0,
            read: 0,
        }
    }

    /// The next block; none at the end, or where the source broke off ([`Self::broke`]).
    pub fn next_block(&mut self) -> Option<Block<'_>> {
        self.drop_taken();
        let continued = self.cut != Cut::BetweenRecords;
        if self.cut == Cut::WithinLine {
            self.pass_line();
        }
        self.fill();
        let text = self.buffer.get(..self.filled)?;
        if text.is_empty() {
            return None;
        }
        (self.taken, self.cut) = if self.ended { (text.len(), Cut::BetweenRecords) } else { cut_of(text, self.heads) };
        self.long_lines += u64::from(self.cut == Cut::WithinLine);
        let text = text.get(..self.taken)?;
        let first_line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let continued = continued && !self.heads.is_head(first_line);
        Some(Block { text, offset: self.offset, continued })
    }

    /// Why reading ended before the end of the text, if it did.
    #[must_use]
    pub fn broke(&self) -> Option<&io::Error> {
        self.broke.as_ref()
    }

    /// How many lines were longer than the buffer.
    #[must_use]
    pub fn long_lines(&self) -> u64 {
        self.long_lines
    }

    /// How many bytes of text were read.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.read
    }

    /// Whether the last block ended at the head of a record, or at the end.
    #[must_use]
    pub fn ends_whole(&self) -> bool {
        self.cut == Cut::BetweenRecords
    }

    fn drop_taken(&mut self) {
        self.buffer.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        self.offset += self.taken as u64;
        self.taken = 0;
    }

    fn fill(&mut self) {
        while !self.ended
            && let Some(free) = self.buffer.get_mut(self.filled..).filter(|free| !free.is_empty())
        {
            match self.source.read(free) {
                Ok(0) => self.ended = true,
                Ok(count) => {
                    self.filled += count;
                    self.read += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.broke = Some(error);
                    self.ended = true;
                }
            }
        }
    }

    /// Passes over what is left of a line whose beginning has been taken.
    fn pass_line(&mut self) {
        loop {
            let held = self.buffer.get(..self.filled).unwrap_or_default();
            if let Some(newline) = memchr::memchr(b'\n', held) {
                self.taken = newline + 1;
                return self.drop_taken();
            }
            self.taken = self.filled;
            self.drop_taken();
            if self.ended {
                return;
            }
            self.fill();
        }
    }
}

/// How much of a full buffer makes a block.
fn cut_of(text: &[u8], heads: Heads) -> (usize, Cut) {
    let Some(last) = memchr::memrchr(b'\n', text) else { return (text.len(), Cut::WithinLine) };
    let mut end = last;
    for _ in 0..LINES_BACK {
        let before = text.get(..end).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        if start == 0 {
            break;
        }
        if text.get(start..end).is_some_and(|line| heads.is_head(line)) {
            return (start, Cut::BetweenRecords);
        }
        end = start - 1;
    }
    (last + 1, Cut::WithinRecord)
}

#[cfg(test)]
mod tests;
