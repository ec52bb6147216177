//! Restarts under real managers, and what a note tells of one whose outcome was lost.
//!
//! A manager that is not installed is named in a line `SKIPPED name: why` on stderr, past the test harness's capture.
#![expect(clippy::disallowed_methods, reason = "real managers are started here")]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::*;
use crate::tools::process::Program;
use crate::tools::write::trying::{catalog, looking, plan, preview, problems, reason};

/// Ends what a test started, and what that started.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // runsv and supervisord end their services on TERM.
        drop(Command::new("kill").arg(self.0.id().to_string()).status());
        for _ in 0..100 {
            if self.0.try_wait().is_ok_and(|ended| ended.is_some()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn start(program: &str, args: &[&str]) -> Running {
    Running(
        Command::new(program)
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    )
}

fn installed(test: &str, programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| Program::named(program).is_none());
    if let Some(program) = missing {
        writeln!(std::io::stderr(), "\nSKIPPED {test}: `{program}` is not installed; tests/run installs it").unwrap();
    }
    missing.is_none()
}

fn script(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn tool(dir: &TempDir, restart: &str) -> RestartService {
    let toml = format!("[services.shop]\n{restart}\n[services.front]\ndepends_on = [\"shop\"]\n");
    let catalog = catalog(&toml, None);
    let clients = HttpClients::new(&catalog, &|_| None).unwrap();
    RestartService { catalog, clients: Arc::new(clients), kept: Kept::at(dir.path().join("kept")) }
}

async fn running(tool: &RestartService) -> Process {
    for _ in 0..300 {
        let (_, _, restart) = tool.service(Some("shop")).unwrap();
        if let Ok(Seen { standing: Standing::Running, process: Some(process), .. }) = Manager(restart).look().await {
            return process;
        }
        sleep(Duration::from_millis(50)).await;
    }
    panic!("15 s and not running")
}

/// A restart from preview to verdict.
async fn restarted(tool: &RestartService) -> (Plan, Process) {
    let old = running(tool).await;
    let args = json!({"service": "shop"});
    let preview = preview(tool, &args, &[]).await.unwrap();
    assert_eq!(preview.floor, Some(Tier::High));
    assert_eq!(preview.shown["pid"], old.pid.to_string());
    assert!(preview.notes.contains(&"depend on `shop`: `front`".to_owned()), "{:?}", preview.notes);
    let plan = plan(tool, "restart_service", &args, preview);
    let probed = looking(async |looking| tool.probe(&plan, looking).await).await;
    assert!(matches!(&probed, Probed::DidNot { because } if because.starts_with("it was not begun")), "{probed:?}");
    let effect = tool.apply(&plan).await.unwrap();
    let verdict = looking(async |looking| tool.verify(&plan, &effect, looking).await).await;
    assert_eq!(verdict.held, Held::Held, "{verdict:?}");
    let new = running(tool).await;
    assert_ne!(old, new);
    assert_eq!(verdict.facts["pid"], new.pid.to_string());
    (plan, old)
}

#[tokio::test]
async fn runit_restarts_a_service() {
    if !installed("runit_restarts_a_service", &["runsv", "sv"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let service = dir.path().join("checkout");
    fs::create_dir(&service).unwrap();
    script(&service.join("run"), "#!/bin/sh\nexec sleep 1000\n");
    let path = service.display().to_string();
    let _manager = start("runsv", &[&path]);
    let tool = tool(&dir, &format!("restart = {{ manager = \"runit\", dir = \"{path}\" }}"));
    let (plan, _) = restarted(&tool).await;
    assert_eq!((plan.preview.bound["manager"].as_str(), &plan.preview.bound["unit"]), ("runit", &path));

    // Another definition is another plan.
    script(&service.join("run"), "#!/bin/sh\nexec sleep 2000\n");
    assert_eq!(reason(tool.apply(&plan).await), "CHANGED");
    // A service that fails can still be approved.
    script(&service.join("run"), "#!/bin/sh\nexit 3\n");
    let failing = preview(&tool, &json!({"service": "shop"}), &[]).await.unwrap();
    assert_ne!(failing.bound, plan.preview.bound);
}

#[tokio::test]
async fn supervisor_restarts_a_program() {
    if !installed("supervisor_restarts_a_program", &["supervisord", "supervisorctl"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().display();
    let config = dir.path().join("supervisor.conf");
    let text = format!(
        "[supervisord]\nlogfile={at}/log\npidfile={at}/pid\nchildlogdir={at}\nnodaemon=true\n\
         [unix_http_server]\nfile={at}/sock\n\
         [rpcinterface:supervisor]\nsupervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface\n\
         [supervisorctl]\nserverurl=unix://{at}/sock\n\
         [program:checkout]\ncommand=/bin/sleep 1000\nstartsecs=0\n"
    );
    fs::write(&config, text).unwrap();
    let path = config.display().to_string();
    let _manager = start("supervisord", &["-c", &path]);
    let restart = |program: &str| {
        format!("restart = {{ manager = \"supervisor\", program = \"{program}\", config = \"{path}\" }}")
    };
    let named = tool(&dir, &restart("checkout"));
    restarted(&named).await;
    assert_eq!(reason(preview(&tool(&dir, &restart("nosuch")), &json!({"service": "shop"}), &[]).await), "MANAGER");
}

/// A user's manager of its own, without a bus, in a mount namespace in which systemd seems to be the init system.
#[tokio::test]
async fn systemd_restarts_a_unit() {
    let test = "systemd_restarts_a_unit";
    let systemd = "/lib/systemd/systemd";
    if !installed(test, &["systemctl", "unshare"]) {
        return;
    }
    if !Path::new(systemd).is_file() || !rustix::process::geteuid().is_root() {
        writeln!(std::io::stderr(), "\nSKIPPED {test}: needs root and {systemd}").unwrap();
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().display();
    let units = dir.path().join("units");
    for name in ["units", "run", "home"] {
        fs::create_dir(dir.path().join(name)).unwrap();
    }
    fs::set_permissions(dir.path().join("run"), fs::Permissions::from_mode(0o700)).unwrap();
    for target in ["default", "basic", "shutdown", "exit", "sockets", "timers", "paths"] {
        fs::write(units.join(format!("{target}.target")), "[Unit]\nDefaultDependencies=no\n").unwrap();
    }
    let service = |seconds: u32| {
        format!("[Unit]\nDefaultDependencies=no\n[Service]\nExecStart=/bin/sleep {seconds}\nRestart=on-failure\n")
    };
    fs::write(units.join("checkout.service"), service(1000)).unwrap();
    let inside = format!(
        "mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && exec env -i XDG_RUNTIME_DIR={at}/run HOME={at}/home \
         SYSTEMD_UNIT_PATH={at}/units SYSTEMD_LOG_TARGET=null {systemd} --user --unit=checkout.service"
    );
    let mut manager = start("unshare", &["-m", "--propagation", "private", "sh", "-c", &inside]);
    let restart = |unit: &str| {
        format!(
            "restart = {{ manager = \"systemd\", unit = \"{unit}\", scope = \"user\", runtime_dir = \"{at}/run\" }}"
        )
    };
    let named = tool(&dir, &restart("checkout.service"));
    for _ in 0..200 {
        if dir.path().join("run/systemd/private").exists() {
            break;
        }
        if manager.0.try_wait().unwrap().is_some() {
            writeln!(std::io::stderr(), "\nSKIPPED {test}: systemd does not run in a namespace here").unwrap();
            return;
        }
        sleep(Duration::from_millis(25)).await;
    }
    let (plan, _) = restarted(&named).await;
    assert_eq!(plan.preview.bound["manager"], "systemd --user");
    assert_eq!(plan.preview.shown["restarts_by_its_manager"], "0");
    let error = preview(&tool(&dir, &restart("nosuch.service")), &json!({"service": "shop"}), &[]).await.unwrap_err();
    insta::assert_snapshot!(error, @"unit `nosuch.service` is not-found to systemd; correct `unit` in the catalog");
    // This manager knows no way to end by itself: its service first, then it.
    let run = format!("XDG_RUNTIME_DIR={at}/run");
    drop(Command::new("env").args([run.as_str(), "systemctl", "--user", "stop", "checkout.service"]).status());
    drop(manager.0.kill());
}

#[tokio::test]
async fn a_command_of_the_catalog_restarts_a_service() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().display();
    let restart_script = dir.path().join("restart.sh");
    script(
        &restart_script,
        &format!(
            "#!/bin/sh\n[ -s {at}/pid ] && kill $(cat {at}/pid)\nsleep 1000 >/dev/null 2>&1 &\necho $! >{at}/pid\n"
        ),
    );
    let ended = Command::new(&restart_script).status().unwrap();
    assert!(ended.success());
    let tool = tool(
        &dir,
        &format!("restart = {{ manager = \"command\", argv = [\"{at}/restart.sh\"], pid_file = \"{at}/pid\" }}"),
    );
    let old = running(&tool).await;
    let (plan, _) = restarted(&tool).await;
    let new = running(&tool).await;
    // A lost outcome: the old process was younger than a minute, so a new one may have come by itself.
    let probed = looking(async |looking| tool.probe(&plan, looking).await).await;
    assert!(matches!(&probed, Probed::CantTell { because } if because.contains("crash loop")), "{probed:?}");
    assert_ne!(old, new);
    drop(Command::new("kill").arg(new.pid.to_string()).status());
    while procfs::process(new.pid).is_some() {
        sleep(Duration::from_millis(10)).await;
    }

    // A command that fails, and one that is not there.
    script(&restart_script, "#!/bin/sh\necho no >&2\nexit 1\n");
    let args = json!({"service": "shop"});
    let failing =
        crate::tools::write::trying::plan(&tool, "restart_service", &args, preview(&tool, &args, &[]).await.unwrap());
    assert_eq!(
        tool.apply(&failing).await.unwrap_err(),
        WriteError::Unknown { message: "restarting `shop` failed: no".to_owned() }
    );
}

#[test]
fn cr_02_a_note_and_a_look_tell_what_can_be_told() {
    let process = |pid: u32, started: u64| Some(Process { pid, started });
    let note = |old: Option<Process>| Note { boot: "b".to_owned(), ticks: 100_000, process: old };
    let seen =
        |standing: Standing, process: Option<Process>| Seen { standing, state: String::new(), process, restarts: None };
    let bound = Facts::from([("unit".to_owned(), "u".to_owned())]);
    let say = |note: Option<Note>, seen: Seen, boot: &str| match told(note.as_ref(), &seen, boot, &bound) {
        Probed::Took { after, because } => format!("took: {because}; {after:?}"),
        Probed::DidNot { because } => format!("did not: {because}"),
        Probed::CantTell { because } => format!("can't tell: {because}"),
    };
    let old = process(7, 10_000);
    let new = process(8, 100_050);
    let cases = [
        say(None, seen(Standing::Running, old), "b"),
        say(Some(note(old)), seen(Standing::Running, old), "b"),
        say(Some(note(old)), seen(Standing::Running, new), "b"),
        say(Some(note(old)), seen(Standing::Running, new), "other"),
        say(Some(note(old)), seen(Standing::Moving, old), "b"),
        say(Some(note(old)), seen(Standing::Down, None), "b"),
        say(Some(note(None)), seen(Standing::Running, new), "b"),
        say(Some(note(process(7, 99_000))), seen(Standing::Running, new), "b"),
        say(Some(note(old)), seen(Standing::Running, process(8, 50_000)), "b"),
        say(Some(note(old)), seen(Standing::Running, process(8, 900_000)), "b"),
        // The same number again, started later: another process.
        say(Some(note(old)), seen(Standing::Running, process(7, 100_050)), "b"),
    ];
    insta::assert_snapshot!(cases.join("\n"), @r#"
    did not: it was not begun: no note of the process before it was made
    did not: the process is the one from before (7)
    took: process 8 was started right after it, in place of 7; {"pid": "8", "unit": "u"}
    can't tell: the host was started again since
    can't tell: the service is being started or stopped
    can't tell: the service does not run
    can't tell: there was no process before it
    can't tell: the service had been started less than a minute before: it may be in a crash loop
    can't tell: the process is older than the restart, and another one
    can't tell: the process was started much later
    took: process 7 was started right after it, in place of 7; {"pid": "7", "unit": "u"}
    "#);
}

#[test]
fn a_service_that_the_catalog_does_not_restart_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let tool = tool(&dir, "description = \"x\"");
    insta::assert_snapshot!(problems(&tool, json!({"service": "shop"}))[0].message, @"the catalog does not say how `shop` is restarted");
    insta::assert_snapshot!(problems(&tool, json!({"service": "nosuch"}))[0].message, @"there is no service `nosuch`");
}
