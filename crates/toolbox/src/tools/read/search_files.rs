//! `search_files`: lines of workspace files that match a regular expression.

mod glob;

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::Arc;

use async_trait::async_trait;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch};
use jiff::Timestamp;
use regex::Regex;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use warrant_kernel::call::tool::{Arguments, Problem, ReadError, ReadTool, Reading};
use warrant_kernel::domain::output::Output;
use warrant_kernel::domain::result::Origin;
use warrant_kernel::domain::target::Target;
use warrant_kernel::redact::guard::lone_line;

use self::glob::filter;
use super::list_files::{invalid, places, target};
use crate::tools::workspace::lines::{Cancellable, Line};
use crate::tools::workspace::path::RelPath;
use crate::tools::workspace::walk::{Kind, walk};
use crate::tools::workspace::{Place, Workspaces, blocking};

/// Most bytes of one file that are searched.
const MAX_FILE: u64 = 256 * 1024 * 1024;
/// The longest line that is searched.
const MAX_SEARCHED: usize = 4 * 1024 * 1024;
/// Most bytes of a line that are shown.
const MAX_SHOWN: usize = 1024;
const DEPTH: usize = 32;
/// Most bytes of a compiled pattern.
const MAX_PATTERN: usize = 4 * 1024 * 1024;

struct SearchFiles {
    workspaces: Arc<Workspaces>,
}

/// The tool.
#[must_use]
pub fn search_files(workspaces: Arc<Workspaces>) -> Arc<dyn ReadTool> {
    Arc::new(SearchFiles { workspaces })
}

#[derive(Deserialize)]
struct Args {
    pattern: String,
    path: Option<String>,
    files: Option<String>,
    #[serde(default = "hundred")]
    limit: usize,
    #[serde(default)]
    context: usize,
    #[serde(default)]
    ignore_case: bool,
}

fn hundred() -> usize {
    100
}

fn matcher(args: &Args) -> Result<RegexMatcher, String> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(args.ignore_case).size_limit(MAX_PATTERN).dfa_size_limit(MAX_PATTERN);
    builder.line_terminator(Some(b'\n')).build(&args.pattern).map_err(|error| format!("`pattern`: {error}"))
}

#[derive(Default)]
struct Tally {
    rows: Vec<String>,
    matches: usize,
    files_searched: u64,
    files_matched: u64,
    protected: u64,
    binary: u64,
    unreadable: u64,
    too_long: u64,
    cut: u64,
    stopped: bool,
    unseen: Vec<String>,
}

impl Tally {
    fn left_out(&self) -> Vec<String> {
        let counts = [
            (self.protected, "files are protected and were not searched"),
            (self.unreadable, "files could not be opened"),
            (self.too_long, "files hold lines longer than 4 MiB and were searched up to there"),
            (self.cut, "files are bigger than 256 MiB and were searched up to there"),
        ];
        let mut parts: Vec<String> = Vec::new();
        if self.stopped {
            parts.push(format!(
                "stopped after {} matches; narrow `pattern`, `path` or `files`, or raise `limit`",
                self.matches
            ));
        }
        parts.extend(self.unseen.iter().cloned());
        parts.extend(counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
        parts
    }
}

struct Rows<'a> {
    tally: &'a mut Tally,
    shown: &'a str,
    limit: usize,
    matched: bool,
    binary: bool,
}

impl Rows<'_> {
    fn row(&mut self, number: Option<u64>, bytes: &[u8], mark: char) {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let bytes = lone_line(bytes);
        let (kept, rest) = bytes.split_at(bytes.len().min(MAX_SHOWN));
        let line = Line { bytes: kept.to_vec(), more: u64::try_from(rest.len()).unwrap_or_default() };
        self.tally.rows.push(format!("{}{mark}{}{mark} {}", self.shown, number.unwrap_or_default(), line.text()));
    }
}

impl Sink for Rows<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.tally.matches >= self.limit {
            self.tally.stopped = true;
            return Ok(false);
        }
        self.matched = true;
        self.tally.matches += 1;
        self.row(found.line_number(), found.bytes(), ':');
        Ok(true)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.row(context.line_number(), context.bytes(), '-');
        Ok(true)
    }

    fn finish(&mut self, _searcher: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

struct Search<'a> {
    args: &'a Args,
    matcher: RegexMatcher,
    searcher: Searcher,
    filter: Option<Regex>,
    workspaces: &'a Workspaces,
    cancel: &'a CancellationToken,
    tally: Tally,
}

