//! Stage 1: is there such a tool for this role?

use crate::domain::event::Call;

use super::Desk;
use super::definition::{did_you_mean, nearest};
use super::normalise;
use super::refusal::Refusal;
use super::registry::Tool;

/// A call of a tool that exists and that the role sees.
#[must_use]
pub struct Planned<'a> {
    tool: Tool<'a>,
    call: &'a Call,
}

impl<'a> Planned<'a> {
    pub(super) fn into_parts(self) -> (Tool<'a>, &'a Call) {
        (self.tool, self.call)
    }
}

/// Finds the tool. A tool outside the role is as unknown as one that does not exist; only the trace tells them apart.
pub(super) fn plan<'a>(desk: Desk<'a>, call: &'a Call) -> Result<Planned<'a>, Refusal> {
    let role = &desk.run.role;
    let known = desk.registry.get(&call.tool);
    if let Some(tool) = known.filter(|tool| tool.about().roles.contains(role)) {
        return Ok(Planned { tool, call });
    }
    let names: Vec<&str> = desk.registry.for_role(role).map(|tool| tool.about().name.as_str()).collect();
    let asked = normalise::tool_name(desk.redactor, &call.tool);
    let near = nearest(&asked, names.iter().copied());
    let message = if near.is_empty() {
        format!("there is no tool `{asked}`; there are: {}", names.join(", "))
    } else {
        format!("there is no tool `{asked}`{}", did_you_mean(&near))
    };
    let mut refusal = Refusal::unknown_tool(message);
    refusal.trace_reason = known.map(|_| "NOT_IN_ROLE");
    Err(refusal)
}
