//! Attacks on files that are written, by their numbers, and crashes between the steps.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::catalog::source::DirSource;
use crate::tools::workspace::held::MAX_FILE;
use crate::tools::workspace::path::RelPath;
use crate::tools::workspace::{OwnFiles, Workspaces};

const TEMPORARY: &str = ".warrant-test-A1.tmp";

struct Yard {
    outer: TempDir,
    root: Arc<Root>,
}

impl Yard {
    fn new(own: &[&str]) -> Self {
        let outer = tempfile::tempdir().unwrap();
        for dir in ["ws/conf", "ws-secret"] {
            fs::create_dir_all(outer.path().join(dir)).unwrap();
        }
        fs::write(outer.path().join("ws/conf/app.toml"), "inside").unwrap();
        fs::write(outer.path().join("ws-secret/app.toml"), "outside").unwrap();
        let own = OwnFiles::new(own.iter().map(|path| outer.path().join(path)));
        let sources = BTreeMap::from([("ws".parse().unwrap(), DirSource { dir: outer.path().join("ws") })]);
        let workspaces = Workspaces::open(&sources, own).unwrap();
        let root = Arc::clone(workspaces.roots().values().next().unwrap());
        Self { outer, root }
    }

    fn ws(&self, path: &str) -> PathBuf {
        self.outer.path().join("ws").join(path)
    }

