//! File patterns: `*.toml` on the name, `conf/**/*.yml` on the whole path. `*` and `?` stop at a `/`, `**` does not.

use regex::Regex;

/// The pattern as a regular expression.
pub(super) fn filter(glob: &str) -> Result<Regex, String> {
    let mut pattern = String::from(if glob.contains('/') { "^" } else { "(?:^|/)" });
    let mut rest = glob;
    while !rest.is_empty() {
        rest = step(rest, &mut pattern);
    }
    pattern.push('$');
    Regex::new(&pattern).map_err(|error| format!("`files`: {error}"))
}

/// Translates what stands first, and gives back what follows.
fn step<'a>(rest: &'a str, pattern: &mut String) -> &'a str {
    for (sign, meaning) in [("**/", "(?:.*/)?"), ("**", ".*"), ("*", "[^/]*"), ("?", "[^/]")] {
        if let Some(after) = rest.strip_prefix(sign) {
            pattern.push_str(meaning);
            return after;
        }
    }
    let mut chars = rest.chars();
    if let Some(c) = chars.next() {
        pattern.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
    }
    chars.as_str()
}
