//! The matcher that finds the lines worth a look: the pattern asked for, or what every record of a level holds.

use std::sync::LazyLock;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use warrant_kernel::call::tool::Arguments;
use warrant_kernel::redact::guard::first_chars;

use crate::analysis::level::Level;

/// A compiled pattern larger than this would be slow on every line.
const MOST_BYTES: usize = 10 << 20;

/// Every line that makes a record an error holds one of these; what else holds them is sorted out by its level.
const ERROR: &str = r#"(?i:err|fatal|crit|severe|panic|alert|emerg|exception|traceback)|[EF][0-9]{4} |" 5[0-9][0-9] "#;
const WARN: &str = r#"(?i:warn|wrn)|W[0-9]{4} |" 4[0-9][0-9] "#;
/// Levels as numbers: of JSON loggers, and in a syslog priority.
const NUMBERS: &str =
    r#""(?:level|lvl|severity|levelname|loglevel|log\.level|severity_text)"\s*:\s*[0-9]|^<[0-9]{1,3}>"#;

/// The matcher for the `pattern` and `ignore_case` of the arguments; none where every line may do.
///
/// # Errors
/// What is wrong with the pattern, and what would do.
pub(super) fn matcher(args: &Arguments, level: Option<Level>) -> Result<Option<RegexMatcher>, String> {
    let Some(pattern) = args.text("pattern").filter(|pattern| !pattern.is_empty()) else {
        return level.and_then(candidates).transpose();
    };
    build(pattern, args.flag("ignore_case").unwrap_or(false)).map(Some)
}

type Built = LazyLock<Result<RegexMatcher, String>>;

/// Built once: building one takes longer than a search with it.
static ERRORS: Built = LazyLock::new(|| build(&format!("{ERROR}|{NUMBERS}"), false));
static WARNINGS: Built = LazyLock::new(|| build(&format!("{WARN}|{NUMBERS}"), false));

/// What a line must hold for its record to be of the level, where that is rarer than not.
fn candidates(level: Level) -> Option<Result<RegexMatcher, String>> {
    match level {
        Level::Error => Some(ERRORS.clone()),
        Level::Warn => Some(WARNINGS.clone()),
        Level::Info | Level::Debug | Level::Unknown => None,
    }
}

fn build(pattern: &str, ignore_case: bool) -> Result<RegexMatcher, String> {
    RegexMatcherBuilder::new()
        .line_terminator(Some(b'\n'))
        .case_insensitive(ignore_case)
        .multi_line(true)
        .size_limit(MOST_BYTES)
        .build(pattern)
        .map_err(|error| {
            let error = error.to_string();
            let why = first_chars(&error, 600);
            format!("{why}; patterns match within one line, in the syntax of Rust's regex: no look-around, no back-references")
        })
}
