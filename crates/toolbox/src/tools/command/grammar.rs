//! What a program may be told.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::accepted::Recursive;
use super::value::Type;
use crate::tools::process::sandbox::order::{Processes, Sockets};

/// What one program may be told.
#[derive(Debug)]
pub struct Grammar {
    /// Its name.
    pub program: String,
    /// Where it lies, if not in the directories of the system.
    pub path: Option<PathBuf>,
    /// What it shows, for the model and for people.
    pub about: String,
    /// How it reads its words.
    pub parser: Parser,
    /// Words that are put before all others, whatever the caller writes.
    pub first: Vec<String>,
    /// Whether it goes through directories by itself.
    pub recursive: Recursive,
    /// Flags of a known meaning that are not taken, and what would do.
    pub refused: BTreeMap<String, String>,
    /// What it needs beside itself and the paths it is told.
    pub needs: Needs,
}

/// How a program reads its words.
#[derive(Debug)]
pub enum Parser {
    /// As the C library's `getopt_long` does: flags anywhere, short ones in clusters, `--` ends them.
    Getopt(Getopt),
    /// Flags, then paths, then words of an expression, as `find` does.
    Expression(Expression),
    /// Flags, then an object, a verb and selectors, as `ip` does.
    Steps(Steps),
}

/// A flag and the value it takes.
#[derive(Debug, Clone)]
pub enum Takes {
    /// None.
    Nothing,
    /// One, in the same word or the next one.
    Value(Type),
    /// One in the same word, or none.
    Perhaps(Type),
}

/// Flags by each of their names: `-i`, `--ignore-case`.
pub type Flags = BTreeMap<String, Takes>;

/// A program that reads its words with `getopt_long`.
#[derive(Debug)]
pub struct Getopt {
    /// The flags there are.
    pub flags: Flags,
    /// Flags that make it go through directories.
    pub recursive: Vec<String>,
    /// Flags of which one must be given.
    pub required: Vec<String>,
    /// The flag that a number alone, as in `-20`, stands for.
    pub digits: Option<String>,
    /// The words that are no flags.
    pub operands: Operands,
}

/// The words that are no flags.
#[derive(Debug)]
pub struct Operands {
    /// What the first ones are.
    pub first: Vec<Type>,
    /// Flags in whose presence the first ones are absent.
    pub unless: Vec<String>,
    /// What all others are; none where there are no others.
    pub rest: Option<Type>,
    /// How many there must be of the others.
    pub min: usize,
    /// And how many there may be.
    pub max: usize,
    /// What stands in where there is none of the others.
    pub default: Option<String>,
    /// Whether each of the others is a value, or all of them are one, with blanks between.
    pub each: Each,
}

/// What is looked at as one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Each {
    /// Every word.
    Word,
    /// All words together: what one means hangs on those before it.
    Together,
}

/// A program whose words are an expression.
#[derive(Debug)]
pub struct Expression {
    /// Flags before the paths.
    pub flags: Flags,
    /// The paths.
    pub operands: Operands,
    /// The words there are, and the values that follow each.
    pub words: Vec<Keyword>,
}

/// A word and the values that follow it.
#[derive(Debug)]
pub struct Keyword {
    /// What it is called, for messages and documentation.
    pub name: String,
    /// Where it stands for many words, what they look like.
    pub shape: Option<regex::Regex>,
    /// The values that follow.
    pub values: Vec<Type>,
}

/// A program whose words are an object, a verb and selectors.
#[derive(Debug)]
pub struct Steps {
    /// Flags before the object.
    pub flags: Flags,
    /// What may follow.
    pub forms: Vec<Form>,
}

/// One thing that can be asked for.
#[derive(Debug)]
pub struct Form {
    /// The words for the object.
    pub object: Vec<String>,
    /// The words for the verb.
    pub verb: Vec<String>,
    /// Flags with which it does more than look.
    pub without: Vec<String>,
    /// Whether the object alone will do.
    pub alone: bool,
    /// Words that narrow it, and the values that follow each.
    pub selectors: BTreeMap<String, Vec<Type>>,
    /// What a word that is no selector may be, once.
    pub bare: Option<Type>,
}

/// What a program needs beside itself and the paths it is told.
#[derive(Debug, Clone)]
pub struct Needs {
    /// Files and directories outside the workspace that it reads.
    pub reads: Vec<PathBuf>,
    /// Which sockets it may make.
    pub sockets: Sockets,
    /// Whether it may make threads.
    pub processes: Processes,
    /// Whether it shows what users and groups are called.
    pub asks_names: bool,
}

impl Grammar {
    /// Every flag and word there is, for a refusal.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        match &self.parser {
            Parser::Getopt(getopt) => getopt.flags.keys().map(String::as_str).collect(),
            Parser::Expression(Expression { flags, words, .. }) => {
                flags.keys().map(String::as_str).chain(words.iter().map(|word| word.name.as_str())).collect()
            }
            Parser::Steps(Steps { flags, forms }) => {
                let objects = forms.iter().filter_map(|form| form.object.first()).map(String::as_str);
                flags.keys().map(String::as_str).chain(objects).collect()
            }
        }
    }
}
