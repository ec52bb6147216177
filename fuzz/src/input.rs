//! What a fuzzer made, taken apart: bytes first, text last.

/// An input, read from its beginning. What is read past its end is zero or empty.
pub struct Input<'d>(&'d [u8]);

impl<'d> Input<'d> {
    /// All of it.
    #[must_use]
    pub fn new(data: &'d [u8]) -> Self {
        Self(data)
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// A number below `end`, from two bytes.
    pub fn below(&mut self, end: usize) -> usize {
        let number = usize::from(self.byte()) << 8 | usize::from(self.byte());
        if end == 0 { 0 } else { number % end }
    }

    /// The next so many bytes.
    pub fn bytes(&mut self, count: usize) -> &'d [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// What is left, up to a byte that no text holds.
    pub fn text(&mut self) -> String {
        let end = self.0.iter().position(|byte| *byte == 0xff).unwrap_or(self.0.len());
        let taken = self.bytes(end);
        self.byte();
        String::from_utf8_lossy(taken).into_owned()
    }

    /// All that is left.
    #[must_use]
    pub fn rest(self) -> &'d [u8] {
        self.0
    }
}
