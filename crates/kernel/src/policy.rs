//! Who may read what: Cedar policies over a schema made from the tool definitions.
//!
//! The answer is "no" unless a policy says yes, and any policy that can't be evaluated makes it "no" too. Pure: the same
//! question has the same answer, whenever it is asked.

mod schema;

mod load;

mod entities;

mod decide;

pub mod cases;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::domain::decision::Action;
use crate::domain::name::RoleName;
use crate::domain::run::Run;
use crate::domain::target::Target;
use crate::domain::tool::ToolDefinition;

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
    /// Ids of the policies that decided, sorted; [`DEFAULT_DENY`] where none did.
    pub policy_ids: Vec<String>,
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

/// A ruling with all it was made from, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The answer.
    pub ruling: Ruling,
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

    /// All policies in force, by id.
    pub fn sources(&self) -> impl Iterator<Item = &PolicySource> {
        self.sources.values()
    }
}
