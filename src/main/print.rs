//! Printing: for people, or one JSON document, never both.

use std::io::Write;

use serde::Serialize;
use serde_json::Value;
use warrant::app::check::Tried;
use warrant::app::investigations;
use warrant::chat::terminal::progress::arguments;
use warrant::chat::terminal::report::render;
use warrant::chat::terminal::style::{Paint, Role, columns};
use warrant::chat::terminal::text::{one_line, visible, wrap};
use warrant_kernel::domain::event::Event;
use warrant_kernel::domain::report::Report;

/// Writes a line to standard output. A closed pipe ends the program quietly: nobody reads on.
pub fn line(text: &str) {
    if writeln!(std::io::stdout(), "{text}").is_err() {
        std::process::exit(0);
    }
}

/// Prints one JSON document.
pub fn json(value: &impl Serialize) {
    line(&serde_json::to_string_pretty(value).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}")));
}

/// Prints a list as JSON lines.
pub fn json_lines<T: Serialize>(values: &[T]) {
    for value in values {
        line(&serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}")));
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
pub fn investigation(events: &[Event]) -> Result<(), warrant::app::fault::Fault> {
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
                None => format!("{} rows", result.meta.lines_returned),
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
pub fn text(value: &Value, key: &str) -> String {
    match value.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}
