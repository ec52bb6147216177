//! Counts over equal buckets of time. Make one for a span, add times, read [`Timeline::counts`].

use jiff::{SignedDuration, Timestamp};

/// Counts over `[from, to]`, in buckets of the same width.
#[derive(Debug, Clone)]
pub struct Timeline {
    from: Timestamp,
    width: SignedDuration,
    counts: Vec<u64>,
    first: Vec<Option<Timestamp>>,
}

impl Timeline {
    /// A timeline of at most `buckets` buckets, none narrower than a second.
    #[must_use]
    pub fn new(from: Timestamp, to: Timestamp, buckets: u16) -> Self {
        let span = to.as_second().saturating_sub(from.as_second()).max(1);
        let buckets = i64::from(buckets.max(1));
        let width = (span + buckets - 1) / buckets;
        let count = usize::try_from(span / width + 1).unwrap_or(1);
        Self { from, width: SignedDuration::from_secs(width), counts: vec![0; count], first: vec![None; count] }
    }

    /// Counts one event at `time`; outside the span it is not counted.
    pub fn add(&mut self, time: Timestamp) {
        let Ok(bucket) = usize::try_from(time.as_second().saturating_sub(self.from.as_second()) / self.width.as_secs())
        else {
            return;
        };
        if let (Some(count), Some(first)) = (self.counts.get_mut(bucket), self.first.get_mut(bucket)) {
            *count += 1;
            *first = Some(first.map_or(time, |earlier| earlier.min(time)));
        }
    }

    /// How many events fell into each bucket.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The width of a bucket.
    #[must_use]
    pub fn width(&self) -> SignedDuration {
        self.width
    }

    /// The time of the first event in a bucket.
    #[must_use]
    pub fn first_in(&self, bucket: usize) -> Option<Timestamp> {
        self.first.get(bucket).copied().flatten()
    }
}
