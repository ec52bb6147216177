//! Operators' rules: shapes of secrets that are theirs alone, as data. They can add, and switch off nothing.
//!
//! ```toml
//! [[rule]]
//! name = "shop_ticket"
//! keywords = ["shpt_"]
//! regex = 'shpt_(?P<s>[a-z0-9]{24})'
//! matches = ["ticket shpt_0123456789abcdefghijklmn of order 7"]
//! misses = ["shpt_short", "the prefix is shpt_ and 24 letters"]
//! ```
//!
//! A rule is looked at only where one of its keywords stands, in every encoding that the built-in rules see through. It
//! is tried on its examples and on ordinary text when it is read; one that fails is refused, with file and line.

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use toml::Spanned;

use super::rules::SHAPES;

/// Most rules in one process.
const MOST_RULES: usize = 200;
/// Largest file.
const MOST_BYTES: usize = 64 * 1024;
/// Most keywords, and most examples of a kind, of one rule.
const MOST: usize = 32;
/// Longest name, keyword, regex and example, in bytes.
const NAME: usize = 40;
const KEYWORD: usize = 64;
const PATTERN: usize = 1_000;
const EXAMPLE: usize = 4_000;
/// The shortest keyword: shorter ones stand everywhere.
const SHORTEST: usize = 3;
/// Memory of a compiled regex, in bytes.
const COMPILED: usize = 256 * 1024;

/// Lines in which no rule may find anything.
const ORDINARY: [&str; 8] = [
    "",
    "a",
    "2026-05-04T10:11:12.345Z INFO checkout GET /api/v1/orders/17 status=200 took=12ms",
    "{\"level\":\"info\",\"trace_id\":\"4bf92f3577b34da6a3ce929d0e0e4736\",\"msg\":\"handled request\",\"n\":7}",
    "deployed commit 9fceb02d0ae598e95dc970b74767f19372d61af8 to production",
    "request 123e4567-e89b-42d3-a456-426614174000 by 10.2.3.4:5432 failed: connection refused",
    "pulled registry.local/checkout@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "invalid password for root, the secret is mounted at /var/run/secrets/token",
];

/// One rule that stood its tests.
#[derive(Debug, Clone)]
pub struct OwnRule {
    pub(super) name: String,
    pub(super) keywords: Vec<String>,
    pub(super) regex: Regex,
}

/// Why a rule is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct RuleError {
    /// The file.
    pub file: String,
    /// The line, from 1 on.
    pub line: usize,
    /// What is wrong there, and what to do.
    pub message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: Spanned<String>,
    keywords: Spanned<Vec<String>>,
    regex: Spanned<String>,
    matches: Spanned<Vec<Spanned<String>>>,
    misses: Spanned<Vec<Spanned<String>>>,
}

/// Reads and tests the rules of one file, after those that were read `before`.
///
/// # Errors
/// All that is wrong with them.
pub fn read(file: &str, text: &str, before: &[OwnRule]) -> Result<Vec<OwnRule>, Vec<RuleError>> {
    let line = |at: usize| 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
    let error = |at: usize, message: String| RuleError { file: file.to_owned(), line: line(at), message };
    if text.len() > MOST_BYTES {
        return Err(vec![error(0, format!("the file is larger than {} KiB; split it", MOST_BYTES / 1024))]);
    }
    let read: File = toml::from_str(text).map_err(|problem| {
        let first = problem.message().lines().next().unwrap_or_default().to_owned();
        vec![error(problem.span().map_or(0, |span| span.start), first)]
    })?;
    let (mut rules, mut errors): (Vec<OwnRule>, Vec<RuleError>) = (Vec::new(), Vec::new());
    for written in read.rule {
        let at = written.name.span().start;
        if before.len() + rules.len() >= MOST_RULES {
            errors.push(error(at, format!("there are more than {MOST_RULES} rules")));
            break;
        }
        let name = written.name.get_ref().clone();
        if before.iter().chain(&rules).any(|rule| rule.name == name) {
            errors.push(error(at, format!("there is a rule `{name}` already; choose another name")));
        }
        match tested(written) {
            Ok(rule) => rules.push(rule),
            Err(found) => errors.extend(found.into_iter().map(|(at, message)| error(at, message))),
        }
    }
    if errors.is_empty() { Ok(rules) } else { Err(errors) }
}

