//! Tool definitions, loaded from `tools/*.toml` and checked whole before anything uses them.
//!
//! [`Definitions::load`] tells every fault of every file at once, each with its line. What it returns has been checked:
//! the arguments make a JSON Schema, the examples fit or do not as they say, and an operator's file has added a tool or
//! tightened a built-in one, never loosened or replaced it.

mod nearest;

mod document;

mod tool;

mod args;

mod http;

mod command;

mod tighten;

mod schema;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value;

use crate::domain::name::{RoleName, SourceName, ToolName};
use crate::domain::tool::ToolDefinition;

use document::{Document, Faults};

pub(in crate::call) use nearest::{did_you_mean, listed, nearest};
use schema::schema_for;

/// Whose word a definition file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Compiled in.
    BuiltIn,
    /// From the directory that the config names: it may add tools, and may only tighten a built-in one.
    Operator,
}

/// One definition file.
#[derive(Debug, Clone, Copy)]
pub struct DefinitionFile<'a> {
    /// Its name, for messages.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Whose word it is.
    pub standing: Standing,
}

/// What definitions may refer to.
#[derive(Debug, Clone, Copy)]
pub struct LoadContext<'a> {
    /// The `[http.NAME]` sources of the config.
    pub http_sources: &'a BTreeSet<SourceName>,
    /// The roles there are.
    pub roles: &'a BTreeSet<RoleName>,
}

/// One fault of one definition file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct DefinitionError {
    /// The file's name.
    pub file: String,
    /// The line, from 1 on.
    pub line: usize,
    /// What is wrong and what would do.
    pub message: String,
}

/// One checked tool with its schema.
pub struct Definition {
    tool: ToolDefinition,
    schema: Value,
    // Compiling one takes as long as a whole read, and most runs call a handful of tools.
    validator: OnceLock<Option<Validator>>,
}

impl Definition {
    pub(in crate::call) fn new(tool: ToolDefinition) -> Self {
        let schema = schema_for(&tool);
        Self { tool, schema, validator: OnceLock::new() }
    }

    /// The tool.
    #[must_use]
    pub fn tool(&self) -> &ToolDefinition {
        &self.tool
    }

    /// The JSON Schema (2020-12) of its arguments, as the model is shown it.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// The compiled schema; none where it does not compile, and then nothing fits.
    pub(in crate::call) fn validator(&self) -> Option<&Validator> {
        self.validator.get_or_init(|| schema::compile(&self.schema)).as_ref()
    }
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definition").field("tool", &self.tool).finish_non_exhaustive()
    }
}

/// All tools by name, so that their order is the same in every run.
#[derive(Debug, Default)]
pub struct Definitions(BTreeMap<ToolName, Definition>);

