//! Commands: programs that only look, each with a grammar of what it may be told.
//!
//! A command is a list of words, never a line for a shell. [`Commands::classify`] knows for each program which flags there
//! are, which values they take and what the other words mean; whatever it does not know it refuses, and says what would do.
//! What it accepts it writes anew, word by word, from what it understood: the program never sees a word that was not looked
//! at, nor in a place where it could mean something else. [`run`] resolves the paths and runs it in the sandbox.
//!
//! Grammars are data ([`load`]); operators add more.

pub mod grammar;

pub mod value;

pub mod refusal;

mod words;

mod getopt;

mod expression;

mod steps;

pub mod accepted;

pub mod load;

pub mod run;

pub mod told;

use std::collections::BTreeMap;

use accepted::Accepted;
use grammar::{Grammar, Parser};
use refusal::{Reason, Refusal};

use crate::tools::process::Program;

/// A program of which there is a grammar, and where it lies on this machine.
#[derive(Debug)]
pub struct Known {
    /// What it may be told.
    pub grammar: Grammar,
    /// None where it is not installed.
    pub program: Option<Program>,
}

/// All programs that may be run, and what to use in place of others.
#[derive(Debug, Default)]
pub struct Commands {
    known: BTreeMap<String, Known>,
    instead: BTreeMap<String, String>,
}

impl Commands {
    /// The programs there are, by name.
    pub fn known(&self) -> impl Iterator<Item = &Known> {
        self.known.values()
    }

    /// One program by its name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Known> {
        self.known.get(name)
    }

    /// Says whether a command is one that only looks, and what exactly it is then.
    ///
    /// # Errors
    /// Why it is not run, and what would do.
    pub fn classify(&self, argv: &[String]) -> Result<Accepted<'_>, Refusal> {
        words::look(argv)?;
        let Some((name, rest)) = argv.split_first() else {
            return Err(Refusal::new(Reason::Empty, "`argv` is empty; its first word is the program"));
        };
        let known = self.program(name)?;
        let grammar = &known.grammar;
        let accepted = match &grammar.parser {
            Parser::Getopt(_) => getopt::parse(grammar, rest),
            Parser::Expression(expression) => expression::parse(grammar, expression, rest),
            Parser::Steps(steps) => steps::parse(grammar, steps, rest),
        }?;
        words::in_bounds(&accepted.argv())?;
        Ok(accepted)
    }

    fn program(&self, name: &str) -> Result<&Known, Refusal> {
        if let Some(known) = self.known.get(name) {
            return Ok(known);
        }
        Err(words::no_program(name, self.known.keys().map(String::as_str), &self.instead))
    }
}
