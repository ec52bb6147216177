//! Attacks on paths, by their numbers, and the law: what is opened lies beneath the root, or it is refused.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::path::PathError;
use super::protected::is_protected;
use super::root::{FileError, Opened};
use super::walk::walk;
use super::*;

struct Yard {
    outer: TempDir,
    workspaces: Workspaces,
}

impl Yard {
    /// `ws` is the root; `ws-secret` beside it and `secret` above hold what must not be seen.
    fn new(own: &[&str]) -> Self {
        let outer = tempfile::tempdir().unwrap();
        for dir in ["ws/conf", "ws-secret"] {
            fs::create_dir_all(outer.path().join(dir)).unwrap();
        }
        fs::write(outer.path().join("ws/conf/app.toml"), "inside").unwrap();
        fs::write(outer.path().join("secret"), "outside").unwrap();
        fs::write(outer.path().join("ws-secret/x"), "outside").unwrap();
        let own = OwnFiles::new(own.iter().map(|path| outer.path().join(path)));
        let sources = BTreeMap::from([("ws".parse().unwrap(), DirSource { dir: outer.path().join("ws") })]);
        let workspaces = Workspaces::open(&sources, own).unwrap();
        Self { outer, workspaces }
    }

    fn open(&self, text: &str) -> Result<Opened, String> {
        let place = self.workspaces.place("path", text).map_err(|problem| problem.message)?;
        place.root.file(&place.path).map_err(|error| match ReadError::from(error) {
            ReadError::Invalid { reason, .. } | ReadError::Backend { reason, .. } => reason.to_owned(),
            ReadError::Cancelled => "cancelled".to_owned(),
        })
    }

    fn read(&self, text: &str) -> Result<String, String> {
        let mut content = String::new();
        self.open(text)?.file.read_to_string(&mut content).map_err(|error| error.to_string())?;
        Ok(content)
    }

    fn link(&self, target: &str, at: &str) {
        symlink(target, self.outer.path().join("ws").join(at)).unwrap();
    }
}

#[test]
fn a_file_beneath_the_root_is_read_by_either_form_of_its_path() {
    let yard = Yard::new(&[]);
    for path in ["conf/app.toml", "ws:conf/app.toml", "./conf//app.toml"] {
        assert_eq!(yard.read(path).unwrap(), "inside", "{path}");
    }
    assert_eq!(yard.read("conf/none.toml").unwrap_err(), "NOT_FOUND");
}

#[test]
fn fs_01_upward_and_absolute_paths_are_refused() {
    let yard = Yard::new(&[]);
    for path in ["../secret", "ws:../secret", "conf/../../secret", "./../secret", "conf/..", ".."] {
        assert!(yard.open(path).unwrap_err().contains("`..`"), "{path}");
    }
    for path in ["/etc/passwd", "ws:/etc/passwd", "//etc/passwd"] {
        assert!(yard.open(path).unwrap_err().contains("absolute"), "{path}");
    }
}

#[test]
fn fs_02_a_neighbour_that_shares_the_name_is_not_beneath() {
    let yard = Yard::new(&[]);
    let absolute = yard.outer.path().join("ws-secret/x");
    for path in [absolute.to_str().unwrap(), "../ws-secret/x", "-secret/x", "ws-secret:x"] {
        assert!(yard.read(path).is_err(), "{path}");
    }
    yard.link("../ws-secret/x", "x");
    assert_eq!(yard.read("x").unwrap_err(), "OUTSIDE_WORKSPACE");
}

#[test]
fn fs_03_links_are_followed_beneath_the_root_only() {
    let yard = Yard::new(&[]);
    yard.link("conf/app.toml", "good");
    yard.link("/etc/shadow", "absolute");
    yard.link("../secret", "upward");
    yard.link("..", "parent");
    yard.link("conf/../../secret", "around");
    assert_eq!(yard.read("good").unwrap(), "inside");
    for path in ["absolute", "upward", "parent/secret", "around"] {
        assert_eq!(yard.read(path).unwrap_err(), "OUTSIDE_WORKSPACE", "{path}");
    }
}

