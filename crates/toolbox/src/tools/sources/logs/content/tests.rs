use std::fs;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::tz::Offset;

use super::{nature, offset_of};
use crate::tools::sources::logs::files::find;
use crate::tools::sources::logs::record::Heads;

const WRITTEN: u64 = 1_796_036_718; // 2026-11-30T11:05:18Z

fn written(text: &str) -> (tempfile::TempDir, super::LogFile) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("app.log");
    fs::write(&path, text).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(WRITTEN)).unwrap();
    let mut found = find(dir.path(), "app.log", Timestamp::MIN, 1).unwrap();
    let file = found.logs.remove(0).files.remove(0);
    (dir, file)
}

#[test]
fn local_time_is_told_by_the_time_of_modification() {
    let (_dir, berlin) = written("2026-11-30 11:00:00 a\n2026-11-30 12:05:17 b\n\tat x\n");
    assert_eq!(offset_of(&berlin), Some(Offset::constant(1)));
    assert_eq!(nature(&berlin, None).unwrap().first.unwrap().to_string(), "2026-11-30T10:00:00Z");
    let (_dir, india) = written("2026-11-30 16:35:15,500 a\n");
    assert_eq!(offset_of(&india), Some(Offset::from_seconds(19_800).unwrap()));
    let (_dir, utc) = written("2026-11-30 11:05:18 a\n");
    assert_eq!(offset_of(&utc), Some(Offset::UTC));
}

#[test]
fn times_that_do_not_fit_are_taken_for_utc() {
    for text in ["2026-11-30 11:17:18 a\n", "2026-11-29 09:05:18 a\n", "2026-11-30T12:05:18+01:00 a\n", "no time\n", ""]
    {
        let (_dir, file) = written(text);
        assert_eq!(nature(&file, None).unwrap().zone.offset, Offset::UTC, "{text}");
    }
}

#[test]
fn a_file_without_times_is_known_as_such() {
    let (_dir, file) = written("started\nlistening\n");
    let nature = nature(&file, None).unwrap();
    assert_eq!((nature.heads, nature.first), (Heads::Untimed, None));
}
