//! Tools that a `[run.command]` definition makes: one command each, with places for arguments.
//!
//! Where there is a grammar for the program, the filled words must pass it as any other command. Where there is none the
//! definition is the grammar: its words are fixed, its places are typed, and the program is named by its absolute path.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value;
use warrant_kernel::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::name::{SourceName, ToolName};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::target::{Target, TargetKind};
use warrant_kernel::domain::tool::{ArgType, CommandRun, ToolDefinition};

use super::list_files::invalid;
use crate::tools::command::grammar::Needs;
use crate::tools::command::run::{Held, environment, installed, order, prepare, run};
use crate::tools::command::{Commands, told};
use crate::tools::process::Program;
use crate::tools::process::sandbox::Sandbox;
use crate::tools::process::sandbox::order::{Processes, Sockets, Task};
use crate::tools::workspace::{Place, Workspaces, blocking};

/// What such tools are made of.
#[derive(Debug, Clone, Copy)]
pub struct OfCommands<'a> {
    /// What programs may be told.
    pub commands: &'a Arc<Commands>,
    /// Where paths lie.
    pub workspaces: &'a Arc<Workspaces>,
    /// What confines them.
    pub sandbox: &'a Sandbox,
}

/// A definition that can't be carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tool `{tool}`: {message}")]
pub struct CommandToolError {
    tool: ToolName,
    message: String,
}

/// One word of the command.
#[derive(Debug, Clone)]
enum Word {
    Fixed(String),
    Arg { before: String, name: String, kind: ArgType },
}

/// Whose rules the words must pass.
#[derive(Debug)]
enum Rules {
    /// Those of the grammar of this program.
    Grammar(String),
    /// Those of the definition itself, which names this program.
    Own(Program),
}

struct CommandTool {
    rules: Rules,
    words: Vec<Word>,
    commands: Arc<Commands>,
    workspaces: Arc<Workspaces>,
    sandbox: Sandbox,
    source: SourceName,
}

/// Makes a tool from its definition.
///
/// # Errors
/// A program that is neither installed nor known.
pub fn command_tool(
    definition: &ToolDefinition,
    command: &CommandRun,
    of: OfCommands<'_>,
) -> Result<Arc<dyn ReadTool>, CommandToolError> {
    let failed = |message: String| CommandToolError { tool: definition.name.clone(), message };
    let Some((program, words)) = command.argv.split_first() else {
        return Err(failed("`run.command.argv` is empty".to_owned()));
    };
    let words: Result<Vec<Word>, String> = words.iter().map(|word| read(word, definition)).collect();
    let rules = if program.starts_with('/') {
        let found = Program::at(PathBuf::from(program)).filter(|program| program.path().is_file());
        Rules::Own(found.ok_or_else(|| failed(format!("`run.command.argv`: there is no program `{program}`")))?)
    } else if of.commands.get(program).is_some() {
        Rules::Grammar(program.clone())
    } else {
        let message = "there is no grammar for it; add one to a directory of `[commands]`, or name the program by its absolute path";
        return Err(failed(format!("`run.command.argv`: `{program}`: {message}")));
    };
    Ok(Arc::new(CommandTool {
        rules,
        words: words.map_err(&failed)?,
        commands: Arc::clone(of.commands),
        workspaces: Arc::clone(of.workspaces),
        sandbox: of.sandbox.clone(),
        source: "host".parse().map_err(|error| failed(format!("{error}")))?,
    }))
}

fn read(word: &str, definition: &ToolDefinition) -> Result<Word, String> {
    let Some((before, rest)) = word.split_once('{') else { return Ok(Word::Fixed(word.to_owned())) };
    let arg = rest.strip_suffix('}').and_then(|name| Some((name, definition.args.get(name)?)));
    let Some((name, spec)) = arg else { return Err(format!("`run.command.argv`: `{word}` names no argument")) };
    Ok(Word::Arg { before: before.to_owned(), name: name.to_owned(), kind: spec.kind })
}

/// The value of an argument as one word.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The words of one call, and the places that its paths name.
struct Filled {
    words: Vec<String>,
    places: Vec<Place>,
}