#[test]
fn fs_03_a_link_to_a_protected_file_is_as_protected_as_the_file() {
    let yard = Yard::new(&["ws/warrant.toml"]);
    for (name, content) in [(".env", "TOKEN=1"), ("warrant.toml", "own")] {
        fs::write(yard.outer.path().join("ws").join(name), content).unwrap();
    }
    yard.link(".env", "notes.txt");
    yard.link("notes.txt", "twice.txt");
    yard.link("warrant.toml", "readme.txt");
    for path in [".env", "notes.txt", "twice.txt", "readme.txt", "warrant.toml"] {
        assert_eq!(yard.read(path).unwrap_err(), "PROTECTED_FILE", "{path}");
    }
}

#[test]
fn fs_05_loops_and_long_chains_of_links_are_refused() {
    let yard = Yard::new(&[]);
    yard.link("b", "a");
    yard.link("a", "b");
    yard.link("conf/app.toml", "link0");
    for n in 1..=41 {
        yard.link(&format!("link{}", n - 1), &format!("link{n}"));
    }
    assert_eq!(yard.read("link3").unwrap(), "inside");
    for path in ["a", "link41"] {
        assert_eq!(yard.read(path).unwrap_err(), "TOO_MANY_LINKS", "{path}");
    }
}

/// Rounds of a race: as many as asked for, and on a busy machine more, until both sides have met.
fn swaps(rounds: u32, met: &AtomicBool) -> impl Iterator<Item = u32> {
    (0..rounds.saturating_mul(1_000)).take_while(move |&round| round < rounds || !met.load(Ordering::Acquire))
}

#[test]
fn fs_06_a_directory_that_is_swapped_for_a_link_never_leads_outside() {
    let yard = Yard::new(&[]);
    let ws = yard.outer.path().join("ws");
    fs::create_dir(ws.join("real")).unwrap();
    fs::write(ws.join("real/x"), "inside").unwrap();
    symlink("../ws-secret", ws.join("link")).unwrap();
    let rounds = std::env::var("WARRANT_TEST_RACE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(2_000);
    let done = AtomicBool::new(false);
    let (mut inside, mut refused) = (0, 0);
    let met = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in swaps(rounds, &met) {
                fs::rename(ws.join("real"), ws.join("dir")).unwrap();
                fs::rename(ws.join("dir"), ws.join("real")).unwrap();
                fs::rename(ws.join("link"), ws.join("dir")).unwrap();
                fs::rename(ws.join("dir"), ws.join("link")).unwrap();
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            match yard.read("dir/x") {
                Ok(content) => {
                    assert_eq!(content, "inside");
                    inside += 1;
                }
                Err(_) => refused += 1,
            }
            met.store(inside > 0 && refused > 0, Ordering::Release);
        }
    });
    assert!(inside > 0 && refused > 0, "the race was not run: {inside} reads, {refused} refusals");
}

