//! Reads words as the C library's `getopt_long` does, except that long flags can't be shortened.
//!
//! What comes out has each flag in a word of its own, values where they can't be anything else, then `--`, then the other
//! words: read again, by whatever version of the program, it means the same.

use super::accepted::Accepted;
use super::grammar::{Each, Getopt, Grammar, Operands, Parser, Takes};
use super::refusal::{Reason, Refusal, shown};
use super::value::{Type, Value};

/// Longest list of flags in a refusal.
const MAX_LISTED: usize = 600;

/// What has been read so far.
struct Reading<'g, 'w> {
    grammar: &'g Grammar,
    accepted: Accepted<'g>,
    seen: Vec<String>,
    operands: Vec<&'w str>,
}

pub(super) fn parse<'g>(grammar: &'g Grammar, args: &[String]) -> Result<Accepted<'g>, Refusal> {
    let Parser::Getopt(getopt) = &grammar.parser else {
        return Err(Refusal::new(Reason::ProgramNotAllowed, "the grammar is of another kind"));
    };
    let accepted = Accepted::begin(grammar);
    let mut reading = Reading { grammar, accepted, seen: Vec::new(), operands: Vec::new() };
    let mut words = args.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if word == "--" {
            reading.operands.extend(words.by_ref());
        } else if let Some(long) = word.strip_prefix("--") {
            reading.long(getopt, long, &mut words)?;
        } else if let Some(cluster) = word.strip_prefix('-').filter(|cluster| !cluster.is_empty()) {
            reading.short(getopt, cluster, &mut words)?;
        } else {
            reading.operands.push(word);
        }
    }
    reading.finish(getopt)
}

impl<'g, 'w> Reading<'g, 'w> {
    fn long(
        &mut self,
        getopt: &'g Getopt,
        word: &'w str,
        rest: &mut impl Iterator<Item = &'w str>,
    ) -> Result<(), Refusal> {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let flag = format!("--{name}");
        let Some(takes) = getopt.flags.get(&flag) else { return Err(not_allowed(self.grammar, &flag)) };
        match (takes, value) {
            (Takes::Nothing | Takes::Perhaps(_), None) => self.accepted.fixed(&flag),
            (Takes::Nothing, Some(_)) => {
                let message = format!("`{flag}` of `{}` takes no value", self.grammar.program);
                return Err(Refusal::new(Reason::ValueInvalid, message));
            }
            (Takes::Perhaps(kind) | Takes::Value(kind), Some(value)) => self.attached(&flag, kind, value)?,
            (Takes::Value(kind), None) => {
                let value = rest.next().ok_or_else(|| self.no_value(&flag, kind))?;
                self.attached(&flag, kind, value)?;
            }
        }
        self.seen.push(flag);
        Ok(())
    }

    fn attached(&mut self, flag: &str, kind: &Type, value: &str) -> Result<(), Refusal> {
        let value = kind.check(&format!("the value of `{flag}`"), value)?;
        self.accepted.value(&format!("{flag}="), value);
        Ok(())
    }

    /// `-abc`: flags without a value, the last one perhaps with one.
    fn short(
        &mut self,
        getopt: &'g Getopt,
        cluster: &'w str,
        rest: &mut impl Iterator<Item = &'w str>,
    ) -> Result<(), Refusal> {
        if let Some(flag) = getopt.digits.as_ref().filter(|_| cluster.bytes().all(|byte| byte.is_ascii_digit())) {
            return self.digits(getopt, flag, cluster);
        }
        let mut letters = cluster.chars();
        while let Some(letter) = letters.next() {
            let flag = format!("-{letter}");
            let Some(takes) = getopt.flags.get(&flag) else { return Err(not_allowed(self.grammar, &flag)) };
            let behind = letters.as_str();
            match takes {
                Takes::Nothing => self.accepted.fixed(&flag),
                Takes::Perhaps(_) if behind.is_empty() => self.accepted.fixed(&flag),
                Takes::Perhaps(kind) => {
                    let value = kind.check(&format!("the value of `{flag}`"), behind)?;
                    self.accepted.value(&flag, value);
                    letters = "".chars();
                }
                Takes::Value(kind) => {
                    let value = if behind.is_empty() { rest.next() } else { Some(behind) };
                    let value = value.ok_or_else(|| self.no_value(&flag, kind))?;
                    self.separate(&flag, kind, value)?;
                    letters = "".chars();
                }
            }
            self.seen.push(flag);
        }
        Ok(())
    }

    fn separate(&mut self, flag: &str, kind: &Type, value: &str) -> Result<(), Refusal> {
        let value = kind.check(&format!("the value of `{flag}`"), value)?;
        self.accepted.fixed(flag);
        self.accepted.value("", value);
        Ok(())
    }

