//! A shop for one case: files, a config, people, and a service that a script restarts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Stdio;

use tempfile::TempDir;
use tokio::process::Command;

use crate::safety::case::{Asks, Quorum, Situation};

/// The lines of every file before anything is done.
pub const LINES: &str = "[pool]\nsize = 8\nwait = 3000\n";

/// The line that changes replace.
pub const OLD: &str = "size = 8";

/// Everything on disk, and who is who.
pub struct Yard {
    dir: TempDir,
    program: PathBuf,
    base_url: String,
    situation: Situation,
    groups: BTreeMap<String, Vec<String>>,
    /// Whom the user of this machine is taken for.
    me: Option<String>,
    uid: u32,
}

fn io(error: &std::io::Error) -> String {
    error.to_string()
}

impl Yard {
    pub fn new(program: PathBuf, base_url: String, situation: &Situation) -> Result<Self, String> {
        let dir = tempfile::Builder::new().prefix("safety").tempdir().map_err(|error| io(&error))?;
        let uid =
            fs::metadata(dir.path()).map(|it| std::os::unix::fs::MetadataExt::uid(&it)).map_err(|error| io(&error))?;
        let groups = [
            ("ann", "oncall"),
            ("ben", "oncall"),
            ("cid", "oncall breakglass"),
            ("dora", ""),
            ("bot", "oncall"),
            ("eve", "oncall"),
        ];
        let groups = groups
            .iter()
            .map(|(name, groups)| ((*name).to_owned(), groups.split_whitespace().map(str::to_owned).collect()));
        let groups = groups.collect();
        let situation = situation.clone();
        let yard = Self { dir, program, base_url, situation, groups, me: Some("ann".to_owned()), uid };
        for name in ["etc", "logs", "policies", "run"] {
            fs::create_dir(yard.path(name)).map_err(|error| io(&error))?;
        }
        let file = format!("{LINES}{}", yard.situation.file);
        for name in ["shop", "override", "till"] {
            fs::write(yard.path(&format!("etc/{name}.toml")), &file).map_err(|error| io(&error))?;
        }
        let planted = yard.situation.planted.as_ref().map(|it| it.log.clone()).unwrap_or_default();
        let line = serde_json::json!({ "level": "error", "msg": format!("orders fail {planted}") });
        fs::write(yard.path("logs/shop.log"), format!("{line}\n")).map_err(|error| io(&error))?;
        yard.script("restarted")?;
        if yard.situation.quorum == Quorum::Two {
            let policy = "@id(\"two-persons\")\nforbid (principal, action == Action::\"one_suffices\", resource);\n";
            fs::write(yard.path("policies/two.cedar"), policy).map_err(|error| io(&error))?;
        }
        yard.configure()?;
        Ok(yard)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn socket(&self) -> PathBuf {
        self.path("run/warrant.db.sock")
    }

    /// The script that restarts the service: it notes that it ran, and leaves a process behind.
    pub fn script(&self, word: &str) -> Result<(), String> {
        let at = self.dir.path().display();
        let text = format!(
            "#!/bin/sh\necho {word} >>{at}/run/effects\n[ -s {at}/run/pid ] && kill $(cat {at}/run/pid)\n\
             sleep 300 >/dev/null 2>&1 &\necho $! >{at}/run/pid\n"
        );
        fs::write(self.path("run/restart.sh"), text).map_err(|error| io(&error))?;
        fs::set_permissions(self.path("run/restart.sh"), fs::Permissions::from_mode(0o755)).map_err(|error| io(&error))
    }

    /// How often the service was restarted.
    pub fn restarts(&self) -> usize {
        fs::read_to_string(self.path("run/effects")).map_or(0, |text| text.lines().count())
    }

    pub fn file(&self, name: &str) -> String {
        fs::read_to_string(self.path(&format!("etc/{name}.toml"))).unwrap_or_default()
    }

    /// Which file a change is made in.
    pub fn target(&self, change: &str) -> &'static str {
        match (change, self.situation.asks) {
            ("other", _) => "till",
            (_, Asks::Nobody) => "override",
            (_, Asks::Anybody | Asks::Another) => "shop",
        }
    }

