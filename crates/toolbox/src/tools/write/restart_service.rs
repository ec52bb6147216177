//! `restart_service`: restarts a service through the manager that the catalog names.
//!
//! Bound are the host, the manager, the unit and the files that define it; how the service is, is shown and may change: a
//! service in a crash loop can still be approved. Right before the restart a note of the process is made, durably; a lost
//! outcome is told by it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::gate::warrant::Warrant;
use warrant_kernel::call::tool::{Arguments, Problem};
use warrant_kernel::call::write::{Effect, Held, Looking, Probed, Verdict, WriteError, WriteTool};
use warrant_kernel::domain::decision::Tier;
use warrant_kernel::domain::name::{ServiceName, SourceName};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::plan::{Facts, Plan, Preview, Proposal};
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::{Target, TargetKind};
use warrant_kernel::redact::guard::first_chars;

use crate::catalog::Catalog;
use crate::catalog::restart::Restart;
use crate::catalog::service::Service;
use crate::tools::sources::http::clients::HttpClients;
use crate::tools::write::file::{cant_look, proposal, refused, unfit};
use crate::tools::write::kept::Kept;
use crate::tools::write::names::host_name;
use crate::tools::write::restart::procfs::{self, Process, TICKS};
use crate::tools::write::restart::{Asked, Manager, Seen, Standing};

/// How long a service has after its restart to be well again.
const WELL_WITHIN: Duration = Duration::from_secs(30);
/// How long one process must have run to be taken for one that stays.
const STEADY: Duration = Duration::from_secs(2);
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);
/// A health URL that takes longer has not answered.
const HEALTH: Duration = Duration::from_secs(5);
/// A process younger than this, in seconds, may be one of a crash loop.
const YOUNG: u64 = 60;
/// A process that was started later than this after the note, in seconds, was started by somebody else.
const OURS_WITHIN: u64 = 120;

pub(super) struct RestartService {
    catalog: Arc<Catalog>,
    clients: Arc<HttpClients>,
    kept: Kept,
}

/// The tool.
#[must_use]
pub fn restart_service(catalog: Arc<Catalog>, clients: Arc<HttpClients>, kept: Kept) -> Arc<dyn WriteTool> {
    Arc::new(RestartService { catalog, clients, kept })
}

/// What was so right before the restart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    boot: String,
    ticks: u64,
    process: Option<Process>,
}

fn note_name(plan: &Plan) -> String {
    format!("restart-{}-{}", plan.run.investigation, plan.id)
}

impl RestartService {
    fn service(&self, name: Option<&str>) -> Result<(&ServiceName, &Service, &Restart), Problem> {
        let wanted = first_chars(name.unwrap_or_default(), 80);
        let found = self.catalog.services().iter().find(|(name, _)| name.as_str() == wanted);
        let (name, service) = found.ok_or_else(|| Problem::of("service", format!("there is no service `{wanted}`")))?;
        match &service.restart {
            Some(restart) => Ok((name, service, restart)),
            None => Err(Problem::of("service", format!("the catalog does not say how `{name}` is restarted"))),
        }
    }

    fn of_plan(&self, plan: &Plan) -> Result<(&ServiceName, &Service, &Restart), WriteError> {
        self.service(plan.arguments.get("service").and_then(Value::as_str)).map_err(unfit)
    }

    async fn bound_now(restart: &Restart) -> Result<Facts, WriteError> {
        let unit = Manager(restart).unit().await?;
        let facts = [
            ("host", host_name()),
            ("manager", unit.manager.to_owned()),
            ("unit", unit.name),
            ("unit_file_sha256", unit.definition),
        ];
        Ok(facts.map(|(name, value)| (name.to_owned(), value)).into())
    }