    fn digits(&mut self, getopt: &'g Getopt, flag: &str, number: &str) -> Result<(), Refusal> {
        match getopt.flags.get(flag) {
            Some(Takes::Value(kind)) => self.separate(flag, kind, number)?,
            Some(Takes::Nothing | Takes::Perhaps(_)) | None => {
                return Err(not_allowed(self.grammar, &format!("-{number}")));
            }
        }
        self.seen.push(flag.to_owned());
        Ok(())
    }

    fn no_value(&self, flag: &str, kind: &Type) -> Refusal {
        let message = format!("`{flag}` of `{}` needs a value: {}", self.grammar.program, kind.wanted());
        Refusal::new(Reason::ValueInvalid, message)
    }

    fn finish(mut self, getopt: &'g Getopt) -> Result<Accepted<'g>, Refusal> {
        let is_seen = |flags: &[String]| flags.iter().any(|flag| self.seen.contains(flag));
        if !getopt.required.is_empty() && !is_seen(&getopt.required) {
            let message = format!("`{}` is run only with `{}`", self.grammar.program, getopt.required.join("` or `"));
            return Err(Refusal::new(Reason::FlagNotAllowed, message));
        }
        let without_first = is_seen(&getopt.operands.unless);
        if is_seen(&getopt.recursive) {
            self.accepted.goes_through();
        }
        let values = operands(self.grammar, &getopt.operands, &self.operands, without_first)?;
        if !values.is_empty() {
            self.accepted.fixed("--");
        }
        for value in values {
            self.accepted.value("", value);
        }
        Ok(self.accepted)
    }
}

/// Looks at the words that are no flags.
pub(super) fn operands(
    grammar: &Grammar,
    about: &Operands,
    words: &[&str],
    without_first: bool,
) -> Result<Vec<Value>, Refusal> {
    let program = &grammar.program;
    let first: &[Type] = if without_first { &[] } else { &about.first };
    let mut values = Vec::new();
    let mut words = words.iter().copied();
    for kind in first {
        let Some(word) = words.next() else {
            let message = format!("`{program}` needs a further word: {}", kind.wanted());
            return Err(Refusal::new(Reason::OperandNotAllowed, message));
        };
        values.push(kind.check(&format!("a word of `{program}`"), word)?);
    }
    let rest: Vec<&str> = words.collect();
    let Some(kind) = &about.rest else {
        return match rest.first() {
            None => Ok(values),
            Some(word) => {
                super::words::operator(word)?;
                let message = format!("`{}` is one word too many for `{program}`", shown(word));
                Err(Refusal::new(Reason::OperandNotAllowed, message))
            }
        };
    };
    if let (true, Some(default)) = (rest.is_empty(), &about.default) {
        values.push(kind.check(&format!("a word of `{program}`"), default)?);
        return Ok(values);
    }
    if let Some(word) = rest.get(about.max) {
        super::words::operator(word)?;
        let message = format!("`{}` is one word too many for `{program}`, which takes {}", shown(word), about.max);
        return Err(Refusal::new(Reason::OperandNotAllowed, message));
    }
    if rest.len() < about.min {
        let message =
            format!("`{program}` needs {} more: {} (standard input is empty)", about.min - rest.len(), kind.wanted());
        return Err(Refusal::new(Reason::OperandNotAllowed, message));
    }
    if about.each == Each::Together && !rest.is_empty() {
        let all = rest.join(" ");
        kind.check(&format!("what follows the flags of `{program}`"), &all)?;
        values.extend(all.split(' ').map(|word| Value::Text(word.to_owned())));
        return Ok(values);
    }
    for word in rest {
        values.push(kind.check(&format!("a word of `{program}`"), word)?);
    }
    Ok(values)
}

/// A flag that is not taken, and what would do.
pub(super) fn not_allowed(grammar: &Grammar, flag: &str) -> Refusal {
    let program = &grammar.program;
    if let Some(instead) = grammar.refused.get(flag) {
        let message = format!("`{program}` is not run with `{}`: {instead}", shown(flag));
        return Refusal::new(Reason::FlagNotAllowed, message);
    }
    let names = grammar.names();
    let near = names.iter().map(|name| (strsim::jaro_winkler(name, flag), *name));
    // One letter is near to every other.
    let near = near.filter(|(likeness, name)| *likeness > 0.9 && name.len() > 3 && flag.len() > 3);
    let near = near.max_by(|(a, _), (b, _)| a.total_cmp(b));
    let hint = near.map(|(_, near)| format!("; did you mean `{near}`? Names are written in full")).unwrap_or_default();
    let mut listed = String::new();
    for name in names {
        if listed.len() + name.len() > MAX_LISTED {
            listed.push_str(" …");
            break;
        }
        listed.push(' ');
        listed.push_str(name);
    }
    let message = format!("`{program}` is not run with `{}`{hint}. It takes:{listed}", shown(flag));
    Refusal::new(Reason::FlagNotAllowed, message)
}
