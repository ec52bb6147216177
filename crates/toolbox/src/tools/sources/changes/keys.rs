//! Which setting a changed line sets: `max_connections` of section `pool` is `pool.max_connections`.
//!
//! Works on text, line by line, because a file in the middle of an incident may well not parse.

use super::patch::Hunk;

/// How a file nests its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `[section]` lines and `key = value`: TOML, INI, unit files, properties.
    Sections,
    /// Indentation.
    Yaml,
    /// Braces.
    Json,
}

impl Format {
    /// The format that a file's name tells; none where it is no settings file that we know.
    #[must_use]
    pub fn of(file: &str) -> Option<Self> {
        let name = file.rsplit('/').next().unwrap_or(file).to_ascii_lowercase();
        let (stem, ending) = name.rsplit_once('.')?;
        match ending {
            "toml" | "ini" | "cfg" | "cnf" | "conf" | "properties" | "env" | "service" | "timer" | "socket" => {
                Some(Self::Sections)
            }
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            _ if stem == ".env" => Some(Self::Sections),
            _ => None,
        }
    }
}

/// The key on one line, without its section: of `key = value`, `key: value` or `"key": value`.
#[must_use]
pub fn key_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.trim_start_matches("- ").trim_start();
    let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
    for quote in ['"', '\''] {
        if let Some(rest) = line.strip_prefix(quote) {
            let (key, rest) = rest.split_once(quote)?;
            let rest = rest.trim_start();
            return (rest.starts_with(':') || (rest.starts_with('=') && !rest.starts_with("=="))).then_some(key);
        }
    }
    let end = line.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')))?;
    let (key, rest) = (line.get(..end)?, line.get(end..)?.trim_start());
    let sets = match rest.as_bytes() {
        [b':', next, ..] => next.is_ascii_whitespace(),
        [b'=', next, ..] => !matches!(next, b'=' | b'>' | b'~'),
        [b':' | b'='] => true,
        _ => false,
    };
    let first = key.chars().next()?;
    (sets && (first.is_alphanumeric() || first == '_')).then_some(key)
}

/// The whole path of the setting on line `line` (the first is 1) of a file.
#[must_use]
pub fn path_at(content: &str, format: Format, line: u64) -> Option<String> {
    let index = usize::try_from(line.checked_sub(1)?).ok()?;
    match format {
        Format::Sections => in_sections(content, index),
        Format::Yaml => in_yaml(content, index),
        Format::Json => in_json(content, index),
    }
}

fn in_sections(content: &str, index: usize) -> Option<String> {
    let key = key_of(content.lines().nth(index)?)?;
    let section = content.lines().take(index).filter_map(|line| {
        let name = line.trim().strip_prefix('[')?.trim_start_matches('[');
        let (name, _) = name.split_once(']')?;
        Some(name.trim())
    });
    match section.last() {
        Some(section) if !section.is_empty() => Some(format!("{section}.{key}")),
        _ => Some(key.to_owned()),
    }
}

fn in_yaml(content: &str, index: usize) -> Option<String> {
    let mut path: Vec<(usize, &str)> = Vec::new();
    for line in content.lines().take(index + 1) {
        let text = line.trim_start();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if text.starts_with("---") {
            path.clear();
            continue;
        }
        let dash = line.len() - text.len();
        let item = text.trim_start_matches("- ").trim_start();
        let indent = line.len() - item.len();
        // A list may stand at the indentation of its own key.
        let is_item = indent > dash || text == "-";
        path.retain(|(outer, _)| if is_item { *outer <= dash } else { *outer < indent });
        path.extend(key_of(line).map(|key| (indent, key)));
    }
    let keys: Vec<&str> = path.into_iter().map(|(_, key)| key).collect();
    (!keys.is_empty()).then(|| keys.join("."))
}

/// Most levels that are followed.
const MAX_DEPTH: usize = 64;

fn in_json(content: &str, index: usize) -> Option<String> {
    let mut open: Vec<Option<String>> = Vec::new();
    let (mut key, mut text, mut quoted): (Option<String>, String, bool) = (None, String::new(), false);
    // A line without a key of its own is an element of what was open where it began.
    let (mut line, mut around) = (0_usize, String::new());
    let mut chars = content.chars();
    while let Some(c) = chars.next() {
        match c {
            '\n' => {
                line += 1;
                if line > index {
                    break;
                }
                if line == index {
                    around = joined(&open, None);
                }
            }
            '\\' if quoted => text.extend(chars.next()),
            '"' => {
                quoted = !quoted;
                if quoted {
                    text.clear();
                }
            }
            _ if quoted => text.push(c),
            ':' if line == index => return Some(joined(&open, Some(&text))),
            ':' => key = Some(std::mem::take(&mut text)),
            '{' | '[' if open.len() >= MAX_DEPTH => return None,
            '{' | '[' => open.push(key.take()),
            '}' | ']' => {
                open.pop();
                key = None;
            }
            ',' => key = None,
            _ => {}
        }
    }
    (!around.is_empty()).then_some(around)
}

fn joined(open: &[Option<String>], key: Option<&str>) -> String {
    open.iter().filter_map(Option::as_deref).chain(key).collect::<Vec<_>>().join(".")
}

/// A hunk taken apart where the same key stands on both sides, so that each changed setting is a row of its own.
#[must_use]
pub fn split(hunk: Hunk) -> Vec<Hunk> {
    if hunk.more > 0 || hunk.before.len() + hunk.after.len() <= 2 {
        return vec![hunk];
    }
    let pairs = pairs(&hunk);
    if pairs.is_empty() {
        return vec![hunk];
    }
    let mut parts = Vec::new();
    let (mut old, mut new) = (0, 0);
    for (before, after) in pairs {
        parts.extend(part(&hunk, (old, before), (new, after)));
        parts.extend(part(&hunk, (before, before + 1), (after, after + 1)));
        (old, new) = (before + 1, after + 1);
    }
    parts.extend(part(&hunk, (old, hunk.before.len()), (new, hunk.after.len())));
    parts
}

fn pairs(hunk: &Hunk) -> Vec<(usize, usize)> {
    let (mut pairs, mut from) = (Vec::new(), 0);
    for (at, line) in hunk.before.iter().enumerate() {
        let Some(key) = key_of(line) else { continue };
        let same = hunk.after.iter().enumerate().skip(from).find(|(_, line)| key_of(line) == Some(key));
        if let Some((with, _)) = same {
            pairs.push((at, with));
            from = with + 1;
        }
    }
    pairs
}

fn part(hunk: &Hunk, (b0, b1): (usize, usize), (a0, a1): (usize, usize)) -> Option<Hunk> {
    let before: Vec<String> = hunk.before.get(b0..b1)?.to_vec();
    let after: Vec<String> = hunk.after.get(a0..a1)?.to_vec();
    if before.is_empty() && after.is_empty() {
        return None;
    }
    // An empty side names the line before it, as in the patch itself.
    let line = |first: u64, at: usize, empty: bool| {
        first.saturating_add(u64::try_from(at).unwrap_or_default()).saturating_sub(u64::from(empty))
    };
    let old_line = line(hunk.old_line, b0, before.is_empty());
    let new_line = line(hunk.new_line, a0, after.is_empty());
    Some(Hunk { old_line, new_line, before, after, ..hunk.clone() })
}

#[cfg(test)]
mod tests;
