//! Stage 1: is there such a tool for this role?

use crate::domain::event::Call;

use super::Desk;
use super::refusal::Refusal;
use super::registry::Tool;

/// A call of a tool that exists and that the role sees.
#[must_use]
pub struct Planned<'a> {
    tool: &'a Tool,
    call: &'a Call,
}

impl<'a> Planned<'a> {
    pub(super) fn tool(&self) -> &'a Tool {
        self.tool
    }

    pub(super) fn call(&self) -> &'a Call {
        self.call
    }
}

/// Finds the tool. A tool outside the role is as unknown as one that does not exist; only the trace tells them apart.
pub(super) fn plan<'a>(desk: Desk<'a>, call: &'a Call) -> Result<Planned<'a>, Refusal> {
    let role = &desk.run.role;
    let known = desk.registry.get(&call.tool);
    if let Some(tool) = known.filter(|tool| tool.definition.roles.contains(role)) {
        return Ok(Planned { tool, call });
    }
    let names: Vec<&str> = desk.registry.for_role(role).map(|tool| tool.definition.name.as_str()).collect();
    let asked: String = call.tool.chars().take(80).collect();
    let near = nearest(&asked, names.iter().copied());
    let message = match near {
        Some(near) => format!("there is no tool `{asked}`; did you mean `{near}`?"),
        None => format!("there is no tool `{asked}`; there are: {}", names.join(", ")),
    };
    let mut refusal = Refusal::unknown_tool(message);
    refusal.trace_reason = known.map(|_| "NOT_IN_ROLE");
    Err(refusal)
}

/// The name that `asked` was probably meant to be.
#[must_use]
pub fn nearest<'a>(asked: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const CLOSE_ENOUGH: f64 = 0.8;
    names
        .map(|name| (strsim::jaro_winkler(&asked.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(score, _)| *score >= CLOSE_ENOUGH)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, name)| name)
}
