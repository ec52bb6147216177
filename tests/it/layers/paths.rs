//! The paths in a Rust file: `use` trees flattened, inline ones as they stand.
//!
//! A small lexer, not a parser: it knows comments, texts, characters and lifetimes, so that what they hold is no path.

use std::collections::BTreeSet;

/// All paths of two parts or more, each as its parts.
pub struct Paths;

impl Paths {
    pub fn of(text: &str) -> impl Iterator<Item = Vec<String>> {
        let tokens = tokens(text);
        let mut found = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            at = path(&tokens, at, &[], &mut found).max(at + 1);
        }
        found.into_iter()
    }
}

/// All words of the code.
pub fn words(text: &str) -> BTreeSet<String> {
    let words = tokens(text).into_iter().filter_map(|token| match token {
        Token::Word(word) => Some(word),
        Token::Colons | Token::Other(_) => None,
    });
    words.collect()
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// `::`
    Colons,
    Other(char),
}

/// Reads the path that begins at `at`, if one does, after `before`; gives where it ends.
fn path(tokens: &[Token], mut at: usize, before: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut parts = before.to_vec();
    loop {
        match tokens.get(at) {
            Some(Token::Word(word)) => {
                parts.push(word.clone());
                at += 1;
            }
            Some(Token::Other('*')) if !before.is_empty() || parts.len() > before.len() => {
                parts.push("*".to_owned());
                at += 1;
            }
            // A `use` tree: each branch is a path of its own.
            Some(Token::Other('{')) if !parts.is_empty() => {
                at += 1;
                while tokens.get(at).is_some_and(|token| *token != Token::Other('}')) {
                    at = path(tokens, at, &parts, found).max(at + 1);
                    // The name that something gets is no path.
                    if tokens.get(at) == Some(&Token::Word("as".to_owned())) {
                        at += 2;
                    }
                }
                return at + 1;
            }
            _ => return at,
        }
        if tokens.get(at) == Some(&Token::Colons) {
            at += 1;
        } else {
            break;
        }
    }
    if parts.len() > 1 {
        found.push(parts);
    }
    at
}

fn tokens(text: &str) -> Vec<Token> {
    let letters: Vec<char> = text.chars().collect();
    let is_part = |c: &char| c.is_alphanumeric() || *c == '_';
    let get = |at: usize| letters.get(at).copied();
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(letter) = get(at) {
        if let Some(behind) = raw_text(&letters, at) {
            at = behind;
            continue;
        }
        match (letter, get(at + 1)) {
            ('/', Some('/')) => at += letters.iter().skip(at).take_while(|c| **c != '\n').count(),
            ('/', Some('*')) => at = after_block_comment(&letters, at),
            ('"', _) => at = after_text(&letters, at + 1, 0),
            ('\'', Some('\\')) => {
                at += 3;
                at += letters.iter().skip(at).take_while(|c| **c != '\'').count() + 1;
            }
            ('\'', Some(_)) if get(at + 2) == Some('\'') => at += 3,
            // A lifetime is no word of a path.
            ('\'', _) => at += 1 + letters.iter().skip(at + 1).take_while(|c| is_part(c)).count(),
            (':', Some(':')) => {
                tokens.push(Token::Colons);
                at += 2;
            }
            (c, _) if is_part(&c) => {
                let word: String = letters.iter().skip(at).take_while(|c| is_part(c)).collect();
                at += word.chars().count();
                tokens.push(Token::Word(word));
            }
            (c, _) if c.is_whitespace() => at += 1,
            (c, _) => {
                tokens.push(Token::Other(c));
                at += 1;
            }
        }
    }
    tokens
}

fn after_block_comment(letters: &[char], begin: usize) -> usize {
    let (mut depth, mut at) = (0, begin);
    while at < letters.len() {
        match (letters.get(at), letters.get(at + 1)) {
            (Some('/'), Some('*')) => {
                depth += 1;
                at += 2;
            }
            (Some('*'), Some('/')) => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    break;
                }
            }
            _ => at += 1,
        }
    }
    at
}

/// Behind a text whose first letter is at `at`, closed by a quote and `hashes` hashes; without hashes `\` escapes.
fn after_text(letters: &[char], mut at: usize, hashes: usize) -> usize {
    while let Some(letter) = letters.get(at) {
        match letter {
            '\\' if hashes == 0 => at += 2,
            '"' if letters.iter().skip(at + 1).take_while(|c| **c == '#').count() >= hashes => return at + 1 + hashes,
            _ => at += 1,
        }
    }
    at
}

/// Behind the raw or byte text that begins at `at`, if one does.
fn raw_text(letters: &[char], at: usize) -> Option<usize> {
    let prefix = letters.iter().skip(at).take_while(|c| matches!(c, 'r' | 'b')).count();
    if prefix == 0 || prefix > 2 {
        return None;
    }
    let is_raw = letters.iter().skip(at).take(prefix).any(|c| *c == 'r');
    let hashes = letters.iter().skip(at + prefix).take_while(|c| **c == '#').count();
    let open = at + prefix + hashes;
    if letters.get(open) != Some(&'"') || (hashes > 0 && !is_raw) {
        return None;
    }
    if is_raw && hashes == 0 {
        // No escapes in a raw text, and no hashes to close it.
        return Some(open + 1 + letters.iter().skip(open + 1).take_while(|c| **c != '"').count() + 1);
    }
    Some(after_text(letters, open + 1, hashes))
}

#[test]
fn finds_every_form_of_path_and_nothing_else() {
    let text = r##"
        //! crate::comment::no
        pub use crate::a::{b, c::{self, d}, e as f};
        use warrant_kernel::domain::*; /* crate::x::y /* nested */ crate::z::z */
        fn f<'a>(it: &'a str) -> crate::g::H<'a> { let c = ':'; let d = '\''; if it == "crate::text::no" { r#"crate::raw"# } }
        struct S { field: super::super::T }
    "##;
    let found: Vec<String> = Paths::of(text).map(|path| path.join("::")).collect();
    let wanted = [
        "crate::a::b",
        "crate::a::c::self",
        "crate::a::c::d",
        "crate::a::e",
        "warrant_kernel::domain::*",
        "crate::g::H",
        "super::super::T",
    ];
    assert_eq!(found, wanted);
}
