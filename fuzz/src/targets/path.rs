//! Paths: what is taken holds no part that leads up, is read again as itself, and what is opened lies beneath the root,
//! whatever links lie there.

use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::LazyLock;

use tempfile::TempDir;
use warrant_kernel::domain::name::SourceName;
use warrant_toolbox::tools::workspace::OwnFiles;
use warrant_toolbox::tools::workspace::path::RelPath;
use warrant_toolbox::tools::workspace::root::Root;

/// What stands in every file outside.
const OUTSIDE: &str = "outside";

struct Tree {
    root: Root,
    _directory: TempDir,
}

static TREE: LazyLock<Tree> = LazyLock::new(|| {
    let directory = TempDir::new().unwrap();
    let (inside, outside) = (directory.path().join("in"), directory.path().join("out"));
    for path in [inside.join("a/b"), inside.join(".git"), outside.clone()] {
        std::fs::create_dir_all(path).unwrap();
    }
    let write = |path: &Path, text: &str| std::fs::write(path, text).unwrap();
    for name in ["f", "a/f", "a/b/f", ".git/f", ".env"] {
        write(&inside.join(name), "inside");
    }
    write(&outside.join("f"), OUTSIDE);
    write(&directory.path().join("f"), OUTSIDE);
    for (to, link) in [
        ("../out", "o"),
        ("../out/f", "l"),
        ("../../out", "a/o"),
        ("a", "d"),
        ("s", "s"),
        ("/proc/self/root", "r"),
        ("..", "u"),
        ("d/../../out/f", "a/l"),
        (".git", "g"),
    ] {
        symlink(to, inside.join(link)).unwrap();
    }
    let root = Root::open("shop".parse::<SourceName>().unwrap(), &inside, OwnFiles::default().into()).unwrap();
    Tree { root, _directory: directory }
});

/// Tries the laws.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(path) = RelPath::parse(&text) else { return };
    let shown = path.as_str();
    assert!(!shown.starts_with('/') && shown.split('/').all(|part| part != ".."), "{shown:?}");
    assert_eq!(RelPath::parse(shown).as_ref(), Ok(&path));
    assert!(RelPath::root().covers(shown) && path.covers(shown));
    let Ok(opened) = TREE.root.file(&path) else { return };
    let real = TREE.root.real().unwrap();
    assert!(opened.real.starts_with(&real), "{} lies outside", opened.real.display());
    let mut content = String::new();
    let mut file = opened.file;
    file.read_to_string(&mut content).unwrap();
    assert_eq!(content, "inside", "{shown:?}");
    assert!(
        !opened.real.components().any(|part| part.as_os_str() == ".git" || part.as_os_str() == ".env"),
        "{shown:?}"
    );
}
