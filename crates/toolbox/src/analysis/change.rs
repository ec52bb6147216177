//! Where a sustained rise in counts begins: the scan statistic of Kulldorff (1997) for Poisson counts over one dimension.
//!
//! Of all runs of buckets the one is taken whose counts are least likely under one constant rate. It finds a rise that
//! goes on as well as one that has ended, and asks for no window to learn a base rate from.

/// Below this log-likelihood ratio a rise may well be chance (p is about 0.01 after trying all runs of 240 buckets).
const LEAST_EVIDENCE: f64 = 9.0;
/// A rise that people would call one: at least this many times the rate outside of it.
const LEAST_RATIO: f64 = 2.0;
/// Fewer events than this are no rise.
const LEAST_EVENTS: u64 = 4;
/// Sustained: events stand in at least this many buckets of the run.
const LEAST_BUCKETS: usize = 2;
/// The search over runs is quadratic, so it works on at most this many coarse buckets and is refined afterwards.
const COARSE: usize = 240;

/// The index of the bucket in which a sustained rise begins, if there is one. What was there from the first bucket on is no rise.
#[must_use]
pub fn onset(counts: &[u64]) -> Option<usize> {
    let size = counts.len().div_ceil(COARSE).max(1);
    let coarse: Vec<u64> = counts.chunks(size).map(|chunk| chunk.iter().sum()).collect();
    let total: u64 = coarse.iter().sum();
    let (start, end, _) = best_run(&coarse, total)?;
    if start == 0 {
        return None;
    }
    let run_start = (start.saturating_sub(1)) * size;
    let run_end = (end * size).min(counts.len());
    let first = refine(counts, total, run_start, (start + 1) * size, run_end);
    let run = counts.get(first..run_end)?;
    let events: u64 = run.iter().sum();
    let busy = run.iter().filter(|count| **count > 0).count();
    let inside = ratio(events, run.len());
    let outside = ratio(total - events, counts.len() - run.len());
    let rises = events >= LEAST_EVENTS && busy >= LEAST_BUCKETS && inside >= LEAST_RATIO * outside;
    (rises && evidence(events, total, run.len(), counts.len()) >= LEAST_EVIDENCE).then_some(first)
}

fn best_run(counts: &[u64], total: u64) -> Option<(usize, usize, f64)> {
    let mut best: Option<(usize, usize, f64)> = None;
    for start in 0..counts.len() {
        let mut events = 0;
        for (end, count) in counts.iter().enumerate().skip(start) {
            events += count;
            let weight = evidence(events, total, end + 1 - start, counts.len());
            if best.is_none_or(|(_, _, heaviest)| weight > heaviest) {
                best = Some((start, end + 1, weight));
            }
        }
    }
    best
}

/// The fine bucket between `from` and `to` at which a run up to `end` is best begun.
fn refine(counts: &[u64], total: u64, from: usize, to: usize, end: usize) -> usize {
    let weight_of = |start: usize| {
        let events: u64 = counts.get(start..end).map_or(0, |run| run.iter().sum());
        evidence(events, total, end.saturating_sub(start), counts.len())
    };
    let candidates = (from..to.min(end)).filter(|start| counts.get(*start).is_some_and(|count| *count > 0));
    candidates
        .max_by(|left, right| weight_of(*left).total_cmp(&weight_of(*right)).then(right.cmp(left)))
        .unwrap_or(from)
}

#[expect(clippy::cast_precision_loss, reason = "counts of log records stay far below 2^52")]
fn ratio(events: u64, buckets: usize) -> f64 {
    events as f64 / buckets.max(1) as f64
}

/// The log-likelihood ratio of "this run has a higher rate" against "one rate everywhere"; zero where it is not higher.
#[expect(clippy::cast_precision_loss, reason = "counts of log records stay far below 2^52")]
fn evidence(events: u64, total: u64, run: usize, all: usize) -> f64 {
    let (inside, total) = (events as f64, total as f64);
    let expected = total * run as f64 / all.max(1) as f64;
    if inside <= expected || run >= all {
        return 0.0;
    }
    let rest = total - inside;
    let outside = if rest > 0.0 { rest * (rest / (total - expected)).ln() } else { 0.0 };
    inside * (inside / expected).ln() + outside
}

#[cfg(test)]
mod tests;
