//! Grammars as files: read, checked, and tried on their own examples.
//!
//! A file describes one program, or names programs that are not run and what to use in their place. What is wrong is told
//! with file and line, and then nothing is loaded: a grammar that is half right lets through what it should not.

mod build;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;

use super::value::TypeText;
use super::{Commands, Known};
use crate::tools::process::Program;

/// One file.
#[derive(Debug, Clone, Copy)]
pub struct GrammarFile<'a> {
    /// Its name, for messages.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Whose word it is.
    pub standing: Standing,
}

/// Whose word a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Compiled in.
    BuiltIn,
    /// From the directory that the config names: it may add programs and forbid them, and changes no built-in one.
    Operator,
}

/// One fault of one file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct GrammarError {
    /// The file's name.
    pub file: String,
    /// The line, from 1 on.
    pub line: usize,
    /// What is wrong and what would do.
    pub message: String,
}

/// A file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    program: Option<Spanned<String>>,
    path: Option<PathBuf>,
    #[serde(default)]
    about: String,
    #[serde(default)]
    parser: ParserText,
    #[serde(default)]
    first: Vec<String>,
    #[serde(default)]
    always_recursive: bool,
    #[serde(default)]
    recursive: Vec<String>,
    #[serde(default)]
    required: Vec<String>,
    digits: Option<String>,
    #[serde(default)]
    types: BTreeMap<String, Spanned<TypeText>>,
    #[serde(default)]
    flags: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    operands: OperandsText,
    #[serde(default)]
    words: BTreeMap<String, Spanned<Vec<String>>>,
    #[serde(default)]
    forms: Vec<Spanned<FormText>>,
    #[serde(default)]
    refused: BTreeMap<String, String>,
    #[serde(default)]
    needs: NeedsText,
    #[serde(default)]
    examples: Examples,
    #[serde(default)]
    forbidden: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ParserText {
    #[default]
    Getopt,
    Expression,
    Steps,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OperandsText {
    first: Vec<String>,
    unless: Vec<String>,
    rest: Option<String>,
    min: usize,
    max: Option<usize>,
    default: Option<String>,
    together: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FormText {
    object: String,
    verb: String,
    #[serde(default)]
    without: Vec<String>,
    #[serde(default)]
    alone: bool,
    #[serde(default)]
    selectors: BTreeMap<String, Vec<String>>,
    bare: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct NeedsText {
    reads: Vec<PathBuf>,
    names: bool,
    netlink: bool,
    threads: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Examples {
    pass: Vec<Spanned<Vec<String>>>,
    refuse: Vec<Spanned<Vec<String>>>,
}

/// A file being read.
struct File<'a> {
    about: GrammarFile<'a>,
    errors: Vec<GrammarError>,
}

impl File<'_> {
    fn at(&mut self, offset: usize, message: impl Into<String>) {
        let line = self.about.text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1;
        self.errors.push(GrammarError { file: self.about.name.to_owned(), line, message: message.into() });
    }
}

impl Commands {
    /// Loads and checks all files, and finds the programs.
    ///
    /// # Errors
    /// Every fault found, sorted by file and line.
    pub fn load<'a>(files: impl IntoIterator<Item = GrammarFile<'a>>) -> Result<Arc<Self>, Vec<GrammarError>> {
        let mut files: Vec<GrammarFile<'a>> = files.into_iter().collect();
        // Built-in ones first, so that what a file is told does not hang on the order of a directory.
        files.sort_by_key(|file| (file.standing, file.name));
        let (mut commands, mut errors) = (Self::default(), Vec::new());
        let mut forbidden = Vec::new();
        for about in files {
            let mut file = File { about, errors: Vec::new() };
            commands.read(&mut file, &mut forbidden);
            errors.extend(file.errors);
        }
        for name in forbidden {
            commands.known.remove(&name);
        }
        if errors.is_empty() {
            return Ok(Arc::new(commands));
        }
        errors.sort();
        Err(errors)
    }

    fn read(&mut self, file: &mut File<'_>, forbidden: &mut Vec<String>) {
        let mut document: Document = match toml::from_str(file.about.text) {
            Ok(document) => document,
            Err(error) => {
                let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
                return file.at(error.span().map_or(0, |span| span.start), message);
            }
        };
        let forbids = std::mem::take(&mut document.forbidden);
        let is_about_others = !forbids.is_empty();
        for (name, instead) in forbids {
            forbidden.push(name.clone());
            self.instead.insert(name, instead);
        }
        let Some(program) = document.program.take() else {
            if !is_about_others {
                file.at(0, "`program` is missing: which one the grammar is of");
            }
            return;
        };
        let at = program.span().start;
        let name = program.into_inner();
        if self.known.contains_key(&name) {
            return file.at(at, format!("there is a grammar of `{name}` already; choose another program"));
        }
        let examples = std::mem::take(&mut document.examples);
        let Some(grammar) = build::grammar(&name, at, document, file) else { return };
        let program = match &grammar.path {
            Some(path) => Program::at(path.clone()).filter(|program| program.path().is_file()),
            None => Program::find(&name),
        };
        self.known.insert(name.clone(), Known { grammar, program });
        self.try_examples(&name, at, &examples, file);
    }

    /// Whether the examples are taken and refused as they say.
    fn try_examples(&self, name: &str, at: usize, examples: &Examples, file: &mut File<'_>) {
        if examples.pass.is_empty() || examples.refuse.is_empty() {
            file.at(
                at,
                "`[examples]` needs commands that `pass` and commands that it must `refuse`, at least one of each",
            );
        }
        let each = |list: &[Spanned<Vec<String>>]| -> Vec<(usize, Vec<String>)> {
            list.iter().map(|example| (example.span().start, example.get_ref().clone())).collect()
        };
        let all = each(&examples.pass).into_iter().map(|it| (it, true));
        for ((at, argv), passes) in all.chain(each(&examples.refuse).into_iter().map(|it| (it, false))) {
            if argv.first().is_none_or(|first| first != name) {
                file.at(at, format!("the first word of an example is the program, `{name}`"));
            }
            match (self.classify(&argv), passes) {
                (Ok(_), true) | (Err(_), false) => {}
                (Err(refusal), true) => file.at(at, format!("the example must pass and is refused: {refusal}")),
                (Ok(accepted), false) => {
                    let words = accepted.argv().join(" ");
                    file.at(at, format!("the example must be refused and passes, as `{name} {words}`"));
                }
            }
        }
    }
}
