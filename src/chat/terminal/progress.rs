//! What an investigation is doing, line by line, while it does it.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use unicode_width::UnicodeWidthStr;
use warrant_kernel::domain::event::{Answered, Asked, Body, Call, Caller, Event};
use warrant_kernel::domain::result::{Status, ToolResult};

use super::style::{Paint, Role};
use super::text::{one_line, visible};
use crate::agent::state::State;
use crate::agent::trace::Watcher;

/// Prints progress to a stream, usually standard error.
pub struct Progress<W> {
    out: Mutex<Out<W>>,
    paint: Paint,
    columns: usize,
}

struct Out<W> {
    stream: W,
    /// Whether the cursor stands behind a piece of the model's text.
    within_text: bool,
    /// What waits for a person to have read and answered something else.
    held: Option<String>,
}

impl<W: Write> Out<W> {
    fn put(&mut self, text: &str) {
        match &mut self.held {
            // Progress is worth no more than this; the trace has all of it.
            Some(held) if held.len() < HELD_BYTES => held.push_str(text),
            Some(_) => {}
            None => self.put_now(text),
        }
    }

    fn put_now(&mut self, text: &str) {
        // A closed terminal is no reason to end an investigation.
        let _unseen = self.stream.write_all(text.as_bytes()).and_then(|()| self.stream.flush());
    }
}

/// Progress that waits, at most.
const HELD_BYTES: usize = 64 << 10;

/// The terminal while a person is asked something: progress waits, so that it garbles neither question nor answer. It goes
/// on when this is dropped.
pub struct Held<'a, W: Write + Send>(&'a Progress<W>);

impl<W: Write + Send> Held<'_, W> {
    /// Shows a text that is fit to be shown.
    pub fn show(&self, text: &str) {
        self.0.out().put_now(text);
    }

    /// The terminal's colours.
    #[must_use]
    pub fn paint(&self) -> Paint {
        self.0.paint
    }

    /// The terminal's columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.0.columns
    }
}

impl<W: Write + Send> Drop for Held<'_, W> {
    fn drop(&mut self) {
        let mut out = self.0.out();
        if let Some(held) = out.held.take() {
            out.put_now(&held);
        }
    }
}

impl<W: Write + Send> Progress<W> {
    /// Progress in so many columns.
    pub fn new(stream: W, paint: Paint, columns: usize) -> Self {
        Self { out: Mutex::new(Out { stream, within_text: false, held: None }), paint, columns }
    }

    /// Lets progress wait, and begins a line.
    pub fn hold(&self) -> Held<'_, W> {
        let mut out = self.out();
        if std::mem::take(&mut out.within_text) {
            out.put("\n");
        }
        out.held.get_or_insert_default();
        drop(out);
        Held(self)
    }

    fn out(&self) -> MutexGuard<'_, Out<W>> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self, role: Role, text: &str) {
        let mut out = self.out();
        let gap = if std::mem::take(&mut out.within_text) { "\n" } else { "" };
        let shown = one_line(&visible(text), self.columns);
        out.put(&format!("{gap}{}\n", self.paint.paint(role, &shown)));
    }

    fn answered(&self, call: &Call, result: &ToolResult) {
        let what = arguments(call);
        let took = result.meta.duration_ms;
        match (&result.error, result.status) {
            (Some(error), _) => self.line(Role::Careful, &format!("  ✗ {} {what}: {}", call.tool, error.message)),
            (None, Status::Ok) => {
                let evidence = result.evidence.map(|id| id.to_string()).unwrap_or_default();
                let cut = if result.truncated { ", cut" } else { "" };
                let cached = if result.meta.cached { ", cached" } else { "" };
                let rows = match result.meta.lines_returned {
                    1 => "1 row".to_owned(),
                    count => format!("{count} rows"),
                };
                let head = format!("{evidence:>4}  {} ", call.tool);
                let tail = format!("  {rows}{cut}{cached}, {took} ms");
                // What came of it is worth more than the end of long arguments.
                let room = self.columns.saturating_sub(head.width() + tail.width());
                self.line(Role::Faint, &format!("{head}{}{tail}", one_line(&visible(&what), room)));
            }
            (None, _) => self.line(Role::Careful, &format!("  ? {} {what}", call.tool)),
        }
    }
}

/// A call's arguments as a person would write them: `gateway, since 12:00:00`.
#[must_use]
pub fn arguments(call: &Call) -> String {
    let Ok(serde_json::Value::Object(map)) = serde_json::from_str(&call.arguments) else {
        return call.arguments.clone();
    };
    let shown: Vec<String> = map
        .iter()
        .map(|(key, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if key == "service" { value } else { format!("{key} {value}") }
        })
        .collect();
    shown.join(", ")
}

impl<W: Write + Send> Watcher for Progress<W> {
    fn event(&self, event: &Event, state: &State) {
        match &event.body {
            Body::Opened { run, .. } => {
                let about = run.service.as_ref().map(|service| format!(" ({service})")).unwrap_or_default();
                self.line(Role::Heading, &format!("Investigating{about}: {}", run.trigger.text()));
                self.line(Role::Faint, &format!("investigation {}", run.investigation));
            }
            Body::Resumed => self.line(Role::Heading, &format!("Resuming {}", state.run.investigation)),
            Body::Asked(Asked::Model { turn, .. }) => {
                let model = state.models.first().map_or("the model", String::as_str);
                self.line(Role::Faint, &format!("turn {turn}: asking {model}"));
            }
            Body::Asked(Asked::Read { call }) => {
                if call.by == Caller::Sweep && call.number == 1 {
                    self.line(Role::Faint, "the opening sweep");
                }
            }
            Body::Asked(Asked::Write { call }) => {
                self.line(Role::Careful, &format!("  proposing {} {}", call.tool, arguments(call)));
            }
            Body::Answered(Answered::Read { result } | Answered::Write { result, .. }) => {
                if let Some(known) = state.calls.iter().find(|known| known.call.id == result.call_id) {
                    self.answered(&known.call, result);
                }
            }
            Body::Answered(Answered::ModelFailed { message, .. }) => self.line(Role::Bad, message),
            Body::Answered(Answered::Report { .. }) => {
                self.line(Role::Faint, "the report went back: not all of its claims stood up");
            }
            Body::Answered(Answered::Model { .. }) => {
                let answer = state.turns.last().map(|turn| &turn.answer);
                for passed_over in answer.into_iter().flat_map(|answer| &answer.passed_over) {
                    self.line(Role::Bad, passed_over);
                }
                if let Some(answer) = answer.filter(|answer| !answer.passed_over.is_empty()) {
                    self.line(Role::Careful, &format!("{} goes on", answer.model));
                }
            }
            Body::Framed { .. } | Body::Decided { .. } | Body::Reported { .. } => {}
            Body::Settled { text, .. }
            | Body::Steered { text, .. }
            | Body::News { text }
            | Body::Budget { text, .. } => {
                self.line(Role::Careful, text);
            }
            Body::Brought { call, .. } => self.line(Role::Careful, &format!("  {} {}", call.tool, arguments(call))),
            Body::Interrupted => self.line(Role::Careful, "interrupted"),
        }
    }

    fn delta(&self, text: &str) {
        let mut out = self.out();
        out.within_text = !text.ends_with('\n');
        out.put(&visible(text));
    }
}
