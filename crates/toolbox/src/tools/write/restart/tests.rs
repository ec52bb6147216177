//! What managers say, read; and what the process file system tells of ourselves.

use super::procfs::{self, Process};
use super::*;

#[test]
fn what_sv_says_is_read() {
    let me = procfs::process(std::process::id()).unwrap();
    let dir = "/etc/sv/checkout: odd";
    let read = |text: String| runit::seen(&text, dir);
    let running = read(format!("run: {dir}: (pid {}) 45s; run: log: (pid 7) 45s\n", me.pid)).unwrap();
    assert_eq!((running.standing, running.process), (Standing::Running, Some(me)));
    assert_eq!(running.state, format!("run, (pid {}) 45s", me.pid));
    let down = read(format!("down: {dir}: 3s, normally up, want up\n")).unwrap();
    assert_eq!(
        (down.standing, down.process, down.state.as_str()),
        (Standing::Down, None, "down, 3s, normally up, want up")
    );
    assert_eq!(read(format!("finish: {dir}: (pid 99999999) 1s\n")).unwrap().standing, Standing::Moving);
    for other in [
        format!("fail: {dir}: unable to change to service directory: file does not exist\n"),
        format!("warning: {dir}: unable to open supervise/ok: file does not exist\n"),
        "run: /other: (pid 1) 1s\n".to_owned(),
        String::new(),
    ] {
        assert_eq!(read(other.clone()), None, "{other}");
    }
}

#[test]
fn what_supervisorctl_says_is_read() {
    let me = std::process::id();
    let read = |text: &str| supervisor::seen(text, "shop:checkout");
    let text = format!("shop:checkout                    RUNNING   pid {me}, uptime 0:00:05\n");
    let running = read(&text).unwrap();
    assert_eq!((running.standing, running.process.unwrap().pid), (Standing::Running, me));
    for (text, standing) in [
        ("shop:checkout  BACKOFF   Exited too quickly (process log may have details)\n", Standing::Failing),
        ("shop:checkout  STARTING \n", Standing::Moving),
        ("shop:checkout  FATAL     Exited too quickly\n", Standing::Down),
        ("shop:checkout  STOPPED   Nov 30 03:00 PM\n", Standing::Down),
    ] {
        assert_eq!(read(text).unwrap().standing, standing, "{text}");
    }
    for other in [
        "shop:checkout: ERROR (no such process)\n",
        "other RUNNING pid 1, uptime 0:00:05\n",
        "",
        "unix:///x.sock no such file\n",
    ] {
        assert_eq!(read(other), None, "{other}");
    }
}

#[test]
fn a_process_is_known_by_its_number_and_its_beginning() {
    let me = procfs::process(std::process::id()).unwrap();
    assert_eq!(procfs::process(me.pid), Some(me));
    assert!(me.started <= procfs::uptime().unwrap());
    assert_ne!(me, Process { started: me.started + 1, ..me });
    assert_eq!(procfs::process(u32::MAX), None);
    assert!(!procfs::boot().is_empty());
    assert_eq!(procfs::load().unwrap().split(' ').count(), 3);
}

#[test]
fn a_command_is_bound_to_its_words_and_to_the_files_it_names() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("restart.sh");
    std::fs::write(&script, "true\n").unwrap();
    let argv = |word: &str| vec!["/bin/sh".to_owned(), script.display().to_string(), word.to_owned()];
    let unit = |word: &str| command::unit(&argv(word)).unwrap();
    let first = unit("a");
    assert_eq!(first, unit("a"));
    assert_ne!(first.name, unit("b").name);
    std::fs::write(&script, "false\n").unwrap();
    assert_ne!(first.definition, unit("a").definition);
    assert!(command::unit(&["relative/program".to_owned()]).is_err());
    assert!(command::unit(&[]).is_err());
}
