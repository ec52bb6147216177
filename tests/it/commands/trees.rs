//! Whatever a program starts ends with it, and however much it writes, little is held.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use warrant_toolbox::tools::process::sandbox::order::{Grant, Processes, Right};
use warrant_toolbox::tools::process::sandbox::{Ended, Patience};

use super::sandbox::PATIENCE;
use super::{World, order, python, sandbox};

/// Starts three daemons, each in a session of its own and born of a parent that is gone, and they start one each; all of
/// them hold standard error open. Then it ends, or stays.
const DAEMONS: &str = r#"
import os, sys, time
for i in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.fork()
            sys.stderr.write("up\n")
            sys.stderr.flush()
            time.sleep(600)
        os._exit(0)
if sys.argv[1] == "stays":
    time.sleep(600)
"#;

/// Processes with this text among their words.
fn running(mark: &str) -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).map(|entry| entry.path());
    let has = |path: &PathBuf| {
        std::fs::read(path.join("cmdline")).is_ok_and(|words| String::from_utf8_lossy(&words).contains(mark))
    };
    processes.filter(has).collect()
}

/// Waits until nothing runs with this text among its words.
fn ended(mark: &str) {
    let until = std::time::Instant::now() + Duration::from_secs(20);
    while !running(mark).is_empty() {
        assert!(std::time::Instant::now() < until, "{:?} survive", running(mark));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[tokio::test]
async fn sh_36_whatever_a_program_leaves_behind_is_ended_with_it() {
    let mark = format!("mark-{}-ends", std::process::id());
    let ran = sandbox().run(&python(DAEMONS, &["ends", &mark], Processes::Children), PATIENCE).await.unwrap();
    assert_eq!(ran.ended, Ended::Exited(0), "{:?}", ran.stderr.text());
    // Not one moment later: the report comes when no process is left.
    assert_eq!(running(&mark), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn sh_36_time_that_is_up_ends_the_whole_tree() {
    let mark = format!("mark-{}-stays", std::process::id());
    let patience = Patience { time: Duration::from_secs(2), bytes: 1 << 20 };
    let ran = sandbox().run(&python(DAEMONS, &["stays", &mark], Processes::Children), patience).await.unwrap();
    assert_eq!(ran.ended, Ended::TimedOut);
    assert_eq!(running(&mark), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn sh_36_a_call_that_is_dropped_ends_the_whole_tree() {
    let mark = format!("mark-{}-dropped", std::process::id());
    let order = python(DAEMONS, &["stays", &mark], Processes::Children);
    let call = tokio::spawn(async move { sandbox().run(&order, PATIENCE).await });
    let up = {
        let mark = mark.clone();
        tokio::task::spawn_blocking(move || {
            let until = std::time::Instant::now() + Duration::from_secs(20);
            while running(&mark).len() < 7 {
                assert!(std::time::Instant::now() < until, "{:?}", running(&mark));
                std::thread::sleep(Duration::from_millis(10));
            }
        })
    };
    up.await.unwrap();
    call.abort();
    tokio::task::spawn_blocking(move || ended(&mark)).await.unwrap();
}

/// Warrant is killed while a command runs: nobody is left to ask for the end, and it comes all the same.
#[test]
fn sh_36_a_command_dies_with_warrant() {
    let world = World::allowed();
    let mark = format!("mark{}", std::process::id());
    // Backtracking almost without end: all ways to divide the first run of letters, none of which fits the second.
    std::fs::write(world.shop().join("long.txt"), format!("{mark}{}baax\n", "a".repeat(3_000))).unwrap();
    let pattern = format!("{mark}(a+)(a+)(a+)(a+)b\\1\\2\\3\\4x");
    let args = serde_json::json!({ "argv": ["grep", "-E", pattern, "long.txt"] }).to_string();
    let mut warrant = world.warrant().args(["tools", "call", "run_command", "--args", &args]).spawn().unwrap();
    let until = std::time::Instant::now() + Duration::from_secs(20);
    // Warrant itself has the mark among its words, and the program.
    while running(&mark).len() < 2 {
        assert!(std::time::Instant::now() < until, "{:?}", running(&mark));
        std::thread::sleep(Duration::from_millis(10));
    }
    warrant.kill().unwrap();
    warrant.wait().unwrap();
    ended(&mark);
}

/// Bytes of memory that this process ever held at once.
fn peak() -> u64 {
    let status = BufReader::new(std::fs::File::open("/proc/self/status").unwrap());
    let line = status.lines().map(Result::unwrap).find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[tokio::test]
async fn rs_03_a_gibibyte_without_a_line_end_is_listened_to_in_little_memory() {
    let sandbox = sandbox();
    let script = "import sys\nsys.stdout.write('first line\\n'); sys.stdout.flush()\nchunk = b'\\xff\\xfe' * 32768\n\
                  for i in range(16384): sys.stdout.buffer.write(chunk)\nsys.stdout.buffer.write(b'\\nlast line\\n')\n";
    let before = peak();
    let ran = sandbox.run(&python(script, &[], Processes::One), PATIENCE).await.unwrap();
    let grown = peak() - before;
    assert_eq!(ran.ended, Ended::Exited(0), "{:?}", ran.stderr.text());
    let text = ran.stdout.text();
    println!("peak grew by {} KiB for {} bytes", grown / 1024, text.total);
    assert!(grown < 16 << 20, "the peak grew by {grown} bytes");
    // The line between is cut in the middle, and no byte of it is text.
    assert_eq!(
        (text.lines.first().unwrap().as_str(), text.lines.last().unwrap().as_str()),
        ("first line", "last line")
    );
    assert_eq!(text.total, (1 << 30) + 22);
    assert!(text.left_out > (1 << 30) - (1 << 20) && text.lines.iter().map(String::len).sum::<usize>() < 4 << 20);
}

#[tokio::test]
async fn sh_16_what_writes_without_end_is_ended() {
    let zero = Path::new("/dev/zero");
    let patience = Patience { time: Duration::from_secs(20), bytes: 1 << 20 };
    let ran = sandbox().run(&order("/usr/bin/cat", &["/dev/zero"], &[(zero, Right::Content)]), patience).await.unwrap();
    assert_eq!(ran.ended, Ended::TooMuch);
}

#[tokio::test]
async fn what_uses_up_more_than_it_is_allowed_is_ended() {
    let busy = python("while True: pass", &[], Processes::One);
    let mut short = busy.clone();
    short.limits.cpu_s = 1;
    let ran = sandbox().run(&short, PATIENCE).await.unwrap();
    assert_eq!(ran.ended, Ended::Killed(9), "the limit of processor time");
    let hungry = python("x = bytearray(1 << 31)", &[], Processes::One);
    let ran = sandbox().run(&hungry, PATIENCE).await.unwrap();
    assert_eq!(ran.ended, Ended::Exited(1));
    assert!(ran.stderr.text().lines.iter().any(|line| line.contains("MemoryError")), "the limit of memory");
}

#[tokio::test]
async fn what_is_left_behind_holds_no_pipe_open() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = dir.path().join("up");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let script = "import os, sys, time\nif os.fork() == 0:\n  os.setsid()\n  f = open(sys.argv[1])\n  time.sleep(600)\nos._exit(0)\n";
    let mut order = python(script, &[fifo.to_str().unwrap()], Processes::Children);
    order.grants.push(Grant { path: fifo.clone(), right: Right::Content });
    let ran = sandbox().run(&order, PATIENCE).await.unwrap();
    assert_eq!(ran.ended, Ended::Exited(0), "{:?}", ran.stderr.text());
    // Nobody reads the other end any more.
    let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::NONBLOCK;
    let open = rustix::fs::open(&fifo, flags, rustix::fs::Mode::empty());
    assert_eq!(open.err(), Some(rustix::io::Errno::NXIO));
}
