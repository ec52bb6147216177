//! Lines of logs: where a time is found, it lies within the line and does not hang on what follows it; a line that has a
//! time is a head; the message stands in the line.

use jiff::Timestamp;
use jiff::tz::Offset;
use warrant_toolbox::tools::sources::logs::record::{Heads, parse};
use warrant_toolbox::tools::sources::logs::stamp::{Zone, from_number, from_text, leading};

/// Tries the laws.
pub fn run(data: &[u8]) {
    let line = data.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let latest: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
    let zone = Zone { offset: Offset::UTC, latest };
    if let Some((stamp, end)) = leading(line) {
        assert!(end <= line.len());
        let settled = zone.settle(stamp);
        assert!(Heads::Timed.is_head(line));
        let (again, same_end) = leading(&line[..end]).unwrap_or((stamp, end));
        assert_eq!((zone.settle(again), same_end), (settled, end), "{:?}", String::from_utf8_lossy(line));
    }
    let head = parse(line);
    if head.stamp.is_some() {
        assert!(!line.is_empty());
    }
    for sample in [data, line] {
        let heads = Heads::of_sample(sample);
        let _any = heads.is_head(line);
    }
    let text = String::from_utf8_lossy(line);
    if let Some(stamp) = from_text(&text) {
        let _settled = zone.settle(stamp);
    }
    if let Ok(number) = text.trim().parse::<f64>() {
        let _stamp = from_number(number);
    }
}
