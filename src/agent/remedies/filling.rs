//! What a remedy's placeholders stand for: lines of files that were read, never a model's words.
//!
//! A line is widened by the lines above it until it stands in its file once, for an edit of what stands there twice is
//! refused. Whatever is not as the evidence says it is leaves the placeholder unfilled, and then nothing is proposed.

use serde_json::{Value, json};
use warrant_kernel::domain::name::{EvidenceId, ServiceName};
use warrant_toolbox::catalog::Catalog;
use warrant_toolbox::runbook::document::Deed;
use warrant_toolbox::runbook::fill::{FillError, fill_with, placeholders_of};

use super::calls::{Calls, Wanted};
use super::change;

/// Lines above a line by which it is widened.
const MOST_WIDENED: usize = 12;

/// A file is read from its beginning up to this line, or from around the line in question.
const FROM_THE_TOP: u64 = 300;

/// The calls that a deed's placeholders still need, or its own call.
#[derive(Debug, Clone, PartialEq)]
pub enum Filled {
    /// These have to be read first.
    Reads(Vec<Wanted>),
    /// It can be called so.
    Call(Wanted),
    /// It can't be called, and why.
    Cant(String),
}

/// Some lines of a file, as they were read.
struct Page<'a> {
    evidence: EvidenceId,
    first: u64,
    lines: Vec<&'a str>,
}

/// What placeholders are filled from.
#[derive(Clone, Copy)]
pub struct Fillings<'s, 'a> {
    /// Where files and services lie.
    pub catalog: &'s Catalog,
    /// All calls that were answered.
    pub calls: &'s Calls<'a>,
    /// The service that the runbook is about.
    pub service: &'s ServiceName,
    /// The row of `recent_changes` that brought the trouble about, if one did.
    pub change: Option<&'a Value>,
}

impl<'a> Fillings<'_, 'a> {
    /// Fills a deed's arguments.
    #[must_use]
    pub fn fill(&self, deed: &Deed) -> Filled {
        let reads: Vec<Wanted> =
            self.reads(&placeholders_of(&deed.args)).into_iter().filter(|read| self.calls.of(read).is_none()).collect();
        if !reads.is_empty() {
            return Filled::Reads(reads);
        }
        match fill_with(&deed.args, &|name| self.value(name)) {
            Ok(args) => Filled::Call(Wanted { tool: deed.tool.to_string(), args: Value::Object(args) }),
            Err(error) => Filled::Cant(error.to_string()),
        }
    }

    /// The evidence that the lines of a deed were read from.
    #[must_use]
    pub fn evidence(&self, deed: &Deed) -> Vec<EvidenceId> {
        let reads = self.reads(&placeholders_of(&deed.args));
        reads.iter().filter_map(|read| Some(self.page(read)?.evidence)).collect()
    }

    /// The files that have to be read for these placeholders.
    fn reads(&self, names: &[&str]) -> Vec<Wanted> {
        let needs = |of: &str| names.iter().any(|name| name.starts_with(of));
        let change = needs("change.line_").then(|| self.read_of_change()).flatten();
        let overrides = needs("override.line_").then(|| self.read_of_overrides()).flatten();
        change.into_iter().chain(overrides).collect()
    }

    fn read_of_change(&self) -> Option<Wanted> {
        let path = change::workspace_path(self.catalog, self.change?)?;
        let line = change::line(self.change?).unwrap_or(1);
        let mut args = json!({ "path": path });
        if let (true, Some(args)) = (line > FROM_THE_TOP, args.as_object_mut()) {
            args.insert("from_line".to_owned(), (line - FROM_THE_TOP / 2).into());
        }
        Some(Wanted { tool: "read_file".to_owned(), args })
    }

    fn read_of_overrides(&self) -> Option<Wanted> {
        let path = self.override_path()?;
        Some(Wanted { tool: "read_file".to_owned(), args: json!({ "path": path }) })
    }

    /// The service's file of overrides, as file tools name it.
    fn override_path(&self) -> Option<String> {
        let file = self.catalog.service(self.service)?.temp_files.first()?;
        Some(format!("{}:{}", file.workspace, file.path))
    }

    fn page(&self, read: &Wanted) -> Option<Page<'a>> {
        let seen = self.calls.of(read).filter(|seen| seen.result.ok)?;
        let rows = seen.result.data.pointer("/lines")?.as_array()?;
        let numbered = |row: &'a Value| {
            let (number, line) = row.as_str()?.split_once("| ")?;
            Some((number.trim().parse::<u64>().ok()?, line))
        };
        let rows: Vec<(u64, &str)> = rows.iter().map_while(numbered).collect();
        let first = rows.first()?.0;
        Some(Page { evidence: seen.result.evidence?, first, lines: rows.into_iter().map(|(_, line)| line).collect() })
    }

    fn value(&self, name: &str) -> Result<String, FillError> {
        let found = match name {
            "service" => Some(self.service.to_string()),
            "change.path" => self.change.and_then(|change| change::workspace_path(self.catalog, change)),
            "change.line_now" => self.reverted().map(|(now, _)| now),
            "change.line_before" => self.reverted().map(|(_, before)| before),
            "override.path" => self.override_path(),
            "override.line_now" => self.overridden().map(|(now, _)| now),
            "override.line_wanted" => self.overridden().map(|(_, wanted)| wanted),
            _ => None,
        };
        found.ok_or_else(|| FillError::Unseen(name.to_owned()))
    }

    /// The changed lines as they stand in the file, and as they would stand again.
    fn reverted(&self) -> Option<(String, String)> {
        let change = self.change.filter(|change| change::is_whole(change))?;
        let (before, after) = (change::lines(change, "before"), change::lines(change, "after"));
        if before.is_empty() || after.is_empty() {
            return None;
        }
        let page = self.page(&self.read_of_change()?)?;
        let at = page.find(&after, change::line(change))?;
        page.replaced(at, after.len(), &before)
    }

    /// The override file's line to begin at, and that with the setting of before the change.
    fn overridden(&self) -> Option<(String, String)> {
        let change = self.change.filter(|change| change::is_whole(change))?;
        let path = self.override_path()?;
        let key = change::text(change, "key")?;
        let before = change::lines(change, "before");
        let [line] = before.as_slice() else { return None };
        let setting = setting(&path, key, value_on(line)?);
        let page = self.page(&self.read_of_overrides()?)?;
        let sets_it = |line: &&str| -> bool {
            line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(['=', ':']))
        };
        if let Some(at) = page.lines.iter().position(sets_it) {
            return page.replaced(at, 1, &[setting.as_str()]);
        }
        let last = page.lines.iter().rposition(|line| !line.trim().is_empty())?;
        let line = *page.lines.get(last)?;
        page.replaced(last, 1, &[line, setting.as_str()])
    }
}

