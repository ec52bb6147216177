//! From a file as it is written to a grammar: every name is one that it defines, every type one that there is.

use std::collections::BTreeMap;

use regex::Regex;
use toml::Spanned;

use super::{Document, File, FormText, NeedsText, OperandsText, ParserText};
use crate::tools::command::accepted::Recursive;
use crate::tools::command::grammar::{
    Each, Expression, Flags, Form, Getopt, Grammar, Keyword, Needs, Operands, Parser, Steps, Takes,
};
use crate::tools::command::value::{Type, usual};
use crate::tools::process::sandbox::order::{Processes, Sockets};

/// What a flag without a value is said to take.
const SWITCH: &str = "switch";

/// A word of the grammar that stands for many begins with this, and goes on as a regular expression.
const SHAPE: char = '~';

type Types = BTreeMap<String, Type>;

pub(super) fn grammar(name: &str, at: usize, document: Document, file: &mut File<'_>) -> Option<Grammar> {
    let before = file.errors.len();
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/') {
        file.at(at, format!("`{}` is no name of a program: write it without a path", name.escape_debug()));
    }
    if document.about.trim().is_empty() {
        file.at(at, "`about` is missing: what the program shows");
    }
    if document.path.as_ref().is_some_and(|path| !path.is_absolute()) {
        file.at(at, "`path` must be absolute");
    }
    let mut types = usual();
    for (name, text) in document.types {
        let at = text.span().start;
        match text.into_inner().read() {
            Ok(kind) => drop(types.insert(name, kind)),
            Err(message) => file.at(at, format!("type `{name}`: {message}")),
        }
    }
    let flags = flags(document.flags, &types, file);
    for flag in
        document.recursive.iter().chain(&document.required).chain(&document.digits).chain(&document.operands.unless)
    {
        if !flags.contains_key(flag) {
            file.at(at, format!("`{flag}` is used and is no flag of `[flags]`"));
        }
    }
    if let Some(flag) = document.refused.keys().find(|flag| flags.contains_key(*flag)) {
        file.at(at, format!("`{flag}` stands in `[flags]` and in `[refused]`"));
    }
    let operands = operands(document.operands, &types, at, file);
    let parser = match document.parser {
        ParserText::Getopt => {
            if !document.words.is_empty() || !document.forms.is_empty() {
                file.at(at, "`words` belong to `parser = \"expression\"`, `forms` to `parser = \"steps\"`");
            }
            let (recursive, required, digits) = (document.recursive, document.required, document.digits);
            Parser::Getopt(Getopt { flags, recursive, required, digits, operands })
        }
        ParserText::Expression => {
            Parser::Expression(Expression { flags, operands, words: words(document.words, &types, file) })
        }
        ParserText::Steps => {
            let forms = document.forms.into_iter().map(|form| self::form(form, &types, file)).collect();
            Parser::Steps(Steps { flags, forms })
        }
    };
    let recursive = if document.always_recursive { Recursive::Yes } else { Recursive::No };
    let grammar = Grammar {
        program: name.to_owned(),
        path: document.path,
        about: document.about,
        parser,
        first: document.first,
        recursive,
        refused: document.refused,
        needs: needs(document.needs, at, file),
    };
    (file.errors.len() == before).then_some(grammar)
}

fn flags(texts: BTreeMap<String, Spanned<String>>, types: &Types, file: &mut File<'_>) -> Flags {
    let mut flags = Flags::new();
    for (names, text) in texts {
        let at = text.span().start;
        let takes = match text.get_ref().as_str() {
            SWITCH => Some(Takes::Nothing),
            text => match text.strip_suffix('?') {
                Some(text) => kind(text, types, at, file).map(Takes::Perhaps),
                None => kind(text, types, at, file).map(Takes::Value),
            },
        };
        let Some(takes) = takes else { continue };
        for name in names.split_whitespace() {
            if !name.starts_with('-') || name.len() < 2 || name.contains('=') {
                file.at(at, format!("`{name}` is no flag"));
            }
            if flags.insert(name.to_owned(), takes.clone()).is_some() {
                file.at(at, format!("the flag `{name}` stands here twice"));
            }
        }
    }
    flags
}

fn kind(name: &str, types: &Types, at: usize, file: &mut File<'_>) -> Option<Type> {
    let found = types.get(name).cloned();
    if found.is_none() {
        let known: Vec<&str> = types.keys().map(String::as_str).collect();
        file.at(at, format!("there is no type `{name}`; there are {}", known.join(", ")));
    }
    found
}

fn operands(text: OperandsText, types: &Types, at: usize, file: &mut File<'_>) -> Operands {
    let first = text.first.iter().filter_map(|name| kind(name, types, at, file)).collect();
    let rest = text.rest.as_ref().and_then(|name| kind(name, types, at, file));
    let max = text.max.unwrap_or(if rest.is_some() { usize::MAX } else { 0 });
    if text.min > max || (rest.is_none() && (text.min > 0 || text.default.is_some())) {
        file.at(at, "`operands`: `min`, `max` and `default` are about `rest`");
    }
    let each = if text.together { Each::Together } else { Each::Word };
    Operands { first, unless: text.unless, rest, min: text.min, max, default: text.default, each }
}

fn words(texts: BTreeMap<String, Spanned<Vec<String>>>, types: &Types, file: &mut File<'_>) -> Vec<Keyword> {
    let mut found = Vec::new();
    for (name, values) in texts {
        let at = values.span().start;
        let values: Vec<Type> = values.get_ref().iter().filter_map(|name| kind(name, types, at, file)).collect();
        for name in name.split_whitespace() {
            let shape = match name.strip_prefix(SHAPE).map(|shape| Regex::new(&format!("\\A(?:{shape})\\z"))) {
                None => None,
                Some(Ok(shape)) => Some(shape),
                Some(Err(error)) => {
                    file.at(at, format!("`{name}`: {error}"));
                    continue;
                }
            };
            found.push(Keyword { name: name.to_owned(), shape, values: values.clone() });
        }
    }
    found
}

fn form(text: Spanned<FormText>, types: &Types, file: &mut File<'_>) -> Form {
    let at = text.span().start;
    let text = text.into_inner();
    let split = |words: &str| words.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
    let mut selectors = BTreeMap::new();
    for (names, values) in text.selectors {
        let values: Vec<Type> = values.iter().filter_map(|name| kind(name, types, at, file)).collect();
        selectors.extend(names.split_whitespace().map(|name| (name.to_owned(), values.clone())));
    }
    let bare = text.bare.as_ref().and_then(|name| kind(name, types, at, file));
    Form {
        object: split(&text.object),
        verb: split(&text.verb),
        without: text.without,
        alone: text.alone,
        selectors,
        bare,
    }
}

fn needs(text: NeedsText, at: usize, file: &mut File<'_>) -> Needs {
    if text.reads.iter().any(|path| !path.is_absolute()) {
        file.at(at, "`needs.reads` takes absolute paths");
    }
    let sockets = match (text.names, text.netlink) {
        (_, true) => Sockets::Netlink,
        (true, false) => Sockets::Names,
        (false, false) => Sockets::None,
    };
    let processes = if text.threads { Processes::Threads } else { Processes::One };
    Needs { reads: text.reads, sockets, processes, asks_names: text.names }
}
