//! What is held in memory for an investigation, counted in bytes of JSON.
//!
//! Whatever a state keeps is counted when it comes; at [`MOST`] the investigation ends with what it has.

use std::io;

use serde::Serialize;
use warrant_kernel::domain::output::{Output, Rows};

/// Most bytes that an investigation holds of answers, results and decisions.
pub const MOST: usize = 64 << 20;

/// The size of a value as JSON.
#[must_use]
pub fn bytes(value: &impl Serialize) -> usize {
    struct Count(usize);

    impl io::Write for Count {
        fn write(&mut self, part: &[u8]) -> io::Result<usize> {
            self.0 = self.0.saturating_add(part.len());
            Ok(part.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut count = Count(0);
    // What can't be written can't be measured either, and counts as too much.
    serde_json::to_writer(&mut count, value).map_or(MOST, |()| count.0)
}

/// The size of a whole output, not yet cut.
#[must_use]
pub fn output(output: &Output) -> usize {
    let rows = match &output.rows {
        Rows::Lines(lines) => lines.iter().map(String::len).sum(),
        Rows::Items(items) => bytes(items),
    };
    rows.saturating_add(bytes(&output.summary))
}
