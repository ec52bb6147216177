//! Charts: the points of a piece of evidence as a PNG, with nothing drawn that is not in them.
//!
//! Pure: points in, bytes out, no file and no font of the machine. The picture bears numbers only; names stand in the words
//! beside it, since they are strangers' texts. Drawing takes some milliseconds of a core: do it on a blocking thread.

mod glyphs;

mod paint;

mod points;

pub use paint::{NoChart, draw};
pub use points::{Series, decisive, series_of};

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use warrant_kernel::domain::name::EvidenceId;

/// What a chart is drawn from.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// The evidence that the points are of.
    pub evidence: EvidenceId,
    /// What was asked, `rate(errors[1m])`.
    pub query: String,
    /// The series; at most eight are drawn.
    pub series: Vec<Series>,
    /// Moments that a report calls the cause; a line each.
    pub marks: Vec<Timestamp>,
}

/// A chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    /// The picture.
    pub png: Vec<u8>,
    /// What it shows, for those who can't see it and for the message beside it. A stranger's text.
    pub says: String,
}
