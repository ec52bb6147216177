use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use grep_regex::RegexMatcherBuilder;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::ReadError;

use super::{Order, Report, Scan};
use crate::tools::sources::logs::files::{Found, find};
use crate::tools::sources::logs::{Limits, Window};

const START: i64 = 1_796_036_400; // 2026-11-30T11:00:00Z

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(START + second).unwrap()
}

fn seconds(from: i64, to: i64) -> Window {
    Window { from: at(from), to: at(to) }
}

const ALL: Window = Window { from: Timestamp::MIN, to: Timestamp::MAX };

/// Small enough that a few kB show what it takes gigabytes for otherwise.
fn small() -> Limits {
    Limits {
        block: 512,
        fine: 256,
        record_bytes: 300,
        record_lines: 4,
        disorder: SignedDuration::from_secs(3),
        ..Limits::default()
    }
}

type Shown = (Option<i64>, Option<u64>, String);

fn scanned(found: &Found, window: Window, pattern: Option<&str>, limits: Limits) -> (Vec<Shown>, Report) {
    let cancel = CancellationToken::new();
    let matcher =
        pattern.map(|pattern| RegexMatcherBuilder::new().line_terminator(Some(b'\n')).build(pattern).unwrap());
    let mut scan = Scan::new(window, matcher.as_ref(), limits, &cancel);
    let mut shown = Vec::new();
    for log in &found.logs {
        scan.log(log, Order::OldestFirst, &mut |record| {
            let time = record.time.map(|time| time.as_second() - START);
            let mut text = String::from_utf8_lossy(record.text).into_owned();
            if let Some(hit) = record.hit {
                text = format!("{text} HIT {}", String::from_utf8_lossy(hit));
            }
            if record.more > 0 {
                text = format!("{text} +{}", record.more);
            }
            shown.push((time, record.line, text));
            ControlFlow::Continue(())
        })
        .unwrap();
    }
    (shown, scan.report())
}

fn open(dir: &Path) -> Found {
    find(dir, "app.log", Timestamp::MIN, 100).unwrap()
}

fn log_of(text: impl AsRef<[u8]>) -> (tempfile::TempDir, Found) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("app.log"), text).unwrap();
    let found = open(dir.path());
    (dir, found)
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    let mut text = lines.collect::<Vec<_>>().join("\n");
    text.push('\n');
    text
}

fn texts(shown: &[Shown]) -> Vec<&str> {
    shown.iter().map(|(_, _, text)| text.as_str()).collect()
}

#[test]
fn a_match_anywhere_in_a_record_shows_the_whole_record_once() {
    let text = "1796036400 a\n1796036401 failed\n\tat Pay.java\n\tat Pool.java\n1796036402 b\n";
    let (_dir, found) = log_of(text);
    for limits in [Limits::default(), small()] {
        let (shown, _) = scanned(&found, ALL, Some("java"), limits);
        assert_eq!(shown, [(Some(1), Some(2), "1796036401 failed\n\tat Pay.java\n\tat Pool.java".to_owned())]);
    }
}

#[test]
fn a_long_record_is_bounded_and_the_line_that_matched_still_shown() {
    let text =
        format!("1796036400 failed\n{}\tat Needle\n{}1796036402 b\n", "\tat x\n".repeat(40), "\tat y\n".repeat(5));
    let (_dir, found) = log_of(text);
    let limits = Limits { block: 64 << 10, ..small() };
    let (shown, _) = scanned(&found, ALL, Some("Needle"), limits);
    assert_eq!(texts(&shown), ["1796036400 failed\n\tat x\n\tat x\n\tat x HIT \tat Needle +263"]);
    // Larger than the buffer: the pieces that follow bear the record's time.
    let (shown, _) = scanned(&found, seconds(0, 1), Some("at y"), Limits { block: 64, ..small() });
    assert_eq!(shown[0].0, Some(0));
}

