//! What accepted commands do when nothing confines them, seen by `strace`: so the grammar is tested, and not the sandbox.
//!
//! `COMMANDS_TRACED` says how many; 400 where it is not set. The commands are made with the seed of `COMMANDS_SEED`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use warrant_toolbox::tools::command::run::environment;
use warrant_toolbox::tools::process::sandbox::order::Sockets;

use super::generated::Words;
use super::{COMMANDS, classified, everyday, root};

/// Calls that change something whatever their arguments are, or tell others something.
const CHANGING: &str = "creat,truncate,ftruncate,fallocate,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,\
    symlinkat,mknod,mknodat,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,utime,utimes,utimensat,futimesat,setxattr,lsetxattr,\
    fsetxattr,removexattr,lremovexattr,fremovexattr,mount,umount2,sethostname,setdomainname,settimeofday,clock_settime,adjtimex,kill,\
    sync,syncfs,ptrace,setns,unshare,bpf,init_module,reboot,connect,bind,sendto,sendmsg";
/// Calls whose arguments tell.
const TELLING: &str = "execve,execveat,open,openat,openat2,socket,clone,clone3,fork,vfork";

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap())
}

/// Copies a directory.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}

/// Names, content and times of a directory, so that any change shows.
fn state(dir: &Path, into: &mut Vec<String>) {
    let mut paths: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let facts = fs::symlink_metadata(&path).unwrap();
        into.push(format!("{} {:?} {:?}", path.display(), facts.permissions(), facts.modified().unwrap()));
        if facts.is_dir() {
            state(&path, into);
        } else {
            into.push(String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned());
        }
    }
}

/// Whether there is a call in a line that only looking does not make.
fn wrong(line: &str, sockets: Sockets, first: &mut bool) -> bool {
    let call = line.split_once(' ').map_or(line, |(_, call)| call.trim_start());
    let Some((name, rest)) = call.split_once('(') else { return false };
    match name {
        // The first is strace's own start of the program.
        "execve" => !std::mem::replace(first, false),
        "open" | "openat" | "openat2" => {
            let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_TMPFILE"];
            writes.iter().any(|flag| rest.contains(flag)) && !rest.contains("\"/dev/null\"")
        }
        "socket" => match sockets {
            Sockets::None => true,
            Sockets::Names => !rest.starts_with("AF_UNIX"),
            Sockets::Netlink => !rest.starts_with("AF_UNIX") && !rest.starts_with("AF_NETLINK"),
        },
        // Through a socket that may be there; to which address a local one goes is looked at here.
        "connect" => !(rest.contains("AF_UNIX") && rest.contains("nscd")),
        "bind" | "sendto" | "sendmsg" => sockets != Sockets::Netlink,
        "clone" | "clone3" => !rest.contains("CLONE_THREAD"),
        _ => true,
    }
}

/// Runs one accepted command under `strace` and tells the first call that is wrong.
fn traced(argv: &[String], given: &[String], scratch: &Path, log: &Path) -> Option<String> {
    let known = COMMANDS.get(&argv[0]).unwrap();
    let program = known.program.as_ref()?;
    #[expect(clippy::disallowed_methods, reason = "a test watches what a program does")]
    let mut strace = Command::new("timeout");
    strace
        .args(["20", "strace", "-f", "-qq", "-s", "64", "-e"])
        .arg(format!("trace={TELLING},{}", CHANGING.replace(' ', "")))
        .args(["-e", "signal=none", "-o"])
        .arg(log)
        .args(["env", "-i"])
        .args(environment().into_iter().map(|(name, value)| format!("{name}={value}")))
        .arg(program.path())
        .args(given)
        .current_dir(scratch)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let status = strace.status().unwrap();
    assert_ne!(status.code(), Some(124), "{argv:?} does not end");
    let text = String::from_utf8_lossy(&fs::read(log).unwrap()).into_owned();
    // `env`, which becomes the program.
    let lines = text.lines().skip_while(|line| !line.contains(&format!("execve(\"{}\"", program.path().display())));
    let mut first = true;
    let mut seen = 0;
    let found = lines.inspect(|_| seen += 1).find(|line| wrong(line, known.grammar.needs.sockets, &mut first));
    let found = found.map(|line| format!("{argv:?}, run as {given:?}: {line}"));
    assert!(seen > 0, "strace saw nothing of {argv:?}: {text}");
    found
}

