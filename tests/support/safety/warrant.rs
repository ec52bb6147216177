//! Warrant: what the suite drives here, through the program, its config, its files and its socket.
//!
//! A person is whoever the config takes the user of this machine for; the config is rewritten before each step, which
//! Warrant reads anew each time. The agent is `warrant ask` under a model that says what the case says.

#[path = "warrant/observed.rs"]
mod observed;

#[path = "warrant/puppet.rs"]
mod puppet;

#[path = "warrant/wire.rs"]
mod wire;

#[path = "warrant/yard.rs"]
mod yard;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::process::Child;

use super::adapter::{Adapter, Observed, Said, Stage};
use super::case::{Deed, Saw, Situation, Step};
use puppet::{Call, Puppet};
use wire::reason;
use yard::{OLD, Yard};

/// How long a write may take until it has ended.
const PATIENCE: Duration = Duration::from_secs(40);

/// How often it is looked whether it has.
const AGAIN: Duration = Duration::from_millis(15);

/// The built program.
pub struct WarrantAdapter {
    pub program: PathBuf,
    /// `tests/safety`, where the clock lies.
    pub data: PathBuf,
}

#[async_trait]
impl Adapter for WarrantAdapter {
    fn name(&self) -> String {
        "warrant".to_owned()
    }

    async fn set_up(&self, situation: &Situation) -> Result<Box<dyn Stage>, String> {
        let puppet = Puppet::start().await?;
        let yard = Yard::new(self.program.clone(), puppet.base_url.clone(), situation)?;
        let clock = if situation.clock { clock(&self.data, &yard).await? } else { None };
        let mut started =
            Started { yard, puppet, child: None, clock, tokens: BTreeMap::new(), proposed: BTreeMap::new() };
        if situation.clock && started.clock.is_none() {
            return Ok(Box::new(started));
        }
        let role = started.yard.role();
        started.start(&["ask", "why is shop slow?", "--json", "--role", role]).await?;
        Ok(Box::new(started))
    }
}

/// The clock that can be moved, where a C compiler is there to build it.
async fn clock(data: &Path, yard: &Yard) -> Result<Option<PathBuf>, String> {
    let library = yard.path("run/clock.so");
    let mut cc = tokio::process::Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(data.join("clock.c")).arg("-ldl").stderr(Stdio::null());
    Ok(cc.status().await.is_ok_and(|status| status.success()).then_some(library))
}

/// One investigation that waits for its model, and so for the case.
struct Started {
    yard: Yard,
    puppet: Puppet,
    child: Option<Child>,
    clock: Option<PathBuf>,
    tokens: BTreeMap<String, (String, String)>,
    /// The changes that were proposed, and what each puts in place.
    proposed: BTreeMap<String, String>,
}

impl Started {
    /// Starts the agent, and lets it read what changes are made in.
    async fn start(&mut self, args: &[&str]) -> Result<(), String> {
        let mut command = self.yard.command(args);
        if let Some(clock) = &self.clock {
            command.env("LD_PRELOAD", clock).env("SAFETY_CLOCK", self.yard.path("run/hours"));
        }
        command.stdout(Stdio::null());
        self.child = Some(command.stderr(Stdio::null()).spawn().map_err(|error| error.to_string())?);
        self.puppet.next().await?;
        self.read().await
    }