#[test]
fn fs_06_a_walk_never_follows_a_directory_that_is_swapped_for_a_link() {
    let yard = Yard::new(&[]);
    let ws = yard.outer.path().join("ws");
    fs::create_dir_all(ws.join("real/deep")).unwrap();
    fs::write(ws.join("real/deep/x"), "inside").unwrap();
    // Behind the link lie names that lie nowhere beneath the root, at both depths.
    fs::create_dir_all(yard.outer.path().join("ws-secret/deep")).unwrap();
    fs::write(yard.outer.path().join("ws-secret/deep/taken"), "outside").unwrap();
    symlink("../ws-secret", ws.join("link")).unwrap();
    let rounds = std::env::var("WARRANT_TEST_RACE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1_000);
    let (done, cancel) = (AtomicBool::new(false), CancellationToken::new());
    let (mut inside, mut walks, met) = (0, 0, AtomicBool::new(false));
    let root = yard.workspaces.place("path", "").unwrap().root;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in swaps(rounds, &met) {
                // The parent of what is walked into, and the directory itself.
                fs::rename(ws.join("real"), ws.join("dir")).unwrap();
                fs::rename(ws.join("dir"), ws.join("real")).unwrap();
                fs::rename(ws.join("link"), ws.join("dir")).unwrap();
                fs::rename(ws.join("dir"), ws.join("link")).unwrap();
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            walks += 1;
            walk(&root, &RelPath::parse("").unwrap(), 8, &cancel, &mut |entry| {
                assert!(!entry.path.contains("taken"), "{}", entry.path);
                inside += usize::from(entry.path == "dir/deep/x");
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
            met.store(walks > 10 && inside > 0, Ordering::Release);
            // Beginning at the directory itself, which may be the link by then.
            let Ok(dir) = RelPath::parse("dir") else { continue };
            let _refused_or_walked = walk(&root, &dir, 8, &cancel, &mut |entry| {
                assert!(!entry.path.contains("taken"), "{}", entry.path);
                std::ops::ControlFlow::Continue(())
            });
        }
    });
    assert!(walks > 10 && inside > 0, "the race was not run: {walks} walks, {inside} times inside");
}

#[test]
fn fs_08_the_process_file_system_is_no_way_out() {
    let yard = Yard::new(&[]);
    yard.link("/proc/self/root/etc/hostname", "magic");
    yard.link("/dev/fd/0", "descriptor");
    for path in ["/proc/self/root/etc/shadow", "/proc/self/fd/3", "/dev/fd/3", "magic", "descriptor"] {
        assert!(yard.read(path).is_err(), "{path}");
    }
    // Even where the root is the process file system itself, its magic links lead nowhere.
    let own = Arc::new(OwnFiles::default());
    let root = Root::open("proc".parse().unwrap(), std::path::Path::new("/proc/self"), own).unwrap();
    assert!(root.file(&RelPath::parse("root/etc/hostname").unwrap()).is_err());
    assert!(root.file(&RelPath::parse("fd/0").unwrap()).is_err());
}

#[test]
fn fs_09_only_regular_files_are_read() {
    let yard = Yard::new(&[]);
    let ws = yard.outer.path().join("ws");
    let place = rustix::fs::CWD;
    rustix::fs::mknodat(place, ws.join("fifo"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let _listener = UnixListener::bind(ws.join("socket")).unwrap();
    // Nobody writes into the FIFO: an open that waited for that would hang here.
    for path in ["fifo", "socket", "conf"] {
        assert_eq!(yard.read(path).unwrap_err(), "NOT_A_REGULAR_FILE", "{path}");
    }
    let own = Arc::new(OwnFiles::default());
    let devices = Root::open("dev".parse().unwrap(), std::path::Path::new("/dev"), own).unwrap();
    let zero = devices.file(&RelPath::parse("zero").unwrap());
    assert!(matches!(zero, Err(FileError::NotRegular { what: "a device", .. })));
}

#[test]
fn fs_10_disguised_paths_are_refused() {
    let parts = [
        ("file\0.txt", PathError::Character),
        ("%2e%2e/secret", PathError::Disguised),
        ("..\u{2215}secret", PathError::Disguised),
        ("..\\secret", PathError::Upwards),
        ("conf /app.toml", PathError::Trailing),
        ("conf./app.toml", PathError::Trailing),
        ("app.toml.", PathError::Trailing),
        (".\u{200b}./secret", PathError::Character),
    ];
    for (path, error) in parts {
        assert_eq!(RelPath::parse(path).unwrap_err(), error, "{path:?}");
    }
    assert_eq!(RelPath::parse(&"a".repeat(5_000)).unwrap_err(), PathError::TooLong);
    assert_eq!(RelPath::parse(&"a".repeat(256)).unwrap_err(), PathError::TooLong);
}

#[test]
fn fs_11_protected_names_are_compared_without_case() {
    let names = [
        ".ENV",
        ".Env.Production",
        "Config/.GIT/HOOKS/pre-commit",
        "a/.\u{17f}SH/known_hosts",
        "ID_RSA",
        "x/id_ed25519.pub",
        "tls/Server.KEY",
        "tls/server.pem",
        ".e\u{200d}nv",
        "home/.AWS/Credentials",
        ".kube/config",
        ".docker/config.json",
        "etc/shadow",
        ".netrc",
        ".pgpass",
        ".npmrc",
        ".pypirc",
        ".env (deleted)",
    ];
    for name in names {
        assert!(is_protected(name), "{name}");
    }
    for name in
        ["environment.md", "config.json", "kube/config", ".gitignore", "shadows.txt", "monkey", "keys/readme.md"]
    {
        assert!(!is_protected(name), "{name}");
    }
}

#[test]
fn fs_14_own_files_are_protected_before_they_exist_and_with_their_companions() {
    let yard = Yard::new(&["ws/store.db", "ws/policies"]);
    fs::create_dir(yard.outer.path().join("ws/policies")).unwrap();
    for name in ["store.db", "store.db-wal", "policies/read.cedar"] {
        fs::write(yard.outer.path().join("ws").join(name), "own").unwrap();
        assert_eq!(yard.read(name).unwrap_err(), "PROTECTED_FILE", "{name}");
    }
}

#[test]
fn a_wrong_root_is_answered_with_the_near_one() {
    let outer = tempfile::tempdir().unwrap();
    let source = || DirSource { dir: outer.path().to_owned() };
    let sources = BTreeMap::from([("config".parse().unwrap(), source()), ("home".parse().unwrap(), source())]);
    let workspaces = Workspaces::open(&sources, OwnFiles::default()).unwrap();
    let message = |text: &str| workspaces.place("path", text).unwrap_err().message;
    insta::assert_snapshot!(message("confg:app.toml"), @"there is no workspace root `confg`; did you mean `config:`? The roots are `config`, `home`");
    insta::assert_snapshot!(message("app.toml"), @"write `ROOT:path` with one of the workspace roots `config`, `home`");
    insta::assert_snapshot!(
        Workspaces::default().place("path", "x").unwrap_err().message,
        @"no workspace is configured; an operator adds `[workspaces.NAME]`"
    );
}

#[test]
fn a_root_that_is_not_there_names_its_section() {
    let sources = BTreeMap::from([("etc".parse().unwrap(), DirSource { dir: PathBuf::from("/no/such/dir") })]);
    let errors = Workspaces::open(&sources, OwnFiles::default()).unwrap_err();
    let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(messages.join("\n"), @"`[workspaces.etc]`: `dir` is `/no/such/dir`, which can't be opened as a directory: No such file or directory (os error 2); create it, or correct the config");
}

fn hostile_path() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("..".to_owned()),
        Just(".".to_owned()),
        Just(String::new()),
        Just("conf".to_owned()),
        Just("app.toml".to_owned()),
        Just("up".to_owned()),
        Just("secret".to_owned()),
        Just("ws-secret".to_owned()),
        Just("ws:".to_owned()),
        Just("x".to_owned()),
        Just("%2e%2e".to_owned()),
        Just("round".to_owned()),
        "[^/]{0,6}",
    ];
    proptest::collection::vec(part, 0..7).prop_map(|parts| parts.join("/"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_the_path_the_opened_file_lies_beneath_the_root(path in prop_oneof![hostile_path(), any::<String>()]) {
        let yard = Yard::new(&[]);
        yard.link("..", "up");
        yard.link("conf", "round");
        let beneath = yard.outer.path().join("ws").canonicalize().unwrap();
        if let Ok(mut opened) = yard.open(&path) {
            prop_assert!(opened.real.starts_with(&beneath));
            let mut content = String::new();
            opened.file.read_to_string(&mut content).unwrap();
            prop_assert_eq!(content, "inside");
        }
    }
}