    pub fn role(&self) -> &'static str {
        match self.situation.agent {
            super::super::case::Agent::Changes => "general-purpose",
            super::super::case::Agent::Looks => "explore",
        }
    }

    pub fn i_am(&mut self, who: &str) -> Result<(), String> {
        let me = (who != "nobody" && who != "operator").then(|| who.to_owned());
        if me == self.me {
            return Ok(());
        }
        self.me = me;
        self.configure()
    }

    pub fn regroup(&mut self, who: &str, groups: &str) -> Result<(), String> {
        let groups = groups.split_whitespace().map(str::to_owned).collect();
        self.groups.insert(who.to_owned(), groups);
        self.configure()
    }

    /// Somebody else changes what the change is about.
    pub fn meddle(&self, file: &str, how: &str) -> Result<(), String> {
        let path = self.path(&format!("etc/{file}.toml"));
        match how {
            "append" => fs::write(&path, format!("{}# another line\n", self.file(file))).map_err(|error| io(&error)),
            "restore" => fs::write(&path, format!("{LINES}{}", self.situation.file)).map_err(|error| io(&error)),
            "link" => {
                fs::rename(&path, self.path("etc/aside.toml")).map_err(|error| io(&error))?;
                symlink("aside.toml", &path).map_err(|error| io(&error))
            }
            "remove" => fs::remove_file(&path).map_err(|error| io(&error)),
            "script" => self.script("something else"),
            other => Err(format!("nobody knows how to meddle with `{other}`")),
        }
    }

    fn configure(&self) -> Result<(), String> {
        let dir = |name: &str| self.path(name).display().to_string();
        let environment = match self.situation.asks {
            Asks::Nobody | Asks::Anybody => "staging",
            Asks::Another => "production",
        };
        let mut text = format!(
            "[logs.files]\ndir = {logs:?}\n[workspaces.etc]\ndir = {etc:?}\n[services.shop]\nenvironment = {environment:?}\n\
             logs = [{{ source = \"files\", file = \"shop.log\" }}]\nfiles = [{{ workspace = \"etc\", path = \"shop.toml\" }}]\n\
             temp_files = [{{ workspace = \"etc\", path = \"override.toml\" }}]\n\
             restart = {{ manager = \"command\", argv = [{script:?}], pid_file = {pid:?} }}\n\
             [services.till]\nenvironment = {environment:?}\nfiles = [{{ workspace = \"etc\", path = \"till.toml\" }}]\n\
             [store]\npath = {store:?}\n[writes]\nallow = true\n[policies]\ndirs = [{policies:?}]\n\
             [investigation]\nmodels = [\"puppet\"]\nwall = \"15m\"\nturns = 60\n\
             [models.puppet]\nprovider = \"openai\"\nmodel = \"puppet\"\nbase_url = {url:?}\nidle_timeout = \"10m\"\ntries = 1\n",
            logs = dir("logs"),
            etc = dir("etc"),
            script = dir("run/restart.sh"),
            pid = dir("run/pid"),
            store = dir("run/warrant.db"),
            policies = dir("policies"),
            url = self.base_url,
        );
        for (name, groups) in &self.groups {
            // Writing to a text never fails.
            let _ = write!(text, "[people.{name}]\ngroups = {groups:?}\n");
            if self.me.as_ref() == Some(name) {
                let _ = writeln!(text, "uids = [{}]", self.uid);
            }
            match name.as_str() {
                "bot" => text.push_str("human = false\n"),
                "eve" => text.push_str("active = false\n"),
                _ => {}
            }
        }
        // At once, so that nobody reads half of it.
        fs::write(self.path("config.new"), text).map_err(|error| io(&error))?;
        fs::rename(self.path("config.new"), self.path("warrant.toml")).map_err(|error| io(&error))
    }

    /// The program, as the user of this machine runs it.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).env("WARRANT_CONFIG", self.path("warrant.toml")).env("NO_COLOR", "1");
        command.env_remove("WARRANT_LOG").env_remove("WARRANT_TOKEN").current_dir(self.dir.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    /// Runs it to its end; what it printed, whatever it ended with.
    pub async fn run(&self, args: &[&str]) -> Result<(i32, String), String> {
        let output = self.command(args).output().await.map_err(|error| io(&error))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = String::from_utf8_lossy(&output.stderr);
        Ok((output.status.code().unwrap_or(-1), if text.is_empty() { said.into_owned() } else { text }))
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        // The service that the script left behind.
        if let Ok(pid) = fs::read_to_string(self.path("run/pid")) {
            drop(std::process::Command::new("kill").arg(pid.trim()).stderr(Stdio::null()).status());
        }
    }
}
