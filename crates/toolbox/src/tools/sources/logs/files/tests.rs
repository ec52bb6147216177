use std::fs;
use std::os::unix::fs::symlink;

use jiff::Timestamp;

use super::find;

fn names(dir: &std::path::Path, pattern: &str) -> (Vec<Vec<String>>, Vec<String>) {
    let found = find(dir, pattern, Timestamp::MIN, 100).unwrap();
    let logs = found.logs.into_iter().map(|log| log.files.into_iter().map(|file| file.name).collect()).collect();
    (logs, found.notes)
}

#[test]
fn a_log_and_its_rotated_neighbours_are_found_oldest_first() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("shop")).unwrap();
    for name in ["app.log", "app.log.1", "app.log.2.gz", "app.log-20261101.zst", "other.log"] {
        fs::write(dir.path().join("shop").join(name), "x").unwrap();
    }
    let (logs, notes) = names(dir.path(), "shop/app.log");
    assert_eq!(logs, [["shop/app.log-20261101.zst", "shop/app.log.2.gz", "shop/app.log.1", "shop/app.log"]]);
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(names(dir.path(), "shop/*.log").0.len(), 2);
}

#[test]
fn fs_03_links_lead_beneath_the_directory_only() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.log"), "x").unwrap();
    fs::write(dir.path().join("real.log"), "x").unwrap();
    symlink(outside.path().join("secret.log"), dir.path().join("app.log")).unwrap();
    symlink("real.log", dir.path().join("app.log.1")).unwrap();
    let (logs, notes) = names(dir.path(), "app.log");
    assert_eq!(logs, [["app.log.1"]]);
    assert!(notes[0].contains("`app.log` was not read"), "{notes:?}");
    assert!(find(dir.path(), "../secret.log", Timestamp::MIN, 100).is_err());
}

#[test]
fn fs_09_a_pipe_is_not_opened() {
    let dir = tempfile::tempdir().unwrap();
    #[expect(clippy::disallowed_methods, reason = "nothing in the standard library makes a fifo")]
    let made = std::process::Command::new("mkfifo").arg(dir.path().join("app.log")).status().unwrap();
    assert!(made.success());
    let (logs, notes) = names(dir.path(), "app.log");
    assert!(logs.is_empty());
    assert!(notes[0].contains("not a regular file"), "{notes:?}");
}

#[test]
fn a_file_with_two_names_is_read_once() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("app-2026-11-30.log"), "x").unwrap();
    symlink("app-2026-11-30.log", dir.path().join("app.log")).unwrap();
    let (logs, _) = names(dir.path(), "app.log");
    assert_eq!(logs.concat().len(), 1);
}

#[test]
fn files_not_written_to_since_are_not_opened_but_known() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("app.log"), "x").unwrap();
    let found = find(dir.path(), "app.log", Timestamp::MAX, 100).unwrap();
    assert_eq!((found.names, found.logs.len()), (1, 0));
}

#[test]
fn what_cannot_be_unpacked_and_what_is_too_many_is_told() {
    let dir = tempfile::tempdir().unwrap();
    for number in 1..=5 {
        fs::write(dir.path().join(format!("app.log.{number}")), "x").unwrap();
    }
    fs::write(dir.path().join("app.log.6.xz"), "x").unwrap();
    let found = find(dir.path(), "app.log", Timestamp::MIN, 3).unwrap();
    assert_eq!(found.logs[0].files.len(), 3);
    assert!(found.notes.iter().any(|note| note.contains("app.log.6.xz")), "{:?}", found.notes);
    assert!(found.notes.iter().any(|note| note.contains("2 older files")), "{:?}", found.notes);
}
