//! The words of a text as the search sees them, the same for runbooks and questions.
//!
//! `KubePodCrashLooping` and `disk_full_soon` are also their parts; scripts without spaces come as pairs of characters;
//! everything that is neither letter nor digit only separates, so no text can be an operator of anything.

/// Most bytes of a question that are looked at.
const MAX_QUESTION: usize = 8 * 1024;

/// Most characters of a word that are looked at.
const MAX_WORD: usize = 64;

/// One word, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Its letters.
    pub text: String,
    /// What it is, which tells what it means that no runbook has it.
    pub kind: Kind,
}

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word.
    Plain,
    /// Part of a name: with a digit in it, or tied to others by `-`, `_`, `/`, `@` or `=`; also a name in camel case as a
    /// whole. That no runbook knows a host by its name says nothing.
    Name,
    /// Two characters of a script without spaces; many a pair is no word.
    Pair,
}

/// All words of a text, in order.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let mut run = String::new();
    let mut pair: Option<char> = None;
    let mut lone = false;
    let mut before = ' ';
    let mut run_tied = false;
    for c in text.chars().chain([' ']) {
        let c = half_width(c);
        let unspaced = is_unspaced(c);
        let lettered = c.is_alphanumeric() && !unspaced;
        if lettered {
            if run.is_empty() {
                run_tied = is_tie(before);
            }
            run.push(c);
        } else if !run.is_empty() {
            split_run(&std::mem::take(&mut run), run_tied || is_tie(c), &mut found);
        }
        if unspaced {
            if let Some(first) = pair {
                found.push(Word { text: String::from_iter([first, c]), kind: Kind::Pair });
            }
            lone = pair.is_none();
            pair = Some(c);
        } else if let Some(only) = pair.take()
            && lone
        {
            found.push(Word { text: only.to_string(), kind: Kind::Pair });
        }
        before = c;
    }
    found
}

/// The words of a question that can tell one runbook from another: no template code of alert rules, no stop words; a
/// question longer than 8 KiB is read up to there.
pub(super) fn telling_words(question: &str) -> Vec<Word> {
    let mut end = question.len().min(MAX_QUESTION);
    while !question.is_char_boundary(end) {
        end -= 1;
    }
    let plain = without_templates(question.get(..end).unwrap_or_default());
    let mut words = words(&plain);
    words.retain(|word| !is_stop_word(&word.text));
    words
}

/// Whether a word is too common to tell anything.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Whether a word says how often, how long or that something was seen rather than what it is: a figure, or a word that any
/// alert may have.
pub(super) fn is_faint(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) || FAINT_WORDS.split(' ').any(|faint| faint == word)
}

/// The text without `{{ ... }}` and `$labels.pod`.
fn without_templates(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, opened)) = rest.split_once("{{") {
        plain.push_str(before);
        plain.push(' ');
        rest = opened.split_once("}}").map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    let mut kept = String::with_capacity(plain.len());
    let mut in_variable = false;
    for c in plain.chars() {
        in_variable = c == '$' || (in_variable && (c.is_alphanumeric() || c == '_' || c == '.'));
        kept.push(if in_variable { ' ' } else { c });
    }
    kept
}

/// A word as it stands, then its parts where it is written in camel case.
fn split_run(run: &str, tied: bool, found: &mut Vec<Word>) {
    let letters: Vec<char> = run.chars().take(MAX_WORD).collect();
    let whole: String = letters.iter().flat_map(|c| c.to_lowercase()).collect();
    let tied = tied || whole.bytes().any(|byte| byte.is_ascii_digit());
    let kind = if tied { Kind::Name } else { Kind::Plain };
    let mut parts: Vec<String> = vec![String::new()];
    for (at, c) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| letters.get(before));
        let after = letters.get(at + 1);
        let begins = c.is_uppercase()
            && before.is_some_and(|before| !before.is_uppercase() || after.is_some_and(|after| after.is_lowercase()));
        if begins {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.extend(c.to_lowercase());
        }
    }
    if parts.len() > 1 {
        found.push(Word { text: whole, kind: Kind::Name });
        found.extend(parts.into_iter().map(|text| Word { text, kind }));
    } else {
        found.push(Word { text: whole, kind });
    }
}

fn is_tie(c: char) -> bool {
    matches!(c, '-' | '_' | '/' | '@' | '=')
}

/// Full-width forms of ASCII as ASCII.
fn half_width(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

/// Letters of scripts that are written without spaces, Hangul too, whose spaces do not part its particles from its words.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e01}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3041}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
        && c.is_alphanumeric()
}

/// Sorted.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "before", "being",
    "but", "by", "can", "could", "did", "do", "does", "during", "for", "from", "going", "had", "has", "have", "he",
    "help", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "may", "me", "might", "more",
    "most", "my", "no", "not", "now", "of", "on", "once", "only", "or", "other", "our", "out", "over", "own", "please",
    "same", "she", "should", "since", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "to", "too", "up", "us", "very", "was", "we", "were", "what", "when", "where", "which",
    "while", "who", "why", "will", "with", "within", "without", "would", "wrong", "you", "your",
];

const FAINT_WORDS: &str = "\
    already attempt attempting attempts because cause caused causes causing check current currently day days detect \
    detected detects due encounter encountered encounters ensure even experience experiencing first following get gets \
    given happen happens hour hours indicate indicates last least less like longer make many min mins minute minutes \
    much multiple next one particular past per possibly report reported reporting reports result second seconds see \
    several soon specific still sure three two use used using value values via yet";

#[cfg(test)]
mod tests;
