//! The part of a file that holds a window of time: bisection finds every record that reading all of it finds, as long as
//! records stand as near to their place as it was told.

use std::io::Write as _;

use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};
use warrant_toolbox::tools::sources::logs::Window;
use warrant_toolbox::tools::sources::logs::bisect::Bisection;
use warrant_toolbox::tools::sources::logs::content::Nature;
use warrant_toolbox::tools::sources::logs::record::{Heads, parse};
use warrant_toolbox::tools::sources::logs::stamp::Zone;

use crate::input::Input;

/// How far a record may stand from its place.
const DISORDER: SignedDuration = SignedDuration::from_secs(60);

/// Tries the laws.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let begin: Timestamp = "2026-11-30T00:00:00Z".parse().unwrap();
    let second = |count: usize| begin + SignedDuration::from_secs(i64::try_from(count).unwrap());
    let (from, length, fine) = (input.below(7_200), input.below(3_600), 1 + u64::from(input.byte()));
    let window = Window { from: second(from), to: second(from + length) };
    let text = file(&mut input, &second);
    let zone = Zone { offset: Offset::UTC, latest: second(100_000) };
    let nature = Nature { heads: Heads::of_sample(&text), zone, first: None };

    let records = records(&text, &nature);
    let mut latest = Timestamp::MIN;
    for (_, time) in &records {
        // Not what it was told: nothing is promised.
        if latest.duration_since(*time) > DISORDER {
            return;
        }
        latest = latest.max(*time);
    }

    let mut on_disk = tempfile::tempfile().unwrap();
    on_disk.write_all(&text).unwrap();
    let size = text.len() as u64;
    let range = Bisection::new(&on_disk, size, nature).range(window, DISORDER, fine).unwrap();
    assert!(range.start <= range.end && range.end <= size, "{range:?} of {size}");
    for (at, time) in records.iter().filter(|(_, time)| window.holds(*time)) {
        assert!(range.contains(at), "the record at {at} of {time} is not in {range:?}");
    }
    assert!(range.start == 0 || text[usize::try_from(range.start).unwrap() - 1] == b'\n');
}

/// Lines with times that go on, between lines of any kind.
fn file(input: &mut Input<'_>, second: &impl Fn(usize) -> Timestamp) -> Vec<u8> {
    let (mut text, mut at) = (Vec::new(), 0_usize);
    while !input.is_empty() {
        match input.byte() {
            kind @ 0..200 => {
                at += usize::from(kind);
                let back = usize::from(input.byte() % 61).min(at);
                let length = usize::from(input.byte());
                writeln!(text, "{} INFO {}", second(at - back), "x".repeat(length)).unwrap();
            }
            kind => {
                let length = usize::from(input.byte()) % 40;
                let line = input.bytes(length);
                for _ in 0..=kind - 200 {
                    text.extend(line);
                    text.push(b'\n');
                }
            }
        }
    }
    text
}

/// All records with a time, and where they begin.
fn records(text: &[u8], nature: &Nature) -> Vec<(u64, Timestamp)> {
    let (mut found, mut at) = (Vec::new(), 0);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let trimmed = line.trim_ascii_end();
        let head = nature.heads.is_head(trimmed).then(|| parse(trimmed));
        let time = head.and_then(|head| head.stamp).and_then(|stamp| nature.zone.settle(stamp));
        found.extend(time.map(|time| (at, time)));
        at += line.len() as u64;
    }
    found
}