    async fn read(&mut self) -> Result<(), String> {
        let read = |name: &str| Call {
            tool: "read_file".to_owned(),
            arguments: json!({ "path": format!("etc:{name}.toml") }),
        };
        let logs = Call { tool: "search_logs".to_owned(), arguments: json!({ "service": "shop" }) };
        self.puppet.say("", &[read("shop"), read("override"), read("till"), logs]).await.map(drop)
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Result<Said, String> {
        let told = self.puppet.say("", &[Call { tool: tool.to_owned(), arguments }]).await?;
        wire::told(told.first().map_or("", String::as_str))
    }

    async fn propose(&mut self, step: &Step) -> Result<Said, String> {
        let change = step.change.as_deref().ok_or("which change?")?;
        let mut arguments =
            json!({ "because": "the pool is too small", "evidence": ["E1"], "otherwise": "orders fail" });
        let fields = arguments.as_object_mut().ok_or("arguments")?;
        let tool = if change == "restart" {
            fields.insert("service".to_owned(), "shop".into());
            "restart_service"
        } else {
            let new = step.text.clone().unwrap_or_else(|| match change {
                "a" | "other" => "size = 32".to_owned(),
                "b" => "size = 64".to_owned(),
                other => format!("size = {}", 100 + other.len() * 7 + other.bytes().map(usize::from).sum::<usize>()),
            });
            self.proposed.insert(change.to_owned(), new.clone());
            let target = self.yard.target(change);
            fields.insert("path".to_owned(), format!("etc:{target}.toml").into());
            fields.insert("old_string".to_owned(), OLD.into());
            fields.insert("new_string".to_owned(), new.into());
            if target == "override" { "edit_temp_config" } else { "edit_config" }
        };
        for (name, value) in step.with.iter().flatten() {
            fields.insert(name.clone(), serde_json::to_value(value).map_err(|error| error.to_string())?);
        }
        self.call(tool, arguments).await
    }

    /// Asks in the name of whoever does the step.
    async fn ask(&mut self, step: &Step, ask: &Value) -> Result<Result<Value, String>, String> {
        let token = match &step.token {
            None => None,
            Some(name) => Some(self.tokens.get(name).map_or_else(|| name.clone(), |(_, secret)| secret.clone())),
        };
        self.yard.i_am(step.by.as_deref().unwrap_or("nobody"))?;
        wire::ask(&self.yard.socket(), token.as_deref(), ask).await
    }

    /// A request as its operator sees it.
    async fn card(&mut self, request: u64) -> Result<Value, String> {
        self.yard.i_am("operator")?;
        let ask = json!({ "what": "show", "approval": format!("A{request}") });
        wire::ask(&self.yard.socket(), None, &ask).await?.map_err(|code| format!("not shown: {code}"))
    }

    /// What a person says they saw.
    async fn seen(&mut self, step: &Step) -> Result<Value, String> {
        let request = step.request.unwrap_or(1);
        let shown = self.card(request).await?;
        let another = match step.saw {
            Saw::Another => Some(self.card(request + 1).await?),
            Saw::Face | Saw::Whole | Saw::Older => None,
        };
        let revision = shown.pointer("/card/revision").and_then(Value::as_u64).ok_or("no revision")?;
        let digest = another.as_ref().unwrap_or(&shown).pointer("/card/digest_prefix").cloned().ok_or("no digest")?;
        let (revision, whole) = match step.saw {
            Saw::Face => (revision, "not_opened"),
            Saw::Older => (revision.saturating_sub(1), "opened"),
            Saw::Whole | Saw::Another => (revision, "opened"),
        };
        Ok(json!({ "approval": format!("A{request}"), "revision": revision, "digest": digest, "whole": whole }))
    }

    /// Says yes, and waits until what comes of it has ended.
    async fn approve(&mut self, step: &Step, what: &str) -> Result<Said, String> {
        let seen = self.seen(step).await?;
        let mut ask = json!({ "what": what, "seen": seen });
        if let (Some(reason), Some(fields)) = (&step.text, ask.as_object_mut()) {
            fields.insert("reason".to_owned(), reason.clone().into());
        }
        match self.ask(step, &ask).await? {
            Err(code) => Ok(Said::Refused(reason(&code))),
            Ok(counted) if counted.get("then").and_then(Value::as_str) == Some("more_needed") => {
                Ok(Said::Taken("counted".to_owned()))
            }
            Ok(_) => self.settled(step.request.unwrap_or(1)).await,
        }
    }

    /// Waits until nothing is under way, and says where a request stands.
    async fn settled(&mut self, request: u64) -> Result<Said, String> {
        let begun = tokio::time::Instant::now();
        loop {
            let shown = self.card(request).await?;
            let state = shown.pointer("/card/state/is").and_then(Value::as_str).unwrap_or_default().to_owned();
            let goes_on = shown.get("under_way").and_then(Value::as_bool) == Some(true) || state == "consumed";
            if !goes_on {
                let word = match state.as_str() {
                    "executed" => "done",
                    "approved" => "halted",
                    other => other,
                };
                return Ok(Said::Taken(word.replace('_', "-")));
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("{state} for too long"));
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    async fn at_once(&mut self, step: &Step) -> Result<Said, String> {
        let ask = json!({ "what": "approve", "seen": self.seen(step).await? });
        self.yard.i_am(step.by.as_deref().unwrap_or("nobody"))?;
        let socket = self.yard.socket();
        let many = (0..step.n.unwrap_or(4)).map(|_| wire::ask(&socket, None, &ask));
        // Some find no seat at the socket; they are as good as not sent.
        drop(futures_util::future::join_all(many).await);
        self.settled(step.request.unwrap_or(1)).await
    }

    async fn told(&mut self, step: &Step, ask: Value) -> Result<Said, String> {
        Ok(match self.ask(step, &ask).await? {
            Ok(_) => Said::ok(),
            Err(code) => Said::Refused(reason(&code)),
        })
    }

    /// Kills the agent and takes it up again.
    async fn restart(&mut self) -> Result<(), String> {
        self.kill().await?;
        self.yard.i_am("ann")?;
        self.puppet.forget();
        let (_, listed) = self.yard.run(&["investigations", "list", "--json"]).await?;
        let id = listed.lines().next().and_then(|line| serde_json::from_str::<Value>(line).ok());
        let id = id.and_then(|it| it.get("id")?.as_str().map(str::to_owned)).ok_or("no investigation is left")?;
        self.start(&["investigations", "resume", &id, "--json"]).await
    }

    async fn kill(&mut self) -> Result<(), String> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        child.kill().await.map_err(|error| error.to_string())
    }
}

#[async_trait]
impl Stage for Started {
    async fn act(&mut self, step: &Step) -> Result<Said, String> {
        if self.child.is_none() {
            return Ok(Said::NotHere("no C compiler builds the clock".to_owned()));
        }
        let approval = || format!("A{}", step.request.unwrap_or(1));
        let text = || step.text.clone().unwrap_or_else(|| "so that it is said".to_owned());
        match step.deed {
            Deed::Propose => {
                // Between them the target is put back, so that each is the first of its kind.
                for _ in 1..step.n.unwrap_or(1) {
                    self.propose(step).await?;
                    self.yard.meddle(self.yard.target(step.change.as_deref().unwrap_or("a")), "restore")?;
                }
                self.propose(step).await
            }
            Deed::Call => {
                let arguments = step.with.as_ref().map(serde_json::to_value).transpose();
                let arguments =
                    arguments.map_err(|error| error.to_string())?.or_else(|| step.text.clone().map(Value::from));
                self.call(step.tool.as_deref().ok_or("which tool?")?, arguments.unwrap_or_else(|| json!({}))).await
            }
            Deed::Say => self.puppet.say(&text(), &[]).await.map(|_| Said::ok()),
            Deed::Approve => self.approve(step, "approve").await,
            Deed::BreakGlass => self.approve(step, "break_glass").await,
            Deed::ApproveAtOnce => self.at_once(step).await,
            Deed::ApproveAndKill => {
                let seen = self.seen(step).await?;
                self.yard.i_am(step.by.as_deref().unwrap_or("nobody"))?;
                let (socket, ask) = (self.yard.socket(), json!({ "what": "approve", "seen": seen }));
                let sent = tokio::spawn(async move { wire::ask(&socket, None, &ask).await });
                tokio::time::sleep(Duration::from_millis(u64::try_from(step.n.unwrap_or(0)).unwrap_or(0))).await;
                self.kill().await?;
                drop(sent.await);
                self.child = None;
                self.restart().await?;
                self.settled(step.request.unwrap_or(1)).await
            }
            Deed::Deny => {
                let seen = self.seen(step).await?;
                self.told(step, json!({ "what": "deny", "seen": seen, "reason": text() })).await
            }
            Deed::Revoke => {
                self.told(step, json!({ "what": "revoke", "approval": approval(), "reason": text() })).await
            }
            Deed::Reopen => {
                self.told(step, json!({ "what": "reopen", "approval": approval(), "reason": text() })).await
            }
            Deed::Review => self.told(step, json!({ "what": "review", "approval": approval(), "note": text() })).await,
            Deed::Stop => self.told(step, json!({ "what": "stop", "reason": text() })).await,
            Deed::Lift => self.told(step, json!({ "what": "lift", "reason": text() })).await,
            Deed::Look => {
                self.yard.run(&["approvals", "show", &approval(), "--whole"]).await.map(|(_, text)| Said::Shown(text))
            }
            Deed::Meddle => {
                let target = self.yard.target(step.change.as_deref().unwrap_or("a"));
                self.yard.meddle(target, step.how.as_deref().unwrap_or_default())?;
                Ok(Said::ok())
            }
            Deed::Regroup => {
                self.yard.regroup(step.by.as_deref().unwrap_or_default(), step.how.as_deref().unwrap_or_default())?;
                Ok(Said::ok())
            }
            Deed::Token => {
                let person = step.by.clone().ok_or("for whom?")?;
                self.yard.i_am("operator")?;
                let made =
                    wire::ask(&self.yard.socket(), None, &json!({ "what": "token_new", "person": person })).await?;
                let made = made.map_err(|code| format!("no token: {code}"))?;
                let field = |at: &str| made.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
                self.tokens
                    .insert(step.token.clone().ok_or("what is it called?")?, (field("/kept/id"), field("/token")));
                Ok(Said::ok())
            }
            Deed::RevokeToken => {
                let id = step.token.as_ref().and_then(|name| self.tokens.get(name)).map(|(id, _)| id.clone());
                let ask = json!({ "what": "token_revoke", "id": id.ok_or("which token?")? });
                self.yard.i_am("operator")?;
                let revoked = wire::ask(&self.yard.socket(), None, &ask).await?;
                Ok(revoked.map_or_else(|code| Said::Refused(reason(&code)), |_| Said::ok()))
            }
            Deed::Clock => {
                let hours = step.n.unwrap_or(0).to_string();
                std::fs::write(self.yard.path("run/hours"), hours).map_err(|error| error.to_string())?;
                Ok(Said::ok())
            }
            Deed::Restart => self.restart().await.map(|()| Said::ok()),
            Deed::Raw => {
                self.yard.i_am(step.by.as_deref().unwrap_or("nobody"))?;
                let answer = wire::raw(&self.yard.socket(), text().as_bytes()).await?;
                if answer.is_empty() {
                    return Ok(Said::Refused("no-answer".to_owned()));
                }
                Ok(wire::read(&answer)?.map_or_else(|code| Said::Refused(reason(&code)), |_| Said::ok()))
            }
        }
    }

    async fn end(mut self: Box<Self>) -> Result<Observed, String> {
        self.observe().await
    }
}