impl Definitions {
    /// Loads and checks all files.
    ///
    /// # Errors
    /// Every fault found, sorted by file and line.
    pub fn load<'a>(
        files: impl IntoIterator<Item = DefinitionFile<'a>>,
        context: &LoadContext<'_>,
    ) -> Result<Self, Vec<DefinitionError>> {
        let mut loading = Loading::default();
        let mut files: Vec<DefinitionFile<'a>> = files.into_iter().collect();
        // Built-in ones first, and by name, so that what a file is told does not hang on the order of a directory.
        files.sort_by_key(|file| (file.standing == Standing::Operator, file.name));
        let mut tightenings = Vec::new();
        for file in &files {
            let mut faults = Faults::of(file.name, file.text);
            if let Some(document) = Document::parse(&mut faults) {
                if document.has("tighten") {
                    tightenings.push((file, document));
                } else if let Some((tool, line)) = tool::read(document, file.standing, context, &mut faults) {
                    loading.add(tool, Origin { file: file.name, line, standing: file.standing }, &mut faults);
                }
            }
            loading.errors.extend(faults.into_errors());
        }
        for (file, document) in tightenings {
            let mut faults = Faults::of(file.name, file.text);
            loading.tighten(document, file, &mut faults);
            loading.errors.extend(faults.into_errors());
        }
        loading.finish()
    }

    /// Lets a role of the config see these tools. It widens nothing else: what the role may do is policy's to say.
    ///
    /// # Errors
    /// The tools that there are not; nothing was granted then.
    pub fn grant(&mut self, role: &RoleName, tools: &BTreeSet<ToolName>) -> Result<(), Vec<ToolName>> {
        let missing: Vec<ToolName> = tools.iter().filter(|name| !self.0.contains_key(*name)).cloned().collect();
        if !missing.is_empty() {
            return Err(missing);
        }
        for definition in self.0.values_mut().filter(|definition| tools.contains(&definition.tool.name)) {
            if !definition.tool.roles.contains(role) {
                definition.tool.roles.push(role.clone());
            }
        }
        Ok(())
    }

    /// Takes out the tools that can't be carried out on this machine.
    pub fn without(&mut self, absent: impl Fn(&ToolDefinition) -> bool) {
        self.0.retain(|_, definition| !absent(&definition.tool));
    }

    /// The tool of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Definition> {
        name.parse::<ToolName>().ok().and_then(|name| self.0.get(&name))
    }

    /// All tools, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Definition> {
        self.0.values()
    }

    /// The tools that `role` sees, by name.
    pub fn for_role(&self, role: &RoleName) -> impl Iterator<Item = &Definition> {
        self.0.values().filter(move |definition| definition.tool.roles.contains(role))
    }
}

#[derive(Debug, Clone, Copy)]
struct Origin<'a> {
    file: &'a str,
    line: usize,
    standing: Standing,
}

#[derive(Default)]
struct Loading<'a> {
    tools: BTreeMap<ToolName, (ToolDefinition, Origin<'a>)>,
    tightened: BTreeMap<ToolName, &'a str>,
    errors: Vec<DefinitionError>,
}

impl<'a> Loading<'a> {
    fn add(&mut self, tool: ToolDefinition, origin: Origin<'a>, faults: &mut Faults<'_>) {
        let Some((_, first)) = self.tools.get(&tool.name) else {
            self.tools.insert(tool.name.clone(), (tool, origin));
            return;
        };
        let name = &tool.name;
        let message = match first.standing {
            Standing::BuiltIn if origin.standing == Standing::Operator => format!(
                "`{name}` is a built-in tool and can't be replaced; choose another name, or write `tighten = \"{name}\"` \
                 with the limits you want"
            ),
            Standing::BuiltIn | Standing::Operator => {
                format!("`{name}` is already defined in {}:{}", first.file, first.line)
            }
        };
        faults.at_line(origin.line, message);
    }

    fn tighten(&mut self, document: Document<'a>, file: &DefinitionFile<'a>, faults: &mut Faults<'_>) {
        let Some((name, line)) = tighten::named(&document, file.standing, faults) else { return };
        let Some((tool, origin)) = self.tools.get_mut(&name) else {
            let near = nearest(name.as_str(), self.tools.keys().map(ToolName::as_str));
            faults.at_line(line, format!("there is no built-in tool `{name}`{}", did_you_mean(&near)));
            return;
        };
        if origin.standing == Standing::Operator {
            let message = format!("`{name}` is defined in {}:{}; change it there", origin.file, origin.line);
            faults.at_line(line, message);
            return;
        }
        if let Some(first) = self.tightened.insert(name, file.name) {
            faults.at_line(line, format!("this tool is already tightened in {first}; put both into one file"));
            return;
        }
        tighten::apply(document, tool, faults);
    }

    fn finish(mut self) -> Result<Definitions, Vec<DefinitionError>> {
        if self.errors.is_empty() {
            let tools = self.tools.into_iter().map(|(name, (tool, _))| (name, Definition::new(tool)));
            return Ok(Definitions(tools.collect()));
        }
        self.errors.sort();
        self.errors.dedup();
        Err(self.errors)
    }
}
