//! Printing: for people, or one JSON document, never both.

use std::io::{IsTerminal, Stderr, Write};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use warrant_kernel::domain::event::Event;
use warrant_kernel::domain::report::Report;

use super::check::Tried;
use super::fault::{Fault, counted, told};
use super::investigations;
use crate::agent::trace::{Unwatched, Watcher};
use crate::chat::terminal::progress::{Progress, arguments};
use crate::chat::terminal::report::render;
use crate::chat::terminal::style::{Paint, Role, columns};
use crate::chat::terminal::text::{self, one_line, visible, wrap};
use crate::telemetry;

/// For whom a command prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// People, at a terminal or through a pipe.
    Text,
    /// Programs.
    Json,
}

/// Standard error, as a screen for people.
pub type Screen = Arc<Progress<Stderr>>;

/// The screen that shows how an investigation goes on; none with [`Form::Json`], unless a terminal is there to read along.
#[must_use]
pub fn screen(form: Form) -> Option<Screen> {
    let stderr = std::io::stderr();
    if form == Form::Json && !stderr.is_terminal() {
        return None;
    }
    let paint = Paint::for_stream(&stderr);
    Some(Arc::new(Progress::new(stderr, paint, columns())))
}

/// Who watches on this screen.
#[must_use]
pub fn watcher(screen: Option<&Screen>) -> Arc<dyn Watcher> {
    match screen {
        Some(screen) => Arc::clone(screen) as Arc<dyn Watcher>,
        None => Arc::new(Unwatched),
    }
}

/// Why a command ended, with what lies beneath, on standard error.
pub fn fault(fault: &Fault) {
    // An error may repeat what a source or a provider said.
    let text = telemetry::masked(&told(fault));
    eprintln!("warrant: {}", visible(&text));
}

/// Writes what may hold foreign text, control characters made visible.
pub fn foreign(text: &str) {
    line(&visible(text));
}

/// Writes a line to standard output. A closed pipe ends the program quietly: nobody reads on.
pub fn line(text: &str) {
    if writeln!(std::io::stdout(), "{text}").is_err() {
        std::process::exit(0);
    }
}

/// Writes a line for people to standard error, beside what is printed; it may hold foreign text.
pub fn aside(text: &str) {
    eprintln!("{}", visible(text));
}

/// Writes a question to standard error and stays on its line.
pub fn question(text: &str) {
    let mut screen = std::io::stderr();
    // Whoever sees no question gives no answer.
    let _unseen = write!(screen, "{text}").and_then(|()| screen.flush());
}

/// Prints one JSON document.
pub fn json(value: &impl Serialize) {
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"));
    line(&text::json(&text));
}

/// A value as one line of JSON that may be printed: what would steer a terminal, or hide, stands in it escaped.
#[must_use]
pub fn as_json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"));
    text::json(&text)
}

/// Prints a list as JSON lines.
pub fn json_lines<T: Serialize>(values: &[T]) {
    for value in values {
        line(&as_json(value));
    }
}

/// Prints a report for a person.
pub fn report(report: &Report) {
    line(&render(report, Paint::for_stream(&std::io::stdout()), columns()));
}

/// Prints rows of a table: each a name and a text, wrapped beside it.
pub fn rows(rows: &[(String, String)]) {
    let paint = Paint::for_stream(&std::io::stdout());
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).min(36);
    for (name, text) in rows {
        let lines = wrap(&visible(text), columns().saturating_sub(width + 2));
        for (index, part) in lines.iter().enumerate() {
            let name = if index == 0 { visible(name) } else { String::new() };
            line(format!("{}  {part}", paint.paint(Role::Heading, &format!("{name:<width$}"))).trim_end());
        }
    }
}

/// Prints a line that may hold foreign text, wrapped beneath its own indent.
pub fn wrapped(text: &str) {
    let shown = visible(text);
    let indent = shown.len() - shown.trim_start().len();
    for (index, part) in wrap(shown.trim_start(), columns().saturating_sub(indent + 2)).iter().enumerate() {
        let more = if index == 0 { 0 } else { 2 };
        line(format!("{:1$}{part}", "", indent + more).trim_end());
    }
}

/// One outcome of `check`, as it comes.
pub fn tried(tried: &Tried) {
    let paint = Paint::for_stream(&std::io::stdout());
    let mark = if tried.ok { paint.paint(Role::Strong, "ok  ") } else { paint.paint(Role::Bad, "FAIL") };
    let head = format!("{:<28}", visible(&tried.what));
    let lines = wrap(&visible(&tried.says), columns().saturating_sub(6));
    if let (true, [only]) = (tried.ok, lines.as_slice()) {
        line(format!("{mark}  {head}  {only}").trim_end());
        return;
    }
    line(format!("{mark}  {head}").trim_end());
    for part in lines {
        line(&format!("      {part}"));
    }
}

/// An investigation for a person: its calls, then its report.
///
/// # Errors
/// Where the events are of no investigation.
pub fn investigation(events: &[Event]) -> Result<(), Fault> {
    let state = investigations::state(events)?;
    let paint = Paint::for_stream(&std::io::stdout());
    line(&paint.paint(Role::Heading, &one_line(&visible(state.run.trigger.text()), columns())));
    line(&format!("{}  opened {}  by {}", state.run.investigation, state.run.opened_at, state.run.requester.person));
    line("");
    for known in &state.calls {
        let outcome = match &known.result {
            None => "not answered".to_owned(),
            Some(result) => match &result.error {
                Some(error) => error.message.clone(),
                None => counted(usize::try_from(result.meta.lines_returned).unwrap_or(usize::MAX), "row"),
            },
        };
        let text = format!("{:<5} {} {}: {outcome}", known.call.id.as_str(), known.call.tool, arguments(&known.call));
        line(&one_line(&visible(&text), columns()));
    }
    line("");
    match &state.report {
        Some(report) => self::report(report),
        None => line(&format!("It has no report yet: warrant investigations resume {}", state.run.investigation)),
    }
    Ok(())
}

/// The text of a JSON field, or nothing.
#[must_use]
pub fn text(value: &Value, key: &str) -> String {
    match value.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}
