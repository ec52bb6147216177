//! Who may read, write and approve what: Cedar policies over a schema made from the tool definitions.
//!
//! Of a call up to three things are asked: is it permitted, does the medium tier suffice, does the low one. Of a person one:
//! may they do this. Each answer is "no" unless a policy says yes, and any policy that can't be evaluated makes the whole
//! "no". Pure: the same question has the same answer, whenever it is asked.

mod schema;

mod load;

mod entities;

mod request;

mod decide;

pub mod standing;

pub mod cases;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::domain::decision::{Action, Tier};
use crate::domain::in_force::InForce;
use crate::domain::name::RoleName;
use crate::domain::run::Run;
use crate::domain::target::Target;
use crate::domain::tool::ToolDefinition;

use standing::{Quorum, StandingQuestion};

/// The id that stands where no policy decided.
pub const DEFAULT_DENY: &str = "default-deny";

/// One policy file.
#[derive(Debug, Clone, Copy)]
pub struct PolicyText<'a> {
    /// Its name, for messages.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// One fault of one policy file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct PolicyError {
    /// The file's name.
    pub file: String,
    /// The line, from 1 on.
    pub line: usize,
    /// What is wrong and what would do.
    pub message: String,
}

/// What is asked of policy: one checked call with its resolved target.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The investigation that asks: role, requester, trigger, channel.
    pub run: &'a Run,
    /// The tool it calls.
    pub tool: &'a ToolDefinition,
    /// What it looks at.
    pub target: &'a Target,
    /// The checked arguments, times absolute.
    pub args: &'a Map<String, Value>,
    /// The time of the call.
    pub now: Timestamp,
}

/// What an answer rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The policies named decided.
    Policies,
    /// No policy said yes.
    NoPolicy,
    /// The policies named, or the question itself, could not be evaluated.
    Failed,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// What may happen.
    pub action: Action,
    /// Why, for people: one sentence.
    pub reason: String,
    /// Ids of all policies that decided, sorted; [`DEFAULT_DENY`] where none did.
    pub policy_ids: Vec<String>,
    /// Ids of those among them that set the tier, sorted. None for a read, for a denial, and where nothing says that less
    /// than high suffices.
    pub tier_ids: Vec<String>,
    /// What it rests on.
    pub basis: Basis,
}

/// One policy as it was loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicySource {
    /// The value of its `@id`.
    pub id: String,
    /// The file it stands in.
    pub file: String,
    /// The line it begins on.
    pub line: usize,
    /// Its text.
    pub text: String,
    /// The value of its `@reason`, if it has one.
    pub reason: Option<String>,
}

/// The answer to one of the questions that a ruling is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// What was asked: the action as policies name it.
    pub question: String,
    /// Whether policies said yes.
    pub yes: bool,
    /// The policies that said it; none where none did.
    pub policy_ids: Vec<String>,
}

/// A ruling with all it was made from, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The answer.
    pub ruling: Ruling,
    /// What was asked and answered, in this order.
    pub answers: Vec<Answered>,
    /// The policies that decided or could not be evaluated.
    pub policies: Vec<PolicySource>,
    /// What failed while evaluating, one text each.
    pub errors: Vec<String>,
    /// The request as Cedar saw it: principal, action, resource, context.
    pub request: Value,
    /// The entities as Cedar saw them.
    pub entities: Value,
}

/// All policies in force, checked against the tools there are.
#[derive(Debug)]
pub struct Policy {
    schema: cedar_policy::Schema,
    roles: BTreeSet<RoleName>,
    set: cedar_policy::PolicySet,
    sources: BTreeMap<String, PolicySource>,
    authorizer: cedar_policy::Authorizer,
    in_force: InForce,
}

impl Policy {
    /// Loads policies and checks them strictly against the schema made from `tools` and `roles`.
    ///
    /// # Errors
    /// Every fault found, sorted by file and line.
    pub fn load<'t>(
        texts: &[PolicyText<'_>],
        tools: impl IntoIterator<Item = &'t ToolDefinition>,
        roles: &BTreeSet<RoleName>,
    ) -> Result<Self, Vec<PolicyError>> {
        load::load(texts, tools, roles)
    }

    /// Decides on one call.
    #[must_use]
    pub fn decide(&self, question: &Question<'_>) -> Ruling {
        decide::decide(self, question).ruling
    }

    /// As [`Self::decide`], with all that the answer was made from.
    #[must_use]
    pub fn explain(&self, question: &Question<'_>) -> Explanation {
        decide::decide(self, question).explain(self)
    }

    /// Decides whether a person may do something about writes: [`Action::Allow`] or [`Action::Deny`].
    #[must_use]
    pub fn may(&self, question: &StandingQuestion<'_>) -> Ruling {
        decide::may(self, question).ruling
    }

    /// As [`Self::may`], with all that the answer was made from.
    #[must_use]
    pub fn explain_standing(&self, question: &StandingQuestion<'_>) -> Explanation {
        decide::may(self, question).explain(self)
    }

    /// How many persons must approve a write at the tier that the gate asks for: two, unless a policy says that one
    /// suffices.
    ///
    /// # Errors
    /// Where it could not be evaluated: the ruling by which the write is refused.
    pub fn quorum(&self, question: &Question<'_>, tier: Tier) -> Result<Quorum, Ruling> {
        decide::quorum(self, question, tier)
    }

    /// The texts in force and their digest.
    #[must_use]
    pub fn in_force(&self) -> &InForce {
        &self.in_force
    }

    /// All policies in force, by id.
    pub fn sources(&self) -> impl Iterator<Item = &PolicySource> {
        self.sources.values()
    }
}