type Faults = Vec<(usize, String)>;

fn tested(written: Written) -> Result<OwnRule, Faults> {
    let mut faults = Faults::new();
    named(&written.name, &mut faults);
    keyed(&written.keywords, &mut faults);
    let at = written.regex.span().start;
    let pattern = written.regex.get_ref();
    if pattern.len() > PATTERN {
        faults.push((at, format!("`regex` is longer than {PATTERN} bytes")));
        return Err(faults);
    }
    let compiled = RegexBuilder::new(pattern).unicode(false).size_limit(COMPILED).dfa_size_limit(COMPILED).build();
    let regex = match compiled {
        Ok(regex) => regex,
        Err(problem) => {
            let why = problem.to_string().lines().last().unwrap_or_default().trim().to_owned();
            faults.push((at, format!("`regex` does not compile: {why}")));
            return Err(faults);
        }
    };
    if let Some(found) = ORDINARY.iter().find(|line| regex.is_match(line.as_bytes())) {
        let what =
            if found.is_empty() { "matches where there is nothing".to_owned() } else { format!("matches `{found}`") };
        faults.push((at, format!("`regex` {what}; say more of what only the secret has")));
    }
    let rule = OwnRule { name: written.name.into_inner(), keywords: written.keywords.into_inner(), regex };
    for (field, examples, wanted) in [("matches", &written.matches, true), ("misses", &written.misses, false)] {
        let list = examples.get_ref();
        if list.is_empty() || list.len() > MOST {
            faults.push((examples.span().start, format!("`{field}` has {} examples; write 1 to {MOST}", list.len())));
        }
        for example in list {
            faults.extend(tried(&rule, example.get_ref(), wanted).map(|fault| (example.span().start, fault)));
        }
    }
    if faults.is_empty() { Ok(rule) } else { Err(faults) }
}

fn named(name: &Spanned<String>, faults: &mut Faults) {
    let (at, name) = (name.span().start, name.get_ref());
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if name.is_empty() || name.len() > NAME || !name.bytes().all(fits) {
        faults.push((at, format!("`name` is `{name}`; write at most {NAME} of a to z, 0 to 9 and `_`")));
    }
    if SHAPES.iter().any(|shape| shape.kind == name) {
        faults.push((at, format!("`{name}` is built in; choose another name")));
    }
}

fn keyed(keywords: &Spanned<Vec<String>>, faults: &mut Faults) {
    let (at, keywords) = (keywords.span().start, keywords.get_ref());
    if keywords.is_empty() || keywords.len() > MOST {
        faults.push((
            at,
            format!("`keywords` has {}; write 1 to {MOST}: the rule is looked at where one stands", keywords.len()),
        ));
    }
    let odd = |keyword: &&String| {
        !(SHORTEST..=KEYWORD).contains(&keyword.len()) || !keyword.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    };
    for keyword in keywords.iter().filter(odd) {
        faults.push((at, format!("the keyword `{keyword}` must be {SHORTEST} to {KEYWORD} characters of ASCII")));
    }
}

/// What is wrong with an example, or with the rule.
fn tried(rule: &OwnRule, example: &str, wanted: bool) -> Option<String> {
    if example.len() > EXAMPLE {
        return Some(format!("the example is longer than {EXAMPLE} bytes"));
    }
    let lower = example.to_ascii_lowercase();
    let has_keyword = rule.keywords.iter().any(|keyword| lower.contains(&keyword.to_ascii_lowercase()));
    let found = rule.secret_in(example.as_bytes());
    match (wanted, has_keyword, found) {
        (true, false, _) => Some(format!("`{example}` holds none of the keywords, so the rule is not looked at there")),
        (true, true, false) => Some(format!("`{example}` should match `regex`, and does not")),
        (false, true, true) => Some(format!("`{example}` should not match `regex`, and does")),
        (true, true, true) | (false, _, _) => None,
    }
}

impl OwnRule {
    fn secret_in(&self, text: &[u8]) -> bool {
        self.regex
            .captures(text)
            .is_some_and(|found| found.name("s").or_else(|| found.get(0)).is_some_and(|secret| !secret.is_empty()))
    }
}