    /// Restarts what a plan says, once.
    pub(super) async fn apply(&self, plan: &Plan) -> Result<Effect, WriteError> {
        let (name, _, restart) = self.of_plan(plan)?;
        if Self::bound_now(restart).await? != plan.preview.bound {
            return Err(refused("CHANGED", format!("how `{name}` is restarted is no longer what was approved")));
        }
        let manager = Manager(restart);
        let before = manager.look().await?;
        self.note(plan, &before)?;
        let asked = manager.restart().await;
        let after = match manager.look().await {
            Ok(after) => after,
            Err(error) => {
                return match asked {
                    Asked::Refused(why) => Err(not_restarted(name, &why)),
                    Asked::Done | Asked::Failed(_) | Asked::Late => Err(WriteError::Unknown {
                        message: format!("`{name}` was to be restarted, and how it is now can't be told: {error}"),
                    }),
                };
            }
        };
        let said = match asked {
            Asked::Refused(why) => return Err(not_restarted(name, &why)),
            Asked::Done => format!("restarted `{name}`"),
            // Only a changed process shows that it was restarted all the same.
            Asked::Failed(why) if after.process != before.process => {
                format!("restarted `{name}`, and its manager told of a failure: {why}")
            }
            Asked::Failed(why) => {
                return Err(WriteError::Unknown { message: format!("restarting `{name}` failed: {why}") });
            }
            Asked::Late => {
                return Err(WriteError::Unknown { message: format!("restarting `{name}` did not end in time") });
            }
        };
        Ok(effect(name, &plan.preview.bound, said, &after))
    }

    fn note(&self, plan: &Plan, before: &Seen) -> Result<(), WriteError> {
        let failed = |message: String| WriteError::Backend { reason: "NOT_NOTED", message };
        let ticks = procfs::uptime().ok_or_else(|| failed("`/proc/uptime` can't be read".to_owned()))?;
        let note = Note { boot: procfs::boot(), ticks, process: before.process };
        let bytes = serde_json::to_vec(&note).map_err(|error| failed(error.to_string()))?;
        self.kept
            .note(&note_name(plan), &bytes)
            .map_err(|error| failed(format!("noting the process before the restart failed: {error}; nothing was done")))
    }

    fn noted(&self, plan: &Plan) -> Result<Option<Note>, String> {
        let bytes = self.kept.noted(&note_name(plan)).map_err(|error| format!("the note can't be read: {error}"))?;
        bytes
            .map(|bytes| serde_json::from_slice(&bytes).map_err(|error| format!("the note is damaged: {error}")))
            .transpose()
    }

    async fn is_well(&self, name: &ServiceName) -> Result<(), String> {
        for page in self.clients.health(name) {
            match tokio::time::timeout(HEALTH, page.page("*/*", 2_000)).await {
                Ok(Ok(answer)) if (200..300).contains(&answer.status()) => {}
                Ok(Ok(answer)) => return Err(format!("{} answers {}", page.url(), answer.status())),
                Ok(Err(error)) => return Err(error.to_string()),
                Err(_) => return Err(format!("{} did not answer within {} s", page.url(), HEALTH.as_secs())),
            }
        }
        Ok(())
    }

    /// Looks until the service is steady and well, or the time is over.
    async fn until_well(
        &self,
        name: &ServiceName,
        restart: &Restart,
        old: Option<Process>,
        cancel: &CancellationToken,
    ) -> Verdict {
        let until = Instant::now() + WELL_WITHIN;
        let mut steady: Option<(Process, Instant)> = None;
        loop {
            let (why, facts) = match Manager(restart).look().await {
                Err(error) => (error.to_string(), Facts::new()),
                Ok(seen) => {
                    let facts = shown(&seen);
                    match seen.process.filter(|_| seen.standing == Standing::Running) {
                        None => (format!("`{name}` does not run: {}", seen.state), facts),
                        Some(process) if Some(process) == old => ("the process is still the old one".to_owned(), facts),
                        Some(process) => {
                            let since = steady
                                .filter(|(known, _)| *known == process)
                                .map_or_else(Instant::now, |(_, since)| since);
                            steady = Some((process, since));
                            match self.is_well(name).await {
                                Ok(()) if since.elapsed() >= STEADY => {
                                    let because =
                                        format!("a new process ({}) runs and the health URLs answer 2xx", process.pid);
                                    return Verdict { held: Held::Held, because, facts };
                                }
                                Ok(()) => ("it has not run for long enough to be taken for steady".to_owned(), facts),
                                Err(why) => (why, facts),
                            }
                        }
                    }
                }
            };
            if cancel.is_cancelled() {
                return Verdict { held: Held::Unknown, because: format!("the look was ended: {why}"), facts };
            }
            if Instant::now() >= until {
                let because = format!("after {} s: {why}", WELL_WITHIN.as_secs());
                return Verdict { held: Held::Failed, because, facts };
            }
            tokio::select! {
                () = cancel.cancelled() => {}
                () = sleep(BETWEEN_LOOKS) => {}
            }
        }
    }
}

