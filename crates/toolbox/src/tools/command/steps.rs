//! Reads words as `ip` does: flags, an object, a verb, selectors. Each is one of a list and written as it stands there: the
//! program itself takes any beginning of a word, and then `a` may be `add`.

use super::accepted::Accepted;
use super::getopt::not_allowed;
use super::grammar::{Form, Grammar, Steps, Takes};
use super::refusal::{Reason, Refusal, shown};
use super::value::Type;
use super::words;

pub(super) fn parse<'g>(grammar: &'g Grammar, steps: &'g Steps, args: &[String]) -> Result<Accepted<'g>, Refusal> {
    let mut accepted = Accepted::begin(grammar);
    let mut words = args.iter().map(String::as_str).peekable();
    let mut flags = Vec::new();
    while let Some(flag) = words.next_if(|word| word.starts_with('-')) {
        match steps.flags.get(flag) {
            Some(Takes::Nothing) => {
                flags.push(flag);
                accepted.fixed(flag);
            }
            Some(Takes::Value(_) | Takes::Perhaps(_)) | None => return Err(not_allowed(grammar, flag)),
        }
    }
    let Some(object) = words.next() else {
        let message = format!("`{}` needs to be told of what: {}", grammar.program, objects(steps));
        return Err(Refusal::new(Reason::OperandNotAllowed, message));
    };
    let forms: Vec<&Form> = steps.forms.iter().filter(|form| form.object.iter().any(|word| word == object)).collect();
    if forms.is_empty() {
        words::operator(object)?;
        let message = format!("`{}` shows {}, and no `{}`", grammar.program, objects(steps), shown(object));
        return Err(Refusal::new(Reason::OperandNotAllowed, message));
    }
    let conflict = flags.iter().find(|flag| forms.iter().any(|form| form.without.iter().any(|word| word == *flag)));
    if let Some(flag) = conflict {
        let message = format!(
            "`{} {object}` is not run with `{flag}`, with which it does more than look; leave it away",
            grammar.program
        );
        return Err(Refusal::new(Reason::FlagNotAllowed, message));
    }
    accepted.fixed(object);
    let Some(verb) = words.next() else {
        if forms.iter().any(|form| form.alone) {
            return Ok(accepted);
        }
        let message = format!("`{} {object}` needs one of {}", grammar.program, verbs(&forms));
        return Err(Refusal::new(Reason::OperandNotAllowed, message));
    };
    let Some(form) = forms.iter().find(|form| form.verb.iter().any(|word| word == verb)) else {
        words::operator(verb)?;
        let message =
            format!("`{} {object}` is run with {} only, and not `{}`", grammar.program, verbs(&forms), shown(verb));
        return Err(Refusal::new(Reason::OperandNotAllowed, message));
    };
    accepted.fixed(verb);
    let mut bare = form.bare.as_ref();
    while let Some(word) = words.next() {
        match (form.selectors.get(word), bare) {
            (Some(kinds), _) => {
                accepted.fixed(word);
                for kind in kinds {
                    let value = words.next().ok_or_else(|| no_value(grammar, word, kind))?;
                    accepted.value("", kind.check(&format!("what follows `{word}`"), value)?);
                }
            }
            (None, Some(kind)) => {
                words::operator(word)?;
                accepted.value("", kind.check(&format!("a word of `{}`", grammar.program), word)?);
                bare = None;
            }
            (None, None) => {
                words::operator(word)?;
                let known: Vec<&str> = form.selectors.keys().map(String::as_str).collect();
                let message = format!("`{}` is not known here; there are {}", shown(word), known.join(", "));
                return Err(Refusal::new(Reason::OperandNotAllowed, message));
            }
        }
    }
    Ok(accepted)
}

fn no_value(grammar: &Grammar, word: &str, kind: &Type) -> Refusal {
    let message = format!("`{word}` of `{}` needs a value: {}", grammar.program, kind.wanted());
    Refusal::new(Reason::ValueInvalid, message)
}

fn objects(steps: &Steps) -> String {
    let mut names: Vec<&str> = steps.forms.iter().filter_map(|form| form.object.first()).map(String::as_str).collect();
    names.dedup();
    names.join(", ")
}

fn verbs(forms: &[&Form]) -> String {
    let names: Vec<&str> = forms.iter().filter_map(|form| form.verb.first()).map(String::as_str).collect();
    format!("`{}`", names.join("`, `"))
}