#[test]
fn rotated_files_are_read_in_order_plain_gzip_and_zstd() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("app.log.3.zst"), zstd::encode_all(&b"1796036400 one\n"[..], 1).unwrap()).unwrap();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(b"1796036410 two\n").unwrap();
    fs::write(path("app.log.2.gz"), gz.finish().unwrap()).unwrap();
    fs::write(path("app.log.1"), "1796036420 three\n").unwrap();
    fs::write(path("app.log"), "1796036430 four\n").unwrap();
    let found = open(dir.path());
    let (shown, report) = scanned(&found, ALL, Some("o|e"), small());
    assert_eq!(texts(&shown), ["1796036400 one", "1796036410 two", "1796036420 three", "1796036430 four"]);
    assert_eq!(report.files, ["app.log.3.zst", "app.log.2.gz", "app.log.1", "app.log"]);
    // What was rotated away before a file of the window began is not read.
    let (shown, report) = scanned(&found, seconds(25, 60), None, small());
    assert_eq!(
        (texts(&shown), report.files),
        (vec!["1796036430 four"], vec!["app.log.1".to_owned(), "app.log".to_owned()])
    );
}

#[test]
fn rs_01_decompression_ends_at_its_budget_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let text = "1796036400 a line that repeats\n".repeat(50_000);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gz.write_all(text.as_bytes()).unwrap();
    fs::write(dir.path().join("app.log.1.gz"), gz.finish().unwrap()).unwrap();
    let limits = Limits { decompressed: 100_000, ..Limits::default() };
    let (shown, report) = scanned(&open(dir.path()), ALL, Some("repeats"), limits);
    assert!(shown.len() > 3_000 && shown.len() < 3_300, "{}", shown.len());
    assert!(report.bytes <= 100_001);
    assert!(report.notes[0].contains("budget for decompression"), "{:?}", report.notes);
    let enough = Limits { decompressed: text.len() as u64, ..Limits::default() };
    assert!(scanned(&open(dir.path()), ALL, Some("repeats"), enough).1.notes.is_empty());
}

#[test]
fn of_a_corrupt_gzip_file_what_could_be_read_is_used() {
    let dir = tempfile::tempdir().unwrap();
    let text = lines((0..20_000).map(|n| format!("{} {:x} line", START + n, n * 7_919)));
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    let mut packed = gz.finish().unwrap();
    packed.truncate(packed.len() / 2);
    fs::write(dir.path().join("app.log.1.gz"), packed).unwrap();
    fs::write(dir.path().join("app.log.2.gz"), b"not gzip at all").unwrap();
    fs::write(dir.path().join("app.log"), "1796056400 live line\n").unwrap();
    let (shown, report) = scanned(&open(dir.path()), ALL, Some("line"), Limits::default());
    assert!(shown.len() > 1_000 && shown.len() < 20_000, "{}", shown.len());
    assert_eq!(shown.last().unwrap().2, "1796056400 live line");
    assert!(report.notes.iter().any(|note| note.contains("`app.log.1.gz` broke off after")), "{:?}", report.notes);
    assert!(report.notes.iter().any(|note| note.contains("`app.log.2.gz` was not read")), "{:?}", report.notes);
}

#[test]
fn rd_14_a_huge_line_is_passed_over_in_bounded_memory() {
    let mut text = b"1796036400 before\n1796036401 huge ".to_vec();
    text.resize(3_000_000, b'x');
    text.extend_from_slice(b"\n1796036402 after\n");
    let (_dir, found) = log_of(text);
    let (shown, report) = scanned(&found, ALL, Some(r".*[^A-Z]|[A-Z]"), small());
    assert_eq!(shown.len(), 3);
    assert!(shown[1].2.len() <= 310);
    assert_eq!(shown[2].2, "1796036402 after");
    assert!(report.notes[0].contains("1 lines are longer than 512 bytes"), "{:?}", report.notes);
}

#[test]
fn invalid_utf_8_and_nul_bytes_are_shown_lossily() {
    let (_dir, found) = log_of(b"1796036400 caf\xe9 \x00 closed\n1796036401 \xff\xfe\n");
    let (shown, _) = scanned(&found, ALL, Some("closed"), small());
    assert_eq!(texts(&shown), ["1796036400 caf\u{fffd} \0 closed"]);
}