fn not_restarted(name: &ServiceName, why: &str) -> WriteError {
    WriteError::Backend { reason: "RESTART_REFUSED", message: format!("`{name}` was not restarted: {why}") }
}

fn effect(name: &ServiceName, bound: &Facts, said: String, after: &Seen) -> Effect {
    let mut facts = bound.clone();
    facts.extend(after.process.map(|process| ("pid".to_owned(), process.pid.to_string())));
    let mut summary = Map::new();
    summary.insert("service".to_owned(), name.to_string().into());
    summary.insert("done".to_owned(), said.clone().into());
    summary.insert("state".to_owned(), after.state.clone().into());
    summary.insert("pid".to_owned(), after.process.map(|process| process.pid).into());
    Effect {
        after: facts,
        side_effects: vec![said],
        output: Output::lines(Origin::Warrant, summary, Vec::new()),
        undo: None,
    }
}

/// How the service is, as people are shown it.
fn shown(seen: &Seen) -> Facts {
    let mut facts = BTreeMap::from([("state".to_owned(), seen.state.clone())]);
    if let Some(process) = seen.process {
        facts.insert("pid".to_owned(), process.pid.to_string());
        facts.extend(age(process).map(|age| ("running_for".to_owned(), format!("{age}s"))));
    }
    facts.extend(seen.restarts.map(|count| ("restarts_by_its_manager".to_owned(), count.to_string())));
    facts
}

/// How long a process has run, in seconds.
fn age(process: Process) -> Option<u64> {
    Some(procfs::uptime()?.saturating_sub(process.started) / TICKS)
}

/// What a note and a look tell together of a restart whose outcome was lost.
fn told(note: Option<&Note>, seen: &Seen, boot: &str, bound: &Facts) -> Probed {
    let cant = |because: &str| Probed::CantTell { because: because.to_owned() };
    let Some(note) = note else {
        return Probed::DidNot { because: "it was not begun: no note of the process before it was made".to_owned() };
    };
    if note.boot != boot {
        return cant("the host was started again since");
    }
    match (note.process, seen.process) {
        _ if seen.standing == Standing::Moving => cant("the service is being started or stopped"),
        (Some(old), Some(now)) if old == now => {
            Probed::DidNot { because: format!("the process is the one from before ({})", now.pid) }
        }
        (None, _) => cant("there was no process before it"),
        (Some(old), _) if note.ticks.saturating_sub(old.started) < YOUNG * TICKS => {
            cant("the service had been started less than a minute before: it may be in a crash loop")
        }
        (Some(_), None) => cant("the service does not run"),
        (Some(_), Some(now)) if now.started < note.ticks => {
            cant("the process is older than the restart, and another one")
        }
        (Some(_), Some(now)) if now.started > note.ticks + OURS_WITHIN * TICKS => {
            cant("the process was started much later")
        }
        (Some(old), Some(now)) => {
            let mut after = bound.clone();
            after.insert("pid".to_owned(), now.pid.to_string());
            Probed::Took {
                after,
                because: format!("process {} was started right after it, in place of {}", now.pid, old.pid),
            }
        }
    }
}

