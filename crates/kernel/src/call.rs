//! ONE TOOL CALL.
//!
//! [`carry_out`] takes a call that nobody has looked at and gives the uniform result. Each of the seven stages makes a
//! type that only it can make and that the next one needs, so a stage can't be skipped:
//!
//! | stage | takes | makes |
//! |---|---|---|
//! | 1 [`plan`] | `Call` | [`plan::Planned`] |
//! | 2 [`schema`] | `Planned` | [`schema::Checked`] |
//! | 3 [`ruling`] | `Checked` | [`ruling::Ruling`] |
//! | 4 [`gate`] | `Ruling` | [`gate::Cleared`] |
//! | 5 [`execute`] | `Cleared` | [`execute::Raw`] |
//! | 6 [`normalise`] | `Raw` or [`refusal::Refusal`] | `ToolResult` |
//! | 7 [`record`] | `ToolResult` | `ToolResult` |
//!
//! A refusal at any stage becomes a result too. Tools implement [`tool::ReadTool`] and are registered from outside;
//! this module never names one.

pub mod tool;

pub mod write;

mod case;

pub mod definition;

pub mod arguments;

pub mod registry;

pub mod refusal;

pub mod plan;

pub mod schema;

pub mod ruling;

pub mod gate;

pub mod execute;

pub mod normalise;

pub mod record;

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::domain::event::Call;
use crate::domain::result::ToolResult;
use crate::domain::run::Run;
use crate::policy::Policy;
use crate::redact::Redactor;

use execute::{Conduct, Raw};
use gate::Gate;
use record::Recorder;
use refusal::Refusal;
use registry::Registry;
use tool::{EvidencePages, Services};

/// What every stage may use. Borrowed: one call owns nothing of the investigation.
#[derive(Clone, Copy)]
pub struct Desk<'a> {
    /// The tools.
    pub registry: &'a Registry,
    /// The services of the catalog.
    pub services: &'a dyn Services,
    /// Who may do what.
    pub policy: &'a Policy,
    /// Masks with the investigation's key.
    pub redactor: &'a Redactor,
    /// On whose behalf.
    pub run: &'a Run,
    /// Earlier outputs.
    pub evidence: &'a dyn EvidencePages,
    /// Runs the work: limits, single flight.
    pub conduct: &'a dyn Conduct,
    /// Where decisions and results are kept.
    pub recorder: &'a dyn Recorder,
    /// Whether writes can be asked for.
    pub gate: Gate<'a>,
    /// The time of the call; no stage has another clock.
    pub now: Timestamp,
    /// Fires when the work must end.
    pub cancel: &'a CancellationToken,
}

/// Carries out one call. Always gives a result; what went wrong stands in it.
pub async fn carry_out(desk: Desk<'_>, call: &Call) -> ToolResult {
    let ended = attempt(desk, call).await;
    let (result, whole) = normalise::result(desk, call, ended);
    record::result(desk, call, result, whole).await
}

/// Stages 1 to 5.
async fn attempt(desk: Desk<'_>, call: &Call) -> Result<Raw, Refusal> {
    let planned = plan::plan(desk, call)?;
    let checked = schema::check(desk, planned)?;
    let ruling = ruling::rule(desk, checked).await;
    let cleared = gate::clear(desk, ruling).await?;
    Ok(execute::run(desk, cleared).await)
}
