//! Who named the target and the arguments of a write.
//!
//! What comes from logs, metrics and alert texts is data from strangers and never widens what is allowed: a write on a
//! target that nobody trusted named goes one tier up, and the card says of each argument where it came from.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::domain::decision::Tier;
use crate::domain::name::{ServiceName, ToolName};
use crate::domain::plan::{Ground, Said};
use crate::domain::result::{Origin, ToolResult};
use crate::domain::run::{Run, Trigger};
use crate::domain::target::Target;

/// The remedy of a runbook that matched, its placeholders filled.
#[derive(Debug, Clone, PartialEq)]
pub struct Remedy {
    /// The runbook's id.
    pub runbook: String,
    /// The tool that it calls.
    pub tool: ToolName,
    /// The arguments that it names.
    pub arguments: Map<String, Value>,
}

/// Whose word there is for a target, beside the question itself. Gathered by the agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Grounds {
    /// What people said on the way.
    pub steered: Vec<String>,
    /// The remedies of the runbooks that matched.
    pub remedies: Vec<Remedy>,
    /// The services next to the one in question, as the catalog has them.
    pub neighbours: Vec<ServiceName>,
}

impl Grounds {
    /// Nobody's word beside the question itself.
    #[must_use]
    pub fn none() -> Self {
        Self { steered: Vec::new(), remedies: Vec::new(), neighbours: Vec::new() }
    }
}

/// What was found out about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Who named each argument.
    pub(crate) arguments: BTreeMap<String, Ground>,
    /// Whether anybody trusted named the target.
    pub(crate) target: Ground,
}

impl Found {
    /// One tier up where nobody trusted named the target, and why.
    pub(crate) fn raised(&self, tier: Tier, target: &Target) -> (Tier, Option<String>) {
        let whose = match &self.target {
            Ground::Person | Ground::Trigger | Ground::Runbook(_) | Ground::Catalog => return (tier, None),
            Ground::Stranger(said) => {
                format!("only {} (`{}`) names it, and strangers may write there", said.evidence, said.field)
            }
            Ground::Model => "only the model names it".to_owned(),
        };
        let up = match tier {
            Tier::Low => Tier::Medium,
            Tier::Medium | Tier::High => Tier::High,
        };
        (up, Some(format!("one tier up, as nobody trusted named `{}`: {whose}", target.name)))
    }
}

/// Looks who named what.
pub(crate) fn find(
    run: &Run,
    grounds: &Grounds,
    seen: &[&ToolResult],
    tool: &ToolName,
    arguments: &Map<String, Value>,
    target: &Target,
) -> Found {
    let look = Look { run, grounds, seen };
    let arguments = arguments.iter().map(|(name, value)| (name.clone(), look.argument(tool, name, value)));
    Found { arguments: arguments.collect(), target: look.target(tool, target) }
}

struct Look<'a> {
    run: &'a Run,
    grounds: &'a Grounds,
    seen: &'a [&'a ToolResult],
}

impl Look<'_> {
    fn target(&self, tool: &ToolName, target: &Target) -> Ground {
        let service = target.service.as_ref();
        let names: Vec<&str> = std::iter::once(target.name.as_str()).chain(service.map(ServiceName::as_str)).collect();
        if names.iter().any(|name| self.people_say(name)) {
            return Ground::Person;
        }
        if service.is_some() && service == self.run.service.as_ref() {
            return Ground::Trigger;
        }
        let remedy = self.grounds.remedies.iter().find(|remedy| {
            let mut values = remedy.arguments.values().filter_map(Value::as_str);
            remedy.tool == *tool && values.any(|value| names.contains(&value))
        });
        if let Some(remedy) = remedy {
            return Ground::Runbook(remedy.runbook.clone());
        }
        if service.is_some_and(|service| self.grounds.neighbours.contains(service)) {
            return Ground::Catalog;
        }
        // That the catalog knows it says nothing: of all that it knows, a stranger's words may have picked this.
        names.iter().find_map(|name| self.strangers_say(name)).unwrap_or(Ground::Model)
    }

    fn argument(&self, tool: &ToolName, name: &str, value: &Value) -> Ground {
        let remedy = self
            .grounds
            .remedies
            .iter()
            .find(|remedy| remedy.tool == *tool && remedy.arguments.get(name) == Some(value));
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        if self.people_say(&text) {
            return Ground::Person;
        }
        if self.run.service.as_ref().is_some_and(|service| service.as_str() == text) {
            return Ground::Trigger;
        }
        if let Some(remedy) = remedy {
            return Ground::Runbook(remedy.runbook.clone());
        }
        if self.grounds.neighbours.iter().any(|service| service.as_str() == text) {
            return Ground::Catalog;
        }
        self.strangers_say(&text).or_else(|| self.catalog_says(&text)).unwrap_or(Ground::Model)
    }

    /// A question is a person's. The text of an alert is not: whoever makes a service log can put words there.
    fn people_say(&self, text: &str) -> bool {
        let asked = match &self.run.trigger {
            Trigger::Question { text } => Some(text),
            Trigger::Alert { .. } => None,
        };
        asked.into_iter().chain(&self.grounds.steered).any(|said| says(said, text))
    }

    /// The first field that a stranger may have written and that holds the text.
    fn strangers_say(&self, text: &str) -> Option<Ground> {
        let text = in_json(text);
        self.seen.iter().find_map(|result| {
            let (field, origin) = self::fields(result).find(|(field, origin)| {
                !origin.is_own() && result.data.get(field).is_some_and(|value| says(&value.to_string(), &text))
            })?;
            Some(Ground::Stranger(Said { evidence: result.evidence?, field: field.to_owned(), origin }))
        })
    }

    /// Whether the operator's config, as it was read here, holds the text. What a call asked for is no such word, though
    /// the answer repeats it.
    fn catalog_says(&self, text: &str) -> Option<Ground> {
        let text = in_json(text);
        let is_catalog = |result: &&&ToolResult| result.meta.origin == Origin::Catalog;
        let mut own = self.seen.iter().filter(is_catalog);
        own.any(|result| says(&result.data.to_string(), &text)).then_some(Ground::Catalog)
    }
}

/// The fields of a result, and whose words each is.
fn fields(result: &ToolResult) -> impl Iterator<Item = (&str, Origin)> {
    let fields = result.data.as_object().into_iter().flatten();
    fields.map(|(field, _)| (field.as_str(), result.origin_of(field)))
}

/// The text as it stands within JSON.
fn in_json(text: &str) -> String {
    let quoted = Value::String(text.to_owned()).to_string();
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(&quoted).to_owned()
}

/// Whether the text stands there as a word of its own, so that `pay` is not named by `payments`.
fn says(said: &str, text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    !text.trim().is_empty()
        && said.match_indices(text).any(|(at, _)| {
            let before = said.get(..at).and_then(|head| head.chars().next_back());
            let after = said.get(at + text.len()..).and_then(|tail| tail.chars().next());
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
}

#[cfg(test)]
mod tests;
