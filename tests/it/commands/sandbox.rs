//! What a confined program can't do, tried by a program that wants to.

use std::time::Duration;

use warrant_toolbox::tools::process::sandbox::order::{Processes, Right, Sockets};
use warrant_toolbox::tools::process::sandbox::{Ended, Patience};

use super::{order, python, sandbox};

pub(super) const PATIENCE: Patience = Patience { time: Duration::from_secs(30), bytes: 1 << 32 };

/// Tries everything and prints what was possible.
const TRIES: &str = r#"
import os, socket, sys, ctypes
inside, outside = sys.argv[1], sys.argv[2]
def tried(what, do):
    try:
        do()
        print("possible:", what)
    except OSError:
        pass
tried("write", lambda: open(inside + "/new", "w"))
tried("append", lambda: open(inside + "/file", "a"))
tried("truncate", lambda: os.truncate(inside + "/file", 0))
tried("open with truncation", lambda: os.open(inside + "/file", os.O_RDONLY | os.O_TRUNC))
tried("unlink", lambda: os.unlink(inside + "/file"))
tried("rename", lambda: os.rename(inside + "/file", inside + "/other"))
tried("mkdir", lambda: os.mkdir(inside + "/dir"))
tried("chmod", lambda: os.chmod(inside + "/file", 0o777))
tried("chown", lambda: os.chown(inside + "/file", 0, 0))
tried("utime", lambda: os.utime(inside + "/file", (0, 0)))
tried("setxattr", lambda: os.setxattr(inside + "/file", "user.x", b"x"))
tried("symlink", lambda: os.symlink("/etc", inside + "/etc"))
tried("link", lambda: os.link(inside + "/file", inside + "/linked"))
tried("fifo", lambda: os.mkfifo(inside + "/fifo"))
tried("read outside", lambda: open(outside))
tried("read /etc/passwd", lambda: open("/etc/passwd"))
tried("read /proc/self/environ", lambda: open("/proc/self/environ"))
tried("list /", lambda: os.listdir("/"))
tried("fork", lambda: os.fork())
tried("run", lambda: os.execv("/usr/bin/id", ["id"]))
tried("kill", lambda: os.kill(os.getppid(), 0))
tried("nice", lambda: os.nice(1))
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK, socket.AF_PACKET):
    tried("socket %s" % family, lambda: socket.socket(family, socket.SOCK_DGRAM))
print("read:", open(inside + "/file").read().strip())
print("environment:", sorted(os.environ))
print("standard input:", repr(sys.stdin.read()), os.isatty(0), os.isatty(1))
"#;

#[tokio::test]
async fn a_confined_program_reads_what_it_was_granted_and_does_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let (inside, outside) = (dir.path().join("inside"), dir.path().join("outside"));
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(inside.join("file"), "content\n").unwrap();
    std::fs::write(&outside, "secret\n").unwrap();
    let mut order = python(TRIES, &[inside.to_str().unwrap(), outside.to_str().unwrap()], Processes::One);
    order
        .grants
        .push(warrant_toolbox::tools::process::sandbox::order::Grant { path: inside.clone(), right: Right::Tree });
    let ran = sandbox().run(&order, PATIENCE).await.unwrap();
    let lines = ran.stdout.text().lines;
    insta::assert_debug_snapshot!(lines, @r#"
    [
        "read: content",
        "environment: ['LC_CTYPE', 'ONLY']",
        "standard input: '' False False",
    ]
    "#);
    assert_eq!(ran.ended, Ended::Exited(0), "{:?}", ran.stderr.text());
    let names: Vec<_> = std::fs::read_dir(&inside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["file"]);
    assert_eq!(std::fs::read_to_string(inside.join("file")).unwrap(), "content\n");
}

/// What the child opens is what was checked: a file put in its place is another file.
#[tokio::test]
async fn a_grant_is_of_the_file_and_not_of_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    std::fs::write(&path, "checked\n").unwrap();
    let held = std::fs::File::open(&path).unwrap();
    let name = format!("/proc/{}/fd/{}", std::process::id(), std::os::fd::AsRawFd::as_raw_fd(&held));
    let read = || async {
        let order = order("/usr/bin/cat", &[path.to_str().unwrap()], &[(std::path::Path::new(&name), Right::Content)]);
        let ran = sandbox().run(&order, PATIENCE).await.unwrap();
        (ran.stdout.text().lines, ran.stderr.text().lines)
    };
    assert_eq!(read().await.0, ["checked"]);
    std::fs::rename(&path, dir.path().join("moved")).unwrap();
    std::fs::write(&path, "put there\n").unwrap();
    let (shown, told) = read().await;
    assert!(shown.is_empty() && told[0].ends_with("Permission denied"), "{shown:?} {told:?}");
}

#[tokio::test]
async fn sh_21_the_environment_is_fixed() {
    let order = order("/usr/bin/env", &[], &[]);
    let ran = sandbox().run(&order, PATIENCE).await.unwrap();
    assert_eq!(ran.stdout.text().lines, ["ONLY=this"]);
    let names: Vec<String> =
        warrant_toolbox::tools::command::run::environment().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["LC_ALL", "TZ", "COLUMNS"]);
}

#[tokio::test]
async fn sockets_to_the_kernel_are_made_only_where_the_order_says_so() {
    let script = "import socket\nfor f in (socket.AF_UNIX, socket.AF_NETLINK, socket.AF_INET):\n  try:\n    \
                  socket.socket(f, socket.SOCK_RAW if f == socket.AF_NETLINK else socket.SOCK_DGRAM)\n    print(int(f))\n  \
                  except OSError: pass\n";
    let mut seen = Vec::new();
    for sockets in [Sockets::None, Sockets::Names, Sockets::Netlink] {
        let mut order = python(script, &[], Processes::One);
        order.sockets = sockets;
        seen.push(sandbox().run(&order, PATIENCE).await.unwrap().stdout.text().lines.join(" "));
    }
    assert_eq!(seen, ["", "1", "1 16"]);
}

/// What can't be set up as ordered is not run.
#[tokio::test]
async fn an_order_that_can_not_be_kept_is_refused() {
    let missing = std::path::Path::new("/no/such/place");
    let error = sandbox().run(&order("/usr/bin/id", &[], &[(missing, Right::Content)]), PATIENCE).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the sandbox refuses to run it: Landlock: `/no/such/place`: failed to open \"/no/such/place\": No such file or directory (os error 2)"
    );
    let mut order = order("/usr/bin/id", &[], &[]);
    order.directory = missing.to_path_buf();
    assert!(sandbox().run(&order, PATIENCE).await.unwrap_err().to_string().contains("going to the directory"));
}
