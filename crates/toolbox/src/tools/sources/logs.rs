//! Log files beneath a directory: the live file and its rotated neighbours, plain, gzip or zstd.
//!
//! Find the files with [`files::find`], then read them with [`scan::Scan`]: it picks the part of each file that a time window
//! needs, reads it in blocks of whole records and shows each record that matches. Everything is bounded by [`Limits`].
//!
//! | module | does |
//! |---|---|
//! | [`stamp`] | the time a line begins with |
//! | [`record`] | a line as the head of a record: time, level, message |
//! | [`rotation`] | which file names belong together, and in which order |
//! | [`files`] | opens them beneath the directory, regular files only |
//! | [`content`] | a file's text, decompressed within a budget; its beginning, its zone |
//! | [`bisect`] | the bytes of a plain file that hold a time window |
//! | [`block`] | reads text in blocks of whole records |
//! | [`scan`] | all of it together |

pub mod stamp;

pub mod record;

pub mod rotation;

pub mod files;

pub mod content;

pub mod bisect;

pub mod block;

pub mod scan;

use jiff::{SignedDuration, Timestamp};

/// A span of time, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its beginning.
    pub from: Timestamp,
    /// Its end.
    pub to: Timestamp,
}

impl Window {
    /// Whether `time` lies in it.
    #[must_use]
    pub fn holds(&self, time: Timestamp) -> bool {
        self.from <= time && time <= self.to
    }

    /// Its length.
    #[must_use]
    pub fn length(&self) -> SignedDuration {
        self.to.duration_since(self.from)
    }
}

/// What one call may cost at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that decompression may bring forth.
    pub decompressed: u64,
    /// Bytes of plain text and decompressed text read in all.
    pub read: u64,
    /// Bytes kept of one record.
    pub record_bytes: usize,
    /// Lines kept of one record.
    pub record_lines: usize,
    /// Bytes held at once; of a longer line only so much is looked at.
    pub block: usize,
    /// A part of a plain file smaller than this is read rather than bisected further.
    pub fine: u64,
    /// Files opened for one entry of the catalog, the newest first.
    pub files: usize,
    /// How far a record may stand from its place in the order of time.
    pub disorder: SignedDuration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            decompressed: 256 << 20,
            read: 8 << 30,
            record_bytes: 64 << 10,
            record_lines: 200,
            block: 256 << 10,
            fine: 64 << 10,
            files: 128,
            disorder: SignedDuration::from_secs(60),
        }
    }
}
