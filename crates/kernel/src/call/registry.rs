//! The tools there are: each definition with the code that carries it out.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::domain::name::{RoleName, ToolName};
use crate::domain::tool::{ToolDefinition, ToolRun};

use super::definition::Definitions;
use super::tool::ReadTool;

/// A definition and its code.
#[derive(Clone)]
pub struct Tool {
    /// What it is.
    pub definition: Arc<ToolDefinition>,
    /// What carries it out.
    pub(super) code: Arc<dyn ReadTool>,
}

/// Definitions and code that do not fit together: a fault of the program or of a missing source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// A built-in definition without code.
    #[error("tool `{0}` is defined as built-in, but there is no code for it")]
    NoCode(ToolName),
    /// Code without a definition.
    #[error("there is code for a tool `{0}`, but no definition")]
    NoDefinition(ToolName),
}

/// All tools, in the order of their names.
#[derive(Clone, Default)]
pub struct Registry {
    tools: BTreeMap<ToolName, Tool>,
}

impl Registry {
    /// Joins definitions and code. `over_http` makes the code of a definition with `run = http`.
    ///
    /// # Errors
    /// Every definition without code and code without definition.
    pub fn new(
        definitions: &Definitions,
        mut builtin: BTreeMap<ToolName, Arc<dyn ReadTool>>,
        over_http: &dyn Fn(&Arc<ToolDefinition>) -> Arc<dyn ReadTool>,
    ) -> Result<Self, Vec<RegistryError>> {
        let mut tools = BTreeMap::new();
        let mut errors = Vec::new();
        for definition in definitions.iter() {
            let code = match &definition.run {
                ToolRun::Builtin => builtin.remove(&definition.name),
                ToolRun::Http(_) => Some(over_http(definition)),
            };
            match code {
                Some(code) => {
                    tools.insert(definition.name.clone(), Tool { definition: Arc::clone(definition), code });
                }
                None => errors.push(RegistryError::NoCode(definition.name.clone())),
            }
        }
        errors.extend(builtin.into_keys().map(RegistryError::NoDefinition));
        if errors.is_empty() { Ok(Self { tools }) } else { Err(errors) }
    }

    /// A tool by the name a caller wrote, whatever the role.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tool> {
        let name: ToolName = name.parse().ok()?;
        self.tools.get(&name)
    }

    /// All tools in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values()
    }

    /// The tools that a role sees, in the order of their names.
    pub fn for_role<'a>(&'a self, role: &'a RoleName) -> impl Iterator<Item = &'a Tool> {
        self.tools.values().filter(move |tool| tool.definition.roles.contains(role))
    }
}
