//! Stage 2: do the arguments parse, fit the schema and make sense? Then the target is resolved.

use crate::domain::event::Call;
use crate::domain::target::Target;

use super::Desk;
use super::arguments;
use super::plan::Planned;
use super::refusal::Refusal;
use super::registry::Tool;
use super::tool::Arguments;

/// A call whose arguments fit and whose target is resolved.
#[must_use]
pub struct Checked<'a> {
    tool: Tool<'a>,
    call: &'a Call,
    arguments: Arguments,
    flight_key: String,
    target: Target,
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

    /// Equal for calls that ask the same thing, relative times as they were written.
    pub(super) fn flight_key(&self) -> &str {
        &self.flight_key
    }
}

/// Checks the arguments: every error at once.
pub(super) fn check<'a>(desk: Desk<'a>, planned: Planned<'a>) -> Result<Checked<'a>, Refusal> {
    let (tool, call) = planned.into_parts();
    let checked = arguments::check(tool.definition, &call.arguments, desk.now, desk.services)
        .map_err(|problems| Refusal::invalid_arguments(&problems))?;
    let target =
        tool.code.resolve(&checked.arguments, desk.now).map_err(|problems| Refusal::invalid_arguments(&problems))?;
    let flight_key = arguments::flight_key(&tool.about().name, &checked.given);
    Ok(Checked { tool, call, arguments: checked.arguments, flight_key, target })
}