impl Page<'_> {
    /// Where these lines stand: at the line named, or else at the only place there is.
    fn find(&self, wanted: &[&str], line: Option<u64>) -> Option<usize> {
        let stands = |at: usize| self.lines.get(at..at + wanted.len()).is_some_and(|lines| lines == wanted);
        let named = line.and_then(|line| usize::try_from(line.checked_sub(self.first)?).ok());
        if let Some(at) = named.filter(|at| stands(*at)) {
            return Some(at);
        }
        let mut places = (0..self.lines.len()).filter(|at| stands(*at));
        let only = places.next()?;
        places.next().is_none().then_some(only)
    }

    /// The lines from `at` on, and what they become; widened upwards until they stand once.
    fn replaced(&self, at: usize, count: usize, by: &[&str]) -> Option<(String, String)> {
        let whole = self.lines.join("\n");
        let end = at.checked_add(count)?;
        (0..=at.min(MOST_WIDENED)).find_map(|wider| {
            let from = at - wider;
            let now = self.lines.get(from..end)?.join("\n");
            let above = self.lines.get(from..at)?.iter().copied();
            let wanted = above.chain(by.iter().copied()).collect::<Vec<_>>().join("\n");
            (whole.matches(now.as_str()).count() == 1).then_some((now, wanted))
        })
    }
}

/// What stands after the key of a line: a number, a word, or a text in quotes; no list, no table.
fn value_on(line: &str) -> Option<&str> {
    let at = line.find(['=', ':'])?;
    let value = line.get(at + 1..)?.trim().trim_end_matches(',').trim_end();
    let quoted = value.len() >= 2 && value.starts_with('"') && value.ends_with('"');
    let plain = !value.is_empty() && value.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '+'));
    (quoted || plain).then_some(value)
}

/// A setting as a line of a file of this name.
fn setting(path: &str, key: &str, value: &str) -> String {
    let is_yaml = [".yaml", ".yml"].iter().any(|ending| path.ends_with(ending));
    if is_yaml { format!("{key}: {value}") } else { format!("{key} = {value}") }
}

#[cfg(test)]
mod tests;
