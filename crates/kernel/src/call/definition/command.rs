//! `[run.command]`: a command that an operator adds without Rust.
//!
//! Each item of `argv` is one word, and there is no shell. A placeholder fills a whole word, or all behind the `=` of a long
//! flag, so a value can't become a second word or another flag.

use std::collections::BTreeMap;

use crate::domain::tool::{ArgSpec, ArgType, CommandRun};

use super::document::{Document, Faults, Placed};
use super::{did_you_mean, nearest};

const MAX_WORDS: usize = 64;
const MAX_WORD: usize = 1000;

/// Reads the `command` table of `run`.
pub(super) fn read(
    run: &mut Document<'_>,
    args: &BTreeMap<String, Placed<ArgSpec>>,
    faults: &mut Faults<'_>,
) -> Option<CommandRun> {
    let at = run.places_within("command").at("argv");
    let command = run.take::<CommandRun>("command", faults)?.value;
    match command.argv.first().map(String::as_str) {
        None | Some("") => faults.at(at, "`argv` is empty: its first item is the program"),
        Some(program) if program.contains(['{', '}']) => {
            faults.at(at, "the program is fixed: a placeholder can't stand for it");
        }
        Some(program) if program.contains('/') && !program.starts_with('/') => {
            faults.at(at, format!("the program `{program}` is named by its absolute path, or by its name alone"));
        }
        Some(_) => {}
    }
    if command.argv.len() > MAX_WORDS {
        faults.at(at, format!("`argv` has {} words; at most {MAX_WORDS}", command.argv.len()));
    }
    for word in &command.argv {
        check(word, at, args, faults);
    }
    Some(command)
}

fn check(word: &str, at: usize, args: &BTreeMap<String, Placed<ArgSpec>>, faults: &mut Faults<'_>) {
    let shown = word.escape_debug();
    if word.len() > MAX_WORD || word.chars().any(char::is_control) {
        faults.at(at, format!("`{shown}`: a word has no control characters and at most {MAX_WORD} bytes"));
    }
    let (before, name) = match placeholder(word) {
        Some(found) => found,
        None if word.contains(['{', '}']) => {
            let message = "a placeholder fills a whole word, or all behind the `=` of a long flag";
            return faults.at(at, format!("`{shown}`: {message}"));
        }
        None => return,
    };
    let Some(arg) = args.get(name) else {
        let near = nearest(name, args.keys().map(String::as_str));
        return faults.at(at, format!("`{{{name}}}` names no argument{}", did_you_mean(&near)));
    };
    if before.is_empty() && !arg.value.required && arg.value.default.is_none() {
        let message = "a word of its own must be `required` or have a `default`; write `--flag={..}` for one that may be left out";
        faults.at(at, format!("`{{{name}}}`: {message}"));
    }
    if arg.value.kind == ArgType::Words {
        faults.at(at, format!("`{{{name}}}`: a list of words is no word; give it another type"));
    }
}

/// What stands before a placeholder, and which argument it is; none where a word holds no placeholder in its place.
fn placeholder(word: &str) -> Option<(&str, &str)> {
    let (before, rest) = word.split_once('{')?;
    let name = rest.strip_suffix('}').filter(|name| !name.contains(['{', '}']))?;
    let flag = before.strip_suffix('=').is_some_and(|flag| flag.starts_with("--") && !flag.contains('='));
    (before.is_empty() || flag).then_some((before, name))
}
