//! Loading from directories.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use insta::assert_snapshot;
use tempfile::TempDir;

use super::Library;

fn directory(files: &[(&str, &str)]) -> TempDir {
    let dir = TempDir::new().unwrap();
    set_mode(dir.path(), 0o755);
    for (name, text) in files {
        let path = dir.path().join(name);
        let parent = path.parent().unwrap();
        if parent != dir.path() {
            fs::create_dir_all(parent).unwrap();
            set_mode(parent, 0o755);
        }
        fs::write(&path, text).unwrap();
        set_mode(&path, 0o644);
    }
    dir
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn load(dir: &TempDir) -> Library {
    Library::load(&[("disk.md", "# Built in"), ("pool.md", "# Pool")], &[dir.path().to_path_buf()])
}

fn ids(library: &Library) -> Vec<&str> {
    library.runbooks().iter().map(|runbook| runbook.id.as_str()).collect()
}

/// The problems, without the directory's changing name.
fn told(library: &Library, dir: &TempDir) -> String {
    let root = fs::canonicalize(dir.path()).unwrap();
    let lines: Vec<String> = library.problems().iter().map(ToString::to_string).collect();
    lines.join("\n").replace(root.to_str().unwrap(), "DIR").replace(dir.path().to_str().unwrap(), "DIR")
}

#[test]
fn files_of_a_directory_are_added_and_take_the_place_of_built_in_ones() {
    let dir = directory(&[
        ("disk.md", "# Ours"),
        ("storage/osd.md", "# OSD"),
        ("README.md", "about"),
        (".hidden.md", "no"),
        ("notes.txt", "no"),
    ]);
    let library = load(&dir);
    assert_eq!(ids(&library), ["disk", "pool", "storage/osd"]);
    assert_eq!(library.get("disk").unwrap().title, "Ours");
    assert_eq!(library.get("pool").unwrap().file, Path::new("runbooks/pool.md"));
    assert!(library.get("osd").is_none() && library.problems().is_empty());
    assert_eq!(library.nearest("storage/ods"), ["storage/osd"]);
    assert_eq!(library.nearest("DISC"), ["disk"]);
}

#[test]
fn pi_04_what_others_may_write_does_not_load() {
    let dir =
        directory(&[("group.md", "# G"), ("world.md", "# W"), ("good.md", "# Good"), ("open/inside.md", "# Inside")]);
    set_mode(&dir.path().join("group.md"), 0o664);
    set_mode(&dir.path().join("world.md"), 0o646);
    set_mode(&dir.path().join("open"), 0o777);
    let library = load(&dir);
    assert_eq!(ids(&library), ["disk", "good", "pool"]);
    assert_snapshot!(told(&library, &dir), @"
    DIR/group.md: others than its owner may write it (mode 664), so it is not loaded; run `chmod go-w` on it
    DIR/open: others than its owner may write it (mode 777), so it is not loaded; run `chmod go-w` on it
    DIR/world.md: others than its owner may write it (mode 646), so it is not loaded; run `chmod go-w` on it
    ");
    set_mode(dir.path(), 0o775);
    assert_eq!(ids(&load(&dir)), ["disk", "pool"]);
}

#[test]
fn pi_04_a_link_is_judged_by_what_it_leads_to() {
    let outside = directory(&[("evil.md", "# Evil")]);
    let dir = directory(&[("real.md", "# Real"), ("open.md", "# Open")]);
    set_mode(&dir.path().join("open.md"), 0o666);
    symlink(outside.path().join("evil.md"), dir.path().join("evil.md")).unwrap();
    symlink(outside.path(), dir.path().join("away")).unwrap();
    symlink("real.md", dir.path().join("alias.md")).unwrap();
    symlink("open.md", dir.path().join("opened.md")).unwrap();
    symlink("nowhere.md", dir.path().join("dangling.md")).unwrap();
    symlink(".", dir.path().join("round")).unwrap();
    let library = load(&dir);
    let loaded: Vec<&str> = ids(&library).into_iter().filter(|id| !id.contains("round")).collect();
    assert_eq!(loaded, ["alias", "disk", "pool", "real"]);
    let told = told(&library, &dir);
    for (file, message) in [
        ("away", "leads out"),
        ("evil.md", "leads out"),
        ("opened.md", "others than its owner"),
        ("dangling.md", "can't be read"),
    ] {
        let line = told.lines().find(|line| line.starts_with(&format!("DIR/{file}: ")));
        assert!(line.is_some_and(|line| line.contains(message)), "{file}: {told}");
    }
}

#[test]
fn one_bad_runbook_does_not_stop_the_others() {
    let dir = directory(&[("bad.md", "+++\ntitle = 1\n+++\n"), ("good.md", "# Good")]);
    fs::write(dir.path().join("bytes.md"), b"ok \xff").unwrap();
    fs::write(dir.path().join("long.md"), "x".repeat(300_000)).unwrap();
    for name in ["bytes.md", "long.md"] {
        set_mode(&dir.path().join(name), 0o644);
    }
    let library = load(&dir);
    assert_eq!(ids(&library), ["disk", "good", "pool"]);
    assert_snapshot!(told(&library, &dir), @"
    DIR/bad.md:2: invalid type: integer `1`, expected a string
    DIR/bytes.md: byte 4 is not UTF-8; save the file as UTF-8
    DIR/long.md: the file is longer than 262144 bytes; split it
    ");
}

#[test]
fn a_directory_that_is_not_there_and_an_id_that_is_taken_are_told() {
    let (one, two) = (directory(&[("same.md", "# One")]), directory(&[("same.md", "# Two")]));
    let missing = one.path().join("missing");
    let library = Library::load(&[], &[one.path().to_path_buf(), two.path().to_path_buf(), missing]);
    assert_eq!(library.get("same").unwrap().title, "One");
    let told = told(&library, &one);
    assert!(told.contains("DIR/missing: the runbook directory can't be read"), "{told}");
    assert!(told.contains("`same` is loaded from DIR/same.md already; rename one"), "{told}");
}