impl CommandTool {
    /// The words with their arguments. Paths become relative to their root, where the command runs.
    fn filled(&self, args: &Arguments) -> Result<Filled, Problem> {
        let mut filled = Filled { words: Vec::new(), places: Vec::new() };
        for word in &self.words {
            let (before, name, kind) = match word {
                Word::Fixed(text) => {
                    filled.words.push(text.clone());
                    continue;
                }
                Word::Arg { before, name, kind } => (before, name, *kind),
            };
            let Some(mut value) = args.as_map().get(name).and_then(text) else { continue };
            if value.chars().any(char::is_control) {
                return Err(Problem::of(name, "holds a control character, which may not stand in a word of a command"));
            }
            if kind == ArgType::Path {
                let place = self.workspaces.place(name, &value)?;
                if filled.places.iter().any(|other| other.root.name() != place.root.name()) {
                    return Err(Problem::of(name, "lies in another workspace than the path before it"));
                }
                value = place.path.to_string();
                filled.places.push(place);
            }
            // As a word of its own it would be a flag of the definition that nobody wrote there.
            if before.is_empty() && value.starts_with('-') && kind != ArgType::Int {
                return Err(Problem::of(name, format!("is `{value}`, which begins with `-` as a flag does")));
            }
            filled.words.push(format!("{before}{value}"));
        }
        Ok(filled)
    }

    /// Where it runs: the root of its paths, or the only one there is.
    fn place(&self, filled: &Filled) -> Option<Place> {
        let of_paths = filled.places.first().map(|place| Place::top(&place.root));
        let roots = self.workspaces.roots();
        of_paths.or_else(|| roots.values().next().filter(|_| roots.len() == 1).map(Place::top))
    }

    fn target(&self, args: &Arguments) -> Result<Target, Problem> {
        let filled = self.filled(args)?;
        match filled.places.as_slice() {
            [] => {
                let (name, source) = (self.source.to_string(), self.source.clone());
                Ok(Target { kind: TargetKind::Source, name, service: None, environment: None, owner: None, source })
            }
            [only] => self.workspaces.target(Some(only)),
            // Of several the root decides, which is above all of them.
            [first, ..] => self.workspaces.target(Some(&Place::top(&first.root))),
        }
    }
}

#[async_trait]
impl ReadTool for CommandTool {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        self.target(args).map_err(|problem| vec![problem])
    }

    async fn read(&self, args: &Arguments, _reading: Reading<'_>) -> Result<Output, ReadError> {
        let filled = self.filled(args).map_err(invalid)?;
        let place = self.place(&filled);
        let Filled { words, places } = filled;
        let (line, prepared) = match &self.rules {
            Rules::Grammar(name) => {
                let line: Vec<String> = std::iter::once(name.clone()).chain(words).collect();
                let (commands, asked, name) = (Arc::clone(&self.commands), line.clone(), name.clone());
                let prepared = blocking(move || {
                    let accepted = commands.classify(&asked)?;
                    let program = commands.get(&name).and_then(|known| known.program.as_ref());
                    prepare(installed(accepted.grammar(), program)?, &accepted, place.as_ref())
                });
                (line, prepared.await?)
            }
            Rules::Own(program) => {
                let name = program.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
                let line: Vec<String> = std::iter::once(name.clone()).chain(words.iter().cloned()).collect();
                let task = Task::Run { program: program.path().to_owned(), name, args: words, env: environment() };
                let program = program.clone();
                let prepared = blocking(move || {
                    let mut held = Held::default();
                    for place in &places {
                        held.open(place)?;
                    }
                    let directory = match &place {
                        Some(place) => held.hold(place.root.directory(&place.path)?),
                        None => PathBuf::from("/"),
                    };
                    order(&program, task, directory, &OWN, held)
                });
                (line, prepared.await?)
            }
        };
        Ok(told::output(&line, run(&self.sandbox, prepared).await?))
    }
}

/// What a program of an operator's own may beside reading what it is told.
const OWN: Needs =
    Needs { reads: Vec::new(), sockets: Sockets::Names, processes: Processes::Threads, asks_names: true };