impl Search<'_> {
    fn file(&mut self, place: &Place, path: &str) -> ControlFlow<Option<ReadError>> {
        let Some(opened) = RelPath::parse(path).ok().and_then(|path| place.root.file(&path).ok()) else {
            self.tally.unreadable += 1;
            return ControlFlow::Continue(());
        };
        let shown = self.workspaces.shown(&place.root, path);
        let rows_before = self.tally.rows.len();
        let matches_before = self.tally.matches;
        let reader = Cancellable::new(opened.file, self.cancel.clone()).take(opened.size.min(MAX_FILE));
        let limit = self.args.limit;
        let mut rows = Rows { tally: &mut self.tally, shown: &shown, limit, matched: false, binary: false };
        let ended = self.searcher.search_reader(&self.matcher, reader, &mut rows);
        let (matched, binary) = (rows.matched, rows.binary);
        let tally = &mut self.tally;
        tally.files_searched += 1;
        if self.cancel.is_cancelled() {
            return ControlFlow::Break(Some(ReadError::Cancelled));
        }
        if binary {
            tally.binary += 1;
            tally.rows.truncate(rows_before);
            tally.matches = matches_before;
        } else if matched {
            tally.files_matched += 1;
        }
        tally.too_long += u64::from(ended.is_err());
        tally.cut += u64::from(opened.size > MAX_FILE);
        if tally.stopped { ControlFlow::Break(None) } else { ControlFlow::Continue(()) }
    }

    fn place(&mut self, place: &Place) -> Result<(), ReadError> {
        if place.root.entry(&place.path)?.is_some() {
            // A file that is named is opened first, so that what is wrong with it is told.
            place.root.file(&place.path)?;
            return match self.file(place, place.path.as_str()) {
                ControlFlow::Break(Some(error)) => Err(error),
                ControlFlow::Break(None) | ControlFlow::Continue(()) => Ok(()),
            };
        }
        let mut failed = None;
        let cancel = self.cancel;
        let unseen = walk(&place.root, &place.path, DEPTH, cancel, &mut |entry| match entry.kind {
            Kind::File if entry.protected => {
                self.tally.protected += 1;
                ControlFlow::Continue(())
            }
            Kind::File if !self.passes(&entry.path) => ControlFlow::Continue(()),
            Kind::File => self.file(place, &entry.path).map_break(|error| failed = error),
            Kind::Directory | Kind::Link | Kind::Special => ControlFlow::Continue(()),
        })?;
        self.tally.unseen.extend(unseen.sentence());
        failed.map_or(Ok(()), Err)
    }

    fn passes(&self, path: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.is_match(path))
    }
}

/// What the tool itself counts and says.
const OWN: &[(&str, Origin)] = &[
    ("matches", Origin::Warrant),
    ("files_matched", Origin::Warrant),
    ("files_searched", Origin::Warrant),
    ("binary_files_skipped", Origin::Warrant),
];

fn search(workspaces: &Workspaces, args: &Args, cancel: &CancellationToken) -> Result<Output, ReadError> {
    let bad = |message| ReadError::Invalid { reason: "PATTERN_INVALID", message };
    let searcher = SearcherBuilder::new()
        .line_number(true)
        .before_context(args.context)
        .after_context(args.context)
        .heap_limit(Some(MAX_SEARCHED))
        .binary_detection(BinaryDetection::quit(0))
        .build();
    let mut search = Search {
        matcher: matcher(args).map_err(bad)?,
        filter: args.files.as_deref().map(filter).transpose().map_err(bad)?,
        args,
        searcher,
        workspaces,
        cancel,
        tally: Tally::default(),
    };
    for place in places(workspaces, args.path.as_deref()).map_err(invalid)? {
        search.place(&place)?;
        if search.tally.stopped {
            break;
        }
    }
    let tally = search.tally;
    let mut summary: Map<String, Value> = Map::new();
    summary.insert("matches".to_owned(), tally.matches.into());
    summary.insert("files_matched".to_owned(), tally.files_matched.into());
    summary.insert("files_searched".to_owned(), tally.files_searched.into());
    if tally.binary > 0 {
        summary.insert("binary_files_skipped".to_owned(), tally.binary.into());
    }
    let left_out = tally.left_out();
    let mut output = Output::lines(Origin::File, summary, tally.rows).with_fields(OWN);
    output.left_out = (!left_out.is_empty()).then(|| left_out.join("; "));
    Ok(output)
}

#[async_trait]
impl ReadTool for SearchFiles {
    fn resolve(&self, args: &Arguments, _now: Timestamp) -> Result<Target, Vec<Problem>> {
        let parsed: Args = args.parse().map_err(|problem| vec![problem])?;
        let mut problems = Vec::new();
        problems.extend(matcher(&parsed).err().map(|message| Problem::of("pattern", message)));
        problems.extend(parsed.files.as_deref().and_then(|glob| filter(glob).err()).map(|m| Problem::of("files", m)));
        match target(&self.workspaces, parsed.path.as_deref()) {
            Ok(target) if problems.is_empty() => return Ok(target),
            Ok(_) => {}
            Err(more) => problems.extend(more),
        }
        Err(problems)
    }

    async fn read(&self, args: &Arguments, reading: Reading<'_>) -> Result<Output, ReadError> {
        let args: Args = args.parse().map_err(invalid)?;
        let (workspaces, cancel) = (Arc::clone(&self.workspaces), reading.cancel.clone());
        blocking(move || search(&workspaces, &args, &cancel)).await
    }
}

#[cfg(test)]
mod tests;
