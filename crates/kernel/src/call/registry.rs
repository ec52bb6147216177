//! The tools there are: each definition with the code that carries it out.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::domain::decision::Risk;
use crate::domain::name::{RoleName, ToolName};
use crate::domain::target::Target;
use crate::domain::tool::ToolDefinition;

use super::definition::{Definition, Definitions};
use super::tool::{Arguments, Problem, ReadTool};
use super::write::WriteTool;

/// What carries a tool out.
#[derive(Clone)]
pub enum Code {
    /// Looks only.
    Read(Arc<dyn ReadTool>),
    /// Changes something.
    Write(Arc<dyn WriteTool>),
}

impl Code {
    fn fits(&self, risk: Risk) -> bool {
        match self {
            Self::Read(_) => risk.only_looks(),
            Self::Write(_) => !risk.only_looks(),
        }
    }
}

impl From<Arc<dyn ReadTool>> for Code {
    fn from(code: Arc<dyn ReadTool>) -> Self {
        Self::Read(code)
    }
}

impl From<Arc<dyn WriteTool>> for Code {
    fn from(code: Arc<dyn WriteTool>) -> Self {
        Self::Write(code)
    }
}

/// A definition and its code.
#[derive(Clone, Copy)]
pub struct Tool<'a> {
    /// What it is, and its schema.
    pub definition: &'a Definition,
    code: &'a Code,
}

impl<'a> Tool<'a> {
    /// What it is.
    #[must_use]
    pub fn about(&self) -> &'a ToolDefinition {
        self.definition.tool()
    }

    /// What a call with these arguments would look at; for explaining policy, never for carrying anything out.
    ///
    /// # Errors
    /// What does not make sense.
    pub fn resolve(&self, args: &Arguments, now: Timestamp) -> Result<Target, Vec<Problem>> {
        match self.code {
            Code::Read(code) => code.resolve(args, now),
            Code::Write(code) => code.resolve(args, now),
        }
    }

    /// What reads.
    pub(super) fn read_code(&self) -> Option<&'a dyn ReadTool> {
        match self.code {
            Code::Read(code) => Some(code.as_ref()),
            Code::Write(_) => None,
        }
    }

    /// What writes.
    pub(super) fn write_code(&self) -> Option<Arc<dyn WriteTool>> {
        match self.code {
            Code::Read(_) => None,
            Code::Write(code) => Some(Arc::clone(code)),
        }
    }
}

/// Definitions and code that do not fit together: a fault of the program or of a missing source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// A definition without code.
    #[error("tool `{0}` is defined, but there is no code for it")]
    NoCode(ToolName),
    /// Code without a definition.
    #[error("there is code for a tool `{0}`, but no definition")]
    NoDefinition(ToolName),
    /// Code that changes something under a definition that says it looks only, or the other way round.
    #[error("the code of `{0}` does not do what its `risk` says")]
    OtherRisk(ToolName),
}

/// All tools, in the order of their names.
#[derive(Default)]
pub struct Registry {
    definitions: Definitions,
    code: BTreeMap<ToolName, Code>,
}

impl Registry {
    /// Joins definitions and code.
    ///
    /// # Errors
    /// Every definition without code and code without definition.
    pub fn new<C: Into<Code>>(
        definitions: Definitions,
        code: BTreeMap<ToolName, C>,
    ) -> Result<Self, Vec<RegistryError>> {
        let code: BTreeMap<ToolName, Code> = code.into_iter().map(|(name, code)| (name, code.into())).collect();
        let undefined = code.keys().filter(|name| definitions.get(name.as_str()).is_none());
        let mut errors: Vec<RegistryError> = undefined.map(|name| RegistryError::NoDefinition(name.clone())).collect();
        let names = definitions.iter().map(|definition| &definition.tool().name);
        errors.extend(names.filter(|name| !code.contains_key(*name)).map(|name| RegistryError::NoCode(name.clone())));
        let others = definitions.iter().map(Definition::tool).filter(|tool| {
            let code = code.get(&tool.name);
            code.is_some_and(|code| !code.fits(tool.risk))
        });
        errors.extend(others.map(|tool| RegistryError::OtherRisk(tool.name.clone())));
        if errors.is_empty() { Ok(Self { definitions, code }) } else { Err(errors) }
    }

    /// A tool by the name a caller wrote, whatever the role.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Tool<'_>> {
        self.tool(self.definitions.get(name)?)
    }

    /// All tools in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = Tool<'_>> {
        self.definitions.iter().filter_map(|definition| self.tool(definition))
    }

    /// The tools that a role sees, in the order of their names.
    pub fn for_role<'a>(&'a self, role: &RoleName) -> impl Iterator<Item = Tool<'a>> {
        self.definitions.for_role(role).filter_map(|definition| self.tool(definition))
    }

    fn tool<'a>(&'a self, definition: &'a Definition) -> Option<Tool<'a>> {
        let code = self.code.get(&definition.tool().name)?;
        Some(Tool { definition, code })
    }
}