#[async_trait]
impl WriteTool for RestartService {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        let (name, service, _) = self.service(args.text("service")).map_err(|problem| vec![problem])?;
        let source: SourceName =
            name.as_str().parse().map_err(|error| vec![Problem::of("service", format!("{error}"))])?;
        Ok(Target {
            kind: TargetKind::Service,
            name: name.to_string(),
            service: Some(name.clone()),
            environment: service.environment.clone(),
            owner: service.owner.clone(),
            source,
        })
    }

    async fn preview(&self, args: &Arguments, _target: &Target, _looking: Looking<'_>) -> Result<Preview, WriteError> {
        let (name, _, restart) = self.service(args.text("service")).map_err(unfit)?;
        let bound = Self::bound_now(restart).await?;
        let seen = Manager(restart).look().await?;
        let mut facts = shown(&seen);
        facts.extend(procfs::load().map(|load| ("load".to_owned(), load)));
        let mut notes = vec!["what the service is doing is broken off".to_owned()];
        match seen.standing {
            Standing::Running => {}
            Standing::Down => notes.push("it does not run now; this starts it".to_owned()),
            Standing::Moving => notes.push("it is being started or stopped right now".to_owned()),
            Standing::Failing => notes.push("it fails, and its manager starts it again and again".to_owned()),
        }
        if seen.process.and_then(age).is_some_and(|age| age < YOUNG) {
            notes.push("it was started less than a minute ago: it may be in a crash loop".to_owned());
        }
        let depends: Vec<&str> = self
            .catalog
            .services()
            .iter()
            .filter(|(_, service)| service.depends_on.contains(name))
            .map(|(name, _)| name.as_str())
            .collect();
        if !depends.is_empty() {
            notes.push(format!("depend on `{name}`: `{}`", depends.join("`, `")));
        }
        let fact = |name: &str| bound.get(name).map(String::as_str).unwrap_or_default();
        let effect =
            format!("restarts `{name}` ({} through {}) on host `{}`", fact("unit"), fact("manager"), fact("host"));
        Ok(Preview { effect, bound, shown: facts, diff: Vec::new(), notes, floor: Some(Tier::High) })
    }

    async fn write(&self, warrant: Warrant, looking: Looking<'_>) -> Result<Effect, WriteError> {
        if looking.cancel.is_cancelled() {
            return Err(WriteError::Backend { reason: "CANCELLED", message: "ended before it began".to_owned() });
        }
        self.apply(&warrant.spend()).await
    }

    async fn probe(&self, plan: &Plan, _looking: Looking<'_>) -> Probed {
        let note = match self.noted(plan) {
            Ok(note) => note,
            Err(because) => return Probed::CantTell { because },
        };
        let restart = match self.of_plan(plan) {
            Ok((_, _, restart)) => restart,
            Err(error) => return Probed::CantTell { because: error.to_string() },
        };
        match Manager(restart).look().await {
            Ok(seen) => told(note.as_ref(), &seen, &procfs::boot(), &plan.preview.bound),
            Err(error) => Probed::CantTell { because: error.to_string() },
        }
    }

    async fn verify(&self, plan: &Plan, _effect: &Effect, looking: Looking<'_>) -> Verdict {
        let (name, _, restart) = match self.of_plan(plan) {
            Ok(found) => found,
            Err(error) => return cant_look(&error),
        };
        match self.noted(plan) {
            Ok(note) => self.until_well(name, restart, note.and_then(|note| note.process), looking.cancel).await,
            Err(because) => Verdict { held: Held::Unknown, because, facts: Facts::new() },
        }
    }

    fn follow_ups(&self, plan: &Plan) -> Vec<Proposal> {
        let Ok((name, service, _)) = self.of_plan(plan) else { return Vec::new() };
        let health = (!service.health.is_empty())
            .then(|| proposal("http_check", json!({"service": name}), "shows whether the service is well"));
        let logs = (!service.logs.is_empty()).then(|| {
            proposal("compare_logs", json!({"service": name, "since": "1m ago"}), "shows whether the errors went down")
        });
        health.into_iter().chain(logs).flatten().collect()
    }
}

#[cfg(test)]
mod tests;