    fn hold(&self, path: &str) -> Result<Held, &'static str> {
        let path = RelPath::parse(path).map_err(|_| "PATH")?;
        self.root.hold(&path).map_err(|error| match WriteError::from(error) {
            WriteError::Refused { reason, .. } | WriteError::Backend { reason, .. } => reason,
            WriteError::Unknown { .. } => "UNKNOWN",
        })
    }

    fn replace(&self, path: &str, content: &str) -> Result<(), String> {
        let held = self.hold(path)?;
        let staged = held.stage(TEMPORARY, content.as_bytes()).map_err(|error| error.to_string())?;
        staged.swap(&self.root).and_then(Swapped::settle).map_err(|error| error.to_string())
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.ws("conf"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn read(path: impl AsRef<std::path::Path>) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn fs_01_fs_02_a_path_that_leads_outside_is_not_written() {
    let yard = Yard::new(&[]);
    for path in ["../../etc/passwd", "/etc/passwd", "conf/../../ws-secret/app.toml", "./../ws-secret/app.toml"] {
        assert!(yard.replace(path, "x").is_err(), "{path}");
    }
    // A neighbour whose name begins like the root's is another directory.
    assert!(yard.replace("../ws-secret/app.toml", "x").is_err());
    assert_eq!(read(yard.outer.path().join("ws-secret/app.toml")), "outside");
}

#[test]
fn fs_03_fs_04_fs_05_no_link_is_written_through_wherever_it_leads() {
    let yard = Yard::new(&[]);
    symlink("app.toml", yard.ws("conf/inner.toml")).unwrap();
    symlink("../../ws-secret/app.toml", yard.ws("conf/outer.toml")).unwrap();
    symlink("conf", yard.ws("dir")).unwrap();
    symlink("../ws-secret", yard.ws("away")).unwrap();
    symlink("b", yard.ws("a")).unwrap();
    symlink("a", yard.ws("b")).unwrap();
    for n in 0..41 {
        symlink(format!("chain{n}"), yard.ws(&format!("chain{}", n + 1))).unwrap();
    }
    for path in ["conf/inner.toml", "conf/outer.toml", "dir/app.toml", "away/app.toml", "a", "chain41"] {
        assert_eq!(yard.hold(path).unwrap_err(), "LINK", "{path}");
    }
    assert_eq!(read(yard.outer.path().join("ws-secret/app.toml")), "outside");
}

/// A directory is swapped for a link, and for another directory, while a file in it is replaced again and again.
#[test]
fn fs_06_a_directory_that_is_swapped_for_a_link_is_never_written_through() {
    let rounds =
        std::env::var("WARRANT_TEST_RACE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(20_000);
    let yard = Yard::new(&[]);
    fs::rename(yard.ws("conf"), yard.ws("real")).unwrap();
    symlink("../ws-secret", yard.ws("link")).unwrap();
    let secret = yard.outer.path().join("ws-secret/app.toml");
    let done = AtomicBool::new(false);
    let (mut written, mut refused) = (0_u64, 0_u64);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..rounds {
                fs::rename(yard.ws("real"), yard.ws("dir")).unwrap();
                std::thread::yield_now();
                fs::rename(yard.ws("dir"), yard.ws("real")).unwrap();
                fs::rename(yard.ws("link"), yard.ws("dir")).unwrap();
                fs::rename(yard.ws("dir"), yard.ws("link")).unwrap();
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            match yard.replace("dir/app.toml", &format!("inside {written}")) {
                Ok(()) => written += 1,
                Err(_) => refused += 1,
            }
        }
    });
    assert!(written > 0 && refused > 0, "the race was not run: {written} writes, {refused} refusals");
    assert_eq!(read(&secret), "outside");
    assert_eq!(fs::read_dir(yard.outer.path().join("ws-secret")).unwrap().count(), 1, "nothing came in there");
    assert!(read(yard.ws("real/app.toml")).starts_with("inside"));
    assert_eq!(fs::read_dir(yard.ws("real")).unwrap().count(), 1, "nothing stayed behind");
}

#[test]
fn fs_04_a_linked_parent_is_not_written_through() {
    let yard = Yard::new(&[]);
    symlink("../ws-secret", yard.ws("away")).unwrap();
    assert_eq!(yard.replace("away/app.toml", "x").unwrap_err(), "LINK");
    assert_eq!(yard.replace("away/new.toml", "x").unwrap_err(), "LINK");
    assert_eq!(read(yard.outer.path().join("ws-secret/app.toml")), "outside");
    assert!(!yard.outer.path().join("ws-secret/new.toml").exists());
}

#[test]
fn fs_08_no_mount_and_no_magic_link_is_written_through() {
    let yard = Yard::new(&[]);
    let proc = Root::open("proc".parse().unwrap(), std::path::Path::new("/proc/self"), Arc::default()).unwrap();
    for path in ["root/etc/hostname", "fd/0", "cwd/Cargo.toml"] {
        assert!(matches!(
            proc.hold(&RelPath::parse(path).unwrap()),
            Err(crate::tools::workspace::held::HoldError::Link(_))
        ));
    }
    // Nor is a mount that lies beneath the root.
    let top = Root::open("top".parse().unwrap(), std::path::Path::new("/"), Arc::default()).unwrap();
    assert!(top.hold(&RelPath::parse("proc/self/comm").unwrap()).is_err());
    drop(yard);
}

#[test]
fn fs_09_only_regular_files_with_one_name_are_written() {
    let yard = Yard::new(&[]);
    rustix::fs::mknodat(rustix::fs::CWD, yard.ws("fifo"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let _listener = UnixListener::bind(yard.ws("socket")).unwrap();
    for path in ["fifo", "socket", "conf", ""] {
        assert_eq!(yard.hold(path).unwrap_err(), "NOT_A_REGULAR_FILE", "{path}");
    }
    let devices = Root::open("dev".parse().unwrap(), std::path::Path::new("/dev"), Arc::default()).unwrap();
    assert!(devices.hold(&RelPath::parse("zero").unwrap()).is_err());
    fs::hard_link(yard.ws("conf/app.toml"), yard.ws("second")).unwrap();
    assert_eq!(yard.hold("conf/app.toml").unwrap_err(), "HARD_LINK");
    fs::write(yard.ws("big"), vec![b'x'; usize::try_from(MAX_FILE).unwrap() + 1]).unwrap();
    assert_eq!(yard.hold("big").unwrap_err(), "TOO_LARGE");
}

#[test]
fn fs_10_disguised_paths_are_not_written() {
    let yard = Yard::new(&[]);
    let long = "a".repeat(5_000);
    for path in ["app\0.toml", "%2e%2e/ws-secret/app.toml", "..\u{2215}x", "conf /app.toml", "conf/app.toml.", &long] {
        assert_eq!(yard.hold(path).unwrap_err(), "PATH", "{path:?}");
    }
}

#[test]
fn fs_11_fs_12_protected_files_are_neither_changed_nor_made() {
    let yard = Yard::new(&[]);
    fs::create_dir_all(yard.ws("conf/.git/hooks")).unwrap();
    for path in ["conf/.git/hooks/pre-commit", "conf/.ENV", "conf/.Env.local", "conf/ID_RSA", "conf/server.KEY"] {
        assert_eq!(yard.hold(path).unwrap_err(), "PROTECTED_FILE", "{path}");
        assert!(!yard.ws(path).exists());
    }
    assert_eq!(yard.hold("conf/new.toml").unwrap_err(), "NOT_FOUND");
}

#[test]
fn fs_12_a_protected_file_that_is_not_there_is_not_made() {
    let yard = Yard::new(&["ws/warrant.toml", "ws/policies"]);
    fs::create_dir_all(yard.ws("conf/.git/hooks")).unwrap();
    for path in ["conf/.git/hooks/pre-commit", "conf/.env"] {
        assert_eq!(yard.hold(path).unwrap_err(), "PROTECTED_FILE", "{path}");
    }
    for path in ["conf/.git/hooks/pre-commit", "conf/.env", "warrant.toml", "policies/all.cedar", "conf/any.toml"] {
        assert!(yard.replace(path, "x").is_err(), "{path}");
        assert!(!yard.ws(path).exists(), "{path}");
    }
}

#[test]
fn fs_14_own_files_are_not_written_by_whatever_path() {
    let yard = Yard::new(&["ws/warrant.toml", "ws/policies", "ws/store.db"]);
    fs::create_dir(yard.ws("policies")).unwrap();
    for path in ["warrant.toml", "policies/writes.cedar", "store.db", "store.db-wal"] {
        fs::write(yard.ws(path), "own").unwrap();
        assert_eq!(yard.hold(path).unwrap_err(), "PROTECTED_FILE", "{path}");
    }
    // The same directory as another root's path, as a bind mount makes it: known by what it is and not by its name.
    let own = OwnFiles::new([yard.ws("policies"), yard.ws("store.db")]);
    let identity = |path: PathBuf| {
        let facts = rustix::fs::stat(path).unwrap();
        (facts.st_dev, facts.st_ino)
    };
    let (policies, top) = (identity(yard.ws("policies")), identity(yard.ws("")));
    assert!(own.holds_identity(&[policies], "writes.cedar".as_ref(), (0, 0)));
    assert!(own.holds_identity(&[top], "store.db-wal".as_ref(), (0, 0)));
    assert!(own.holds_identity(&[(0, 0)], "other".as_ref(), identity(yard.ws("store.db"))));
    assert!(!own.holds_identity(&[top], "app.toml".as_ref(), (0, 0)));
}

#[test]
fn fs_15_what_somebody_else_puts_in_place_between_the_looks_stays() {
    let yard = Yard::new(&[]);
    // Before the last look.
    let held = yard.hold("conf/app.toml").unwrap();
    let staged = held.stage(TEMPORARY, b"ours").unwrap();
    fs::write(yard.ws("conf/app.toml"), "theirs").unwrap();
    assert!(matches!(staged.swap(&yard.root), Err(ReplaceError::Changed(_))));
    // After it, in the same instant as the exchange: what comes out is not what was held.
    let held = yard.hold("conf/app.toml").unwrap();
    let staged = held.stage(TEMPORARY, b"ours").unwrap();
    fs::write(yard.ws("conf/new"), "a whole new file").unwrap();
    fs::rename(yard.ws("conf/new"), yard.ws("conf/app.toml")).unwrap();
    rustix::fs::renameat_with(&held.dir, TEMPORARY, &held.dir, "app.toml", RenameFlags::EXCHANGE).unwrap();
    assert!(matches!(staged.look_at_displaced(), Err(ReplaceError::Changed(_))));
    assert_eq!(read(yard.ws("conf/app.toml")), "a whole new file");
    // A link or a directory in its place is put back as well.
    let held = yard.hold("conf/app.toml").unwrap();
    let staged = held.stage(TEMPORARY, b"ours").unwrap();
    fs::remove_file(yard.ws("conf/app.toml")).unwrap();
    symlink("../../ws-secret/app.toml", yard.ws("conf/app.toml")).unwrap();
    rustix::fs::renameat_with(&held.dir, TEMPORARY, &held.dir, "app.toml", RenameFlags::EXCHANGE).unwrap();
    assert!(matches!(staged.look_at_displaced(), Err(ReplaceError::Changed(_))));
    assert!(yard.ws("conf/app.toml").is_symlink());
    assert_eq!(yard.names(), ["app.toml"]);
}

#[test]
fn fs_20_after_a_crash_at_any_step_the_file_is_the_old_one_or_the_new_one() {
    let yard = Yard::new(&[]);
    let path = yard.ws("conf/app.toml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let before = fs::metadata(&path).unwrap();
    let same = || {
        let now = fs::metadata(&path).unwrap();
        (now.mode(), now.uid(), now.gid()) == (before.mode(), before.uid(), before.gid())
    };
    // Created, and partly written.
    fs::write(yard.ws("conf/.warrant-other-A1.tmp"), "in").unwrap();
    assert_eq!((read(&path).as_str(), same()), ("inside", true));
    // Staged: the step returned, and nothing after it ran.
    let held = yard.hold("conf/app.toml").unwrap();
    let staged = held.stage(TEMPORARY, b"new").unwrap();
    drop(staged);
    assert_eq!((read(&path).as_str(), same()), ("inside", true));
    assert_eq!(read(yard.ws("conf").join(TEMPORARY)), "new");
    assert_eq!(fs::metadata(yard.ws("conf").join(TEMPORARY)).unwrap().mode(), before.mode());
    // The same plan can't be staged twice over what a crash left.
    assert!(matches!(held.stage(TEMPORARY, b"new"), Err(ReplaceError::Before { .. })));
    fs::remove_file(yard.ws("conf").join(TEMPORARY)).unwrap();
    // Swapped, not settled.
    let swapped = held.stage(TEMPORARY, b"new").unwrap().swap(&yard.root).unwrap();
    drop(swapped);
    assert_eq!((read(&path).as_str(), same()), ("new", true));
    fs::remove_file(yard.ws("conf").join(TEMPORARY)).unwrap();
    // Settled.
    yard.replace("conf/app.toml", "newer").unwrap();
    assert_eq!((read(&path).as_str(), same()), ("newer", true));
}

#[test]
fn a_directory_that_may_not_be_written_refuses_and_changes_nothing() {
    let yard = Yard::new(&[]);
    let held = yard.hold("conf/app.toml").unwrap();
    fs::create_dir(yard.ws("conf").join(TEMPORARY)).unwrap();
    let error = WriteError::from(held.stage(TEMPORARY, b"x").unwrap_err());
    assert!(matches!(error, WriteError::Backend { reason: "FILE_ERROR", .. }), "{error:?}");
    assert_eq!(read(yard.ws("conf/app.toml")), "inside");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn fs_20_any_mode_and_content_is_kept(mode in 0_u32..0o10000, old in proptest::collection::vec(any::<u8>(), 0..200), new in proptest::collection::vec(any::<u8>(), 0..200)) {
        let yard = Yard::new(&[]);
        let path = yard.ws("conf/app.toml");
        fs::write(&path, &old).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode | 0o400)).unwrap();
        let mode = fs::metadata(&path).unwrap().mode();
        let held = yard.hold("conf/app.toml").unwrap();
        prop_assert_eq!(held.bytes(), &*old);
        held.stage(TEMPORARY, &new).unwrap().swap(&yard.root).unwrap().settle().unwrap();
        prop_assert_eq!(fs::read(&path).unwrap(), new);
        prop_assert_eq!(fs::metadata(&path).unwrap().mode(), mode);
    }
}