/// Whether `strace` is there; where it is not, that is told past the harness's capture.
fn has_strace(test: &str) -> bool {
    use std::io::Write as _;
    #[expect(clippy::disallowed_methods, reason = "a test asks whether a program is there")]
    let strace = Command::new("strace").arg("-V").stdout(Stdio::null()).status();
    let there = strace.is_ok_and(|status| status.success());
    if !there {
        #[expect(clippy::explicit_write, reason = "past the harness's capture")]
        writeln!(std::io::stderr(), "\nSKIPPED {test}: `strace` is not installed; tests/run installs it").unwrap();
    }
    there
}

/// A scratch copy of the shop.
fn scratch() -> (tempfile::TempDir, PathBuf) {
    let scratch = tempfile::tempdir().unwrap();
    let workspace = scratch.path().join("workspace");
    copy(&root().join("tests/data/commands/workspace"), &workspace);
    (scratch, workspace)
}

/// The watch itself: what no grammar accepts is seen when it is run all the same.
#[test]
fn sh_37_what_is_wrong_is_seen() {
    if !has_strace("sh_37_what_is_wrong_is_seen") {
        return;
    }
    let (scratch, workspace) = scratch();
    let log = scratch.path().join("trace");
    let wrong: [&[&str]; 9] = [
        &["diff", "-l", "app.log", "app.log.1"],
        &["sort", "-o", "out", "app.log"],
        &["sort", "-S1", "data/orders.csv", "--compress-program=gzip", "-T", "."],
        &["find", ".", "-name", "app.log", "-exec", "id", ";"],
        &["find", ".", "-fprint", "out"],
        &["find", ".", "-name", "app.log.1", "-delete"],
        &["sed", "-n", "w out", "app.log"],
        &["uniq", "app.log", "out"],
        &["hostname", "-I"],
    ];
    for argv in wrong {
        let argv = super::words(argv);
        let given = argv.get(1..).unwrap().to_vec();
        // A sort that fits into its memory writes nothing.
        let is_small = argv.iter().any(|word| word == "-S1");
        assert!(traced(&argv, &given, &workspace, &log).is_some() || is_small, "{argv:?} was not seen");
    }
    let harmless = super::words(&["cat", "app.log"]);
    assert_eq!(traced(&harmless, &super::words(&["app.log"]), &workspace, &log), None);
}

#[test]
fn sh_37_accepted_commands_write_nothing_run_nothing_and_connect_to_nothing() {
    if !has_strace("sh_37_accepted_commands_write_nothing_run_nothing_and_connect_to_nothing") {
        return;
    }
    let (count, seed) = (setting("COMMANDS_TRACED", 400), setting("COMMANDS_SEED", 1));
    let (scratch, workspace) = scratch();
    let mut before = Vec::new();
    state(&workspace, &mut before);

    let mut generated = Words::new(seed);
    let (mut made, mut accepted) = (0, Vec::new());
    let mut everyday = everyday::list().into_iter().step_by(usize::from(count < 1_000) * 4 + 1);
    while u64::try_from(accepted.len()).unwrap() < count {
        let argv = everyday.next().unwrap_or_else(|| generated.argv());
        made += 1;
        if let Ok(given) = classified(&argv) {
            accepted.push((argv, given));
        }
    }
    let (next, wrong) = (Mutex::new(accepted.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for worker in 0..3 {
            let (next, wrong, workspace) = (&next, &wrong, &workspace);
            let log = scratch.path().join(format!("trace-{worker}"));
            scope.spawn(move || {
                loop {
                    let Some((argv, given)) = next.lock().unwrap().next() else { break };
                    if let Some(found) = traced(argv, given, workspace, &log) {
                        wrong.lock().unwrap().push(found);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    let shown: Vec<&String> = wrong.iter().take(40).collect();
    println!("{} of {made} made commands are accepted and were run; {} are wrong", accepted.len(), wrong.len());
    assert!(wrong.is_empty(), "{} of {}: {shown:#?}", wrong.len(), accepted.len());
    let mut after = Vec::new();
    state(&workspace, &mut after);
    assert_eq!(before, after, "the workspace was changed");
}
