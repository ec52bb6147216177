//! The first look at the words of a command, before anything is known about the program.

use std::collections::BTreeMap;

use super::refusal::{Reason, Refusal, shown};

/// Most words of a command.
const MAX_WORDS: usize = 128;
/// Most bytes of one word.
const MAX_WORD: usize = 4096;
/// Most bytes of all words.
const MAX_BYTES: usize = 16 * 1024;

const NO_SHELL: &str = "there is no shell";

/// Whether the words can be a command at all.
pub(super) fn look(argv: &[String]) -> Result<(), Refusal> {
    in_bounds(argv)?;
    for word in argv {
        // A tab separates columns, so it may be a value; types say where.
        if let Some(c) = word.chars().find(|c| c.is_control() && *c != '\t') {
            let message = format!(
                "`{}` holds the control character U+{:04X}; give each command as a call of its own, without it",
                shown(word),
                u32::from(c)
            );
            return Err(Refusal::new(Reason::ControlChar, message));
        }
    }
    Ok(())
}

/// Whether a program can be handed this much.
pub(super) fn in_bounds(argv: &[String]) -> Result<(), Refusal> {
    let longest = argv.iter().map(String::len).max().unwrap_or(0);
    let bytes: usize = argv.iter().map(String::len).sum();
    let too_long = |what: String| {
        Err(Refusal::new(Reason::TooLong, format!("{what}; narrow it, or name a directory in place of its files")))
    };
    if argv.len() > MAX_WORDS {
        return too_long(format!("the command has {} words; at most {MAX_WORDS}", argv.len()));
    }
    if longest > MAX_WORD {
        return too_long(format!("a word has {longest} bytes; at most {MAX_WORD}"));
    }
    if bytes > MAX_BYTES {
        return too_long(format!("the command has {bytes} bytes; at most {MAX_BYTES}"));
    }
    Ok(())
}

/// Whether a word that names something means what only a shell would understand.
pub(super) fn operator(word: &str) -> Result<(), Refusal> {
    let what = match word.trim_start_matches(|c: char| c.is_ascii_digit()) {
        "|" | "|&" => "a pipe: leave it away, and narrow with flags of the program itself; the output is cut for you",
        ";" | "&&" | "||" | "&" | ";;" | "!" => "a second command: call the tool once for each",
        "(" | ")" | "{" | "}" | "((" | "))" | "[[" | "]]" => "a group of commands: call the tool once for each",
        rest if rest.starts_with(['>', '<']) || rest.ends_with(['>', '<']) => {
            "a redirection: nothing is written, and files are named as words of the command"
        }
        rest if rest.starts_with(['|', ';', '&']) || rest.ends_with(['|', ';', '&']) => {
            "more than one command: call the tool once for each"
        }
        _ if word.contains("$(") || word.contains('`') || word.contains("${") => {
            "a substitution: run the inner command first, and write what it gave"
        }
        _ => return Ok(()),
    };
    let message = format!("{NO_SHELL}, so `{}` would not be {what}", shown(word));
    Err(Refusal::new(Reason::Operator, message))
}

/// Why a first word is no program that may be run.
pub(super) fn no_program<'a>(
    name: &str,
    known: impl Iterator<Item = &'a str>,
    instead: &BTreeMap<String, String>,
) -> Refusal {
    if let Err(refusal) = operator(name) {
        return refusal;
    }
    if name.contains([';', '|', '&', '<', '>', '(', ')']) {
        let message =
            format!("{NO_SHELL}, so `{}` is no command line: call the tool once for each command", shown(name));
        return Refusal::new(Reason::Operator, message);
    }
    let refused = |message: String| Refusal::new(Reason::ProgramNotAllowed, message);
    let known: Vec<&str> = known.collect();
    let all = known.join(", ");
    if let Some((variable, _)) = name.split_once('=') {
        let variable = shown(variable);
        return refused(format!(
            "variables are not set: leave `{variable}=` away; the first word is the program: {all}"
        ));
    }
    let base = name.rsplit('/').next().unwrap_or(name);
    if base != name && known.contains(&base) {
        return refused(format!("write `{base}`: programs are named without their path"));
    }
    if let Some(first) = name.split_whitespace().next().filter(|first| *first != name && known.contains(first)) {
        let message = format!("write each word as an item of `argv`: the first is `{first}` and nothing else");
        return refused(message);
    }
    if let Some(instead) = instead.get(base) {
        return refused(format!("`{}` is not run: {instead}", shown(base)));
    }
    let near = known.iter().map(|known| (strsim::jaro_winkler(known, &name.to_lowercase()), known));
    let near = near.filter(|(likeness, _)| *likeness > 0.85).max_by(|(a, _), (b, _)| a.total_cmp(b));
    match near {
        Some((_, near)) => {
            refused(format!("`{}` is no program that is run; did you mean `{near}`? There are: {all}", shown(name)))
        }
        None => refused(format!("`{}` is no program that is run; there are: {all}", shown(name))),
    }
}
