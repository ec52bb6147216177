//! Counts of two windows side by side: in all, by level and by message.

use std::cmp::Ordering;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use warrant_kernel::domain::time::rfc3339;
use warrant_kernel::redact::guard::first_chars;

use crate::analysis::change;
use crate::analysis::level::Level;
use crate::analysis::templates::Templates;
use crate::analysis::timeline::Timeline;
use crate::tools::sources::logs::Window;
use crate::tools::sources::logs::scan::Record;

/// Messages told apart; records of further ones are counted in all only.
const MOST_PATTERNS: usize = 2_000;
/// Patterns shown.
const MOST_ROWS: usize = 200;
/// Characters of an example.
const EXAMPLE: usize = 500;
/// Buckets in which a rise is looked for.
const BUCKETS: u16 = 3_600;
/// A message is seen near a rise within this part of the window.
const NEAR: i32 = 20;
/// A message is seen often when it is more than one in this many of all records of its level.
const OFTEN: u64 = 4;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Pair {
    now: u64,
    before: u64,
}

impl Pair {
    fn add(&mut self, is_now: bool) {
        if is_now {
            self.now += 1;
        } else {
            self.before += 1;
        }
    }

    fn json(self) -> Value {
        json!({ "now": self.now, "before": self.before })
    }
}

/// One pattern.
struct Seen {
    level: Level,
    counts: Pair,
    first: Timestamp,
    last: Timestamp,
    example: String,
    example_at: String,
}

/// Both windows, counted.
pub(super) struct Tally {
    window: Window,
    templates: Templates,
    seen: Vec<Seen>,
    records: Pair,
    errors: Pair,
    warnings: Pair,
    error_times: Timeline,
    warning_times: Timeline,
    untimed: u64,
}

impl Tally {
    pub(super) fn new(window: Window, both: Window) -> Self {
        Self {
            window,
            templates: Templates::new(MOST_PATTERNS),
            seen: Vec::new(),
            records: Pair::default(),
            errors: Pair::default(),
            warnings: Pair::default(),
            error_times: Timeline::new(both.from, both.to, BUCKETS),
            warning_times: Timeline::new(both.from, both.to, BUCKETS),
            untimed: 0,
        }
    }

    pub(super) fn add(&mut self, record: &Record<'_>) {
        let Some(time) = record.time else {
            self.untimed += 1;
            return;
        };
        let is_now = time >= self.window.from;
        self.records.add(is_now);
        match record.level {
            Level::Error => {
                self.errors.add(is_now);
                self.error_times.add(time);
            }
            Level::Warn => {
                self.warnings.add(is_now);
                self.warning_times.add(time);
            }
            Level::Info | Level::Debug | Level::Unknown => {}
        }
        let Some(id) = self.templates.add(record.level as u8, record.message) else { return };
        if let Some(seen) = self.seen.get_mut(id) {
            seen.counts.add(is_now);
            seen.first = seen.first.min(time);
            seen.last = seen.last.max(time);
        } else {
            let mut counts = Pair::default();
            counts.add(is_now);
            let text = String::from_utf8_lossy(record.text);
            let place = record.line.map_or_else(|| format!("@{}", record.offset), |line| format!(":{line}"));
            self.seen.push(Seen {
                level: record.level,
                counts,
                first: time,
                last: time,
                example: first_chars(&text, EXAMPLE).to_owned(),
                example_at: format!("{}{place}", record.file),
            });
        }
    }

    pub(super) fn summarise(&self, summary: &mut Map<String, Value>) {
        summary.insert("records".to_owned(), self.records.json());
        summary.insert("errors".to_owned(), self.errors.json());
        summary.insert("warnings".to_owned(), self.warnings.json());
        summary.insert("patterns_total".to_owned(), json!(self.seen.len()));
        summary
            .insert("new_patterns".to_owned(), json!(self.seen.iter().filter(|seen| seen.counts.before == 0).count()));
        let onset = self.onset(&self.error_times, Level::Error).map(|time| (time, "errors"));
        let onset = onset.or_else(|| self.onset(&self.warning_times, Level::Warn).map(|time| (time, "warnings")));
        summary.insert("onset".to_owned(), json!(onset.map(|(time, _)| rfc3339(time))));
        summary.insert("onset_of".to_owned(), json!(onset.map(|(_, what)| what)));
    }

    /// When records of the level began to rise.
    ///
    /// Counts tell it to within the records that came anyway. A message that is seen for the first time near that moment, and
    /// often from then on, tells it exactly.
    fn onset(&self, times: &Timeline, level: Level) -> Option<Timestamp> {
        let rise = times.first_in(change::onset(times.counts())?)?;
        let near = self.window.length().checked_div(NEAR).unwrap_or_default();
        let often = times.counts().iter().sum::<u64>() / OFTEN;
        self.seen
            .iter()
            .filter(|seen| seen.level == level && seen.counts.now + seen.counts.before > often)
            .map(|seen| seen.first)
            .filter(|first| first.duration_since(rise).abs() <= near)
            .min()
            .or(Some(rise))
    }

    pub(super) fn patterns(&self) -> u64 {
        self.seen.len() as u64
    }

    pub(super) fn left_out(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        if let Some(more @ 1..) = self.seen.len().checked_sub(MOST_ROWS) {
            reasons.push(format!("{more} patterns of the least change are not shown: narrow the window"));
        }
        if self.templates.overflow() > 0 {
            reasons.push(format!(
                "{} records of rare messages are counted in all but not by pattern: there are more than {MOST_PATTERNS} patterns",
                self.templates.overflow()
            ));
        }
        if self.untimed > 0 {
            reasons.push(format!(
                "{} records without a time could not be compared: see them with search_logs",
                self.untimed
            ));
        }
        reasons
    }

    /// The patterns, those first that say most about what changed.
    pub(super) fn rows(self) -> Vec<Value> {
        let mut patterns: Vec<(usize, Seen)> = self.seen.into_iter().enumerate().collect();
        patterns.sort_by(|left, right| by_importance(&left.1, &right.1));
        patterns.truncate(MOST_ROWS);
        let templates = self.templates;
        patterns.into_iter().map(|(id, seen)| row(templates.text(id).as_deref(), &seen)).collect()
    }
}

fn row(pattern: Option<&str>, seen: &Seen) -> Value {
    json!({
        "pattern": pattern,
        "level": seen.level,
        "now": seen.counts.now,
        "before": seen.counts.before,
        "new": seen.counts.before == 0,
        "first_seen": rfc3339(seen.first),
        "last_seen": rfc3339(seen.last),
        "at": seen.example_at,
        "example": seen.example,
    })
}

/// New errors first, then what grew most for its size, worse levels weighing more.
fn by_importance(left: &Seen, right: &Seen) -> Ordering {
    let is_new_error = |seen: &Seen| seen.level == Level::Error && seen.counts.before == 0;
    is_new_error(right)
        .cmp(&is_new_error(left))
        .then_with(|| growth(right).total_cmp(&growth(left)))
        .then_with(|| right.level.cmp(&left.level))
        .then_with(|| left.first.cmp(&right.first))
}

/// How far the count is from that of the window before, in standard deviations of a Poisson count.
#[expect(clippy::cast_precision_loss, reason = "counts of log records stay far below 2^52")]
fn growth(seen: &Seen) -> f64 {
    let (now, before) = (seen.counts.now as f64, seen.counts.before as f64);
    let weight = match seen.level {
        Level::Error => 3.0,
        Level::Warn => 2.0,
        Level::Info | Level::Debug | Level::Unknown => 1.0,
    };
    weight * (now - before) / (now + before + 1.0).sqrt()
}
