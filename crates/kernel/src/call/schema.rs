//! Stage 2: do the arguments parse, fit the schema and make sense? Then the target is resolved.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::domain::event::Call;
use crate::domain::name::EvidenceId;
use crate::domain::plan::Case;
use crate::domain::target::Target;

use super::Desk;
use super::arguments;
use super::gate::Gate;
use super::plan::Planned;
use super::refusal::Refusal;
use super::registry::Tool;
use super::tool::{Arguments, Problem};

/// A call whose arguments fit and whose target is resolved.
#[must_use]
pub struct Checked<'a> {
    tool: Tool<'a>,
    call: &'a Call,
    arguments: Arguments,
    flight_key: String,
    target: Target,
    case: Option<Case>,
}

impl<'a> Checked<'a> {
    pub(super) fn tool(&self) -> Tool<'a> {
        self.tool
    }

    pub(super) fn call(&self) -> &'a Call {
        self.call
    }

    pub(super) fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    /// The case for a write; none for a read.
    pub(super) fn case(&self) -> Option<&Case> {
        self.case.as_ref()
    }

    /// Equal for calls that ask the same thing, relative times as they were written.
    pub(super) fn flight_key(&self) -> &str {
        &self.flight_key
    }
}

/// Checks the arguments: every error at once.
pub(super) fn check<'a>(desk: Desk<'a>, planned: Planned<'a>) -> Result<Checked<'a>, Refusal> {
    let (tool, call) = planned.into_parts();
    let refused = |problems| Refusal::invalid_arguments(&without_secrets(desk, tool, call, problems));
    let checked = arguments::check(tool.definition, &call.arguments, desk.now, desk.services).map_err(refused)?;
    cited(desk, checked.case.as_ref()).map_err(refused)?;
    let target = catch_unwind(AssertUnwindSafe(|| tool.resolve(&checked.arguments, desk.now)))
        .map_err(|_panic| Refusal::panicked(None))?
        .map_err(refused)?;
    let flight_key = arguments::flight_key(&tool.about().name, &checked.given);
    Ok(Checked { tool, call, arguments: checked.arguments, flight_key, target, case: checked.case })
}

/// Evidence that a write rests on has to be there.
fn cited(desk: Desk<'_>, case: Option<&Case>) -> Result<(), Vec<Problem>> {
    let (Some(case), Gate::Open(writes)) = (case, desk.gate) else { return Ok(()) };
    let there = |id: &EvidenceId| writes.seen.iter().any(|result| result.evidence == Some(*id));
    let missing = case.evidence.iter().filter(|id| !there(id));
    let problems: Vec<Problem> = missing
        .map(|id| Problem::of("evidence", format!("there is no evidence {id} in what you have been shown")))
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Problems quote parts of the arguments, and a part of a secret is no longer found by the normaliser. So where the
/// arguments hold one, they are masked whole and checked once more, for the quotes.
fn without_secrets(desk: Desk<'_>, tool: Tool<'_>, call: &Call, problems: Vec<Problem>) -> Vec<Problem> {
    let masked = match desk.redactor.redact_text(&call.arguments) {
        Ok(masked) if masked.count > 0 => masked.text,
        // Out of order, it masks no message either, and then none is shown.
        Ok(_) | Err(_) => return problems,
    };
    arguments::check(tool.definition, &masked, desk.now, desk.services).err().unwrap_or_else(|| {
        let message = "they do not fit, and they hold a secret, so what is wrong with them is not quoted".to_owned();
        vec![Problem { pointer: String::new(), message }]
    })
}
