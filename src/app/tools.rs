//! `warrant tools list|show|call`.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::execute::AtOnce;
use warrant_kernel::call::gate::Gate;
use warrant_kernel::call::record::NotKept;
use warrant_kernel::call::tool::{Clock, EvidencePage, EvidencePages, ReadError};
use warrant_kernel::call::{Desk, carry_out};
use warrant_kernel::domain::decision::Risk;
use warrant_kernel::domain::event::{Call, Caller};
use warrant_kernel::domain::name::{CallId, EvidenceId, RoleName};
use warrant_kernel::domain::result::ToolResult;
use warrant_kernel::domain::run::{Channel, Run, Trigger, Writes};

use super::fault::Fault;
use super::{App, SystemClock, roles};

/// One tool for `tools list`.
#[must_use]
pub fn list(app: &App) -> Vec<Value> {
    app.bench
        .registry
        .iter()
        .map(|tool| {
            let about = tool.about();
            let mut row = json!({
                "name": about.name, "risk": about.risk, "roles": about.roles, "description": about.description,
            });
            if let (Some(why), Some(row)) = (not_offered(app, about.risk), row.as_object_mut()) {
                row.insert("not_offered".to_owned(), why.into());
            }
            row
        })
        .collect()
}

/// Why no model is offered a tool of this risk, where none is.
fn not_offered(app: &App, risk: Risk) -> Option<&'static str> {
    match (risk, app.config.writes) {
        (Risk::Read | Risk::Shell, _) | (Risk::Write, Writes::Allowed) => None,
        (Risk::Write, Writes::Off) => {
            Some("writes are off: set `allow = true` under `[writes]` in the config, or ask with `--allow-writes`")
        }
        (Risk::Network | Risk::Dangerous, _) => Some("tools of this risk are not carried out"),
    }
}

/// The role × tool table, as Markdown.
#[must_use]
pub fn table(app: &App) -> String {
    let roles: Vec<RoleName> = roles(&app.config).into_iter().collect();
    let names: Vec<&str> = roles.iter().map(RoleName::as_str).collect();
    let mut lines = vec![format!("| tool | {} |", names.join(" | ")), format!("|---{}|", "|---".repeat(names.len()))];
    for tool in app.bench.registry.iter() {
        let about = tool.about();
        let cells = roles.iter().map(|role| if about.roles.contains(role) { "yes" } else { "" });
        lines.push(format!("| {} | {} |", about.name, cells.collect::<Vec<_>>().join(" | ")));
    }
    lines.join("\n")
}

/// Everything about one tool, for `tools show`.
///
/// # Errors
/// [`Fault::Usage`] where there is no such tool.
pub fn show(app: &App, name: &str) -> Result<Value, Fault> {
    let tool = app.bench.registry.get(name).ok_or_else(|| unknown(app, name))?;
    let about = tool.about();
    Ok(json!({
        "name": about.name, "version": about.version, "description": about.description, "risk": about.risk,
        "roles": about.roles, "parallel_safe": about.parallel_safe, "timeout_s": about.timeout.as_secs_f64(),
        "cache_s": about.cache.as_secs_f64(), "output": about.output, "target": about.target, "run": about.run,
        "schema": tool.definition.schema(),
        "examples": about.examples.iter().filter(|example| example.fits).map(|example| &example.args).collect::<Vec<_>>(),
    }))
}

fn unknown(app: &App, name: &str) -> Fault {
    let names: Vec<&str> = app.bench.registry.iter().map(|tool| tool.about().name.as_str()).collect();
    Fault::Usage(format!("there is no tool `{name}`; there are: {}", names.join(", ")))
}

/// Runs one tool through all seven stages.
///
/// # Errors
/// [`Fault::Usage`] for a role that isn't there; what the tool itself says stands in the result.
pub async fn call(
    app: &App,
    name: &str,
    arguments: &str,
    role: &str,
    cancel: &CancellationToken,
) -> Result<ToolResult, Fault> {
    let now = SystemClock.now();
    let run = Run {
        investigation: "command-line".parse().map_err(|error| Fault::Failed(format!("{error}")))?,
        trigger: Trigger::Question { text: format!("warrant tools call {name}") },
        requester: app.requester().await?,
        role: app.role(role)?,
        channel: Channel::Command,
        writes: Writes::Off,
        service: None,
        since: now.checked_sub(app.config.window).unwrap_or(now),
        opened_at: now,
    };
    let call = Call {
        id: CallId::nth(1),
        number: 1,
        tool: name.to_owned(),
        arguments: arguments.to_owned(),
        by: Caller::Person,
    };
    let desk = Desk {
        registry: &app.bench.registry,
        services: app.bench.catalog.as_ref(),
        policy: &app.bench.policy,
        redactor: &app.redactor,
        run: &run,
        evidence: &NoEvidence,
        conduct: &AtOnce,
        recorder: &NotKept,
        gate: Gate::ReadsOnly,
        now,
        cancel,
    };
    Ok(carry_out(desk, &call).await)
}

/// A single call has no earlier ones.
struct NoEvidence;

#[async_trait::async_trait]
impl EvidencePages for NoEvidence {
    async fn page(&self, _evidence: EvidenceId, _from: u64, _count: u64) -> Result<Option<EvidencePage>, ReadError> {
        Ok(None)
    }
}
