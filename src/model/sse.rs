//! Server-sent events, read within bounds: whatever a provider sends, memory stays small.
//!
//! Push the bytes as they come; whole events come out. An event that the end of the stream cuts never comes out.

use std::collections::VecDeque;

/// Most bytes of one line.
pub(super) const MAX_LINE: usize = 1 << 20;

/// Most bytes of one answer.
pub(super) const MAX_TOTAL: usize = 16 << 20;

/// A stream that is larger than any honest answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum TooLarge {
    /// One line.
    #[error("sent a line of more than {MAX_LINE} bytes")]
    Line,
    /// All of it.
    #[error("sent more than {MAX_TOTAL} bytes in one answer")]
    Total,
}

/// The parser. Fields other than `data` are of no use here: both providers repeat the kind of the event inside its data.
#[derive(Debug, Default)]
pub(super) struct Parser {
    line: Vec<u8>,
    data: Option<String>,
    total: usize,
    after_carriage_return: bool,
    began: bool,
}

impl Parser {
    /// Takes the next bytes; the data of each event that they complete goes to `events`.
    pub(super) fn push(&mut self, bytes: &[u8], events: &mut VecDeque<String>) -> Result<(), TooLarge> {
        self.total = self.total.saturating_add(bytes.len());
        if self.total > MAX_TOTAL {
            return Err(TooLarge::Total);
        }
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (text, end) = match piece.split_last() {
                Some((end @ (b'\n' | b'\r'), text)) => (text, Some(*end)),
                _ => (piece, None),
            };
            let second_half =
                end == Some(b'\n') && text.is_empty() && self.line.is_empty() && self.after_carriage_return;
            self.after_carriage_return = false;
            if second_half {
                continue;
            }
            if self.line.len() + text.len() > MAX_LINE {
                return Err(TooLarge::Line);
            }
            self.line.extend_from_slice(text);
            if let Some(end) = end {
                self.after_carriage_return = end == b'\r';
                self.line_done(events);
            }
        }
        Ok(())
    }

    fn line_done(&mut self, events: &mut VecDeque<String>) {
        let line = std::mem::take(&mut self.line);
        let mut text = String::from_utf8_lossy(&line);
        if !self.began {
            self.began = true;
            if let Some(rest) = text.strip_prefix('\u{feff}') {
                text = rest.to_owned().into();
            }
        }
        if text.is_empty() {
            events.extend(self.data.take());
            return;
        }
        let Some(value) = text.strip_prefix("data") else { return };
        let value = match value.strip_prefix(':') {
            Some(value) => value.strip_prefix(' ').unwrap_or(value),
            None if value.is_empty() => "",
            None => return,
        };
        match &mut self.data {
            Some(data) => {
                data.push('\n');
                data.push_str(value);
            }
            None => self.data = Some(value.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(chunks: &[&[u8]]) -> Vec<String> {
        let mut parser = Parser::default();
        let mut events = VecDeque::new();
        for chunk in chunks {
            parser.push(chunk, &mut events).unwrap();
        }
        events.into()
    }

    #[test]
    fn reads_every_line_ending_comments_and_other_fields() {
        let text = b"\xef\xbb\xbfevent: a\r\ndata: one\r\n\r\n: ping\n\ndata:two\ndata: more\nid: 3\n\ndata\r\rdatabase: x\n\n";
        assert_eq!(all(&[text]), ["one", "two\nmore", ""]);
    }

    #[test]
    fn lm_08_an_event_cut_by_the_end_never_comes_out() {
        assert!(all(&[b"data: {\"half\":"]).is_empty());
        assert!(all(&[b"data: {\"whole\":1}\n"]).is_empty());
    }

    #[test]
    fn lm_07_long_lines_and_endless_streams_are_refused() {
        let mut parser = Parser::default();
        let mut events = VecDeque::new();
        let chunk = vec![b'x'; 64 << 10];
        let refused_after = (0..1000).find(|_| parser.push(&chunk, &mut events) == Err(TooLarge::Line)).unwrap();
        assert_eq!(refused_after, MAX_LINE / chunk.len());

        let mut parser = Parser::default();
        let event = [b"data: ".as_slice(), &vec![b'x'; 64 << 10], b"\n\n"].concat();
        assert!((0..300).any(|_| parser.push(&event, &mut events) == Err(TooLarge::Total)));
    }

    proptest! {
        #[test]
        fn cuts_between_chunks_change_nothing(text in "(data: ?[a-zä]{0,6}|event: x|:|)((\r\n|\n|\r)(data: ?[a-zä]{0,6}|event: x|))*", at in 0usize..80) {
            let bytes = text.as_bytes();
            let at = at.min(bytes.len());
            let (left, right) = bytes.split_at(at);
            prop_assert_eq!(all(&[left, right]), all(&[bytes]));
        }
    }
}
