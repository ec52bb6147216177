//! Reads a runbook file: TOML between `+++` lines, then Markdown.
//!
//! Files without that front matter, or with YAML between `---` lines, are other people's runbooks: they load as text, with
//! a title, and their file name counts as the alert's. Every error bears the line and says what to do.

mod remedies;

use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};
use toml::Spanned;
use warrant_kernel::domain::name::{ServiceName, ToolName};

use crate::runbook::document::{Check, Problem, Remedy, Runbook, Shows};
use crate::runbook::expect::{Expect, Test, Than};
use crate::runbook::markdown;
use remedies::RemedyForm;

/// Most bytes of a runbook file.
pub const MAX_BYTES: usize = 256 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    title: String,
    #[serde(default)]
    alerts: Vec<String>,
    #[serde(default)]
    services: Vec<ServiceName>,
    #[serde(default)]
    symptoms: Vec<String>,
    #[serde(default)]
    checks: Vec<Spanned<CheckForm>>,
    #[serde(default)]
    remedies: Vec<Spanned<RemedyForm>>,
    #[serde(default)]
    changes: ChangesForm,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckForm {
    id: String,
    tool: ToolName,
    #[serde(default)]
    args: Map<String, Value>,
    expect: Spanned<ExpectForm>,
    means: String,
    #[serde(default)]
    rules_out: Option<String>,
    #[serde(default)]
    cause: bool,
    #[serde(default)]
    mechanism: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectForm {
    at: String,
    is: Is,
    #[serde(default)]
    value: Option<Value>,
    #[serde(default)]
    than: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Is {
    Eq,
    Lt,
    Gt,
    Between,
    Contains,
    Absent,
    Rises,
    Falls,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct ChangesForm {
    #[serde(default)]
    keys: Vec<String>,
}

/// Reads one runbook. `id` is its path without `.md`, `file` is named in errors.
///
/// # Errors
/// A front matter that is not closed, not TOML, has unknown fields or expects what can't be judged.
pub fn parse(id: &str, file: &Path, text: &str) -> Result<Runbook, Problem> {
    let problem = |line: usize, message: String| Problem { file: file.to_path_buf(), line: Some(line), message };
    if text.len() > MAX_BYTES {
        return Err(problem(1, format!("the file is longer than {MAX_BYTES} bytes; split it")));
    }
    let text = text.trim_start_matches('\u{feff}');
    match split(text) {
        Front::Toml { matter, body, body_line } => {
            let at = |span: Range<usize>| 2 + lines_before(matter, span.start);
            let front: FrontMatter = toml::from_str(matter)
                .map_err(|error| problem(at(error.span().unwrap_or(0..0)), error.message().trim_end().to_owned()))?;
            if front.title.trim().is_empty() {
                return Err(problem(1, "`title` is empty; say what the runbook is about".to_owned()));
            }
            let mut checks: Vec<Check> = Vec::new();
            for form in front.checks {
                let line = at(form.span());
                let form = form.into_inner();
                let expect_line = at(form.expect.span());
                let expect = expectation(form.expect.into_inner()).map_err(|message| problem(expect_line, message))?;
                if checks.iter().any(|check| check.id == form.id) {
                    return Err(problem(line, format!("there are two checks with the id `{}`; rename one", form.id)));
                }
                checks.push(Check {
                    id: form.id,
                    tool: form.tool,
                    args: form.args,
                    expect,
                    means: form.means,
                    rules_out: form.rules_out,
                    shows: match (form.cause, form.mechanism) {
                        (true, _) => Shows::Cause,
                        (false, true) => Shows::Mechanism,
                        (false, false) => Shows::Symptom,
                    },
                    line,
                });
            }
            let mut remedies: Vec<Remedy> = Vec::new();
            for form in front.remedies {
                let line = at(form.span());
                remedies.push(form.into_inner().remedy(line, &checks).map_err(|message| problem(line, message))?);
            }
            Ok(Runbook {
                id: id.to_owned(),
                file: file.to_path_buf(),
                title: front.title,
                alerts: front.alerts,
                services: front.services,
                symptoms: front.symptoms,
                checks,
                remedies,
                change_words: front.changes.keys.iter().map(|key| key.to_lowercase()).collect(),
                text: body.to_owned(),
                sections: markdown::read(body, body_line).sections,
            })
        }
        Front::Open(fence) => {
            Err(problem(1, format!("the front matter that begins here is not closed; add a line `{fence}` below it")))
        }
        Front::Yaml { matter, body, body_line } => Ok(foreign(id, file, yaml_title(matter), body, body_line)),
        Front::None => Ok(foreign(id, file, None, text, 1)),
    }
}

/// A runbook that is text only.
fn foreign(id: &str, file: &Path, title: Option<String>, body: &str, body_line: usize) -> Runbook {
    let page = markdown::read(body, body_line);
    let stem = id.rsplit('/').next().unwrap_or(id).to_owned();
    let heading = page.title.filter(|heading| !heading.trim().is_empty());
    let mut alerts = vec![stem.clone()];
    alerts
        .extend(heading.iter().filter(|heading| !heading.contains(char::is_whitespace) && **heading != stem).cloned());
    Runbook {
        id: id.to_owned(),
        file: file.to_path_buf(),
        title: title.or(heading).unwrap_or(stem),
        alerts,
        services: Vec::new(),
        symptoms: Vec::new(),
        checks: Vec::new(),
        remedies: Vec::new(),
        change_words: Vec::new(),
        text: body.to_owned(),
        sections: page.sections,
    }
}

enum Front<'a> {
    Toml { matter: &'a str, body: &'a str, body_line: usize },
    Yaml { matter: &'a str, body: &'a str, body_line: usize },
    Open(&'static str),
    None,
}

fn split(text: &str) -> Front<'_> {
    let (fence, first) = match text.lines().next().map(str::trim_end) {
        Some("+++") => ("+++", text.split_once('\n')),
        // A page may begin with a rule, so an open `---` is text; an open `+++` is a slip.
        Some("---") => ("---", text.split_once('\n')),
        _ => return Front::None,
    };
    let unclosed = if fence == "+++" { Front::Open(fence) } else { Front::None };
    let Some((_, below)) = first else { return unclosed };
    let mut start = 0;
    for line in below.split_inclusive('\n') {
        if line.trim_end() == fence {
            let matter = below.get(..start).unwrap_or_default();
            let body = below.get(start + line.len()..).unwrap_or_default();
            let body_line = 3 + lines_before(matter, matter.len());
            return if fence == "+++" {
                Front::Toml { matter, body, body_line }
            } else {
                Front::Yaml { matter, body, body_line }
            };
        }
        start += line.len();
    }
    unclosed
}

fn lines_before(text: &str, end: usize) -> usize {
    text.bytes().take(end).filter(|byte| *byte == b'\n').count()
}

fn yaml_title(matter: &str) -> Option<String> {
    let title = matter.lines().find_map(|line| line.strip_prefix("title:"))?;
    let title = title.trim().trim_matches(['"', '\'']).trim();
    (!title.is_empty()).then(|| title.to_owned())
}

fn expectation(form: ExpectForm) -> Result<Expect, String> {
    let ExpectForm { at, is, value, than } = form;
    pointer(&at)?;
    let comparing = matches!(is, Is::Rises | Is::Falls);
    if than.is_some() && !comparing {
        return Err("`than` goes with `rises` and `falls` only; remove it".to_owned());
    }
    let than = match than.as_deref() {
        None | Some("previous") => Than::Previous,
        Some(other) if other.starts_with('/') => {
            pointer(other)?;
            Than::At(other.to_owned())
        }
        Some(other) => {
            return Err(format!("`than = {other:?}`: write \"previous\" or a JSON pointer as in \"/errors/before\""));
        }
    };
    let number = |value: Option<&Value>| value.and_then(Value::as_f64);
    let test = match (is, value) {
        (Is::Absent, None) => Test::Absent,
        (Is::Absent, Some(_)) => return Err("`absent` takes no `value`; remove it".to_owned()),
        (Is::Eq, Some(value)) => Test::Equals(value),
        (Is::Contains, Some(value)) => Test::Contains(value),
        (Is::Lt, value) => Test::Below(number(value.as_ref()).ok_or("`lt` needs a number as `value`")?),
        (Is::Gt, value) => Test::Above(number(value.as_ref()).ok_or("`gt` needs a number as `value`")?),
        (Is::Between, value) => {
            let ends = value.as_ref().and_then(Value::as_array).map(Vec::as_slice);
            match ends {
                Some([low, high]) => match (number(Some(low)), number(Some(high))) {
                    (Some(low), Some(high)) if low <= high => Test::Between(low, high),
                    _ => return Err("`between` needs two numbers as `value`, the lower first".to_owned()),
                },
                _ => return Err("`between` needs two numbers as `value`, the lower first".to_owned()),
            }
        }
        (Is::Eq, None) => return Err("`eq` needs a `value`".to_owned()),
        (Is::Contains, None) => return Err("`contains` needs a `value`".to_owned()),
        (Is::Rises | Is::Falls, value) => {
            let factor = match value {
                None => 1.0,
                Some(value) => number(Some(&value))
                    .filter(|factor| *factor >= 1.0)
                    .ok_or("`value` of `rises` and `falls` is by how many times at least, a number from 1 on")?,
            };
            if is == Is::Rises { Test::Rises(than, factor) } else { Test::Falls(than, factor) }
        }
    };
    Ok(Expect { at, test })
}

/// RFC 6901: empty, or parts that each begin with `/`; `~` only as `~0` and `~1`.
fn pointer(text: &str) -> Result<(), String> {
    let escapes = text.split('~').skip(1).all(|after| after.starts_with(['0', '1']));
    if (text.is_empty() || text.starts_with('/')) && escapes {
        return Ok(());
    }
    Err(format!("`{text}` is no JSON pointer; write it as in `/matched/total`, `~1` for a slash and `~0` for a tilde"))
}

#[cfg(test)]
mod tests;
