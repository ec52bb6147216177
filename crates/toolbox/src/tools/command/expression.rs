//! Reads words as `find` does: flags, then paths, then an expression whose every word is one of a list.
//!
//! `ps` is read the same way: it has no paths, and each of its words is one of a list too.

use super::accepted::Accepted;
use super::getopt::{not_allowed, operands};
use super::grammar::{Expression, Grammar, Keyword, Takes};
use super::refusal::{Reason, Refusal, shown};
use super::words;

pub(super) fn parse<'g>(
    grammar: &'g Grammar,
    expression: &'g Expression,
    args: &[String],
) -> Result<Accepted<'g>, Refusal> {
    let mut accepted = Accepted::begin(grammar);
    let mut rest = args;
    while let Some((word, after)) = rest.split_first() {
        match expression.flags.get(word) {
            Some(Takes::Nothing) => accepted.fixed(word),
            Some(Takes::Value(_) | Takes::Perhaps(_)) | None => break,
        }
        rest = after;
    }
    if expression.operands.rest.is_some() {
        // The first word that begins like this ends the paths, whatever it is.
        let begins = |word: &String| word.starts_with(['-', '(', ')', ',', '!']);
        let (paths, after) = rest.split_at(rest.iter().position(begins).unwrap_or(rest.len()));
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        for value in operands(grammar, &expression.operands, &paths, false)? {
            accepted.value("", value);
        }
        rest = after;
    }
    let mut words = rest.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if let Some(keyword) = expression.words.iter().find(|keyword| keyword.is(word)) {
            accepted.fixed(word);
            for kind in &keyword.values {
                let Some(value) = words.next() else {
                    let message = format!("`{word}` of `{}` needs a value: {}", grammar.program, kind.wanted());
                    return Err(Refusal::new(Reason::ValueInvalid, message));
                };
                accepted.value("", kind.check(&format!("the value of `{word}`"), value)?);
            }
            continue;
        }
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let long = expression.words.iter().find(|keyword| name.starts_with("--") && keyword.name == name);
        match long.map(|keyword| keyword.values.as_slice()) {
            Some([kind]) if name != word => {
                let value = kind.check(&format!("the value of `{name}`"), value)?;
                accepted.value(&format!("{name}="), value);
            }
            Some(_) | None => return Err(unknown(grammar, word)),
        }
    }
    Ok(accepted)
}

impl Keyword {
    fn is(&self, word: &str) -> bool {
        match &self.shape {
            Some(shape) => shape.is_match(word),
            None => self.name == word,
        }
    }
}

fn unknown(grammar: &Grammar, word: &str) -> Refusal {
    if word.starts_with('-') {
        return not_allowed(grammar, word);
    }
    if let Err(refusal) = words::operator(word) {
        return refusal;
    }
    let message = format!("`{}` is no word that `{}` knows here", shown(word), grammar.program);
    Refusal::new(Reason::OperandNotAllowed, message)
}