#[test]
fn a_file_that_rotates_vanishes_or_shrinks_while_it_is_read_ends_nothing() {
    let (dir, found) = log_of("1796036400 a\n".repeat(5_000));
    fs::rename(dir.path().join("app.log"), dir.path().join("app.log.1")).unwrap();
    fs::write(dir.path().join("app.log"), "1796036500 new\n").unwrap();
    assert_eq!(
        scanned(&found, ALL, Some("a"), small()).0.len(),
        5_000,
        "an open file is read whatever its name is now"
    );
    fs::File::options().write(true).open(dir.path().join("app.log.1")).unwrap().set_len(13 * 10).unwrap();
    assert_eq!(scanned(&found, ALL, Some("a"), small()).0.len(), 10);
    fs::remove_file(dir.path().join("app.log.1")).unwrap();
    assert_eq!(scanned(&found, ALL, Some("a"), small()).0.len(), 10);
}

#[test]
fn a_file_without_times_is_read_line_by_line() {
    let (_dir, found) = log_of("started\nerror: no slot\n  at x\nlistening\n");
    let (shown, _) = scanned(&found, seconds(0, 1), Some("slot|listen"), small());
    assert_eq!(texts(&shown), ["error: no slot\n  at x", "listening"]);
    assert_eq!(shown[0].0, None);
}

#[test]
fn a_cancel_ends_the_work() {
    let (_dir, found) = log_of("1796036400 a\n".repeat(5_000));
    let cancel = CancellationToken::new();
    let mut scan = Scan::new(ALL, None, small(), &cancel);
    let mut seen = 0;
    let ended = scan.log(&found.logs[0], Order::NewestFirst, &mut |_| {
        seen += 1;
        cancel.cancel();
        ControlFlow::Continue(())
    });
    assert_eq!(ended, Err(ReadError::Cancelled));
    assert!(seen < 100);
}

#[test]
fn a_narrow_window_of_a_large_file_costs_the_window() {
    let text = lines((0..200_000).map(|n| format!("{}.{} request served", START + n / 20, n % 20)));
    let (_dir, found) = log_of(&text);
    let limits = Limits { disorder: SignedDuration::from_secs(2), fine: 4 << 10, ..Limits::default() };
    let (shown, report) = scanned(&found, seconds(5_000, 5_009), Some("served"), limits);
    assert_eq!(shown.len(), 181);
    assert!(report.bytes < 250_000, "{} of {} bytes", report.bytes, text.len());
}

/// A record: how far its time is behind the newest so far, how far time goes on, its continuation lines.
fn records() -> impl Strategy<Value = Vec<(i64, i64, Vec<String>)>> {
    prop::collection::vec(
        (0_i64..3, prop_oneof![8 => 0_i64..2, 1 => 5_i64..60], prop::collection::vec("\t[a-z]{0,40}", 0..4)),
        1..150,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn bisection_finds_what_a_full_scan_finds(
        records in records(), from in -10_i64..300, length in 0_i64..120, block in 64_usize..600, fine in 1_u64..400
    ) {
        let mut newest = 0;
        let mut text = String::new();
        let mut all = Vec::new();
        for (number, (behind, ahead, more)) in records.iter().enumerate() {
            newest += ahead;
            let time = (newest - behind).max(0);
            let mut record = format!("{} record {number}", START + time);
            for line in more {
                record.push('\n');
                record.push_str(line);
            }
            text.push_str(&record);
            text.push('\n');
            all.push((time, number));
        }
        let expected: Vec<_> = all.into_iter().filter(|(time, _)| (from..=from + length).contains(time)).collect();
        let (_dir, found) = log_of(&text);
        let limits = Limits { block, fine, ..small() };
        for pattern in [None, Some("record")] {
            let (shown, _) = scanned(&found, seconds(from, from + length), pattern, limits);
            let got: Vec<_> = shown
                .iter()
                .map(|(time, _, text)| {
                    let number = text.split([' ', '\n']).nth(2).unwrap().parse::<usize>().unwrap();
                    (time.unwrap(), number)
                })
                .collect();
            prop_assert_eq!(&got, &expected, "{:?}", pattern);
        }
    }
}
